"""Measures of whole paths, and the first divergence from the gold path."""

from __future__ import annotations

import pytest

import graphkit
from graphkit.measures.case import Case
from graphkit.measures.paths import Divergence
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import NO_GOLD, NO_ORDER, Unscored
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, Compatibility, Question
from tests.helpers.cases import StepForm, Triple, answer, either, optional, question, reason, score, value

A: Triple = ("x:a", "R", "x:b")
B: Triple = ("x:b", "R", "x:c")
C: Triple = ("x:c", "R", "x:d")
D: Triple = ("x:d", "R", "x:e")
SIDE: Triple = ("x:b", "R", "x:z")
MEASURES = ("PathExact", "PathInOrder", "PathPrefix")


def scores(asked: Question, run: Answer) -> list[float]:
    """Return PathExact, PathInOrder and PathPrefix."""
    return [value(measure, asked, run) for measure in MEASURES]


def divergences(asked: Question, run: Answer, commits: CommitGraph | None = None) -> list[Divergence]:
    """Return the divergences of a run."""
    return graphkit.first_divergences(graphkit.Case(asked, run, commits))


# The worked case ---------------------------------------------------------------------------------------------------

WORKED = question(
    [
        ("web:login.ts", "CALLS", "api:auth.py"),
        ("api:auth.py", "IMPORTS", "api:users.py"),
        ("api:users.py", "QUERIES", "db:users.sql"),
    ]
)
WORKED_RUN = answer(
    [
        ("web:login.ts", "CALLS", "api:auth.py"),
        ("api:auth.py", "IMPORTS", "api:orders.py"),
        ("api:orders.py", "QUERIES", "db:users.sql"),
    ],
    [("web:login.ts", "CALLS", "api:auth.py")],
)


def test_worked_case() -> None:
    """Neither path is whole; one of three steps was followed."""
    assert scores(WORKED, WORKED_RUN) == pytest.approx([0.0, 0.0, 1 / 3])


def test_worked_first_divergence() -> None:
    """Position 1, at api:auth.py in api, expected api:users.py, went to api:orders.py, and from there to the end."""
    assert divergences(WORKED, WORKED_RUN) == [
        Divergence(
            path=None,
            position=1,
            node="api:auth.py",
            repo="api",
            commit=None,
            relation="IMPORTS",
            expected="api:users.py",
            went_to="api:orders.py",
            went_by="IMPORTS",
            joined=0,
            reached_end=True,
        )
    ]


# The three measures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walk", "expected"),
    [
        ([A, B, C], [1.0, 1.0, 1.0]),
        ([A, SIDE, B, C], [0.0, 1.0, 1.0]),  # a step in between
        ([A, B, C, D], [0.0, 1.0, 1.0]),  # a step behind the end
        ([D, A, B, C], [0.0, 1.0, 1.0]),  # a step before the start
        ([A, B], [0.0, 0.0, 2 / 3]),  # it stopped
        ([A, SIDE], [0.0, 0.0, 1 / 3]),
        ([B, C], [0.0, 0.0, 0.0]),  # the start was missed
        ([A, C], [0.0, 0.0, 1 / 3]),  # what follows a miss doesn't count
        ([C, B, A], [0.0, 0.0, 1 / 3]),  # all edges, in the wrong order
        ([A, A, B, C], [0.0, 1.0, 1.0]),  # a repeat is a step in between
        ([], [0.0, 0.0, 0.0]),
    ],
)
def test_one_required_path(walk: list[StepForm], expected: list[float]) -> None:
    """The values of each measure for one traversal along a gold path of three steps."""
    assert scores(question([A, B, C]), answer(walk)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("walk", "exact"),
    [([A, B, C], 1.0), ([A, C], 1.0), ([A], 0.0), ([B, C], 0.0), ([A, B], 0.0), ([A, B, B, C], 0.0)],
)
def test_optional_step_present_or_absent(walk: list[StepForm], exact: float) -> None:
    """The optional middle step may be missing; the others may not."""
    assert value("PathExact", question([A, optional(*B), C]), answer(walk)) == exact


