"""A person's grades of a run's answers, kept as scores in a file beside the run."""

from __future__ import annotations

from pathlib import Path

from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import SCORES, file_beside, grading_lock
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores, write_scores
from graphkit.records.scores import PERSON, Score


def grades_file(run_file: Path, grader: str = PERSON) -> Path:
    """Return the file of a person's grades beside a run.

    >>> grades_file(Path("runs/bm25.jsonl")).as_posix(), grades_file(Path("runs/bm25.jsonl"), "person:ann").name
    ('runs/bm25.grades/person.scores.jsonl', 'person.ann.scores.jsonl')
    """
    return file_beside(run_file, PERSON, f"{SCORES}.jsonl", grader.partition(":")[2] or None)


def read_grades(run_file: Path, grader: str = PERSON) -> list[Score]:
    """Return the grades that a person gave a run; none without a file.

    Raises
    ------
    InputError
        The file or a record of it can't be used.
    """
    path = grades_file(run_file, grader)
    return read_scores([path], Problems()) if path.exists() else []


def keep_grade(run_file: Path, grade: Score) -> None:
    """Write a person's grade to their file, in the place of a former one of the same answer by the same measure.

    A grade without a value and an explanation only removes the former one. Other processes and threads wait meanwhile.

    Raises
    ------
    InputError
        The file can't be written, or a record of it can't be used.
    """
    path = grades_file(run_file, grade.grader or PERSON)
    with locked(grading_lock(run_file)):
        grades = {(one.run, one.question, one.measure): one for one in read_grades(run_file, grade.grader or PERSON)}
        key = grade.run, grade.question, grade.measure
        if grade.value is None and not grade.explanation:
            grades.pop(key, None)
        else:
            grades[key] = grade
        if grades:
            write_scores(path, grades.values())
        else:
            path.unlink(missing_ok=True)  # no file is left without a record
