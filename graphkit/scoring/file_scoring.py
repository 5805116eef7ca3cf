"""Score a run from its files: two streams, joined question by question, on as many processes as there are cores.

It reads both files in lockstep, since a run is usually in the order of its questions; memory then stays flat. A line
waits for its partner if that is in another batch.
"""

from __future__ import annotations

import dataclasses
import gc
import math
import os
import pickle
import signal
import sys
import threading
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cached_property
from itertools import islice
from multiprocessing import get_context
from operator import le
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.problems import Problem, Problems, of_no_question
from graphkit.files.reading import RecordReader
from graphkit.files.run_files import trials_remedy
from graphkit.files.spool import Spool
from graphkit.records.collector import RARELY
from graphkit.records.progress import RESTS_AT_FORK
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.words import counted
from graphkit.scoring.batches import SIZE, Batch, BatchScorer, Part, batches
from graphkit.scoring.known_share import GoldSeen
from graphkit.scoring.lockstep import Line
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.scorer import Job, Scorer
from graphkit.scoring.totals import Totals
from graphkit.shards.processes import end_with_parent, interrupts_held, start_tracker

#: Files smaller than this, in bytes, aren't worth a second process.
SMALL = 8 << 20

#: Receives the place of each question among the questions, and its description.
Descriptions = Callable[[int, Any], None]


def digest(name: str) -> int:
    """Return a hash of a name that is the same in every process."""
    from hashlib import blake2b

    raw = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "little", signed=True)


_score: BatchScorer


def _start_worker(pickled: bytes, hash: Callable[[str], int]) -> None:  # noqa: A002
    global _score
    # Standard output is for results; what a user's measure prints is none, from the import of its module on.
    sys.stdout = sys.stderr
    if sys.platform != "win32":  # Ctrl-C ends it without a traceback, which it would print even while it starts
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as the command does
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_parent()
    job: Job = pickle.loads(pickled)  # noqa: S301 - written by the process that started this one
    _score = BatchScorer(job, hash)
    # Existing objects stay, and a batch makes no cycles: collecting garbage would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(RARELY)


def _work(batch: Batch) -> Part:
    return _score(batch)


