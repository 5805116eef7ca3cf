"""The rows of a log of any form: values of JSON, rows of a table, or what patterns find in lines of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphkit.files.problems import Problems
from graphkit.files.tables import columns_of, meant, read_table
from graphkit.imports.mappings import is_log_table
from graphkit.imports.sources import is_json, text_of, values_of
from graphkit.plugins.mapping.field_maps import STEP, FieldMap
from graphkit.records.aliases import ANSWER, EDGE, QUESTION
from graphkit.records.ids import id_of

#: The columns of amounts and counts, which are numbers in a record and texts in a table.
_NUMBERS = frozenset(
    name
    for field in ("latency_ms", "model_calls", "prompt_tokens", "output_tokens", "cost", "confidence")
    for name in (field, *ANSWER.get(field, ()))
)
#: The columns of yes and no, and how tables write these.
_FLAGS = frozenset(("ordered", "abstained", *ANSWER.get("abstained", ())))
_YES_OR_NO = {"true": True, "yes": True, "false": False, "no": False}


#: The names of a question, and of what a system did, as columns of a table.
_QUESTIONS = ("question_id", *ANSWER["question_id"], "question", *QUESTION["question"])
_PATHS = ("path", "paths", "traversal", *ANSWER["traversal"])
_RELATIONS = ("relation", *EDGE["relation"])


def own_columns(path: Path) -> FieldMap | None:
    """Return how a table of a run is read whose columns have the names of a record's fields; None for another table.

    A row is a question with a path (``run, question_id, answer, path``), or a hop with its ``source`` and ``target``.
    """
    columns = {name.strip() for name in columns_of(path)}
    if not columns & {*_QUESTIONS}:
        return None
    fields = {}
    if {"source", "target"} <= columns:
        relation = next((f"relation: {name}, " for name in _RELATIONS if name in columns), "")
        fields[STEP] = f"{{source: source, {relation}target: target}}"
    elif walk := next((name for name in _PATHS if name in columns), None):
        fields["traversal"] = f"arrows({walk} || '')"
    if listed := next((name for name in ("retrieved", *ANSWER["retrieved"]) if name in columns), None):
        fields["retrieved"] = f"split({listed}, ';')"
    answered = columns & {"answer", *ANSWER["answer"]}
    if not fields and not answered:
        return None
    return FieldMap(fields or {"answer": next(iter(answered))})


def run_of_table(path: Path) -> str | None:
    """Return the run that the first row of a table names; raise the errors of :func:`log_rows`."""
    for _, first in log_rows(path):
        return id_of(next((first[name] for name in ("run", *ANSWER["run"]) if first.get(name)), None))
    return None


def log_rows(path: Path, fields: FieldMap | None = None, problems: Problems | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (``file:line``, row) of each row of a log, as a map says, or else by the form of the file.

    A row of text has what the patterns of the map find in its line; other lines are no rows. A cell of a table that is
    JSON is its value, and an empty one is null.

    Raises
    ------
    InputError
        The file can't be read; or a row can't, and isn't skipped.
    """
    if fields is not None and fields.patterns:
        yield from ((where, row) for where, line in text_of(path) if (row := fields.row_of(line)))
    elif is_log_table(path):
        yield from ((f"{path}:{number}", _cells(row)) for number, row in read_table(path))
    elif fields is not None and not is_json(path):
        yield from ((where, {"line": line}) for where, line in text_of(path))
    else:
        yield from json_rows(path, (lambda _: None) if fields is None else fields.rows, problems)


def json_rows(
    path: Path, rows_in: Callable[[Any], list[Any] | None] = lambda _: None, problems: Problems | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield (``file:line``, row) of each value of JSON; a list alone in an object holds rows, too.

    ``rows_in`` returns the rows in a value, or None where that is for its form to say.
    """
    for where, value in values_of(path, problems):
        if (rows := rows_in(value)) is not None:
            yield from ((f"{where} (item {number})", item) for number, item in enumerate(rows, 1))
            continue
        [inner] = value.values() if isinstance(value, dict) and len(value) == 1 else [None]
        if isinstance(inner, list) and all(isinstance(item, dict) for item in inner):
            for number, item in enumerate(inner, 1):
                yield f"{where} (item {number})", item
        else:
            yield where, value


def _cells(row: dict[str, str]) -> dict[str, Any]:
    return {name: _cell(name, meant(cell.strip())) for name, cell in row.items() if cell.strip()}


def _cell(column: str, text: str) -> Any:
    """Return the value of a cell; what isn't JSON of its kind stays text, which the record's check refuses."""
    if column in _FLAGS:
        return _YES_OR_NO.get(text.casefold(), text)
    if text[0] not in "[{" and column not in _NUMBERS:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) or column in _NUMBERS else text
