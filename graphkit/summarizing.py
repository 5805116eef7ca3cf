"""Graded files, whoever graded them: means, medians and accuracy by run, measure and group."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.models import Name, Record
from graphkit.sources.records import read_records
from graphkit.sources.report import Problem, Report

#: A grade of 0 to 10 counts as right from here on.
RIGHT = 7


class Grade(Record):
    """One grade: of a run's answer to a question, by a measure; null with a reason where there is none."""

    run: Name = Field(validation_alias=AliasChoices("run", "run_id", "system", "model", "condition"))
    question: Name = Field(validation_alias=AliasChoices("question", "question_id", "query_id", "id"))
    measure: Name = Field(default="score", validation_alias=AliasChoices("measure", "metric", "name"))
    value: StrictBool | StrictFloat | None = Field(validation_alias=AliasChoices("value", "score", "grade", "correct"))
    reason: StrictStr | None = None
    category: StrictStr | None = None
    difficulty: StrictStr | None = None
    group: StrictStr | None = None


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """The grades of one run by one measure, of all questions or of one group of them.

    Attributes
    ----------
    group
        Such as ``"difficulty: hard"``; None for all questions.
    mean, median
        Over the scored questions; None where there is none.
    accuracy
        Of grades of 0 and 1 their mean, of whole grades of 0 to 10 the share of at least 7; of others None.
    """

    run: str
    measure: str
    group: str | None
    mean: float | None
    median: float | None
    accuracy: float | None
    scored: int
    total: int


def summarize(files: Sequence[Path], report: Report) -> list[GradeSummary]:
    """Summarise graded files by run and measure, and by each category, difficulty and group that they name.

    Raises
    ------
    InputError
        A file or a record can't be used and the report doesn't skip.
    """
    cells: dict[tuple[str, str, str | None], list[float | None]] = {}
    seen: set[tuple[str, str, str]] = set()
    for path in files:
        for where, grade in read_records(path, Grade, report):
            key = (grade.run, grade.question, grade.measure)
            if key in seen:
                report.add(Problem(where, f"{grade.run} already has a grade by {grade.measure}", record=grade.question))
                continue
            seen.add(key)
            for group in (None, *_groups(grade)):
                value = None if grade.value is None else float(grade.value)
                cells.setdefault((grade.run, grade.measure, group), []).append(value)
    report.settle(usable=len(seen))
    order = sorted(cells, key=lambda cell: (cell[2] is not None, cell[2] or "", cell[1], cell[0]))
    return [_summary(cell, cells[cell]) for cell in order]


def _groups(grade: Grade) -> Iterable[str]:
    for name in ("category", "difficulty", "group"):
        value = getattr(grade, name)
        if value is not None:
            yield f"{name}: {value}"


def _summary(cell: tuple[str, str, str | None], values: list[float | None]) -> GradeSummary:
    run, measure, group = cell
    scored = [value for value in values if value is not None]
    return GradeSummary(
        run=run,
        measure=measure,
        group=group,
        mean=statistics.fmean(scored) if scored else None,
        median=statistics.median(scored) if scored else None,
        accuracy=_accuracy(scored),
        scored=len(scored),
        total=len(values),
    )


def _accuracy(scored: list[float]) -> float | None:
    if not scored or any(value != int(value) or not 0 <= value <= 10 for value in scored):
        return None
    if max(scored) <= 1:
        return statistics.fmean(scored)
    return sum(value >= RIGHT for value in scored) / len(scored)