class _Join:
    """Sums up the parts in order, and joins the lines whose partner is in another batch."""

    def __init__(
        self,
        scorer: Scorer,
        problems: Problems,
        answers: Spool[AnswerStruct] | None = None,
        descriptions: Descriptions | None = None,
    ) -> None:
        self.scorer = scorer
        self.problems = problems
        self.kept_answers = answers
        self.descriptions = descriptions
        self.rows: list[Row] = []
        self.lines = array("q")  # of the questions of the rows
        self.places: dict[str, int] = {}
        self.totals = Totals(len(scorer.measures))
        self.gold = GoldSeen()
        self.questions: dict[str, Line] = {}
        self.answers: dict[str, Line] = {}
        self.hashes = [array("q") for _ in range(16)]
        self.runs: set[str] = set()

    def add(self, part: Part) -> None:
        """Add one part, and score the questions whose record is there by now."""
        self.totals.add(part.totals)
        self.gold.merge(part.gold)
        self.problems.merge(part.problems)
        hashes = array("q")
        hashes.frombytes(part.hashes)
        buckets = self.hashes
        for hashed in hashes:
            buckets[hashed & 15].append(hashed)
        self.runs |= part.runs
        if self.kept_answers is not None:
            for message, count in part.answers:
                self.kept_answers.put_packed(message, count)
        for name in part.names:
            self.places.setdefault(name, len(self.places))
        self._emit(part.rows, part.places, part.described)
        for name, numbered in part.questions_without_answer.items():
            if name in self.questions:
                what = f"the id is already taken by line {self.questions[name][0]}"
                self._refuse(self.scorer.questions.path, numbered, what, name)
            else:
                self.questions[name] = numbered
        for name, numbered in part.answers_without_question:
            if name in self.answers:
                what = f"the question already has a record at line {self.answers[name][0]}"
                self._refuse(self.scorer.answers.path, numbered, what, name)
            else:
                self.answers[name] = numbered
        both = [name for name in part.questions_without_answer if name in self.answers]
        both += [name for name, _ in part.answers_without_question if name in self.questions]
        self._score((name, self.questions.pop(name), self.answers.pop(name)) for name in dict.fromkeys(both))

    def _sort(self) -> None:
        """Bring the rows into the order of their questions, which also decides what is counted first."""
        lines = self.lines
        if all(map(le, lines, islice(lines, 1, None))):
            return
        self.rows = [self.rows[place] for place in sorted(range(len(lines)), key=lines.__getitem__)]
        for index, column in enumerate(zip(*(row.values for row in self.rows), strict=True)):
            self.totals.reasons[index] = Counter()
            self.totals.add_reasons(index, Counter(value for value in column if isinstance(value, str)))

    def _emit(self, rows: list[Row], lines: array[int], described: list[tuple[str, Any]]) -> None:
        if rows:
            self.rows += rows
            self.lines += lines
        if self.descriptions is not None:
            for name, description in described:
                self.descriptions(self.places[name], description)

    def _refuse(self, path: Path, numbered: Line, what: str, name: str) -> None:
        remedy = self._trials if path == self.scorer.answers.path else None
        self.problems.add(Problem(f"{path}:{numbered[0]}", what, record=name, remedy=remedy))

    @cached_property
    def _trials(self) -> str | None:
        return trials_remedy(self.scorer.answers.path)

    def _score(self, pairs: Iterator[tuple[str, Line, Line | None]]) -> None:
        scorer = self.scorer
        scorer.begin()
        lines = array("q")
        for count, (_, question, answer) in enumerate(pairs, 1):
            record = scorer.answer_again(*answer) if answer else None
            if scorer.score(scorer.question_again(*question), record, answer[0] if answer else 0):
                lines.append(question[0])
            if count % SIZE == 0:
                self._flush(lines)
                lines = array("q")
        self._flush(lines)
        self.totals.add(scorer.totals)
        self.gold.merge(scorer.gold)
        self.problems.merge(scorer.problems)

    def _flush(self, lines: array[int]) -> None:
        self._emit(self.scorer.take_rows(), lines, self.scorer.described)
        self.scorer.described = []

    def finish(self) -> None:
        """Score questions without a record as missing; refuse unknown questions, and repeats on either side.

        Raises
        ------
        InputError
            A question was scored twice, because both its lines and both its records are far apart.
        """
        repeated: set[int] = set()
        distinct = 0
        for bucket in self.hashes:
            different = len(set(bucket))
            distinct += different
            if different < len(bucket):
                repeated.update(hashed for hashed, count in Counter(bucket).items() if count > 1)
        if self.answers or repeated:
            self._refuse_unknown(repeated)
        self._score((name, numbered, None) for name, numbered in self.questions.items())
        self._sort()
        repeats = self.totals.questions - distinct
        if repeats > 0 and self.problems.on_error == "skip":
            raise InputError(
                f"{counted(repeats, 'question')} repeated, with a record for each, too far apart to leave one out",
                where=str(self.scorer.questions.path),
                remedy="Remove the repeats; --on-error fail names them.",
            )

    def _refuse_unknown(self, repeated: set[int]) -> None:
        """Report unknown ids and second records, which a second look at the questions distinguishes."""
        lines: dict[str, int] = {}
        silent = Problems()
        for number, question in RecordReader(self.scorer.questions.path, QuestionStruct, silent):
            name = question.id
            if name in lines and self.scorer.hash(name) in repeated:
                self.questions.pop(name, None)
                what = f"the id is already taken by line {lines[name]}"
                problem = Problem(f"{self.scorer.questions.path}:{number}", what, record=name)
                if problem not in self.problems.skipped:
                    self.problems.add(problem)
            if name in self.answers or self.scorer.hash(name) in repeated:
                lines.setdefault(name, number)
        held = self._lines_of_records({name for name in self.answers if name in lines})
        refused = self.problems.refused(self.scorer.questions.path)
        for name, numbered in self.answers.items():
            if name in lines:
                other = next((f" at line {line}" for line in held.get(name, ()) if line != numbered[0]), "")
                what = f"the question already has a record{other}"
                self._refuse(self.scorer.answers.path, numbered, what, name)
            else:
                where = f"{self.scorer.answers.path}:{numbered[0]}"
                self.problems.add(of_no_question(where, name, refused))

    def _lines_of_records(self, names: set[str]) -> dict[str, list[int]]:
        """Return the lines of the records of some questions; none in a pipe, which can't be read again."""
        path, found = self.scorer.answers.path, dict[str, list[int]]()
        if names and path.is_file():
            for number, answer in RecordReader(path, AnswerStruct, Problems("skip"), self.scorer.questions.path):
                if answer.question_id in names:
                    found.setdefault(answer.question_id, []).append(number)
        return found


def score_file(
    job: Job,
    *,
    dataset: str = "",
    problems: Problems | None = None,
    answers: Spool[AnswerStruct] | None = None,
    descriptions: Descriptions | None = None,
    gold: GoldSeen | None = None,
    workers: int | None = None,
) -> Evaluation:
    """Score one run log against its questions; the result has rows if the job keeps them.

    Parameters
    ----------
    answers
        Receives the usable records of the run in order, if the job keeps them.
    descriptions
        Receives the description of each question, if the job has a ``describe``.
    gold
        Receives the ids that the job looks for and the gold holds.
    workers
        The number of processes; by default one per core for large files, and this process alone for small ones.

    Raises
    ------
    InputError
        A file can't be read, or records can't be used and ``problems`` doesn't skip them.
    """
    problems = problems if problems is not None else Problems()
    hashing, parts = _parts(job, workers)
    join = _Join(Scorer(job, hashing), problems, answers, descriptions)
    for part in parts:
        join.add(part)
    join.finish()
    refuse_unusable(join.totals, join.runs, problems, str(job.run_file), str(job.questions_file))
    if gold is not None:
        gold.merge(join.gold)
    found = evaluation_of(job, dataset, join.totals, join.runs)
    return dataclasses.replace(found, rows=tuple(join.rows), efficiency=join.totals.efficiency.spreads())


