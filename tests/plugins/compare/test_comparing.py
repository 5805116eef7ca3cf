"""Two runs compared in the graph, on both engines, and by the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from scipy import stats

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.opening import prepared
from graphkit.plugins.compare.compare_runs import compare_runs
from graphkit.plugins.compare.run_pairs import reading
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.plugins.compare.summaries import summarize
from tests.helpers import engines
from tests.helpers.cli import write_lines
from tests.helpers.datasets import without_graph

HARD = 10  # of the 40 questions of the pallets data


@pytest.fixture(scope="module", params=engines.ENGINES)
def compared_store(
    pallets: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """Each engine in turn with three runs of the pallets data, which no test here changes."""
    dataset = without_graph(pallets, tmp_path_factory.mktemp("compared"))
    with Store.open(engines.running(request.param, request)) as store:
        engines.empty(store)
        prepared(store)
        for run in ("bm25-expand", "ppr", "mixed-versions"):
            graphkit.evaluate(dataset / "runs" / f"{run}.jsonl", dataset, store=store, measures=["EdgeRecall"])
        yield store


def _reference(pallets: Path, run: str, column: str) -> dict[str, float]:
    lines = (pallets / "reference.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["query_id"]: row[column] for row in rows if row["run"] == run}


@pytest.mark.parametrize("second", ["ppr", "mixed-versions"])
def test_figures_agree_with_scipy(pallets: Path, compared_store: Store, second: str) -> None:
    """Interval and p-value of edge recall are those that scipy gives for the reference values, up to resampling."""
    result = compare_runs(compared_store, "bm25-expand", second, measures=["EdgeRecall", "Coherence"]).overall[0]
    before, after = _reference(pallets, "bm25-expand", "edge_recall"), _reference(pallets, second, "edge_recall")
    differences = numpy.array([after[name] - before[name] for name in sorted(before)])
    assert result.delta == pytest.approx(differences.mean(), abs=1e-6)
    other = stats.permutation_test(
        (differences,), numpy.mean, permutation_type="samples", n_resamples=20_000, rng=numpy.random.default_rng(7)
    )
    # Five standard errors of both resamplings together.
    noise = 5 * numpy.sqrt(max(other.pvalue, 1e-3) * (1 / 10_000 + 1 / 20_000))
    assert result.p_value == pytest.approx(other.pvalue, abs=noise)
    bounds = stats.bootstrap(
        (differences,), numpy.mean, n_resamples=20_000, method="BCa", rng=numpy.random.default_rng(7)
    ).confidence_interval
    student = stats.ttest_1samp(differences, 0).confidence_interval()
    assert result.low == pytest.approx(min(bounds.low, student.low), abs=0.01)
    assert result.high == pytest.approx(max(bounds.high, student.high), abs=0.01)


def test_what_the_readme_of_the_data_says(compared_store: Store) -> None:
    """ppr is significantly worse than bm25-expand on edges, and mixed versions cost coherence."""
    edges = compare_runs(compared_store, "bm25-expand", "ppr")
    assert "EdgeRecall" in [one.measure for one in edges.regressions()]
    versions = compare_runs(compared_store, "bm25-expand", "mixed-versions")
    assert [one.measure for one in versions.regressions()] == ["Coherence"]


def test_groups_and_movers(compared_store: Store) -> None:
    """Groups hold their questions, and a mover tells the edges that changed."""
    compared = compare_runs(compared_store, "bm25-expand", "ppr", measures=["EdgeRecall"], by="difficulty")
    sizes = {group.name: group.results[0].questions for group in compared.groups}
    # The data's README: 20 easy, 10 medium, 10 hard.
    assert sizes == {None: 40, "easy": 20, "hard": HARD, "medium": 10}
    # Read in the log: bm25-expand walks all four gold edges of pallets-002, ppr none of them.
    mover = next(one for one in compared.movers if one.question == "pallets-002")
    assert (mover.first, mover.second, mover.found) == (1.0, 0.0, ())
    assert len(mover.lost) == 4


def test_no_comparison_with_itself_or_with_strangers(compared_store: Store) -> None:
    """A run against itself, an unknown run and a measure outside the graph are refused in words."""
    with pytest.raises(InputError, match="compared with itself"):
        compare_runs(compared_store, "ppr", "ppr")
    with pytest.raises(InputError, match="no run is called 'pprr'"):
        compare_runs(compared_store, "ppr", "pprr")
    with pytest.raises(InputError, match="AnswerContainment"):
        compare_runs(compared_store, "bm25-expand", "ppr", measures=["AnswerContainment@5"])


def test_questions_of_one_run_only_are_reported(compared_store: Store) -> None:
    """A question that only one run was scored on is left out, and counted."""
    compared = compare_runs(compared_store, "bm25-expand", "ppr", measures=["EdgePrecision"])
    result = compared.overall[0]
    # ppr walked nothing for one question, so it has no precision there.
    assert (result.questions, compared.left_out) == (39, {"EdgePrecision": 1})


@pytest.mark.parametrize(
    ("points", "low", "high", "word"),
    [
        (5, 1, 9, "strong"),
        (4.9, 1, 9, "moderate"),
        (1, 0.5, 1.5, "moderate"),
        (0.9, 0.5, 1.5, "neutral"),
        (-0.9, -1.5, -0.5, "neutral"),
        (-1, -1.5, -0.5, "slight regression"),
        (-5, -9, -1, "significant regression"),
        (50, -0.1, 100, "neutral: the interval holds 0"),
        (5, 0, 10, "neutral: the interval holds 0"),
        (-50, -100, 1e-12, "neutral: the interval holds 0"),
        (100, None, None, "neutral: too few questions for an interval"),
        (0, None, None, "neutral"),
    ],
)
def test_reading_of_percentage_points(points: float, low: float | None, high: float | None, word: str) -> None:
    """The words of the contract, at their bounds; where the interval holds 0, or there is none, it is neutral."""
    assert reading(points, low, high) == word


# Scores --------------------------------------------------------------------------------------------------------------


def graded(folder: Path, *scores: tuple[str, list[float | None]], **fields: object) -> Path:
    """Write the scores of some runs for the questions q0, q1, ..."""
    rows = [
        {"run": run, "question": f"q{number}", "value": value, **fields}
        for run, values in scores
        for number, value in enumerate(values)
    ]
    return write_lines(folder / "graded.jsonl", rows)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # 16 and 17 of 20 are exactly 5 points apart, although 0.85 - 0.8 is a little less than 0.05. One question of 20
        # is no more than chance: 5 points, give or take 2.09 standard errors of 5.
        ([1] * 16 + [0] * 4, [1] * 17 + [0] * 3, (0.8, 0.85, 5.0, "neutral: the interval holds 0")),
        # 160 and 170 of 200 are 5 points apart, with a standard error of 1.5: ten of the differences are 1.
        ([1] * 160 + [0] * 40, [1] * 170 + [0] * 30, (0.8, 0.85, 5.0, "strong")),
        ([1] * 170 + [0] * 30, [1] * 160 + [0] * 40, (0.85, 0.8, -5.0, "significant regression")),
        # Of 7, 6, 10 two are at least 7; of 6, 6, 7 one: a third of 100 points less, on three questions.
        ([7, 6, 10], [6, 6, 7], (2 / 3, 1 / 3, -100 / 3, "neutral: the interval holds 0")),
        # One run of 0 and 1 alone is read on the scale of the other.
        ([0, 1], [1, 8], (0.0, 0.5, 50.0, "neutral: the interval holds 0")),
    ],
)
def test_accuracy(
    tmp_path: Path, first: list[float | None], second: list[float | None], expected: tuple[float, float, float, str]
) -> None:
    """Binary and 0-10 scores give the share of right ones, and its difference in points with its reading."""
    compared = compare_scores([graded(tmp_path, ("a", first), ("b", second))], "a", "b")
    found = compared.overall[0].accuracy
    assert found is not None
    assert (found.first, found.second, found.points) == pytest.approx(expected[:3], rel=1e-12)
    assert found.reading == expected[3]


def test_interval_of_accuracy_is_that_of_right_and_wrong(tmp_path: Path) -> None:
    """Scores that all rise, but pass 7 on few questions, are surely higher, and not surely more often right."""
    # All 20 rise by 1 to 3; only q0 passes from 6 to 7.
    first = [6.0] + [2.0] * 19
    second = [7.0] + [3.0, 4.0, 5.0] * 6 + [3.0]
    found = compare_scores([graded(tmp_path, ("a", [*first]), ("b", [*second]))], "a", "b").overall[0]
    assert found.low is not None
    assert found.low > 0
    assert found.accuracy is not None
    # 5 points with a standard error of 5: Student's t with 19 degrees of freedom gives 5 - 2.093 * 5 = -5.465.
    assert found.accuracy.low == pytest.approx(-5.465, abs=0.001)
    assert found.accuracy.reading == "neutral: the interval holds 0"


def test_scale_is_decided_over_all_that_is_shown(tmp_path: Path) -> None:
    """``summarize`` and ``compare`` read scores of 0 and 1 as of 10 where any run or group of the file has a 7."""
    rows = [
        {"run": run, "question": f"q{number}", "value": value, "difficulty": difficulty}
        for run, values in (("a", (0, 1, 1)), ("b", (1, 0, 1)), ("c", (7, 9, 1)))
        for number, (value, difficulty) in enumerate(zip(values, ("easy", "hard", "hard"), strict=True))
    ]
    path = write_lines(tmp_path / "g.jsonl", rows)
    # Of a and b none is at least 7, of c two of three, one of them of the two hard ones.
    found = {(one.run, one.group): one.accuracy for one in summarize([path])}
    assert [found[run, None] for run in "abc"] == [0.0, 0.0, 2 / 3]
    assert [found[run, "difficulty: hard"] for run in "abc"] == [0.0, 0.0, 0.5]
    accuracy = compare_scores([path], "a", "b").overall[0].accuracy
    assert accuracy is not None
    assert (accuracy.first, accuracy.second) == (0.0, 0.0)


def test_summary_knows_the_direction(tmp_path: Path) -> None:
    """If lower is better 0 of 1 is right, and of scores to 10 those up to 3, in summaries as in comparisons."""
    path = graded(tmp_path, ("a", [0, 0, 1]), ("b", [0, 0, 0]), measure="HallucinationRate")
    tens = write_lines(
        tmp_path / "tens.jsonl",
        [{"run": run, "question": "q1", "value": value, "measure": "OffPin"} for run, value in (("a", 3), ("b", 6))],
    )
    found = {(one.run, one.measure): one.accuracy for one in summarize([path, tens])}
    assert (found["a", "HallucinationRate"], found["b", "HallucinationRate"]) == (2 / 3, 1.0)
    assert (found["a", "OffPin"], found["b", "OffPin"]) == (1.0, 0.0)
    for one in compare_scores([path, tens], "a", "b").overall:
        assert one.accuracy is not None
        assert (one.accuracy.first, one.accuracy.second) == (found["a", one.measure], found["b", one.measure])


@pytest.mark.parametrize(
    ("measure", "first", "second"),
    [("StepsToGold", [1, 1, 2], [1, 9, 10]), ("StepsToGold", [1, 1, 1], [1, 1, 1]), ("tone", [1, 2, 3], [4, 4, 5])],
)
def test_no_accuracy_where_no_value_is_right(
    measure: str, first: list[float | None], second: list[float | None], tmp_path: Path
) -> None:
    """A number of steps and a grade of 1 to 5 call no answer right, whatever values they happen to have."""
    path = graded(tmp_path, ("a", first), ("b", second), measure=measure)
    assert [one.accuracy for one in summarize([path])] == [None, None]
    [compared] = compare_scores([path], "a", "b").overall
    assert compared.accuracy is None


def test_the_declared_scale_of_0_to_10(tmp_path: Path) -> None:
    """A 1 of 10 is no right answer, also where no higher grade occurs."""
    path = graded(tmp_path, ("a", [0, 1, 1]), ("b", [1, 1, 1]), measure="ScaleGrade")
    assert [one.accuracy for one in summarize([path])] == [0.0, 0.0]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "1e308", "1" + "0" * 400, '"7"'])
def test_grades_that_are_no_numbers_are_refused(tmp_path: Path, value: str) -> None:
    """A score that can't be reckoned with is reported with its file, line, question and remedy, by both commands."""
    lines = [f'{{"run": "{run}", "question": "q1", "value": {one}}}' for run, one in (("a", "1"), ("b", value))]
    path = write_lines(tmp_path / "g.jsonl", lines)
    for command in (lambda: summarize([path]), lambda: compare_scores([path], "a", "b")):
        with pytest.raises(InputError) as caught:
            command()
        assert "1 record can't be used" in str(caught.value)
        assert f"{path}:2: record 'q1': value: must be a number of at most 1e+30" in str(caught.value)
        assert "or null without a score" in str(caught.value)


