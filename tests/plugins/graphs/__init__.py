"""Tests of importing graphs of others."""
