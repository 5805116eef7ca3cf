"""A measure is a value: it prints to the text that it is parsed from, and what can't be parsed is told."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError, MeasureError
from graphkit.measures.base import Measure
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.files import SymbolRecall
from graphkit.measures.ranking import RR, AnswerContainment, P, Recall, Success, nDCG
from graphkit.measures.registry import DEFAULT_MEASURES, MEASURES, parse_measure, resolve_measures

#: Values that a parameter may have, by its name; by its type where it isn't listed.
CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "k": st.none() | st.integers(1, 10**6),
    "where": st.sampled_from(["retrieved", "answer"]),
    "threshold": st.floats(0, 1, exclude_min=True),
}


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    """Draw a measure with any parameters."""
    kind = draw(st.sampled_from(MEASURES))
    return kind(**{field.name: draw(CHOICES.get(field.name, st.booleans())) for field in dataclasses.fields(kind)})


@given(measures())
def test_text_round_trip(measure: Measure) -> None:
    """Parsing what a measure prints gives an equal measure, which prints the same."""
    text = str(measure)
    assert parse_measure(text) == measure
    assert str(parse_measure(text)) == text
    assert hash(parse_measure(text)) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize("kind", MEASURES, ids=lambda kind: kind.__name__)
def test_each_measure_says_what_it_is(kind: type[Measure]) -> None:
    """Each has a definition, a source and a layer, is found by its name, and can't be changed."""
    measure = parse_measure(kind.__name__)
    assert measure == kind()
    assert str(measure) == kind.__name__
    assert kind.definition
    assert kind.source
    assert kind.layer in {"retrieval", "reasoning", "generation"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.new = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ndcg@10", nDCG(10)),
        ("nDCG@10", nDCG(10)),
        ("NDCG @ 10", nDCG(10)),
        ("hit@5", Success(5)),
        ("hit_rate@5", Success(5)),
        ("mrr", RR()),
        ("MRR", RR()),
        ("precision@3", P(3)),
        ("traversal_accuracy", EdgeRecall()),
        ("Traversal_Accuracy(static=True)", EdgeRecall(static=True)),
        (" EdgeRecall( relation = False ) ", EdgeRecall(relation=False)),
        ("EdgeRecall(static=True, relation=False)", EdgeRecall(relation=False, static=True)),
        ("EdgeRecall(relation=True)", EdgeRecall()),
        ("EdgeRecall()", EdgeRecall()),
        ("recall(k=7)", Recall(7)),
        ("SymbolRecall(where='answer')", SymbolRecall(where="answer")),
        ("AnswerContainment(exact=True)@2", AnswerContainment(k=2, exact=True)),
    ],
)
def test_aliases_case_and_spaces(text: str, expected: Measure) -> None:
    """Names count without regard to case, aliases are names, and spaces don't matter."""
    assert parse_measure(text) == expected
    assert parse_measure(str(expected)) == expected


def test_canonical_texts() -> None:
    """A measure prints its name, the parameters that aren't the default, and its cut-off."""
    assert str(parse_measure("hit@5")) == "Success@5"
    assert str(parse_measure("mrr")) == "RR"
    assert str(EdgeRecall(relation=False, static=True)) == "EdgeRecall(relation=False, static=True)"
    assert str(AnswerContainment(k=3, exact=True)) == "AnswerContainment(exact=True)@3"


def test_no_two_measures_share_a_name() -> None:
    """No alias hides another measure."""
    names = [name.casefold() for kind in MEASURES for name in (kind.__name__, *kind.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EdgeRecal", "EdgeRecall"),  # the closest name is suggested
        ("ndgc@10", "nDCG"),
        ("", "no measure is called ''"),
        ("!!", "no measure"),
        ("nDCG@ten", "no measure"),
        ("nDCG@0", "k must be a whole number of at least 1"),
        ("nDCG@-3", "k must be a whole number of at least 1"),
        ("nDCG(k=2.5)", "k must be a whole number of at least 1"),
        ("nDCG(k=True)", "k must be a whole number of at least 1"),
        ("EdgeRecall@5", "EdgeRecall has no parameter 'k'"),
        ("EdgeRecall(relations=False)", "has no parameter 'relations'"),
        ("EdgeRecall(relation=0)", "relation must be a bool, not 0"),
        ("EdgeRecall(relation='no')", "relation must be a bool"),
        ("EdgeRecall(False)", "can't be read"),
        ("EdgeRecall(relation=)", "can't be read"),
        ("EdgeRecall(relation=open('x'))", "can't be read"),
        ("EdgeRecall(**{'relation': False})", "has no parameter"),
        ("SymbolRecall(where='elsewhere')", 'where must be "retrieved" or "answer"'),
    ],
)
def test_what_cannot_be_parsed_is_told(text: str, message: str) -> None:
    """Each mistake is a MeasureError with a sentence, which is an InputError."""
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert message in str(caught.value)
    assert isinstance(caught.value, InputError)


def test_an_unknown_name_points_to_the_list() -> None:
    """The remedy names the command that lists all measures."""
    with pytest.raises(MeasureError, match="graphkit measures"):
        parse_measure("quality")


def test_resolving_gives_each_measure_once_with_its_cut_off() -> None:
    """Aliases of one measure are one, in the order of the first; a k that nobody named is the given, else 5."""
    assert resolve_measures(["mrr", nDCG(10), "RR", "ndcg@10"]) == (RR(), nDCG(10))
    assert resolve_measures(["nDCG", "P@3"]) == (nDCG(5), P(3))
    assert resolve_measures(["nDCG", "P@3"], k=7) == (nDCG(7), P(3))
    assert [str(one) for one in resolve_measures()] == list(DEFAULT_MEASURES)
