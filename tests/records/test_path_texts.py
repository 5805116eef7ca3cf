"""Paths written as text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.records.path_texts import has_arrow, steps_of_text, text_of_steps
from tests.helpers.properties import examples

NAMES = st.sampled_from(["web:src/my-page.ts#load", "api:h.py", "db:t.sql", "A", "b-c", "x.y::z"])
RELATIONS = st.sampled_from(["CALLS", "has-part", "depends on", "r", None])


@examples(200)
@given(st.lists(st.tuples(NAMES, RELATIONS, st.booleans()), min_size=1, max_size=6), NAMES)
def test_a_path_survives_its_text(hops: list[tuple[str, str | None, bool]], start: str) -> None:
    """The text of a path, forward and backward, is read as the same steps."""
    steps: list[tuple[str, str | None, str]] = []
    end = start
    for name, relation, forward in hops:
        if name == end:
            continue  # a loop has no direction in the text
        if len(steps) == 1 and {end, name} == {steps[0][0], steps[0][2]}:
            continue  # there and back: either end may be the first
        steps.append((end, relation, name) if forward else (name, relation, end))
        end = name
    if steps:
        found = [(one["source"], one.get("relation"), one["target"]) for one in steps_of_text(text_of_steps(steps))]
        assert found == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a-CALLS->b", [("a", "CALLS", "b")]),
        ("my-page.ts -has-part-> b", [("my-page.ts", "has-part", "b")]),
        ("a -[:CALLS]-> b <-[ owns ]- c", [("a", "CALLS", "b"), ("c", "owns", "b")]),
        ("a --> b → c <-- d", [("a", None, "b"), ("b", None, "c"), ("d", None, "c")]),
        ("a -depends on-> b", [("a", "depends on", "b")]),
    ],
)
def test_forms_of_arrows(text: str, steps: list[tuple[str, str | None, str]]) -> None:
    """Arrows of Cypher, with words, without a relation, and without spaces."""
    assert [(one["source"], one.get("relation"), one["target"]) for one in steps_of_text(text)] == steps
    assert has_arrow(text)


@pytest.mark.parametrize(
    "text", ["a", "a->b", "-X-> b", "a -X->", "a -X-> -Y-> b", "a::operator-> -X-> b", "a -[X] b", ""]
)
def test_no_half_paths(text: str) -> None:
    """What isn't wholly understood is refused."""
    with pytest.raises(ValueError):
        steps_of_text(text)


def test_long_texts_are_read_at_once() -> None:
    """The time grows with the length of the text, whatever it holds."""
    for text in (" -x" * 200_000, "-[" * 200_000, "-A" * 200_000, " " * 400_000 + "a", "<" * 400_000):
        begin = time.process_time()
        with pytest.raises(ValueError):
            steps_of_text(text)
        assert time.process_time() - begin < 10
