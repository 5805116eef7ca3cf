"""Tests of running the code of answers."""