def test_what_neither_run_was_graded_on_is_counted(tmp_path: Path) -> None:
    """Questions without a score in either run are reported for each measure, also where none is left."""
    rows = [
        {"run": run, "question": f"q{number}", "measure": measure, "value": value}
        for run in "ab"
        for measure, values in (("one", (1, None, 0)), ("two", (None, None, None)))
        for number, value in enumerate(values)
    ]
    compared = compare_scores([write_lines(tmp_path / "g.jsonl", rows)], "a", "b")
    assert [one.measure for one in compared.overall] == ["one"]
    assert (compared.questions, compared.left_out, compared.unscored) == (3, {}, {"one": 1, "two": 3})


def test_several_graders_of_one_measure(tmp_path: Path) -> None:
    """Runs whose scores come from two graders alike are compared, each grader in its version; another one is refused.

    Both runs have 1 of the judge on q1; of the tests on q2 a has 0 and b has 1: a mean of 1/2 and of 1.
    """

    def rows(judge: str, tests: str) -> list[dict[str, object]]:
        return [
            {"run": run, "question": question, "measure": "FactualCorrectness", "value": value, **by}
            for run, passed in (("a", 0), ("b", 1))
            for question, value, by in (
                ("q1", 1, {"grader": "j", "version": judge}),
                ("q2", passed, {"grader": "execution", "version": tests if run == "b" else "1"}),
            )
        ]

    path = tmp_path / "g.jsonl"
    [found] = compare_scores([write_lines(path, rows("m 2", "1"))], "a", "b").overall
    assert (found.first, found.second) == (0.5, 1.0)
    reported = "the scores by FactualCorrectness are of different versions: 1, 2, m 2"
    with pytest.raises(InputError, match=reported):
        compare_scores([write_lines(path, rows("m 2", "2"))], "a", "b")
    # Two judges are no more compared than two versions of one.
    other = [{**row, "grader": "k", "version": "n"} if row["run"] == "b" else row for row in rows("m 2", "1")]
    with pytest.raises(InputError, match="of different versions: 1, m 2, n"):
        compare_scores([write_lines(path, other)], "a", "b")


