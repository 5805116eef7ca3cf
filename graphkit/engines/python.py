"""Score a run from its files: two streams, joined question by question, on as many processes as there are cores.

Both files are read in lockstep, since a run is usually in the order of its questions: memory then stays flat whatever
their size. Lines that don't meet their partner in the same batch wait for it.
"""

from __future__ import annotations

import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from graphkit.commits import CommitGraph
from graphkit.errors import InputError
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.results import Evaluation, Row, Totals
from graphkit.sources.jsonl import raw_lines
from graphkit.sources.lean import LeanAnswer, LeanQuestion
from graphkit.sources.records import RecordReader
from graphkit.sources.report import OnError, Problem, Report

#: Lines of each file that travel to a worker together.
BATCH = 1000

#: Files smaller than this, in bytes, aren't worth a second process.
SMALL = 8 << 20

Numbered = tuple[int, bytes]
Sink = Callable[[Sequence[Row]], None]


@dataclass
class _Batch:
    """Lines of both files from some line number on (from 1)."""

    question_start: int
    questions: list[bytes]
    answer_start: int
    answers: list[bytes]


@dataclass
class _Part:
    """What a batch came to."""

    totals: Totals
    rows: list[Row]
    lonely_questions: dict[str, Numbered]
    lonely_answers: list[tuple[str, Numbered]]
    report: Report
    hashes: bytes
    runs: set[str] = field(default_factory=set)


class Scorer:
    """Scores batches of one run; each process has its own.

    Parameters
    ----------
    keep_rows
        Whether the value of each question is wanted, or the sums are enough.
    """

    def __init__(
        self,
        questions_file: Path,
        run_file: Path,
        measures: tuple[Measure, ...],
        commits: CommitGraph,
        keep_rows: bool,
    ) -> None:
        self.measures = measures
        self.commits = commits
        self.keep_rows = keep_rows
        self.report = Report()
        self.questions = RecordReader(questions_file, LeanQuestion, self.report)
        self.answers = RecordReader(run_file, LeanAnswer, self.report)
        self._begin()

    def _begin(self) -> None:
        self.totals = Totals(len(self.measures))
        self.rows: list[Row] = []
        self.runs: set[str] = set()
        self.report = self.questions.report = self.answers.report = Report()

    def score(self, question: Any, answer: Any, number: int = 0) -> None:
        """Score one question into the totals, and into the rows where they are wanted."""
        case = Case(question, answer, self.commits)
        totals = self.totals
        totals.questions += 1
        if answer is None:
            totals.missing += 1
        elif answer.error is not None:
            totals.failed += 1
        else:
            self._note(case, number)
        sums, scored = totals.sums, totals.scored
        values: list[float | str] = []
        for index, measure in enumerate(self.measures):
            value = measure.score(case)
            if isinstance(value, float):
                sums[index] += value
                scored[index] += 1
                values.append(value)
            else:
                values.append(value.reason)
        if self.keep_rows:
            self.rows.append(Row(question.id, tuple(values)))

    def _note(self, case: Case, number: int) -> None:
        where = f"{self.answers.path}:{number}"
        chunks = case.chunks
        if len({chunk.id for chunk in chunks}) < len(chunks):
            what = "the ranking holds an id more than once; each counts at its first rank"
            self.report.note(Problem(where, what, record=case.question.id))
        for path, what in case.misplaced if case.walks else ():
            self.report.note(Problem(where, f"{what} in a retrieved path", record=f"{case.question.id}, path {path}"))

    def batch(self, batch: _Batch) -> _Part:
        """Score the questions and answers of a batch that belong together, and hand back those that found no partner."""
        self._begin()
        waiting: dict[str, tuple[int, Any, bytes]] = {}
        lonely_answers: list[tuple[str, Numbered]] = []
        hashes = array("Q")
        parse = self.questions.parse
        for number, line in enumerate(batch.questions, batch.question_start):
            if line and not line.isspace() and (question := parse(number, line)) is not None:
                hashes.append(_hash(question.id))
                if question.id in waiting:
                    what = f"the id is already taken by line {waiting[question.id][0]}"
                    self.report.add(Problem(f"{self.questions.path}:{number}", what, record=question.id))
                else:
                    waiting[question.id] = (number, question, line)
        parse = self.answers.parse
        for number, line in enumerate(batch.answers, batch.answer_start):
            if line and not line.isspace() and (answer := parse(number, line)) is not None:
                self.runs.add(answer.run)
                found = waiting.pop(answer.question_id, None)
                if found is None:
                    lonely_answers.append((answer.question_id, (number, line)))
                else:
                    self.score(found[1], answer, number)
        lonely_questions = {name: (number, line) for name, (number, _, line) in waiting.items()}
        return _Part(self.totals, self.rows, lonely_questions, lonely_answers, self.report, hashes.tobytes(), self.runs)


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


