"""Where runs break: boundaries and relations, each run counted by the alternatives that its own scores count."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphkit.analysis.broken_edges import (
    BrokenEdges,
    broken_edges,
    missed_counts,
    question_edges,
    weakest,
)
from graphkit.measures.base import Unscored
from graphkit.measures.case import Case
from graphkit.measures.edges import BoundaryRecall, EdgeRecall
from graphkit.measures.seeds import lost_by_boundary
from graphkit.records.models import Answer, Question
from tests.helpers.cases import Triple, answer, either, optional, question, unlogged
from tests.helpers.properties import examples

AB: Triple = ("a:m.py#x", "CALLS", "b:m.py#y")
BC: Triple = ("b:m.py#y", "RAISES", "c:m.py#z")
BB: Triple = ("b:m.py#y", "CALLS", "b:m.py#w")
AD: Triple = ("a:m.py#x", "CALLS", "d:m.py#v")

FAILED = Answer.model_validate({"run": "r", "question_id": "q", "error": "timeout"})


def _counted(questions: list[Question], *runs: list[Answer | None]) -> BrokenEdges:
    cases = [[Case(one, told) for one, told in zip(questions, run, strict=True)] for run in runs]
    return broken_edges([[*map(question_edges, run)] for run in cases], most=0)


def _rows(found: BrokenEdges) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    return {row.name: (row.walked, row.required) for row in found.rows}


def test_required_and_walked_edges_are_counted_worst_first() -> None:
    """Two questions require a → b, one b → c; both runs walk a → b once in two, and none walks b → c.

    CALLS: AB twice and BB once are 3, of which the first run walks AB and BB, the second AB. An optional edge and an
    edge beyond gold don't count. Both boundaries lose 2 edges, a → b of 4 and b → c of 2; CALLS loses 3, RAISES 2.
    """
    asked = [question([AB, BC, optional(*AD)]), question([AB, BB])]
    found = _counted(asked, [answer([AB, AD]), answer([BB])], [answer([]), answer([AB])])
    assert [row.name for row in found.boundaries] == ["b → c", "a → b"]
    assert [row.name for row in found.relations] == ["CALLS", "RAISES"]
    assert _rows(found) == {
        "b → c": ((0, 0), (1, 1)),
        "a → b": ((1, 1), (2, 2)),
        "RAISES": ((0, 0), (1, 1)),
        "CALLS": ((2, 1), (3, 3)),
    }
    assert [row.never for row in found.rows] == [True, False, False, True]
    assert found.rows[1].share(0) == 0.5
    # Rows by number: 0 is b → c, 1 is a → b, 2 is CALLS, 3 is RAISES.
    assert found.needs == (((0, 1, 2, 3), (1, 2)),) * 2
    assert found.missed == (((0, 3), (1, 2)), ((0, 1, 2, 3), (2,)))
    assert weakest(found) == (
        "No required edge was walked across 1 of 2 boundaries (b→c). No required RAISES edge was walked."
    )


def test_what_loses_most_edges_comes_first() -> None:
    """Of a → b 2 of 4 edges are lost, of b → c 1 of 1: the share of b → c is worse, and a → b loses more."""
    found = _counted(
        [question([AB]), question([AB]), question([AB]), question([AB, BC])],
        [answer([AB]), answer([AB]), answer([]), answer([])],
    )
    assert [(row.name, row.lost) for row in found.boundaries] == [("a → b", 2), ("b → c", 1)]


def test_single_edges_and_nodes_are_counted() -> None:
    """AB is required by both questions of two runs, which walk it once each; BB and BC by one, and no run walks them.

    So AB is lost 2 times of 4, BC and BB 2 of 2 each: of equals the smaller share comes first, then the name. The first
    run reaches b:y, an end of AB, in q1 only; w and z never. An edge that starts at y reaches it for q2 of the second.
    """
    asked = [question([AB, BC]), question([AB, BB])]
    off: Triple = ("b:m.py#y", "CALLS", "b:m.py#elsewhere")
    cases = [
        [Case(one, told) for one, told in zip(asked, run, strict=True)]
        for run in ([answer([AB]), answer([])], [answer([AB]), answer([off])])
    ]
    counted = [[*map(question_edges, run)] for run in cases]
    found = broken_edges(counted)
    assert [(row.names, row.required, row.walked) for row in found.edges] == [
        (BB, (1, 1), (0, 0)),
        (BC, (1, 1), (0, 0)),
        (AB, (2, 2), (1, 1)),
    ]
    assert [(row.name, row.required, row.walked) for row in found.nodes] == [
        ("b:m.py#w", (1, 1), (0, 0)),
        ("c:m.py#z", (1, 1), (0, 0)),
        ("a:m.py#x", (2, 2), (1, 1)),
        ("b:m.py#y", (2, 2), (1, 2)),
    ]
    assert (found.missed_edges, found.missed_nodes) == (3, 4)
    few = broken_edges(counted, most=1, also=[("edge", ("a:m.py#x", "CALLS", "b:m.py#y"))])
    assert [row.names for row in few.edges] == [BB, AB]
    assert (len(few.nodes), few.missed_edges, few.missed_nodes) == (1, 3, 4)
    # Rows by number: boundaries 0 and 1, relations 2 and 3, then BB, AB and w. Of q1 both runs miss BC alone.
    assert [[number for number in some if number >= 4] for some in few.missed[0]] == [[], [4, 5, 6]]
    assert missed_counts(counted[0], "edge") == [
        {"source": AB[0], "relation": "CALLS", "target": AB[2], "missed": 1, "required": 2, "share": 0.5},
        {"source": BB[0], "relation": "CALLS", "target": BB[2], "missed": 1, "required": 1, "share": 1.0},
        {"source": BC[0], "relation": "RAISES", "target": BC[2], "missed": 1, "required": 1, "share": 1.0},
    ]
    assert missed_counts(counted[1], "node") == [
        {"node": "a:m.py#x", "missed": 1, "required": 2, "share": 0.5},
        {"node": "b:m.py#w", "missed": 1, "required": 1, "share": 1.0},
        {"node": "c:m.py#z", "missed": 1, "required": 1, "share": 1.0},
    ]


def test_each_run_is_counted_by_the_alternative_that_its_scores_count() -> None:
    """The first run walks half of one alternative, the second all of the other.

    So EdgeRecall is 1/2 over AB and BC for the first, and 1/1 over AD for the second: each requires its own edges.
    """
    asked = [question(*either("g", [AB, BC], [AD]))]
    found = _counted(asked, [answer([AB])], [answer([AD])])
    assert _rows(found) == {
        "a → b": ((1, 0), (1, 0)),
        "b → c": ((0, 0), (1, 0)),
        "a → d": ((0, 1), (0, 1)),
        "CALLS": ((1, 1), (1, 1)),
        "RAISES": ((0, 0), (1, 0)),
    }
    # Nothing is required of the second run there.
    assert next(row for row in found.rows if row.name == "a → b").share(1) is None
    # If none was walked, the alternative with the fewest required edges counts.
    assert [row.name for row in _counted(asked, [answer([])]).boundaries] == ["a → d"]


def test_boundaries_are_counted_by_the_alternative_of_boundary_recall() -> None:
    """Of one alternative the run walks 2 of 3 edges and no boundary, of the other 1 of 2 edges, its one boundary.

    EdgeRecall counts the first (2/3 > 1/2), BoundaryRecall the second (1/1 > 0/1): so relations count AA, AC and BB,
    and boundaries a → d.
    """
    aa: Triple = ("a:m.py#x", "READS", "a:m.py#u")
    inner = [aa, BB, ("a:m.py#u", "READS", "c:m.py#z")]
    asked = [question(*either("g", inner, [AD, ("d:m.py#v", "CALLS", "d:m.py#u")]))]
    found = _counted(asked, [answer([aa, BB, AD])])
    assert _rows(found) == {"a → d": ((1,), (1,)), "READS": ((1,), (2,)), "CALLS": ((1,), (1,))}


def test_an_edge_of_two_parts_counts_once() -> None:
    """Two gold paths share AB: the question requires it once."""
    found = _counted([question([AB, BC], [AB, BB])], [answer([AB])])
    assert _rows(found)["a → b"] == ((1,), (1,))
    assert _rows(found)["CALLS"] == ((1,), (2,))


def test_what_failed_or_is_not_logged_is_left_out_and_said() -> None:
    """Of three runs one failed, one has no record, and one didn't log its traversal: none is counted, each is said."""
    found = _counted([question([AB])], [FAILED], [None], [unlogged()])
    [row] = found.boundaries
    assert (row.required, row.walked) == ((0, 0, 0), (0, 0, 0))
    assert (row.failed, row.unlogged) == ((1, 1, 0), (0, 0, 1))
    assert [row.share(number) for number in range(3)] == [None, None, None]
    assert [row.left_out(number) for number in range(3)] == [
        "not counted: 1 in failed questions",
        "not counted: 1 in failed questions",
        "not counted: 1 in questions without a logged traversal",
    ]
    assert found.missed == (((),), ((),), ((),))
    assert found.needs == (((0, 1),),) * 3
    assert not row.never
    assert weakest(found) == ""


