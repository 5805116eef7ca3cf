"""Properties of the measures for any question and any run, drawn by Hypothesis."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.paths import first_divergences
from graphkit.measures.registry import measure_kinds, parse_measure, resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import gold_hash
from graphkit.records.ids import Places
from graphkit.records.models import Answer, Commit, Compatibility, Question
from graphkit.records.structs import AnswerStruct, QuestionStruct
from tests.helpers.cases import answer, question, ranking, score
from tests.helpers.properties import examples

#: Few nodes and relations, so that gold and traversal meet often.
NODES = st.sampled_from(["x:a", "x:b", "x:c", "y:d", "y:e#f", "bare"])
#: With those that name no repository.
IDS = st.sampled_from(["x:a", "x:b", "xy:a", "y:x:a", ":a", "x:", ":", "x", "y", ""])
RELATIONS = st.sampled_from(["R", "S", None])
STEPS = st.fixed_dictionaries({"source": NODES, "relation": RELATIONS, "target": NODES})
GOLD_STEPS = st.fixed_dictionaries(
    {"source": NODES, "relation": RELATIONS, "target": NODES, "optional": st.booleans()},
    optional={"evidence": st.just("manual")},
)
PLAIN_PATHS = st.lists(st.fixed_dictionaries({"steps": st.lists(GOLD_STEPS, max_size=4)}), max_size=3)
PATHS = st.lists(
    st.fixed_dictionaries({"steps": st.lists(GOLD_STEPS, max_size=4), "group": st.sampled_from([None, "g", "h"])}),
    max_size=4,
)
WALKS = st.lists(st.lists(STEPS, max_size=5), max_size=3)

COMMITS = CommitGraph.build(
    [
        Commit(repo=repo, sha=sha, branch=branch, committed_at=datetime(2025, 1, day, tzinfo=UTC))
        for repo, sha, branch, day in (("x", "1", "main", 1), ("x", "2", "2.x", 9), ("y", "3", "main", 1))
    ],
    [Compatibility(id="s", commits={"x": "2", "y": "3"}), Compatibility(id="t", commits={"x": "1", "y": "3"})],
)
CHUNKS = st.lists(
    st.fixed_dictionaries({"id": NODES}, optional={"commit": st.sampled_from(["1", "2", "3", "?"]), "text": st.text()}),
    max_size=6,
)
CALL = st.fixed_dictionaries(
    {"name": st.sampled_from("rs")},
    optional={"arguments": st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 1.0, True, None, [1]]))},
)
CALLS = st.lists(CALL, max_size=4)
SEEN = st.lists(NODES, max_size=3) | st.none()
QUESTIONS = st.builds(
    lambda paths, fields: question(*paths, **fields),
    PATHS,
    st.fixed_dictionaries(
        {},
        optional={
            "relevant": st.dictionaries(NODES, st.floats(0, 5), max_size=4),
            "k": st.integers(1, 7),
            "stack": st.sampled_from(["s", "none"]),
            "expected_files": st.lists(st.sampled_from(["x/a", "y/e", "z/z"])),
            "expected_symbols": st.lists(st.sampled_from(["f", "g"])),
            "gold_answer": st.text(),
            "expected_tool_calls": CALLS,
        },
    ),
)
ANSWERS = st.builds(
    lambda walks, fields: answer(*walks, **fields),
    WALKS,
    st.fixed_dictionaries(
        {"retrieved": CHUNKS},
        optional={
            "evidence_files": st.lists(st.sampled_from(["x/a", "y/e"])),
            "answer": st.text(),
            "tool_calls": st.lists(st.builds(lambda call, seen: {**call, "seen": seen}, CALL, SEEN), max_size=5),
        },
    ),
)

EVERY: tuple[Measure, ...] = resolve_measures(
    [
        *(kind.__name__ for kind in measure_kinds()[0] if kind.computed and not kind.is_custom()),
        "EdgeRecall(static=True)",
        "EdgeF1(relation=False)",
        "nDCG@2",
        "P@3",
    ]
)


@examples(300)
@given(QUESTIONS, ANSWERS)
def test_each_value_is_within_its_bounds_or_has_a_reason(asked: Question, run: Answer) -> None:
    """Every measure returns a number within its bounds, or a reason why there is none."""
    case = Case(asked, run, COMMITS)
    for measure in EVERY:
        found = measure.score(case)
        if isinstance(found, Unscored):
            assert found.reason
        else:
            lowest, highest = measure.lowest or 0.0, math.inf if measure.highest is None else measure.highest
            assert lowest <= found <= highest + 1e-12, measure


def test_a_case_holds_structs() -> None:
    """A case converts models to structs, keeps structs, and refuses any other record."""
    by_models = Case(question(), ranking("x:a"))
    assert isinstance(by_models.question, QuestionStruct)
    assert isinstance(by_models.answer, AnswerStruct)
    by_structs = Case(by_models.question, by_models.answer)
    assert by_structs.question is by_models.question
    assert by_structs.answer is by_models.answer
    assert Case(question(), None).answer is None
    wrong: Any
    for wrong in (ranking("x:a"), {"id": "q", "question": "?", "gold_paths": [["x:a", "x:b"]]}, None):
        with pytest.raises(InputError, match=r"a graphkit\.Question is needed"):
            Case(wrong, None)


@given(QUESTIONS, ANSWERS)
def test_scoring_has_no_memory(asked: Question, run: Answer) -> None:
    """Neither the order in which measures score one case nor scoring again changes a value."""
    one, two = Case(asked, run, COMMITS), Case(asked, run, COMMITS)
    forwards = [measure.score(one) for measure in EVERY]
    backwards = [measure.score(two) for measure in reversed(EVERY)]
    assert forwards == backwards[::-1] == [measure.score(one) for measure in EVERY]


GRAPH_MEASURES = tuple(one for one in EVERY if type(one).__module__.rpartition(".")[2] in {"edges", "paths"})


@given(PLAIN_PATHS.flatmap(lambda paths: st.tuples(st.just(paths), st.permutations(paths))), ANSWERS)
def test_order_of_required_paths_does_not_matter(paths: tuple[list[Any], list[Any]], run: Answer) -> None:
    """Gold paths without groups are all required, in any order."""
    one, two = (question(*given) for given in paths)
    for measure in GRAPH_MEASURES:
        found, other = score(measure, one, run), score(measure, two, run)
        if isinstance(found, Unscored) or isinstance(other, Unscored):
            assert found == other
        else:
            assert found == other, measure


@given(QUESTIONS, WALKS.flatmap(lambda walks: st.tuples(st.just(walks), st.permutations(walks))))
def test_order_of_retrieved_paths_does_not_matter(asked: Question, walks: tuple[list[Any], list[Any]]) -> None:
    """Measures of edges use the union of the retrieved paths; measures of paths use the best one."""
    one, two = (answer(*given) for given in walks)
    for measure in GRAPH_MEASURES:
        assert score(measure, asked, one) == score(measure, asked, two), measure


@given(QUESTIONS, WALKS, STEPS)
def test_a_further_edge_never_lowers_edge_recall_without_alternatives(
    asked: Question, walks: list[Any], step: dict[str, Any]
) -> None:
    """Further steps lose no found edge."""
    required = question(*({"steps": [dict(one) for one in path.steps]} for path in asked.paths))
    for name in ("EdgeRecall", "EdgeRecall(relation=False)", "EdgeRecall(static=True)", "BoundaryRecall"):
        before, after = score(name, required, answer(*walks)), score(name, required, answer(*walks, [step]))
        if isinstance(before, Unscored):
            assert before == after
        else:
            assert isinstance(after, float)
            assert after >= before


@given(QUESTIONS, ANSWERS)
def test_exact_paths_are_in_order_and_followed_whole(asked: Question, run: Answer) -> None:
    """PathExact <= PathInOrder <= PathPrefix, so that 1 in one is 1 in the next."""
    exact, ordered, prefix = (score(name, asked, run) for name in ("PathExact", "PathInOrder", "PathPrefix"))
    if isinstance(exact, Unscored):
        assert exact == ordered == prefix
    else:
        assert isinstance(ordered, float)
        assert isinstance(prefix, float)
        assert exact <= ordered + 1e-12
        assert ordered <= prefix + 1e-12


@given(QUESTIONS, ANSWERS)
def test_f1_lies_between_recall_and_precision(asked: Question, run: Answer) -> None:
    """A harmonic mean is no less than the smaller and no more than the larger of the two."""
    recall, precision, mean = (score(name, asked, run) for name in ("EdgeRecall", "EdgePrecision", "EdgeF1"))
    if isinstance(recall, Unscored):
        assert isinstance(mean, Unscored)
    elif isinstance(precision, Unscored):
        assert mean == 0.0  # nothing was traversed
    else:
        assert isinstance(mean, float)
        assert min(recall, precision) - 1e-12 <= mean <= max(recall, precision) + 1e-12


def _counted(found: int, missed: int, optional: int, wrong: int) -> tuple[Question, Answer]:
    """Return a question and a run with these numbers of found, missed, optional and wrong edges."""
    required = [{"source": f"x:{number}", "relation": "R", "target": f"y:{number}"} for number in range(found + missed)]
    others = [{"source": f"x:{number}", "relation": "O", "target": f"y:{number}"} for number in range(optional)]
    astray = [{"source": f"x:{number}", "relation": "S", "target": f"y:{number}"} for number in range(wrong)]
    gold: list[Any] = [*required, *({**step, "optional": True} for step in others)]
    return question(gold), answer([*required[:found], *others, *astray])


COUNTS = st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@examples(300)
@given(COUNTS, COUNTS, st.integers(2, 5))
def test_equal_ratios_of_edges_are_equal_floats(one: tuple[int, ...], two: tuple[int, ...], times: int) -> None:
    """EdgeRecall, EdgePrecision and EdgeF1 are the float nearest to their ratio, for any counts."""
    for found, missed, extra, wrong in (one, two, tuple(times * count for count in one)):
        recall, precision = Fraction(found, found + missed), Fraction(found + extra, found + extra + wrong)
        expected = {
            "EdgeRecall": recall,
            "EdgePrecision": precision,
            "EdgeF1": 2 * recall * precision / (recall + precision),
        }
        for name, ratio in expected.items():
            assert score(name, *_counted(found, missed, extra, wrong)) == float(ratio), name


@examples(300)
@given(st.lists(st.integers(1, 9).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))), min_size=1))
def test_equal_means_over_paths_are_equal_floats(shares: list[tuple[int, int]]) -> None:
    """PathPrefix is the float nearest to the mean of its fractions, for any paths in any order."""
    paths = [
        [(f"{number}:{step}", "R", f"{number}:{step + 1}") for step in range(whole)]
        for number, (_, whole) in enumerate(shares)
    ]
    walks = [path[:done] for path, (done, _) in zip(paths, shares, strict=True)]
    mean = sum(Fraction(done, whole) for done, whole in shares) / len(shares)
    assert score("PathPrefix", question(*paths), answer(*walks)) == float(mean)


#: Gold whose steps all carry a relation, at most one between two nodes.
TYPED = st.lists(
    st.fixed_dictionaries({"source": NODES, "relation": st.just("R"), "target": NODES, "optional": st.booleans()}),
    min_size=1,
    max_size=6,
)


@given(TYPED, WALKS)
def test_comparing_ends_only_never_lowers_edge_recall(steps: list[dict[str, Any]], walks: list[Any]) -> None:
    """Edges that match with relations match without them."""
    asked = question(steps)
    run = answer(*walks)
    typed, untyped = score("EdgeRecall", asked, run), score("EdgeRecall(relation=False)", asked, run)
    if isinstance(typed, Unscored):
        assert typed == untyped
    else:
        assert isinstance(untyped, float)
        assert untyped >= typed


#: The measures of edges and paths, which look at a question with one plain path in a shorter way.
SHORTENED = (
    *("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "BoundaryPrecision"),
    *("PathExact", "PathInOrder", "PathPrefix"),
)


@examples(300)
@given(st.lists(GOLD_STEPS, min_size=1, max_size=6), WALKS)
def test_the_same_path_as_its_own_alternative_changes_nothing(steps: list[dict[str, Any]], walks: list[Any]) -> None:
    """A path gives the same values alone and beside an alternative copy of itself."""
    run = answer(*walks)
    once, twice = question({"steps": steps}), question(*[{"group": "g", "steps": steps}] * 2)
    for name in SHORTENED:
        assert score(name, once, run) == score(name, twice, run), name


@given(st.sets(st.tuples(IDS, st.just("R"), IDS), max_size=5))
def test_boundary_is_where_edges_cross(edges: set[Edge]) -> None:
    """The boundary of a set of edges agrees with ``crosses``, even for ids without a repository."""
    assert set(Places().boundary(edges)) == {edge for edge in edges if Places().crosses(edge[0], edge[2])}


@given(QUESTIONS, st.permutations(["x:a", "x:b", "x:c", "y:d", "y:e#f"]), st.integers(0, 5))
def test_longer_rankings_never_lower_recall(asked: Question, ids: list[str], count: int) -> None:
    """Further chunks lose no found id."""
    shorter, longer = answer(retrieved=ids[:count]), answer(retrieved=ids)
    for name in ("Success@5", "Acc@5", "Recall@5", "P@5", "Rprec", "RR", "AP", "nDCG@5"):
        one, two = score(name, asked, shorter), score(name, asked, longer)
        if isinstance(one, Unscored):
            assert one == two
        else:
            assert isinstance(two, float)
            assert one <= two + 1e-12


@given(QUESTIONS, ANSWERS)
def test_measures_of_a_ranking_are_whole_together(asked: Question, run: Answer) -> None:
    """Acc@k is 1 where Recall@k is; AP is 1 where Rprec is, and 0 where RR is; none of a pair is scored alone."""
    accuracy, recall, r_precision, average, reciprocal = (
        score(name, asked, run) for name in ("Acc@3", "Recall@3", "Rprec", "AP", "RR")
    )
    assert accuracy == (recall if isinstance(recall, Unscored) else float(recall == 1))
    assert (average == 1) == (r_precision == 1)
    assert (average == 0) == (reciprocal == 0)
    assert isinstance(average, Unscored) == isinstance(r_precision, Unscored) == isinstance(recall, Unscored)


def test_gold_walked_as_it_is_scores_one() -> None:
    """A run that traverses exactly the gold path has 1 in each measure of edges and paths."""
    steps: list[Any] = [("x:a", "R", "y:d"), ("y:d", "S", "x:c")]
    found = [score(measure, question(steps), answer(steps)) for measure in GRAPH_MEASURES]
    assert found == [1.0] * len(GRAPH_MEASURES)
    assert parse_measure("PathExact") in GRAPH_MEASURES


@given(
    st.lists(
        st.tuples(st.lists(GOLD_STEPS, max_size=4), st.sampled_from([None, "g", "h"])), min_size=2, max_size=5
    ).flatmap(lambda paths: st.tuples(st.just(paths), st.permutations(paths))),
    ANSWERS,
)
def test_order_of_alternatives_does_not_matter(given_paths: tuple[list[Any], list[Any]], run: Answer) -> None:
    """The order of alternatives, groups and required paths changes no value and no divergence."""
    one, two = (
        question(*[{"steps": steps, "group": group} for steps, group in paths], relevant={"x:a": 1.0})
        for paths in given_paths
    )
    assert gold_hash(Case(one, run).question) == gold_hash(Case(two, run).question)
    for measure in EVERY:
        assert score(measure, one, run) == score(measure, two, run), measure
    # An unnamed path is known by its place in the file.
    found, other = (
        sorted(repr(replace(one, number=0)) for one in first_divergences(Case(asked, run))) for asked in (one, two)
    )
    assert found == other
