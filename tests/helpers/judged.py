"""Grades of a judge for tests: those of a person on the storefront, changed where a test says so."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from graphkit.records.scores import Score
from tests.helpers.datasets import STOREFRONT

RUN = "storefront-graph-v2"
VALUES = {"wrong": 0.0, "unsupported": 0.0, "partially_correct": 0.5, "fully_correct": 1.0}
HUMAN_GRADES = STOREFRONT / "human-grades.csv"

#: A judge that takes three answers for better than they are, and one for worse.
LENIENT = {
    "sf-03": "fully_correct",
    "sf-18": "fully_correct",
    "sf-10": "fully_correct",
    "sf-29": "partially_correct",
    "sf-06": "wrong",
}


def human_grades() -> dict[str, str]:
    """Return the recorded grades of a person by question."""
    with HUMAN_GRADES.open(encoding="utf-8", newline="") as stream:
        return {row["question_id"]: row["grade"] for row in csv.DictReader(stream)}


def graded(
    changes: Mapping[str, str] | None = None, *, judge: str = "lexical", version: str = "1", run: str = RUN
) -> list[Score]:
    """Return scores of a judge that agrees with the person but for some changes."""
    grades = human_grades() | dict(changes or {})
    return [
        Score.model_validate(
            {
                "run": run,
                "question": question,
                "measure": "RubricGrade",
                "value": VALUES[grade],
                "grade": grade,
                "grader": judge,
                "version": version,
            }
        )
        for question, grade in grades.items()
    ]


def values(
    measure: str, numbers: Mapping[str, float | None], judge: str = "lexical", version: str = "1"
) -> list[Score]:
    """Return scores of a judge by a measure, a number a question."""
    return [
        Score(
            run="r",
            question=question,
            measure=measure,
            value=number,
            reason=None if number is not None else "refused",
            grader=judge,
            version=version,
        )
        for question, number in numbers.items()
    ]


def write_scores(path: Path, scores: Iterable[Score]) -> Path:
    """Write scores, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(score.model_dump(exclude_none=True) | {"value": score.value}) for score in scores)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
