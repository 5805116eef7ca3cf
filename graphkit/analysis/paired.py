"""Paired comparison of two runs: intervals, tests, effect sizes, and what the sample could have shown.

The question is the unit: two runs are compared on the questions that both were scored on, and nothing inside a question
is treated as independent. Given clusters of questions, nothing inside a cluster is. Randomness is seeded, so that the
same runs give the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphkit.analysis.power import detectable, detectable_share
from graphkit.records.bounds import TOLERANCE, equal
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import ClusterSums, cautioned, clustered_interval, without_interval
from graphkit.scoring.intervals import DRAWN_TOGETHER, FEWEST_EQUAL, RESAMPLES, SEED, alike, interval
from graphkit.scoring.score_intervals import CONFIDENCE, unseen_share

#: With fewer questions than these, or fewer that differ, an interval covers the true difference in less than 95%:
#: see the simulation in docs/decisions/analysis.md.
FEW_QUESTIONS = 20
FEW_DIFFERENT = 6

ALL_EQUAL = "all differences are equal, so nothing shows how far others may lie"

#: 1 / (4 P(Z >= sqrt 2)), rounded up.
_RADEMACHER = 3.1787


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The shares of right answers of two runs, their difference in percentage points, its 95% interval and reading."""

    first: float
    second: float
    points: float
    low: float | None
    high: float | None
    reading: str


@dataclass(frozen=True, slots=True)
class PairedResult:
    """One measure of two runs over the same questions; every difference is second minus first.

    Attributes
    ----------
    low, high
        The 95% confidence interval of the mean difference, see :func:`interval`; None if the questions are too few, and
        ``reason`` then says so.
    p_value
        Two-sided, of the paired randomisation test, which flips the signs of whole clusters. Among several pairs of
        runs it is :func:`signs_bound` where that is smaller, as for ``p_corrected``.
    p_corrected
        The p-value after the correction over the compared measures, see
        :func:`~graphkit.analysis.multiple_testing.max_t`.
    effect
        Cohen's d_z: the mean difference over its standard deviation; None if all differences are equal.
    wins, losses, ties
        The number of questions on which the second run has the higher, the lower and the same value.
    detectable
        The smallest mean difference that these questions detect with 80% power at the 5% level; None if all differences
        are equal, there is one cluster, or nothing is large enough.
    smallest_p
        See :func:`smallest_p`.
    accuracy
        For measures of 0 and 1 and whole grades of 0 to 10; None for others.
    caution
        A sentence on why the interval may be too narrow, or None.
    clusters
        The number of independent clusters of questions; None if each question counts as independent.
    spread, error
        The standard deviation of the differences, 0 if all are equal, and the standard error of their mean, over
        clusters if there are any; 0 if nothing shows it.
    yes_or_no
        Whether all values are 0 or 1 and each question counts as independent, so that the test is McNemar's.
    """

    measure: str
    questions: int
    first: float
    second: float
    delta: float
    low: float | None
    high: float | None
    p_value: float
    p_corrected: float
    effect: float | None
    wins: int
    losses: int
    ties: int
    detectable: float | None
    accuracy: Accuracy | None = None
    caution: str | None = None
    smallest_p: float = 0.0
    clusters: int | None = None
    reason: str | None = None
    spread: float = 0.0
    error: float = 0.0
    yes_or_no: bool = False

    @property
    def units(self) -> int:
        """The number of independent units: clusters, or questions."""
        return self.questions if self.clusters is None else self.clusters


class Draws(NamedTuple):
    """The number of resamples behind an interval or a test, and their seed."""

    resamples: int = RESAMPLES
    seed: int = SEED


def compare_pairs(
    measure: str,
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    span: float | None = None,
    clusters: Sequence[int] | None = None,
) -> PairedResult:
    """Compare the values of one measure on the same questions, in the same order.

    Parameters
    ----------
    span
        The largest possible difference, which no interval exceeds; None if the measure is unbounded.
    clusters
        The number of each question's cluster, if questions aren't independent.
    resamples
        With 0 and without clusters nothing is drawn, for many comparisons of many questions: the interval is Student's
        t, and the p-value :func:`signs_bound`.

    Raises
    ------
    ValueError
        The lists differ in length, or are empty.
    """
    import numpy

    one, two = numpy.asarray(first, dtype=float), numpy.asarray(second, dtype=float)
    if one.shape != two.shape or not one.size:
        raise ValueError("two lists of the same questions are needed, and at least one question")
    differences = differences_of(one, two)
    mean_one, mean_two = (math.fsum(values) / len(values) for values in (first, second))
    delta = 0.0 if equal(mean_one, mean_two) else math.fsum(differences) / differences.size
    spread = 0.0 if alike(differences) else float(differences.std(ddof=1))
    sums = None if clusters is None else ClusterSums.of(differences, clusters)
    if sums is None and not resamples:
        low, high = _student(delta, spread, int(differences.size), span)
        error = spread / differences.size**0.5
    elif sums is None or clusters is None:
        low, high = interval(differences, resamples=resamples, seed=seed, span=span)
        error = spread / differences.size**0.5
    else:
        low, high = clustered_interval(differences, clusters, resamples=resamples, seed=seed, span=span)
        error = 0.0 if sums.clusters < 2 or sums.alike else sums.error
    units = int(differences.size) if sums is None else sums.clusters
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    yes_or_no = sums is None and bool(numpy.isin((one, two), (0.0, 1.0)).all())
    found = detectable_share(wins + losses, units) if yes_or_no and error else detectable(error, units)
    if sums is None and not resamples:
        p_value = signs_bound(float(differences.sum()), float((differences**2).sum()))
    else:
        p_value = randomisation_p(differences if sums is None else sums.sums, resamples=resamples, seed=seed)
    return PairedResult(
        measure=measure,
        questions=int(differences.size),
        first=mean_one,
        second=mean_two,
        delta=delta,
        low=low,
        high=high,
        p_value=p_value,
        p_corrected=p_value,
        effect=delta / spread if spread > 0 else None,
        wins=wins,
        losses=losses,
        ties=int((differences == 0).sum()),
        detectable=found,
        caution=None if low is None or high is None else caution_of(differences, (low, high), span, sums),
        smallest_p=smallest_p(units, resamples),
        clusters=None if sums is None else units,
        reason=_no_interval(differences, sums) if low is None else None,
        spread=spread,
        error=error,
        yes_or_no=yes_or_no,
    )


