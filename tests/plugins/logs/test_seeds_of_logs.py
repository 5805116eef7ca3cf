"""Seeds in logs: the hits of vector searches, and the entities that a question was linked to."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.lightrag import LightragReader
from graphkit.plugins.logs.llama_index import LlamaIndexReader
from graphkit.plugins.logs.neo4j_graphrag import Neo4jGraphragReader
from graphkit.readers.logged import Reader, ReadOptions
from tests.helpers import ROOT
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import read_jsonl, write_jsonl

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


#: Mappings of logs that no reader knows, as docs/data.md states them.
MAPPINGS = {
    "HippoRAG": "--map 'seeds=reverse(sort_by(log.linked_node_scores, &[2]))[*].{mention: [0], id: [1], score: [2]}'",
    "Think-on-Graph": "--map answer=results --map 'traversal={triples: reasoning_chains[]}' "
    "--map 'seeds=values(topic_entity)'",
}


def mapped(name: str, folder: Path, log: Row) -> Row:
    """Return the record of a log of one answer, imported by the command that the documentation states."""
    options = MAPPINGS[name]
    assert f"`{options}`" in (ROOT / "docs/data.md").read_text()
    born, lies = ("Ann", "BORN_IN", "Ulm"), ("Bavaria", "CONTAINS", "Ulm")
    steps = [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in (born, lies)]
    write_jsonl(folder / "d" / "questions.jsonl", [{"id": "q", "question": "Where is Ann from?", "paths": [steps]}])
    write_jsonl(folder / "d" / "artifacts.jsonl", [{"id": one} for one in ("Ann", "Ulm", "Bavaria", "Anna")])
    write_jsonl(folder / "d" / "edges.jsonl", steps)
    write_jsonl(folder / "log.jsonl", [{"question": "Where is Ann from?", **log}])
    inside("import", "auto", "log.jsonl", "--dataset", "d", *shlex.split(options), "-o", "r.jsonl", cwd=folder, code=0)
    [record] = read_jsonl(folder / "r.jsonl")
    return record


def test_linked_nodes_of_hipporag(tmp_path: Path) -> None:
    """Its logs list [phrase of the question, node, score] in the order of the phrases; the best comes first."""
    log = {
        "named_entities": ["town", "ann"],
        "linked_node_scores": [["town", "Ulm", 0.5], ["ann", "Anna", 0.75]],
        "1-hop_graph_for_linked_nodes": [["Bavaria", 1.0, "inv"]],
        "top_ranked_nodes": ["Ulm", "Anna"],
        "nodes_in_retrieved_doc": [["Ulm"]],
    }
    assert mapped("HippoRAG", tmp_path, {"answer": "Bavaria", "log": log})["seeds"] == [
        {"id": "Anna", "score": 0.75, "mention": "ann"},
        {"id": "Ulm", "score": 0.5, "mention": "town"},
    ]


def test_topic_entities_of_think_on_graph(tmp_path: Path) -> None:
    """Its chains are triples in walking order; the second goes against the graph, which gives the direction."""
    chains = [[["Ann", "BORN_IN", "Ulm"], ["Ulm", "CONTAINS", "Bavaria"]]]
    log = {"results": "{Bavaria}.", "reasoning_chains": chains, "topic_entity": {"m.01": "Ann"}}
    found = mapped("Think-on-Graph", tmp_path, log)
    assert (found["seeds"], found["answer"]) == ([{"id": "Ann"}], "{Bavaria}.")
    assert [(one["source"], one["relation"], one["target"]) for one in found["traversal"]] == [
        ("Ann", "BORN_IN", "Ulm"),
        ("Bavaria", "CONTAINS", "Ulm"),
    ]


def test_seeds_that_the_dataset_lacks_are_reported(tmp_path: Path) -> None:
    """The import counts the ids of seeds as it counts those of chunks and edges, so that a wrong table is noticed."""
    tiny(tmp_path / "data")  # whose one path goes from a:m.py#x to a:m.py#y
    seeds_of = [{"id": "a:m.py#x"}, {"id": "m.x.renamed"}]
    log = write_jsonl(tmp_path / "log.jsonl", [{"run": "r", "question_id": "q1", "answer": "?", "seeds": seeds_of}])
    done = inside(
        "import", "graphkit", log, "-d", tmp_path / "data", "-o", tmp_path / "run.jsonl", cwd=tmp_path, code=0
    )
    assert "1 of 2 ids are known" in done.out + done.err
