"""Compares a judge's mean with a person's on the same answers, and estimates the true accuracy from both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.calibration import Corrected, PredictionPowered, prediction_powered, rogan_gladen
from graphkit.analysis.estimates import Estimate, fields_of, proportion
from graphkit.scoring.intervals import interval
from graphkit.trust.label_scales import LabelScale


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
        judge=sum(own) / len(own) if own else None,
        person=sum(truth) / len(truth) if truth else None,
        excess=mean_difference(truth, own),
        raw=sum(every) / len(every) if every else None,
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


def mean_difference(first: list[float], second: list[float]) -> Estimate:
    """Return the mean of second minus first over the same answers, with its interval."""
    if not first:
        return Estimate(None, reason="no answer was graded by both")
    differences = [two - one for one, two in zip(first, second, strict=True)]
    low, high = interval(differences)
    value = sum(differences) / len(differences)
    reason = "too few answers, or too few that differ, to tell the spread" if low is None else None
    return Estimate(value, low, high, reason, len(differences))
