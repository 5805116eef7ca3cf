"""The problems of an input, collected record by record, then refused as a whole or reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from graphkit.errors import InputError
from graphkit.files.dataset_settings import extra_fields_beside
from graphkit.records.aliases import mapping_of
from graphkit.records.words import counted

OnError = Literal["fail", "skip"]

#: The number of problems that a message shows; it counts the others.
SHOWN = 10

#: The number of examples of each kind of note that are kept.
EXAMPLES = 3

#: The number of problems that are kept; others are only counted, so that they can't fill the memory.
KEPT = 10_000

#: The longest part of a text from a record in a message.
LONGEST = 100


#: Whether who reads has an option that skips unusable records, and one that maps fields: messages may recommend these.
_skips, _maps = True, True


@contextmanager
def offering(*, skips: bool, maps: bool) -> Iterator[None]:
    """State for the block whether messages may recommend ``--on-error skip``, and ``--map`` for an unknown field."""
    global _skips, _maps
    before = _skips, _maps
    _skips, _maps = skips, maps
    try:
        yield
    finally:
        _skips, _maps = before


@dataclass(frozen=True, slots=True)
class Problem:
    """An unusable record: its place (``file:line``), its id, the mistake and the remedy.

    ``more`` is the number of its further mistakes.
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


def of_no_question(
    where: str, question: str, refused: Collection[str | None], remedy: str = "Check --dataset."
) -> Problem:
    """Return the problem of a record whose question can't be found, or was ``refused`` itself."""
    if question in refused:
        return Problem(where, "its question can't be used", question, "Correct the question.")
    return Problem(where, "the question id is not in the dataset", question, remedy)


class Ignored(NamedTuple):
    """The first use of an unknown field: its place (``file:line``), and the closest known name, if any."""

    where: str
    closest: str | None


@dataclass
class Problems:
    """The problems of an input: skipped records, and notes about the others.

    Attributes
    ----------
    ignored_fields, first_ignored
        The unknown fields by file and name: the number of records with each, and its first use.
    strict
        Whether unknown fields refuse the input.
    beyond
        The number of problems besides those in ``skipped``.
    """

    on_error: OnError = "fail"
    skipped: list[Problem] = field(default_factory=list)
    notes: dict[str, list[Problem]] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)
    ignored_fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_ignored: dict[tuple[str, str], Ignored] = field(default_factory=dict)
    strict: bool = False
    beyond: int = 0
    _extra: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    def add(self, problem: Problem) -> None:
        """Add a problem, whose record is skipped."""
        if len(self.skipped) < KEPT:
            self.skipped.append(problem)
        else:
            self.beyond += 1

    def refused(self, file: Path) -> set[str | None]:
        """Return the ids of the records in a file that can't be used."""
        return {one.record for one in self.skipped if one.where.rpartition(":")[0] == str(file)}

    def note(self, note: Problem) -> None:
        """Count a note about a usable record, and keep the first few as examples."""
        self.noted[note.what] += 1
        examples = self.notes.setdefault(note.what, [])
        if len(examples) < EXAMPLES:
            examples.append(note)

    def ignore(self, where: str, name: str, known: Iterable[str] = (), within: str = "") -> None:
        """Count an unknown field, once for each record that has it, unless the dataset lists it as its own.

        Parameters
        ----------
        known
            The known names at its place.
        within
            The fields that lead to its place, such as ``"paths.steps."``.
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

    def allow(self, file: str, extra: frozenset[str]) -> None:
        """State the dataset's own fields in a file; by default the ``dataset.json`` beside it lists them."""
        self._extra[file] = extra

    def unknown_fields(self, reported: set[tuple[str, str]] | None = None) -> list[str]:
        """Return sentences about unknown fields: some of each file, and the number of the others.

        It skips the fields in ``reported``, and adds the others to it.
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
                mapping = mapping_of(name) if _maps else None
                hint = f"; did you mean {close}?" if close else f"; {mapping} reads it" if mapping else ""
                count = counted(self.ignored_fields[file, name], "record")
                sentences.append(f"{Path(file).name}: the field {name!r} isn't used ({count}{hint})")
        more = ((file, count - SHOWN) for file, count in of_file.items() if count > SHOWN)
        sentences += [
            f"{Path(file).name}: {counted(count, 'more field')} that graphkit doesn't use" for file, count in more
        ]
        return sentences

    def merge(self, other: Problems) -> None:
        """Add the problems of another collection."""
        room = KEPT - len(self.skipped)
        self.skipped.extend(other.skipped[:room])
        self.beyond += other.beyond + max(len(other.skipped) - room, 0)
        for what, examples in other.notes.items():
            kept = self.notes.setdefault(what, [])
            kept.extend(examples[: EXAMPLES - len(kept)])
        self.noted.update(other.noted)
        self.ignored_fields.update(other.ignored_fields)
        self.first_ignored = other.first_ignored | self.first_ignored

    def without(self, files: Collection[str]) -> Problems:
        """Return the problems without those of files that will be read again."""

        def elsewhere(problem: Problem) -> bool:
            return problem.where not in files and problem.where.rpartition(":")[0] not in files

        notes = {what: examples for what, examples in self.notes.items() if elsewhere(examples[0])}
        return Problems(
            self.on_error,
            list(filter(elsewhere, self.skipped)),
            notes,
            Counter({what: self.noted[what] for what in notes}),
            Counter({field: count for field, count in self.ignored_fields.items() if field[0] not in files}),
            {field: first for field, first in self.first_ignored.items() if field[0] not in files},
            self.strict,
            self.beyond,
        )

    def faulty(self) -> str:
        """Return the number of unusable records, and that of their mistakes if there are more."""
        records = len({problem.where for problem in self.skipped})
        faults = sum(1 + problem.more for problem in self.skipped)
        if self.beyond:
            return f"more than {records} records"
        also = f" ({faults} faults)" if faults > records else ""
        return f"{records} record{'' if records == 1 else 's'}{also}"

    def raise_if_refused(self, usable: int | None = None) -> None:
        """Refuse the whole input if it has problems and the mode doesn't skip them, or if strict, unknown fields.

        Parameters
        ----------
        usable
            The number of usable records; with problems and 0 usable ones, the input is always refused.

        Raises
        ------
        InputError
            It shows the first problems, and the numbers of records with problems and of problems.
        """
        if not self.skipped or (self.on_error == "skip" and usable != 0):
            if self.strict and self.first_ignored:
                self._refuse_unknown()
            return
        details = _first([str(problem) for problem in self.skipped[:SHOWN]], len(self.skipped) + self.beyond)
        if self.on_error == "skip":
            raise InputError(f"nothing usable is left: {self.faulty()} left out:", details=details)
        skips = _skips and usable != 0  # where nothing else is left, skipping repairs nothing
        raise InputError(
            f"{self.faulty()} can't be used, so none was read:",
            details=details,
            remedy=f"Correct them{', or skip them with --on-error skip' if skips else ''}.",
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
    """Return the lines to show out of a total, with the number of the others."""
    return [*shown, f"... and {total - len(shown)} more"] if total > len(shown) else shown


def shortened(text: str) -> str:
    """Return a text of any length, shortened for a message."""
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def closest(name: str, known: Iterable[str], within: str = "") -> str | None:
    """Return the known name that is closest to an unknown one, with its place; None if none is close.

    >>> closest("retreived", ["answer", "retrieved"]), closest("size", ["text"]), closest("txt", ["text"], "retrieved.")
    ('retrieved', None, 'retrieved.text')
    """
    import difflib

    # No known name is close to a text that is longer than all of them.
    found = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST else []
    return within + found[0] if found else None
