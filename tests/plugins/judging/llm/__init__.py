"""Tests of asking language models."""
