"""Records of a run from any JSON, by the fields that a user maps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.files.run_files import trial_of
from graphkit.imports.field_maps import REMEDY, FieldMap
from graphkit.imports.question_rows import json_rows
from graphkit.readers.own_records import OwnRecord, in_walking_order
from graphkit.records.models import Answer
from graphkit.records.structs import AnswerStruct, struct_of
from graphkit.records.words import shortened


def mapped_records(
    path: Path, fields: FieldMap, questions: Path, problems: Problems, unread: Counter[str]
) -> Iterator[tuple[str, OwnRecord]]:
    """Yield the records in the rows of a file, each with its ``file:line``.

    Raises
    ------
    InputError
        A row can't be used and isn't skipped, or none can.
    """
    reader = RecordReader(path, AnswerStruct, problems, questions)
    usable = 0
    for where, row in json_rows(path):
        try:
            given, scores = fields.answer(row), fields.scores(row)
        except InputError as error:
            problems.add(Problem(where, error.what, remedy=error.remedy))
            continue
        unread.update(fields.unread(row))
        line = json.dumps(given).encode()
        of_row = Problems("skip")
        record = parse_record(Answer, line, where, of_row, complete=reader.complete)
        of_row.skipped = [replace(one, remedy=one.remedy or REMEDY) for one in of_row.skipped]
        problems.merge(of_row)
        if record is not None:
            usable += 1
            yield where, OwnRecord(struct_of(AnswerStruct, record), trial_of(given), scores, in_walking_order(line))
    for assignment in fields.empty:
        problems.note(Problem(str(path), f"--map {shortened(assignment)} finds nothing in any row"))
    problems.raise_if_refused(usable=usable)