def test_no_accuracy_of_other_values(tmp_path: Path) -> None:
    """Shares, halves and values beyond 10 have no accuracy."""
    for values in ([0.5, 1], [7.5, 8], [11, 3], [-1, 1]):
        compared = compare_scores([graded(tmp_path, ("a", [0, 1]), ("b", [*values]))], "a", "b")
        assert compared.overall[0].accuracy is None


def test_accuracy_where_lower_is_better(tmp_path: Path) -> None:
    """0 is right by a measure for which lower is better, and more of 1 is a regression."""
    path = graded(tmp_path, ("a", [0] * 8), ("b", [1] * 8), measure="HallucinationRate")
    compared = compare_scores([path], "a", "b")
    accuracy = compared.overall[0].accuracy
    assert accuracy is not None
    assert (accuracy.first, accuracy.second, accuracy.points) == (1.0, 0.0, -100.0)
    assert [one.measure for one in compared.regressions()] == ["HallucinationRate"]


def test_groups_are_read_on_the_scale_of_all(tmp_path: Path) -> None:
    """In a group whose scores happen to be 0 and 1, a 1 of 10 isn't right."""
    rows = [
        {"run": run, "question": name, "value": value, "difficulty": difficulty}
        for run, values in (("a", (0, 9)), ("b", (1, 9)))
        for name, value, difficulty in zip(("q1", "q2"), values, ("hard", "easy"), strict=True)
    ]
    compared = compare_scores([write_lines(tmp_path / "g.jsonl", rows)], "a", "b", by="difficulty")
    hard = next(group for group in compared.groups if group.name == "hard").results[0].accuracy
    assert hard is not None
    assert (hard.first, hard.second, hard.reading) == (0.0, 0.0, "neutral")


def test_accuracy_of_a_run(compared_store: Store) -> None:
    """Success@5 is binary, so its accuracy is its mean; nDCG has none."""
    success, ndcg = compare_runs(compared_store, "bm25-expand", "ppr", measures=["Success@5", "nDCG@10"]).overall
    assert success.accuracy is not None
    assert (success.accuracy.first, success.accuracy.second) == pytest.approx((success.first, success.second))
    assert ndcg.accuracy is None
