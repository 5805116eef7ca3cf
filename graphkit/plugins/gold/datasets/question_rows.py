"""Questions of a table, YAML or JSON file, as rows under the names of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.intake import is_pipe
from graphkit.files.problems import Problems
from graphkit.files.tables import is_table, meant, read_table
from graphkit.imports.sources import is_json
from graphkit.plugins.gold.datasets.question_fields import field_of
from graphkit.plugins.logs.conversations import each_turn
from graphkit.plugins.logs.judgements import is_qrels, judged_questions
from graphkit.plugins.mapping.log_rows import json_rows
from graphkit.records.aliases import ANSWER, QUESTION, fields_by_other_name
from graphkit.records.structs import AnswerStruct, QuestionStruct

#: The other names of fields, and the fields that a run's records have and questions haven't.
_QUESTION_NAMES, _RUN_NAMES = fields_by_other_name(QUESTION), fields_by_other_name(ANSWER)
_OF_RUNS = {field.encode_name for field in msgspec.structs.fields(AnswerStruct)} - {
    *(field.encode_name for field in msgspec.structs.fields(QuestionStruct)),
    *_QUESTION_NAMES,
}


def question_rows(
    path: Path, problems: Problems, rows_in: Callable[[Any], list[Any] | None] = lambda _: None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (``file:line``, row) of each question: a table, YAML by its ending, else JSON or JSON Lines.

    Relevance judgements are questions, too, whose texts stand in a file beside them; ``problems`` collects what is
    wrong with them. ``rows_in`` is that of :func:`graphkit.plugins.mapping.log_rows.json_rows`.

    Raises
    ------
    InputError
        The file can't be read, or a row isn't an object.
    """
    if path.exists() and is_pipe(path):
        remedy = "Save it as a file: it is read more than once."
        raise InputError("questions aren't read from a pipe", where=str(path), remedy=remedy)
    name = path.name.removesuffix(".gz").removesuffix(".zst").lower()
    if name.endswith((".yaml", ".yml")):
        rows = _yaml(path)
    elif is_qrels(path):
        rows = judged_questions(path, problems)
    else:
        rows = _table(path) if is_table(path) or not is_json(path) else json_rows(path, rows_in)
    for where, row in rows:
        if not isinstance(row, dict):
            remedy = "Write each question as an object with a question and its gold."
            raise InputError("a question must be an object with named fields", where=where, remedy=remedy)
        for one in each_turn(row, f"row-{where.rpartition(':')[2]}"):
            yield where, one


def _yaml(path: Path) -> Iterator[tuple[str, Any]]:
    from graphkit.plugins.gold.datasets.yaml_rows import yaml_records

    for line, value in yaml_records(path):
        yield f"{path}:{line}", value


def _table(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a table; a row above the names of its columns is a title."""
    for number, row in read_table(
        path, lambda cells: any((field_of(cell) or ("",))[0] == "question" for cell in cells)
    ):
        yield f"{path}:{number}", {name: meant(cell.strip()) for name, cell in row.items()}


def refuse_run(record: Any, path: Path, where: str) -> None:
    """Refuse a record of a run where a question is expected: it has no question, and fields that only runs have.

    Raises
    ------
    InputError
        It is one.
    """
    if not isinstance(record, dict) or any(_QUESTION_NAMES.get(name, name) == "question" for name in record):
        return
    if {_RUN_NAMES.get(name, name) for name in record} & _OF_RUNS:
        command = command_text("evaluate", path, options=" --dataset DATASET")
        remedy = f"`{command}` scores a run: name a file of questions here."
        raise InputError("this is the record of a run, not a question", where=where, remedy=remedy)
