"""Grades asked of a person in the terminal; each is kept at once, so that the person can stop anywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphkit.cli.asking import ask, require_terminal
from graphkit.cli.base import say, say_text

if TYPE_CHECKING:
    from graphkit.plugins.judging.trust.label_scales import LabelScale
    from graphkit.plugins.judging.trust.labels import SheetRow
    from graphkit.records.structs import QuestionStruct


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
