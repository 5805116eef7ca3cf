"""Comparisons of two answers by a judge: the record, its file, and what each is worth."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic.types import StrictBool, StrictStr

from graphkit.files.problems import Problems
from graphkit.files.reading import each_once, read_records
from graphkit.plugins.judging.judges.pairwise import WORTH, Winner
from graphkit.records.fields import Amount, Count, Name, Record, RunName

#: The ending of the names of files of comparisons, and the folder beside the runs that holds them.
COMPARISONS = ".comparisons.jsonl"
PLACE = "pairwise.jsonl"

#: The failure of a comparison of two runs of which neither has an answer.
UNANSWERED, BOTH_LACK = "unanswered", "neither run has an answer"


class AnswerComparison(Record):
    """The verdict of a judge on two answers to a question by one criterion: one line of a file of comparisons.

    Attributes
    ----------
    first, second
        The runs, in the order in which the judge saw their answers. It isn't told which run gave which.
    trial
        Which of several times it is that the same was asked, from 1.
    differential
        Whether the judge saw only what the other answer lacks.
    winner
        ``first``, ``second`` or ``tie``; None if there is no verdict, and ``failure`` and ``reason`` then say why, as
        in a :class:`~graphkit.plugins.judging.verdicts.Verdict`.
    unanswered
        ``first``, ``second`` or ``both``: the run has no answer, so that the other one won without a judge.
    grader, model, version
        The judge, the model that replied, and the version of the judge with the hash of its prompt.
    shown_hash
        The SHA-256 of the question, the words of the criterion and both answers as they were shown.
    first_hash, second_hash
        The SHA-256 of both answers as the runs hold them; None without one. A verdict on another text is outdated.
    first_length, second_length
        The characters of both answers as they were shown.
    """

    question: Name
    criterion: Name
    first: RunName
    second: RunName
    trial: Count = 1
    differential: StrictBool = False
    winner: Winner | None = None
    unanswered: Literal["first", "second", "both"] | None = None
    failure: StrictStr | None = None
    reason: StrictStr | None = None
    explanation: StrictStr | None = None
    grader: Name
    model: StrictStr | None = None
    version: StrictStr
    shown_hash: StrictStr
    first_hash: StrictStr | None = None
    second_hash: StrictStr | None = None
    first_length: Count
    second_length: Count
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    cost: Amount | None = None
    cached: StrictBool = False
    attempts: Count = 1

    @property
    def asked(self) -> bool:
        """Whether a judge was asked: it isn't for the same answer twice, nor without one."""
        return self.unanswered is None and self.attempts > 0

    def worth(self, run: str) -> float | None:
        """Return what the verdict is worth for one of the two runs: 1 if it wins, 0.5 for a tie; None without one."""
        if self.winner is None:
            return None
        return WORTH[self.winner] if run == self.first else 1 - WORTH[self.winner]


def read_comparisons(files: Iterable[Path], problems: Problems) -> list[AnswerComparison]:
    """Return the comparisons in some files; a second one of the same judge and trial is a problem.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped.
    """
    return each_once(
        (found for path in files for found in read_records(path, AnswerComparison, problems)),
        lambda one: (
            *(one.question, one.criterion, one.first, one.second),
            *(one.trial, one.differential, one.grader, one.version),
        ),
        lambda one: f"{one.grader} already compared {one.first} with {one.second} by {one.criterion} in this order",
        problems,
    )
