"""Grades that people gave the answers of runs: in files beside them, and in the fields of their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.grades_beside import SCORES, graded_files, is_by
from graphkit.files.person_grades import logged_grades
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.records.scores import PERSON, Score


def grades_by_people(files: Sequence[Path], runs: Sequence[str], source: Dataset, problems: Problems) -> list[Score]:
    """Return the grades of the answers of some runs by people, each of the run that its file holds."""
    found: list[Score] = []
    for file, run in zip(files, runs, strict=True):
        for scores in graded_files(file, SCORES):
            if is_by(PERSON, scores):
                found += [one for one in read_scores([scores], problems) if one.run == run]
        found += logged_grades(file, Problems("skip"), run=run, questions=source.questions_file)
    return found
