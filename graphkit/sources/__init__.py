"""Readers: from files and repositories to records."""
