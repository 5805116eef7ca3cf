"""The doubts in a run's records, reported once per run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from graphkit.records.words import counted, shortened

#: How many different doubts of a run are reported; the others are counted together.
MOST = 20
OTHERS = "other doubts"

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
        known = doubt in self._counts or len(self._counts) < MOST
        self._counts[doubt if known else OTHERS] += count
