"""Joins the questions and records of a shard, which are read side by side and scored in pairs.

A run is usually in the order of its questions, so that memory stays flat. What finds no partner in its shard is left:
to the process that sums up all batches of a file, or to the exchange between shards.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.files.problems import Problem
from graphkit.files.reading import Parsed
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.scorer import Scorer

#: How many waiting lines of each kind are kept decoded; of the others only the line is.
DECODED = 2000

#: A line of a file with its number.
Line = tuple[int, bytes]


class Source(NamedTuple):
    """The file of a record, the place of its shard among all, and whether it came from the shard of other questions."""

    path: Path
    shard: int = 0
    routed: bool = False


class WaitingQuestion(NamedTuple):
    """A question that waits for its record."""

    number: int
    line: bytes
    question: QuestionStruct | None = None


class WaitingRecord(NamedTuple):
    """A record that waits for its question."""

    source: Source
    number: int
    line: bytes
    answer: AnswerStruct | None = None


class Lockstep:
    """The questions and records of a shard.

    Parameters
    ----------
    source
        The file of the records that are read next.
    taken
        The ids of questions that other shards have, with their places.
    see
        Receives each usable record that is read.

    Attributes
    ----------
    numbers
        The line of each question.
    places
        The line of the question of each scored pair, in the order of scoring.
    questions, answers
        What waits for its partner, by the id of the question.
    later
        Further records of an id that waits.
    matched
        The record of each question, if it is wanted.
    """

    def __init__(
        self,
        scorer: Scorer,
        source: Source,
        taken: Mapping[str, str] | None = None,
        see: Callable[[AnswerStruct], None] | None = None,
    ) -> None:
        self.scorer = scorer
        self.source = source
        self.taken = taken or {}
        self.see = see
        self.numbers: dict[str, int] = {}
        self.places = array("q")
        self.questions: dict[str, WaitingQuestion] = {}
        self.answers: dict[str, WaitingRecord] = {}
        self.later: list[tuple[str, WaitingRecord]] = []
        self.matched: dict[str, tuple[Source, int]] | None = None

    def read(self, questions: Iterable[Parsed[QuestionStruct]], answers: Iterable[Parsed[AnswerStruct]]) -> None:
        """Take lines of both sides in turn, so that both records of a question are released early."""
        scorer, numbers, early, places, taken = self.scorer, self.numbers, self.answers, self.places, self.taken
        admit, score, see, matched = scorer.admit, scorer.score, self.see, self.matched
        nothing: Parsed[Any] = (0, b"", None)
        for (place, question_line, question), (number, answer_line, answer) in zip_longest(
            questions, answers, fillvalue=nothing
        ):
            if question is not None and (question.id in taken or numbers.setdefault(question.id, place) != place):
                self._refuse(question.id, place)
                question = None
            if answer is not None:
                admit(number, answer_line, answer)
                if see is not None:
                    see(answer)
            if question is not None:
                name = question.id
                if answer is not None and answer.question_id == name and name not in early:
                    if score(question, answer, number):
                        places.append(place)
                    if matched is not None:
                        matched[name] = self.source, number
                    continue
                if name in early:
                    self._score(name, place, question, early.pop(name))
                else:
                    kept = question if len(self.questions) < DECODED else None
                    self.questions[name] = WaitingQuestion(place, question_line, kept)
            if answer is not None:
                self.take(WaitingRecord(self.source, number, answer_line, answer), answer)

    def _refuse(self, name: str, number: int) -> None:
        where = self.taken[name] if name in self.taken else f"line {self.numbers[name]}"
        what = f"the id is already taken by {where}"
        self.scorer.questions.problems.add(Problem(f"{self.scorer.questions.path}:{number}", what, record=name))

    def take(self, record: WaitingRecord, answer: AnswerStruct) -> None:
        """Join a record, whose answer is decoded, with its question, or let it wait."""
        name = answer.question_id
        if (waiting := self.questions.pop(name, None)) is not None:
            self._score(name, waiting.number, self._question(waiting), record)
        elif name in self.answers:
            self.later.append((name, record._replace(answer=None)))
        else:
            self.answers[name] = record if len(self.answers) < DECODED else record._replace(answer=None)

    def _question(self, waiting: WaitingQuestion) -> QuestionStruct:
        return waiting.question or self.scorer.question_again(waiting.number, waiting.line)

    def _score(self, name: str, place: int, question: QuestionStruct, record: WaitingRecord) -> None:
        reader = self.scorer.answers
        reader.path = record.source.path
        answer = record.answer or self.scorer.answer_again(record.number, record.line)
        if self.scorer.score(question, answer, record.number):
            self.places.append(place)
        reader.path = self.source.path
        if self.matched is not None:
            self.matched[name] = record.source, record.number

    def score_missing(self) -> None:
        """Score the questions that still wait as ones without a record."""
        for waiting in self.questions.values():
            if self.scorer.score(self._question(waiting), None):
                self.places.append(waiting.number)
