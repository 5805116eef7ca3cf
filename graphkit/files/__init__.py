"""Bytes to records: JSON Lines, datasets, decoding, problems found while reading, stale gold, atomic writes."""

#: The modules that plug-ins may import.
__all__ = [
    "assets",
    "atomic",
    "dataset",
    "dataset_settings",
    "file_locks",
    "git",
    "grades_beside",
    "intake",
    "json_stream",
    "jsonl",
    "known_ids",
    "leftovers",
    "loopback",
    "made",
    "outputs",
    "parquet",
    "person_grades",
    "problems",
    "reading",
    "run_files",
    "score_files",
    "stale_gold",
    "tables",
    "texts",
]