_scorer: Scorer


def _start_worker(*arguments: Any) -> None:
    global _scorer
    _scorer = Scorer(*arguments)


def _work(batch: _Batch) -> _Part:
    return _scorer.batch(batch)


class _Join:
    """Takes the parts in order: sums them up, and joins the lines that found no partner in their batch."""

    def __init__(self, scorer: Scorer, report: Report, sink: Sink | None) -> None:
        self.scorer = scorer
        self.report = report
        self.sink = sink
        self.totals = Totals(len(scorer.measures))
        self.questions: dict[str, Numbered] = {}
        self.answers: dict[str, Numbered] = {}
        self.hashes = array("Q")
        self.runs: set[str] = set()

    def take(self, part: _Part) -> None:
        """Add one part, and score the questions that meet their answer now."""
        self.totals.add(part.totals)
        self.report.merge(part.report)
        self.hashes.frombytes(part.hashes)
        self.runs |= part.runs
        self._emit(part.rows)
        for name, numbered in part.lonely_questions.items():
            if name in self.questions:
                what = f"the id is already taken by line {self.questions[name][0]}"
                self._refuse(self.scorer.questions.path, numbered, what, name)
            else:
                self.questions[name] = numbered
        for name, numbered in part.lonely_answers:
            if name in self.answers:
                what = f"the question already has a record at line {self.answers[name][0]}"
                self._refuse(self.scorer.answers.path, numbered, what, name)
            else:
                self.answers[name] = numbered
        both = [name for name in part.lonely_questions if name in self.answers]
        both += [name for name, _ in part.lonely_answers if name in self.questions and name not in set(both)]
        self._score((name, self.questions.pop(name), self.answers.pop(name)) for name in dict.fromkeys(both))

    def _emit(self, rows: list[Row]) -> None:
        if self.sink is not None and rows:
            self.sink(rows)

    def _refuse(self, path: Path, numbered: Numbered, what: str, name: str) -> None:
        self.report.add(Problem(f"{path}:{numbered[0]}", what, record=name))

    def _score(self, pairs: Iterator[tuple[str, Numbered, Numbered | None]]) -> None:
        scorer = self.scorer
        scorer._begin()
        for _, question, answer in pairs:
            parsed = scorer.questions.parse(*question)
            scorer.score(parsed, scorer.answers.parse(*answer) if answer else None, answer[0] if answer else 0)
        self.totals.add(scorer.totals)
        self.report.merge(scorer.report)
        self._emit(scorer.rows)

    def finish(self) -> None:
        """Score what has no record as missing, and refuse records of unknown questions and repeats of either."""
        repeated = _repeats(self.hashes)
        if self.answers or repeated:
            self._refuse_strangers(repeated)
        self._score((name, numbered, None) for name, numbered in self.questions.items())

    def _refuse_strangers(self, repeated: set[int]) -> None:
        """Tell unknown ids from second records, by a second look at the questions."""
        lines: dict[str, int] = {}
        silent = Report()
        for number, question in RecordReader(self.scorer.questions.path, LeanQuestion, silent):
            name = question.id
            if name in lines and _hash(name) in repeated:
                self.questions.pop(name, None)
                what = f"the id is already taken by line {lines[name]}"
                problem = Problem(f"{self.scorer.questions.path}:{number}", what, record=name)
                if problem not in self.report.problems:
                    self.report.add(problem)
            if name in self.answers or _hash(name) in repeated:
                lines.setdefault(name, number)
        for name, numbered in self.answers.items():
            if name in lines:
                self._refuse(self.scorer.answers.path, numbered, "the question already has a record", name)
            else:
                what = "the question id is not in the dataset"
                problem = Problem(
                    f"{self.scorer.answers.path}:{numbered[0]}", what, record=name, remedy="Check --dataset."
                )
                self.report.add(problem)


