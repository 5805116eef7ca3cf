"""Grading of runs: what a judge is asked of each answer, and where its verdicts are kept."""
