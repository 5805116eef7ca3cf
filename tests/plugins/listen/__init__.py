"""Traces of a running system, received on this machine, become a run."""
