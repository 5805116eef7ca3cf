"""Figures of a whole run: abstention F1, and the risk at each coverage with the area under it (AURC).

They are no means over questions, so that their intervals resample the questions: the percentile bootstrap.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.measures.outcome import decided, right_answer
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import FEW_CLUSTERS, ONE_CLUSTER, few_clusters
from graphkit.scoring.intervals import SEED
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.reason_counts import Doubts

#: How many resamples the intervals rest on, and the shares of coverage that the curve shows.
RESAMPLES = 1_000
SHARES = (0.25, 0.5, 0.75, 1.0)

NONE_UNANSWERABLE = "no question without an answer, and none declined"
NO_CONFIDENCE = "no answer that is decided states a confidence"


class Answered(NamedTuple):
    """An answer whose text or grades decide whether it is right, with its confidence."""

    confidence: float
    wrong: bool


class CurvePoint(NamedTuple):
    """The most confident answers, as a share of the decided ones, and the share of wrong ones among them."""

    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class AbstentionFigures:
    """The questions that a run declined, and the risk of its answers by their coverage.

    Attributes
    ----------
    questions, known, read, judged
        The questions with valid gold; those of which it is known whether the record declines, and of how many of these
        its words say so, and a judge.
    warnings
        Sentences on records of which that is doubtful.
    unanswerable, declined, rightly
        Of the known ones, those without an answer, those that are declined, and those that are both.
    f1
        Harmonic mean of abstention recall (rightly / unanswerable) and precision (rightly / declined).
    decided, unsure
        The answered questions of which it is known whether the answer is right, and those of them without a confidence,
        which no curve can place.
    risk
        Wrong ones / decided ones.
    aurc
        Mean of the risk among the n most confident decided answers, over each n.
    curve
        The risk at some shares of the decided answers.
    """

    run: str
    questions: int
    known: int
    read: int
    judged: int
    warnings: tuple[str, ...]
    unanswerable: int
    declined: int
    rightly: int
    f1: Estimate
    decided: int
    unsure: int
    risk: Estimate
    aurc: Estimate
    curve: tuple[CurvePoint, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return fields_of(self) | {"curve": [one._asdict() for one in self.curve]}


def abstention_figures(run: RunOnFiles, clusters: QuestionClusters | None = None) -> AbstentionFigures:
    """Return the figures of a run; a failed question, or one that says nothing, is left out of each.

    Where there are ``clusters``, the intervals resample these whole.
    """
    cases = [case for name, case in run.cases.items() if name not in run.invalid]
    known = [case for case in cases if case.declined is not None]
    pairs = [(case.question.answerable is False, bool(case.declined)) for case in known]
    doubts = Doubts()
    for case in known:
        doubts.add([case.decline_doubt] if case.decline_doubt is not None else [])
    wrong, sure, of_wrong, of_sure = [], [], [], []
    for case in known:
        right = decided(right_answer(case), run.grades(case.question.id)).right
        if case.declined or right is None:
            continue
        wrong.append(not right)
        of_wrong.append(case.question.id)
        if case.answer is not None and case.answer.confidence is not None:
            sure.append(Answered(case.answer.confidence, not right))
            of_sure.append(case.question.id)
    codes = clusters.codes if clusters is not None else lambda _: None
    unsure = len(wrong) - len(sure)
    why = without_confidence(unsure) if unsure and sure else NO_CONFIDENCE
    return AbstentionFigures(
        run=run.run,
        questions=len(cases),
        known=len(known),
        read=sum(case.decline_said_by == "words" for case in known),
        judged=sum(case.decline_said_by == "judge" for case in known),
        warnings=doubts.warnings(),
        unanswerable=sum(none for none, _ in pairs),
        declined=sum(declined for _, declined in pairs),
        rightly=pairs.count((True, True)),
        f1=estimated(pairs, abstention_f1, NONE_UNANSWERABLE, codes([case.question.id for case in known])),
        decided=len(wrong),
        unsure=unsure,
        risk=estimated(
            wrong, lambda some: sum(some) / len(some) if some else None, "no answer is decided", codes(of_wrong)
        ),
        aurc=Estimate(None, reason=why) if unsure or not sure else estimated(sure, aurc, why, codes(of_sure)),
        curve=() if unsure or not sure else _curve(sure),
    )


def without_confidence(answers: int) -> str:
    """Return why there is no curve where some decided answers state no confidence."""
    return f"{counted(answers, 'decided answer')} without a confidence"


def abstention_f1(pairs: Iterable[tuple[bool, bool]]) -> float | None:
    """Return 2 rightly / (unanswerable + declined) of pairs (without an answer, declined); None if both are 0.

    >>> abstention_f1([(True, True), (True, False), (False, True), (False, False)])
    0.5
    """
    counts = Counter(pairs)
    both = counts[True, True]
    either = 2 * both + counts[True, False] + counts[False, True]
    return 2 * both / either if either else None


def risks(answers: Iterable[Answered]) -> list[float]:
    """Return the risk among the n most confident answers, for each n; equal confidences share their errors evenly.

    >>> risks([Answered(0.9, False), Answered(0.5, True), Answered(0.5, False)])
    [0.0, 0.25, 0.3333333333333333]
    """
    groups: dict[float, Counter[bool]] = {}
    for one in answers:
        groups.setdefault(one.confidence, Counter())[one.wrong] += 1
    found: list[float] = []
    before = 0
    for confidence in sorted(groups, reverse=True):
        group = groups[confidence]
        size, wrong = group.total(), group[True]
        for place in range(1, size + 1):
            found.append((before * size + wrong * place) / (size * (len(found) + 1)))
        before += wrong
    return found


def aurc(answers: Sequence[Answered]) -> float | None:
    """Return the area under the curve of risk and coverage: the mean of :func:`risks`; None without an answer."""
    found = risks(answers)
    return math.fsum(found) / len(found) if found else None


def _curve(answers: Sequence[Answered]) -> tuple[CurvePoint, ...]:
    found = risks(answers)
    places = dict.fromkeys(max(1, math.ceil(share * len(found))) for share in SHARES)
    return tuple(CurvePoint(place / len(found), found[place - 1]) for place in places)


def estimated(
    items: Sequence[Any],
    figure: Callable[[Sequence[Any]], float | None],
    why: str,
    clusters: Sequence[int] | None = None,
) -> Estimate:
    """Return a figure of some questions with its bootstrap interval; without one if they are too few, or all alike.

    Parameters
    ----------
    why
        The reason why there is no value, if there is none.
    clusters
        The number of the cluster of each question, if they aren't independent: whole clusters are drawn.
    """
    value = figure(items)
    if value is None:
        return Estimate(None, reason=why, size=len(items))
    if len(set(items)) < 2:
        return Estimate(value, reason="all questions are alike, so nothing shows the spread", size=len(items))
    together: dict[int, list[Any]] = {}
    for code, item in zip(range(len(items)) if clusters is None else clusters, items, strict=True):
        together.setdefault(code, []).append(item)
    if len(together) < 2:
        return Estimate(value, reason=ONE_CLUSTER, size=len(items))
    dice, units = random.Random(SEED), [*together.values()]  # noqa: S311 - a sample, not a secret
    samples = ([*chain.from_iterable(dice.choices(units, k=len(units)))] for _ in range(RESAMPLES))
    drawn = sorted(one for some in samples if (one := figure(some)) is not None)
    if drawn[0] == drawn[-1]:
        return Estimate(value, reason="resampling gives the same value, so nothing shows the spread", size=len(items))
    low, high = drawn[int(0.025 * len(drawn))], drawn[min(len(drawn) - 1, int(0.975 * len(drawn)))]
    few = clusters is not None and len(together) < FEW_CLUSTERS
    return Estimate(value, low, high, few_clusters(len(together)) if few else None, size=len(items))
