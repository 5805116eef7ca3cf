"""Tests of the commands, as users see them."""
