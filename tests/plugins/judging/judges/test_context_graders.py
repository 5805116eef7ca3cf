"""Graders of the context without a gold answer: the relevance of each chunk, and the facts that chunks support."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from graphkit.measures.completeness import NO_FACTS
from graphkit.measures.unscored import NO_CHUNK, NO_RETRIEVAL
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import UnusableVerdictError
from graphkit.plugins.judging.verdicts import RelevanceFall
from tests.helpers.judging import judged, materials, read, reasons, values

CONTEXT, FACTS = GRADERS["context_relevance"], GRADERS["facts_in_context"]
CHUNKS = {"a": "a calls b", "b": "b reads c", "c": "c is empty"}


def relevance(*grades: int) -> dict[str, Any]:
    """Return a verdict with the grade of each chunk."""
    rows = [{"chunk": f"c{number}", "reason": "r", "relevance": grade} for number, grade in enumerate(grades, 1)]
    return {"chunks": rows}


def test_mean_relevance() -> None:
    """(3 + 1 + 0) / 3 x 3 = 4/9; without a walk there is no hop, and nothing falls."""
    found = read(CONTEXT, materials("x.", CHUNKS), relevance(3, 1, 0))
    assert values(found.findings) == {"ContextRelevance": pytest.approx(4 / 9)}
    assert found.fall is None
    assert found.content is not None
    assert found.content["chunks"][1] == {"chunk": "b", "rank": 2, "hop": None, "relevance": 1, "reason": "r"}


def test_the_hop_at_which_the_context_degrades() -> None:
    """The best chunk of each hop counts: a at hop 0 has 2, b at hop 1 has 3, c at hop 2 has 1."""
    walk = [("a", "CALLS", "b"), ("b", "READS", "c")]
    found = read(CONTEXT, materials("x.", CHUNKS, walk), relevance(2, 3, 1))
    assert found.fall == RelevanceFall(path=1, hop=2, source="b", relation="READS", target="c")
    assert "relevance falls at hop 2" in str(found.findings[0].explanation)
    assert read(CONTEXT, materials("x.", CHUNKS, walk), relevance(1, 1, 3)).fall is None


@pytest.mark.parametrize("said", [relevance(3, 1), relevance(1, 1, 1, 1), relevance(1, 1, 1) | {"more": 1}])
def test_relevance_that_can_not_be_used(said: dict[str, Any]) -> None:
    """A chunk that is missing, one that isn't there, and more than was asked for."""
    done = judged(CONTEXT, materials("x.", CHUNKS), said, said)
    assert done.verdict is not None
    assert done.verdict.failure in ("out_of_range", "unreadable")
    assert values(done.findings) == {"ContextRelevance": None}


@pytest.mark.parametrize("grade", [4, -1, 1.5, "2", True])
def test_grades_off_the_scale(grade: Any) -> None:
    """Only 0, 1, 2 and 3 are grades."""
    with pytest.raises(ValidationError):
        read(CONTEXT, materials("x.", {"a": "x"}), relevance(grade))


def test_chunks_that_were_not_judged() -> None:
    """A mean over some chunks isn't that of all; without any there is no mean, and the reason says why."""
    some = materials("x.", {"a": "short", "b": "y" * 99}, context_tokens=5)
    assert reasons(read(CONTEXT, some, relevance(3)).findings) == {
        "ContextRelevance": "the judge wasn't shown 1 of 2 chunks"
    }
    for shown, reason in (
        (materials("x."), NO_CHUNK),
        (materials("x.", logged={"retrieved": None}), NO_RETRIEVAL),
        (materials("x.", {"a": None}), "the judge wasn't shown 1 of 1 chunk"),
    ):
        done = judged(CONTEXT, shown)  # an empty script: asking would fail
        assert (done.verdict, reasons(done.findings)) == (None, {"ContextRelevance": reason})


def fact(key: str, *evidence: tuple[str, str, bool], together: bool = False) -> dict[str, Any]:
    """Return what a verdict says of a fact."""
    pieces = [{"chunk": chunk, "quote": quote, "alone": alone} for chunk, quote, alone in evidence]
    return {"fact": key, "evidence": pieces, "together": together}


