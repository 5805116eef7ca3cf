"""Tests of scoring runs, and of results as files."""
