"""Differences between two gradings of the same answers, paired by question; the drift of a judge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.plugins.judging.trust.inflation import mean_difference
from graphkit.plugins.judging.trust.label_scales import scale_of
from graphkit.plugins.judging.trust.rejudge_contract import Rejudge, by_measure, values
from graphkit.plugins.judging.trust.sample_estimates import proportion
from graphkit.records.scores import Score


@dataclass(frozen=True, slots=True)
class Effect:
    """The difference of a second grading from a first by one measure."""

    of: str  # the variation, such as ``"swapped"`` or the names of two judges
    measure: str
    #: The means over the questions with a value in both.
    first: float | None
    second: float | None
    difference: Estimate  # second minus first, with its interval, and why that may be too narrow
    changed: Estimate  # the share of questions whose value changed
    versions: tuple[str, str]  # the judges and versions of the two
    unpaired: int  # the number of questions with a value in only one

    @property
    def shows(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0)

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {**fields_of(self), "shows": self.shows}


def effects(of: str, first: Iterable[Score], second: Iterable[Score]) -> list[Effect]:
    """Compare two gradings by each measure that both have."""
    one, two = by_measure(first), by_measure(second)
    return [_effect(of, measure, one[measure], two[measure]) for measure in one if measure in two]


async def drift(recorded: Sequence[Score], rejudge: Rejudge) -> list[Effect]:
    """Grade the recorded answers again, and return how far each measure has moved."""
    questions = list(dict.fromkeys(score.question for score in recorded))
    return effects("drift", recorded, await rejudge(questions, variant="same"))


def between_judges(first: Iterable[Score], second: Iterable[Score]) -> list[Effect]:
    """Return the difference of a second judge from a first on the same answers, by each common measure."""
    one, two = list(first), list(second)
    names = (next((score.grader or "nobody named" for score in some), "nobody") for some in (one, two))
    return effects(" against ".join(names), one, two)


def _effect(of: str, measure: str, first: dict[str, Score], second: dict[str, Score]) -> Effect:
    one, two = values(first), values(second)
    both = [question for question in one if question in two]
    before, after = [one[question] for question in both], [two[question] for question in both]

    def versions(scores: dict[str, Score]) -> str:
        return ", ".join(dict.fromkeys(score.given_by for score in scores.values()))

    scale = scale_of(measure, [*first.values(), *second.values()])
    difference = mean_difference(before, after, scale.highest - scale.lowest)
    changed = sum(abs(x - y) > 1e-9 for x, y in zip(before, after, strict=True))
    return Effect(
        of,
        measure,
        math.fsum(before) / len(before) if before else None,
        math.fsum(after) / len(after) if after else None,
        difference,
        proportion(changed, len(both), "no answer was graded by both"),
        (versions(first), versions(second)),
        len(one.keys() ^ two.keys()),
    )
