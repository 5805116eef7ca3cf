"""Writes the file of a run: one line per finished question, resumed where it stopped."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.git import commit_around
from graphkit.files.leftovers import held_file, sweep
from graphkit.files.made import note_of_run, now
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.plugins.systems.answers import line_of
from graphkit.records.models import Answer
from graphkit.records.structs import AnswerStruct
from graphkit.records.usage import Figures, figures_of
from graphkit.records.words import counted


class RunFile:
    """The records of one run: those in its file, and those appended to it.

    The system has a record when :meth:`append` returns, so a run that is stopped in any way loses only the questions
    under way. A truncated last line is dropped; a later record of a question replaces an earlier one. Only one process
    at a time may open the file. ``NAME.made-by`` beside it keeps ``made_by``, so that answers of two systems (or of two
    models) don't end up in one run; ``NAME.ran-at`` says when its latest answers were asked for, and at which commit
    of the working folder.

    Attributes
    ----------
    figures
        The figures of each recorded question, by its id.
    dropped
        Whether a truncated last line was dropped.
    first_error
        The first error among the records appended now, or else among the earlier ones.
    """

    def __init__(self, path: Path, run: str, made_by: str = "") -> None:
        self.path = path
        self.run = run
        self.figures: dict[str, Figures] = {}
        self.dropped = False
        self.first_error: str | None = None
        self._appended = False
        self._places: dict[str, tuple[int, int]] = {}
        self._note = path.with_suffix(".made-by")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _locked(path)
        try:
            self._end = self._resume()
            self._hold_maker(made_by)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._places:
            # An empty file would be no run.
            self.path.unlink(missing_ok=True)
            self._note.unlink(missing_ok=True)
            note_of_run(self.path).unlink(missing_ok=True)
        os.close(self._file)

    def finished(self, question: str, retry_failed: bool = False) -> bool:
        """Return whether a question needs no further attempt."""
        found = self.figures.get(question)
        return found is not None and not (found.failed is not None and retry_failed)

    def record(self, question: str) -> Answer | None:
        """Return the record of a question; None if there is none."""
        if (place := self._places.get(question)) is None:
            return None
        offset, length = place
        return parse_record(Answer, os.pread(self._file, length, offset), f"{self.path}:0", Problems())

    def append(self, answer: Answer) -> None:
        """Write a record.

        Raise an InputError if the disk is full or fails; the file ends with the previous record.
        """
        line = line_of(answer)
        try:
            done = 0
            while done < len(line):
                done += os.write(self._file, line[done:])
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise InputError(
                f"the record of question {answer.question_id!r} can't be written: {error.strerror or error}",
                where=str(self.path),
                remedy=f"What was written before is kept ({counted(len(self._places), 'record')}). "
                "Make room, and run the command again.",
            ) from None
        first, self._appended = not self._appended, True
        if first:
            self.first_error = None
        self._add(answer, self._end, len(line))
        self._end += len(line)
        if first:
            about = {"at": now(), "commit": commit_around(Path())}
            with written(note_of_run(self.path)) as note:
                note.write_text(json.dumps(about) + "\n", encoding="utf-8")

    def sort(self, order: Iterable[str]) -> None:
        """Sort the records by the order of the questions, each one once; replace the file whole or not at all."""
        known = [question for question in order if question in self._places]
        places = [self._places[question] for question in dict.fromkeys([*known, *self._places])]
        if _adjoining(places, self._end):
            return
        sweep(self.path.parent, f".{self.path.name}.")
        descriptor, name = held_file(self.path.parent, f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                for offset, length in places:
                    stream.write(os.pread(self._file, length, offset))
                stream.flush()
                os.fsync(stream.fileno())
                os.fchmod(stream.fileno(), stat.S_IMODE(os.fstat(self._file).st_mode))
            name.replace(self.path)
        except BaseException as error:
            name.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            what = f"the records can't be put in order: {error.strerror or error}"
            remedy = "All of them are kept. Make room, and run the command again."
            raise InputError(what, where=str(self.path), remedy=remedy) from None

    def _add(self, answer: Any, offset: int, length: int) -> None:
        self.figures[answer.question_id] = figures_of(answer)
        self._places[answer.question_id] = (offset, length)
        if answer.error is not None and self.first_error is None:
            self.first_error = f"{answer.error_type}: {answer.error}" if answer.error_type else answer.error

    def _resume(self) -> int:
        """Read the records of the file, and return where the last whole one ends."""
        size = os.fstat(self._file).st_size
        problems = Problems()
        reader = RecordReader(self.path, AnswerStruct, problems)
        end = 0
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                answer = None if line.isspace() else reader.parse(number, line)
                last = end + len(line) == size
                if answer is None and not line.isspace():
                    if not last:
                        remedy = "Correct or delete that line, or choose another name or --out."
                        raise InputError(str(problems.skipped[0]), remedy=remedy)
                    os.ftruncate(self._file, end)
                    self.dropped = True
                    return end
                if answer is not None and answer.run != self.run:
                    what = f"the file holds the run {answer.run!r}, not {self.run!r}"
                    remedy = "Choose another name (name=package.module:callable) or another --out."
                    raise InputError(what, where=f"{self.path}:{number}", remedy=remedy)
                unended = not line.endswith(b"\n")
                if answer is not None:
                    self._add(answer, end, len(line) + unended)
                end += len(line) + unended
                if unended:
                    os.write(self._file, b"\n")
                    break  # the line end just written must not be read as another line
        return end

    def _hold_maker(self, made_by: str) -> None:
        """Refuse to resume the run of another system, and note the current one."""
        known = self._note.read_text(encoding="utf-8", errors="replace").strip() if self._note.exists() else ""
        if self.figures and known and made_by and known != made_by:
            remedy = "Choose another name (name=package.module:callable) or --out, or delete the run's file."
            raise InputError(f"the run was made by {known}, not by {made_by}", where=str(self.path), remedy=remedy)
        if made_by and known != made_by:
            with written(self._note) as note:
                note.write_text(made_by + "\n", encoding="utf-8")


def _adjoining(places: list[tuple[int, int]], end: int) -> bool:
    """Return whether the file holds just these records, in this order."""
    position = 0
    for offset, length in places:
        if offset != position:
            return False
        position += length
    return position == end


def _locked(path: Path) -> int:
    """Open a file for reading and appending, and lock it against other runs.

    Raise an InputError if another process writes it, or it isn't a regular file.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError("this is no regular file", where=str(path), remedy="Choose another name or --out.")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise InputError(
                "another process is writing this run", where=str(path), remedy="Wait for it, or choose another --out."
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        # Its last writer has just replaced the file that was opened.
        os.close(descriptor)
