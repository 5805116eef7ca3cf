"""Variance within and between questions over the repetitions of a system."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy
import pytest
from scipy import stats

import graphkit
from graphkit.analysis.repetitions import components, repetitions
from graphkit.records.repetition_names import repetition_of
from graphkit.scoring.options import EvaluationOptions
from tests.helpers.cli import inside
from tests.helpers.systems import TEN

#: Eight questions of three repetitions each.
TABLE: list[list[float]] = [
    [1, 1, 0],
    [0, 0, 1],
    [1, 1, 1],
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 1],
    [0.5, 0.5, 1],
    [0, 0.5, 0],
]


def test_variances_by_hand() -> None:
    """The variance between questions is that of their means, less a share of the variance within."""
    # Means 1/2, 1, 0 and variances 1/2, 0, 0: within 1/6; between 1/4 - (1/6)/2 = 1/6; one of three questions varies.
    mean, between, within, unstable = components([[1, 0], [1, 1], [0, 0]])
    assert (mean.value, unstable) == (0.5, 1)
    assert between.value == pytest.approx(1 / 6)
    assert within.value == pytest.approx(1 / 6)
    assert (between.low, between.reason) == (None, "too few questions for an interval")


def test_variances_are_those_of_the_analysis_of_variance() -> None:
    """F of the one-way analysis of variance is the variance of three repetitions' means over that within (scipy)."""
    _, between, within, _ = components(TABLE)
    assert between.value is not None
    assert within.value is not None
    assert (3 * between.value + within.value) / within.value == pytest.approx(
        float(stats.f_oneway(*TABLE, axis=None).statistic)
    )


def test_intervals_hold_their_variances_and_are_seeded() -> None:
    """Each interval holds its figure and stays at 0 or above; the same values give the same intervals."""
    found = components(TABLE, 0.0, 1.0)
    for one in found[:3]:
        assert one.low is not None
        assert one.high is not None
        assert one.value is not None
        assert 0 <= one.low < one.value < one.high
    assert components(TABLE, 0.0, 1.0) == found


def test_less_variance_between_than_within_is_none() -> None:
    """Questions whose means differ less than their repetitions would by chance have no variance between them."""
    # Means all 1/2, variances 1/2: 0 - (1/2)/2 < 0.
    _, between, within, _ = components([[1, 0], [0, 1]] * 4)
    assert (between.value, within.value) == (0.0, 0.5)
    assert between.low is None
    _, between, _, _ = components([[1, 0], [0, 1]] * 4, 0.0, 1.0)
    # A share of 1 - .025^(1/8) = .3694 of the questions may be 1/2 from the mean in all repetitions: .3694 / 4.
    assert (between.value, between.low) == (0.0, 0.0)
    assert between.high is not None
    assert between.high >= 0.0923


def test_a_good_system_has_an_upper_bound_between_questions() -> None:
    """Where no question or one fails, the interval of the variance between questions still holds its true value."""
    random, held = numpy.random.default_rng(7), 0
    # Each question is right in a share of its repetitions, .97 on average and with a variance of .97 * .03 * .3.
    shape = 0.7 / 0.3
    for _ in range(200):
        right = random.beta(0.97 * shape, 0.03 * shape, 30)
        drawn = (random.random((30, 3)) < right[:, None]).astype(float)
        between = components(drawn.tolist(), 0.0, 1.0, resamples=99)[1]
        assert between.low is not None
        assert between.high is not None
        held += between.low <= 0.97 * 0.03 * 0.3 <= between.high
    assert held >= 186


def test_repetitions_that_never_differ() -> None:
    """The variance within is 0, with an upper bound: nothing promises it for every question."""
    _, between, within, unstable = components([[0, 0], [1, 1]] * 4)
    assert (within.value, within.low, within.reason, unstable) == (0.0, None, "no two repetitions differ", 0)
    assert between.value == pytest.approx(2 / 7)  # eight means, half of them 0 and half 1: 8 * 1/4 / 7
    within = components([[0, 0], [1, 1]] * 4, 0.0, 1.0)[2]
    # The largest variance of two values from 0 to 1 is 1/2. Of 8 items, worth 8 * (1.96 / 2.3646)^2 = 5.496, Wilson's
    # bound of a share of 0 is 3.8415 / (3.8415 + 5.496) = .4114.
    assert (within.low, within.high) == pytest.approx((0.0, 0.4114 / 2), abs=1e-3)
    assert within.reason == "no two repetitions differ"


@pytest.mark.parametrize("size", [0, 1])
def test_one_question_has_no_variance_between(size: int) -> None:
    """None or one question gives no variance between questions, but a reason."""
    mean, between, _, _ = components([[0, 1]] * size)
    assert between.value is None
    assert between.reason
    assert (mean.value is None) == (size == 0)


def test_many_questions_show_the_variance_between_them() -> None:
    """Beyond a thousand questions Student's t gives the interval; means that are all as far off have a narrow one."""
    # Means 0 and 1 in equal parts without variance within: 1/4 up to n/(n-1), and each squared deviation is 1/4.
    _, between, _, _ = components([[0, 0], [1, 1]] * 600 + [[0.1, 0.1]])
    assert between.value == pytest.approx(0.25, abs=1e-3)
    assert between.low is not None
    assert between.high is not None
    assert between.low == pytest.approx(0.25, abs=0.002)
    assert between.high == pytest.approx(0.25, abs=0.002)
    assert not math.isnan(between.low)


