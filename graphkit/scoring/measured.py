"""Measures of a run or a question as a notebook shows them: against their targets, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphkit.measures.base import Thresholds
from graphkit.measures.registry import bounds_of, known_measure, lower_is_better
from graphkit.records.bounds import over, under
from graphkit.records.notebook_html import Drawn, bar
from graphkit.scoring.intervals import mean_interval

NO_THRESHOLDS = Thresholds()

COLUMNS = ("measure", "value", "", "target", "scored")


@dataclass(frozen=True, slots=True)
class Measured:
    """The value of a measure, how many questions it is of in words, the values that it is the mean of, and thresholds.

    A value of one question has no sample, and so no interval, unless ``interval`` is given.
    """

    name: str
    value: float | None
    words: str = ""
    sample: Sequence[float] = ()
    thresholds: Thresholds = NO_THRESHOLDS
    interval: tuple[float, float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target or a value."""
        target = self.thresholds.target
        return None if self.value is None or target is None else not worse(self.name, self.value, target)

    @property
    def severe(self) -> bool:
        """Whether the value is worse than the severe threshold."""
        bound = self.thresholds.severe
        return self.value is not None and bound is not None and worse(self.name, self.value, bound)

    def row(self) -> list[object]:
        """Return the row of a table with ``COLUMNS``; the interval is computed here."""
        low, high = bounds_of(self.name)
        interval = mean_interval(self.sample, low, high) if len(self.sample) > 1 else self.interval
        drawn: Drawn | str = ""
        if high is not None and low is not None:
            drawn = bar(self.value, interval, self.thresholds.target, (min(low, 0.0), high))
        state = "" if self.met is None else "met" if self.met else "severe" if self.severe else "missed"
        target = "" if self.thresholds.target is None else f"{self.thresholds.target:g} {state}".strip()
        return [self.name, self.value, drawn, target, self.words]


def own_thresholds(measure: str) -> Thresholds:
    """Return the thresholds that a measure declares; empty for an unknown one."""
    known = known_measure(measure)
    return known.thresholds() if known is not None else NO_THRESHOLDS


def worse(measure: str, value: float, bound: float) -> bool:
    """Return whether a value of a measure is worse than a bound, by the direction of the measure."""
    return over(value, bound) if lower_is_better(measure) else under(value, bound)


def on_targets(measured: Iterable[Measured]) -> str:
    """Return how many targets are met, and which values are severe, in words; empty without a target.

    >>> on_targets([Measured("EdgeRecall", 0.4, thresholds=Thresholds(0.8, 0.5))])
    '0 of 1 target met, severe: EdgeRecall'
    """
    judged = [one for one in measured if one.met is not None]
    severe = [one.name for one in judged if one.severe]
    if not judged:
        return ""
    noun = "target" if len(judged) == 1 else "targets"
    met = f"{sum(one.met is True for one in judged)} of {len(judged)} {noun} met"
    return met + (f", severe: {', '.join(severe)}" if severe else "")
