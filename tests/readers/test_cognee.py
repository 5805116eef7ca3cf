"""Search results of cognee."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from graphkit.measures.base import Unscored
from graphkit.readers.cognee import ANSWER_ALONE, LINES, SEVERAL
from tests.live.small_graph import ANSWER, retrieved, walked
from tests.readers.recorded_logs import recorded, scores, town
from tests.readers.shared_logs import edges, names, read, survives

COMPLETION, VERBOSE, CONTEXT, CHUNKS, PAYLOAD, OPEN = recorded("cognee")


def found(result: Any, **fields: Any) -> dict[str, Any]:
    """What was found in one data set."""
    return {"dataset_id": "d", "dataset_name": "town", "search_result": result, **fields}


@pytest.mark.parametrize("value", [VERBOSE, CONTEXT, PAYLOAD, OPEN])
def test_edges_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """Objects, the context's lines and the payload's evidence give both edges, one of which is 1 of 2 gold edges."""
    log, record = town(tmp_path, "cognee", value)
    assert set(walked(record)) == {("Ann", "WORKS_AT", "Acme"), ("Zed", "KNOWS", "Ann")}
    assert record["ordered"] is False
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == ["Ann", "Acme", "Zed"]
    assert not any("unused" in line for line in log.summary)
    assert record.get("answer") == (None if value is CONTEXT else ANSWER)


def test_a_completion_alone_is_unscored_and_not_zero(tmp_path: Path) -> None:
    """What was found is unknown, and a doubt says how to search for it."""
    log, record = town(tmp_path, "cognee", COMPLETION)
    assert record["answer"] == ANSWER
    assert "traversal" not in record
    assert "retrieved" not in record
    assert isinstance(scores(record)[0], Unscored)
    assert any(ANSWER_ALONE in line for line in log.summary)


def test_chunks_are_named_by_their_documents(tmp_path: Path) -> None:
    """Chunks say nothing of edges; their distances aren't scores."""
    _, record = town(tmp_path, "cognee", CHUNKS)
    assert retrieved(record) == ["people.md"]
    assert "score" not in record["retrieved"][0]
    assert "traversal" not in record


def test_a_data_set_that_could_not_be_searched() -> None:
    """Its reason is the error of the question."""
    (answer,) = read("cognee", [[found(None, error="the graph is empty")]])
    assert answer.error == "the graph is empty"
    assert (answer.retrieved, answer.traversal, answer.notes) == (None, None, [])


def test_a_search_that_found_nothing() -> None:
    """An empty list of chunks is a search without a find, and says nothing of edges."""
    (answer,) = read("cognee", [[found([])]])
    assert answer.retrieved == []
    assert answer.traversal is None


def test_several_data_sets() -> None:
    """Chunks of all are retrieved; of two answers nobody knows which was given."""
    chunk = {"id": "c", "text": "x", "chunk_index": 0, "chunk_size": 1, "cut_type": "s", "document_name": "a.md"}
    (answer,) = read("cognee", [[found(["One."]), found(["Two."]), found([chunk])]])
    assert names(answer) == ["a.md"]
    assert answer.answer is None
    assert SEVERAL in answer.notes


def test_lines_that_cannot_be_read_are_no_empty_walk() -> None:
    """A name with an arrow in it can't be split, and a line without one is no edge: then the traversal is unknown."""
    context = "Nodes:\nNode: a\n\nConnections:\na --[X]--> b --[Y]--> c\nprose"
    (answer,) = read("cognee", [[found(context)]])
    assert answer.traversal is None
    assert LINES in answer.notes
    (some,) = read("cognee", [[found(f"{context}\na --[CALLS]--> b  (a calls b) [superseded]")]])
    assert edges(some) == [[("a", "CALLS", "b")]]


def test_a_long_line_takes_no_time() -> None:
    """A description of 300,000 brackets isn't split: that would take minutes."""
    began = process_time()
    (answer,) = read("cognee", [[found(f"Nodes:\n\nConnections:\na --[X]--> b{'  (' * 100_000}")]])
    assert process_time() - began < 5
    assert answer.traversal is None
    assert LINES in answer.notes


def test_connections_within_the_text_of_a_node_are_no_edges() -> None:
    """A text of the graph may look like a context: only what follows the last heading is read."""
    forged = "Nodes:\nNode: a\nx\n\nConnections:\nz --[LIES]--> y\n\nConnections:\na --[CALLS]--> b"
    (answer,) = read("cognee", [[found(forged)]])
    assert edges(answer) == [[("a", "CALLS", "b")]]


def test_segments_of_evidence_are_retrieved() -> None:
    """A completion with references names the documents that it used."""
    reference = {"kind": "segment", "artifactId": "1", "documentName": "a.md"}
    payload = {"resultObject": None, "completion": ["x"], "evidence": [reference], "searchType": "RAG_COMPLETION"}
    (answer,) = read("cognee", [{"question_id": "q", "payload": payload}])
    assert names(answer) == ["a.md"]
    assert (answer.answer, answer.traversal) == ("x", None)


def test_triplets_of_earlier_versions() -> None:
    """A triplet is a node, an edge and a node."""
    triplet = [{"id": "1", "name": "Ann"}, {"relationship_name": "WORKS_AT"}, {"id": "2", "name": "Acme"}]
    for value in ([triplet], [found([triplet])]):
        (answer,) = read("cognee", [{"question_id": "q", "results": value}])
        assert edges(answer) == [[("Ann", "WORKS_AT", "Acme")]]


def test_unread_fields_are_reported() -> None:
    """What a data set gives beside is counted."""
    unread: Counter[str] = Counter()
    read("cognee", [[found(["x"], took=3)]], unread=unread)
    assert unread == {"took": 1}


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("cognee", VERBOSE) > 100
    assert survives("cognee", {"question_id": "q", "payload": PAYLOAD["payload"]}) > 100
