"""Estimates of the true accuracy if a judge graded all answers and a person some of them.

Both have intervals. Prediction-powered inference corrects the judge's mean by its error on the labelled part. Rogan and
Gladen's correction treats the share that the judge calls right as the result of a test with a known sensitivity and
specificity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.sample_estimates import bounded, proportion
from graphkit.records.bounds import over
from graphkit.scoring.score_intervals import normal_quantile


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean by prediction-powered inference.

    Attributes
    ----------
    trust
        The weight of the judge's grades (lambda), from 0 to 1.
    error
        The standard error; None for a single label.
    """

    estimate: Estimate
    trust: float
    error: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the estimate with lambda and the standard error."""
        return {**self.estimate.as_json(), "lambda": self.trust, "standard_error": self.error}


def prediction_powered(
    labels: Sequence[float], judged: Sequence[float], others: Sequence[float], highest: float = 1.0, lowest: float = 0.0
) -> PredictionPowered:
    """Return the mean that a person would give to all answers, by PPI++ (Angelopoulos, Duchi and Zrnic 2023).

    The estimate is ``mean(labels - t judged) + t mean(others)``, with the trust ``t`` that makes its variance smallest,
    between 0 and 1. The interval is Wilson's at the effective sample size, since the normal one is too narrow for a few
    dozen labels. If the judge is used, half an answer of each kind is added to its variance (Agresti and Min 2005),
    since a few dozen labels may contain none of a judge's rare mistakes.

    Parameters
    ----------
    labels, judged
        The person's and the judge's grades of the same, randomly drawn answers.
    others
        The judge's grades of all other answers.
    highest, lowest
        The bounds of the grades.

    Raises
    ------
    ValueError
        Labels and the judge's grades differ in number, or a grade is out of bounds.
    """
    import numpy

    extent = highest - lowest or 1.0  # avoids a division by 0 if all grades are worth the same
    truth, own, rest = ((numpy.asarray(some, dtype=float) - lowest) / extent for some in (labels, judged, others))
    if truth.size != own.size:
        raise ValueError("each label needs the judge's grade of the same answer")
    if any(over(float(abs(some - 0.5).max()), 0.5) for some in (truth, own, rest) if some.size):
        raise ValueError(f"a grade isn't between {lowest:g} and {highest:g}")
    count, more = truth.size, rest.size
    if not count:
        return PredictionPowered(Estimate(None, reason="nobody graded any of it"), 0.0, None)
    trust = 0.0
    if count > 1 and more:
        spread = float(numpy.concatenate([own, rest]).var(ddof=1))
        shared = float(((truth - truth.mean()) * (own - own.mean())).mean())
        trust = min(1.0, max(0.0, shared / ((1 + count / more) * spread))) if spread > 0 else 0.0
    value = float((truth - trust * own).mean() + (trust * rest.mean() if more else 0.0))
    value = min(1.0, max(0.0, value))
    if count == 1:
        estimate = Estimate(lowest + value * extent, reason="one label says nothing of the spread", size=1)
        return PredictionPowered(estimate, trust, None)
    variance = float((truth - trust * own).var(ddof=1)) / count
    variance += trust**2 * float(rest.var(ddof=1)) / more if more > 1 else 0.0
    found = bounded(value, variance + _allowance(truth, own, trust), count)
    assert found.low is not None
    assert found.high is not None
    value, low, high = (lowest + one * extent for one in (value, found.low, found.high))
    estimate = Estimate(value, low, high, size=count, shape=found.shape)
    return PredictionPowered(estimate, trust, variance**0.5 * extent)


def _allowance(truth: Any, own: Any, trust: float) -> float:
    """Return the growth of the correction's variance from half an answer at each corner of the two grades."""
    import numpy

    if trust == 0:
        return 0.0
    seen = truth - trust * own
    corners = numpy.array([0.0, 1.0, -trust, 1.0 - trust])
    values, weights = numpy.concatenate([seen, corners]), numpy.r_[numpy.ones(seen.size), numpy.full(4, 0.5)]
    middle = float((weights * values).sum() / weights.sum())
    spread = float((weights * (values - middle) ** 2).sum() / weights.sum())
    return max(0.0, spread - float(seen.var(ddof=1))) / float(seen.size)


