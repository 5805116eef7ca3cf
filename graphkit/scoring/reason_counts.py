"""The reasons of questions without a value, and the doubts in a run's records, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphkit.measures.base import Unscored
from graphkit.measures.owners import Owner, owners, text_of
from graphkit.records.unanswered import FAILED, MISSING
from graphkit.records.words import counted, shortened

#: How many reasons of one measure are listed separately.
MOST_REASONS = 20
OTHER_REASONS = "other reasons"


class Left(NamedTuple):
    """Counts of questions without a value, by the owner of the reason; the others had nothing to measure."""

    failed: int = 0
    missing: int = 0
    not_logged: int = 0
    of_question: int = 0

    def plus(self, other: Sequence[int], sign: int = 1) -> Left:
        """Return the sums of both, or the differences."""
        return Left(*(one + sign * two for one, two in zip(self, other, strict=True)))


def count_reasons(values: Iterable[float | str | Unscored]) -> tuple[Counter[str], Left]:
    """Return the number of each reason, without failed and missing questions, and the numbers by whose reason it is."""
    reasons = (text_of(value) if isinstance(value, Unscored) else value for value in values)
    return apart_from_failures(Counter(one for one in reasons if isinstance(one, str)))


def apart_from_failures(found: Counter[str]) -> tuple[Counter[str], Left]:
    """Return counted reasons without those of failed and of missing questions, and the numbers by their owner."""
    missing = found.pop(MISSING, 0)
    failed = sum(found.pop(one) for one in [one for one in found if one.startswith(FAILED)])
    whose = owners(found)
    return bounded(found), Left(failed, missing, whose[Owner.NOT_LOGGED], whose[Owner.QUESTION])


def bounded(reasons: Counter[str]) -> Counter[str]:
    """Return the most frequent reasons, and the others as one: a user's measure may name each question."""
    if len(reasons) <= MOST_REASONS:
        return reasons
    kept = Counter(dict((reasons - Counter({OTHER_REASONS: reasons[OTHER_REASONS]})).most_common(MOST_REASONS)))
    kept[OTHER_REASONS] += reasons.total() - kept.total()
    return kept


def listed(reasons: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """Return the reasons of each measure that has some, the most frequent first."""
    return {name: dict(found.most_common()) for name, found in reasons.items() if found}


#: How many different doubts of a run are reported; the others are counted together.
MOST_DOUBTS = 20
OTHER_DOUBTS = "other doubts"

#: The longest part of a doubt that is reported.
LONGEST = 300


def plain(doubts: Iterable[str]) -> list[str]:
    """Return the doubts of a record as they are counted, each once."""
    return list(dict.fromkeys(shortened(" ".join(doubt.split()), LONGEST) for doubt in doubts))


class Doubts:
    """The number of records of a run that hold each doubt."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, doubts: Iterable[str]) -> None:
        """Count the doubts of a record."""
        for doubt in plain(doubts):
            self.count(doubt, 1)

    def merge(self, other: Doubts) -> None:
        """Count those of another part of the run."""
        for doubt, count in other._counts.items():
            self.count(doubt, count)

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for each doubt, the most frequent first.

        >>> doubts = Doubts()
        >>> doubts.add(["a limit ended it"])
        >>> doubts.warnings()
        ('doubtful in 1 answer: a limit ended it',)
        """
        return tuple(f"doubtful in {counted(count, 'answer')}: {doubt}" for doubt, count in self._counts.most_common())

    def count(self, doubt: str, count: int) -> None:
        """Count a doubt in some records."""
        known = doubt in self._counts or len(self._counts) < MOST_DOUBTS
        self._counts[doubt if known else OTHER_DOUBTS] += count
