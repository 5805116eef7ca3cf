"""Questions to a person in the terminal; each grade is kept at once, so that the person can stop anywhere."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from graphkit.cli.base import say, say_text
from graphkit.errors import InputError, one_line

if TYPE_CHECKING:
    from graphkit.records.structs import QuestionStruct
    from graphkit.trust.label_scales import LabelScale
    from graphkit.trust.labels import SheetRow

_Answer = TypeVar("_Answer")


def require_terminal(remedy: str) -> None:
    """Raise an InputError if standard input is no terminal."""
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to ask in", remedy=remedy)


def ask(choices: str, read: Callable[[str], _Answer | None], short: str) -> _Answer | None:
    """Ask in the terminal until ``read`` understands the line; return None at the end of the input, or for ``q``."""
    while True:
        sys.stderr.write(f"({one_line(choices)}): ")
        sys.stderr.flush()
        given = sys.stdin.readline()
        line = given.strip()
        if not given or line.lower() in ("q", "quit"):
            return None
        if (answer := read(line)) is not None:
            return answer
        say(f"{line!r} is none of them" if line else short)


def ask_grades(
    rows: Sequence[SheetRow],
    questions: Mapping[str, QuestionStruct],
    scale: LabelScale,
    keep: Callable[[SheetRow], None],
) -> bool:
    """Ask for the grade of each answer, pass each graded row to ``keep``, and return whether all were shown.

    The judge's grades aren't shown: they would sway the person.

    Raises
    ------
    InputError
        There is no terminal to ask in.
    """
    require_terminal("Have a sheet written by --csv FILE, fill it, and run the same again.")
    for number, row in enumerate(rows, 1):
        say()
        say(f"--- {number} of {len(rows)}: {row.question} " + "-" * 40)
        _show(row, questions.get(row.question))
        graded = _asked(row, scale)
        if graded is None:
            return False
        if graded.grade:
            keep(graded)
    return True


def _show(row: SheetRow, question: QuestionStruct | None) -> None:
    say_text(f"question: {row.text}")
    if row.gold:
        say_text(f"gold answer: {row.gold}")
    for fact in question.facts if question is not None else ():
        say_text(f"required: {fact.text}")
    for conflict in question.conflicts if question is not None else ():
        say_text(f"where sources disagree: {conflict.resolution or ', '.join(conflict.between)}")
    say_text(f"\nanswer: {row.answer or '(none)'}\n")


def _asked(row: SheetRow, scale: LabelScale) -> SheetRow | None:
    """Return the row with the person's grade, unchanged if the person skips it, or None to stop."""

    def read(line: str) -> SheetRow | None:
        grade, _, note = line.partition(" ")
        if grade.lower() in ("s", "skip"):
            return row
        label = scale.read(grade)
        return None if label is None else dataclasses.replace(row, grade=label, note=note.strip())

    return ask(f"{row.measure}: {scale.choices}; s to skip, q to quit; a note may follow", read, "a grade, s or q")
