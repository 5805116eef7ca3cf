"""Tests of limits on a run's calls, and of gates on percentiles."""
