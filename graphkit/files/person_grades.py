"""A person's grades of a run's answers, in fields of the records of a graded log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from graphkit.files.decoding import UNDECODED
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import raw_lines, read_lines
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader
from graphkit.files.tables import is_table
from graphkit.records.scores import (
    FAILURES,
    GRADES,
    GRADING_ERROR,
    LARGEST,
    PERSON,
    PERSON_GRADE,
    RUBRIC_GRADE,
    Score,
)
from graphkit.records.structs import AnswerStruct
from graphkit.records.words import shortened

#: The fields of a graded log: the grade, the failure in a word, and notes.
GRADE, LABEL, NOTES = "grade", "failure_label", "grading_notes"

#: The grades of right and wrong in words, and other words for a grade of the rubric.
_RIGHT = dict.fromkeys(("correct", "right", "pass", "passed", "true", "yes"), 1.0)
_WRONG = dict.fromkeys(("incorrect", "fail", "failed", "false", "no"), 0.0)
_SAME = {"full": "fully_correct", "partial": "partially_correct", "partly_correct": "partially_correct"}

#: How many records of a log are searched for a field of grades.
_LOOKED_AT = 1000


def is_graded(path: Path) -> bool:
    """Return whether one of a log's first records has a field for a grade.

    A table has none, nor a pipe, which is read once.
    """
    if not path.is_file() or is_pipe(path) or is_table(path):
        return False
    return any(f'"{GRADE}"'.encode() in line for line in islice(raw_lines(path), _LOOKED_AT))


def logged_grades(
    run_file: Path, problems: Problems, *, run: str | None = None, questions: Path | None = None
) -> list[Score]:
    """Return the grades that a person wrote into the records of a run; a grade of null is none.

    Parameters
    ----------
    run
        The name of the run, whatever its records say.
    questions
        The file of the questions, which records may name by their texts.
    """
    if not is_graded(run_file):
        return []
    reader = RecordReader(run_file, AnswerStruct, Problems("skip"), questions, run)
    found: list[tuple[str, AnswerStruct, dict[str, Any]]] = []
    for number, line in read_lines(run_file):
        if f'"{GRADE}"'.encode() not in line or (answer := reader.parse(number, line)) is None:
            continue
        try:
            given = msgspec.json.decode(line)
        except UNDECODED:  # the reader's model has read it leniently
            continue
        if given.get(GRADE) is not None:
            found.append((f"{run_file}:{number}", answer, given))
    binary = is_binary(given[GRADE] for _, _, given in found)
    scores = []
    for where, answer, given in found:
        score = score_of(given, run or answer.run, answer.question_id, binary)
        if score is None:
            shown = shortened(str(given[GRADE]))
            what = f"a grade isn't read: it is none of {', '.join((*GRADES, 'correct', 'incorrect'))}, and no number"
            problems.note(Problem(where, what, f"{answer.question_id}: {shown}"))
        else:
            scores.append(score)
    return scores


def is_binary(grades: Iterable[object]) -> bool:
    """Return whether the grades of a log are right and wrong, so that ``wrong`` isn't one of four grades."""
    return any(_word(one) in {**_RIGHT, **_WRONG} for one in grades)


def score_of(given: Mapping[str, Any], run: str, question: str, binary: bool = False) -> Score | None:
    """Return a person's score by the fields of a graded record, or None without a grade that is known.

    The four grades of the rubric are scores by RubricGrade, right and wrong (also true and false) by PersonGrade, and
    numbers by ``grade``.

    >>> found = score_of({"grade": "partially correct", "failure_label": "missing_evidence"}, "r", "q1")
    >>> (found.measure, found.value, found.label) if found else None
    ('RubricGrade', 0.5, 'missing_evidence')
    """
    grade, word = given.get(GRADE), _word(given.get(GRADE))
    label = given.get(LABEL)
    about: dict[str, Any] = {"run": run, "question": question, "grader": PERSON, "label": label}
    about["explanation"] = given.get(NOTES)
    about = {name: value for name, value in about.items() if isinstance(value, str)}
    rights = {**_RIGHT, **_WRONG, **({"wrong": 0.0} if binary else {})}
    if isinstance(grade, bool):
        return Score(**about, measure=PERSON_GRADE, value=float(grade))
    if isinstance(grade, int | float):
        return Score(**about, measure=GRADE, value=float(grade)) if abs(grade) <= LARGEST else None
    if word in rights:
        return Score(**about, measure=PERSON_GRADE, value=rights[word], grade=word)
    word = _SAME.get(word, word)
    if word not in GRADES:
        return None
    about.pop("label", None)
    if word != "fully_correct" and isinstance(label, str):
        about["label"] = label if label in FAILURES else GRADING_ERROR
    return Score(**about, measure=RUBRIC_GRADE, value=GRADES[word], grade=word)


def _word(grade: object) -> str:
    return re.sub(r"[\W_]+", "_", grade.strip().casefold()) if isinstance(grade, str) else ""


def grades_in_words(scores: Iterable[Score]) -> str:
    """Return how many grades there are of each kind, and of each failure.

    >>> grades_in_words([Score(run="r", question="q", measure="RubricGrade", value=1.0, grade="fully_correct")])
    '1 fully_correct'
    """
    scores = list(scores)
    kinds = Counter(one.grade or f"{one.measure} {one.number:g}" for one in scores if one.number is not None)
    labels = Counter(one.label for one in scores if one.label is not None)
    failures = ", ".join(f"{count} {label}" for label, count in labels.most_common())
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) + (f" ({failures})" if failures else "")
