"""Sheets of answers for a person to grade: CSV files for a spreadsheet or the terminal."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.jsonl import whole
from graphkit.plugins.judging.trust.label_scales import LabelScale
from graphkit.records.scores import Score
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import shortened

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

COLUMNS = ("run", "question_id", "measure", "grade", "note", "question", "gold_answer", "answer")

#: The delimiters that a sheet may use.
_DELIMITERS = (",", ";", "\t")

#: The number of columns that an error names.
_SHOWN = 10

#: Characters that make a spreadsheet read a cell as a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """An answer on a sheet, without the judge's verdict; ``grade`` is empty until somebody grades it."""

    run: str
    question: str
    measure: str
    grade: str = ""
    note: str = ""
    text: str = ""
    gold: str = ""
    answer: str = ""


def row_of(score: Score, question: QuestionStruct | None, answer: str | None) -> SheetRow:
    """Return the row of an answer that a judge scored."""
    text, gold = ("", None) if question is None else (question.question, question.gold_answer)
    return SheetRow(score.run, score.question, score.measure, text=text, gold=gold or "", answer=answer or "")


@dataclass(frozen=True, slots=True)
class Labels:
    """A person's labels and notes by question, and the questions whose answer has changed since."""

    labels: dict[str, str]
    notes: dict[str, str]
    changed: tuple[str, ...] = ()


def write_sheet(path: Path, rows: Iterable[SheetRow]) -> None:
    """Write a sheet atomically; raise an InputError if the file can't be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for row in rows:
            cells = (row.run, row.question, row.measure, row.grade, row.note, row.text, row.gold, row.answer)
            table.writerow([_escape_formula(cell) for cell in cells])


def read_sheet(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a sheet with their places; only the column of question ids is required.

    The delimiter is a comma, a semicolon or a tab. Without a column ``question_id``, the column ``question`` holds the
    ids.

    Raise an InputError if the file isn't a table in UTF-8 with a column of question ids.
    """
    try:
        text = whole(path, records=False).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("the file isn't text in UTF-8", where=f"{path}:{error.start}") from None
    limit = csv.field_size_limit(max(len(text), 1))  # an answer may be of any length
    try:
        return list(_rows(path, text))
    finally:
        csv.field_size_limit(limit)


def _rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a sheet with their places."""
    names, table = _table(path, text)
    try:
        for cells in table:
            row = {name: _plain(cell) for name, cell in zip(names, cells, strict=False)}
            if cells:
                yield f"{path}:{table.line_num}", {"question_id": "", **row}
    except csv.Error as error:
        raise InputError(f"not a CSV file: {error}", where=f"{path}:{max(table.line_num, 1)}") from None


def _table(path: Path, text: str) -> tuple[list[str], CsvReader]:
    """Return the columns of a sheet and a reader of its rows, by the first delimiter that gives a column of ids."""
    widest: list[str] = []
    for delimiter in _DELIMITERS:
        # The csv module splits the lines: Python's line ends aren't those of a table.
        table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        with contextlib.suppress(csv.Error):  # quotes may be wrong for another delimiter
            names = [_column(name) for name in next(table, [])]
            if "question_id" in names:
                return names, table
            if "question" in names:
                names[names.index("question")] = "question_id"
                return names, table
            widest = max(widest, names, key=len)
    found = ", ".join(shortened(name) for name in widest[:_SHOWN]) or "nothing"
    remedy = f"The first line must name the columns: {', '.join(COLUMNS[:5])}. It names {found}."
    raise InputError("there is no column question_id", where=f"{path}:1", remedy=remedy)


def _column(name: str) -> str:
    """Return the name of a column; known ones match in any case, and with spaces."""
    known = name.strip().casefold().replace(" ", "_")
    return known if known in COLUMNS else name.strip()


def rows_of(sheet: Sequence[tuple[str, dict[str, str]]]) -> list[SheetRow]:
    """Return the rows of a sheet as records."""
    return [
        SheetRow(*(row.get(name, "") for name in COLUMNS))  # in the order of the fields
        for _, row in sheet
    ]


def labels_of(
    sheet: Sequence[tuple[str, dict[str, str]]],
    run: str,
    measure: str,
    scale: LabelScale,
    answers: dict[str, str | None],
) -> Labels:
    """Return a person's labels of a run's answers by a measure.

    The grade is in the column with the measure's name, in any case, else in the column ``grade``. Rows of other runs or
    measures and empty grades are ignored; questions whose answer has changed since are returned as ``changed``.

    Raise an InputError if a grade isn't on the scale, or a question isn't in the run or is graded twice.
    """
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    changed = []
    for where, row, grade in graded_rows(sheet, run, measure):
        question = row["question_id"]
        if question not in answers:
            remedy = "Give the ids of the run's questions in the column question_id."
            raise InputError(
                "the run has no record of this question", where=f"{where}: record {question}", remedy=remedy
            )
        if row.get("answer") and _lines(row["answer"]) != _lines(answers[question] or ""):
            changed.append(question)
            continue
        label = scale.read(grade)
        if label is None:
            what = f"{grade!r} is no grade by {measure}"
            raise InputError(what, where=f"{where}: record {question}", remedy=f"Give {scale.choices}.")
        if question in labels:
            remedy = "Keep one of the two rows."
            raise InputError("the answer is graded twice", where=f"{where}: record {question}", remedy=remedy)
        labels[question] = label
        if row.get("note"):
            notes[question] = row["note"]
    return Labels(labels, notes, tuple(changed))


def graded_rows(
    sheet: Iterable[tuple[str, dict[str, str]]], run: str, measure: str
) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the places and rows of a sheet that grade a run by a measure, with the grades as written."""
    for where, row in sheet:
        of_measure = row.get("measure", "").casefold() in (measure.casefold(), "")
        if row.get("run", run) in (run, "") and of_measure and (grade := _grade(row, measure)):
            yield where, row, grade


def graded_measures(sheet: Sequence[tuple[str, dict[str, str]]], run: str, given: Iterable[str]) -> list[str]:
    """Return the measures by which a sheet grades a run, or is meant to.

    The column ``measure`` names them. In a sheet without that column and without ``grade``, they are the columns with
    the name of a ``given`` measure.
    """
    rows = [row for _, row in sheet if row.get("run", run) in (run, "")]
    to_grade = [row for row in rows if row.get("measure")]
    named = [row["measure"] for row in to_grade if _grade(row, row["measure"])] or [row["measure"] for row in to_grade]
    if not named and not any("grade" in row for row in rows):
        named = [measure for measure in given if any(_grade(row, measure) for row in rows)]
    return list({name.casefold(): name for name in named}.values())


def _grade(row: dict[str, str], measure: str) -> str:
    own = next((cell for name, cell in row.items() if name.casefold() == measure.casefold()), None)
    return (row.get("grade", "") if own is None else own).strip()


def _lines(text: str) -> list[str]:
    """Return the lines of a text with any line ends."""
    return text.strip().splitlines()


def _escape_formula(text: str) -> str:
    return f"'{text}" if text[:1] in _FORMULAS or _quoted(text) else text


def _plain(text: str) -> str:
    """Return a cell without the quote that escapes a formula."""
    return text[1:] if _quoted(text) else text


def _quoted(text: str) -> bool:
    return text[:1] == "'" and text[1:2] in (*_FORMULAS, "'")
