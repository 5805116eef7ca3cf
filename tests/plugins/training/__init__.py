"""Tests of the baseline without retrieval."""
