"""Compares a judge's mean with a person's on the same answers, and estimates the true accuracy from both."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.analysis.paired import ALL_EQUAL, caution_of
from graphkit.plugins.judging.trust.calibration import Corrected, PredictionPowered, prediction_powered, rogan_gladen
from graphkit.plugins.judging.trust.label_scales import LabelScale
from graphkit.plugins.judging.trust.sample_estimates import proportion
from graphkit.scoring.intervals import alike, around_equal, interval
from graphkit.scoring.score_intervals import bounded_interval


@dataclass(frozen=True, slots=True)
class Inflation:
    """Means and accuracies of a judge's grades, raw and corrected by a person's labels."""

    #: The means over the answers that both graded.
    judge: float | None
    person: float | None
    excess: Estimate  # judge minus person on these answers, with its interval
    #: The mean of all of the judge's grades, and a person's by prediction-powered inference.
    raw: float | None
    calibrated: PredictionPowered
    accuracy: Estimate | None = None  # the share of all answers that the judge calls right
    #: The true share by prediction-powered inference, and by Rogan and Gladen's correction; None if the scale has no
    #: right and wrong.
    calibrated_accuracy: PredictionPowered | None = None
    corrected_accuracy: Corrected | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        names = {"judge": "judge_mean", "person": "person_mean", "raw": "raw_mean", "calibrated": "calibrated_mean"}
        return {names.get(name, name): value for name, value in fields_of(self).items()}


def inflation(scale: LabelScale, judged: Mapping[str, str], labels: Mapping[str, str]) -> Inflation:
    """Return by how much a judge inflates.

    ``judged`` and ``labels`` are the judge's and the person's label by question; answers without a judge's label don't
    count.
    """
    both = [question for question in labels if question in judged]
    others = [question for question in judged if question not in labels]
    own = [scale.value(judged[question]) for question in both]
    truth = [scale.value(labels[question]) for question in both]
    rest = [scale.value(judged[question]) for question in others]
    every = own + rest
    means = Inflation(
        judge=math.fsum(own) / len(own) if own else None,
        person=math.fsum(truth) / len(truth) if truth else None,
        excess=mean_difference(truth, own, scale.highest - scale.lowest),
        raw=math.fsum(every) / len(every) if every else None,
        calibrated=prediction_powered(truth, own, rest, scale.highest, scale.lowest),
    )
    if not scale.right:
        return means
    called = {question: judged[question] in scale.right for question in judged}
    right = [labels[question] in scale.right for question in both]
    hits = sum(called[question] and known for question, known in zip(both, right, strict=True))
    rejected = sum(not called[question] and not known for question, known in zip(both, right, strict=True))
    passed = sum(called.values())
    return dataclasses.replace(
        means,
        accuracy=proportion(passed, len(called), "the judge graded nothing"),
        calibrated_accuracy=prediction_powered(
            [float(known) for known in right],
            [float(called[question]) for question in both],
            [float(called[question]) for question in others],
        ),
        corrected_accuracy=rogan_gladen(passed, len(called), (hits, sum(right)), (rejected, len(right) - sum(right))),
    )


def mean_difference(first: list[float], second: list[float], span: float) -> Estimate:
    """Return the mean of second minus first over the same answers, with its interval, or a caution beside it.

    The interval is the wider on each side of that of paired differences and, at the effective number of answers, of the
    score interval of the mean as a share of the way from ``-span`` to ``span``, the extent of the grades. Equal
    differences don't promise that of other answers (:func:`~graphkit.scoring.intervals.around_equal`).
    """
    import numpy

    if not first:
        return Estimate(None, reason="no answer was graded by both")
    differences = numpy.asarray(second, dtype=float) - numpy.asarray(first, dtype=float)
    size, value = len(first), math.fsum(differences) / len(first)
    if size < 2:
        return Estimate(value, reason="one answer doesn't show the spread", size=size)
    span = max(span, float(abs(differences).max()))
    if alike(differences):
        return Estimate(value, *around_equal(value, size, span), ALL_EQUAL, size)
    paired = interval(differences, span=span)
    low, high = bounded_interval(value, float(differences.var(ddof=1)) / size, size, -span, span, size - 1)
    assert paired[0] is not None
    assert paired[1] is not None
    low, high = min(low, paired[0]), max(high, paired[1])
    return Estimate(value, low, high, caution_of(differences, (low, high), span), size)
