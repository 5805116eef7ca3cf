"""The version of what graphkit writes into the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The version number. Data that another version wrote counts as changed, and is loaded again.
SCHEMA_VERSION = "15"

#: Digest of cypher/schema.cypher, cypher/load/ and the code of rows.py; tests/graph/test_schema_version.py checks it.
SCHEMA_DIGEST = "f2ac6bf62bcceb03de71305f5f6e1792"


def is_older(row: Mapping[str, Any]) -> bool:
    """Return whether a dataset or a run is in another form than this graphkit writes."""
    return bool(row["schema"] != SCHEMA_VERSION)


def names_no_dataset(row: Mapping[str, Any]) -> bool:
    """Return whether a dataset or a run is in a form before 15: its artifacts, chunks and gold name no dataset."""
    schema = row["schema"]
    return schema is None or (str(schema).isdecimal() and int(schema) < 15)