def test_clusters_of_one_question_change_nothing() -> None:
    """If each question is a cluster of its own, the variance between questions has the same interval."""
    alone = components(TABLE, 0.0, 1.0)
    clustered = components(TABLE, 0.0, 1.0, clusters=range(8))
    assert str(clustered[0]) == str(alone[0])  # but for the last digit
    assert clustered[1:] == alone[1:]


def test_clusters_widen_the_intervals() -> None:
    """Questions that come in eight equal pairs tell what eight questions do, not what sixteen do."""
    pairs = [row for row in TABLE for _ in range(2)]
    places = [place for place in range(8) for _ in range(2)]
    single, clustered, apart = components(TABLE), components(pairs, clusters=places), components(pairs)
    for one, of_pairs, independent in zip(single[:3], clustered[:3], apart[:3], strict=True):
        assert one.low is not None
        assert of_pairs.low is not None
        assert independent.low is not None
        assert of_pairs.high is not None
        assert independent.high is not None
        assert of_pairs.high - of_pairs.low > independent.high - independent.low
    assert (clustered[0].low, clustered[0].high) == pytest.approx((single[0].low, single[0].high))
    assert (clustered[2].low, clustered[2].high) == pytest.approx((single[2].low, single[2].high))


def test_one_cluster_has_no_interval() -> None:
    """Questions that all depend on each other show no spread: the figures stay, with the reason."""
    for one in components(TABLE, clusters=[0] * 8)[:3]:
        assert one.value is not None
        assert (one.low, one.reason) == (None, "all questions are one cluster")


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Ten questions of one gold edge each, and three repetitions of a system."""
    data = tmp_path / "data"
    (data / "runs").mkdir(parents=True)
    step = {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"}
    questions = [{**question, "paths": [{"id": "p", "steps": [step]}]} for question in TEN]
    (data / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    for number in (1, 2, 3):
        rows = []
        for place, question in enumerate(TEN):
            run = {"run": f"mine@{number}", "question_id": question["id"]}
            if place == 9 and number == 3:
                continue  # this question has no record
            walked = place < 5 + number  # 6, 7 and 8 of ten questions are right
            rows.append({**run, "answer": "x", "retrieved": [], "traversal": [step] if walked else []})
        (data / "runs" / f"mine@{number}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return data


def test_evaluate_names_the_variances(answered: Path) -> None:
    """The default output has a line on the repetitions, and its summary is the mean over them."""
    # (6 + 7 + 8) / 30 = 0.7; the questions 6 and 7 (from 0) differ between repetitions.
    done = inside("evaluate", "--no-store", "-m", "EdgeRecall", cwd=answered, code=0)
    assert "repeat" in done.out
    assert "2 of 10 questions differ between repetitions" in " ".join(done.out.split())
    assert done.out.splitlines()[-1].startswith("mine, 3 repetitions: EdgeRecall 0.70 [")


def test_evaluate_full_and_json_have_each_measure(answered: Path) -> None:
    """--full prints a row a measure, and --json the figures in each of the repetitions."""
    full = inside("evaluate", "--no-store", "--full", "-m", "EdgeRecall", cwd=answered, code=0)
    assert "3 repetitions of mine" in full.out
    done = inside("evaluate", "--no-store", "--json", "-m", "EdgeRecall", cwd=answered, code=0)
    found = [json.loads(line)["repetitions"] for line in done.out.splitlines()]
    assert len(found) == 3
    [[one], second, _] = found
    assert second == [one]
    assert one["mean"]["value"] == pytest.approx(0.7)
    assert (one["runs"], one["questions"], one["unstable"]) == (["mine@1", "mine@2", "mine@3"], 10, 2)
    # Two questions have one deviating repetition of three: (1/3 + 1/3) / 10.
    assert one["within"]["value"] == pytest.approx(2 / 30)


def test_evaluate_clusters_repetitions(answered: Path) -> None:
    """--cluster holds for the intervals of repetitions, too: all questions are about one repository."""
    done = inside("evaluate", "--no-store", "--json", "--cluster", "repo", "-m", "EdgeRecall", cwd=answered, code=0)
    [one] = done.objects()[0]["repetitions"]
    assert one["mean"]["value"] == pytest.approx(0.7)
    assert {one[name]["reason"] for name in ("mean", "between", "within")} == {"all questions are one cluster"}


def test_failures_unscored_are_left_out_of_all_repetitions(answered: Path) -> None:
    """Without failures as the worst value, a question that one repetition lacks is in none, and is counted."""
    how = EvaluationOptions(measures=["EdgeRecall"], failed_as="unscored", keep_rows=True)
    results = [graphkit.evaluate(answered / "runs" / f"mine@{number}.jsonl", options=how) for number in (1, 2, 3)]
    [one] = repetitions(results)
    assert (one.questions, one.left_out) == (9, 1)
    assert one.mean.value == pytest.approx(21 / 27)


def test_other_gold_and_single_runs_are_no_repetitions(answered: Path) -> None:
    """One run isn't repeated, and runs of other names aren't repetitions."""
    first = graphkit.evaluate(answered / "runs" / "mine@1.jsonl", measures=["EdgeRecall"])
    assert repetitions([first]) == []


def test_a_name_with_more_digits_than_repetitions() -> None:
    """Python doesn't read 5,000 digits as a number, so such a name is that of a run like any other."""
    assert repetition_of("mine@12") == ("mine", 12)
    assert repetition_of(f"mine@{'9' * 5000}") is None
