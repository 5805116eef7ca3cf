"""Sheets of workbooks."""
