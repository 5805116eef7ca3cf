"""The material about an answer for a judge: whole chunks within a budget, edges, facts, conflicts, citations."""

from __future__ import annotations

from graphkit.measures.case import Case
from graphkit.plugins.judging.judges.citations import citation_pattern
from graphkit.plugins.judging.judges.materials import materials_of
from graphkit.scoring.run_pass import lacking_answer
from tests.helpers.cases import answer, question
from tests.helpers.judging import materials


def test_chunks_within_the_budget() -> None:
    """Whole, best first, each that still fits: 20 tokens are 60 characters, so 40, not 30, then 20."""
    shown = materials("x.", {"a:1": "a" * 40, "b:2": "b" * 30, "c:3": "c" * 20, "d:4": "d"}, context_tokens=20)
    assert [(one.key, one.id, len(one.text)) for one in shown.chunks] == [("c1", "a:1", 40), ("c2", "c:3", 20)]
    assert shown.left_out == ("b:2", "d:4")
    assert shown.unseen == "the judge wasn't shown 2 of 4 chunks"


def test_order_and_repeats() -> None:
    """By rank; the same chunk once; one id with two texts is two chunks."""
    retrieved = [
        {"id": "a:x.py#f", "text": "one", "rank": 3},
        {"id": "b:y.py", "text": "two", "rank": 1, "repo": "c", "path": "z.py", "symbol": "g"},
        {"id": "a:x.py#f", "text": "one", "rank": 2},
        {"id": "a:x.py#f", "text": "other", "rank": 4},
    ]
    shown = materials_of(Case(question(), answer(answer="x", retrieved=retrieved)), "r")
    assert [(one.id, one.source, one.symbol, one.text) for one in shown.chunks] == [
        ("b:y.py", "c/z.py", "g", "two"),
        ("a:x.py#f", "a/x.py", "f", "one"),
        ("a:x.py#f", "a/x.py", "f", "other"),
    ]


def test_edges_once_each_with_gold() -> None:
    """Two paths share an edge; gold without a relation has the edge whatever its relation is."""
    calls, reads = ("a:x", "CALLS", "b:y"), ("b:y", "READS", "c:z")
    given = answer([calls, reads], [calls], answer="x")
    shown = materials_of(Case(question([("a:x", None, "b:y")]), given), "r")
    assert [(one.key, one.text, one.in_gold) for one in shown.edges] == [
        ("e1", "a:x -CALLS-> b:y", True),
        ("e2", "b:y -READS-> c:z", False),
    ]
    assert [one.in_gold for one in materials_of(Case(question(), given), "r").edges] == [None, None]


def test_what_the_annotation_holds() -> None:
    """Facts with their services, conflicts with their resolution or none; a blank gold answer is none."""
    asked = question(
        gold_answer=" ",
        facts=["one", {"text": "two", "repo": "api"}, " "],
        conflicts=[{"between": ["a", "b"], "resolution": " b "}, {"between": ["c"]}],
    )
    shown = materials_of(Case(asked, answer(answer="x")), "run")
    assert (shown.run, shown.question_id, shown.question, shown.gold_answer) == ("run", "q", "?", None)
    assert (shown.facts, shown.services) == (("one", "two"), (None, "api"))
    assert shown.conflicts == ((("a", "b"), "b"), (("c",), ""))


def test_citations_know_what_was_retrieved() -> None:
    """Also of chunks that a judge isn't shown; with a pattern of the user's."""
    chunks = {"api:a.py#f": "x" * 100, "doc-3": "y"}
    shown = materials("a [api/a.py:3] b [doc-3] c (from doc-3)", chunks, context_tokens=10)
    assert [(one.target, one.chunks) for one in shown.citations] == [
        ("api/a.py:3", ("api:a.py#f",)),
        ("doc-3", ("doc-3",)),
    ]
    assert shown.case is not None
    with_pattern = materials_of(shown.case, "r", pattern=citation_pattern(r"\(from (?P<target>[^)]+)\)"))
    assert [one.text for one in with_pattern.citations] == ["[api/a.py:3]", "[doc-3]", "(from doc-3)"]


def test_nothing_to_judge() -> None:
    """No record, one with an error, and one without the text of an answer; an empty answer is one."""
    assert lacking_answer(Case(question(), None)) == "the run has no record for this question"
    assert lacking_answer(Case(question(), answer(answer="x", error="boom"))) == "failed: boom"
    assert lacking_answer(Case(question(), answer())) == "the run logs no answer text (not logged)"
    assert lacking_answer(Case(question(), answer(answer=""))) is None