def test_optional_steps_at_both_ends() -> None:
    """The first and the last step may be missing if they are optional."""
    asked = question([optional(*A), B, optional(*C)])
    for walk in ([B], [A, B], [B, C], [A, B, C]):
        assert scores(asked, answer(walk)) == [1.0, 1.0, 1.0]
    assert value("PathExact", asked, answer([A, C])) == 0.0


def test_step_that_is_optional_and_repeated() -> None:
    """A step that occurs twice, once optional, is read in the way that fits."""
    loop: Triple = ("x:a", "R", "x:a")
    asked = question([optional(*loop), loop, A])
    # Greedy reading would spend the only loop on the optional step.
    assert value("PathExact", asked, answer([loop, A])) == 1.0
    assert value("PathExact", asked, answer([loop, loop, A])) == 1.0
    assert value("PathExact", asked, answer([loop, loop, loop, A])) == 0.0
    assert value("PathExact", asked, answer([A])) == 0.0


def test_repeated_step_must_be_walked_as_often() -> None:
    """A gold path with a repeated step doesn't equal a traversal that takes the step once."""
    asked = question([A, ("x:b", "R", "x:a"), A])
    assert scores(asked, answer([A])) == pytest.approx([0.0, 0.0, 1 / 3])
    assert scores(asked, answer([A, ("x:b", "R", "x:a"), A])) == [1.0, 1.0, 1.0]


def test_one_retrieved_path_must_hold_it_all() -> None:
    """Path measures don't join two retrieved paths, while EdgeRecall uses their union."""
    asked, run = question([A, B]), answer([A], [B])
    assert scores(asked, run) == [0.0, 0.0, 0.5]
    assert value("EdgeRecall", asked, run) == 1.0


def test_best_retrieved_path_counts() -> None:
    """The best of several retrieved paths counts, whatever their order."""
    asked = question([A, B])
    assert scores(asked, answer([SIDE], [A, SIDE], [A, B])) == [1.0, 1.0, 1.0]
    assert scores(asked, answer([A, SIDE], [SIDE])) == [0.0, 0.0, 0.5]


def test_mean_over_required_paths() -> None:
    """Each required path weighs the same, however long it is."""
    asked = question([A, B, C], [D])
    # The first is followed for 2 of 3 steps, the second whole.
    assert scores(asked, answer([A, B], [D])) == pytest.approx([1 / 2, 1 / 2, (2 / 3 + 1) / 2])


def test_best_alternative_counts() -> None:
    """A group counts as one required path, by its best alternative."""
    asked = question(*either("g", [A, B, C], [A, SIDE]), [D])
    assert scores(asked, answer([A, SIDE])) == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    # 2/3 of the first alternative beat 1/2 of the second.
    assert value("PathPrefix", asked, answer([A, B])) == pytest.approx((2 / 3 + 0) / 2)


def test_relations_of_steps() -> None:
    """A relation is compared if both sides have one, and never with relation=False."""
    asked = question([A, B])
    assert scores(asked, answer([A, ("x:b", "S", "x:c")])) == [0.0, 0.0, 0.5]
    assert scores(asked, answer([A, ("x:b", None, "x:c")])) == [1.0, 1.0, 1.0]
    run = answer([A, ("x:b", "S", "x:c")])
    assert [value(f"{name}(relation=False)", asked, run) for name in MEASURES] == [1.0, 1.0, 1.0]


def test_positions_order_a_walk() -> None:
    """The positions of steps decide their order."""
    steps = [{"source": s, "relation": r, "target": t} for s, r, t in (A, B)]
    backwards = [{**steps[1], "position": 1}, {**steps[0], "position": 0}]
    run = Answer.model_validate({"run": "r", "question_id": "q", "traversal": backwards})
    assert scores(question([A, B]), run) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("measure", MEASURES)
def test_edges_of_the_domain(measure: str) -> None:
    """Nothing traversed is 0; no gold, gold without a required step, no record and a failed one aren't scored."""
    assert value(measure, question([A]), answer()) == 0.0
    for asked in (question(), question([]), question([optional(*A)])):
        assert reason(measure, asked, answer([A])) == "no gold path with a required step"
    assert reason(measure, question([A]), None) == "the run has no record for this question"
    assert reason(measure, question([A]), answer([A], error="boom")) == "failed: boom"


