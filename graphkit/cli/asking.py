"""Asking a person in the terminal for grades; each is kept at once, so that asking can stop anywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphkit.cli.base import say, say_text
from graphkit.errors import InputError, one_line

if TYPE_CHECKING:
    from graphkit.records.structs import QuestionStruct
    from graphkit.trust.label_scales import GradeScale
    from graphkit.trust.labels import SheetRow


def ask_grades(
    rows: Sequence[SheetRow],
    questions: Mapping[str, QuestionStruct],
    scale: GradeScale,
    keep: Callable[[SheetRow], None],
) -> bool:
    """Ask for the grade of each answer, and hand each row to ``keep`` once it is graded; tell whether all were shown.

    What the judge said isn't shown: it would sway the person.

    Raises
    ------
    InputError
        There is no terminal to ask in.
    """
    if not sys.stdin.isatty():
        remedy = "Have a sheet written by --csv FILE, fill it, and run the same again."
        raise InputError("there is no terminal to ask in", remedy=remedy)
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


def _asked(row: SheetRow, scale: GradeScale) -> SheetRow | None:
    """Return the row with the grade that is given, without one where it is skipped, or None to stop."""
    import dataclasses

    while True:
        sys.stderr.write(f"{one_line(row.measure)} ({scale.choices}; s to skip, q to quit; a note may follow): ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        said, _, note = line.strip().partition(" ")
        if not line or said.lower() in ("q", "quit"):
            return None
        if said.lower() in ("s", "skip"):
            return row
        label = scale.read(said)
        if label is not None:
            return dataclasses.replace(row, grade=label, note=note.strip())
        say(f"{said!r} is none of them" if said else "a grade, s or q")
