"""Turns the return value of a system into the record of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphkit.errors import GraphkitError
from graphkit.files.jsonl import MAX_LINE
from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.records.fields import other_names
from graphkit.records.models import Answer
from graphkit.records.plain import plain_or_none
from graphkit.records.secrets import masked_message, masked_value

#: The most chunks, and the most traversed steps, that one answer may have.
MOST_PARTS = 10_000

#: The longest message of an error that a record keeps.
_LONGEST_ERROR = 2_000

_NAMES = other_names(Answer)
_OWN = ("run", "question_id")
_KNOWN = {name for name in {*Answer.model_fields, *_NAMES} if _NAMES.get(name, name) not in _OWN}


class UnusableAnswerError(Exception):
    """A return value that can't become a record, with the reason."""


def answer_of(value: Any, run: str, question_id: str, problems: Problems) -> Answer:
    """Return the record of a return value: a text, or an answer with chunks and traversal.

    An answer is an object (a mapping, a dataclass, a model) with the fields of :class:`graphkit.Answer`. Run and
    question always come from the arguments.

    Raise an UnusableAnswerError if the value has another type, has fields that no record can hold, or is too large.
    """
    given = {"answer": value} if isinstance(value, str) else _plain_object(value)
    for name in ("retrieved", "chunks", "retrieved_chunks", "traversal", "retrieved_paths"):
        _refuse_too_many(given.get(name), name)
    fields = {name: value for name, value in given.items() if _NAMES.get(name, name) not in _OWN}
    if not fields.keys() & _KNOWN:
        found = ", ".join(sorted(map(str, fields))[:5]) or "none"
        raise UnusableAnswerError(
            f"the object has none of the fields of an answer (answer, retrieved, ...) but: {found}"
        )
    try:
        line = json.dumps({**fields, "run": run, "question_id": question_id}, default=_plain, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnusableAnswerError(f"the answer can't be written as JSON: {error}") from None
    if len(line) > MAX_LINE // 2:
        raise UnusableAnswerError(f"the answer takes {len(line) >> 20} MiB, and a record at most {MAX_LINE >> 21}")
    of_answer = Problems()
    answer = parse_record(Answer, line, f"{run}:0", of_answer)
    if answer is None:
        raise UnusableAnswerError("; ".join(problem.what for problem in of_answer.skipped))
    for name in ("retrieved", "traversal"):
        _refuse_too_many(getattr(answer, name), name)
    if problems.strict and of_answer.first_ignored:
        (_, name), first = next(iter(of_answer.first_ignored.items()))
        hint = f" (did you mean {first.closest}?)" if first.closest else ""
        raise UnusableAnswerError(f"the field {name!r} isn't known{hint}, which strict reading refuses")
    problems.merge(of_answer)
    return answer


def failed_answer(run: str, question_id: str, error: BaseException) -> Answer:
    """Return the record of a failed question, with the message and the type of the error."""
    kind = "UnusableAnswer" if isinstance(error, UnusableAnswerError) else type(error).__name__
    try:
        # What is wrong and the remedy are two sentences.
        said = str(error).replace("\n  ", ". ") if isinstance(error, GraphkitError) else str(error)
        text = " ".join(said.split())
    except Exception:
        text = ""
    text = masked_message(text.encode("utf-8", "replace").decode())
    if len(text) > _LONGEST_ERROR:
        text = text[:_LONGEST_ERROR] + " ..."
    return Answer(run=run, question_id=question_id, error=text or kind, error_type=kind)


def line_of(answer: Answer) -> bytes:
    """Return the JSON line of a record, without unknown fields and with known secrets masked."""
    value = masked_value(answer.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _plain_object(value: Any) -> dict[str, Any]:
    plain = plain_or_none(value)
    if not isinstance(plain, dict):
        raise UnusableAnswerError(
            f"the system returned {'None' if value is None else f'a value of type {type(value).__name__}'}, "
            "where a text or an answer with its chunks and traversal is expected"
        )
    return plain


def _refuse_too_many(parts: Any, name: str) -> None:
    try:
        count = len(parts) if parts is not None and not isinstance(parts, str | Mapping) else 0
    except TypeError:
        return
    if count > MOST_PARTS:
        raise UnusableAnswerError(f"{name} holds {count} items, and a record at most {MOST_PARTS}")


def _plain(value: Any) -> Any:
    """Return a plain form of a value, for ``json.dumps``."""
    plain = plain_or_none(value)
    if plain is None:
        raise TypeError(f"the answer holds a value of type {type(value).__name__}")
    return plain