def test_what_is_not_logged_may_have_been_walked() -> None:
    """The first question is logged and misses a → b; the second isn't logged: the sentence doesn't claim it."""
    found = _counted([question([AB]), question([AB])], [answer([]), unlogged()])
    assert weakest(found) == (
        "No required edge was walked across 1 of 1 boundary (a→b), as far as traversals are logged. "
        "No required CALLS edge was walked, as far as traversals are logged."
    )


def test_a_walked_edge_of_gold_that_is_not_required_is_no_never() -> None:
    """The run walks the optional step over a → d, and the alternative that doesn't count over b → c.

    Of the alternatives it walks 1 of 3 (BC) and 1 of 2 (BB): the second counts. No sentence says of a → d or RAISES
    that nothing was walked.
    """
    long = [("b:1", "READS", "b:2"), ("b:2", "READS", "b:3"), BC]
    asked = [question(*either("g", long, [BB, ("b:4", "READS", "b:5")])), question([AD]), question([optional(*AD)])]
    found = _counted(asked, [answer([BB, BC]), answer([]), answer([AD])])
    assert _rows(found) == {"a → d": ((0,), (1,)), "b → c": ((1,), (1,)), "CALLS": ((1,), (2,)), "READS": ((0,), (1,))}
    assert weakest(found) == "No required READS edge was walked."


