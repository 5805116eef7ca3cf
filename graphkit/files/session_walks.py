"""The edges that earlier turns of a session walked, for follow-ups whose records don't state them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import to_builtins

from graphkit.errors import InputError
from graphkit.files.jsonl import raw_lines
from graphkit.files.problems import OnError
from graphkit.records.sessions import turn_taken, walked_before
from graphkit.records.structs import AnswerStruct, QuestionStruct, TraversalStepStruct, struct_of


def has_turns(questions: Path) -> bool:
    """Return whether a file of questions may hold turns of a session, by its text."""
    return any(map(may_have_turn, raw_lines(questions)))


def may_have_turn(line: bytes) -> bool:
    """Return whether a question as written may be a turn of a session."""
    return b'"turn"' in line


def session_walks(
    questions: Iterable[QuestionStruct], records: Iterable[AnswerStruct], where: str, on_error: OnError = "fail"
) -> dict[str, list[TraversalStepStruct]]:
    """Return what the turns before each follow-up walked, by its question.

    A follow-up is left out if one of these turns logs no walk. Of the records, only the walks of sessions are held.

    Raises
    ------
    InputError
        Two questions are one turn of a session, and ``on_error`` doesn't skip the later one.
    """
    sessions: dict[str, dict[int, str]] = {}
    for one in questions:
        if one.session is not None and one.turn is not None:
            first = sessions.setdefault(one.session, {}).setdefault(one.turn, one.id)
            if first != one.id and on_error == "fail":
                what = f"record {one.id!r}: {turn_taken(one.session, one.turn)} by {first!r}"
                raise InputError(what, where=where, remedy="Give each turn of a session a number of its own.")
    inside = {name for turns in sessions.values() for name in turns.values()}
    made = {one.question_id: to_builtins(one.traversal) for one in records if one.question_id in inside}
    found = {}
    for turns in sessions.values():
        for turn, name in turns.items():
            earlier = [(other, made.get(before)) for other, before in turns.items() if other < turn]
            if earlier and (walks := walked_before(earlier)) is not None:
                found[name] = [struct_of(TraversalStepStruct, step) for step in walks]
    return found
