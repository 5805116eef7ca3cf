"""LlamaIndex's store in Neo4j, which needs version 5 of the driver, beside graphkit in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from tests.helpers.cli import tiny
from tests.helpers.datasets import read_jsonl
from tests.live.small_graph import library

pytestmark = pytest.mark.filterwarnings("default")


def test_both_work_on_one_database(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The store reads the two questions that graphkit loaded, and graphkit reads the edge that the store wrote."""
    stores = library("llama_index.graph_stores.neo4j")
    server = request.getfixturevalue("neo4j_server").settings
    data = tiny(tmp_path / "data").parent.parent
    theirs = stores.Neo4jPropertyGraphStore(
        username=server.username,
        password=server.password,
        url=server.uri,
        refresh_schema=False,
        create_indexes=False,
    )
    try:
        with Store.open(server) as store:
            graphkit.load(store, data)
        assert theirs.structured_query("MATCH (q:Question) RETURN count(q) AS n") == [{"n": 2}]
        theirs.structured_query("CREATE (:Person {id: 'ann'})-[:WORKS_AT]->(:Firm {id: 'acme'})")
        graphkit.import_graph(
            data,
            uri=server.uri,
            username=server.username,
            password=server.password,
            query="MATCH (a:Person)-[r]->(b:Firm) RETURN a, r, b",
        )
        assert read_jsonl(data / "edges.jsonl") == [{"source": "ann", "relation": "WORKS_AT", "target": "acme"}]
    finally:
        theirs.structured_query("MATCH (n:Person|Firm) DETACH DELETE n")
        theirs.close()