def test_facts_by_rank() -> None:
    """f1 alone at rank 3 and at rank 1: 1. f2 by ranks 1 and 2 together: 2. f3 by a quote that doesn't occur: nowhere.

    So 1/3 of the facts are in the first chunk, and 2/3 in the first five, as in all.
    """
    shown = materials("x.", CHUNKS, [("a", "CALLS", "b")], facts=["one", "two", "three"])
    said = {
        "facts": [
            fact("f1", ("c3", "is empty", True), ("c1", "a  calls", True)),
            fact("f2", ("c1", "calls b", False), ("c2", "reads c", False), together=True),
            fact("f3", ("c2", "reads d", True)),
        ]
    }
    found = read(FACTS, shown, said)
    third = pytest.approx(1 / 3)
    assert values(found.findings) == {
        "FactsInContext": pytest.approx(2 / 3),
        "FactsInContext@1": third,
        "FactsInContext@5": pytest.approx(2 / 3),
        "FactsInContext@10": pytest.approx(2 / 3),
        "FactsInContext@20": pytest.approx(2 / 3),
    }
    assert found.notes == ("f3: b has no words 'reads d'",)
    assert found.findings[0].explanation == "f1 at rank 1 (hop 0); f2 at rank 2 (hop 1); f3 nowhere"
    assert found.content is not None
    assert found.content["facts"][2] == {"fact": "three", "rank": None, "chunk": None, "hop": None}


def test_together_needs_each_quote() -> None:
    """If one of the quotes that suffice only together doesn't occur, the others support nothing."""
    shown = materials("x.", CHUNKS, facts=["one"])
    said = fact("f1", ("c1", "calls b", False), ("c2", "reads d", False), together=True)
    assert values(read(FACTS, shown, {"facts": [said]}).findings)["FactsInContext"] == 0.0
    apart = fact("f1", ("c1", "calls b", False), ("c2", "reads c", False))
    assert values(read(FACTS, shown, {"facts": [apart]}).findings)["FactsInContext"] == 0.0


def test_facts_that_unseen_chunks_might_support() -> None:
    """b at rank 2 didn't fit: what is known of the first rank stays, and beyond it only a full value is known."""
    shown = materials("x.", {"a": "a calls b", "b": "y" * 99}, facts=["one", "two"], context_tokens=5)
    said = {"facts": [fact("f1", ("c1", "calls", True)), fact("f2")]}
    found = read(FACTS, shown, said)
    assert values(found.findings)["FactsInContext@1"] == 0.5
    assert set(reasons(found.findings)) == {f"FactsInContext{k}" for k in ("", "@5", "@10", "@20")}
    full = {"facts": [fact("f1", ("c1", "calls", True)), fact("f2", ("c1", "calls", True))]}
    assert set(values(read(FACTS, shown, full).findings).values()) == {1.0}


def test_facts_without_chunks() -> None:
    """Nothing retrieved supports nothing: 0. Not logged isn't nothing, and without facts there is nothing to ask."""
    nothing = judged(FACTS, materials("x.", facts=["one"]))
    assert (nothing.verdict, {*values(nothing.findings).values()}) == (None, {0.0})
    unlogged = judged(FACTS, materials("x.", facts=["one"], logged={"retrieved": None}))
    assert {*reasons(unlogged.findings).values()} == {NO_RETRIEVAL}
    assert {*reasons(judged(FACTS, materials("x.", CHUNKS)).findings).values()} == {NO_FACTS}
    hidden = judged(FACTS, materials("x.", {"a": None}, facts=["one"]))
    assert {*reasons(hidden.findings).values()} == {"the judge wasn't shown 1 of 1 chunk"}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([fact("f1")], "f2 is missing"),
        ([fact("f1"), fact("f2"), fact("f3")], "there is no f3"),
        ([fact("f1"), fact("f2", ("c9", "x", True))], "there is no c9"),
        ([fact("f1"), fact("f1"), fact("f2")], "listed twice"),
    ],
)
def test_facts_that_can_not_be_used(said: list[Any], message: str) -> None:
    """A fact that is missing, twice or not there, and a chunk that wasn't shown."""
    with pytest.raises(UnusableVerdictError, match=message):
        read(FACTS, materials("x.", CHUNKS, facts=["one", "two"]), {"facts": said})
