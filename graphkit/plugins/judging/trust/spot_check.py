"""Spot checks: a person grades some of the answers that a judge graded, and the two are compared.

The sample is drawn by equal steps through the answers in the order of their grades: each grade has its share, and every
answer the same chance. The figures hold for all answers without weights.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate, as_plain, fields_of
from graphkit.plugins.judging.trust.advice import advice
from graphkit.plugins.judging.trust.agreement import alpha, gwet, kappa, raw_agreement
from graphkit.plugins.judging.trust.calibration import sensitivity, specificity
from graphkit.plugins.judging.trust.correlation import pearson, spearman
from graphkit.plugins.judging.trust.inflation import Inflation, inflation
from graphkit.plugins.judging.trust.label_scales import NEAR, LabelScale, numbers_in, persons_scale
from graphkit.plugins.judging.trust.sample_estimates import needed, proportion
from graphkit.plugins.judging.trust.spot_check_files import KeptCheck
from graphkit.records.bounds import over, under
from graphkit.records.scores import Score

#: The default number of answers.
SIZE = 15

#: The default width of the interval for which the number of needed labels is computed.
WIDTH = 0.2

#: Below this agreement the spot check advises to change the judge.
ENOUGH = 0.8

NO_CATEGORIES = "the grades are numbers, not categories; see alpha"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that judge and person grade differently, ``distance`` steps of the scale apart, and what each wrote."""

    question: str
    judge: str
    person: str
    distance: float
    confidence: float | None = None
    note: str | None = None
    explanation: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return fields_of(self)


@dataclass(frozen=True)
class SpotCheck:
    """The result of a spot check."""

    run: str
    measure: str
    judge: str
    version: str | int | None
    judged: int  # the number of answers that the judge graded
    labelled: int
    figures: Mapping[str, Estimate]  # those of agreement that the scale allows, by name; see :func:`_figures`
    confusion: Mapping[str, Mapping[str, int]]  # counts by the person's label and then the judge's
    disagreements: Sequence[Disagreement]  # the widest apart first, then by the judge's confidence
    inflation: Inflation
    advice: Sequence[str]  # suggested changes, if any
    width: float
    needed: Mapping[str, int | None]  # by figure, how many labels in all an interval of the wanted ``width`` takes
    scale: LabelScale  # the scale of the grades

    @property
    def gated(self) -> Estimate:
        """The kappa that gates use: weighted if the labels are ordered."""
        return self.figures.get("weighted_kappa", self.figures["kappa"])

    def as_json(self) -> dict[str, Any]:
        """Return everything, as it is kept and printed."""
        names = ("run", "measure", "judge", "version", "judged")
        return {
            **{name: getattr(self, name) for name in names},
            "n": self.labelled,
            **as_plain(self.figures),
            "confusion": as_plain(self.confusion),
            "disagreements": as_plain(self.disagreements),
            "inflation": self.inflation.as_json(),
            "advice": list(self.advice),
            "needed": {"width": self.width, **self.needed},
            "scale": list(self.scale.categories) or None,
        }

    def kept(self) -> KeptCheck:
        """Return the record that is kept for gates."""
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

    Scores without a value are ignored.
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
    scale: LabelScale | None = None,
    width: float = WIDTH,
) -> SpotCheck:
    """Compare one judge's scores of one run by one measure with a person's labels, by question.

    A label of an answer that the judge didn't grade counts nowhere.

    Raise an InputError if no person can be asked on the scale of these values.

    ``scores`` are all that the judge gave by this measure: those without a label count for the calibrated accuracy.
    ``width`` is that of the interval for which the number of needed labels is computed.
    """
    if not scores:
        raise ValueError("a spot check needs scores of a judge")
    first = scores[0]
    scale = scale or persons_scale(first.measure, scores, numbers_in(labels.values()))
    judged = {score.question: label for score in scores if (label := scale.label_of(score)) is not None}
    both = [question for question in labels if question in judged]
    person, own = [labels[question] for question in both], [judged[question] for question in both]
    figures = _figures(scale, person, own)
    agreement = figures["agreement"].value
    gated = ["agreement", *(["weighted_kappa" if scale.ordered else "kappa"] if scale.labels else [])]
    return SpotCheck(
        run=first.run,
        measure=first.measure,
        judge=first.grader or "nobody named",
        version=first.version,
        judged=len(judged),
        labelled=len(both),
        figures=figures,
        confusion=_confusion(scale, person, own),
        disagreements=_disagreements(scale, both, scores, judged, labels, notes or {}),
        inflation=inflation(scale, judged, labels),
        advice=advice(scale, person, own) if agreement is not None and under(agreement, ENOUGH) else (),
        width=width,
        needed={name: needed(figures[name], width) for name in gated},
        scale=scale,
    )


