"""Measures of edges and repositories: the worked case, and each rule of the definition on small graphs."""

from __future__ import annotations

import pytest

from graphkit.measures.unscored import NO_GOLD, NO_RETRIEVAL, NO_TRAVERSAL
from graphkit.records.models import Answer, Question
from tests.helpers.cases import Triple, answer, either, manual, optional, question, reason, unlogged, value

WALKED_MEASURES = ("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "BoundaryPrecision")

# The worked case of the definitions.
LOGIN: Triple = ("web:login.ts", "CALLS", "api:auth.py")
USERS: Triple = ("api:auth.py", "IMPORTS", "api:users.py")
QUERY: Triple = ("api:users.py", "QUERIES", "db:users.sql")
ORDERS: Triple = ("api:auth.py", "IMPORTS", "api:orders.py")
WRONG: Triple = ("api:orders.py", "QUERIES", "db:users.sql")


@pytest.fixture
def worked() -> tuple[Question, Answer]:
    """The gold path over three repositories, and two retrieved paths of which the second repeats the first edge."""
    return question([LOGIN, USERS, QUERY]), answer([LOGIN, ORDERS, WRONG], [LOGIN])


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("EdgeRecall", 1 / 3),  # the login edge, found twice, counts once
        ("EdgePrecision", 1 / 3),  # of three distinct traversed edges
        ("EdgeF1", 1 / 3),
        ("BoundaryRecall", 1 / 2),  # gold crosses at the first and the last edge
        ("BoundaryPrecision", 1 / 2),  # the walk crosses at LOGIN and at WRONG
        ("CrossRepoPrecision", 1.0),  # web, api and db are all in gold
        ("CrossRepoRecall", 1.0),
    ],
)
def test_worked_case(worked: tuple[Question, Answer], measure: str, expected: float) -> None:
    """The figures of the worked case, derived by hand."""
    assert value(measure, *worked) == pytest.approx(expected)


# Relations ---------------------------------------------------------------------------------------------------------

A_B: Triple = ("x:a", "R", "x:b")
B_C: Triple = ("x:b", "R", "x:c")


def test_relations_must_agree_where_both_sides_carry_one() -> None:
    """The same ends with another relation are another edge."""
    asked, run = question([A_B]), answer([("x:a", "OTHER", "x:b")])
    assert value("EdgeRecall", asked, run) == 0.0
    assert value("EdgePrecision", asked, run) == 0.0
    assert value("EdgeRecall(relation=False)", asked, run) == 1.0
    assert value("EdgePrecision(relation=False)", asked, run) == 1.0


def test_edges_are_directed() -> None:
    """An edge that was traversed backwards is another edge."""
    assert value("EdgeRecall", question([A_B]), answer([("x:b", "R", "x:a")])) == 0.0


@pytest.mark.parametrize("missing", ["gold", "walk", "both"])
def test_a_missing_relation_matches_any(missing: str) -> None:
    """If one side has no relation, only the ends are compared."""
    bare: Triple = ("x:a", None, "x:b")
    asked = question([A_B if missing == "walk" else bare])
    run = answer([A_B if missing == "gold" else bare])
    assert [value(name, asked, run) for name in WALKED_MEASURES[:3]] == [1.0, 1.0, 1.0]


def test_a_missing_relation_concerns_its_own_edge_only() -> None:
    """An edge without a relation doesn't change the comparison of the others."""
    asked = question([A_B, B_C])
    run = answer([("x:a", None, "x:b"), ("x:b", "OTHER", "x:c")])
    assert value("EdgeRecall", asked, run) == 0.5
    assert value("EdgePrecision", asked, run) == 0.5


def test_bare_node_lists_are_scorable() -> None:
    """A log of node lists has edges without relations."""
    run = Answer.model_validate({"run": "r", "question_id": "q", "traversal": [["x:a", "x:b", "x:c", "x:d"]]})
    # Both gold edges are among a-b, b-c and c-d.
    assert value("EdgeRecall", question([A_B, B_C]), run) == 1.0
    assert value("EdgePrecision", question([A_B, B_C]), run) == pytest.approx(2 / 3)


