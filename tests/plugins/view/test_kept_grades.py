"""The file of a person's grades beside a run."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.measures.judged import PersonGrade
from graphkit.measures.registry import measure_class
from graphkit.plugins.view.kept_grades import grades_file, keep_grade, read_grades
from graphkit.records.scores import NOTED, PERSON, PERSON_GRADE, Score


def grade(question: str, value: float | None, note: str | None = None, grader: str = PERSON) -> Score:
    """Return a grade."""
    reason = None if value is not None else NOTED
    return Score(
        run="r",
        question=question,
        measure=PERSON_GRADE,
        value=value,
        reason=reason,
        explanation=note,
        grader=grader,
        answer_hash="0",
    )


def test_the_measure_is_declared() -> None:
    """The name in the records is that of a measure from 0 to 1, of which more is better."""
    assert measure_class(PERSON_GRADE) is PersonGrade
    assert (PersonGrade.lowest, PersonGrade.highest, PersonGrade.higher_is_better) == (0, 1, True)


def test_a_person_is_no_judge() -> None:
    """Nor is a person with a name; a judge whose name only begins so is one."""
    graders = ("person", "person:ann", "personal", "lexical", "execution", None)
    scores = [Score(run="r", question="q", value=1, grader=name) for name in graders]
    assert [one.by_person for one in scores] == [True, True, False, False, False, False]
    assert [one.judged for one in scores] == [False, False, True, True, False, False]


def test_one_line_an_answer(tmp_path: Path) -> None:
    """A later grade of an answer takes the place of the former one; the others stay as they are, in their order."""
    run = tmp_path / "r.jsonl"
    assert read_grades(run) == []
    for one in (grade("q1", 1), grade("q2", 0, "no source"), grade("q1", 0), grade("q3", None, "look again")):
        keep_grade(run, one)
    assert read_grades(run) == [grade("q1", 0), grade("q2", 0, "no source"), grade("q3", None, "look again")]
    assert len(grades_file(run).read_text().splitlines()) == 3
    assert [path.name for path in (tmp_path / "r.grades").iterdir()] == ["person.scores.jsonl"]


def test_a_grade_is_taken_back(tmp_path: Path) -> None:
    """Without a value and a note nothing is left of it, and of the last one no file."""
    run = tmp_path / "r.jsonl"
    keep_grade(run, grade("q1", 1))
    keep_grade(run, grade("q2", 1))
    keep_grade(run, grade("q1", None))
    assert read_grades(run) == [grade("q2", 1)]
    keep_grade(run, grade("q2", None))
    keep_grade(run, grade("q2", None))
    assert not grades_file(run).exists()


def test_other_lines_stay(tmp_path: Path) -> None:
    """A person's scores by another measure, or of another run, are kept."""
    run = tmp_path / "r.jsonl"
    others = [
        Score(run="r", question="q1", measure="tone", value=0.5, grader=PERSON),
        Score(run="s", question="q1", measure=PERSON_GRADE, value=1, grader=PERSON),
    ]
    for one in others:
        keep_grade(run, one)
    keep_grade(run, grade("q1", 1))
    keep_grade(run, grade("q1", None))
    assert read_grades(run) == others


def test_each_person_has_a_file(tmp_path: Path) -> None:
    """Two names never share one, whatever characters they hold; no name leads out of the folder."""
    run = tmp_path / "r.jsonl"
    graders = (PERSON, "person:ann", "person:a/b", "person:a b", "person:../../x")
    for number, name in enumerate(graders):
        keep_grade(run, grade(f"q{number}", 1, grader=name))
    assert len(list((tmp_path / "r.grades").iterdir())) == len(graders)
    assert [path.name for path in tmp_path.iterdir()] == ["r.grades"]
    assert [[one.question for one in read_grades(run, name)] for name in graders] == [
        [f"q{number}"] for number in range(len(graders))
    ]


def test_at_the_same_time(tmp_path: Path) -> None:
    """Four threads give 40 grades of one run, and none is lost."""
    run = tmp_path / "r.jsonl"

    def give(first: int) -> None:
        for number in range(first, 40, 4):
            keep_grade(run, grade(f"q{number}", number % 2))

    threads = [threading.Thread(target=give, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.question: one.value for one in read_grades(run)} == {f"q{number}": number % 2 for number in range(40)}


def test_a_file_that_is_no_file_of_grades(tmp_path: Path) -> None:
    """It is refused and left as it is."""
    run = tmp_path / "r.jsonl"
    keep_grade(run, grade("q1", 1))
    grades_file(run).write_text("mine\n")
    with pytest.raises(InputError, match="not valid JSON"):
        keep_grade(run, grade("q2", 1))
    assert grades_file(run).read_text() == "mine\n"
