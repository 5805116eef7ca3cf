"""Tests of what is in the graph."""
