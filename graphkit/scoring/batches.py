"""Batches of lines, cut from both files in lockstep, sent to other processes as positions in the files, and scored."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

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


@dataclass
class Batch:
    """Lines of both files, with the number of the first line of each (from 1)."""

    question_start: int
    questions: list[bytes]
    answer_start: int
    answers: list[bytes]


#: Lines of one file on their way: their position in the file, or the bytes themselves if it can't be sought.
Packed = tuple[int, int] | bytes | None


@dataclass
class PackedBatch:
    """A batch on its way to another process."""

    question_start: int
    questions: Packed
    answer_start: int
    answers: Packed


def batches(questions_file: Path, run_file: Path) -> Iterator[Batch]:
    """Yield the lines of both files, the same number of each at a time."""
    questions, answers = raw_lines(questions_file), raw_lines(run_file)
    question_number = answer_number = 1
    while True:
        batch = Batch(question_number, list(islice(questions, SIZE)), answer_number, list(islice(answers, SIZE)))
        if not batch.questions and not batch.answers:
            return
        yield batch
        question_number += len(batch.questions)
        answer_number += len(batch.answers)


def packed(questions_file: Path, run_file: Path) -> Iterator[PackedBatch]:
    """Yield the same batches, packed."""
    question_number = answer_number = 1
    for (questions, asked), (answers, answered) in zip_longest(
        _packed(questions_file), _packed(run_file), fillvalue=(None, 0)
    ):
        yield PackedBatch(question_number, questions, answer_number, answers)
        question_number += asked
        answer_number += answered


def _packed(path: Path) -> Iterator[tuple[Packed, int]]:
    """Yield the lines of a file, ``SIZE`` at a time, and their number."""
    if path.is_file() and not is_compressed(path) and not is_array(path):
        for offset, length, count in line_spans(path, SIZE):
            yield (offset, length), count
        return
    lines = raw_lines(path)
    while some := list(islice(lines, SIZE)):
        yield b"\n".join(some), len(some)


class Unpacker:
    """Reads the lines of packed batches again, in the process that works on them."""

    def __init__(self, questions_file: Path, run_file: Path) -> None:
        self._questions = questions_file
        self._answers = run_file
        self._open: dict[Path, int] = {}

    def unpack(self, batch: PackedBatch) -> Batch:
        """Return a batch with its lines."""
        questions, answers = self._lines(self._questions, batch.questions), self._lines(self._answers, batch.answers)
        return Batch(batch.question_start, questions, batch.answer_start, answers)

    def _lines(self, path: Path, packed: Packed) -> list[bytes]:
        if packed is None:
            return []
        if isinstance(packed, bytes):
            return packed.split(b"\n")
        if path not in self._open:
            self._open[path] = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        offset, length = packed
        return _read(self._open[path], offset, length).split(b"\n")


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
        If the job describes questions: the ids of the batch's questions in order, and the description of each scored
        question.
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


class _Pack:
    """The records of a batch in packed form, some at a time."""

    def __init__(self, packer: Packer[AnswerStruct]) -> None:
        self._packer = packer
        self._waiting: list[AnswerStruct] = []
        self._packed: list[tuple[bytes, int]] = []

    def add(self, answer: AnswerStruct) -> None:
        self._waiting.append(answer)
        if len(self._waiting) == TOGETHER:
            self._flush()

    def finish(self) -> list[tuple[bytes, int]]:
        self._flush()
        return self._packed

    def _flush(self) -> None:
        if self._waiting:
            self._packed.append((self._packer.pack(self._waiting), len(self._waiting)))
            self._waiting = []


def _scored(scorer: Scorer, batch: Batch, packer: Packer[AnswerStruct] | None) -> Part:
    """Score the questions of a batch whose records it holds, and hand back the lines without a partner."""
    scorer.begin()
    pack = None if packer is None else _Pack(packer)
    joined = Lockstep(scorer, Source(scorer.answers.path), see=None if pack is None else pack.add)
    joined.read(enumerate(batch.questions, batch.question_start), enumerate(batch.answers, batch.answer_start))
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
        answers=[] if pack is None else pack.finish(),
        names=list(joined.numbers) if scorer.job.describe is not None else [],
        described=scorer.described,
        gold=scorer.gold,
    )


def batch_scorer(job: Job, hash: Callable[[str], int]) -> Callable[[Batch], Part]:  # noqa: A002
    """Return the function that scores a batch; each process has its own."""
    packer = Packer(AnswerStruct) if job.keep_answers else None
    return partial(_scored, Scorer(job, hash), packer=packer)
