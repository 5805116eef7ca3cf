"""Graded files, whoever graded them: means, medians and accuracy by run, measure and group."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, Field, StrictInt
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.models import Name, Record
from graphkit.sources.records import read_records
from graphkit.sources.report import Problem, Report
from graphkit.statistics import right_from


class Grade(Record):
    """One grade: of a run's answer to a question, by a measure; null with a reason where there is none.

    ``version`` is that of the grader; the results that ``graphkit evaluate --out`` writes have graphkit's.
    """

    run: Name = Field(validation_alias=AliasChoices("run", "run_id", "system", "model", "condition"))
    question: Name = Field(validation_alias=AliasChoices("question", "question_id", "query_id", "id"))
    measure: Name = Field(default="score", validation_alias=AliasChoices("measure", "metric", "name"))
    value: StrictBool | StrictFloat | None = Field(validation_alias=AliasChoices("value", "score", "grade", "correct"))
    reason: StrictStr | None = None
    category: StrictStr | None = None
    difficulty: StrictStr | None = None
    group: StrictStr | None = None
    version: StrictStr | StrictInt | None = None

    @property
    def number(self) -> float | None:
        """The value as a number."""
        return None if self.value is None else float(self.value)


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


def summarize(files: Iterable[str | Path], report: Report | None = None) -> list[GradeSummary]:
    """Summarise graded files by run and measure, and by each category, difficulty and group that they name.

    Raises
    ------
    InputError
        A file or a record can't be used and the report doesn't skip.
    """
    cells: dict[tuple[str, str, str | None], list[float | None]] = {}
    for grade in read_grades(files, report if report is not None else Report()):
        for group in (None, *_groups(grade)):
            cells.setdefault((grade.run, grade.measure, group), []).append(grade.number)
    order = sorted(cells, key=lambda cell: (cell[2] is not None, cell[2] or "", cell[1], cell[0]))
    return [_summary(cell, cells[cell]) for cell in order]


def read_grades(files: Iterable[str | Path], report: Report) -> list[Grade]:
    """Return the grades of some files; a second grade of a run's answer by a measure is a problem.

    Raises
    ------
    InputError
        A file or a record can't be used and the report doesn't skip.
    """
    grades: dict[tuple[str, str, str], Grade] = {}
    for path in files:
        for where, grade in read_records(Path(path), Grade, report):
            key = (grade.run, grade.question, grade.measure)
            if key in grades:
                report.add(Problem(where, f"{grade.run} already has a grade by {grade.measure}", record=grade.question))
            grades.setdefault(key, grade)
    report.settle(usable=len(grades))
    return list(grades.values())


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
    bound = right_from(scored)
    return None if bound is None else sum(value >= bound for value in scored) / len(scored)
