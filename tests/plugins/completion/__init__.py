"""Completion in the shells."""
