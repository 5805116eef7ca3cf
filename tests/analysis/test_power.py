"""The power of a comparison: against statsmodels, against simulation, and in each output of ``compare --plan``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from scipy import stats

from graphkit.analysis.paired import compare_pairs
from graphkit.analysis.power import detectable, differing_bound, mcnemar_power, power
from graphkit.plugins.compare.sample_plans import planned, units_needed
from tests.helpers.cli import inside
from tests.helpers.clustered import clustered_runs

SAMPLES = 2_000

#: Five standard errors of a share of 80% among the samples.
NOISE = 5 * math.sqrt(0.8 * 0.2 / SAMPLES)


def test_power_is_that_of_statsmodels() -> None:
    """Power, sample sizes and detectable effects are those of TTestPower of statsmodels 0.14."""
    assert [power(0.3, 1 / math.sqrt(n), n) for n in (5, 30, 100)] == pytest.approx(
        [0.0822628, 0.3554627, 0.8439471], rel=1e-6
    )
    # TTestPower().solve_power(effect_size=..., alpha=0.05, power=0.8), rounded up.
    assert [units_needed(effect, 1.0) for effect in (0.2, 0.5, 0.8, 1.5)] == [199, 34, 15, 6]
    assert [units_needed(effect, 1.0, 0.05 / 9) for effect in (0.2, 0.5, 0.8, 1.5)] == [331, 57, 25, 10]
    assert [detectable(1 / math.sqrt(n), n) for n in (2, 10, 30)] == pytest.approx(
        [11.54989, 0.996002, 0.529236], rel=1e-4
    )


def _found(samples: Any) -> float:
    """Return the share of samples, one a row, in which a t-test finds a difference."""
    return float(numpy.mean(numpy.asarray(stats.ttest_1samp(samples, 0, axis=1).pvalue) < 0.05))


@pytest.mark.slow("a simulation")
def test_the_planned_sample_has_its_power_in_simulation() -> None:
    """The t-test and the randomisation test find the difference in 80% of the samples of the planned size."""
    random = numpy.random.default_rng(23)
    needed = units_needed(0.15, 0.3)
    assert needed == 34
    drawn = random.normal(0.15, 0.3, (SAMPLES, needed))
    assert abs(_found(drawn) - power(0.15, 0.3 / needed**0.5, needed)) < NOISE
    few = drawn[:500]
    own = [compare_pairs("m", [0.0] * needed, [*row], resamples=400).p_value < 0.05 for row in few]
    assert abs(numpy.mean(own) - 0.8) < 5 * math.sqrt(0.8 * 0.2 / 500)
    # A third of the questions find it much less often.
    assert _found(drawn[:, : needed // 3]) < 0.5


def test_a_clustered_plan_has_its_power_in_simulation() -> None:
    """A plan from 2,000 clusters of five questions names the clusters in which a clustered test finds it in 80%."""
    random = numpy.random.default_rng(29)

    def draw(clusters: int, mean: float) -> Any:
        return mean + random.normal(0, 0.3, (clusters, 1)) + random.normal(0, 0.4, (clusters, 5))

    seen, codes = draw(2_000, 0.1), [number // 5 for number in range(10_000)]
    result = compare_pairs("m", [0.0] * 10_000, [*seen.ravel()], resamples=100, clusters=codes)
    [plan] = planned([result], 0.15)
    # Variance of a question .09 + .16 = .25, of a cluster's mean .09 + .16 / 5 = .122: effect .122 / (.25 / 5) = 2.44.
    assert plan.design_effect == pytest.approx(2.44, rel=0.08)
    # The textbook's (1.96 + .84)^2 * .122 / .15^2 = 42.6, and about two more for Student's t.
    assert plan.needed_clusters is not None
    assert 41 <= plan.needed_clusters <= 48
    assert plan.needed_questions == 5 * plan.needed_clusters
    means = numpy.array([draw(plan.needed_clusters, 0.15).mean(1) for _ in range(SAMPLES)])
    # The plan rests on a spread that was drawn, too: of 2,000 clusters it is off by 1.6%, the power by about 1%.
    assert abs(_found(means) - 0.8) < NOISE + 0.02


@pytest.mark.parametrize(("difference", "differing", "questions"), [(0.3, 0.4, 12), (0.5, 0.5, 9), (0.1, 0.6, 15)])
def test_the_power_of_mcnemar_is_that_of_all_samples(difference: float, differing: float, questions: int) -> None:
    """Over all numbers of wins and losses, each with its multinomial probability, so many are significant (scipy)."""
    won, lost = (differing + difference) / 2, (differing - difference) / 2
    chances = stats.multinomial(questions, [won, lost, 1 - differing])
    expected = sum(
        float(chances.pmf([wins, losses, questions - wins - losses]))
        for wins in range(questions + 1)
        for losses in range(questions + 1 - wins)
        if wins + losses and stats.binomtest(wins, wins + losses).pvalue <= 0.05
    )
    assert mcnemar_power(difference, differing, questions) == pytest.approx(expected, abs=1e-9)


def test_a_plan_of_yes_or_no_has_its_power() -> None:
    """Most samples of 60 questions lead to a plan whose exact power is 80%; the plan of the t-test falls short."""
    random, powers = numpy.random.default_rng(37), []
    for _ in range(60):
        drawn = random.choice([1.0, -1.0, 0.0], p=[0.2, 0.1, 0.7], size=60)
        first, second = ((drawn == one).astype(float).tolist() for one in (-1, 1))
        result = compare_pairs("m", first, second, span=1.0, resamples=99)
        [plan] = planned([result], 0.15)
        assert plan.needed_questions is not None
        powers.append(mcnemar_power(0.15, 0.3, plan.needed_questions))
    assert numpy.mean(numpy.array(powers) >= 0.8) >= 0.65
    assert numpy.mean(powers) > 0.8
    # From the true spread, the t-test asks for 100 questions, which find the difference in 70%.
    few = units_needed(0.15, (0.3 - 0.15**2) ** 0.5)
    assert few is not None
    assert mcnemar_power(0.15, 0.3, few) < 0.75


def test_what_yes_or_no_detects() -> None:
    """The detectable difference has a power of 80% at the bound of the share that differs; few that differ say so."""
    result = compare_pairs("m", [0.0] * 9 + [1.0] * 31, [1.0] * 6 + [0.0] * 6 + [1.0] * 28, span=1.0)
    assert (result.wins, result.losses, result.yes_or_no) == (6, 3, True)
    assert result.detectable is not None
    # Wilson's bound of 9 of 40 for one side of 80%: z = .8416, z^2 = .7083; (.225 + .00885) / 1.01771 = .22978, and
    # .8416 * sqrt(.225 * .775 / 40 + .7083 / 6400) / 1.01771 = .05531.
    assert differing_bound(9, 40) == pytest.approx(0.2851, abs=1e-4)
    bound = max(0.2851, result.detectable)
    assert mcnemar_power(result.detectable, bound, 40) == pytest.approx(0.8, abs=1e-3)
    [plan] = planned([result], 0.2)
    assert plan.caution == "9 questions that differ, fewer than 20, show the spread poorly"
    [none] = planned([result], 1.5)
    assert none.reason == "two shares differ by 1 at most"
    assert planned([result], 1e-9)[0].needed_questions is None


def test_what_is_detectable_needs_the_present_questions() -> None:
    """A plan for the detectable difference asks for as many questions as there are."""
    values = [*numpy.random.default_rng(31).normal(0.1, 0.5, 40)]
    result = compare_pairs("m", [0.0] * 40, values)
    assert result.detectable is not None
    [plan] = planned([result], result.detectable * (1 + 1e-9))
    assert plan.needed_questions == 40
    assert "0 more" not in plan.sentence
    assert "no more than now" in plan.sentence
    # A huge difference still needs six questions, since fewer signs can't be significant.
    [large] = planned([result], 100.0)
    assert large.needed_questions == 6


def test_what_shows_no_spread_has_no_plan() -> None:
    """Equal differences, and one cluster, give a reason instead of a number."""
    equal = planned([compare_pairs("m", [0.0] * 9, [0.5] * 9)], 0.05)[0]
    assert equal.needed_questions is None
    assert "nothing shows how far others may lie" in equal.sentence
    one = planned([compare_pairs("m", [0.0] * 4, [0.5, 0.0, 1.0, 0.25], clusters=[0] * 4)], 0.05)[0]
    assert (one.needed_questions, one.reason) == (None, "all questions are one cluster")
    tiny = planned([compare_pairs("m", [0.0] * 4, [0.5, 0.0, 1.0, 0.25])], 1e-9)[0]
    assert tiny.needed_questions is None


def test_every_output_of_a_plan(tmp_path: Path) -> None:
    """The default output, the tables, JSON and the comment name the needed questions; 0 is refused."""
    asked = ("compare", *clustered_runs(tmp_path), "-m", "EdgeRecall", "--plan", "0.05")
    [plan] = inside(*asked, "--json", cwd=tmp_path, code=0).object()["plan"]
    needed, now = plan["needed_questions"], plan["detectable"]
    assert plan["questions"] == 16
    assert f"a difference of 0.05 in EdgeRecall needs {needed} questions, {needed - 16} more than now" in (
        inside(*asked, cwd=tmp_path, code=0).out
    )
    full = inside(*asked, "--full", cwd=tmp_path, code=0).out
    assert "Questions that a difference of 0.05 needs (80% power, 5% level)" in full
    assert f"{needed}" in full
    assert f"{now:.4f}" in full
    assert f"needs {needed} questions" in inside(*asked, "--format", "github", cwd=tmp_path, code=0).out
    clustered = inside(*asked, "--json", "--cluster", "repo", cwd=tmp_path, code=0).object()["plan"][0]
    assert clustered["clusters"] == 7
    assert clustered["needed_questions"] == math.ceil(clustered["needed_clusters"] * 16 / 7)
    refused = inside(*asked[:-1], "0", cwd=tmp_path, code=2)
    assert "a difference of 0 can't be planned for" in refused.err


def test_without_a_plan_there_is_none(tmp_path: Path) -> None:
    """JSON has null, and the output no line."""
    asked = ("compare", *clustered_runs(tmp_path), "-m", "EdgeRecall")
    assert inside(*asked, "--json", cwd=tmp_path, code=0).object()["plan"] is None
    assert "power" not in inside(*asked, cwd=tmp_path, code=0).out
