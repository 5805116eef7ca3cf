"""Outputs of Haystack's pipelines and agents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.haystack import SEVERAL
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.plugins.logs.triples import NOT_AN_EDGE
from graphkit.readers.known_formats import reader_of
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import edges, names, read, survives

FLAT, NESTED, MESSAGES, AGENT = recorded("haystack")
MADE = "ab" * 32


def document(id_: str = "a", **fields: Any) -> dict[str, Any]:
    """A document."""
    return {"id": id_, "content": "x", "score": 0.5, "blob": None, **fields}


@pytest.mark.parametrize("value", [MESSAGES, AGENT])
def test_agents_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The walk is the edge from Ann to Acme, 1 of 2 gold edges: the call that failed opened nothing.

    Five replies have 10 and 5 tokens each.
    """
    found, record = town(tmp_path, "haystack", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert record["answer"] == ANSWER
    assert (record["prompt_tokens"], record["output_tokens"], record["model_calls"]) == (50, 25, 5)
    assert any(FAILED in line for line in found.summary)
    assert not any("unused" in line for line in found.summary)


@pytest.mark.parametrize("value", [FLAT, NESTED])
def test_pipelines_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The documents' triples hold one of the two gold edges, and rank behind the files that were found."""
    _, record = town(tmp_path, "haystack", value)
    assert set(walked(record)) == {("Ann", "WORKS_AT", "Acme"), ("Zed", "KNOWS", "Ann")}
    assert record["ordered"] is False
    assert scores(record) == (0.5, 0.5)
    assert retrieved(record) == ["places.md", "people.md", "Ann", "Acme", "Zed"]
    assert record["answer"] == ANSWER
    assert (record["prompt_tokens"], record["output_tokens"]) == (10, 5)


def test_the_answer_of_a_pipeline_names_its_question() -> None:
    """The builder of answers keeps the query."""
    (answer,) = read("haystack", [FLAT])
    assert (answer.question_text, answer.model) == (QUESTION, "m-1")


def test_documents_without_a_place_for_edges_walked_nothing_known() -> None:
    """A retriever of texts says nothing of edges, tools and calls of models: that isn't an empty traversal."""
    (answer,) = read("haystack", [{"question_id": "q", "retriever": {"documents": [document()]}}])
    assert names(answer) == ["a"]
    assert (answer.traversal, answer.tool_calls, answer.answer, answer.model_calls) == (None, None, None, None)


def test_a_retriever_that_found_nothing() -> None:
    """An empty list of documents is a search that found nothing."""
    (answer,) = read("haystack", [{"retriever": {"documents": []}}])
    assert answer.retrieved == []
    assert answer.traversal is None


def test_edges_that_cannot_be_read_are_no_empty_walk() -> None:
    """Metadata whose triples aren't triples leave the traversal unknown."""
    (answer,) = read("haystack", [[document(meta={"triples": ["a R b"]})]])
    assert answer.traversal is None
    assert NOT_AN_EDGE in answer.notes


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"id_": "mine", "meta": {"file_path": "a.md"}}, "mine"),
        ({"id_": MADE, "meta": {"file_path": "a.md"}}, "a.md"),
        ({"id_": MADE, "meta": {"name": "f", "file_path": "a.py"}}, "a.py#f"),
        ({"id_": MADE, "meta": {"source": "wiki"}}, "wiki"),
        ({"id_": MADE}, MADE),
    ],
)
def test_names_of_documents(fields: dict[str, Any], name: str) -> None:
    """A chosen id names a document; for one made of the content, its metadata do."""
    (answer,) = read("haystack", [[document(**fields)]])
    assert names(answer) == [name]


def test_several_components_with_documents() -> None:
    """The last component's documents are used, with a doubt."""
    found = {"retriever": {"documents": [document("a")]}, "ranker": {"documents": [document("b")]}}
    (answer,) = read("haystack", [{"question_id": "q", "result": found}])
    assert names(answer) == ["b"]
    assert SEVERAL in answer.notes


def test_replies_as_text_and_former_keys() -> None:
    """Generators reply in text with their meta beside it; messages of version 2.9 begin their keys with ``_``."""
    output = {"retriever": {"documents": [document()]}, "llm": {"replies": ["Bern."], "meta": [{"model": "m"}]}}
    former: dict[str, Any] = {"_role": "assistant", "_meta": {}, "_name": None, "_content": [{"text": "Bern."}]}
    text, old = (read("haystack", [one])[0] for one in (output, [former]))
    assert (text.answer, text.model, old.answer) == ("Bern.", "m", "Bern.")


def test_other_libraries_lists_are_left_alone() -> None:
    """Messages and documents of another library aren't taken for Haystack's."""
    reader = reader_of("haystack")
    others: tuple[Any, ...] = (
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        {"documents": [{"page_content": "x", "metadata": {}}]},
        {"documents": []},
    )
    for other in others:
        assert not reader.recognises(other)


def test_unread_fields_are_reported() -> None:
    """Unknown outputs of a component are counted."""
    unread: Counter[str] = Counter()
    found = {"retriever": {"documents": [document()], "took": 3}}
    (answer,) = read("haystack", [{"question_id": "q", "result": found}], unread=unread)
    assert unread == {"retriever.took": 1}
    assert edges(answer) is None


@pytest.mark.slow("values of every kind at every place")
def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("haystack", FLAT) > 100
    assert survives("haystack", {"question_id": "q", "messages": MESSAGES["messages"][:3]}) > 100
