"""The whole job of a CI: evaluate a run, compare it with its baseline, hold all gates, and say so where people look."""
