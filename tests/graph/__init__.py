"""Tests of the graph."""