def differences_of(first: Any, second: Any) -> Any:
    """Return second minus first, exactly 0 if the two are equal up to rounding (``records.bounds``)."""
    import numpy

    one, two = numpy.asarray(first, dtype=float), numpy.asarray(second, dtype=float)
    differences = two - one
    rounding = TOLERANCE * numpy.maximum(1.0, numpy.maximum(numpy.abs(one), numpy.abs(two)))
    differences[numpy.abs(differences) <= rounding] = 0.0
    return differences


def _no_interval(differences: Any, sums: ClusterSums | None) -> str:
    if sums is not None:
        return without_interval(sums)
    if differences.size >= FEWEST_EQUAL:
        return ALL_EQUAL
    return f"too few questions for an interval: {counted(int(differences.size), 'question')}"


def caution_of(
    differences: Any, ends: tuple[float, float], span: float | None = None, sums: ClusterSums | None = None
) -> str | None:
    """Return why the interval of a mean difference, which has these ends, may be too narrow; None if nothing says so.

    The last reason is that of skewed differences: where the interval excludes 0, and would hold it if the questions
    that are too rare to have been drawn differ by as much as possible the other way.
    """
    questions, different = int(differences.size), int((differences != 0).sum())
    if sums is not None and (caution := cautioned(sums)):
        return caution
    if alike(differences):
        return ALL_EQUAL
    if questions < FEW_QUESTIONS:
        return f"the interval may be too narrow: {questions} questions, fewer than {FEW_QUESTIONS}"
    if different < FEW_DIFFERENT:
        return f"the interval may be too narrow: {different} of {questions} differ, fewer than {FEW_DIFFERENT}"
    units = questions if sums is None else sums.effective
    mean, share = abs(math.fsum(differences) / questions), unseen_share(units)
    if span is not None and not ends[0] <= 0 <= ends[1] and mean <= share * (mean + span):
        return (
            "the interval may be too narrow: rare and large differences the other way may be missing "
            f"among {counted(questions, 'question')}"
        )
    return None


def randomisation_p(differences: Any, *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """Return the two-sided p-value of the paired randomisation test (Fisher; Smucker et al. 2007).

    Under the null hypothesis each difference could as well have the other sign. All sign patterns are tried if there
    are at most ``resamples`` of them; else that many are drawn, and the observed pattern counts as one. Differences of
    0 don't matter and are ignored.
    """
    import numpy

    values = numpy.asarray(differences, dtype=float)
    values = values[values != 0]
    if not values.size:
        return 1.0
    observed = abs(values.sum())
    # A sum that differs by rounding only must count as equal.
    bound = observed - 1e-12 * float(numpy.abs(values).sum())
    if values.size < 63 and 2**values.size <= resamples:
        patterns = numpy.arange(2**values.size)[:, None] >> numpy.arange(values.size)
        sums = numpy.abs((1.0 - 2.0 * (patterns & 1)) @ values)
        return float((sums >= bound).mean())
    random = numpy.random.default_rng(seed)
    rows = max(1, DRAWN_TOGETHER // values.size)
    extreme, left = 0, resamples
    while left:
        count = min(rows, left)
        signs = random.integers(0, 2, size=(count, values.size), dtype=numpy.int8)
        sums = numpy.abs(2.0 * (signs @ values) - values.sum())
        extreme += int((sums >= bound).sum())
        left -= count
    return (extreme + 1) / (resamples + 1)


def signs_bound(total: float, squares: float) -> float:
    """Return a bound of the p-value of :func:`randomisation_p` from the sum of the differences and of their squares.

    For a sum S of values with random signs, P(abs(S) >= x) is at most 3.1787 times that of a normal variable of its
    variance (Bentkus and Dzindzalieta 2015, *Bernoulli* 21). Unlike the share of drawn signs it has no smallest value.

    >>> signs_bound(10.0, 10.0) < 0.006, signs_bound(0.0, 10.0)
    (True, 1.0)
    """
    from scipy import stats

    return 1.0 if squares <= 0 else min(1.0, float(_RADEMACHER * 2 * stats.norm.sf(abs(total) / squares**0.5)))


def _student(mean: float, spread: float, count: int, span: float | None) -> tuple[float | None, float | None]:
    """Return Student's interval of a mean difference, within ``span`` on either side of 0."""
    from scipy import stats

    if count < FEWEST_EQUAL:
        return None, None
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * spread / count**0.5
    most = math.inf if span is None else span
    return max(-most, mean - reach), min(most, mean + reach)


def smallest_p(questions: int, resamples: int = RESAMPLES) -> float:
    """Return the smallest p-value that :func:`randomisation_p` can give: all differences have one sign.

    With ``n`` questions, 2 of 2^n sign patterns are as extreme; if patterns are drawn, only the observed one.

    >>> smallest_p(5), smallest_p(6), smallest_p(60, resamples=99)
    (0.0625, 0.03125, 0.01)
    """
    if questions < 63 and 2**questions <= resamples:
        return min(1.0, 2.0 ** (1 - questions))
    return 1 / (resamples + 1)
