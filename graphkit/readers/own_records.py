"""graphkit's own records whose ids are the system's own names: only the ids are looked up, and the rest is kept."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.files.run_files import trial_in, trial_of
from graphkit.readers.json_values import identifier
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.aliases import ANSWER, BESIDE_ANSWER
from graphkit.records.shapes import traversal_steps, with_output
from graphkit.records.structs import AnswerStruct, declared_fields, struct_of

#: The names under which a record has each field.
_NAMES = {name: (name, *ANSWER.get(name, ())) for name in AnswerStruct.__struct_fields__}
_KNOWN = frozenset(one for names in _NAMES.values() for one in names) | BESIDE_ANSWER
#: A traversal of lists in the JSON of a record.
_LISTED = re.compile(
    rb'"(?:' + "|".join(_NAMES["traversal"]).encode() + rb')"\s*:\s*(?:\{\s*"(?:triples|paths)"\s*:\s*)?\[\s*\[\s*"'
)
_CONTENT = ("retrieved", "traversal", "answer", "error", "tool_calls", "rankings", "evidence_files", "seeds")
#: What a system found, rather than what it said.
_FOUND = ("retrieved", "traversal", "tool_calls", "rankings", "evidence_files", "seeds")


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
        if _first(value, "question_id") is None:
            return False
        if value.keys() <= _KNOWN:
            return any(name in value for one in _CONTENT for name in _NAMES[one])
        return _is_traversal(_traversal_of(value))  # fields of the system's own may stand beside it

    @staticmethod
    def is_foreign(value: Any) -> bool:
        """Return whether a record has fields that graphkit doesn't know, and none of what a system found."""
        if not isinstance(value, dict) or (value := with_output(value)).keys() <= _KNOWN:
            return False
        return not any(name in value for one in _FOUND for name in _NAMES[one])

    @staticmethod
    def names_run(value: Any) -> bool:
        """Return whether a record names its run, so that the file is a run already."""
        return isinstance(value, dict) and _first(value, "run") is not None

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            if isinstance(value, OwnRecord):
                own = value
            else:
                line = json.dumps(with_output(value)).encode()
                own = OwnRecord(_parsed(where, line, unread), trial_of(value), walked=in_walking_order(line))
            record = own.record
            fields = _plain(record)
            if not record.citations:  # a struct has no null for them
                del fields["citations"]
            if not record.rankings:
                del fields["rankings"]
            logged = LoggedAnswer(where, record.question_id, run=record.run, record=fields)
            logged.trial, logged.scores, logged.walked = own.trial, own.scores, own.walked
            yield logged


class OwnRecord(NamedTuple):
    """A record with the trial that it is of, the scores that its log holds, and whether its edges are lists."""

    record: AnswerStruct
    trial: str | None = None
    scores: dict[str, float] = {}
    walked: bool = False


def records_of_file(path: Path, questions: Path, problems: Problems) -> Iterator[tuple[str, OwnRecord]]:
    """Yield the records of a file as they are evaluated, each with its ``file:line``.

    ``problems`` says whether records that can't be used are skipped, and collects them.

    Raises
    ------
    InputError
        A record can't be used, or none can.
    """
    usable = 0
    reader = RecordReader(path, AnswerStruct, problems, questions, sessions=False)
    for number, line in read_lines(path):
        record = reader.parse(number, line)
        if record is not None:
            usable += 1
            yield f"{path}:{number}", OwnRecord(record, trial_in(line), walked=in_walking_order(line))
    problems.raise_if_refused(usable=usable)


def in_walking_order(line: bytes) -> bool:
    """Return whether a record's traversal is lists of names, which may stand in the order in which it was walked."""
    return _LISTED.search(line) is not None


def _parsed(where: str, line: bytes, unread: Counter[str]) -> AnswerStruct:
    """Return a record, and count the fields that no record has, also in its parts."""
    from graphkit.records.models import Answer

    problems = Problems()
    model = parse_record(Answer, line, where, problems)
    if model is None:
        raise UnreadableLogError(
            "; ".join(problem.what for problem in problems.skipped) or "it is no record of graphkit's",
            where=where,
            remedy="`graphkit schema answer` shows all fields.",
        )
    unread.update({name: count for (_, name), count in problems.ignored_fields.items()})
    return struct_of(AnswerStruct, model)


def _traversal_of(value: Any) -> Any:
    """Return the traversal of a record as it is written."""
    return next((value[name] for name in _NAMES["traversal"] if name in value), None)


def _is_traversal(value: Any) -> bool:
    """Return whether a value is a traversal with edges, in any form."""
    try:
        steps = traversal_steps(value)
    except ValueError:
        return False
    return bool(steps) and all(isinstance(one, dict) and one.keys() >= {"source", "target"} for one in steps)


def _first(value: dict[str, Any], name: str) -> str | None:
    return next((found for one in _NAMES[name] if (found := identifier(value.get(one))) is not None), None)


def _plain(value: Any) -> Any:
    """Return a record as values of JSON, without the fields that say nothing."""
    if isinstance(value, msgspec.Struct):
        value = {name: getattr(value, name) for name in declared_fields(value)}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    return [_plain(one) for one in value] if isinstance(value, list) else value
