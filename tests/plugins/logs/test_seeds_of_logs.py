"""Seeds in logs: the hits of vector searches, and the entities that a question was linked to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.lightrag import LightragReader
from graphkit.plugins.logs.llama_index import LlamaIndexReader
from graphkit.plugins.logs.neo4j_graphrag import Neo4jGraphragReader
from graphkit.readers.logged import Reader, ReadOptions

Row = dict[str, Any]


def seeds(reader: Reader, value: Any) -> list[tuple[str, float | None]] | None:
    """Return the names and scores of the seeds in a log with one answer."""
    [found] = reader.read([("log:1", value)], ReadOptions(), Counter())
    return None if found.seeds is None else [(one.name, one.score) for one in found.seeds]


def searched(*rows: str, **metadata: Any) -> Row:
    """Return the log of a search of neo4j-graphrag, with the texts of its records."""
    items = [{"content": f"<Record {row}>", "metadata": None} for row in rows]
    return {"question": "?", "result": {"items": items, "metadata": {"query_vector": [0.1], **metadata}}}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # A column names the node that was found.
        (["id='a' facts=['a -R-> b'] score=0.9", "id='c' facts=[] score=0.8"], [("a", 0.9), ("c", 0.8)]),
        # The end that has one score a node, and is never null, is what was found.
        (
            ["source='a' relation='R' target='b' score=0.9", "source='a' relation='R' target='c' score=0.9"],
            [("a", 0.9)],
        ),
        (["source='a' relation=None target=None score=0.9"], [("a", 0.9)]),
        # Either end may be it, and without a score nothing tells.
        (["source='a' relation='R' target='b' score=0.9"], None),
        (["function_id='a' callers=['b']"], None),
    ],
)
def test_vector_hits_of_neo4j_graphrag(rows: list[str], expected: Any) -> None:
    """The hits of a VectorCypherRetriever are seeds where its rows tell them; rows of Text2Cypher have none."""
    assert seeds(Neo4jGraphragReader(), searched(*rows)) == expected
    found = searched(*rows)
    del found["result"]["metadata"]["query_vector"]
    assert seeds(Neo4jGraphragReader(), found) is None


def scored(*edges: tuple[str, float]) -> Row:
    """Return the log of a VectorContextRetriever of LlamaIndex: texts of edges with their scores."""
    return {"query": "?", "nodes": [{"text": text, "score": score} for text, score in edges]}


def test_scores_of_llama_index() -> None:
    """An edge has the score of its better end: b is in both edges of .9, and c in one of .5 and in none lower."""
    told = scored(("a -> R -> b", 0.9), ("b -> R -> c", 0.9), ("c -> R -> d", 0.5), ("a -> R -> d", 0.0))
    assert seeds(LlamaIndexReader(), told) == [("b", 0.9), ("c", 0.5)]
    # Either end of the only edge may have been found.
    assert seeds(LlamaIndexReader(), scored(("a -> R -> b", 0.9))) is None


@pytest.mark.parametrize(("mode", "expected"), [("local", [("Ann", None)]), ("global", None), ("naive", None)])
def test_entities_of_lightrag(mode: str, expected: Any) -> None:
    """A local query begins at its entities; one by edges or by chunks alone has no seeds."""
    edge = {"src_id": "Ann", "tgt_id": "Bob", "description": "knows"}
    data = {"entities": [{"entity_name": "Ann", "description": "d"}], "relationships": [edge], "chunks": []}
    log = {
        "question": "?",
        "result": {"status": "success", "message": "", "data": data, "metadata": {"query_mode": mode}},
    }
    assert seeds(LightragReader(), log) == expected
