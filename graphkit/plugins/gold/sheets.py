"""The sheets in which a person decides which sampled questions are added to a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.tables import meant, read_table, write_table

#: What a person may decide, as it may be typed.
DECISIONS = {"a": True, "accept": True, "r": False, "reject": False}


def write_sheet(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]], prefix: str, taken: set[str]
) -> None:
    """Write a sheet of rows, each with a new id before its cells and an empty decision after them.

    ``taken`` are the ids of questions that there are. Raise InputError if the file can't be written.
    """
    free = (name for number in count(1) if (name := f"{prefix}-{number}") not in taken)
    with written(path) as temporary:
        lines = [dict(zip(columns, (next(free), *row, ""), strict=True)) for row in rows]
        write_table(temporary, columns, lines)


def decided(path: Path, columns: Sequence[str], known: set[str]) -> tuple[list[dict[str, str]], int, int]:
    """Return the rows that a sheet accepts, how many it rejects, and how many are open.

    A row whose id is ``known`` was accepted before, and is left out: a sheet may be read twice.

    Raises
    ------
    InputError
        A column is missing, or a decision isn't understood.
    """
    found: list[dict[str, str]] = []
    rejected = undecided = 0
    for number, row in read_table(path):
        where = f"{path}:{number}"
        if missing := [name for name in columns if name not in row]:
            remedy = f"A sheet has the columns {', '.join(columns)}."
            raise InputError(f"the column {missing[0]!r} is missing", where=where, remedy=remedy)
        cells = {name: meant(row[name]).strip() for name in columns}
        line = cells["decision"].casefold()
        if line and line not in DECISIONS:
            raise InputError(f"{cells['decision']!r} is no decision", where=where, remedy="Decide by accept or reject.")
        rejected += DECISIONS.get(line) is False
        undecided += not line
        if DECISIONS.get(line) and cells["question_id"] not in known:
            found.append(cells)
    return found, rejected, undecided