def test_questions_that_are_not_scored_count_nowhere() -> None:
    """A question with stale gold has no required edges; without gold there is no row and no sentence."""
    found = broken_edges([[None]])
    assert (found.rows, found.needs, found.missed, weakest(found)) == ((), (((),),), (((),),), "")


def test_a_boundary_says_where_the_question_was_not_linked() -> None:
    """Of four questions that require a → b and b → c, two are linked to d alone; the others to the start, or unknown.

    The first walks nothing, so both of its boundaries broke at the start; the second came to the end of the path, and
    misses a → b alone. The third was linked rightly, and the fourth doesn't log it: they missed both for another
    reason. An alternative that doesn't count, and a boundary that was walked, say nothing.
    """
    asked = [question([AB, BC])] * 4
    far = [{"id": AD[2]}]
    records: list[Answer | None] = [
        *(answer([], seeds=far), answer([BC], seeds=far), answer([], seeds=[AB[0]]), answer([])),
    ]
    found = _counted(asked, records)
    assert {row.name: row.unlinked for row in found.boundaries} == {"a → b": 2, "b → c": 1}
    assert lost_by_boundary(found.unlinked) == {("a", "b"): (2, 0), ("b", "c"): (1, 0)}
    assert weakest(found).startswith("No required edge was walked across 1 of 2 boundaries (a→b). Missed since the ")
    assert "not linked to the start of the path: a→b in 2 questions, b→c in 1 question." in weakest(found)
    assert [row.unlinked for row in _counted(asked[:1], [answer([AB, BC], seeds=far)]).boundaries] == [0, 0]


def test_an_edge_without_a_relation_has_a_row() -> None:
    """An edge within a repository crosses no boundary; one without a relation is counted as such, and fits any."""
    asked = [question([("a:1", None, "a:2")])]
    assert _rows(_counted(asked, [answer([("a:1", "CALLS", "a:2")])])) == {"(no relation)": ((1,), (1,))}
    assert weakest(_counted(asked, [answer([])])) == "No required untyped edge was walked."


