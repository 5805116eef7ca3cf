"""The correction over several measures: by hand, against a permutation by brute force, and its error rate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphkit.analysis.multiple_testing import DifferenceColumn, holm, max_t
from graphkit.analysis.paired import randomisation_p

VALUES = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])


def test_by_hand() -> None:
    """Two measures of three questions, the second of the first two alone.

    The first is -1, -1, -1, so its statistic is 3/sqrt(3) = 1.73; the second 1, -1 with statistic 0. Of eight patterns
    two have 1.73 by the first; the second reaches at most 2/sqrt(2) = 1.41. So p is 2/8 for the first, and 1 for the
    second.
    """
    assert max_t([DifferenceColumn(range(3), [-1.0] * 3), DifferenceColumn(range(2), [1.0, -1.0])]) == [0.25, 1.0]


def test_measures_that_move_together_count_as_one() -> None:
    """Ten copies have the p-value of one, 2/2^8; Holm would multiply it by ten."""
    one = DifferenceColumn(range(8), [-0.5] * 8)
    assert max_t([one] * 10) == [2 / 256] * 10
    assert holm([2 / 256] * 10) == [pytest.approx(20 / 256)] * 10


def test_a_constant_measure_leaves_the_family() -> None:
    """Nothing differs by it, so its p-value is 1, and the others are as without it."""
    one, constant = DifferenceColumn(range(8), [-0.5] * 8), DifferenceColumn(range(8), [0.0] * 8)
    assert max_t([constant, one, DifferenceColumn([], [])]) == [1.0, 2 / 256, 1.0]
    assert max_t([constant]) == [1.0]
    assert max_t([]) == []


def brute_force(columns: Sequence[Sequence[float]]) -> list[float]:
    """Return the step-down p-values by their definition, pattern by pattern."""
    table = numpy.array(columns, dtype=float)
    norms = numpy.sqrt((table**2).sum(axis=1))
    signs = numpy.array(list(itertools.product((1, -1), repeat=table.shape[1])))
    with numpy.errstate(invalid="ignore"):
        drawn = numpy.nan_to_num(numpy.abs(signs @ table.T) / norms)
        seen = numpy.nan_to_num(numpy.abs(table.sum(axis=1)) / norms)
    order = sorted(range(len(table)), key=lambda one: -seen[one])
    found, highest = [1.0] * len(table), 0.0
    for place, one in enumerate(order):
        if norms[one]:
            share = float((drawn[:, order[place:]].max(axis=1) >= seen[one] - 1e-9).mean())
            highest = max(highest, share)
            found[one] = highest
    return found


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=4)))
def test_all_patterns_of_signs(columns: list[list[float]]) -> None:
    """Each value is that of the definition, and at least that of the measure alone."""
    found = max_t([DifferenceColumn(range(len(one)), one) for one in columns])
    assert found == pytest.approx(brute_force(columns))
    for one, p_value in zip(columns, found, strict=True):
        assert p_value >= randomisation_p(numpy.array(one)) - 1e-12


def test_clusters_draw_one_sign() -> None:
    """Eight questions in two clusters have four patterns: 2/4 is the smallest p-value."""
    assert max_t([DifferenceColumn([0, 0, 0, 0, 1, 1, 1, 1], [-1.0] * 8)]) == [0.5]


def test_drawn_signs_agree_with_all_of_them() -> None:
    """Twelve questions have 4,096 patterns: 2,000 drawn ones are within four standard errors, and seeded."""
    draw = numpy.random.default_rng(3)
    columns = [DifferenceColumn(range(12), draw.normal(-0.3, 1, 12).tolist()) for _ in range(3)]
    exact, drawn = max_t(columns, resamples=5_000), max_t(columns, resamples=2_000)
    for one, other in zip(exact, drawn, strict=True):
        assert abs(one - other) <= 4 * (one * (1 - one) / 2_000) ** 0.5 + 1 / 2_000
    assert drawn == max_t(columns, resamples=2_000)


def test_equal_systems_are_rarely_told_apart() -> None:
    """Of 400 samples of six measures without a difference at most 7% have any p-value below .05 (5% and 2 errors)."""
    draw, alarms = numpy.random.default_rng(4), 0
    for _ in range(400):
        shared = draw.normal(size=20)
        columns = [DifferenceColumn(range(20), (shared + draw.normal(size=20)).tolist()) for _ in range(6)]
        alarms += min(max_t(columns, resamples=199)) < 0.05
    assert alarms <= 28
