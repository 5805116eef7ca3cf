"""A spot check by a person's grades of right and wrong, as ``graphkit view`` keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.registry import measure_class
from graphkit.plugins.judging.trust.label_scales import LabelScale, persons_scale
from graphkit.plugins.judging.trust.labels import Labels
from graphkit.plugins.judging.trust.spot_check import SpotCheck, check
from graphkit.plugins.judging.trust.subjects import Subject
from graphkit.records.scores import PERSON_GRADE, Score, answer_hash

#: The measures of graphkit that grade whether an answer is right. The first has the two grades of a person.
OF_RIGHT = ("Correct", "RubricGrade", "ScaleGrade")

#: The scale of a person's grades.
RIGHT_OR_WRONG = LabelScale({"0": 0.0, "1": 1.0}, frozenset({"1"}))


@dataclass(frozen=True)
class GradeCheck:
    """A judge's scores of a run by one measure, beside a person's grades of right and wrong.

    Attributes
    ----------
    scores
        The judge's scores. If the measure has more than two grades, those of right answers are 1 and all others 0.
    labels
        The person's grades, without those of answers that have changed since.
    right
        The right grades of a measure with more than two grades; None for a measure of right and wrong alone. Such a
        check says nothing about the other grades, so a gate can't rest on it.
    """

    subject: Subject
    measure: str
    scores: Sequence[Score]
    labels: Labels
    right: tuple[str, ...] | None = None

    def result(self, width: float) -> SpotCheck:
        """Compare judge and person."""
        return check(self.scores, self.labels.labels, notes=self.labels.notes, scale=RIGHT_OR_WRONG, width=width)


def grade_check(
    subject: Subject,
    answers: Mapping[str, str | None],
    path: Path,
    problems: Problems,
    asked: str | None = None,
    grades: range | None = None,
) -> GradeCheck:
    """Return a judge's scores beside the grades of right and wrong in a file.

    Parameters
    ----------
    answers
        The answers of the run, by question.
    asked
        The judge's measure to check; by default the first of ``OF_RIGHT`` that the judge gave.
    grades
        The whole grades of the measure, if the user names them.

    Raises
    ------
    InputError
        The file holds no grade of the run, a grade is neither 0 nor 1 or of an unknown question, or the measure doesn't
        grade whether an answer is right.
    """
    measure = _measure(subject, asked)
    scores = subject.by(measure)
    scale = persons_scale(measure, scores, (), grades)
    if not scale.right:
        what = f"nothing says which grades by {measure} are right"
        raise InputError(what, where=subject.run, remedy="Grade a sheet on its scale, by --csv.")
    labels = _labels(subject.run, read_scores([path], problems), answers, path)
    if scale.categories == RIGHT_OR_WRONG.categories and not scale.lower:
        return GradeCheck(subject, measure, scores, labels)
    right = tuple(label for label in scale.categories if label in scale.right)
    return GradeCheck(subject, measure, [_as_right_or_wrong(score, scale) for score in scores], labels, right)


def _measure(subject: Subject, asked: str | None) -> str:
    """Return the measure to check; one of the user's own only if it is asked for."""
    given = dict.fromkeys(score.measure for score in subject.scores)
    measure = next((one for one in OF_RIGHT if one in given), None) if asked is None else subject.measure(asked)
    if measure is None or (measure not in OF_RIGHT and measure_class(measure) is not None):
        what = f"{measure or ', '.join(given)} of {subject.judge} doesn't grade whether an answer is right"
        remedy = f"Have the run graded by {', '.join(OF_RIGHT)}, or name a measure of your own that does by --measure."
        raise InputError(what, where=subject.run, remedy=remedy)
    return measure


def _labels(run: str, grades: Iterable[Score], answers: Mapping[str, str | None], path: Path) -> Labels:
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    changed = []
    for grade in grades:
        if (grade.run, grade.measure) != (run, PERSON_GRADE) or grade.number is None:
            continue
        where = f"{path}: record {grade.question}"
        if grade.question not in answers:
            raise InputError("the run has no record of this question", where=where, remedy="Check the ids.")
        if grade.number not in (0, 1):
            raise InputError(f"{grade.number:g} is no grade of right (1) or wrong (0)", where=where)
        if grade.answer_hash not in (None, answer_hash(answers[grade.question] or "")):
            changed.append(grade.question)
            continue
        labels[grade.question] = str(int(grade.number))
        if grade.explanation:
            notes[grade.question] = grade.explanation
    if not labels:
        what = f"no answer of {run} is graded right or wrong"
        remedy = f"Grade answers in the page of `graphkit view`, or write scores by {PERSON_GRADE}."
        if changed:
            what, remedy = f"the graded answers of {run} have all changed since", "Grade them again."
        raise InputError(what, where=str(path), remedy=remedy)
    return Labels(labels, notes, tuple(changed))


def _as_right_or_wrong(score: Score, scale: LabelScale) -> Score:
    label = scale.label_of(score)
    value = None if label is None else float(label in scale.right)
    return score.model_copy(update={"value": value, "grade": None})
