"""Tests of layers, comparisons and statistics."""
