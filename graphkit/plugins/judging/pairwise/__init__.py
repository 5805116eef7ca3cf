"""Answers of several runs, compared two by two: what is asked, kept and computed."""
