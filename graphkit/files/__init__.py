"""Bytes to records: JSON Lines, datasets, decoding, problems found while reading, stale gold, atomic writes."""
