"""Tests of forms and tools of others."""
