"""Mappings, by which rows of any form are read as records of a run: of a log, and of a table of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.tables import is_table
from graphkit.readers.logged import UnrecognisedLogError
from graphkit.readers.own_records import OwnRecord
from graphkit.records.plugins import installed, load

#: The entry points of plug-ins that read by mappings.
GROUP = "graphkit.mappings"

#: The endings of tables that are text.
_TABLES = (".csv", ".tsv", ".tab")


class MappedRows(Protocol):
    """A mapping of the rows of a file: which field of a record each value becomes."""

    def records(
        self, path: Path, questions: Path, problems: Problems, unread: Counter[str]
    ) -> Iterator[tuple[str, OwnRecord]]:
        """Yield the records in the rows of a file, each with its ``file:line``; count the fields that aren't read.

        Raises
        ------
        InputError
            A row can't be used and isn't skipped, or none can.
        """


class Mappings(Protocol):
    """The reader of rows by mappings: the object that an entry point of ``graphkit.mappings`` names."""

    def given(self, given: Sequence[str | Path] | Mapping[str, str]) -> MappedRows:
        """Return the mapping that a user writes by ``--map``; raise an InputError if it isn't understood."""

    def of_table(self, path: Path) -> MappedRows | None:
        """Return how a table is read whose columns have the names of a record's fields; None for another table."""

    def run_of_table(self, path: Path) -> str | None:
        """Return the run that the first row of a table names; raise an InputError if it can't be read."""

    def accepted(
        self, error: UnrecognisedLogError, files: Sequence[Path], dataset: Path, logs: Any, on_error: Any
    ) -> list[str | Path]:
        """Return the mapping that the user accepts for logs that no reader knows.

        ``logs`` and ``on_error`` are options of ``graphkit import auto``.

        Raises
        ------
        InputError
            No mapping is found or accepted.
        """


def mappings(what: str) -> Mappings:
    """Return what reads by mappings; ``what`` is what needs it.

    Raises
    ------
    InputError
        Its plug-in isn't there.
    """
    found: Mappings = load(next(iter(installed(GROUP).values())), InputError, what)
    return found


def mapping_file(path: Path) -> Path:
    """Return the file in which the mapping of a log lies beside it."""
    return path.with_name(f"{path.name}.map")


def is_log_table(path: Path) -> bool:
    """Return whether a log is a table, by its ending or its content.

    Raises
    ------
    InputError
        The file is missing or can't be read.
    """
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return name.partition("#")[0].endswith(_TABLES) or is_table(path)