@dataclass(frozen=True, slots=True)
class Corrected:
    """An accuracy corrected by sensitivity and specificity; ``clipped`` if it left the range of 0 to 1."""

    estimate: Estimate
    clipped: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the estimate, and whether it was clipped."""
        return {**self.estimate.as_json(), "clipped": self.clipped}


def rogan_gladen(passed: int, items: int, right: tuple[int, int], wrong: tuple[int, int]) -> Corrected:
    """Return the true share of right answers (Rogan and Gladen 1978), with the interval of Lang and Reiczigel (2014).

    Parameters
    ----------
    passed, items
        How many answers the judge calls right, of how many.
    right
        How many of the answers that a person calls right the judge calls right too, of how many (sensitivity).
    wrong
        How many of the answers that a person calls wrong the judge calls wrong too, of how many (specificity).
    """
    for (_, known), word in ((right, "right"), (wrong, "wrong")):
        if not known:
            unknown = f"no graded answer is {word}, so it is unknown how the judge grades such answers"
            return Corrected(Estimate(None, reason=unknown, size=items))
    if not items:
        return Corrected(Estimate(None, reason="the judge graded nothing"))
    share, sensitivity, specificity = passed / items, right[0] / right[1], wrong[0] / wrong[1]
    if sensitivity + specificity <= 1 + 1e-12:
        useless = "sensitivity and specificity together are not over 1: the judge says no more than chance"
        return Corrected(Estimate(None, reason=useless, size=items))
    raw = (share + specificity - 1) / (sensitivity + specificity - 1)
    value = min(1.0, max(0.0, raw))
    clipped = abs(value - raw) > 1e-12
    reason = "the correction left the range of 0 to 1 and was clipped" if clipped else None
    bounds = _lang_reiczigel(passed, items, right, wrong)
    if bounds is None:
        few = "too few labels for an interval: they can't distinguish the judge from chance"
        return Corrected(Estimate(value, reason=few, size=items), clipped)
    low, high = (min(1.0, max(0.0, bound)) for bound in bounds)
    return Corrected(Estimate(value, min(low, value), max(high, value), reason, items), clipped)


def _lang_reiczigel(
    passed: int, items: int, right: tuple[int, int], wrong: tuple[int, int]
) -> tuple[float, float] | None:
    """Return the interval of the corrected share, before it is clipped: each share is moved a little to the middle."""
    z = normal_quantile()
    tested, ill, well = items + z * z, right[1] + 2, wrong[1] + 2
    share, sensitivity, specificity = (passed + z * z / 2) / tested, (right[0] + 1) / ill, (wrong[0] + 1) / well
    slope = sensitivity + specificity - 1
    if slope <= 1e-12:
        return None
    truth = (share + specificity - 1) / slope
    of_ill, of_well = sensitivity * (1 - sensitivity) / ill, specificity * (1 - specificity) / well
    middle = truth + 2 * z * z * (truth * of_ill - (1 - truth) * of_well)
    variance = share * (1 - share) / tested + truth**2 * of_ill + (1 - truth) ** 2 * of_well
    reach = z * variance**0.5 / slope
    return middle - reach, middle + reach


def sensitivity(both: int, right: int) -> Estimate:
    """Return the share of right answers that the judge calls right, with Wilson's interval."""
    return proportion(both, right, "the person called no answer right")


def specificity(neither: int, wrong: int) -> Estimate:
    """Return the share of wrong answers that the judge calls wrong, with Wilson's interval."""
    return proportion(neither, wrong, "the person called no answer wrong")
