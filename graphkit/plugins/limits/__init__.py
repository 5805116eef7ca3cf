"""Limits: on the cost, the number and the time of a run's calls, and gates on percentiles."""
