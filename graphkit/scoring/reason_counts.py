"""The reasons of questions without a value, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphkit.measures.base import Unscored
from graphkit.measures.owners import Owner, owners, text_of
from graphkit.records.unanswered import FAILED, MISSING

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
