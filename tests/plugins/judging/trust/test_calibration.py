"""Calibrated accuracy: published and recorded figures, cases by hand, the edges, and coverage."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from graphkit.plugins.judging.trust.calibration import prediction_powered, rogan_gladen, sensitivity, specificity

# Prediction-powered inference ----------------------------------------------------------------------------------------


def test_ppi_by_hand() -> None:
    """Four labels and four other answers: trust and mean worked out by hand."""
    # labels 1 0 1 1, judge 1 0 1 0 (means 3/4, 1/2); others 1 1 0 0. Covariance of the labelled, over n:
    # mean of the products 2/4 - 3/4 x 1/2 = 1/8. Variance of the eight grades, over n - 1: 8 x 1/4 / 7 = 2/7.
    # Trust 1/8 / ((1 + 4/4) x 2/7) = 7/32. Mean 3/4 - 7/32 x 1/2 + 7/32 x 1/2.
    found = prediction_powered([1, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0])
    assert found.trust == pytest.approx(7 / 32)
    assert found.estimate.value == pytest.approx(0.75)
    # Label - trust x grade is 25/32, 0, 25/32, 1: variance over n - 1, by 4; of the others 1/3 by 4, times trust^2.
    rest = [25 / 32, 0, 25 / 32, 1]
    mean = sum(rest) / 4
    variance = sum((one - mean) ** 2 for one in rest) / 3 / 4 + (7 / 32) ** 2 * (1 / 3) / 4
    assert found.error == pytest.approx(math.sqrt(variance))


@pytest.mark.parametrize(
    ("labels", "judged", "others", "expected"),
    [
        ([1, 0, 1, 1, 0, 1, 1, 0, 1, 1], [1, 0, 1, 1, 1, 1, 0, 0, 1, 1], [1] * 22 + [0] * 8, 0.71344828),
        ([1, 0.5, 0, 0, 0.5, 1, 1, 0], [1, 1, 0.5, 0, 0.5, 1, 0.5, 0.5], [1] * 9 + [0.5] * 6 + [0] * 5, 0.48918269),
    ],
)
def test_ppi_is_that_of_its_authors(
    labels: list[float], judged: list[float], others: list[float], expected: float
) -> None:
    """The estimate is what ppi_py, the authors' library, gives for the same grades."""
    assert prediction_powered(labels, judged, others).estimate.value == pytest.approx(expected, abs=1e-8)


def test_ppi_of_larger_grades() -> None:
    """Grades of 0 to 10 are those of 0 to 1, ten times as large."""
    small = prediction_powered([1, 0, 0.5, 0.8], [0.9, 0.2, 0.5, 0.6], [0.4, 0.7, 0.1])
    large = prediction_powered([10, 0, 5, 8], [9, 2, 5, 6], [4, 7, 1], highest=10)
    assert large.trust == pytest.approx(small.trust)
    for one, two in zip(
        (large.estimate.value, large.estimate.low, large.estimate.high, large.error),
        (small.estimate.value, small.estimate.low, small.estimate.high, small.error),
        strict=True,
    ):
        assert one is not None
        assert two is not None
        assert one == pytest.approx(10 * two)


def test_ppi_between_any_two_grades() -> None:
    """From -1 to 1 it is that of 0 to 1, stretched; grades of one worth have it for certain, and none is clipped."""
    labels, judged, others = [0, 1, 1, 0, 1], [0, 1, 0, 0, 1], [1, 0, 1, 1]
    plain = prediction_powered(labels, judged, others)
    first, second, third = ([2 * one - 1 for one in some] for some in (labels, judged, others))
    moved = prediction_powered(first, second, third, 1.0, -1.0)
    for name in ("value", "low", "high"):
        assert getattr(moved.estimate, name) == pytest.approx(2 * getattr(plain.estimate, name) - 1)
    assert moved.trust == pytest.approx(plain.trust)
    assert moved.error == pytest.approx(2 * (plain.error or 0.0))
    assert prediction_powered([0, 0], [0, 0], [0], 0.0).estimate.value == 0.0
    with pytest.raises(ValueError, match="a grade isn't between 0 and 1"):
        prediction_powered([0.5], [0.5], [1.5])


def test_ppi_at_the_edges() -> None:
    """No label gives no value, one no interval; a judge with one grade for all is of no use; ten ones aren't all."""
    assert prediction_powered([], [], [1, 0]).estimate.reason == "nobody graded any of it"
    one = prediction_powered([1], [1], [1, 0]).estimate
    assert (one.value, one.low) == (1.0, None)
    useless = prediction_powered([1, 0, 1], [1, 1, 1], [1, 1, 1, 1])
    assert useless.trust == 0.0
    assert useless.estimate.value == pytest.approx(2 / 3)
    ones = prediction_powered([1] * 10, [1] * 10, [1] * 10).estimate
    assert ones.value == 1.0
    assert ones.low == pytest.approx(10 / (10 + stats.norm.ppf(0.975) ** 2))  # Wilson's of 10 of 10
    with pytest.raises(ValueError, match="judge's grade of the same answer"):
        prediction_powered([1], [], [])


