"""What was wrong with an input: collected record by record, then refused as a whole or reported."""

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
    """A record that can't be used: where it is (``file:line``), which it is, what is wrong, and what to do."""

    where: str
    what: str
    record: str | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        record = f"record {self.record!r}: " if self.record else ""
        advice = f" ({self.remedy})" if self.remedy else ""
        return f"{self.where}: {record}{self.what}{advice}"


@dataclass
class Report:
    """Problems (records left out) and notes (records kept, with something to know about them)."""

    on_error: OnError = "fail"
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, list[Problem]] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, problem: Problem) -> None:
        """Record a problem: the record it names is left out."""
        self.problems.append(problem)

    def note(self, note: Problem) -> None:
        """Record something worth knowing about a record that is kept: counted, and the first few kept as examples."""
        self.noted[note.what] += 1
        examples = self.notes.setdefault(note.what, [])
        if len(examples) < EXAMPLES:
            examples.append(note)

    def merge(self, other: Report) -> None:
        """Take over what another report holds."""
        self.problems.extend(other.problems)
        for what, examples in other.notes.items():
            kept = self.notes.setdefault(what, [])
            kept.extend(examples[: EXAMPLES - len(kept)])
        self.noted.update(other.noted)
        self.ignored_fields.update(other.ignored_fields)

    def without(self, file: Path) -> Report:
        """Return the report without the problems and unused fields of one file, for who reads that file again."""
        return Report(
            self.on_error,
            [problem for problem in self.problems if problem.where.rpartition(":")[0] != str(file)],
            self.notes,
            self.noted,
            Counter({field: count for field, count in self.ignored_fields.items() if field[0] != file.name}),
        )

    def settle(self, usable: int | None = None) -> None:
        """Refuse the input as a whole where problems were found and weren't to be skipped.

        Parameters
        ----------
        usable
            How many records were usable; 0 is refused also where problems are skipped.

        Raises
        ------
        InputError
            With the first problems, and how many there are.
        """
        if not self.problems or (self.on_error == "skip" and usable != 0):
            return
        shown = "\n".join(f"  {problem}" for problem in self.problems[:SHOWN])
        rest = len(self.problems) - SHOWN
        more = f"\n  ... and {rest} more" if rest > 0 else ""
        count = len(self.problems)
        if self.on_error == "skip":
            raise InputError(f"nothing usable is left: {count} record(s) were left out:\n{shown}{more}")
        raise InputError(
            f"{count} record(s) can't be used, so none was taken:\n{shown}{more}",
            remedy="Correct them, or leave them out with --on-error skip.",
        )
