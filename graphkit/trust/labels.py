"""A sheet of answers for a person to grade: a CSV file that a spreadsheet opens, or that is filled in the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.jsonl import open_binary
from graphkit.trust.grade_scales import GradeScale

COLUMNS = ("run", "question_id", "measure", "grade", "note", "question", "gold_answer", "answer")

#: What a spreadsheet would take for a formula, where a text begins with it.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """An answer on a sheet; ``grade`` is empty as long as nobody graded it, and what the judge said isn't shown."""

    run: str
    question: str
    measure: str
    grade: str = ""
    note: str = ""
    text: str = ""
    gold: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Labels:
    """What a person said: label and note by question, and the questions whose answer has changed since."""

    labels: dict[str, str]
    notes: dict[str, str]
    changed: tuple[str, ...] = ()


def write_sheet(path: Path, rows: Iterable[SheetRow]) -> None:
    """Write a sheet; the file appears whole, or not at all.

    Raises
    ------
    InputError
        The file can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for row in rows:
            cells = (row.run, row.question, row.measure, row.grade, row.note, row.text, row.gold, row.answer)
            table.writerow([_harmless(cell) for cell in cells])


def read_sheet(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a sheet with their places; a column may be missing but the id of the question.

    Raises
    ------
    InputError
        The file is no table in UTF-8 with a column of question ids.
    """
    with open_binary(path) as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError("the file isn't text in UTF-8", where=f"{path}:{error.start}") from None
    # Not by the lines of the text: what Python takes for their ends isn't all that of a table.
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows = []
    limit = csv.field_size_limit(max(len(text), 1))  # an answer may be of any length
    try:
        if "question_id" not in (table.fieldnames or ()):
            remedy = f"The first line must name the columns: {', '.join(COLUMNS[:5])}."
            raise InputError("there is no column question_id", where=f"{path}:1", remedy=remedy)
        for row in table:
            line = {name: _plain(cell) for name, cell in row.items() if isinstance(name, str) and cell is not None}
            rows.append((f"{path}:{table.line_num}", line))
    except csv.Error as error:
        raise InputError(f"not a CSV file: {error}", where=f"{path}:{max(table.line_num, 1)}") from None
    finally:
        csv.field_size_limit(limit)
    return rows


def rows_of(sheet: Sequence[tuple[str, dict[str, str]]]) -> list[SheetRow]:
    """Return the rows of a sheet as they were written."""
    return [
        SheetRow(*(row.get(name, "") for name in COLUMNS))  # in the order of the fields
        for _, row in sheet
    ]


def labels_of(
    sheet: Sequence[tuple[str, dict[str, str]]],
    run: str,
    measure: str,
    scale: GradeScale,
    answers: dict[str, str | None],
) -> Labels:
    """Return a person's labels of a run's answers by a measure.

    The grade stands in the column of the measure's name, in any case, else in the column ``grade``. A row of another
    run or measure is for another spot check, an empty grade for another day; a row of an answer that has changed since
    isn't used, and told.

    Raises
    ------
    InputError
        A grade isn't on the scale, a question isn't in the run, or is graded twice.
    """
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    changed = []
    for where, row in sheet:
        question, said = row["question_id"], _grade(row, measure)
        if row.get("run", run) not in (run, "") or row.get("measure", measure) not in (measure, "") or not said:
            continue
        if question not in answers:
            raise InputError("the run has no record of this question", where=f"{where}: record {question}")
        if row.get("answer") and _lines(row["answer"]) != _lines(answers[question] or ""):
            changed.append(question)
            continue
        label = scale.read(said)
        if label is None:
            what = f"{said!r} is no grade by {measure}"
            raise InputError(what, where=f"{where}: record {question}", remedy=f"Give {scale.choices}.")
        if question in labels:
            remedy = "Keep one of the two rows."
            raise InputError("the answer is graded twice", where=f"{where}: record {question}", remedy=remedy)
        labels[question] = label
        if row.get("note"):
            notes[question] = row["note"]
    return Labels(labels, notes, tuple(changed))


def _grade(row: dict[str, str], measure: str) -> str:
    own = next((cell for name, cell in row.items() if name.lower() == measure.lower()), None)
    return (row.get("grade", "") if own is None else own).strip()


def _lines(text: str) -> list[str]:
    """Return the lines of a text, whichever way a spreadsheet ends them."""
    return text.strip().splitlines()


def _harmless(text: str) -> str:
    return f"'{text}" if text[:1] in _FORMULAS or _quoted(text) else text


def _plain(text: str) -> str:
    """Return a cell without the quote that keeps a spreadsheet from taking text as a formula."""
    return text[1:] if _quoted(text) else text


def _quoted(text: str) -> bool:
    return text[:1] == "'" and text[1:2] in (*_FORMULAS, "'")
