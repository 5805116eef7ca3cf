"""Search results of graphiti."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import import_log
from graphkit.measures.base import Unscored
from graphkit.plugins.logs.graphiti import GraphitiReader
from graphkit.readers.logged import ReadOptions
from graphkit.records.doubts import DRAWN_IDS
from tests.helpers.datasets import write_jsonl
from tests.live.small_graph import IDS, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import edges, names, read, survives

EDGES, RESULT = recorded("graphiti")
ZED = EDGES["results"][0]["source_node_uuid"]


def fact(words: str, relation: str = "WORKS_AT", source: str = "1", target: str = "2") -> dict[str, Any]:
    """An edge."""
    return {"source_node_uuid": source, "target_node_uuid": target, "name": relation, "fact": words}


@pytest.mark.parametrize("value", [EDGES, RESULT])
def test_results_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """One of two found edges has a known name at each end, and is 1 of 2 gold edges; the other isn't compared.

    Zed's id stands in no node and in no fact of the form `Ann works at Acme`.
    """
    found, record = town(tmp_path, "graphiti", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert record["ordered"] is False
    assert scores(record) == (0.5, 0.5)
    assert retrieved(record) == ["Ann", "Acme"]
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert any(DRAWN_IDS in line for line in found.summary)
    assert not any("unused" in line for line in found.summary)
    assert "answer" not in record
    assert "tool_calls" not in record


def test_a_table_of_ids_names_the_rest(tmp_path: Path) -> None:
    """With the id of Zed in the table, both edges are known, and nothing is in doubt."""
    town(tmp_path, "graphiti", EDGES)
    log = write_jsonl(tmp_path / "other.jsonl", [EDGES])
    found = import_log(log, dataset=tmp_path / "town", ids={**IDS, ZED: IDS["Zed"]}, run="r")
    (record,) = found.records
    assert walked(record) == [("Zed", "KNOWS", "Ann"), ("Ann", "WORKS_AT", "Acme")]
    assert "doubts" not in record


def test_ids_that_nobody_knows_are_unscored_and_not_zero(tmp_path: Path) -> None:
    """A search whose edges have no names can't be compared, and a doubt says what to log."""
    prose = copy.deepcopy(EDGES)
    for one in prose["results"]:
        one["fact"] = "They have known each other for long."
    found, record = town(tmp_path, "graphiti", prose)
    assert "traversal" not in record
    assert "retrieved" not in record
    assert isinstance(scores(record)[0], Unscored)
    assert any(DRAWN_IDS in line for line in found.summary)


def test_nodes_name_the_ends_of_edges() -> None:
    """A node of the result names its id, before what a fact says; nodes follow the edges, episodes the nodes."""
    result = {
        "edges": [fact("A works at B")],
        "nodes": [{"uuid": "1", "name": "Ann Smith", "summary": "S."}, {"uuid": "3", "name": "C"}],
        "episodes": [{"uuid": "4", "name": "e1.md", "content": "text"}],
        "edge_reranker_scores": [0.5],
    }
    (answer,) = read("graphiti", [{"question_id": "q", "result": result}])
    assert edges(answer) == [[("Ann Smith", "WORKS_AT", "B")]]
    assert names(answer) == ["Ann Smith", "B", "C", "e1.md"]
    assert answer.retrieved is not None
    assert [chunk.text for chunk in answer.retrieved] == ["A works at B\n\nS.", None, None, "text"]
    assert answer.retrieved[0].score == 0.5


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("Ann WORKS at Acme", ("Ann", "Acme")),
        ("Ann Smith works at Acme", ("1", "2")),
        ("Ann works at Acme since May", ("1", "2")),
        ("works at", ("1", "2")),
        ("", ("1", "2")),
    ],
)
def test_only_a_fact_of_three_parts_names_ends(words: str, ends: tuple[str, str]) -> None:
    """A longer sentence doesn't show which of its words are the name."""
    (answer,) = read("graphiti", [[fact(words)]])
    assert edges(answer) == [[(ends[0], "WORKS_AT", ends[1])]]


def test_facts_of_the_mcp_server() -> None:
    """Its tools answer with a message and facts."""
    (answer,) = read("graphiti", [{"message": "Facts retrieved", "facts": [fact("Ann works at Acme")]}])
    assert edges(answer) == [[("Ann", "WORKS_AT", "Acme")]]


def test_nodes_alone_say_nothing_of_edges() -> None:
    """The MCP server's search for nodes looks for no edge."""
    node = {"uuid": "1", "name": "Ann", "group_id": "g", "summary": "S."}
    (answer,) = read("graphiti", [{"question_id": "q", "result": {"message": "Nodes", "nodes": [node]}}])
    assert names(answer) == ["Ann"]
    assert answer.traversal is None


def test_a_search_that_found_nothing() -> None:
    """An empty list is a search without an edge; so is a result whose lists are empty."""
    empty = {**RESULT["results"], "edges": [], "nodes": [], "edge_reranker_scores": [], "node_reranker_scores": []}
    (result,) = read("graphiti", [{"question_id": "q", "results": empty}])
    assert (result.retrieved, result.traversal) == ([], [])
    values = [("log:1", {"question_id": "q", "results": []})]
    (answer,) = GraphitiReader().read(values, ReadOptions(), Counter())
    assert (answer.retrieved, answer.traversal) == ([], [])


def test_communities_are_reported() -> None:
    """Unread keys are counted."""
    unread: Counter[str] = Counter()
    read("graphiti", [{"edges": [fact("x")], "communities": [{"name": "c"}]}], unread=unread)
    assert unread == {"communities": 1}


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("graphiti", RESULT) > 100
