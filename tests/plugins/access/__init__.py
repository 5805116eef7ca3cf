"""Violations of access, and their gate."""
