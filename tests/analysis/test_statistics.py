"""The statistics of a comparison, against cases worked by hand and against scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphkit.analysis.multiple_testing import holm
from graphkit.analysis.paired import compare_pairs, randomisation_p
from graphkit.analysis.power import detectable
from graphkit.scoring.intervals import DRAWN_TOGETHER, RESAMPLES, SEED, bca, interval
from graphkit.scoring.score_intervals import normal_quantile, student_quantile
from tests.helpers.properties import examples

SAMPLE = [0.25, -0.5, 0.0, 0.75, 0.5, 0.125, -0.25, 1.0, 0.375, 0.0, 0.625, -0.125]


def test_randomisation_of_three_differences_by_hand() -> None:
    """All eight sign patterns are tried: only +++ and --- reach the sum of 6."""
    # Sums over the signs of 1, 2, 3: +-6, +-4, +-2, 0, 0; |sum| >= 6 in 2 of 8.
    assert randomisation_p([1, 2, 3]) == 0.25


def test_randomisation_leaves_out_ties() -> None:
    """Differences of 0 change nothing, and only zeros give 1."""
    assert randomisation_p([1, 0, 2, 0, 3]) == 0.25
    assert randomisation_p([0, 0]) == 1.0


def test_randomisation_agrees_with_scipy_exactly() -> None:
    """If every pattern is tried, the p-value is scipy's exact one."""
    exact = stats.permutation_test(
        ([d for d in SAMPLE if d],), numpy.mean, permutation_type="samples", n_resamples=2000
    )
    assert randomisation_p(SAMPLE) == pytest.approx(exact.pvalue, abs=1e-12)


def test_randomisation_of_many_agrees_with_the_exact_value() -> None:
    """A drawn p-value lies within five standard errors of the exact one."""
    exact = randomisation_p(SAMPLE, resamples=10_000)
    drawn = randomisation_p(SAMPLE, resamples=900)  # fewer than 2**10 patterns: drawn
    assert abs(drawn - exact) < 5 * math.sqrt(exact * (1 - exact) / 900)


def test_equal_sums_count_as_equal_in_spite_of_rounding() -> None:
    """0.1 + 0.2 is as far from 0 as 0.3 is, whatever floating point says."""
    # Signs of 0.1, 0.2, 0.3: the observed sum 0 is reached or passed by every pattern.
    assert randomisation_p([0.1, 0.2, -0.3]) == 1.0


def test_same_seed_same_figures() -> None:
    """A comparison is reproducible, and another seed moves a drawn interval."""
    values = numpy.random.default_rng(3).exponential(1.0, 60)  # skewed: the drawn bound is the wider one
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values, seed=1) != interval(values, seed=2)


def test_interval_agrees_with_scipy_of_another_seed() -> None:
    """The interval is the wider of scipy's BCa and Student's t on each side, up to the noise of resampling."""
    values = numpy.random.default_rng(5).exponential(1.0, 80)
    other = stats.bootstrap((values,), numpy.mean, n_resamples=20_000, method="BCa", rng=numpy.random.default_rng(99))
    low, high = interval(values)
    width = other.confidence_interval.high - other.confidence_interval.low
    student = stats.ttest_1samp(values, 0).confidence_interval()
    # Of a sample that is skewed to the right BCa lies further right.
    assert other.confidence_interval.low > student.low
    assert low == pytest.approx(student.low, rel=1e-9)
    assert other.confidence_interval.high > student.high
    assert high == pytest.approx(other.confidence_interval.high, abs=0.05 * width)


def test_resamples_are_those_of_scipy() -> None:
    """The ends are BCa by the means that scipy's bootstrap draws with the seed, to the last bit."""
    values = numpy.random.default_rng(4).exponential(1.0, 30)
    drawn = stats.bootstrap(
        (values,),
        numpy.mean,
        n_resamples=RESAMPLES,
        batch=DRAWN_TOGETHER // 30,
        method="percentile",
        rng=numpy.random.default_rng(SEED),
    )
    low, high = bca(values, drawn.bootstrap_distribution, 0.95)
    reach = stats.t.ppf(0.975, 29) * values.std(ddof=1) / 30**0.5
    mean = math.fsum(values) / 30
    assert interval(values) == (min(low, mean - reach), max(high, mean + reach))


