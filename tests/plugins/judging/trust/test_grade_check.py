"""A judge beside a person's grades of right and wrong: what they are compared with, and what isn't comparable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.plugins.judging.trust.grade_check import GradeCheck, grade_check
from graphkit.plugins.judging.trust.subjects import Subject
from graphkit.records.scores import PERSON_GRADE, Score, answer_hash
from tests.helpers.judged import VALUES, values, write_scores

NAMES = ("q1", "q2", "q3", "q4")
ANSWERS: dict[str, str | None] = {name: f"It is {name}." for name in NAMES}
#: A person calls the first two answers right.
PERSON = {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0}


def person(given: Mapping[str, float | None] = PERSON, **more: str) -> list[Score]:
    """Return a person's grades."""
    return [
        Score(run="r", question=name, measure=PERSON_GRADE, value=value, grader="person", **more)  # type: ignore[arg-type]
        for name, value in given.items()
    ]


def rubric(*grades: str) -> list[Score]:
    """Return a judge's grades of the answers by the rubric."""
    return [
        Score(run="r", question=name, measure="RubricGrade", value=VALUES[grade], grade=grade, grader="j")
        for name, grade in zip(NAMES, grades, strict=True)
    ]


def numbers(measure: str, *given: float) -> list[Score]:
    """Return a judge's scores of the answers by a measure."""
    return values(measure, dict(zip(NAMES, given, strict=True)), judge="j")


def checked(tmp_path: Path, judge: list[Score], grades: list[Score], asked: str | None = None) -> GradeCheck:
    """Return the check of a judge's scores by the grades in a file."""
    path = write_scores(tmp_path / "person.jsonl", grades)
    return grade_check(Subject("r", "j", tuple(judge)), ANSWERS, path, Problems(), asked)


def test_right_and_wrong(tmp_path: Path) -> None:
    """A judge's yes and no about the answer is compared as it is: they agree on q1, q3 and q4."""
    found = checked(tmp_path, numbers("Correct", 1, 0, 0, 0), person())
    assert (found.measure, found.right) == ("Correct", None)
    assert found.result(0.2).confusion == {"0": {"0": 2, "1": 0}, "1": {"0": 1, "1": 1}}
    assert found.result(0.2).figures["agreement"].value == 3 / 4


@pytest.mark.parametrize(
    ("judge", "right"),
    [
        (rubric("fully_correct", "partially_correct", "wrong", "fully_correct"), ("fully_correct",)),
        (numbers("ScaleGrade", 7, 6, 0, 10), ("7", "8", "9", "10")),
    ],
    ids=["rubric", "scale"],
)
def test_more_than_two_grades(tmp_path: Path, judge: list[Score], right: tuple[str, ...]) -> None:
    """By other measures, right is compared with right: judge and person agree on q1 and q3."""
    found = checked(tmp_path, judge, person())
    assert found.right == right
    result = found.result(0.2)
    assert result.measure == judge[0].measure
    assert result.confusion == {"0": {"0": 1, "1": 1}, "1": {"0": 1, "1": 1}}
    assert result.figures["kappa"].value == 0
    assert (result.inflation.judge, result.inflation.person) == (0.5, 0.5)


def test_the_nearest_measure_is_checked(tmp_path: Path) -> None:
    """Of several measures the one of right and wrong is checked, unless another one is asked for."""
    both = [*numbers("ScaleGrade", 7, 6, 0, 10), *numbers("Faithful", 1, 1, 1, 1), *numbers("Correct", 1, 1, 0, 0)]
    assert checked(tmp_path, both, person()).measure == "Correct"
    assert checked(tmp_path, both, person(), "scalegrade").measure == "ScaleGrade"


@pytest.mark.parametrize(
    ("measure", "asked", "words"),
    [
        ("Faithful", None, "Faithful of j doesn't grade whether an answer is right"),
        ("Faithful", "Faithful", "Faithful of j doesn't grade whether an answer is right"),
        ("Groundedness", "Groundedness", "Groundedness of j doesn't grade"),
        ("tone", None, "tone of j doesn't grade"),
        ("Correct", "Corect", "j gave no score by Corect.*Did you mean Correct"),
    ],
)
def test_what_is_not_comparable(tmp_path: Path, measure: str, asked: str | None, words: str) -> None:
    """A grade of the answer says nothing about its sources, its tone or its length."""
    with pytest.raises(InputError, match=f"(?s){words}"):
        checked(tmp_path, numbers(measure, 1, 1, 0, 0), person(), asked)


def test_a_measure_of_ones_own(tmp_path: Path) -> None:
    """It is compared if the user names it, and its right grades are known: those of 1 to 5 aren't."""
    assert checked(tmp_path, numbers("approved", 1, 1, 0, 0), person(), "approved").right is None
    with pytest.raises(InputError, match="nothing says which grades by stars are right"):
        checked(tmp_path, numbers("stars", 1, 5, 3, 2), person(), "stars")


def test_what_is_no_grade_counts_nowhere(tmp_path: Path) -> None:
    """Notes without a grade, other measures and other runs aren't labels; the notes of grades are kept."""
    grades = [
        *person({"q1": 1.0}, explanation="as it is"),
        *person({"q2": None}, reason="noted, not graded", explanation="look again"),
        Score(run="r", question="q3", measure="tone", value=0.3, grader="person"),
        Score(run="s", question="q4", measure=PERSON_GRADE, value=1, grader="person"),
    ]
    found = checked(tmp_path, numbers("Correct", 1, 1, 0, 0), grades)
    assert (found.labels.labels, found.labels.notes) == ({"q1": "1"}, {"q1": "as it is"})


def test_answers_that_have_changed(tmp_path: Path) -> None:
    """A grade of an earlier answer doesn't count; if all are such, the check says so."""
    current = [*person({"q1": 1.0}, answer_hash=answer_hash("It is q1.")), *person({"q2": 1.0})]
    old = person({"q3": 0.0}, answer_hash=answer_hash("It was q3."))
    found = checked(tmp_path, numbers("Correct", 1, 1, 0, 0), [*current, *old])
    assert (list(found.labels.labels), found.labels.changed) == (["q1", "q2"], ("q3",))
    with pytest.raises(InputError, match="the graded answers of r have all changed since"):
        checked(tmp_path, numbers("Correct", 1, 1, 0, 0), old)


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        (person({"q9": 1.0}), "record q9: the run has no record of this question"),
        (person({"q1": 0.5}), "record q1: 0.5 is no grade of right"),
        (person({"q1": None}), "no answer of r is graded right or wrong"),
    ],
)
def test_grades_that_cannot_be_used(tmp_path: Path, grades: list[Score], words: str) -> None:
    """Each is refused with its place."""
    with pytest.raises(InputError, match=words):
        checked(tmp_path, numbers("Correct", 1, 1, 0, 0), grades)
