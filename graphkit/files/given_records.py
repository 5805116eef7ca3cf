"""Writes records in memory to a temporary file, for functions that read files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.leftovers import held_folder
from graphkit.records.aliases import ANSWER
from graphkit.records.plain import plain_or_none, plain_row

#: The name of a run whose records name none.
UNNAMED_RUN = "records"


@contextmanager
def file_of(records: Iterable[Any]) -> Iterator[Path]:
    """Yield a temporary file with records of a run, one per line.

    Parameters
    ----------
    records
        Mappings, models, named tuples or rows of pandas, or a whole data frame. If none names its run, it is
        ``"records"``.

    Raises
    ------
    InputError
        One of them isn't a record, or can't be written as JSON.
    """
    frame = type(records).__module__.partition(".")[0] == "pandas" and hasattr(records, "columns")
    rows: Iterable[Any] = records.to_dict("records") if frame else records  # type: ignore[attr-defined]
    with held_folder() as folder:
        path = folder / "records.jsonl"
        with path.open("wb") as file:
            for number, record in enumerate(rows, 1):
                file.write(_line(record, number))
        yield path


def _line(record: Any, number: int) -> bytes:
    where = f"record {number}"
    row = plain_row(record)
    if row is None:
        what = f"a record is a mapping, a model or a row of a table, not {type(record).__name__}"
        raise InputError(what, where=where, remedy="Name a file, or give a list of records.")
    if not any(name in row for name in ("run", *ANSWER["run"])):
        row["run"] = UNNAMED_RUN
    try:
        return json.dumps(row, default=_plain, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the record can't be written as JSON: {error}", where=where) from None


def _plain(value: Any) -> Any:
    plain = plain_or_none(value)
    if plain is None:
        raise TypeError(f"it holds a value of type {type(value).__name__}")
    return plain