def test_interval_at_the_edges() -> None:
    """One difference, or few equal ones, have none; more equal ones don't promise that each question is so."""
    assert interval([0.5]) == (None, None)
    # Of five differences of one size, all have one sign in 2 of 2^5 = 1 of 16 cases by chance; of six in 1 of 32.
    assert interval([0.5] * 5, span=1.0) == (None, None)
    # Of six the interval is 3 / 6 wide; around 0, a share of 1 - .025^(1/6) = .4593 may be -1 or 1.
    assert interval([0.5] * 6, span=1.0) == pytest.approx((0.25, 0.75))
    assert interval([0.0] * 6, span=1.0) == pytest.approx((-0.4593, 0.4593), abs=1e-4)
    # Without a largest difference nothing bounds the others.
    assert interval([0.5] * 6) == (None, None)


def test_holm_by_hand() -> None:
    """The smallest p-value is multiplied by their number, the next by one less, and none falls below the one before."""
    # Sorted 0.01, 0.03, 0.04: times 3, 2, 1 = 0.03, 0.06, 0.04, and 0.04 is raised to 0.06.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_value(p_values: list[float]) -> None:
    """A corrected p-value is at least the raw one and at most 1, and the order is kept."""
    corrected = holm(p_values)
    assert all(raw <= one <= 1 for raw, one in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    assert [corrected[index] for index in order] == sorted(corrected)


def test_detectable_has_the_power_it_claims() -> None:
    """A shift of the detectable size is found by a t-test in about 80 of 100 samples."""
    shift = detectable(1 / 30**0.5, 30)
    assert shift is not None
    random = numpy.random.default_rng(11)
    found = sum(stats.ttest_1samp(random.normal(shift, 1, 30), 0).pvalue < 0.05 for _ in range(2000)) / 2000
    assert 0.75 < found < 0.85
    assert detectable(1.0, 1) is None


def test_compare_pairs_by_hand() -> None:
    """Means, difference, effect size and wins of four questions."""
    # Differences 0.5, 0, 0.5, -0.2: mean 0.2; squared deviations 0.09 + 0.04 + 0.09 + 0.16 = 0.38, s = sqrt(0.38 / 3).
    result = compare_pairs("EdgeRecall", [0.0, 1.0, 0.5, 0.6], [0.5, 1.0, 1.0, 0.4])
    assert (result.first, result.second) == pytest.approx((0.525, 0.725))
    assert result.delta == pytest.approx(0.2)
    assert result.effect == pytest.approx(0.2 / math.sqrt(0.38 / 3))
    assert (result.wins, result.losses, result.ties, result.questions) == (2, 1, 1, 4)


def test_rounding_noise_is_a_tie() -> None:
    """Values that differ in the last digits only are equal: no win, no test, no interval beside 0, no effect."""
    # 1/3 as 2rp / (r + p) of r = 1/5, p = 1, which is the float above.
    noisy = 2 * 0.2 * 1.0 / (0.2 + 1.0)
    pairs = (([0.1 + 0.2] * 20, [0.3] * 20), ([1 / 3] * 20, [noisy] * 20), ([1e6 + 1e-5] * 20, [1e6] * 20))
    for first, second in pairs:
        assert first != second
        result = compare_pairs("EdgeF1", first, second, span=1.0)
        assert (result.wins, result.losses, result.ties) == (0, 0, 20)
        assert (result.p_value, result.delta, result.effect) == (1.0, 0.0, None)
        # 1 - .025^(1/20) = .1684: the 3 in 20 of the rule of three, for two sides.
        assert (result.low, result.high) == pytest.approx((-0.1684, 0.1684), abs=1e-4)


def test_noise_among_differences_changes_nothing() -> None:
    """With noise where values are equal the figures are those without it."""
    values = [0.25, 0.5, 0.75, 1.0] * 6
    others = [*values[:12], *(0.5 for _ in range(12))]
    noisy = [value * (1 - 1e-15) for value in others]
    first, second = compare_pairs("EdgeF1", values, others), compare_pairs("EdgeF1", values, noisy)
    # Of the last twelve values three are .25 (won), three .5 (tied) and six more (lost); the first twelve are tied.
    assert (first.wins, first.losses, first.ties) == (second.wins, second.losses, second.ties) == (3, 6, 15)
    assert (second.low, second.high) == pytest.approx((first.low, first.high), rel=1e-12)
    assert (second.p_value, second.effect) == pytest.approx((first.p_value, first.effect), rel=1e-12)


def test_no_effect_size_of_a_constant_difference() -> None:
    """If every question gains the same, the spread is rounding only, so there is no d_z."""
    # .1 more on each: as floats .4 - .3 and .8 - .7 differ in the last digit.
    first = [0.1, 0.2, 0.3, 0.4, 0.7, 0.8] * 3
    second = [0.2, 0.3, 0.4, 0.5, 0.8, 0.9] * 3
    assert len({two - one for one, two in zip(first, second, strict=True)}) > 1
    result = compare_pairs("RR", first, second, span=1.0)
    assert result.effect is None
    assert result.delta == pytest.approx(0.1)
    # 3 / 18 wide: .1 - .0833 and .1 + .0833.
    assert (result.low, result.high) == pytest.approx((0.0167, 0.1833), abs=1e-4)
    assert result.caution == "all differences are equal, so nothing shows how far others may lie"


def test_caution_beside_intervals_of_few() -> None:
    """Below 20 questions, or below 6 that differ, an interval comes with a caution; from there on with none."""
    reported = {
        count: compare_pairs("RR", [0.25] * count, ([0.0, 0.5] * 20)[:count], resamples=200).caution
        for count in (19, 20)
    }
    assert reported == {19: "the interval may be too narrow: 19 questions, fewer than 20", 20: None}
    for count, caution in ((5, "the interval may be too narrow: 5 of 40 differ, fewer than 6"), (6, None)):
        second = [0.5] * count + [0.0] * (40 - count)
        assert compare_pairs("RR", [0.0] * 40, second, resamples=200).caution == caution


@pytest.mark.slow("a simulation")
def test_interval_holds_where_bca_alone_does_not() -> None:
    """It holds the true one of ten differences of thirds in at least 93 of 100 samples, BCa alone in fewer."""
    # Of two thirds drawn alike the difference is 0 on average.
    random = numpy.random.default_rng(17)
    held = alone = 0
    for _ in range(1000):
        values = random.integers(0, 4, 10) / 3 - random.integers(0, 4, 10) / 3
        low, high = interval(values, resamples=400)
        assert low is not None
        assert high is not None
        held += low <= 0 <= high
        found = stats.bootstrap((values,), numpy.mean, n_resamples=400, method="BCa", rng=random).confidence_interval
        alone += bool(found.low <= 0 <= found.high)
    assert held >= 930 > alone


def test_compare_pairs_refuses_what_is_not_paired() -> None:
    """Lists of different lengths, or empty ones, are refused."""
    with pytest.raises(ValueError, match="same questions"):
        compare_pairs("RR", [1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="at least one"):
        compare_pairs("RR", [], [])


@examples(50)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12))
def test_swapping_the_runs_mirrors_the_result(pairs: list[tuple[float, float]]) -> None:
    """The wins of one run are the losses of the other, with the same p-value."""
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    there, back = (compare_pairs("RR", *both, resamples=200) for both in ((first, second), (second, first)))
    assert there.delta == pytest.approx(-back.delta)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == pytest.approx(back.p_value, abs=1e-9)


def test_the_bootstrap_ends_where_scipy_ends_it() -> None:
    """The ends of BCa, whose acceleration is computed from the values, are those of SciPy, which leaves each out."""
    random = numpy.random.default_rng(7)
    for values in (random.normal(size=30), random.exponential(size=40), random.integers(0, 2, size=25).astype(float)):
        drawn: dict[str, Any] = {"n_resamples": 999, "rng": 3}
        theirs = stats.bootstrap((values,), numpy.mean, method="BCa", **drawn).confidence_interval
        means = stats.bootstrap((values,), numpy.mean, method="percentile", **drawn).bootstrap_distribution
        assert bca(values, means, 0.95) == pytest.approx([theirs.low, theirs.high], abs=1e-12)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_quantiles_without_scipy_are_those_of_scipy(confidence: float) -> None:
    """From 2,000 degrees of freedom on, the expansion has the 15 digits of the quantile in scipy."""
    assert normal_quantile() == float(stats.norm.ppf(0.975))
    for freedom in (1999, 2000, 2000.5, 59_999, 1e6, 1e12):
        expected = float(stats.t.ppf((1 + confidence) / 2, freedom))
        assert student_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-15)
