"""Batches of lines: cut from both files in lockstep, and sent to other processes as the place where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphkit.sources.jsonl import BOM, is_compressed, raw_lines

#: Lines of each file that are worked on together.
SIZE = 1000


@dataclass
class Batch:
    """Lines of both files from some line number on (from 1)."""

    question_start: int
    questions: list[bytes]
    answer_start: int
    answers: list[bytes]


#: Lines of one file as they travel: where in the file they are, or the bytes themselves where it can't be sought.
Packed = tuple[int, int] | bytes | None


@dataclass
class PackedBatch:
    """A batch on its way to another process."""

    question_start: int
    questions: Packed
    answer_start: int
    answers: Packed


def batches(questions_file: Path, run_file: Path) -> Iterator[Batch]:
    """Yield the lines of both files, as many of each at a time."""
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
    questions, answers = _Packer(questions_file), _Packer(run_file)
    for batch in batches(questions_file, run_file):
        yield PackedBatch(
            batch.question_start, questions.pack(batch.questions), batch.answer_start, answers.pack(batch.answers)
        )


class _Packer:
    """Packs the lines of one file, which must be given in order and none left out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seekable = path.is_file() and not is_compressed(path)
        self._offset: int | None = None

    def pack(self, lines: list[bytes]) -> Packed:
        if not lines:
            return None
        if not self._seekable:
            return b"\n".join(lines)
        if self._offset is None:
            with self._path.open("rb") as stream:
                self._offset = len(BOM) if stream.read(len(BOM)) == BOM else 0
        offset, length = self._offset, sum(map(len, lines)) + len(lines)
        self._offset += length
        # Without the end of the last line.
        return offset, length - 1


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