@pytest.mark.parametrize(("truth", "right", "wrong"), [(0.5, 0.9, 0.8), (0.8, 0.95, 0.7), (0.6, 0.99, 0.95)])
def test_intervals_hold_the_true_accuracy(truth: float, right: float, wrong: float) -> None:
    """At least as many of 500 drawn runs hold the true accuracy as 95% would in 999 of 1000 cases."""
    source = random.Random(3)
    held = {"PPI++": [0, 0], "Rogan-Gladen": [0, 0]}  # of how many that have an interval
    widths = [0.0, 0.0]
    for _ in range(500):
        known = [source.random() < truth for _ in range(150)]
        judged = [source.random() < (right if one else 1 - wrong) for one in known]
        labels, own, others = known[:30], judged[:30], judged[30:]
        powered = prediction_powered(labels, own, others).estimate
        alone = prediction_powered(labels, own, []).estimate
        both = sum(one and two for one, two in zip(labels, own, strict=True))
        neither = sum(not one and not two for one, two in zip(labels, own, strict=True))
        corrected = rogan_gladen(sum(judged), 150, (both, sum(labels)), (neither, 30 - sum(labels))).estimate
        for name, found in (("PPI++", powered), ("Rogan-Gladen", corrected)):
            if found.low is not None and found.high is not None:
                held[name][0] += found.low <= truth <= found.high
                held[name][1] += 1
        for place, found in enumerate((powered, alone)):
            assert found.low is not None
            assert found.high is not None
            widths[place] += found.high - found.low
    for name, (count, drawn) in held.items():
        assert drawn > 480, name  # some samples hold no wrong answer
        assert stats.binomtest(count, drawn, 0.95, alternative="less").pvalue > 0.001, (name, count)
    assert widths[0] < 0.9 * widths[1]  # what the judge adds


# Rogan and Gladen ----------------------------------------------------------------------------------------------------


def test_rogan_gladen_published() -> None:
    """Published worked examples of true shares behind a test of known sensitivity and specificity."""
    # Quaderni di epidemiologia: 34 of 100 pass, 18 of 20 and 64 of 80: true share 20%.
    assert rogan_gladen(34, 100, (18, 20), (64, 80)).estimate.value == pytest.approx(0.2)
    # epiR, epi.prev: 23 of 150 cows by a test of 96% and 89%: 5.1 of 100.
    assert rogan_gladen(23, 150, (96, 100), (89, 100)).estimate.value == pytest.approx(0.051, abs=5e-4)
    # Moujaber et al. 2008 (in epiR): 6 of 151 by a test of 96.4% and 92.7%: 0, clipped.
    clipped = rogan_gladen(6, 151, (964, 1000), (927, 1000))
    assert (clipped.estimate.value, clipped.clipped) == (0.0, True)
    assert "clipped" in str(clipped.estimate.reason)


def test_lang_reiczigel_by_hand() -> None:
    """The interval of 40 of 100 that pass, with 18 of 20 and 45 of 50, worked out step by step."""
    z = 1.959963984540054
    tested = 100 + z * z
    share = (40 + z * z / 2) / tested  # .4037
    right, wrong = 19 / 22, 46 / 52
    slope = right + wrong - 1
    truth = (share + wrong - 1) / slope
    of_right, of_wrong = right * (3 / 22) / 22, wrong * (6 / 52) / 52
    middle = truth + 2 * z * z * (truth * of_right - (1 - truth) * of_wrong)
    reach = z / slope * math.sqrt(share * (1 - share) / tested + truth**2 * of_right + (1 - truth) ** 2 * of_wrong)
    found = rogan_gladen(40, 100, (18, 20), (45, 50)).estimate
    assert found.value == pytest.approx((0.4 + 0.9 - 1) / 0.8)
    assert found.low == pytest.approx(middle - reach)
    assert found.high == pytest.approx(middle + reach)


def test_rogan_gladen_at_the_edges() -> None:
    """Without labels of one kind, or if the judge grades by chance, there is no value."""
    assert "no graded answer is wrong" in str(rogan_gladen(5, 10, (4, 5), (0, 0)).estimate.reason)
    assert "no graded answer is right" in str(rogan_gladen(5, 10, (0, 0), (4, 5)).estimate.reason)
    assert "no more than chance" in str(rogan_gladen(5, 10, (2, 4), (2, 4)).estimate.reason)
    assert rogan_gladen(0, 0, (1, 1), (1, 1)).estimate.value is None
    # One label of each kind: with the two answers that the method adds, 2/3 + 2/3 - 1 > 0, and the interval is all.
    found = rogan_gladen(5, 10, (1, 1), (1, 1)).estimate
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)


def test_sensitivity_and_specificity() -> None:
    """Shares with Wilson's interval, or the reason why there is none."""
    assert sensitivity(9, 10).value == 0.9
    assert specificity(0, 0).reason == "the person called no answer wrong"
