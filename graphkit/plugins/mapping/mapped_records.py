"""Records of a run from rows of any form, by the fields that a user maps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.files.run_files import trial_of
from graphkit.plugins.mapping.bounded_jmespath import steps_between
from graphkit.plugins.mapping.field_maps import REMEDY, FieldMap
from graphkit.plugins.mapping.log_rows import log_rows
from graphkit.readers.own_records import OwnRecord, in_walking_order
from graphkit.records.models import Answer
from graphkit.records.structs import AnswerStruct, struct_of
from graphkit.records.words import shortened

#: The fields of a record that name its question.
_QUESTION = ("question_id", "question")

#: What makes lines those of another answer: one with the text of a question and none of these, after a row with one.
_CONTENT = ("traversal", "answer")


@dataclass(slots=True)
class _Joined:
    """The record that several rows make."""

    where: str
    given: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)


def mapped_records(
    path: Path, fields: FieldMap, questions: Path, problems: Problems, unread: Counter[str]
) -> Iterator[tuple[str, OwnRecord]]:
    """Yield the records in the rows of a file, each with its ``file:line``.

    Raises
    ------
    InputError
        A row can't be used and isn't skipped, or none can.
    """
    reader = RecordReader(path, AnswerStruct, problems, questions, sessions=False)
    usable = 0
    rows = _rows(path, fields, problems, unread)
    for where, given, scores in joined_rows(rows, fields, problems) if fields.joins else rows:
        given.pop(_SESSION, None)
        line = json.dumps(given).encode()
        of_row = Problems("skip")
        record = parse_record(Answer, line, where, of_row, complete=reader.complete)
        of_row.skipped = [replace(one, remedy=one.remedy or REMEDY) for one in of_row.skipped]
        problems.merge(of_row)
        if record is not None:
            usable += 1
            yield where, OwnRecord(struct_of(AnswerStruct, record), trial_of(given), scores, in_walking_order(line))
    if fields.patterns and not usable and not problems.skipped:
        what = "no line of the log matches a pattern with a question"
        remedy = "Correct --line, and give one with a group question or question_id."
        raise InputError(what, where=str(path), remedy=remedy)
    for assignment in fields.empty:
        problems.note(Problem(str(path), f"--map {shortened(assignment)} finds nothing in any row"))
    problems.raise_if_refused(usable=usable)


#: The key of a row's session beside its fields.
_SESSION = "\0session"

#: The place, the fields and the scores of a row.
RowRecord = tuple[str, dict[str, Any], dict[str, float]]


def _rows(path: Path, fields: FieldMap, problems: Problems, unread: Counter[str]) -> Iterator[RowRecord]:
    """Yield the place, the mapped fields and the scores of each row, with its steps as its traversal."""
    for where, row in log_rows(path, fields, problems):
        try:
            record = row_record(fields, where, row)
        except InputError as error:
            problems.add(Problem(where, error.what, remedy=error.remedy))
            continue
        unread.update(fields.unread(row))
        yield record


def row_record(fields: FieldMap, where: str, row: Any) -> RowRecord:
    """Return the mapped fields and the scores of a row, with its steps as its traversal.

    Raises
    ------
    InputError
        An expression can't be applied to the row.
    """
    given, scores = fields.answer(row), fields.scores(row)
    steps, session = fields.steps(row), fields.session(row)
    if steps is not None:
        given["traversal"] = steps
    if session is not None:
        given[_SESSION] = session
    return where, given, scores


def joined_rows(rows: Iterator[RowRecord], fields: FieldMap, problems: Problems) -> Iterator[RowRecord]:
    """Yield the records of rows that add up: those of one question, or of one session."""
    records: list[_Joined] = []
    by_question: dict[tuple[Any, ...], _Joined] = {}
    by_session: dict[str, _Joined] = {}
    last: _Joined | None = None
    lost = 0
    for where, given, scores in rows:
        session = given.pop(_SESSION, None)
        named = next((given[name] for name in _QUESTION if given.get(name) is not None), None)
        if named is not None:
            key = (str(named), given.get("run"), trial_of(given), session)
            found = by_question.get(key)
            asked_again = fields.patterns and "question" in given and not any(map(given.get, _CONTENT))
            if found is None or (asked_again and _has_content(found)):
                found = by_question[key] = _Joined(where)
                records.append(found)
            if session is not None:
                by_session[session] = found
        else:
            found = by_session.get(session) if session is not None else last if fields.patterns else None
        if found is None:
            if not fields.patterns:
                problems.add(Problem(where, "the row names no question", remedy="Map it: question_id=COLUMN."))
            lost += 1
            continue
        last = found
        _add(found, where, given, scores, problems)
    if lost and fields.patterns:
        what = f"{lost} lines that a pattern matches stand before any question, and aren't read"
        problems.note(Problem(where, what))
    for one in records:
        if "traversal" in one.given:
            one.given["traversal"] = _walked(one.given["traversal"])
        yield one.where, one.given, one.scores


def _walked(steps: list[Any]) -> list[Any]:
    """Return steps, where each text is a node that came next."""
    nodes = [step for step in steps if isinstance(step, str)]
    return steps_between(nodes) if nodes and len(nodes) == len(steps) else steps


def _has_content(record: _Joined) -> bool:
    return any(record.given.get(name) for name in _CONTENT)


def _add(record: _Joined, where: str, given: dict[str, Any], scores: dict[str, float], problems: Problems) -> None:
    """Add a row's fields to a record; of two values of a field, the first counts, and the second is said."""
    if (steps := given.pop("traversal", None)) is not None:
        record.given["traversal"] = [*record.given.get("traversal", ()), *steps]
    for name, value in given.items():
        if record.given.setdefault(name, value) != value:
            what = f"the rows of a question have two values of {name}: the first is used"
            problems.note(Problem(where, what))
    record.scores = scores | record.scores