def _repeats(hashes: array[int]) -> set[int]:
    """Return the hashes that occur twice, looking at a sixteenth of them at a time to keep memory low."""
    found: set[int] = set()
    for rest in range(16):
        part = sorted(one for one in hashes if one & 15 == rest) if len(hashes) > 100_000 else sorted(hashes)
        found.update(one for one, two in zip(part, part[1:], strict=False) if one == two)
        if len(hashes) <= 100_000:
            break
    return found


def _batches(questions_file: Path, run_file: Path) -> Iterator[_Batch]:
    questions, answers = raw_lines(questions_file), raw_lines(run_file)
    question_number = answer_number = 1
    while True:
        batch = _Batch(question_number, list(islice(questions, BATCH)), answer_number, list(islice(answers, BATCH)))
        if not batch.questions and not batch.answers:
            return
        yield batch
        question_number += len(batch.questions)
        answer_number += len(batch.answers)


def score_file(
    questions_file: Path,
    run_file: Path,
    measures: tuple[Measure, ...],
    commits: CommitGraph,
    *,
    dataset: str = "",
    on_error: OnError = "fail",
    report: Report | None = None,
    sink: Sink | None = None,
    workers: int | None = None,
) -> Evaluation:
    """Score one run log against its questions.

    Parameters
    ----------
    sink
        Takes the rows of scored questions, some at a time; without it only the means are kept.
    workers
        How many processes; by default one a core for large files, and this process alone for small ones.

    Returns
    -------
    Evaluation
        Without rows: those went to ``sink``.

    Raises
    ------
    InputError
        A file can't be read, or records can't be used and ``on_error`` is ``"fail"``.
    """
    report = report if report is not None else Report(on_error)
    arguments = (questions_file, run_file, measures, commits, sink is not None)
    join = _Join(Scorer(*arguments), report, sink)
    parts = _parts(arguments, _batches(questions_file, run_file), _processes(workers, run_file))
    for part in parts:
        join.take(part)
    join.finish()
    if len(join.runs) > 1:
        raise InputError(
            f"the file holds records of {len(join.runs)} runs: {', '.join(sorted(join.runs)[:5])}",
            where=str(run_file),
            remedy="Write each run into a file of its own.",
        )
    report.settle(usable=join.totals.questions - join.totals.missing)
    if not join.totals.questions:
        raise InputError("the file holds no question", where=str(questions_file))
    if not join.runs:
        raise InputError("the file holds no record", where=str(run_file))
    totals = join.totals
    return Evaluation(
        run=next(iter(join.runs)),
        dataset=dataset,
        questions=totals.questions,
        failed=totals.failed,
        missing=totals.missing,
        measures=totals.summaries([str(measure) for measure in measures]),
    )


def _processes(workers: int | None, run_file: Path) -> int:
    if workers is not None:
        return workers
    large = run_file.exists() and run_file.stat().st_size > SMALL
    return len(os.sched_getaffinity(0)) if large and hasattr(os, "sched_getaffinity") else 1


def _parts(arguments: tuple[Any, ...], batches: Iterator[_Batch], workers: int) -> Iterator[_Part]:
    """Yield the part of each batch, in order, with no more batches under way than keep the workers busy."""
    if workers <= 1:
        scorer = Scorer(*arguments)
        yield from map(scorer.batch, batches)
        return
    # Forking is quick but unsafe beside other threads.
    context = get_context("fork" if threading.active_count() == 1 and hasattr(os, "fork") else "spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, arguments) as pool:
        under_way: deque[Future[_Part]] = deque()
        for batch in batches:
            under_way.append(pool.submit(_work, batch))
            if len(under_way) > 2 * workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
