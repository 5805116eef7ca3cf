"""Batches of lines, cut from both files in lockstep, and sent to other processes as positions in the files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

from graphkit.files.jsonl import is_array, is_compressed, line_spans, raw_lines

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
