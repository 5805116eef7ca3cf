"""The summary of a measure over the questions of a run: its mean with what wasn't scored, as numbers and in words."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphkit.measures.registry import bounds_of, worst_of
from graphkit.records.notebook_html import block
from graphkit.records.unanswered import CountedAs
from graphkit.records.words import shown, two
from graphkit.scoring.reason_counts import Left, count_reasons

#: How a gate counts edges in a run that logs relations for some of them.
STRICT = "edges without a relation or commit matching nothing"

#: No question is left without a value.
NONE_LEFT = Left()


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
        The mean with each failed, missing or unlogged question as the worst value; None if there is no worst value, or
        nothing was scored.
    not_logged, of_question
        The number of questions whose record doesn't log what the measure needs, and of those that no answer could be
        scored on, such as questions without gold or with stale gold.
    strict
        In a run that logs some relations, the mean with its edges without one matching no gold edge that has one, if
        that is another mean: ``with_failed`` and the bounds then rest on it.
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
    not_logged: int = 0
    of_question: int = 0
    strict: float | None = None

    @classmethod
    def of(
        cls,
        measure: str,
        values: Sequence[float],
        scored: int,
        total: int,
        left: Left = NONE_LEFT,
        *,
        strict: Sequence[float] = (),
    ) -> Summary:
        """Return the summary of a measure from its values, or sums of them, and the number of scored questions.

        ``left`` are the questions without a value, and ``strict`` is what strict comparison of relations adds to the
        values.
        """

        def mean(bound: float | None, unscored: int) -> float | None:
            if not unscored:
                return math.fsum([*values, *strict]) / scored if scored else None
            return None if bound is None else math.fsum([*values, *strict, bound * unscored]) / (scored + unscored)

        (lowest, highest), worst, unscored = bounds_of(measure), worst_of(measure), max(total - scored, 0)
        return cls(
            mean=math.fsum(values) / scored if scored else None,
            scored=scored,
            total=total,
            lowest=mean(lowest, unscored),
            highest=mean(highest, unscored),
            failed=left.failed,
            missing=left.missing,
            worst=worst,
            with_failed=mean(worst, left.failed + left.missing + left.not_logged) if scored else None,
            not_logged=left.not_logged,
            of_question=left.of_question,
            strict=mean(None, 0) if any(strict) else None,
        )

    @classmethod
    def of_values(cls, measure: str, values: Iterable[float | str | None], *, strict: Iterable[float] = ()) -> Summary:
        """Return the summary of the values of all questions: numbers, or reasons (or None) for unscored ones.

        ``strict`` is what strict comparison of relations adds to the values.
        """
        every = list(values)
        numbers = [value for value in every if isinstance(value, float | int)]
        left = count_reasons(one for one in every if one is not None)[1]
        return cls.of(measure, numbers, len(numbers), len(every), left, strict=[*strict])

    @property
    def counted_worst(self) -> float | None:
        """The value of the questions that count as the worst one; None if there is none, or nothing was scored."""
        return None if self.with_failed is None else self.worst

    @property
    def unanswered(self) -> int:
        """The number of questions that failed or are missing."""
        return self.failed + self.missing

    def as_worst(self, counted_as: CountedAs = "worst") -> int:
        """Return how many questions without a value count as the worst value.

        There are none if nothing was scored, or if the measure has no worst value.
        """
        if self.with_failed is None or counted_as == "unscored":
            return 0
        return self.unanswered + (0 if counted_as == "failed" else self.not_logged)

    def within(self, whole: Summary) -> Summary:
        """Return the summary of a group of the questions of a whole: one that only failed has the worst value, too."""
        counts = not self.scored and self.unanswered and whole.with_failed is not None
        return dataclasses.replace(self, with_failed=self.worst) if counts else self

    @property
    def never_logged(self) -> bool:
        """Whether no record of the run logs what the measure needs, though some question could be scored."""
        left = self.unanswered + self.not_logged + self.of_question
        return not self.scored and self.not_logged > 0 and left == self.total

    def could(self, counted_as: CountedAs = "worst") -> int:
        """Return how many questions should have a value: all but those that no answer could be scored on.

        Failed, missing and unlogged questions that don't count as the worst value are left aside as well.
        """
        aside = 0 if self.zeros(counted_as) else self.unanswered + self.not_logged - self.as_worst(counted_as)
        return self.total - self.of_question - aside

    def share(self, counted_as: CountedAs = "worst") -> float:
        """Return the share of the questions that should have a value that have one, those as worst included.

        >>> Summary.of("EdgePrecision", [3.0], 3, 20, Left(failed=1, of_question=15)).share()
        0.8
        """
        could = self.could(counted_as)
        return min(1.0, self.held_on(counted_as) / could) if could > 0 else 0.0

    def held_on(self, counted_as: CountedAs = "worst") -> int:
        """Return the number of questions that :meth:`held` is the mean of."""
        return self.scored + (self.zeros(counted_as) or self.as_worst(counted_as))

    def held(self, failed_as: CountedAs = "worst") -> float | None:
        """Return the value that gates, targets and thresholds check.

        It is :attr:`with_failed`, or the mean over the scored questions if nothing counts as worst, or the measure has
        no worst value. If every unscored question counts as 0, it is the mean over all questions.
        """
        if self.zeros(failed_as):
            return self.lowest
        mean = self.mean if self.strict is None else self.strict
        if failed_as == "failed" and self.not_logged and self.with_failed is not None:
            assert self.worst is not None  # since there is a mean with failures
            count = self.as_worst(failed_as)
            return math.fsum([(mean or 0.0) * self.scored, self.worst * count]) / (self.scored + count)
        return mean if failed_as == "unscored" or self.with_failed is None else self.with_failed

    def zeros(self, failed_as: CountedAs) -> int:
        """Return how many questions count as 0 since they have no value.

        There are none if nothing was scored, or if 0 isn't the worst value: then they would improve the mean.

        >>> Summary.of("EdgeRecall", [28.0], 28, 30).zeros("zero"), Summary.of("OffPin", [28.0], 28, 30).zeros("zero")
        (2, 0)
        """
        return self.total - self.scored if failed_as == "zero" and self.scored and self.worst == 0 else 0

    def in_words(self, failed_as: CountedAs = "worst", interval: str = "") -> str:
        """Return the checked value in words, with its interval, the failures and their value.

        >>> Summary.of("EdgeRecall", [35.0], 35, 60, Left(failed=25)).in_words()
        '0.5833 with 25 failed as 0; 1.0000 over the 35 answered'
        >>> Summary.of("EdgeRecall", [10.0], 10, 20, Left(not_logged=10)).in_words()
        '0.5000 with 10 not logged as 0; 1.0000 over the 10 logged'
        >>> Summary.of("EdgeRecall", [4.0], 4, 4, strict=[-2.0]).in_words()
        '0.5000 with edges without a relation or commit matching nothing (1.0000 with any match)'
        """
        if self.strict is None:
            return self._in_words(failed_as, interval)
        counted_so = dataclasses.replace(self, mean=self.strict, strict=None)._in_words(failed_as, interval)
        return f"{counted_so} with {STRICT} ({shown(self.mean)} with any match)"

    def _in_words(self, failed_as: CountedAs, interval: str) -> str:
        held = f"{shown(self.held(failed_as))}{interval}"
        if zeros := self.zeros(failed_as):
            return f"{held} with {zeros} unscored as 0; {shown(self.mean)} over the {self.scored} scored"
        if not (self.unanswered or self.not_logged) or self.mean is None:
            return held
        over = "logged" if not self.unanswered else "answered" if not self.not_logged else "scored"
        answered = f" over the {self.scored} {over}"
        if not (count := self.as_worst(failed_as)) and self.with_failed is not None:
            return f"{held}{answered}; {self.left_in_words('unscored')} unscored"
        if self.with_failed is None:
            return f"{held}{answered}; {self.left_in_words('worst')}, for which the measure has no worst value"
        rest = f"; {self.not_logged} not logged unscored" if count < self.unanswered + self.not_logged else ""
        counts = f"{self.left_in_words(failed_as)} as {self.worst:g}"
        return f"{held} with {counts}; {shown(self.mean)}{answered}{rest}"

    def counts(self, failed_as: CountedAs = "worst") -> str:
        """Return the number of scored questions in words, with the failures and their value.

        >>> Summary.of("EdgeRecall", [35.0], 35, 60, Left(failed=25)).counts()
        '35/60, 25 failed as 0'
        """
        counts = f"{self.scored}/{self.total}"
        if zeros := self.zeros(failed_as):
            return f"{counts}, {zeros} unscored as 0"
        if not self.as_worst(failed_as):
            return counts
        return f"{counts}, {self.left_in_words(failed_as)} as {self.worst:g}"

    def __repr__(self) -> str:
        return f"<Summary: {self.in_words()} ({self.counts()})>"

    def _repr_html_(self) -> str:
        return block(f"{self.in_words()} ({self.counts()})")

    @property
    def failures(self) -> str:
        """The number of failed and missing questions in words; an empty text for none."""
        return self.left_in_words("failed")

    def left_in_words(self, counted_as: CountedAs) -> str:
        """Return the number of failed, missing and unlogged questions in words, the last unless only failures count."""
        counts = [(self.failed, "failed"), (self.missing, "missing")]
        counts += [(self.not_logged, "not logged")] if counted_as != "failed" else []
        *first, last = [f"{count} {what}" for count, what in counts if count] or [""]
        return f"{', '.join(first)} and {last}" if first else last


#: The note of an output in which failures don't count.
FAILURES_UNSCORED = (
    "failed, missing and unlogged questions are unscored at gates, targets and thresholds (missing_as=unscored)"
)

#: The note of an output in which only failures count.
UNLOGGED_UNSCORED = (
    "questions whose record doesn't log what a measure needs are unscored at gates, targets and thresholds "
    "(missing_as=failed)"
)

#: The note of an output in which every unscored question counts.
UNSCORED_AS_ZERO = "every unscored question counts as 0 where 0 is the worst value of the measure (missing_as=zero)"

#: The note of an output, by how it counts questions without a value; none for the default.
NOTES: Mapping[CountedAs, str] = {
    "failed": UNLOGGED_UNSCORED,
    "unscored": FAILURES_UNSCORED,
    "zero": UNSCORED_AS_ZERO,
}


def shown_mean(summary: Summary, failed_as: CountedAs) -> str:
    """Return the mean to show: over the scored questions, or over all if unscored ones count as 0.

    >>> shown_mean(Summary.of("EdgeRecall", [28.0], 28, 30), "zero")
    '0.9333'
    """
    return shown(summary.held(failed_as) if summary.zeros(failed_as) else summary.mean)


def mean_in_words(summary: Summary, failed_as: CountedAs) -> str:
    """Return the mean to show, how many questions have a value unless all do, and the value at gates if it is another.

    >>> mean_in_words(Summary.of("EdgeRecall", [4.0], 4, 4, strict=[-2.0]), "worst")
    '1.0000 (0.5000 at gates)'
    >>> mean_in_words(Summary.of("EdgeRecall", [35.0], 35, 60, Left(failed=25)), "worst")
    '1.0000 (35/60; 0.5833 at gates)'
    """
    mean, held = shown_mean(summary, failed_as), shown(summary.held(failed_as))
    notes = [f"{summary.scored}/{summary.total}"] if summary.scored < summary.total else []
    notes += [f"{held} at gates"] if held != mean else []
    return f"{mean} ({'; '.join(notes)})" if notes else mean


def scored_in_words(summary: Summary, failed_as: CountedAs, interval: str = "") -> str:
    """Return the number of scored questions in words, and the value that gates check if it isn't the mean.

    The interval, if given, stands beside the value that gates check. Where that is the mean, return the bounds of the
    mean for any values of the unscored questions.

    >>> scored_in_words(Summary.of("EdgeRecall", [35.0], 35, 60, Left(failed=25)), "worst")
    '35/60; 0.5833 with 25 failed as 0'
    >>> scored_in_words(Summary.of("EdgeRecall", [28.0], 28, 30), "worst")
    '28/30 scored (bounds 0.93-1.00)'
    >>> scored_in_words(Summary.of("EdgeRecall", [4.0], 4, 4, strict=[-2.0]), "worst", " [0.1000, 0.9000]")
    '4/4; 0.5000 [0.1000, 0.9000] with edges without a relation or commit matching nothing'
    """
    counts = f"{summary.scored}/{summary.total}"
    if summary.zeros(failed_as):
        counts = summary.counts(failed_as)
        return f"{counts}{interval}; {shown(summary.mean)} over the {summary.scored} scored"
    how = [f"{summary.left_in_words(failed_as)} as {summary.worst:g}"] if summary.as_worst(failed_as) else []
    how += [STRICT] if summary.strict is not None else []
    if how:
        return f"{counts}; {shown(summary.held(failed_as))}{interval} with {' and '.join(how)}"
    counts += interval
    if summary.lowest is None or summary.highest is None or summary.scored == summary.total:
        return counts
    return f"{counts} scored (bounds {two(summary.lowest)}-{two(summary.highest)})"
