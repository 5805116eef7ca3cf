"""What was wrong with an input, collected record by record, then refused as a whole or reported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from graphkit.errors import InputError

OnError = Literal["fail", "skip"]

#: How many problems a message shows before it only counts them.
SHOWN = 10

#: How many examples of each kind of note are kept.
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that can't be used: where it is (``file:line``), which it is, what is wrong, and what to do.

    ``more`` is how many further faults the record has, which are only counted.
    """

    where: str
    what: str
    record: str | None = None
    remedy: str | None = None
    more: int = 0

    def __str__(self) -> str:
        record = f"record {self.record!r}: " if self.record else ""
        advice = f" ({self.remedy})" if self.remedy else ""
        more = f" and {self.more} more faults" if self.more else ""
        return f"{self.where}: {record}{self.what}{advice}{more}"


@dataclass
class Problems:
    """What reading came upon: records that are left out, and notes about records that are kept."""

    on_error: OnError = "fail"
    left_out: list[Problem] = field(default_factory=list)
    notes: dict[str, list[Problem]] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, problem: Problem) -> None:
        """Record a problem: the record it names is left out."""
        self.left_out.append(problem)

    def note(self, note: Problem) -> None:
        """Record something worth knowing about a record that is kept: counted, and the first few kept as examples."""
        self.noted[note.what] += 1
        examples = self.notes.setdefault(note.what, [])
        if len(examples) < EXAMPLES:
            examples.append(note)

    def merge(self, other: Problems) -> None:
        """Take over what others hold."""
        self.left_out.extend(other.left_out)
        for what, examples in other.notes.items():
            kept = self.notes.setdefault(what, [])
            kept.extend(examples[: EXAMPLES - len(kept)])
        self.noted.update(other.noted)
        self.ignored_fields.update(other.ignored_fields)

    def without(self, file: Path) -> Problems:
        """Return these without those of one file, for whoever reads that file again."""

        def elsewhere(problem: Problem) -> bool:
            return str(file) not in (problem.where, problem.where.rpartition(":")[0])

        notes = {what: examples for what, examples in self.notes.items() if elsewhere(examples[0])}
        return Problems(
            self.on_error,
            list(filter(elsewhere, self.left_out)),
            notes,
            Counter({what: self.noted[what] for what in notes}),
            Counter({field: count for field, count in self.ignored_fields.items() if field[0] != file.name}),
        )

    def faulty(self) -> str:
        """Return how many records can't be used, and how many faults they have where these are more."""
        records = len({problem.where for problem in self.left_out})
        faults = sum(1 + problem.more for problem in self.left_out)
        also = f" ({faults} faults)" if faults > records else ""
        return f"{records} record{'' if records == 1 else 's'}{also}"

    def settle(self, usable: int | None = None) -> None:
        """Refuse the input as a whole where problems were found and weren't to be skipped.

        Parameters
        ----------
        usable
            How many records were usable; 0 is refused also where problems are skipped.

        Raises
        ------
        InputError
            With the first problems, how many records have some, and how many there are.
        """
        if not self.left_out or (self.on_error == "skip" and usable != 0):
            return
        shown = "\n".join(f"  {problem}" for problem in self.left_out[:SHOWN])
        rest = len(self.left_out) - SHOWN
        more = f"\n  ... and {rest} more" if rest > 0 else ""
        if self.on_error == "skip":
            raise InputError(f"nothing usable is left: {self.faulty()} left out:\n{shown}{more}")
        raise InputError(
            f"{self.faulty()} can't be used, so none was taken:\n{shown}{more}",
            remedy="Correct them, or leave them out with --on-error skip.",
        )