def test_parallel_edges_are_edges_of_their_own() -> None:
    """Two relations between the same nodes are two edges; without relations they are one."""
    asked = question([("x:a", "R", "x:b"), ("x:a", "S", "x:b")])
    run = answer([("x:a", "R", "x:b")])
    assert value("EdgeRecall", asked, run) == 0.5
    assert value("EdgeRecall(relation=False)", asked, run) == 1.0
    # The walk's bare edge matches both gold edges, and gold's two match one traversed edge.
    assert value("EdgeRecall", asked, answer([("x:a", None, "x:b")])) == 1.0


def test_self_loops() -> None:
    """A node may have an edge to itself, such as a recursive call."""
    loop: Triple = ("x:a", "CALLS", "x:a")
    assert value("EdgeRecall", question([loop, A_B]), answer([loop])) == 0.5
    assert value("EdgePrecision", question([loop, A_B]), answer([loop])) == 1.0


def test_ids_are_compared_as_they_are() -> None:
    """Quotes, backslashes and characters beyond the first plane are plain text, and case matters."""
    odd: Triple = ('r\\:it\'s "q".py#🦀', "RÜFT", "ü:é.py")
    assert value("EdgeRecall", question([odd]), answer([odd])) == 1.0
    assert value("EdgeRecall", question([odd]), answer([('R\\:it\'s "q".py#🦀', "RÜFT", "ü:é.py")])) == 0.0
    # No normalisation of ids: the composed letter is not the decomposed one.
    assert value("EdgeRecall", question([odd]), answer([(odd[0], "RÜFT", "ü:e\u0301.py")])) == 0.0


# What is required --------------------------------------------------------------------------------------------------


def test_optional_steps_cost_nothing_and_are_never_wrong() -> None:
    """Recall ignores optional steps, and precision counts them as right."""
    asked = question([A_B, optional("x:b", "R", "x:c")])
    assert value("EdgeRecall", asked, answer([A_B])) == 1.0
    assert value("EdgeRecall", asked, answer([B_C])) == 0.0
    assert value("EdgePrecision", asked, answer([A_B, B_C])) == 1.0
    # Precision 1, but nothing required was found.
    assert value("EdgeF1", asked, answer([B_C])) == 0.0


def test_an_edge_of_two_required_paths_counts_once() -> None:
    """Recall counts each edge once, however many paths hold it."""
    c_d: Triple = ("x:c", "R", "x:d")
    asked = question([A_B, B_C], [A_B, c_d])
    # Three distinct edges, one walked.
    assert value("EdgeRecall", asked, answer([A_B])) == pytest.approx(1 / 3)


def test_the_best_alternative_counts() -> None:
    """Only the path with the largest found share of its group is required."""
    long: list[Triple] = [("x:a", "R", "x:p"), ("x:p", "R", "x:q"), ("x:q", "R", "x:b")]
    asked = question(*either("g", long, [A_B]))
    assert value("EdgeRecall", asked, answer([A_B])) == 1.0
    assert value("EdgeRecall", asked, answer(long[:2])) == pytest.approx(2 / 3)
    # Precision takes any gold path: the edges of both alternatives are right.
    assert value("EdgePrecision", asked, answer([*long, A_B])) == 1.0


@pytest.mark.parametrize("turned", [False, True])
def test_of_equal_alternatives_the_one_with_fewer_edges_counts(turned: bool) -> None:
    """If neither alternative was traversed, the shorter one is required, whatever their order."""
    alternatives: list[list[Triple]] = [[A_B], [("x:a", "R", "x:p"), ("x:p", "R", "x:b")]]
    asked = question(*either("g", *(alternatives[::-1] if turned else alternatives)), [B_C])
    # One edge of the shorter alternative and one of the other path are required; one of the two is walked.
    assert value("EdgeRecall", asked, answer([B_C])) == 0.5


