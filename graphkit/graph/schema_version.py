"""The version of what graphkit writes into the graph."""

from __future__ import annotations

#: The version number. Data that another version wrote counts as changed, and is loaded again.
SCHEMA_VERSION = "14"

#: Digest of cypher/schema.cypher, cypher/load/ and the code of rows.py; tests/graph/test_schema_version.py checks it.
SCHEMA_DIGEST = "b42f529addb92dc8f77e49d48ece3029"
