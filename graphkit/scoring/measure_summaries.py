"""The summary of a measure over the questions of a run: its mean with what wasn't scored, as numbers and in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphkit.measures.registry import bounds_of, worst_of
from graphkit.records.notebook_html import block
from graphkit.records.unanswered import MISSING, CountedAs, is_failure
from graphkit.records.words import shown


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over the questions of a run: the mean over the scored ones (None if there are none), and counts.

    Attributes
    ----------
    lowest, highest
        The bounds of the mean if every unscored question had the lowest or the highest value of the measure: the mean
        itself if all were scored, None if the measure has no such bound.
    failed, missing
        Among the questions that the measure can score, the number of those whose record has an error, and of those
        without a record.
    worst
        The worst value of the measure; None if it has no bound in that direction.
    with_failed
        The mean with each failed or missing question as the worst value; None if there is no worst value, or nothing
        was scored.
    """

    mean: float | None
    scored: int
    total: int
    lowest: float | None = None
    highest: float | None = None
    failed: int = 0
    missing: int = 0
    worst: float | None = None
    with_failed: float | None = None

    @classmethod
    def of(
        cls, measure: str, values: Sequence[float], scored: int, total: int, failed: int = 0, missing: int = 0
    ) -> Summary:
        """Return the summary of a measure from its values, or sums of them, and the number of scored questions."""

        def mean(bound: float | None, unscored: int) -> float | None:
            if not unscored:
                return math.fsum(values) / scored if scored else None
            return None if bound is None else math.fsum([*values, bound * unscored]) / (scored + unscored)

        (lowest, highest), worst, unscored = bounds_of(measure), worst_of(measure), max(total - scored, 0)
        return cls(
            mean=mean(None, 0),
            scored=scored,
            total=total,
            lowest=mean(lowest, unscored),
            highest=mean(highest, unscored),
            failed=failed,
            missing=missing,
            worst=worst,
            with_failed=mean(worst, failed + missing) if scored else None,
        )

    @classmethod
    def of_values(cls, measure: str, values: Iterable[float | str | None]) -> Summary:
        """Return the summary of the values of all questions: numbers, or reasons (or None) for unscored ones."""
        every = list(values)
        numbers = [value for value in every if isinstance(value, float | int)]
        failures = Counter(value for value in every if isinstance(value, str) and is_failure(value))
        missing = failures.pop(MISSING, 0)
        return cls.of(measure, numbers, len(numbers), len(every), failures.total(), missing)

    @property
    def unanswered(self) -> int:
        """The number of questions that failed or are missing."""
        return self.failed + self.missing

    def held(self, failed_as: CountedAs = "worst") -> float | None:
        """Return the value that gates, targets and thresholds check.

        It is :attr:`with_failed`, or the mean over the scored questions if failures don't count, or the measure has no
        worst value. If every unscored question counts as 0, it is the mean over all questions.
        """
        if self.zeros(failed_as):
            return self.lowest
        return self.mean if failed_as == "unscored" or self.with_failed is None else self.with_failed

    def zeros(self, failed_as: CountedAs) -> int:
        """Return how many questions count as 0 since they have no value.

        There are none if nothing was scored, or if 0 isn't the worst value: then they would improve the mean.

        >>> Summary.of("EdgeRecall", [28.0], 28, 30).zeros("zero"), Summary.of("OffPin", [28.0], 28, 30).zeros("zero")
        (2, 0)
        """
        return self.total - self.scored if failed_as == "zero" and self.scored and self.worst == 0 else 0

    def in_words(self, failed_as: CountedAs = "worst") -> str:
        """Return the checked value in words, with the failures and their value.

        >>> Summary.of("EdgeRecall", [35.0], 35, 60, failed=25).in_words()
        '0.5833 with 25 failed as 0; 1.0000 over the 35 answered'
        """
        if zeros := self.zeros(failed_as):
            over = f"{shown(self.mean)} over the {self.scored} scored"
            return f"{shown(self.held(failed_as))} with {zeros} unscored as 0; {over}"
        if not self.unanswered or self.mean is None:
            return shown(self.mean)
        answered = f"{shown(self.mean)} over the {self.scored} answered"
        if failed_as == "unscored":
            return f"{answered}; {self.failures} unscored"
        if self.with_failed is None:
            return f"{answered}; {self.failures}, for which the measure has no worst value"
        return f"{shown(self.with_failed)} with {self.failures} as {self.worst:g}; {answered}"

    def counts(self, failed_as: CountedAs = "worst") -> str:
        """Return the number of scored questions in words, with the failures and their value.

        >>> Summary.of("EdgeRecall", [35.0], 35, 60, failed=25).counts()
        '35/60, 25 failed as 0'
        """
        counts = f"{self.scored}/{self.total}"
        if zeros := self.zeros(failed_as):
            return f"{counts}, {zeros} unscored as 0"
        if not self.unanswered or failed_as == "unscored" or self.with_failed is None:
            return counts
        return f"{counts}, {self.failures} as {self.worst:g}"

    def __repr__(self) -> str:
        return f"<Summary: {self.in_words()} ({self.counts()})>"

    def _repr_html_(self) -> str:
        return block(f"{self.in_words()} ({self.counts()})")

    @property
    def failures(self) -> str:
        """The number of failed and missing questions in words; an empty text for none."""
        parts = [f"{count} {what}" for count, what in ((self.failed, "failed"), (self.missing, "missing")) if count]
        return " and ".join(parts)


#: The note of an output in which failures don't count.
FAILURES_UNSCORED = "failed and missing questions are unscored at gates, targets and thresholds (failed_as=unscored)"

#: The note of an output in which every unscored question counts.
UNSCORED_AS_ZERO = "every unscored question counts as 0 where 0 is the worst value of the measure (failed_as=zero)"

#: The note of an output, by how it counts questions without a value; none for the default.
NOTES: Mapping[CountedAs, str] = {"unscored": FAILURES_UNSCORED, "zero": UNSCORED_AS_ZERO}


def shown_mean(summary: Summary, failed_as: CountedAs) -> str:
    """Return the mean to show: over the scored questions, or over all if unscored ones count as 0.

    >>> shown_mean(Summary.of("EdgeRecall", [28.0], 28, 30), "zero")
    '0.9333'
    """
    return shown(summary.held(failed_as) if summary.zeros(failed_as) else summary.mean)


def scored_in_words(summary: Summary, failed_as: CountedAs) -> str:
    """Return the number of scored questions in words, and the mean with failures as the gates count them.

    Without failures, return the bounds of the mean for any values of the unscored questions.

    >>> scored_in_words(Summary.of("EdgeRecall", [35.0], 35, 60, failed=25), "worst")
    '35/60; 0.5833 with 25 failed as 0'
    >>> scored_in_words(Summary.of("EdgeRecall", [28.0], 28, 30), "worst")
    '28/30 scored (bounds 0.93-1.00)'
    """
    counts = f"{summary.scored}/{summary.total}"
    if summary.zeros(failed_as):
        return f"{summary.counts(failed_as)}; {shown(summary.mean)} over the {summary.scored} scored"
    if summary.unanswered and failed_as != "unscored" and summary.with_failed is not None:
        return f"{counts}; {shown(summary.with_failed)} with {summary.failures} as {summary.worst:g}"
    if summary.lowest is None or summary.highest is None or summary.scored == summary.total:
        return counts
    return f"{counts} scored (bounds {summary.lowest:.2f}-{summary.highest:.2f})"
