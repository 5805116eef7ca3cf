"""Logs and tables of any form, read by a mapping of their fields, which is given or proposed by their values."""
