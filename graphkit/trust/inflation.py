"""How far a judge inflates: its mean against a person's on the same answers, and what the true accuracy is by both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.calibration import Corrected, PredictionPowered, prediction_powered, rogan_gladen
from graphkit.analysis.estimates import Estimate, proportion
from graphkit.analysis.paired import interval
from graphkit.trust.label_scales import GradeScale


@dataclass(frozen=True, slots=True)
class Inflation:
    """Means and accuracies of a judge's grades, beside what a person's labels make of them.

    Attributes
    ----------
    judge, person
        The means on the answers that both graded.
    excess
        Judge minus person on these, with its interval over the answers.
    raw, calibrated
        The mean of all of the judge's grades, and what a person's would be by prediction-powered inference.
    accuracy
        The share of all answers that the judge calls right.
    calibrated_accuracy, corrected_accuracy
        The true share by prediction-powered inference, and by Rogan and Gladen's correction. None of values that are
        neither right nor wrong.
    """

    judge: float | None
    person: float | None
    excess: Estimate
    raw: float | None
    calibrated: PredictionPowered
    accuracy: Estimate | None = None
    calibrated_accuracy: PredictionPowered | None = None
    corrected_accuracy: Corrected | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        more = {
            "accuracy": self.accuracy,
            "calibrated_accuracy": self.calibrated_accuracy,
            "corrected_accuracy": self.corrected_accuracy,
        }
        return {
            "judge_mean": self.judge,
            "person_mean": self.person,
            "excess": self.excess.as_json(),
            "raw_mean": self.raw,
            "calibrated_mean": self.calibrated.as_json(),
            **{name: None if one is None else one.as_json() for name, one in more.items()},
        }


def inflation(scale: GradeScale, judged: Mapping[str, str], labels: Mapping[str, str]) -> Inflation:
    """Return how far a judge inflates.

    Parameters
    ----------
    judged, labels
        The judge's and the person's label by question; of the person's, those that the judge graded count.
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
    return Inflation(
        means.judge,
        means.person,
        means.excess,
        means.raw,
        means.calibrated,
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
