"""Tests of the plug-in cypher."""