def refuse_unusable(
    totals: Totals, runs: set[str], problems: Problems, run: str, questions: str, *, files: tuple[int, int] = (1, 1)
) -> None:
    """Refuse the input of an evaluation that hasn't one run, has no question, or problems that aren't skipped.

    ``run`` and ``questions`` are the places of both, and ``files`` of how many files they are.

    Raises
    ------
    InputError
        It says what is wrong.
    """
    of_run, of_questions = ("the file holds" if count == 1 else "the files hold" for count in files)
    if len(runs) > 1:
        raise InputError(
            f"{of_run} records of {len(runs)} runs: {', '.join(sorted(runs)[:5])}",
            where=run,
            remedy=f"Write each run into {'a file' if files[0] == 1 else 'files'} of its own.",
        )
    problems.raise_if_refused(usable=totals.questions - totals.missing)
    if not totals.questions:
        raise InputError(f"{of_questions} no question", where=questions)
    if not runs:
        raise InputError(f"{of_run} no record", where=run)


def evaluation_of(job: Job, dataset: str, totals: Totals, runs: set[str]) -> Evaluation:
    """Return the result of the sums of a run, without rows and usage."""
    names = [str(measure) for measure in job.measures]
    return Evaluation(
        run=job.name if job.name is not None else next(iter(runs)),
        dataset=dataset,
        questions=totals.questions,
        failed=totals.failed,
        missing=totals.missing,
        unanswered=totals.no_answer,
        measures=totals.summaries(names),
        squares={name: math.fsum(parts) for name, parts in zip(names, totals.squares, strict=True)},
        invalid={name: why for name, why in job.invalid.items() if job.picks(name)},
        chosen=job.only,
        unscored=totals.unscored(names),
        without_commit=(totals.without_commit, totals.commit_of_artifact) if job.versions else None,
        gold_hash=totals.gold.hexdigest() if job.hash_gold or job.keep_rows else None,
        principal=job.commits.access.principal,
        warnings=(*totals.doubts.warnings(), *totals.relations.sentences, *totals.cut_sentences()),
        relations=totals.relations,
    )


def _parts(job: Job, workers: int | None) -> tuple[Callable[[str], int], Iterator[Part]]:
    """Return the hash that all processes share, and the part of each batch in order."""
    workers = _processes(workers, job.run_file)
    # Forking is quick but unsafe beside other threads.
    others = [one for one in threading.enumerate() if one.name != RESTS_AT_FORK]
    fork = len(others) == 1 and hasattr(os, "fork")
    if not fork and any(type(measure).__module__ == "__main__" for measure in job.measures):
        workers = 1  # a process that isn't forked can't find the class: its __main__ is another
    # Python's own hash costs nothing, but only processes forked from one another agree on it.
    shared_hash = hash if fork or workers == 1 else digest
    if workers == 1:
        return shared_hash, map(BatchScorer(job, shared_hash), batches(job.questions_file, job.run_file))
    arguments = pickle.dumps(job), shared_hash
    packed = batches(job.questions_file, job.run_file, packed=True)
    return shared_hash, _pooled(arguments, packed, workers, "fork" if fork else "spawn")


def _processes(workers: int | None, run_file: Path) -> int:
    if workers is not None:
        return max(workers, 1)
    large = run_file.exists() and run_file.stat().st_size > SMALL
    return len(os.sched_getaffinity(0)) if large and hasattr(os, "sched_getaffinity") else 1


def _pooled(
    arguments: tuple[bytes, Callable[[str], int]], packed: Iterator[Batch], workers: int, start: str
) -> Iterator[Part]:
    """Yield the part of each batch in order, with no more batches in progress than keep the workers busy."""
    if start == "spawn":
        start_tracker()
    with ProcessPoolExecutor(workers, get_context(start), _start_worker, arguments) as pool:
        in_progress: deque[Future[Part]] = deque()
        for batch in packed:
            with interrupts_held():  # until a worker that starts has its own answer to them
                in_progress.append(pool.submit(_work, batch))
            if len(in_progress) > 2 * workers:
                yield in_progress.popleft().result()
        while in_progress:
            yield in_progress.popleft().result()
