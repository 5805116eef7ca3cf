"""A spot check: a person grades some of the answers that a judge graded, and the two are compared.

The sample is drawn by equal steps through the answers in the order of their grades, so that each grade has its share in
it and every answer the same chance: what is found holds for all without weights.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.agreement import alpha, gwet, kappa, raw_agreement
from graphkit.analysis.calibration import sensitivity, specificity
from graphkit.analysis.estimates import Estimate, needed, proportion
from graphkit.analysis.spot_check_files import KeptCheck
from graphkit.records.bounds import over, under
from graphkit.records.scores import Score
from graphkit.trust.advice import advice
from graphkit.trust.inflation import Inflation, inflation
from graphkit.trust.label_scales import NEAR, GradeScale, numbers_in, persons_scale

#: How many answers are drawn where nobody says otherwise.
SIZE = 15

#: The width of an interval that the number of labels still needed is told for, where nobody says otherwise.
WIDTH = 0.2

#: Agreement under this share calls for a change of the judge.
ENOUGH = 0.8

NO_CATEGORIES = "the grades are numbers, not categories; see alpha"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that judge and person grade differently, ``distance`` steps of the scale apart, and what each said."""

    question: str
    judge: str
    person: str
    distance: float
    confidence: float | None = None
    note: str | None = None
    explanation: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all that is known of it."""
        return {
            "question": self.question,
            "judge": self.judge,
            "person": self.person,
            "distance": self.distance,
            "confidence": self.confidence,
            "note": self.note,
            "explanation": self.explanation,
        }


@dataclass(frozen=True)
class SpotCheck:
    """What a spot check found.

    Attributes
    ----------
    judged
        How many answers the judge graded.
    agreement
        The share of equal labels; of numbers from 0 to 1, the share of those that lie no further apart than 0.1.
    kappa, weighted_kappa
        Cohen's; weighted linearly, where the labels have an order.
    ac1, ac2, alpha
        Gwet's, the second weighted linearly; Krippendorff's, ordinal where the labels have an order, of numbers that
        of intervals.
    sensitivity, specificity
        Of the judge as a test for right answers.
    confusion
        By the person's label and then the judge's, how often.
    disagreements
        The widest apart first, then those of which the judge was most sure.
    advice
        What to change; empty where nothing is to be.
    needed
        By the name of a figure, how many labels in all an interval of the wanted ``width`` takes.
    scale
        All grades that could be given.
    """

    run: str
    measure: str
    judge: str
    version: str | int | None
    judged: int
    labelled: int
    agreement: Estimate
    kappa: Estimate
    weighted_kappa: Estimate | None
    ac1: Estimate
    ac2: Estimate | None
    alpha: Estimate
    sensitivity: Estimate | None
    specificity: Estimate | None
    confusion: Mapping[str, Mapping[str, int]]
    disagreements: Sequence[Disagreement]
    inflation: Inflation
    advice: Sequence[str]
    width: float
    needed: Mapping[str, int | None]
    scale: GradeScale

    @property
    def figures(self) -> dict[str, Estimate]:
        """The figures that there are, by their names."""
        named = {
            "agreement": self.agreement,
            "kappa": self.kappa,
            "weighted_kappa": self.weighted_kappa,
            "ac1": self.ac1,
            "ac2": self.ac2,
            "alpha": self.alpha,
            "sensitivity": self.sensitivity,
            "specificity": self.specificity,
        }
        return {name: one for name, one in named.items() if one is not None}

    @property
    def gated(self) -> Estimate:
        """The kappa that a gate looks at: weighted where the labels have an order."""
        return self.kappa if self.weighted_kappa is None else self.weighted_kappa

    def as_json(self) -> dict[str, Any]:
        """Return everything, as it is kept and printed."""
        return {
            "run": self.run,
            "measure": self.measure,
            "judge": self.judge,
            "version": self.version,
            "judged": self.judged,
            "n": self.labelled,
            **{name: one.as_json() for name, one in self.figures.items()},
            "confusion": {person: dict(row) for person, row in self.confusion.items()},
            "disagreements": [one.as_json() for one in self.disagreements],
            "inflation": self.inflation.as_json(),
            "advice": list(self.advice),
            "needed": {"width": self.width, **self.needed},
            "scale": list(self.scale.categories) or None,
        }

    def kept(self) -> KeptCheck:
        """Return what is kept for gates."""
        found = self.gated
        return KeptCheck(
            run=self.run,
            measure=self.measure,
            judge=self.judge,
            version=self.version,
            n=self.labelled,
            kappa=found.value,
            kappa_low=found.low,
            kappa_high=found.high,
            reason=found.reason,
            statistics=self.as_json(),
        )


def draw(scores: Sequence[Score], size: int, seed: int) -> list[Score]:
    """Return a sample of one judge's scores by one measure, each grade in proportion, in a random order.

    A score without a value isn't drawn.
    """
    graded = sorted((score for score in scores if score.number is not None), key=lambda score: score.question)
    source = random.Random(seed)  # noqa: S311 - a sample that can be drawn again, not a secret
    source.shuffle(graded)
    graded.sort(key=lambda score: (score.number or 0.0, score.grade or ""))
    if size < len(graded):
        step, start = len(graded) / size, source.random()
        graded = [graded[min(len(graded) - 1, int((start + place) * step))] for place in range(size)]
    source.shuffle(graded)
    return graded


def check(
    scores: Sequence[Score],
    labels: Mapping[str, str],
    *,
    notes: Mapping[str, str] | None = None,
    scale: GradeScale | None = None,
    width: float = WIDTH,
) -> SpotCheck:
    """Compare one judge's scores of one run by one measure with a person's labels, by question.

    A label of an answer that the judge didn't grade counts nowhere.

    Parameters
    ----------
    scores
        All that the judge gave by this measure: those that nobody looked at count for the calibrated accuracy.
    width
        Of an interval, for how many labels it takes.

    Raises
    ------
    InputError
        No person can be asked on the scale of these values.
    """
    if not scores:
        raise ValueError("a spot check needs scores of a judge")
    first = scores[0]
    scale = scale or persons_scale(first.measure, scores, numbers_in(labels.values()))
    judged = {score.question: label for score in scores if (label := scale.label_of(score)) is not None}
    both = [question for question in labels if question in judged]
    person, own = [labels[question] for question in both], [judged[question] for question in both]
    found = _coefficients(scale, person, own)
    right = [label in scale.right for label in person]
    called = [label in scale.right for label in own]
    hits = sum(one and two for one, two in zip(right, called, strict=True))
    rejected = sum(not one and not two for one, two in zip(right, called, strict=True))
    tests = (
        (sensitivity(hits, sum(right)), specificity(rejected, len(right) - sum(right))) if scale.right else (None, None)
    )
    confusion = _confusion(scale, person, own)
    measured = inflation(scale, judged, labels)
    disagreements = _disagreements(scale, both, scores, judged, labels, notes or {})
    agreement = found["agreement"]
    assert agreement is not None
    counted = ("agreement", "weighted_kappa" if scale.ordered else "kappa")
    return SpotCheck(
        run=first.run,
        measure=first.measure,
        judge=first.grader or "nobody named",
        version=first.version,
        judged=len(judged),
        labelled=len(both),
        agreement=agreement,
        kappa=found["kappa"] or Estimate(None, reason=NO_CATEGORIES, size=len(both)),
        weighted_kappa=found["weighted_kappa"],
        ac1=found["ac1"] or Estimate(None, reason=NO_CATEGORIES, size=len(both)),
        ac2=found["ac2"],
        alpha=found["alpha"] or Estimate(None, reason="no item has two grades"),
        sensitivity=tests[0],
        specificity=tests[1],
        confusion=confusion,
        disagreements=disagreements,
        inflation=measured,
        advice=advice(scale, person, own) if agreement.value is not None and under(agreement.value, ENOUGH) else (),
        width=width,
        needed={name: needed(one, width) for name in counted if (one := found[name]) is not None},
        scale=scale,
    )


def _coefficients(scale: GradeScale, person: list[str], own: list[str]) -> dict[str, Estimate | None]:
    """Return the figures of agreement that the scale allows."""
    pairs, names = list(zip(person, own, strict=True)), scale.categories
    if not names:
        near = sum(not over(abs(float(one) - float(two)), NEAR) for one, two in pairs)
        found: dict[str, Estimate | None] = dict.fromkeys(("kappa", "weighted_kappa", "ac1", "ac2"))
        numbers = [(float(one), float(two)) for one, two in pairs]
        return found | {
            "agreement": proportion(near, len(pairs), "no item was graded by both"),
            "alpha": alpha(numbers, "interval"),
        }
    return {
        "agreement": raw_agreement(person, own),
        "kappa": kappa(person, own, names),
        "weighted_kappa": kappa(person, own, names, "linear") if scale.ordered else None,
        "ac1": gwet(person, own, names),
        "ac2": gwet(person, own, names, "linear") if scale.ordered else None,
        "alpha": alpha(pairs, "ordinal" if scale.ordered else "nominal", names),
    }


def _confusion(scale: GradeScale, person: list[str], own: list[str]) -> dict[str, dict[str, int]]:
    """Return how often each label of the judge stands against each of the person; empty of numbers."""
    if not scale.labels:
        return {}
    counts = Counter(zip(person, own, strict=True))
    used = [label for label in scale.categories if any(label in pair for pair in counts)]
    return {label: {other: counts[label, other] for other in used} for label in used}


def _disagreements(
    scale: GradeScale,
    both: Sequence[str],
    scores: Sequence[Score],
    judged: Mapping[str, str],
    labels: Mapping[str, str],
    notes: Mapping[str, str],
) -> list[Disagreement]:
    """Return the answers that are graded differently, worst first."""
    said = {score.question: score for score in scores}
    places = {label: place for place, label in enumerate(scale.categories)}
    found = []
    for question in both:
        one, two = judged[question], labels[question]
        apart = abs(places[one] - places[two]) if places else abs(float(one) - float(two))
        if one != two and (places or over(apart, NEAR)):
            score = said[question]
            note = notes.get(question)
            found.append(Disagreement(question, one, two, apart, score.confidence, note, score.explanation))
    return sorted(found, key=lambda one: (-one.distance, -(one.confidence or 0.0), one.question))
