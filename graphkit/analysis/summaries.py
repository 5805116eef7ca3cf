"""Graded files, whoever graded them: means, medians and accuracy by run, measure and group."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, StrictInt
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.analysis.scales import Scale, scale_of
from graphkit.files.problems import Problem, Report
from graphkit.files.reading import read_records
from graphkit.records.models import Name, Record

#: Squares and cubes of larger grades are beyond the range of floating point.
LARGEST = 1e100


def _number(value: object) -> float | None:
    """Return a grade as a number; one sentence says what is wrong with any other."""
    if value is None:
        return None
    if isinstance(value, bool | int | float) and abs(value) <= LARGEST:  # which neither NaN nor Infinity is
        return float(value)
    raise ValueError(f"must be a number of at most {LARGEST:g}, or true or false; null where there is no grade")


Value = Annotated[StrictBool | StrictFloat | None, BeforeValidator(_number)]


class Grade(Record):
    """One grade: of a run's answer to a question, by a measure; null with a reason where there is none.

    ``version`` is that of the grader; the results that ``graphkit evaluate --out`` writes have graphkit's.
    """

    run: Name = Field(validation_alias=AliasChoices("run", "run_id", "system", "model", "condition"))
    question: Name = Field(validation_alias=AliasChoices("question", "question_id", "query_id", "id"))
    measure: Name = Field(default="score", validation_alias=AliasChoices("measure", "metric", "name"))
    value: Value = Field(validation_alias=AliasChoices("value", "score", "grade", "correct"))
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
        The share of right ones, where all grades of the measure are 0 or 1, or whole ones of 0 to 10
        (:mod:`graphkit.analysis.scales`); of others None.
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
    grades = read_grades(files, report if report is not None else Report())
    scales = grade_scales(grades)
    for grade in grades:
        for group in (None, *_groups(grade)):
            cells.setdefault((grade.run, grade.measure, group), []).append(grade.number)
    order = sorted(cells, key=lambda cell: (cell[2] is not None, cell[2] or "", cell[1], cell[0]))
    return [_summary(cell, cells[cell], scales[cell[1]]) for cell in order]


def grade_scales(grades: Iterable[Grade]) -> dict[str, Scale | None]:
    """Return the scale of each measure, decided over all of its grades."""
    values: dict[str, set[float]] = defaultdict(set)
    for grade in grades:
        values[grade.measure].update(() if grade.number is None else (grade.number,))
    return {measure: scale_of(measure, some) for measure, some in values.items()}


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


def _summary(cell: tuple[str, str, str | None], values: list[float | None], scale: Scale | None) -> GradeSummary:
    run, measure, group = cell
    scored = [value for value in values if value is not None]
    return GradeSummary(
        run=run,
        measure=measure,
        group=group,
        mean=statistics.fmean(scored) if scored else None,
        median=statistics.median(scored) if scored else None,
        accuracy=sum(map(scale.is_right, scored)) / len(scored) if scale is not None and scored else None,
        scored=len(scored),
        total=len(values),
    )