# First divergence --------------------------------------------------------------------------------------------------


def test_no_divergence_where_all_was_followed() -> None:
    """A path that was followed to its end has none, even with other steps between."""
    assert divergences(question([A, B]), answer([A, SIDE, B])) == []


def test_divergence_of_a_walk_that_stopped() -> None:
    """went_to is None if the traversal stopped at the start of the next step."""
    (found,) = divergences(question([A, B, C]), answer([A, B]))
    assert (found.position, found.node, found.expected, found.went_to, found.went_by) == (2, "x:c", "x:d", None, None)


def test_divergence_of_nothing_traversed() -> None:
    """The first required step wasn't followed, and the traversal took no other."""
    (found,) = divergences(question([A, B]), answer())
    assert (found.position, found.node, found.went_to) == (0, "x:a", None)


def test_a_path_that_no_walk_came_to_was_never_entered() -> None:
    """A gold path is entered if a retrieved path holds any of its nodes."""
    asked = question([A, B])  # x:a -> x:b -> x:c

    def entered(*walks: list[StepForm]) -> bool:
        (found,) = divergences(asked, answer(*walks))
        return found.entered

    assert not entered()
    assert not entered([D])
    assert entered([B])  # it joined at the second step
    assert entered([A])
    assert entered([("x:a", "R", "x:q")])  # it stood there and went elsewhere
    assert entered([D], [("x:q", "R", "x:a")])  # it came there and stopped


def test_what_a_divergence_says_of_the_walk() -> None:
    """The path x:a, x:b, x:c. What was joined, taken elsewhere, stopped and reached, worked by hand for each walk."""

    def said(*walks: list[StepForm]) -> tuple[int | None, bool, bool, bool]:
        (found,) = divergences(question([A, B]), answer(*walks))
        return found.joined, found.elsewhere, found.stopped, found.reached_end

    assert said([B]) == (1, False, False, True)
    assert said([B, A]) == (0, True, False, True)  # both steps, the second first
    assert said([A]) == (0, False, True, False)
    assert said([A, D]) == (0, False, False, False)  # it went on elsewhere
    assert said([A], [D]) == (0, False, True, False)  # another retrieved path is elsewhere
    assert said([A], [("x:b", "R", "x:q")]) == (0, False, False, False)
    assert said([("x:q", "R", "x:c")]) == (None, False, False, True)
    assert said() == (None, False, False, False)


def test_an_edge_of_gold_is_no_wrong_turn() -> None:
    """From x:b the walk takes the optional step only, which is gold: it went nowhere else."""
    (found,) = divergences(question([A, optional("x:b", "R", "x:o"), B]), answer([A, ("x:b", "R", "x:o")]))
    assert (found.position, found.went_to) == (2, None)


def test_divergence_counts_positions_with_optional_steps() -> None:
    """The position is the step's place in its gold path, optional steps included."""
    (found,) = divergences(question([A, optional(*SIDE), B, C]), answer([A, B]))
    assert (found.position, found.node) == (3, "x:c")


def test_divergence_of_the_walk_that_followed_most() -> None:
    """The retrieved path that followed most counts; ties go to one that went on from there."""
    run = answer([A], [A, SIDE], [("x:a", "R", "x:q")])
    (found,) = divergences(question([A, B]), run)
    assert (found.position, found.went_to) == (1, "x:z")


def test_divergence_of_the_best_alternative() -> None:
    """A group has one divergence: that of the alternative that was followed furthest."""
    asked = question(
        {"id": "one", "group": "g", "steps": [A, B, C]}, {"id": "two", "group": "g", "steps": [D, ("x:e", "R", "x:f")]}
    )
    (found,) = divergences(asked, answer([D]))
    assert (found.path, found.position, found.node) == ("two", 1, "x:e")


def test_divergences_of_several_paths() -> None:
    """Each required path that wasn't followed to its end has one divergence, in the order of the paths."""
    found = divergences(question({"id": "p", "steps": [A, B]}, {"id": "q", "steps": [C]}, {"id": "r", "steps": [D]}),
                        answer([A], [C]))  # fmt: skip
    assert [(one.path, one.position) for one in found] == [("p", 1), ("r", 0)]