def _figures(scale: LabelScale, person: list[str], own: list[str]) -> dict[str, Estimate]:
    """Return the figures of agreement that the scale allows, by name.

    ``agreement`` is the share of equal labels; for numbers from 0 to 1, that of those at most 0.1 apart. ``kappa`` is
    Cohen's, ``ac1`` Gwet's; ``weighted_kappa`` and ``ac2`` are weighted linearly, for ordered labels. ``alpha`` is
    Krippendorff's, ordinal for ordered labels, interval for numbers. ``pearson`` and ``spearman`` are the correlations
    of numbers, or of more than two whole grades. ``sensitivity`` and ``specificity`` are those of the judge as a test
    for right answers.
    """
    pairs, names = list(zip(person, own, strict=True)), scale.categories
    if not names:
        numbers = [(float(one), float(two)) for one, two in pairs]
        near = sum(not over(abs(one - two), NEAR) for one, two in numbers)
        none = Estimate(None, reason=NO_CATEGORIES, size=len(pairs))
        agreement = proportion(near, len(pairs), "no item was graded by both")
        found = {"agreement": agreement, "kappa": none, "ac1": none, "alpha": alpha(numbers, "interval")}
        return found | _correlations(person, own)
    found = {"agreement": raw_agreement(person, own), "kappa": kappa(person, own, names)}
    if scale.ordered:
        found["weighted_kappa"] = kappa(person, own, names, "linear")
    found["ac1"] = gwet(person, own, names)
    if scale.ordered:
        found["ac2"] = gwet(person, own, names, "linear")
    found["alpha"] = alpha(pairs, "ordinal" if scale.ordered else "nominal", names)
    if scale.ordered and scale.numeric:
        found |= _correlations(person, own)
    if scale.right:
        called = [(one in scale.right, two in scale.right) for one, two in pairs]
        right = sum(truth for truth, _ in called)
        found["sensitivity"] = sensitivity(called.count((True, True)), right)
        found["specificity"] = specificity(called.count((False, False)), len(called) - right)
    return found


def _correlations(person: list[str], own: list[str]) -> dict[str, Estimate]:
    """Return the correlations of two lists of numbers, written as labels."""
    one, two = ([float(label) for label in labels] for labels in (person, own))
    return {"pearson": pearson(one, two), "spearman": spearman(one, two)}


def _confusion(scale: LabelScale, person: list[str], own: list[str]) -> dict[str, dict[str, int]]:
    """Return the counts of each pair of labels; empty for numbers."""
    if not scale.labels:
        return {}
    counts = Counter(zip(person, own, strict=True))
    used = [label for label in scale.categories if any(label in pair for pair in counts)]
    return {label: {other: counts[label, other] for other in used} for label in used}


def _disagreements(
    scale: LabelScale,
    both: Sequence[str],
    scores: Sequence[Score],
    judged: Mapping[str, str],
    labels: Mapping[str, str],
    notes: Mapping[str, str],
) -> list[Disagreement]:
    """Return the answers with different grades, worst first."""
    by_question = {score.question: score for score in scores}
    places = {label: place for place, label in enumerate(scale.categories)}
    found = []
    for question in both:
        one, two = judged[question], labels[question]
        apart = abs(places[one] - places[two]) if places else abs(float(one) - float(two))
        if one != two and (places or over(apart, NEAR)):
            score = by_question[question]
            note = notes.get(question)
            found.append(Disagreement(question, one, two, apart, score.confidence, note, score.explanation))
    return sorted(found, key=lambda one: (-one.distance, -(one.confidence or 0.0), one.question))
