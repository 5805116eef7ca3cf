"""The texts of Python's repr, read without evaluating them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.logs.reprs import DEEPEST, LONGEST_PRINTED, Described, Opaque, ReprError, parse_repr, printed


def plain(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    """Return values of plain types with these numbers."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | numbers,
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )


PLAIN = plain(st.floats(allow_nan=False))
#: Infinity is no literal of Python.
LITERAL = plain(st.floats(allow_nan=False, allow_infinity=False))


def without_vectors(value: Any) -> Any:
    """Return a value with each list of numbers as the text that a reader passes over."""
    if isinstance(value, dict):
        return {name: without_vectors(part) for name, part in value.items()}
    if isinstance(value, list):
        numbers = value and all(isinstance(part, int | float) and not isinstance(part, bool) for part in value)
        return Opaque(repr(value)) if numbers else [without_vectors(part) for part in value]
    return value


@given(PLAIN)
def test_plain_values(value: Any) -> None:
    """The repr of any plain value is read as that value, whatever its strings contain."""
    assert parse_repr(repr(value)) == without_vectors(value)
    text = f"<Record a={value!r} type(r)={value!r}>"
    assert parse_repr(text) == Described("Record", {"a": without_vectors(value), "type(r)": without_vectors(value)})


def test_the_drivers_objects() -> None:
    """Objects within objects keep their fields; calls and frozen sets are passed over whole."""
    text = (
        "<Record r=<Relationship element_id='5:x:1' nodes=(<Node element_id='4:x:1' labels=frozenset({'A'}) "
        "properties={'at': neo4j.time.DateTime(2026, 1, 2, tzinfo=datetime.timezone.utc), 'v': [0.5, -1e-05, nan]}>, "
        "<Node element_id='4:x:2' labels=frozenset() properties={}>) type='CALLS' properties={}>>"
    )
    start = Described(
        "Node",
        {
            "element_id": "4:x:1",
            "labels": Opaque("frozenset({'A'})"),
            "properties": {
                "at": Opaque("neo4j.time.DateTime(2026, 1, 2, tzinfo=datetime.timezone.utc)"),
                "v": Opaque("[0.5, -1e-05, nan]"),
            },
        },
    )
    end = Described("Node", {"element_id": "4:x:2", "labels": Opaque("frozenset()"), "properties": {}})
    relationship = {"element_id": "5:x:1", "nodes": [start, end], "type": "CALLS", "properties": {}}
    assert parse_repr(text) == Described("Record", {"r": Described("Relationship", relationship)})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<",
        "<Record",
        "<Record a='b",
        "<Record a=<Node element_id='1'>",
        "{'a': 1",
        "[1, 'a'",
        "'a' 'b'",
        "a",
        "__import__('os').system",
        "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2),
        "'" + "\\U00110000" + "'",
        "f(" * 5000,
    ],
)
def test_no_description(text: str) -> None:
    """Text that was cut, is nested too deeply or isn't a value is refused, and none of it is run."""
    with pytest.raises(ReprError):
        parse_repr(text)


@given(LITERAL)
def test_printed_values(value: Any) -> None:
    """What Python prints of a plain value is that value."""
    assert printed(repr(value)) == value


@pytest.mark.parametrize("text", ["[f()]", "[1+x]", "{", "[" * 10_000, "[1" + "+1" * 10_000 + "]", "a.b", ""])
def test_no_value_was_printed(text: str) -> None:
    """Code, broken text and depth are no value, and nothing is evaluated."""
    assert printed(text) is None


def test_a_printed_value_warns_of_nothing() -> None:
    """A path of Windows has escape sequences that Python doesn't know, of which the user hears nothing."""
    with warnings.catch_warnings(record=True, action="always") as found:
        assert printed(r"['C:\dir']") == [r"C:\dir"]
    assert found == []


def test_the_longest_printed_value() -> None:
    """A text of the length that is still read is read; one with another character isn't."""
    text = f"[{' ' * (LONGEST_PRINTED - 3)}1]"
    assert printed(text) == [1]
    assert printed(f" {text}") is None
