"""Imports logs and graphs of other programs as records of a dataset."""
