"""The language of filters: the cases that Python and the page share, and what only Python has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.scoring.filter_expressions import FilterError, FilterExpression, Value, written

#: By hand; tests/web/filter_expression.test.js reads the same file.
SHARED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "filter_cases.json").read_text(encoding="utf-8"))
KINDS = SHARED["names"]


def value_of(run: Mapping[str, Value], name: str) -> Value:
    """Return the value of a name in a run of the cases: what it lacks is missing, and a flag that it lacks false."""
    return run.get(name, False if KINDS[name] == "flag" else None)


@pytest.mark.parametrize("case", SHARED["cases"], ids=lambda case: case["text"])
def test_shared_cases_hold(case: Mapping[str, Any]) -> None:
    """Each filter selects the questions that the file names."""
    expression = FilterExpression.parse(case["text"]).bound(KINDS, SHARED["closed"])
    found = []
    for question, runs in SHARED["questions"].items():
        getters = [partial(value_of, run) for run in runs]
        if expression.holds(getters[0], getters):
            found.append(question)
    assert found == case["holds"], case["why"]


@pytest.mark.parametrize("case", SHARED["errors"], ids=lambda case: case["text"])
def test_shared_errors_say_what_and_where(case: Mapping[str, Any]) -> None:
    """Each error has the words and the place that the file names, and a caret below that place."""
    with pytest.raises(FilterError) as caught:
        FilterExpression.parse(case["text"]).bound(KINDS, SHARED["closed"])
    assert (caught.value.problem, caught.value.at) == (case["error"], case["at"])
    assert caught.value.details == (case["text"], " " * case["at"] + "^")


@pytest.mark.parametrize("text", ["(" * 60, "not " * 60, "any(" * 60])
def test_nesting_is_bounded(text: str) -> None:
    """What nests more than 50 deep is refused before Python's own stack ends."""
    with pytest.raises(FilterError, match="more than 50 deep"):
        FilterExpression.parse(text)


def test_length_is_bounded() -> None:
    """A filter of 2001 characters is refused, and one of 2000 with an open quote is read in no time."""
    with pytest.raises(FilterError, match="at most 2000"):
        FilterExpression.parse("x" * 2001)
    with pytest.raises(FilterError, match="isn't closed"):
        FilterExpression.parse('category == "' + '\\"' * 990)


def test_renaming_keeps_the_rest_as_it_is_written() -> None:
    """Only names change; one that needs backquotes gets them."""
    expression = FilterExpression.parse('Recall<0.5  or (not Recall >= 1 and category=="Recall")')
    renamed = expression.renamed({"Recall": "answer recall", "category": "category"}.__getitem__)
    assert str(renamed) == '`answer recall`<0.5  or (not `answer recall` >= 1 and category=="Recall")'
    assert [*renamed.names] == ["answer recall", "category"]


def test_a_run_is_asked_alone_unless_others_are_named() -> None:
    """Without other runs, any(...) asks the run itself."""
    expression = FilterExpression.parse("any(failed)")
    assert expression.asks_other_runs
    assert expression.holds(lambda _: True)
    assert not expression.holds(lambda _: False)


def place(text: str) -> int | None:
    """Return the place of the error of a text; None if it is a filter."""
    try:
        FilterExpression.parse(text)
    except FilterError as error:
        return error.at
    return None


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """A text is a filter, or its error lies within it."""
    assert (place(text) or 0) in range(len(text) + 1)


@given(st.text(min_size=1, max_size=12).filter(lambda name: "`" not in name))
def test_written_names_are_read_back(name: str) -> None:
    """A name as it is written names the same."""
    assert [*FilterExpression.parse(f"{written(name)} < 1").names] == [name]
