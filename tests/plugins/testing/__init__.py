"""Tests of the pytest plugin."""
