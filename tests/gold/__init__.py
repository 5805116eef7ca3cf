"""Tests of reading published gold."""