@pytest.mark.parametrize("turned", [False, True])
def test_alternatives_of_equal_shares_score_alike_in_any_order(turned: bool) -> None:
    """The shorter of two alternatives followed by half counts: 1 + 1 of 2 + 1 edges, never 2 + 1 of 5."""
    short: list[Triple] = [("x:1", "R", "x:2"), ("x:2", "R", "x:3")]
    long: list[Triple] = [("x:4", "R", "x:5"), ("x:5", "R", "x:6"), ("x:6", "R", "x:7"), ("x:7", "R", "x:8")]
    asked = question(*either("g", *([long, short] if turned else [short, long])), [B_C])
    assert value("EdgeRecall", asked, answer([short[0]], long[:2], [B_C])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("turned", [False, True])
def test_of_alternatives_of_one_length_the_alphabet_decides(turned: bool) -> None:
    """If neither was traversed, A_B precedes the edge of x:p; the other path holds A_B too, so one edge is required."""
    alternatives: list[list[Triple]] = [[A_B], [("x:p", "R", "x:b")]]
    asked = question(*either("g", *(alternatives[::-1] if turned else alternatives)), [A_B, B_C])
    # {A_B, B_C}, of which B_C is walked: 1/2. With x:p's edge it would be 1/3.
    assert value("EdgeRecall", asked, answer([B_C])) == 0.5


def test_groups_are_apart_and_paths_without_a_group_all_required() -> None:
    """Each group requires one path, and each path without a group is required."""
    x: Triple = ("x:1", "R", "x:2")
    y: Triple = ("x:3", "R", "x:4")
    asked = question(*either("g", [A_B], [x]), *either("h", [B_C], [y]), [("x:5", "R", "x:6")])
    # x satisfies g; of h and of the last path nothing is walked: 1 of 3.
    assert value("EdgeRecall", asked, answer([x])) == pytest.approx(1 / 3)


def test_an_alternative_that_requires_nothing_is_no_choice() -> None:
    """An alternative with optional steps only doesn't satisfy a group."""
    asked = question(*either("g", [optional("x:a", "R", "x:z")], [A_B]))
    assert value("EdgeRecall", asked, answer([("x:a", "R", "x:z")])) == 0.0


def test_static_leaves_manual_steps_out() -> None:
    """Steps beyond the static graph are required, unless static=True."""
    asked = question([A_B, manual("x:b", "R", "x:c")])
    assert value("EdgeRecall", asked, answer([A_B])) == 0.5
    assert value("EdgeRecall(static=True)", asked, answer([A_B])) == 1.0
    assert reason("EdgeRecall(static=True)", question([manual("x:a", "R", "x:b")]), answer([A_B])) == (
        "no gold path with a required step"
    )


@pytest.mark.parametrize(("evidence", "left_out"), [("trace", True), ("x", True), ("static", False), (None, False)])
def test_any_evidence_but_static_is_beyond_the_static_graph(evidence: str | None, left_out: bool) -> None:
    """One of two required edges was traversed: 1/2, and 1/1 if static measures ignore the other by its evidence."""
    other = {"source": "x:b", "relation": "R", "target": "x:c", "evidence": evidence}
    asked = question([A_B, other])
    assert value("EdgeRecall", asked, answer([A_B])) == 0.5
    assert value("EdgeRecall(static=True)", asked, answer([A_B])) == (1.0 if left_out else 0.5)


def test_files_compares_the_files_that_were_evidence() -> None:
    """By hand: of a.py#f -> b.py#g -> c.py#h and c.py#h -> c.py#i the files a.py and b.py are evidence: 1 of 3.

    With c.py it is 3 of 3, whatever was traversed; the optional step isn't required. Of alternatives the better counts,
    ends that name no file are left out, and without evidence files or chunks it isn't scored.
    """
    asked = question([("r:a.py#f", "C", "r:b.py#g"), ("r:b.py#g", "C", "q:c.py#h"), ("q:c.py#h", "C", "q:c.py#i")])
    two, three = ["r:a.py", "r:b.py"], ["r/a.py", "r/b.py", "q/c.py"]
    assert value("EdgeRecall(files=True)", asked, unlogged(evidence_files=two)) == 1 / 3
    assert value("EdgeRecall(files=True)", asked, unlogged(evidence_files=three)) == 1.0
    assert value("EdgeRecall(files=True)", asked, unlogged(retrieved=["r:a.py#x", "r:b.py"])) == 1 / 3
    assert reason("EdgeRecall(files=True)", asked, unlogged(traversal=[])) == NO_RETRIEVAL
    assert reason("EdgeRecall", asked, unlogged(evidence_files=three)) == NO_TRAVERSAL
    undirected = question(*either("g", [("r:a.py#f", "C", "q:c.py#h")], [("r:a.py#f", "C", "r:b.py#g")]))
    assert value("EdgeRecall(files=True)", undirected, unlogged(evidence_files=two)) == 1.0
    more = question([("r:a.py#f", "C", "r:b.py#g"), ("Ann", "KNOWS", "Bob"), optional("r:b.py#g", "C", "q:c.py#h")])
    assert value("EdgeRecall(files=True)", more, unlogged(evidence_files=two)) == 1.0
    assert (
        reason("EdgeRecall(files=True)", question([("Ann", "KNOWS", "Bob")]), unlogged(evidence_files=two)) == NO_GOLD
    )
    assert value("EdgeRecall(files=True, static=True)", asked, unlogged(evidence_files=two)) == 1 / 3


# The edges of the domain -------------------------------------------------------------------------------------------


def test_nothing_traversed() -> None:
    """Recall and F1 are 0; precision isn't scored."""
    asked = question([("a:1", "R", "b:2")])
    assert [value(name, asked, answer()) for name in ("EdgeRecall", "EdgeF1", "BoundaryRecall")] == [0.0] * 3
    assert reason("EdgePrecision", asked, answer()) == "nothing was traversed"
    assert reason("BoundaryPrecision", asked, answer()) == "no traversed edge crosses a repository boundary"


@pytest.mark.parametrize("measure", WALKED_MEASURES)
def test_no_gold_is_unscored(measure: str) -> None:
    """Without a gold path, or with an empty one, there is nothing to compare with."""
    for asked in (question(), question([])):
        assert reason(measure, asked, answer([A_B])) in {
            "no gold path",
            "no gold path with a required step",
            "gold crosses no repository boundary",
        }


def test_gold_of_optional_steps_only() -> None:
    """Nothing is required, so recall and F1 aren't scored; precision is."""
    asked = question([optional(*A_B)])
    assert reason("EdgeRecall", asked, answer([A_B])) == "no gold path with a required step"
    assert reason("EdgeF1", asked, answer([A_B])) == "no gold path with a required step"
    assert value("EdgePrecision", asked, answer([A_B])) == 1.0


def test_gold_that_crosses_no_boundary() -> None:
    """Boundary measures aren't scored if gold stays in one repository, or names none."""
    for asked in (question([A_B]), question([("bare", "R", "x:b")])):
        assert reason("BoundaryRecall", asked, answer([("x:a", "R", "y:b")])) == "gold crosses no repository boundary"
        assert reason("BoundaryPrecision", asked, answer([("x:a", "R", "y:b")])) == (
            "gold crosses no repository boundary"
        )


def test_boundary_recall_of_an_optional_crossing() -> None:
    """An optional edge between repositories isn't required, but is right."""
    asked = question([A_B, optional("x:b", "R", "y:c")])
    run = answer([("x:b", "R", "y:c")])
    assert reason("BoundaryRecall", asked, run) == "gold crosses no repository boundary"
    assert value("BoundaryPrecision", asked, run) == 1.0


@pytest.mark.parametrize("measure", [*WALKED_MEASURES, "CrossRepoPrecision", "CrossRepoRecall"])
def test_missing_and_failed_records_are_unscored(measure: str) -> None:
    """A missing or failed record is unscored, never 0."""
    asked = question([("a:1", "R", "b:2")])
    assert reason(measure, asked, None) == "the run has no record for this question"
    assert reason(measure, asked, answer([("a:1", "R", "b:2")], error="T: m")) == "failed: T: m"


# Repositories ------------------------------------------------------------------------------------------------------


def test_cross_repo_counts_each_repository_once() -> None:
    """Chunks and both ends of traversed edges name the retrieved repositories."""
    asked = question([("a:1", "R", "b:2")], relevant=["c:3"])
    run = answer([("a:1", "R", "z:9")], retrieved=["a:5", "a:6", "b:7"])
    # Retrieved a, b, z; relevant a, b, c.
    assert value("CrossRepoPrecision", asked, run) == pytest.approx(2 / 3)
    assert value("CrossRepoRecall", asked, run) == pytest.approx(2 / 3)


def test_cross_repo_nothing_retrieved_is_zero() -> None:
    """A run that retrieved nothing has a value by both measures."""
    asked = question([("a:1", "R", "b:2")])
    assert value("CrossRepoPrecision", asked, answer()) == 0.0
    assert value("CrossRepoRecall", asked, answer()) == 0.0


def test_cross_repo_takes_the_chunks_own_repository_first() -> None:
    """The repository of a chunk's record precedes that of its id; an id without one names none."""
    asked = question(relevant=["a:1"])
    assert value("CrossRepoRecall", asked, answer(retrieved=[{"id": "b:1", "repo": "a"}])) == 1.0
    assert value("CrossRepoPrecision", asked, answer(retrieved=[{"id": "bare"}, "a:2"])) == 1.0


def test_cross_repo_optional_steps_and_alternatives() -> None:
    """Optional and alternative repositories are right; only those of the best alternative are required."""
    asked = question(*either("g", [("a:1", "R", "b:2"), optional("b:2", "R", "c:3")], [("a:1", "R", "d:4")]))
    run = answer(retrieved=["a:1", "d:4", "c:3"])
    assert value("CrossRepoPrecision", asked, run) == 1.0
    assert value("CrossRepoRecall", asked, run) == 1.0  # a and d of the second alternative
    assert value("CrossRepoRecall", asked, answer(retrieved=["a:1"])) == 0.5


@pytest.mark.parametrize("measure", ["CrossRepoPrecision", "CrossRepoRecall"])
def test_cross_repo_without_a_repository_in_gold(measure: str) -> None:
    """Gold without repositories isn't scored, and a gain of 0 isn't relevant."""
    for asked in (question(), question([("bare", "R", "other")]), question(relevant={"a:1": 0})):
        assert reason(measure, asked, answer(retrieved=["a:1"])) == "gold names no repository"


def test_edges_without_their_direction() -> None:
    """Gold is a-b and b-c. Traversed are b-a, which is a reversed gold edge, a-b, and c-b with another relation.

    Recall 1/2 and, over the edges a-b and b-c by S, precision 1/2; without the relation both are 1. With direction a-b
    counts of three.
    """
    asked = question([("x:a", "R", "x:b"), ("x:b", "R", "y:c")])
    walked = answer([("x:b", "R", "x:a"), ("x:a", "R", "x:b"), ("y:c", "S", "x:b")])
    assert value("EdgeRecall(directed=False)", asked, walked) == 0.5
    assert value("EdgePrecision(directed=False)", asked, walked) == 0.5
    assert value("EdgeF1(directed=False)", asked, walked) == 0.5
    assert value("EdgePrecision", asked, walked) == pytest.approx(1 / 3)
    assert value("BoundaryRecall(directed=False)", asked, walked) == 0.0
    for name in ("EdgeRecall", "EdgePrecision", "BoundaryRecall", "BoundaryPrecision"):
        assert value(f"{name}(directed=False, relation=False)", asked, walked) == 1.0
    # An edge without a relation is any edge between its ends.
    assert value("EdgeRecall(directed=False)", asked, answer([("x:b", None, "x:a"), ("y:c", None, "x:b")])) == 1.0


def test_paths_without_their_direction() -> None:
    """Without direction, a path with a reversed second step is whole; with it, one of two steps was followed."""
    asked = question([("x:a", "R", "x:b"), ("x:b", "R", "y:c")])
    walked = answer([("x:a", "R", "x:b"), ("y:c", "R", "x:b")])
    for name in ("PathExact", "PathInOrder", "PathPrefix"):
        assert value(f"{name}(directed=False)", asked, walked) == 1.0
        assert value(f"{name}(directed=False, relation=False)", asked, walked) == 1.0
    assert [value(name, asked, walked) for name in ("PathExact", "PathInOrder", "PathPrefix")] == [0.0, 0.0, 0.5]
