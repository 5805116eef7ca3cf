"""Judges of answers: grading by models and rules, and how far to trust them."""