def test_commit_of_a_divergence() -> None:
    """The commit is that of the traversal at the node, else the question's pin, else that of its stack."""
    read = {"source": "x:a", "relation": "R", "target": "x:b", "target_commit": "read"}
    stacks = CommitGraph.build(compatibility=[Compatibility(id="s", commits={"x": "stacked"})])
    pinned = question([A, B], commits={"x": "pinned"}, stack="s")
    stacked = question([A, B], stack="s")
    assert divergences(pinned, answer([read]), stacks)[0].commit == "read"
    assert divergences(pinned, answer([A]), stacks)[0].commit == "pinned"
    assert divergences(stacked, answer([A]), stacks)[0].commit == "stacked"
    assert divergences(stacked, answer([A]))[0].commit is None


def test_a_node_without_a_repository_has_none() -> None:
    """Neither a bare name nor an id with an empty repository names one."""
    for node in ("bare", ":x"):
        (found,) = divergences(question([(node, "R", "y:1")]), answer())
        assert (found.node, found.repo, found.commit) == (node, None, None)


# A set of edges -----------------------------------------------------------------------------------------------------


def unordered(*edges: StepForm) -> Answer:
    """Return a record whose traversal is a set of edges."""
    return answer(edges, ordered=False)


@pytest.mark.parametrize("measure", ["PathExact", "PathInOrder", "PathPrefix", "PathPrefix(relation=False)"])
def test_a_set_of_edges_has_no_order(measure: str) -> None:
    """A set of edges isn't scored by the measures of order; measures of edges are unchanged."""
    asked, edges = question([A, B]), [B, A]
    assert reason(measure, asked, unordered(*edges)) == NO_ORDER
    assert parse_measure(measure).score(Case(asked, answer(edges), unordered=True)) == Unscored(NO_ORDER)
    assert reason(measure, question(), unordered(*edges)) == NO_GOLD
    for other in ("EdgeRecall", "EdgePrecision", "BoundaryRecall"):
        assert score(other, asked, unordered(*edges)) == score(other, asked, answer(edges))


def test_a_set_that_lacks_nothing_diverges_nowhere() -> None:
    """Gold edges in any order, with others between, are no divergence in a set of edges."""
    asked = question([A, B])
    assert divergences(asked, unordered(B, ("x:b", "R", "x:d"), A)) == []


def test_a_set_diverges_where_it_came_to() -> None:
    """The divergence is the first missing step from a node of the set; went_to is the end of an edge that isn't gold.

    Gold goes from a to b, c and d, and from a to e. The set holds c-d and a-e, and goes from c to a: of the two that
    lack, a-b and b-c, the first begins at a, from where a-e goes, which is gold: nothing went elsewhere. With b-d, the
    step b-c lacks too, but a-b comes first.
    """
    asked = question([A, B, C, ("x:a", "R", "x:e")], commits={"x": "1"})
    (found,) = divergences(asked, unordered(C, ("x:a", "R", "x:e"), ("x:c", "R", "x:a")))
    assert (found.position, found.node, found.expected, found.went_to, found.commit) == (0, "x:a", "x:b", None, "1")
    assert (found.entered, found.ordered) == (True, False)
    # Without a, only b was come to: b-c lacks, and b-d was taken.
    (found,) = divergences(asked, unordered(C, ("x:b", "S", "x:d")))
    assert (found.position, found.node, found.expected, found.went_to, found.went_by) == (1, "x:b", "x:c", "x:d", "S")
    # Neither a nor b: what lacks begins nowhere that the set came to.
    assert divergences(asked, unordered(C)) == []


def test_of_alternatives_a_set_diverges_from_the_one_it_holds_most_of() -> None:
    """The set holds one of two edges of the second alternative, and only the first node of the other."""
    asked = question(*either("g", [A, B], [("x:d", "R", "x:a"), ("x:a", "R", "x:e")]))
    (found,) = divergences(asked, unordered(("x:d", "R", "x:a")))
    assert (found.position, found.node, found.expected) == (1, "x:a", "x:e")
