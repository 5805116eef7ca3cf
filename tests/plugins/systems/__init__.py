"""Tests of running systems over the questions."""
