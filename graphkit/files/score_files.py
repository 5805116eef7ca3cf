"""Files of scores by anyone: JSON Lines, CSV and Parquet, by the ending of the name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.parquet import parquet_rows
from graphkit.files.problems import Problems
from graphkit.files.reading import each_once, parse_record, read_records
from graphkit.files.tables import is_table, meant, read_table, write_table
from graphkit.records.scores import VALUES, Score


def read_scores(files: Iterable[str | Path], problems: Problems) -> list[Score]:
    """Return the scores of some files; a second score of a run's answer by a measure is a problem.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped.
    """
    return each_once(
        (found for path in files for found in _records(Path(path), problems)),
        lambda one: (one.run, one.question, one.measure),
        lambda one: f"{one.run} already has a score by {one.measure}",
        problems,
    )


def _records(path: Path, problems: Problems) -> Iterator[tuple[str, Score]]:
    if path.suffix == ".parquet":
        yield from _checked(path, _parquet_rows(path), problems)
    elif path.suffix == ".csv" or is_table(path):
        yield from _checked(path, _csv_rows(path), problems)
    else:
        yield from read_records(path, Score, problems)


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write scores as JSON Lines or, by the ending of the name, as CSV; the file appears complete, or not at all.

    Raises
    ------
    InputError
        The ending is unknown, or the file can't be written.
    """
    rows = (score.model_dump() for score in scores)
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError("scores can't be written in this form", where=str(path), remedy="Use .jsonl or .csv.")
    with written(path) as temporary:
        if path.suffix == ".csv":
            write_table(temporary, tuple(Score.model_fields), rows)
        else:
            temporary.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _checked(path: Path, rows: Iterable[dict[str, Any]], problems: Problems) -> Iterator[tuple[str, Score]]:
    """Validate the rows of a table like lines of JSON; the first line of a table is its header."""
    for number, row in enumerate(rows, 2):
        where = f"{path}:{number}"
        given = {name: value for name, value in row.items() if value is not None}
        # An empty cell is no value. A grade may be the value if the table has no column for another.
        if not _VALUES & given.keys() and (_VALUES & row.keys() or "grade" not in given):
            given["value"] = None
        line = json.dumps(given).encode()
        score = parse_record(Score, line, where, problems)
        if score is not None:
            yield where, score


#: The names of a score's value.
_VALUES = frozenset(VALUES)

#: The columns of a CSV file with numbers, true or false; the others hold text. An empty cell is None.
_NUMBERS = frozenset({*_VALUES, "confidence", "cost", "prompt_tokens", "output_tokens", "strict_value", "untyped"})

#: The fields that the writer adds to show the parameters of measures and lists of edges; a score doesn't have them.
_BESIDE = ("parameters", "missed_edges", "absent_edges")


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    for _, row in read_table(path):
        # Each row has a cell for each column.
        numbers = _NUMBERS if _VALUES & row.keys() else _NUMBERS | {"grade"}
        yield {name: _cell(value, number=name in numbers) for name, value in row.items() if name not in _BESIDE}


def _cell(text: Any, number: bool) -> Any:
    if not isinstance(text, str) or text == "":
        return None
    if number:
        try:
            return json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
        except (ValueError, RecursionError):
            return text
    return meant(text)


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    for row in parquet_rows(path):
        yield {name: value for name, value in row.items() if name not in _BESIDE}
