"""Paired comparison of two runs: intervals, tests, effect sizes, and what the sample could have shown.

The question is the unit: two runs are compared on the questions that both were scored on, and nothing inside a question
is treated as independent. Randomness is seeded, so that the same runs give the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

RESAMPLES = 10_000
SEED = 20_251
CONFIDENCE = 0.95
POWER = 0.8

#: A grade of 0 to 10 counts as right from here on.
RIGHT = 7

#: Differences that spread less than this are equal: their squares are beyond the range of floating point.
_EQUAL = 1e-100

#: Sign flips are drawn this many at a time, to keep memory flat.
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of right answers of two runs, their difference in percentage points, and how that reads."""

    first: float
    second: float
    points: float
    reading: str


@dataclass(frozen=True, slots=True)
class PairedResult:
    """One measure of two runs over the same questions; every difference is second minus first.

    Attributes
    ----------
    low, high
        The 95% confidence interval of the mean difference: BCa bootstrap; None for fewer than two questions.
    p_value
        Two-sided, of the paired randomisation test: how often differences with random signs are as far from 0.
    p_holm
        The p-value after Holm's correction over the measures that are shown together.
    effect
        Cohen's d_z: the mean difference over its standard deviation; None where that is 0.
    detectable
        The smallest mean difference that this many questions show with 80% power at the 5% level.
    accuracy
        Of values that are all 0 or 1, and of whole ones of 0 to 10; None of others.
    """

    measure: str
    questions: int
    first: float
    second: float
    delta: float
    low: float | None
    high: float | None
    p_value: float
    p_holm: float
    effect: float | None
    wins: int
    losses: int
    ties: int
    detectable: float | None
    accuracy: Accuracy | None = None


def compare_pairs(
    measure: str,
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairedResult:
    """Compare the values of one measure on the same questions, in the same order.

    Raises
    ------
    ValueError
        The lists differ in length, or are empty.
    """
    import numpy

    one, two = numpy.asarray(first, dtype=float), numpy.asarray(second, dtype=float)
    if one.shape != two.shape or not one.size:
        raise ValueError("two lists of the same questions are needed, and at least one question")
    differences = two - one
    delta = float(differences.mean())
    spread = float(differences.std(ddof=1)) if differences.size > 1 else 0.0
    low, high = interval(differences, resamples=resamples, seed=seed)
    p_value = randomisation_p(differences, resamples=resamples, seed=seed)
    return PairedResult(
        measure=measure,
        questions=int(differences.size),
        first=float(one.mean()),
        second=float(two.mean()),
        delta=delta,
        low=low,
        high=high,
        p_value=p_value,
        p_holm=p_value,
        effect=delta / spread if spread > 0 else None,
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
        ties=int((differences == 0).sum()),
        detectable=detectable(spread, int(differences.size)),
    )


def right_from(values: Sequence[float]) -> int | None:
    """Return the least value that is right: of grades of 0 and 1 it is 1, of whole ones up to 10 it is 7; else None.

    >>> right_from([0, 1, 1]), right_from([1, 4, 10]), right_from([0.5, 1])
    (1, 7, None)
    """
    if not values or any(value != int(value) or not 0 <= value <= 10 for value in values):
        return None
    return 1 if max(values) <= 1 else RIGHT


def interval(
    differences: Any, *, resamples: int = RESAMPLES, seed: int = SEED, confidence: float = CONFIDENCE
) -> tuple[float | None, float | None]:
    """Return the BCa bootstrap interval of a mean (Efron 1987); of equal differences their value, of one none."""
    import numpy
    from scipy import stats

    values = numpy.asarray(differences, dtype=float)
    if values.size < 2:
        return None, None
    if numpy.ptp(values) < _EQUAL:
        return float(values.mean()), float(values.mean())
    found = stats.bootstrap(
        (values,),
        numpy.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, _CHUNK // values.size),
        method="BCa",
        rng=numpy.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def randomisation_p(differences: Any, *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """Return the two-sided p-value of the paired randomisation test (Fisher; Smucker et al. 2007).

    Under the null hypothesis each difference could as well have the other sign. All sign patterns are tried where there
    are no more of them than ``resamples``; else that many are drawn, and the observed pattern counts as one of them.
    Differences of 0 don't matter and are left out.
    """
    import numpy

    values = numpy.asarray(differences, dtype=float)
    values = values[values != 0]
    if not values.size:
        return 1.0
    observed = abs(values.sum())
    # What rounding makes of an equal sum must still count as equal.
    bound = observed - 1e-12 * float(numpy.abs(values).sum())
    if values.size < 63 and 2**values.size <= resamples:
        patterns = numpy.arange(2**values.size)[:, None] >> numpy.arange(values.size)
        sums = numpy.abs((1.0 - 2.0 * (patterns & 1)) @ values)
        return float((sums >= bound).mean())
    random = numpy.random.default_rng(seed)
    rows = max(1, _CHUNK // values.size)
    extreme, left = 0, resamples
    while left:
        count = min(rows, left)
        signs = random.integers(0, 2, size=(count, values.size), dtype=numpy.int8)
        sums = numpy.abs(2.0 * (signs @ values) - values.sum())
        extreme += int((sums >= bound).sum())
        left -= count
    return (extreme + 1) / (resamples + 1)


def detectable(spread: float, questions: int) -> float | None:
    """Return the smallest mean difference that a paired t-test finds with 80% power at 5%, or None for one question."""
    from scipy import stats

    if questions < 2:
        return None
    freedom = questions - 1
    quantiles = float(stats.t.ppf(0.975, freedom)) + float(stats.t.ppf(POWER, freedom))
    return float(quantiles * spread / questions**0.5)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's step-down correction (Holm 1979), in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
