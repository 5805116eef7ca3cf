"""Where runs break: boundaries and relations, counted over one set of required edges for every run."""

from __future__ import annotations

from graphkit.analysis.broken_edges import BrokenEdges, broken_edges, required_edges, walked_edges, weakest
from graphkit.measures.case import Case
from graphkit.records.models import Answer, Question
from tests.helpers.cases import Triple, answer, either, optional, question, unlogged

AB: Triple = ("a:m.py#x", "CALLS", "b:m.py#y")
BC: Triple = ("b:m.py#y", "RAISES", "c:m.py#z")
BB: Triple = ("b:m.py#y", "CALLS", "b:m.py#w")
AD: Triple = ("a:m.py#x", "CALLS", "d:m.py#v")


def _counted(questions: list[Question], *runs: list[Answer | None]) -> BrokenEdges:
    cases = [[Case(one, told) for one, told in zip(questions, run, strict=True)] for run in runs]
    return broken_edges([required_edges(case) for case in cases[0]], [[*map(walked_edges, run)] for run in cases])


def _rows(found: BrokenEdges) -> dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]]:
    return {row.name: (row.required, row.walked, row.unknown) for row in found.rows}


def test_required_and_walked_edges_are_counted_worst_first() -> None:
    """Two questions require a → b, one b → c; both runs walk a → b once in two, and none walks b → c.

    CALLS: AB twice and BB once are 3, of which the first run walks AB and BB, the second AB. An optional edge and an
    edge beyond gold don't count.
    """
    asked = [question([AB, BC, optional(*AD)]), question([AB, BB])]
    found = _counted(asked, [answer([AB, AD]), answer([BB])], [answer([]), answer([AB])])
    assert [row.name for row in found.boundaries] == ["b → c", "a → b"]
    assert [row.name for row in found.relations] == ["RAISES", "CALLS"]
    assert _rows(found) == {
        "b → c": (1, (0, 0), (0, 0)),
        "a → b": (2, (1, 1), (0, 0)),
        "RAISES": (1, (0, 0), (0, 0)),
        "CALLS": (3, (2, 1), (0, 0)),
    }
    assert [row.never for row in found.rows] == [True, False, True, False]
    assert found.rows[1].share(0) == 0.5
    # Rows by number: 0 is b → c, 1 is a → b, 2 is RAISES, 3 is CALLS.
    assert found.needs == ((0, 1, 2, 3), (1, 3))
    assert found.missed == (((0, 2), (1, 3)), ((0, 1, 2, 3), (3,)))
    assert weakest(found) == "1 of 2 boundaries is never crossed (b→c). No run walks RAISES."


def test_alternatives_are_chosen_once_for_every_run() -> None:
    """The first run walks half of one alternative, the second all of the other: 1/2 + 0 against 0 + 1.

    So the second alternative counts for both, of which the first run walked nothing, and neither run has a number of
    required edges of its own.
    """
    asked = [question(*either("g", [AB, BC], [AD]))]
    found = _counted(asked, [answer([AB])], [answer([AD])])
    assert _rows(found) == {"a → d": (1, (0, 1), (0, 0)), "CALLS": (1, (0, 1), (0, 0))}
    # By itself, the first run is counted over the alternative that it walked most of.
    assert _rows(_counted(asked, [answer([AB])]))["a → b"] == (1, (1,), (0,))
    # If none was walked, the alternative with the fewest required edges counts.
    assert [row.name for row in _counted(asked, [answer([])]).boundaries] == ["a → d"]


def test_an_edge_of_two_parts_counts_once() -> None:
    """Two gold paths share AB: the question requires it once."""
    found = _counted([question([AB, BC], [AB, BB])], [answer([AB])])
    assert _rows(found)["a → b"] == (1, (1,), (0,))
    assert _rows(found)["CALLS"] == (2, (1,), (0,))


def test_what_is_not_logged_is_unknown_and_what_failed_walked_nothing() -> None:
    """Of three runs one failed, one has no record, and one didn't log its traversal: 0, 0, and unknown."""
    failed = Answer.model_validate({"run": "r", "question_id": "q", "error": "timeout"})
    found = _counted([question([AB])], [failed], [None], [unlogged()])
    [row] = found.boundaries
    assert (row.required, row.walked, row.unknown) == (1, (0, 0, 0), (0, 0, 1))
    assert [row.share(number) for number in range(3)] == [0.0, 0.0, None]
    assert found.missed == (((0, 1),), ((0, 1),), ((),))
    [row] = _counted([question([AB])], [unlogged()]).boundaries
    assert not row.never


def test_questions_that_are_not_scored_count_nowhere() -> None:
    """A question with stale gold has no required edges; without gold there is no row and no sentence."""
    found = broken_edges([None], [[()]])
    assert (found.rows, found.needs, found.missed, weakest(found)) == ((), ((),), (((),),), "")


def test_an_edge_without_a_relation_has_a_row() -> None:
    """An edge within a repository crosses no boundary; one without a relation is counted as such, and fits any."""
    found = _counted([question([("a:1", None, "a:2")])], [answer([("a:1", "CALLS", "a:2")])])
    assert _rows(found) == {"(no relation)": (1, (1,), (0,))}
