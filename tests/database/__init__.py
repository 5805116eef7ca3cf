"""Tests of reaching a database."""
