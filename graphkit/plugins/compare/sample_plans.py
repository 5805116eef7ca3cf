"""Plans the number of questions that show a difference between two runs, given the paired differences seen so far.

The same spread is assumed, and the same dependence within clusters. The figures are those of the paired t-test, whose
power the randomisation test shares, and of yes-or-no measures those of McNemar's exact test, which it is there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.pair_verdict import in_family
from graphkit.analysis.paired import FEW_QUESTIONS, PairedResult
from graphkit.analysis.power import LEVEL, POWER, differing_bound, power, share_power
from graphkit.errors import InputError
from graphkit.records.words import counted, two

#: More units than these aren't searched for.
MOST = 10**12


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """The number of questions that show a difference of a measure with 80% power at the 5% level.

    Attributes
    ----------
    questions, clusters
        The present numbers; ``clusters`` is None if each question counts as independent.
    design_effect
        By how much the clusters raise the variance of the mean difference; None without clusters.
    needed_questions, needed_clusters
        For a test of this measure alone; None if nothing shows the spread, and ``reason`` then says why. Clusters are
        taken to be as large as now.
    together, needed_together
        The number of measures compared that differ anywhere, and how many questions are enough if this one is the first
        of them, whatever their dependence (Holm).
    detectable
        The smallest difference that the present questions detect.
    caution
        A sentence on a spread of few questions or clusters, or of few questions that differ, or None.
    """

    measure: str
    difference: float
    questions: int
    clusters: int | None = None
    design_effect: float | None = None
    needed_questions: int | None = None
    needed_clusters: int | None = None
    together: int = 1
    needed_together: int | None = None
    detectable: float | None = None
    reason: str | None = None
    caution: str | None = None
    power: float = POWER
    level: float = LEVEL

    def as_json(self) -> dict[str, Any]:
        """Return the fields."""
        return dataclasses.asdict(self)

    @property
    def sentence(self) -> str:
        """A sentence: the number of questions needed, and the difference that the present ones detect."""
        asked = f"a difference of {self.difference:g} in {self.measure}"
        if self.needed_questions is None:
            return f"how many questions {asked} needs isn't known: {self.reason}"
        many = counted(self.needed_questions, "question")
        if self.needed_clusters is not None:
            many = f"{counted(self.needed_clusters, 'cluster')} ({many})"
        missing = self.needed_questions - self.questions
        more = f"{missing} more than now" if missing > 0 else "no more than now"
        first = f"; {self.needed_together} as the first of {self.together} measures" if self.together > 1 else ""
        now = (
            f"now {two(self.detectable)} is detectable" if self.detectable is not None else "now nothing is detectable"
        )
        effect = f"; design effect {two(self.design_effect)}" if self.design_effect is not None else ""
        few = f"; {self.caution}" if self.caution is not None else ""
        chances = f"{self.power:.0%} power at the {self.level:.0%} level"
        return f"{asked} needs {many}, {more}{first} ({chances}); {now}{effect}{few}"


def require_difference(difference: float) -> None:
    """Raise an InputError if a difference isn't a number above 0."""
    if not 0 < difference < math.inf:
        raise InputError(f"a difference of {difference:g} can't be planned for", remedy="Give one above 0.")


def planned(results: Sequence[PairedResult], difference: float) -> tuple[SamplePlan, ...]:
    """Return how many questions each of several measures needs to show a difference.

    Raises
    ------
    InputError
        The difference isn't above 0.
    """
    require_difference(difference)
    return tuple(_planned(one, difference, max(1, in_family(results))) for one in results)


def _planned(result: PairedResult, difference: float, together: int) -> SamplePlan:
    plan = SamplePlan(
        result.measure, difference, result.questions, result.clusters, together=together, detectable=result.detectable
    )
    if not result.error or not result.spread:
        reason = result.reason or "all differences are equal, so nothing shows how far others may lie"
        return dataclasses.replace(plan, reason=reason)
    if result.yes_or_no and difference > 1:
        return dataclasses.replace(plan, reason="two shares differ by 1 at most")
    spread, different = result.error * result.units**0.5, result.wins + result.losses
    alone, first = (
        pairs_needed(difference, different, result.questions, level)
        if result.yes_or_no
        else units_needed(difference, spread, level)
        for level in (LEVEL, LEVEL / together)
    )
    if alone is None or first is None:
        return dataclasses.replace(plan, reason=f"it is more than {MOST:.0e}")
    # The randomisation test of fewer can't be significant.
    alone, first = max(alone, questions_needed(LEVEL)), max(first, questions_needed(LEVEL, together))
    size = result.questions / result.units
    return dataclasses.replace(
        plan,
        design_effect=None if result.clusters is None else (result.error / result.spread) ** 2 * result.questions,
        needed_questions=math.ceil(alone * size),
        needed_clusters=None if result.clusters is None else alone,
        needed_together=math.ceil(first * size),
        caution=_caution(result, different),
    )


def _caution(result: PairedResult, different: int) -> str | None:
    """Return a sentence on a spread of few questions or clusters, or of few questions that differ."""
    if result.units < FEW_QUESTIONS:
        few = counted(result.units, "question" if result.clusters is None else "cluster")
        return f"{few} show the spread poorly"
    if different < FEW_QUESTIONS:
        return f"{counted(different, 'question')} that differ, fewer than {FEW_QUESTIONS}, show the spread poorly"
    return None


def units_needed(difference: float, spread: float, level: float = LEVEL) -> int | None:
    """Return how many independent units a difference needs; None if more than can be searched.

    Parameters
    ----------
    spread
        The standard deviation of the differences of one unit, so the standard error times the root of their number.

    >>> units_needed(0.5, 1.0)  # the textbook's 34 pairs of a medium effect
    34
    """

    return smallest(lambda units: power(difference, spread / units**0.5, units, level) >= POWER)


def pairs_needed(difference: float, different: int, questions: int, level: float = LEVEL) -> int | None:
    """Return how many questions a difference of two shares needs, of which now ``different`` of ``questions`` differ.

    None if more than can be searched, or if the difference is above 1.
    """
    if difference > 1:
        return None
    bound = differing_bound(different, questions)
    return smallest(lambda many: share_power(difference, bound, many, level) >= POWER)


def questions_needed(level: float, measures: int = 1) -> int:
    """Return how many questions can show a difference at a level, whatever the dependence of so many measures (Holm).

    >>> questions_needed(0.05), questions_needed(0.05, 10), questions_needed(0.05, 18)
    (6, 9, 10)
    """
    questions = 1
    while measures * 2.0 ** (1 - questions) >= level:
        questions += 1
    return questions


def smallest(enough: Callable[[int], bool], least: int = 2) -> int | None:
    """Return the smallest number, at least ``least``, that is enough; None beyond the search."""
    few = least - 1
    while not enough(many := 2 * few):
        few = many
        if many > MOST:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many
