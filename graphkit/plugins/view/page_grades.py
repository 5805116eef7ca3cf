"""The grades that a person gives in a served page: checked, and kept as scores beside the runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.loopback import RefusedError
from graphkit.plugins.view.kept_grades import keep_grade, read_grades
from graphkit.plugins.view.served_page import ServedPage
from graphkit.records.scores import NOTED, PERSON_GRADE, Score
from graphkit.report.contents import PageContents, ShownAnswer
from graphkit.report.escaping import visible

#: The keys of a grade that a page sends. The version is that of the page; without it, the answer is the current one.
KEYS = ("run", "question", "value", "note", "version")


class PageGrades:
    """A person's grades of the answers that a page shows.

    Parameters
    ----------
    grader
        The grader of the scores: ``person``, or ``person:NAME``.
    """

    def __init__(self, page: ServedPage, grader: str) -> None:
        self._page, self._grader = page, grader

    def given(self) -> list[dict[str, Any]]:
        """Return the grades of the shown answers; those of earlier answers and of other gold are left out.

        Raises
        ------
        RefusedError
            A file of grades can't be read.
        """
        contents = self._page.contents
        return [
            plain(grade)
            for run, file in zip(contents.runs, contents.files, strict=True)
            for grade in _read(file, self._grader)
            if grade.run == run and _is_of(grade, contents.answers[run].get(grade.question))
        ]

    def keep(self, sent: object) -> dict[str, Any] | None:
        """Keep a grade as a page sends it, and return it as a score; None for one that is taken back.

        Raises
        ------
        RefusedError
            It isn't a grade, its answer isn't shown, the page has changed since, or the file can't be written.
        """
        fields = _checked(sent)
        version, contents = self._page.current()
        if fields.get("version", version) != version:
            raise RefusedError(409, "the page has been built again since: load it, and grade the answer that it shows")
        run, question, answer = _found(contents, fields["run"], fields["question"])
        note, value = fields["note"], fields["value"]
        grade = Score(
            run=run,
            question=question,
            measure=PERSON_GRADE,
            value=value,
            reason=NOTED if value is None else None,
            explanation=note or None,
            grader=self._grader,
            **answer._asdict(),
        )
        try:
            keep_grade(contents.files[contents.runs.index(run)], grade)
        except InputError as error:
            raise RefusedError(503, error.sentence) from None
        return None if value is None and not note else plain(grade)


def plain(score: Score) -> dict[str, Any]:
    """Return a score as an object of JSON, without its empty fields but with its value."""
    return {name: value for name, value in score.model_dump().items() if value is not None or name == "value"}


def _read(file: Path, grader: str) -> list[Score]:
    try:
        return [one for one in read_grades(file, grader) if one.measure == PERSON_GRADE]
    except InputError as error:
        raise RefusedError(503, error.sentence) from None


def _is_of(grade: Score, answer: ShownAnswer | None) -> bool:
    """Return whether a grade is of the answer and the gold that a page shows."""
    return (
        answer is not None
        and grade.answer_hash in (None, answer.answer_hash)
        and (grade.gold_hash is None or answer.gold_hash in (None, grade.gold_hash))
    )


def _checked(sent: object) -> dict[str, Any]:
    """Return the fields of a grade, each of its type."""
    if not isinstance(sent, dict):
        raise RefusedError(400, "a grade is a JSON object")
    if unknown := [name for name in sent if name not in KEYS]:
        raise RefusedError(400, f"a grade has no {unknown[0]!r}: its keys are {', '.join(KEYS)}")
    fields = {"note": "", **sent}
    for name in ("run", "question", "note"):
        if not isinstance(fields.get(name), str):
            raise RefusedError(400, f"{name!r} must be a text")
    if any("\ud800" <= char <= "\udfff" for char in fields["note"]):
        raise RefusedError(400, "'note' holds half of a character, which no file can")
    value = fields.get("value", "")
    if isinstance(value, bool) or value not in (0, 1, None):
        raise RefusedError(400, "'value' must be 1 (right), 0 (wrong) or null")
    return fields


def _found(contents: PageContents, run: str, question: str) -> tuple[str, str, ShownAnswer]:
    """Return the run, the question and the answer that a page means, whose names it may show with escapes."""
    own = _named(contents.runs, run)
    if own is None:
        raise RefusedError(404, f"the page shows no run {run!r}")
    answers = contents.answers[own]
    asked = _named(answers, question)
    if asked is None:
        raise RefusedError(404, f"the page shows no question {question!r}")
    answer = answers[asked]
    if answer is None:
        raise RefusedError(409, f"{own!r} has no answer to {asked!r}, so there is nothing to grade")
    return own, asked, answer


def _named(names: Iterable[str], name: str) -> str | None:
    return name if name in names else next((one for one in names if visible(one) == name), None)
