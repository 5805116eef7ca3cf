"""Measures of chunks by the lines and characters that they cover, by which two cuts of one file compare."""
