"""The problems of an input, collected record by record, then refused as a whole or reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from graphkit.errors import InputError
from graphkit.files.extra_fields import extra_fields_beside
from graphkit.records.words import counted

OnError = Literal["fail", "skip"]

#: How many problems a message shows before it only counts them.
SHOWN = 10

#: How many examples of each kind of note are kept.
EXAMPLES = 3

#: How many problems are kept; further ones are only counted, or a file of nothing else would fill the memory.
KEPT = 10_000

#: How much of a text from a record a message shows.
LONGEST = 100


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


class Ignored(NamedTuple):
    """The first use of a field that isn't known: where it is (``file:line``), and the closest known name, if any."""

    where: str
    closest: str | None


@dataclass
class Problems:
    """The problems that reading found: skipped records, and notes about the others.

    Attributes
    ----------
    ignored_fields, first_ignored
        The fields that aren't known, by file and name: in how many records each is, and where it is first.
    strict
        Whether fields that aren't known refuse the input.
    beyond
        How many problems there are besides those in ``left_out``.
    """

    on_error: OnError = "fail"
    left_out: list[Problem] = field(default_factory=list)
    notes: dict[str, list[Problem]] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_ignored: dict[tuple[str, str], Ignored] = field(default_factory=dict)
    strict: bool = False
    beyond: int = 0
    _extra: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    def add(self, problem: Problem) -> None:
        """Record a problem: the record it names is left out."""
        if len(self.left_out) < KEPT:
            self.left_out.append(problem)
        else:
            self.beyond += 1

    def note(self, note: Problem) -> None:
        """Record something worth knowing about a record that is kept: counted, and the first few kept as examples."""
        self.noted[note.what] += 1
        examples = self.notes.setdefault(note.what, [])
        if len(examples) < EXAMPLES:
            examples.append(note)

    def ignore(self, where: str, name: str, known: Iterable[str] = (), within: str = "") -> None:
        """Count a field that isn't known, once for each record that has it, unless the dataset lists it as its own.

        Parameters
        ----------
        known
            The names that are known there.
        within
            The fields that lead to the part that has it, such as ``"paths.steps."``.
        """
        file, shown = where.rpartition(":")[0], within + shortened(name)
        if file not in self._extra:
            self._extra[file] = extra_fields_beside(Path(file))
        if self._extra[file] & {name, within + name}:
            return
        key = file, shown
        self.ignored_fields[key] += 1
        if key not in self.first_ignored:
            self.first_ignored[key] = Ignored(where, closest(name, known, within))

    def unknown_fields(self, reported: set[tuple[str, str]] | None = None) -> list[str]:
        """Return a sentence for each field of a file that isn't known; of each file some, and how many there are.

        It skips those in ``reported``, and adds the others to it.
        """
        reported = reported if reported is not None else set()
        fields = sorted(self.ignored_fields.keys() - reported)
        reported.update(fields)
        sentences = []
        of_file: Counter[str] = Counter()
        for file, name in fields:
            of_file[file] += 1
            if of_file[file] <= SHOWN:
                close = self.first_ignored[file, name].closest
                hint = f"; did you mean {close}?" if close else ""
                count = counted(self.ignored_fields[file, name], "record")
                sentences.append(f"{Path(file).name}: the field {name!r} isn't used ({count}{hint})")
        more = ((file, count - SHOWN) for file, count in of_file.items() if count > SHOWN)
        sentences += [
            f"{Path(file).name}: {counted(count, 'more field')} that graphkit doesn't use" for file, count in more
        ]
        return sentences

    def merge(self, other: Problems) -> None:
        """Take over what others hold."""
        room = KEPT - len(self.left_out)
        self.left_out.extend(other.left_out[:room])
        self.beyond += other.beyond + max(len(other.left_out) - room, 0)
        for what, examples in other.notes.items():
            kept = self.notes.setdefault(what, [])
            kept.extend(examples[: EXAMPLES - len(kept)])
        self.noted.update(other.noted)
        self.ignored_fields.update(other.ignored_fields)
        self.first_ignored = other.first_ignored | self.first_ignored

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
            Counter({field: count for field, count in self.ignored_fields.items() if field[0] != str(file)}),
            {field: first for field, first in self.first_ignored.items() if field[0] != str(file)},
            self.strict,
            self.beyond,
        )

    def faulty(self) -> str:
        """Return how many records can't be used, and how many faults they have where these are more."""
        records = len({problem.where for problem in self.left_out})
        faults = sum(1 + problem.more for problem in self.left_out)
        if self.beyond:
            return f"more than {records} records"
        also = f" ({faults} faults)" if faults > records else ""
        return f"{records} record{'' if records == 1 else 's'}{also}"

    def raise_if_refused(self, usable: int | None = None) -> None:
        """Refuse the input as a whole where problems were found and weren't to be skipped, or unknown fields if strict.

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
            if self.strict and self.first_ignored:
                self._refuse_unknown()
            return
        details = _first([str(problem) for problem in self.left_out[:SHOWN]], len(self.left_out) + self.beyond)
        if self.on_error == "skip":
            raise InputError(f"nothing usable is left: {self.faulty()} left out:", details=details)
        raise InputError(
            f"{self.faulty()} can't be used, so none was read:",
            details=details,
            remedy="Correct them, or skip them with --on-error skip.",
        )

    def _refuse_unknown(self) -> None:
        firsts = sorted(self.first_ignored.items())
        lines = []
        for (file, name), (where, close) in firsts[:SHOWN]:
            hint = f" (Did you mean {close}?)" if close else ""
            count = counted(self.ignored_fields[file, name], "record")
            lines.append(f"{where}: the field {name!r} isn't known, in {count}{hint}")
        raise InputError(
            f"{counted(len(firsts), 'field')} not known, which strict reading refuses:",
            details=_first(lines, len(firsts)),
            remedy="Correct the names or remove the fields, or read without --strict.",
        )


def _first(shown: list[str], total: int) -> list[str]:
    """Return the lines that are shown of so many, and how many more there are."""
    return [*shown, f"... and {total - len(shown)} more"] if total > len(shown) else shown


def shortened(text: str) -> str:
    """Return text that may be of any length as a message shows it."""
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def closest(name: str, known: Iterable[str], within: str = "") -> str | None:
    """Return the known name that is closest to one that isn't known, with what leads to it; None where none is close.

    >>> closest("retreived", ["answer", "retrieved"]), closest("size", ["text"]), closest("txt", ["text"], "retrieved.")
    ('retrieved', None, 'retrieved.text')
    """
    import difflib

    # Of what is longer than any name none is close.
    found = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST else []
    return within + found[0] if found else None
