"""The version of what graphkit writes into the graph."""

from __future__ import annotations

#: The version number. Data that another version wrote counts as changed, and is loaded again.
SCHEMA_VERSION = "14"

#: Digest of cypher/schema.cypher, cypher/load/ and the code of rows.py; tests/graph/test_schema_version.py checks it.
SCHEMA_DIGEST = "83ace5c8c8acf77d985c022213a1dd32"
