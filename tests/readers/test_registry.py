"""The choice of the reader by a file's content."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.readers.known_formats import formats, reader_of, recognised
from graphkit.readers.logged import UnreadableLogError, UnrecognisedLogError
from graphkit.readers.unrecognised import described


def test_unknown_formats() -> None:
    """A format that isn't there is refused with those that are."""
    with pytest.raises(UnreadableLogError, match=r"there is no format 'nonsense'\n  There are: .*, and auto\."):
        reader_of("nonsense")


def test_readers_are_what_they_are_called() -> None:
    """Each reader has the name under which it is registered, a title, and sentences on what its format lacks."""
    for name in formats():
        reader = reader_of(name)
        assert reader.name == name
        assert reader.title
        assert all(sentence.endswith(".") for sentence in reader.lacks)


def test_nothing_is_recognised_in_nothing() -> None:
    """If no reader recognises a value, its form and the way out are reported."""
    with pytest.raises(UnreadableLogError, match=r"x\.jsonl: no format is recognised in it: it is JSON"):
        recognised([{"a": 1}], [], "x.jsonl")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"query": "q1", "visits": ["a"]}, "it is JSON, and its keys are 'query', 'visits'"),
        ([3, "x"], "it begins with "),
    ],
)
def test_a_refusal_says_what_it_saw(log: Any, words: str) -> None:
    """It prints the keys or the beginning, and one line on the way to read any log: no list of formats."""
    with pytest.raises(UnrecognisedLogError) as refusal:
        recognised([log], [], "x.jsonl")
    assert words in str(refusal.value)
    assert "docs/importing.md" in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 2
    assert "autogen" not in str(refusal.value)


def test_an_empty_list_is_no_evidence_of_a_format() -> None:
    """Of three records of an own form one walked nothing: its empty `nodes` would be a search of LlamaIndex."""
    rows = [{"id": "c1", "nodes": ["a", "b"]}, {"id": "c2", "nodes": ["b", "c"]}, {"id": "c3", "nodes": []}]
    with pytest.raises(UnrecognisedLogError):
        recognised(rows, [], "x.jsonl")
    assert recognised(rows[2:], [], "x.jsonl")[0].name == "llama-index"


def test_keys_of_a_hostile_log_are_bounded() -> None:
    """Neither many keys nor deep ones make a refusal long."""
    deep: Any = {"x" * 10_000: 1}
    for _ in range(500):
        deep = {"a": deep}
    wide: Any = {f"key{number}": {} for number in range(100_000)}
    for log in (wide, deep):
        assert len(described([log])) < 2_000


def test_hostile_values_are_recognised_by_nobody() -> None:
    """No reader fails on a value of any other kind."""
    for name in formats():
        reader = reader_of(name)
        values: list[Any] = (
            ["", "a", "\0"] if reader.lines else [None, 1, "x", [], [[]], {}, {"": {}}, [{"items": 3}], {"data": []}]
        )
        assert not any(map(reader.recognises, values))
