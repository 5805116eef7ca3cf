"""The version of what graphkit writes into the graph."""

from __future__ import annotations

#: The version number. Data that another version wrote counts as changed, and is loaded again.
SCHEMA_VERSION = "14"

#: Digest of cypher/schema.cypher, cypher/load/ and the code of rows.py; tests/graph/test_schema_version.py checks it.
SCHEMA_DIGEST = "d4b723e9a6d5ddee851c95c1b79cf6f7"
