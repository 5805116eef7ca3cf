"""The choice of the reader by a file's content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.readers.known_formats import formats, reader_of, recognised
from graphkit.readers.logged import UnreadableLogError
from graphkit.readers.unrecognised import KEYS, advice, described


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


def test_each_format_of_json_has_its_keys() -> None:
    """The refusal of a log names the nearest format by its keys; TREC's runs are text and have none."""
    assert {*KEYS, "trec"} == set(formats())


@pytest.mark.parametrize(
    ("log", "words"),
    [
        # A misspelt key of graphkit's own records.
        (
            {"query": "q1", "retreived": ["a"], "traversal": []},
            ("its keys are 'query', 'retreived', 'traversal'", "graphkit, which has 'retrieved' (here 'retreived')"),
        ),
        # LightRAG's tables under other names of the columns.
        (
            {"entities": [{"name": "A"}], "chunks": []},
            ("'entities', 'chunks', 'name'", "lightrag, which has 'entities'"),
        ),
        ({"colour": "red"}, ("its keys are 'colour'", "write a record such as this")),
        ([3, "x"], ("it begins with ", "write a record such as this")),
    ],
)
def test_a_refusal_says_what_it_saw(log: Any, words: tuple[str, str]) -> None:
    """It prints the keys, the nearest format, and a record that would do."""
    with pytest.raises(UnreadableLogError) as refusal:
        recognised([log], [], "x.jsonl")
    for some in words:
        assert some in str(refusal.value)
    assert ("The nearest format is" in str(refusal.value)) == (words[1].startswith(("graphkit", "lightrag")))


def test_the_record_of_a_refusal_would_do(tmp_path: Path) -> None:
    """The five lines of a refusal, saved as they stand, are recognised and scored: gold is the edge that they hold."""
    with pytest.raises(UnreadableLogError) as refusal:
        recognised([{"colour": "red"}], [], "x.jsonl")
    lines = str(refusal.value).splitlines()[-5:]
    (tmp_path / "log.json").write_text("\n".join(lines), "utf-8")
    step = {"source": "web:src/cart.ts#checkout", "relation": "CALLS", "target": "api:app/orders.py#create"}
    question = {"id": "q1", "question": "?", "paths": [{"steps": [step]}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    made = graphkit.import_log(tmp_path / "log.json", "auto", tmp_path, out=tmp_path / "runs" / "mine.jsonl")
    assert made.answers == 1
    assert graphkit.evaluate(tmp_path / "runs" / "mine.jsonl", measures=["EdgeRecall"]).measures["EdgeRecall"].mean == 1


def test_keys_of_a_hostile_log_are_bounded() -> None:
    """Neither many keys nor deep ones make a refusal long."""
    deep: Any = {"x" * 10_000: 1}
    for _ in range(500):
        deep = {"a": deep}
    wide: Any = {f"key{number}": {} for number in range(100_000)}
    for log in (wide, deep):
        assert len(advice([log])) + len(described([log])) < 3_000


def test_hostile_values_are_recognised_by_nobody() -> None:
    """No reader fails on a value of any other kind."""
    for name in formats():
        reader = reader_of(name)
        values: list[Any] = (
            ["", "a", "\0"] if reader.lines else [None, 1, "x", [], [[]], {}, {"": {}}, [{"items": 3}], {"data": []}]
        )
        assert not any(map(reader.recognises, values))
