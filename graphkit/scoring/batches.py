"""Batches of lines, cut from both files in lockstep, sent to other processes as places in the files, and scored."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.files.jsonl import is_array, is_compressed, line_spans, raw_lines
from graphkit.files.problems import Problems
from graphkit.files.spool import TOGETHER, Packer
from graphkit.records.structs import AnswerStruct
from graphkit.scoring.known_share import GoldSeen
from graphkit.scoring.lockstep import Line, Lockstep, Source
from graphkit.scoring.results import Row
from graphkit.scoring.scorer import Job, Scorer
from graphkit.scoring.totals import Totals

#: The number of lines of each file in a batch.
SIZE = 1000


#: Lines of a file: themselves, or packed on their way to another process: their place in the file, or their bytes
#: where it can't be sought.
Lines = list[bytes] | tuple[int, int] | bytes


class Batch(NamedTuple):
    """Lines of both files, with the number of the first line of each (from 1)."""

    question_start: int
    questions: Lines
    answer_start: int
    answers: Lines


def batches(questions_file: Path, run_file: Path, *, packed: bool = False) -> Iterator[Batch]:
    """Yield the lines of both files, the same number of each at a time."""
    question_number = answer_number = 1
    cut = _packed if packed else _some_lines
    for (questions, asked), (answers, answered) in zip_longest(cut(questions_file), cut(run_file), fillvalue=([], 0)):
        yield Batch(question_number, questions, answer_number, answers)
        question_number += asked
        answer_number += answered


def _some_lines(path: Path) -> Iterator[tuple[list[bytes], int]]:
    """Yield the lines of a file, ``SIZE`` at a time, and their number."""
    lines = raw_lines(path)
    while some := list(islice(lines, SIZE)):
        yield some, len(some)


def _packed(path: Path) -> Iterator[tuple[Lines, int]]:
    """Yield the same, packed."""
    if path.is_file() and not is_compressed(path) and not is_array(path):
        for offset, length, count in line_spans(path, SIZE):
            yield (offset, length), count
        return
    for some, count in _some_lines(path):
        yield b"\n".join(some), count


class LineReader:
    """Reads the lines of batches, packed or not, in the process that works on them."""

    def __init__(self) -> None:
        self._open: dict[Path, int] = {}

    def lines(self, path: Path, lines: Lines) -> list[bytes]:
        """Return lines of a file."""
        if isinstance(lines, list):
            return lines
        if isinstance(lines, bytes):
            return lines.split(b"\n")
        if path not in self._open:
            self._open[path] = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        return _read(self._open[path], *lines).split(b"\n")


def _read(file: int, offset: int, length: int) -> bytes:
    os.lseek(file, offset, os.SEEK_SET)
    data = os.read(file, length)
    while len(data) < length and (more := os.read(file, length - len(data))):
        data += more
    return data


@dataclass
class Part:
    """The result of a batch.

    Attributes
    ----------
    places
        The line of the question of each row.
    answers
        The run's records in their order, packed, with their number, if the job keeps them.
    names, described
        If the job describes questions: the ids of the batch's picked questions in order, and the description of each
        scored one.
    gold
        The wanted ids that the gold of these questions holds.
    """

    totals: Totals
    rows: list[Row]
    questions_without_answer: dict[str, Line]
    answers_without_question: list[tuple[str, Line]]
    problems: Problems
    hashes: bytes
    places: array[int] = field(default_factory=lambda: array("q"))
    runs: set[str] = field(default_factory=set)
    answers: list[tuple[bytes, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    described: list[tuple[str, Any]] = field(default_factory=list)
    gold: GoldSeen = field(default_factory=GoldSeen)


class BatchScorer:
    """Scores the batches of a job, and hands back the lines without a partner; each process has its own."""

    def __init__(self, job: Job, hash: Callable[[str], int]) -> None:  # noqa: A002
        self.scorer = Scorer(job, hash)
        self._packer = Packer(AnswerStruct) if job.keep_answers else None
        self._read = LineReader()

    def __call__(self, batch: Batch) -> Part:
        """Score the questions of a batch whose records it holds."""
        scorer, kept = self.scorer, list[AnswerStruct]()
        scorer.begin()
        joined = Lockstep(scorer, Source(scorer.answers.path), see=None if self._packer is None else kept.append)
        questions = self._read.lines(scorer.questions.path, batch.questions)
        answers = self._read.lines(scorer.answers.path, batch.answers)
        joined.read(
            scorer.questions.parsed(enumerate(questions, batch.question_start)),
            scorer.answers.parsed(enumerate(answers, batch.answer_start)),
        )
        alone = [*joined.answers.items(), *joined.later]
        rows = scorer.take_rows()
        return Part(
            totals=scorer.totals,
            rows=rows,
            questions_without_answer={name: (one.number, one.line) for name, one in joined.questions.items()},
            answers_without_question=[(name, (one.number, one.line)) for name, one in alone],
            problems=scorer.problems,
            hashes=array("q", map(scorer.hash, joined.numbers)).tobytes(),
            places=joined.places,
            runs=scorer.runs,
            answers=[*self._pack(kept)],
            names=list(filter(scorer.job.picks, joined.numbers)) if scorer.job.describe is not None else [],
            described=scorer.described,
            gold=scorer.gold,
        )

    def _pack(self, answers: Sequence[AnswerStruct]) -> Iterator[tuple[bytes, int]]:
        for begin in range(0, len(answers), TOGETHER):
            assert self._packer is not None  # since answers are kept
            some = answers[begin : begin + TOGETHER]
            yield self._packer.pack(some), len(some)
