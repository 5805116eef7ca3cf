"""Scores from files: JSON Lines, CSV and Parquet, by the ending of the name, whoever gave them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.jsonl import open_binary
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import parse_record, read_records
from graphkit.records.scores import Score


def read_scores(files: Iterable[str | Path], problems: Problems) -> list[Score]:
    """Return the scores of some files; a second score of a run's answer by a measure is a problem.

    Raises
    ------
    InputError
        A file or a record can't be used and problems aren't to be skipped.
    """
    scores: dict[tuple[str, str, str], Score] = {}
    for path in files:
        for where, score in _records(Path(path), problems):
            key = (score.run, score.question, score.measure)
            if key in scores:
                what = f"{score.run} already has a score by {score.measure}"
                problems.add(Problem(where, what, record=score.question))
            scores.setdefault(key, score)
    problems.settle(usable=len(scores))
    return list(scores.values())


def _records(path: Path, problems: Problems) -> Iterator[tuple[str, Score]]:
    if path.suffix == ".csv":
        yield from _checked(path, _csv_rows(path), problems)
    elif path.suffix == ".parquet":
        yield from _checked(path, _parquet_rows(path), problems)
    else:
        yield from read_records(path, Score, problems)


def _checked(path: Path, rows: Iterable[dict[str, Any]], problems: Problems) -> Iterator[tuple[str, Score]]:
    """Validate the rows of a table as the lines of JSON are; a table has its header on the first line."""
    for number, row in enumerate(rows, 2):
        where = f"{path}:{number}"
        line = json.dumps({name: value for name, value in row.items() if value is not None}).encode()
        value = {"value": None} if not _VALUES & row.keys() or all(row.get(name) is None for name in _VALUES) else {}
        if value:
            line = json.dumps({**json.loads(line), **value}).encode()
        score = parse_record(Score, line, where, problems)
        if score is not None:
            yield where, score


#: The names of the value of a score.
_VALUES = frozenset({"value", "score", "grade", "correct"})

#: The columns of a CSV file that hold numbers; the others are text. An empty cell is nothing.
_NUMBERS = frozenset({*_VALUES, "cost", "prompt_tokens", "output_tokens"})

#: What the writer adds so that each file tells how its measures were set: not part of a score.
_BESIDE = ("parameters",)


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    with open_binary(path) as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError("the file isn't text in UTF-8", where=f"{path}:{error.start}") from None
    for row in csv.DictReader(text.splitlines(keepends=True)):
        yield {name: _cell(name, value) for name, value in row.items() if name and name not in _BESIDE}


def _cell(name: str, text: Any) -> Any:
    if not isinstance(text, str) or text == "":
        return None
    if name in _NUMBERS:
        try:
            return json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
        except ValueError:
            return text
    # A leading quote keeps a spreadsheet from taking text as a formula.
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "\t", "\r") else text


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        remedy = "pip install 'graphkit[parquet]', or write .csv or .jsonl."
        raise InputError("Parquet needs pyarrow", where=str(path), remedy=remedy) from None
    try:
        rows = parquet.read_table(path).to_pylist()
    except (ArrowException, OSError) as error:
        raise InputError(f"the file can't be read as Parquet: {error}", where=str(path)) from None
    for row in rows:
        yield {name: value for name, value in row.items() if name not in _BESIDE}
