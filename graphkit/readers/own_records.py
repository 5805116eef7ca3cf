"""graphkit's own records whose ids are the system's own names: only the ids are looked up, and the rest is kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.files.run_files import trial_in, trial_of
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.readers.payloads import identifier
from graphkit.records.aliases import ANSWER, BESIDE_ANSWER
from graphkit.records.shapes import with_output
from graphkit.records.structs import AnswerStruct, struct_of

#: The names under which a record has each field.
_NAMES = {name: (name, *ANSWER.get(name, ())) for name in AnswerStruct.__struct_fields__}
_KNOWN = frozenset(one for names in _NAMES.values() for one in names) | BESIDE_ANSWER
_CONTENT = ("retrieved", "traversal", "answer", "error", "tool_calls", "rankings", "evidence_files")


class OwnRecordsReader(Reader):
    """Reads records as ``graphkit schema answer`` describes them."""

    name = "graphkit"
    priority = 140
    options = ()
    title = "graphkit's own records, whose ids may be the system's own names"

    def recognises(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        value = with_output(value)
        return (
            value.keys() <= _KNOWN
            and _first(value, "question_id") is not None
            and any(name in value for one in _CONTENT for name in _NAMES[one])
        )

    @staticmethod
    def names_run(value: Any) -> bool:
        """Return whether a record names its run, so that the file is a run already."""
        return isinstance(value, dict) and _first(value, "run") is not None

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            own = value if isinstance(value, OwnRecord) else OwnRecord(_parsed(where, value), trial_of(value))
            record = own.record
            fields = _without_nulls(msgspec.to_builtins(record))
            if not record.citations:  # a struct has no null for them
                del fields["citations"]
            if not record.rankings:
                del fields["rankings"]
            logged = LoggedAnswer(where, record.question_id, run=record.run, record=fields)
            logged.trial, logged.scores = own.trial, own.scores
            yield logged


class OwnRecord(NamedTuple):
    """A record with the trial that it is of, and the scores that its log holds."""

    record: AnswerStruct
    trial: str | None = None
    scores: dict[str, float] = {}


def records_of_file(path: Path, questions: Path, problems: Problems) -> Iterator[tuple[str, OwnRecord]]:
    """Yield the records of a file as they are evaluated, each with its ``file:line``.

    ``problems`` says whether records that can't be used are skipped, and collects them.

    Raises
    ------
    InputError
        A record can't be used, or none can.
    """
    usable = 0
    reader = RecordReader(path, AnswerStruct, problems, questions)
    for number, line in read_lines(path):
        record = reader.parse(number, line)
        if record is not None:
            usable += 1
            yield f"{path}:{number}", OwnRecord(record, trial_in(line))
    problems.raise_if_refused(usable=usable)


def _parsed(where: str, value: Any) -> AnswerStruct:
    from graphkit.records.models import Answer

    problems = Problems()
    model = parse_record(Answer, json.dumps(value).encode(), where, problems)
    if model is None:
        raise UnreadableLogError(
            "; ".join(problem.what for problem in problems.skipped) or "it is no record of graphkit's",
            where=where,
            remedy="`graphkit schema answer` shows all fields.",
        )
    return struct_of(AnswerStruct, model)


def _first(value: dict[str, Any], name: str) -> str | None:
    return next((found for one in _NAMES[name] if (found := identifier(value.get(one))) is not None), None)


def _without_nulls(value: Any) -> Any:
    """Return a value without the fields that say nothing."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
