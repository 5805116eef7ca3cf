"""Search results of cognee."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from graphkit.measures.base import Unscored
from graphkit.plugins.logs.cognee import ANSWER_ALONE, CONTEXT_ALONE, LINES, SEVERAL, TITLES
from graphkit.records.doubts import DRAWN_IDS
from tests.live.small_graph import ANSWER, imported, retrieved, walked
from tests.live.small_graph import record as one_record
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import edges, names, read, survives

COMPLETION, REFERENCES, VERBOSE, PROMPT, HYBRID, PAYLOAD, OPEN, *OF_CHUNKS = recorded("cognee")
RAG, CHUNKS, OPEN_CHUNKS, LEXICAL, SUMMARIES, TEXTS = OF_CHUNKS

#: cognee lists is_a beside the edges that a text tells.
IS_A = ("Ann", "is_a", "person")
KNOWN = {("Ann", "WORKS_AT", "Acme"), ("Zed", "KNOWS", "Ann")}
FILES = r"/(?P<repo>town)/(?P<path>.+)"


def found(result: Any, **fields: Any) -> dict[str, Any]:
    """The result of a search in one data set."""
    return {"dataset_id": "d", "dataset_name": "town", "search_result": result, **fields}


@pytest.mark.parametrize(
    ("value", "others", "found"),
    [
        # by hand, from the edges of each search: their ends in their order, without those of chunks and summaries
        (VERBOSE, set(), ["Ann", "Zed", "Acme"]),
        (PROMPT, {IS_A}, ["Ann", "Zed", "person", "Acme"]),
        (PAYLOAD, set(), ["Ann", "Zed", "Acme", "people"]),
        (OPEN, set(), ["Ann", "Acme", "Zed"]),
    ],
)
def test_edges_score_as_a_record_made_by_hand(value: Any, others: set[Any], found: list[str], tmp_path: Path) -> None:
    """Objects, a prompt's lines and the payload's evidence give both edges, one of which is 1 of 2 gold edges."""
    log, record = town(tmp_path, "cognee", value)
    assert set(walked(record)) == KNOWN | others
    assert record["ordered"] is False
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == found
    # The texts of nodes and edges that have a name, and a chunk's distance.
    assert {name.rpartition(".")[2] for name in log.figures["unread"]} <= {"text", "score"}
    assert record.get("answer") == (None if value is PROMPT else ANSWER)
    assert record["doubts"] == [TITLES if value is PROMPT else DRAWN_IDS]


def test_a_hybrid_search(tmp_path: Path) -> None:
    """Its chunk comes first, then its entity, whose edges nothing ranks; the one from the chunk has no name."""
    log, record = town(tmp_path, "cognee", HYBRID)
    assert set(walked(record)) == KNOWN | {IS_A}
    assert scores(record) == (0.5, 0.5)
    assert retrieved(record) == ["people", "Ann", "person", "Zed", "Acme"]
    assert record["answer"] == ANSWER
    # The texts of nodes and edges that have a name, and a chunk's distance.
    assert {name.rpartition(".")[2] for name in log.figures["unread"]} <= {"text", "score"}


@pytest.mark.parametrize("value", [COMPLETION, REFERENCES])
def test_a_completion_alone_is_unscored_and_not_zero(value: Any, tmp_path: Path) -> None:
    """The finds are unknown, and a doubt says how to search for them; references aren't words of the answer."""
    log, record = town(tmp_path, "cognee", value)
    assert record["answer"] == ANSWER
    assert "traversal" not in record
    assert "retrieved" not in record
    assert isinstance(scores(record)[0], Unscored)
    assert any(ANSWER_ALONE in line for line in log.summary)


@pytest.mark.parametrize("value", [RAG, CHUNKS, OPEN_CHUNKS, LEXICAL])
def test_chunks_are_named_by_the_files_of_their_documents(value: Any, tmp_path: Path) -> None:
    """Chunks say nothing of edges; their distances aren't scores."""
    record = one_record(imported(tmp_path, "cognee", value, id_pattern=FILES))
    assert retrieved(record) == ["people.md"]
    assert "score" not in record["retrieved"][0]
    assert "traversal" not in record
    assert record.get("answer") == (ANSWER if value is RAG else None)
    assert "doubts" not in record


def test_a_context_of_chunks_is_no_answer(tmp_path: Path) -> None:
    """Its words name nothing: what was found is unknown."""
    _, record = town(tmp_path, "cognee", TEXTS)
    assert record["doubts"] == [CONTEXT_ALONE]
    assert not record.keys() & {"answer", "retrieved", "traversal"}
    assert isinstance(scores(record)[0], Unscored)


def test_summaries_have_the_ids_of_their_chunks(tmp_path: Path) -> None:
    """A table of ids can map them; without one they are dropped."""
    (chunk,) = [one["source_chunk_id"] for one in SUMMARIES["results"][0]["search_result"]]
    (answer,) = read("cognee", [SUMMARIES])
    assert names(answer) == [chunk]
    _, record = town(tmp_path, "cognee", SUMMARIES)
    assert "retrieved" not in record
    assert record["doubts"] == [DRAWN_IDS]


def test_a_data_set_that_could_not_be_searched() -> None:
    """Its reason is the error of the question."""
    (answer,) = read("cognee", [[found(None, error="the graph is empty")]])
    assert answer.error == "the graph is empty"
    assert (answer.retrieved, answer.traversal, answer.notes) == (None, None, [])


@pytest.mark.parametrize("nothing", [[], ""])
def test_a_search_that_found_nothing(nothing: Any) -> None:
    """An empty list of chunks, or an empty context, is a search without a find, and says nothing of edges."""
    (answer,) = read("cognee", [[found(nothing)]])
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
    lines = "a --[CALLS]--> b  (a calls b) [superseded]\nb --[CALLS]--> c [old]"
    (some,) = read("cognee", [[found(f"{context}\n{lines}")]])
    assert edges(some) == [[("a", "CALLS", "b"), ("b", "CALLS", "c")]]


def test_texts_at_the_ends_of_edges_are_no_names() -> None:
    """A text has a title of its words there: its edges are skipped, and the other end is found all the same."""
    lines = "One two... [one] --[contains]--> a  (a:\nits text)\nOne two... [one] --[made_from]--> Two... [two]"
    (answer,) = read("cognee", [[found(f"Nodes:\n\nConnections:\n{lines}")]])
    assert (names(answer), answer.traversal) == (["a"], None)
    assert TITLES in answer.notes


def test_the_guidance_behind_a_prompt_is_no_edge() -> None:
    """A prompt ends its context with a backtick, behind which the session's guidance may stand."""
    prompt = "The question is: `x`\n`Nodes:\n\nConnections:\na --[CALLS]--> b`\n\n## Guidance\nx --[LIES]--> y"
    (answer,) = read("cognee", [[found(prompt)]])
    assert edges(answer) == [[("a", "CALLS", "b")]]
    assert (answer.answer, answer.notes) == (None, [])


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
    """Unknown keys of a data set's result are counted."""
    unread: Counter[str] = Counter()
    read("cognee", [[found(["x"], took=3)]], unread=unread)
    assert unread == {"took": 1}


@pytest.mark.slow("values of every kind at every place")
def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("cognee", VERBOSE) > 100
    assert survives("cognee", {"question_id": "q", "payload": PAYLOAD["payload"]}) > 100
