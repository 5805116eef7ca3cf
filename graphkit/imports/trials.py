"""Several answers to a question in one log, as repetitions of the run: ``NAME@1``, ``NAME@2``, and so on."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphkit.errors import InputError
from graphkit.files.atomic import together, written
from graphkit.files.jsonl import stem_of
from graphkit.records.repetition_names import repetition_name
from graphkit.records.scores import Score

#: The grader of a score that a log holds.
LOG = "log"

#: The most repetitions of a run.
MOST = 1000


class TrialRecord(NamedTuple):
    """A record with its JSON, the trial that it is of, and the scores that the log has of it."""

    trial: str | None
    record: dict[str, Any]
    line: bytes
    scores: dict[str, float]


class Trials:
    """Writes the records of a log: as one run, or as a run for each trial where a question has several.

    Attributes
    ----------
    scores
        The scores of the written records, under the names of their runs.
    """

    def __init__(self, run: str, target: Path | None, *, replace: bool = False) -> None:
        self.run = run
        self.target = target
        self.replace = replace
        self.scores: list[Score] = []
        self._named: list[tuple[str, str | None]] = []
        self._scored: list[tuple[int, dict[str, float]]] = []

    def write(
        self, records: Iterable[TrialRecord], check: Callable[[], None]
    ) -> tuple[list[dict[str, Any]], tuple[tuple[str, Path | None], ...]]:
        """Write the records if the check passes; return them where there is no target, and the runs with their files.

        Raises
        ------
        InputError
            A file can't be written or is there already, or a question has too many trials.
        """
        if self.target is None:
            kept = [one.record for one in self._seen(records)]
            check()
            numbers = self._numbers()
            for record, number in zip(kept, numbers, strict=True):
                record["run"] = self._name(number)
            self._score(numbers)
            return kept, tuple((self._name(number), None) for number in sorted({*numbers}) or [0])
        self.target.parent.mkdir(exist_ok=True)  # the runs/ of a new dataset
        with ExitStack() as stack:
            spooled = stack.enter_context(tempfile.TemporaryFile(dir=self.target.parent))
            for one in self._seen(records):
                spooled.write(one.line + b"\n")
            check()
            numbers = self._numbers()
            self._score(numbers)
            files = {number: self._file(number) for number in sorted({*numbers}) or [0]}
            self._refuse_existing([file for number, file in files.items() if number])
            streams = {}
            stack.enter_context(together())
            for number, file in files.items():
                streams[number] = stack.enter_context(stack.enter_context(written(file)).open("wb"))
            spooled.seek(0)
            for number, line in zip(numbers, spooled, strict=True):
                streams[number].write(self._renamed(line, number))
        return [], tuple((self._name(number), file) for number, file in files.items())

    def _seen(self, records: Iterable[TrialRecord]) -> Iterator[TrialRecord]:
        for one in records:
            if one.scores:
                self._scored.append((len(self._named), one.scores))
            self._named.append((one.record["question_id"], one.trial))
            yield one

    def _numbers(self) -> list[int]:
        """Return the number of each record's repetition; 0 for all if each question has one record.

        Where every question could have each trial, a trial is the same repetition throughout; otherwise, as where
        trials are numbered across questions, those of a question are counted.
        """
        by_question: dict[str, set[str | None]] = {}
        for question, trial in self._named:
            by_question.setdefault(question, set()).add(trial)
        most = max(map(len, by_question.values()), default=0)
        if most < 2:
            return [0] * len(self._named)
        if most > MOST:
            what = f"a question has {most:,} answers in this log, and a run has at most {MOST:,} repetitions"
            raise InputError(what, where=str(self.target or self.run), remedy="Import a part of the log.")
        everywhere = {trial for _, trial in self._named}
        places = {
            question: _ordered(everywhere if len(everywhere) == most else own) for question, own in by_question.items()
        }
        return [places[question][trial] for question, trial in self._named]

    def _name(self, number: int) -> str:
        return repetition_name(self.run, number) if number else self.run

    def _file(self, number: int) -> Path:
        assert self.target is not None
        stem, suffix = stem_of(self.target), self.target.name.removeprefix(stem_of(self.target))
        return self.target.with_name(f"{repetition_name(stem, number)}{suffix}") if number else self.target

    def _refuse_existing(self, files: Sequence[Path]) -> None:
        there = next((file for file in files if file.exists()), None)
        if there is not None and not self.replace:
            remedy = "Name another, or replace it by --force."
            raise InputError("there is a file of a trial already", where=str(there), remedy=remedy)

    def _renamed(self, line: bytes, number: int) -> bytes:
        if not number:
            return line
        return msgspec.json.encode({**msgspec.json.decode(line), "run": self._name(number)}) + b"\n"

    def _score(self, numbers: Sequence[int]) -> None:
        for place, scores in self._scored:
            run, question = self._name(numbers[place]), self._named[place][0]
            self.scores += [
                Score(run=run, question=question, measure=measure, value=value, grader=LOG)
                for measure, value in scores.items()
            ]


def _ordered(trials: Iterable[str | None]) -> dict[str | None, int]:
    """Return the place of each trial from 1: numbers by their value, then texts; a record without a trial first."""
    found = sorted(
        trials, key=lambda one: (one is not None, one is None or not one.isdecimal(), len(one or ""), one or "")
    )
    return {trial: place for place, trial in enumerate(found, 1)}