def test_a_sentence_names_few_and_counts_the_others() -> None:
    """Of eight relations that weren't walked six are named."""
    steps: list[Any] = [("a:1", f"R{number}", f"a:{number + 2}") for number in range(8)]
    told = weakest(_counted([question(steps)], [answer([])]))
    assert told == "No required R0, R1, R2, R3, R4 or R5 edge was walked, nor one of 2 other relations."


# Random worlds -----------------------------------------------------------------------------------------------------

_NODES = st.sampled_from(["a:1", "a:2", "b:1", "b:2", "c:1"])
_EDGES = st.tuples(_NODES, st.sampled_from(["CALLS", "RAISES", None]), _NODES)
_STEPS = st.lists(
    st.tuples(_EDGES, st.booleans()).map(lambda one: optional(*one[0]) if one[1] and one[0][1] else one[0]),
    min_size=1,
    max_size=4,
)
_PATHS = st.lists(st.tuples(st.sampled_from([None, "g"]), _STEPS), max_size=3)
_RECORDS = st.one_of(
    st.lists(_EDGES, max_size=5).map(lambda walk: answer(walk)),
    st.just(FAILED),
    st.just(unlogged()),
    st.none(),
)
_WORLDS = st.lists(st.tuples(_PATHS, st.tuples(_RECORDS, _RECORDS)), min_size=1, max_size=3)


def _question(paths: list[tuple[str | None, list[Any]]]) -> Question:
    return question(*[{"steps": steps, **({"group": group} if group else {})} for group, steps in paths])


@examples(300)
@given(_WORLDS)
def test_counts_are_those_of_the_scores_and_sentences_are_true(world: list[tuple[Any, Any]]) -> None:
    """The relations of a question add up to its EdgeRecall, the boundaries to its BoundaryRecall.

    No sentence says of a boundary or relation that no required edge was walked while some walk holds such an edge of
    gold; and each one that was required and not walked is in a sentence.
    """
    runs = [[Case(_question(paths), records[number]) for paths, records in world] for number in (0, 1)]
    counted = [[*map(question_edges, run)] for run in runs]
    for run, some in zip(runs, counted, strict=True):
        for case, one in zip(run, some, strict=True):
            for kind, measure in (("relation", EdgeRecall()), ("boundary", BoundaryRecall())):
                counts = [count for count in one.counts if count.kind == kind]
                required, walked = sum(count.required for count in counts), sum(count.walked for count in counts)
                score = measure.score(case)
                assert one.left_out or (not required if isinstance(score, Unscored) else score == walked / required)
                assert bool(one.left_out) == (case.failure is not None or not case.walk_logged)
    found = broken_edges(counted, most=0)
    told = weakest(found, named=9)
    for row in found.rows:
        touched = [
            edge
            for run in runs
            for case in run
            if case.failure is None
            for path in case.gold
            for edge in path.edges
            for walked in case.walked
            if edge[0] == walked[0] and edge[2] == walked[2] and (None in (edge[1], walked[1]) or edge[1] == walked[1])
        ]
        if row.kind == "relation":
            held = any((edge[1] or "(no relation)") == row.name for edge in touched)
            said = ("untyped" if row.name == "(no relation)" else row.name) in told
        else:
            held = any((edge[0][0], edge[2][0]) == row.names for edge in touched)
            said = "→".join(row.names) in told
        assert said == (any(row.required) and not held)


def test_missed_counts_are_the_rows_of_the_named_queries() -> None:
    """Of two questions RAISES is missed in one of one, CALLS in one of three; a failed question isn't counted."""
    asked = [question([AB, BC]), question([AB, BB]), question([AD])]
    counted = [
        question_edges(Case(one, told)) for one, told in zip(asked, [answer([AB]), answer([AB]), FAILED], strict=True)
    ]
    assert missed_counts(counted, "relation") == [
        {"relation": "CALLS", "missed": 1, "required": 3, "share": 0.33, "questions": 1},
        {"relation": "RAISES", "missed": 1, "required": 1, "share": 1.0, "questions": 1},
    ]
    assert missed_counts(counted, "boundary") == [
        {"from_repo": "b", "to_repo": "c", "missed": 1, "required": 1, "share": 1.0, "questions": 1}
    ]
