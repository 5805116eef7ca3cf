"""Scores one shard of questions with its shard of records, in a worker."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Struct

from graphkit.errors import InputError
from graphkit.files.decoding import UNDECODED
from graphkit.files.jsonl import run_of_file
from graphkit.files.named_places import files_expected
from graphkit.files.normal_forms import BACKSLASH, not_ascii
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader
from graphkit.records.collector import quiet_collector
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.three_texts import ThreeTexts
from graphkit.scoring.batches import SIZE
from graphkit.scoring.doubt_counts import plain
from graphkit.scoring.file_scoring import digest
from graphkit.scoring.further_measures import of_texts
from graphkit.scoring.results import Row
from graphkit.scoring.scorer import Job, Scorer
from graphkit.scoring.shard_parts import (
    Groups,
    Leftover,
    SentNotes,
    SentProblem,
    ShardPart,
    Sums,
    as_table,
    packed_table,
)
from graphkit.shards.inputs import Shard, shard_lines
from graphkit.shards.locations import Location

S = TypeVar("S", bound=Struct)

#: How many waiting records are kept decoded; of the others only the line is.
DECODED = 2000


@dataclass(frozen=True)
class ShardContext:
    """The job and the inputs that all shards of an evaluation share; workers read them from a file.

    Attributes
    ----------
    job
        The measures and options; its files aren't used.
    questions, answers
        The shards of the dataset and of the run, in their order.
    extra
        The dataset's own fields.
    """

    job: Job
    questions: tuple[Shard, ...]
    answers: tuple[Shard, ...]
    extra: frozenset[str] = frozenset()

    @cached_property
    def lists(self) -> ThreeTexts:
        """The meaning of lists of three texts in the run: all of it is read when the first one needs it."""
        return ThreeTexts(_values(self.answers), _gold_nodes(self.questions))


def _values(shards: Iterable[Shard]) -> Iterator[Any]:
    for shard in shards:
        for _, line in shard_lines(shard):
            try:
                yield msgspec.json.decode(line)
            except UNDECODED:
                continue


def _gold_nodes(shards: Iterable[Shard]) -> Iterator[str]:
    for shard in shards:
        reader = RecordReader(Path(str(shard.location)), QuestionStruct, Problems("skip"))
        for number, line in shard_lines(shard):
            question = reader.parse(number, line)
            if question is not None:
                yield from question.relevant
                for path in question.paths:
                    for step in path.steps:
                        yield from (step.source, step.target)


@dataclass(frozen=True)
class Segment:
    """Records that were routed to a shard: a part of a file of the exchange."""

    file: Location
    offset: int
    length: int


@dataclass(frozen=True)
class ShardWork:
    """The argument of a task.

    Attributes
    ----------
    context
        The file of the :class:`ShardContext`.
    place
        The place of the questions among all shards of questions.
    answers
        The places of the records that are read beside them.
    taken
        The ids that earlier shards have, with their places.
    routed
        The records from other shards.
    """

    context: Location
    place: int
    answers: tuple[int, ...]
    taken: dict[str, str] = field(default_factory=dict)
    routed: tuple[Segment, ...] = ()


_loaded: dict[Location, ShardContext] = {}


def context_in(file: Location) -> ShardContext:
    """Return the context in a file; a worker keeps the last one.

    Raises
    ------
    InputError
        The file isn't the one that was written for this task: its name holds the digest of its bytes.
    """
    if file not in _loaded:
        with file.opened() as stream:
            packed = stream.read()
        if context_name(packed) != file.name:
            raise InputError(
                "the file isn't the one that was written for this task",
                where=str(file),
                remedy="Let nobody else write into that folder, and run the command again.",
            )
        found: ShardContext = pickle.loads(packed)  # noqa: S301 - these bytes are those of the task's own process
        _loaded.clear()
        _loaded[file] = found
    return _loaded[file]


def context_name(packed: bytes) -> str:
    """Return the name of the file of a context by its bytes."""
    return f"{blake2b(packed, digest_size=20).hexdigest()}.context"


# What a dataset of shards is asked before ---------------------------------------------------------------------------


class Survey(msgspec.Struct):
    """Facts about the gold of one shard; scoring needs those of all shards.

    Attributes
    ----------
    files
        The expected files as ``repo/path``: they decide where ids are split.
    not_ascii
        The ids of the gold that aren't ASCII: a run may spell them in another normalisation.
    tools
        Whether a question expects tool calls.
    texts
        The measures of gold that is text, by the first questions.
    """

    files: list[str]
    not_ascii: list[str]
    tools: bool
    texts: list[str]


def survey(shard: Shard, path: Path) -> None:
    """Write the :class:`Survey` of a shard of questions."""
    reader = RecordReader(Path(str(shard.location)), QuestionStruct, Problems("skip"))
    files: dict[str, None] = {}
    strange: dict[str, None] = {}
    tools = False
    texts = of_texts(reader, shard_lines(shard))
    for number, line in shard_lines(shard):
        files.update(dict.fromkeys(files_expected((line,))))
        looked_at = b"tool" in line and not tools
        if (looked_at or not line.isascii() or BACKSLASH in line) and (
            (question := reader.parse(number, line)) is not None
        ):
            strange.update(dict.fromkeys(not_ascii(question)))
            tools = tools or bool(question.expected_tool_calls)
    path.write_bytes(msgspec.msgpack.encode(Survey([*files], [*strange], tools, [*texts])))


# Scoring ------------------------------------------------------------------------------------------------------------


class _Record(NamedTuple):
    """A record of the run on its way: the place of its shard, its line, and its struct if it is still there."""

    shard: int
    number: int
    where: str
    line: bytes
    routed: bool
    answer: AnswerStruct | None

    def left(self, name: str) -> Leftover:
        return Leftover(self.shard, self.number, f"{self.where}:{self.number}", name, len(self.line))


class _WaitingQuestion(NamedTuple):
    """A question that waits for its record."""

    place: int
    number: int
    line: bytes
    question: QuestionStruct | None


class _ShardProblems(Problems):
    """All problems of some shards, each with the place of its shard."""

    def __init__(self, extra: frozenset[str]) -> None:
        super().__init__("skip")
        self.shard = 0
        self.sent: list[SentProblem] = []
        self._own = extra

    def open(self, shard: int, where: str) -> None:
        """Go on with another shard."""
        self.shard = shard
        self.allow(where, self._own)

    def add(self, problem: Problem) -> None:
        """Add a problem; none is too many."""
        number = problem.where.rpartition(":")[2]
        line = int(number) if number.isdecimal() else 0
        self.sent.append(
            SentProblem(self.shard, line, problem.where, problem.what, problem.record, problem.remedy, problem.more)
        )


class _ShardReader(RecordReader[S]):
    """Reads the records of shards."""

    context: ShardContext

    def lists(self) -> ThreeTexts:
        """Return the meaning of lists of three texts in the whole run."""
        return self.context.lists


def score_shard(work: ShardWork, path: Path) -> None:
    """Score a shard, and write its :class:`~graphkit.scoring.shard_parts.ShardPart`."""
    with quiet_collector():
        _ShardScorer(work, context_in(work.context)).write(path)


def usable_records(context: ShardContext) -> Iterator[AnswerStruct]:
    """Yield the usable records of the run in their order, as they are scored."""
    scorer = Scorer(context.job, digest)
    scorer.answers = reader = _ShardReader(Path(), AnswerStruct, Problems(), run=run_of_file(context.job.run_file))
    reader.context = context
    for shard in context.answers:
        scorer.begin()  # what is wrong was reported when they were scored
        reader.path = cast(Path, str(shard.location))
        for number, line in shard_lines(shard):
            answer = scorer.answer(number, line)
            if answer is not None:
                yield answer


class _ShardScorer:
    """Joins the questions of a shard with records, and scores them."""

    def __init__(self, work: ShardWork, context: ShardContext) -> None:
        self.work = work
        self.context = context
        job = context.job
        self.scorer = scorer = Scorer(job, digest)
        self.measures = [str(measure) for measure in job.measures]
        scorer.questions = _ShardReader(Path(), QuestionStruct, Problems())
        scorer.answers = reader = _ShardReader(Path(), AnswerStruct, Problems(), run=run_of_file(job.run_file))
        reader.context = context
        scorer.begin()
        self.of_questions, self.of_answers = _ShardProblems(context.extra), _ShardProblems(context.extra)
        scorer.questions.problems = self.of_questions
        scorer.problems = scorer.answers.problems = self.of_answers
        shard = context.questions[work.place]
        self.where = str(shard.location)
        scorer.questions.path = cast(Path, self.where)
        self.of_questions.open(work.place, self.where)
        self.numbers: dict[str, int] = {}
        self.matched: dict[str, tuple[str, int]] = {}
        self.questions: dict[str, _WaitingQuestion] = {}
        self.answers: dict[str, _Record] = {}
        self.later: list[tuple[str, _Record]] = []
        self.places: list[int] = []
        self.rows: list[tuple[int, Row]] = []
        self.doubts: list[tuple[int, list[str]]] = []
        self.groups = Groups([str(one) for one in self.measures])

    def write(self, path: Path) -> None:
        """Score all, and write the part."""
        routed = sorted(_routed(self.work.routed), key=lambda record: (record.shard, record.number))
        first = min(self.work.answers, default=len(self.context.questions) + len(self.context.answers))
        for record in routed:
            if record.shard < first:
                self._take_record(record)
        lines = shard_lines(self.context.questions[self.work.place])
        for question, own in zip_longest(lines, self._own_records()):
            if question is not None:
                self._take_question(question[0], question[1], own)
            elif own is not None:
                self._take_record(own)
        for record in routed:
            if record.shard >= first:
                self._take_record(record)
        left, strangers = self._left_over()
        for name, waiting in self.questions.items():
            parsed = waiting.question or self._again(waiting)
            self._score(waiting.place, name, parsed, None)
        self._flush()
        self._part([one.left(name) for name, one in left], [one.left(name) for name, one in strangers]).write(
            path, (one.line for _, one in left)
        )

    def _own_records(self) -> Iterator[_Record]:
        before = len(self.context.questions)
        for place in self.work.answers:
            shard = self.context.answers[place]
            where = str(shard.location)
            for number, line in shard_lines(shard):
                yield _Record(before + place, number, where, line, False, None)

    def _take_question(self, number: int, line: bytes, own: _Record | None) -> None:
        question = self.scorer.questions.parse(number, line)
        name = question.id if question is not None else ""
        if question is not None and (what := self._is_taken(name)):
            self.of_questions.add(Problem(f"{self.where}:{number}", what, record=name))
            question = None
        if question is None:
            if own is not None:
                self._take_record(own)
            return
        place = len(self.numbers)
        self.numbers[name] = number
        if (earlier := self.answers.pop(name, None)) is not None:
            self._score(place, name, question, earlier)
        else:
            self.questions[name] = _WaitingQuestion(place, number, line, question)
        if own is not None:
            self._take_record(own)
        # Of those that wait for long, only the lines are kept.
        if name in self.questions and len(self.questions) > DECODED:
            self.questions[name] = _WaitingQuestion(place, number, line, None)

    def _is_taken(self, name: str) -> str:
        if name in self.work.taken:
            return f"the id is already taken by {self.work.taken[name]}"
        return f"the id is already taken by line {self.numbers[name]}" if name in self.numbers else ""

    def _take_record(self, record: _Record) -> None:
        answer = self._parsed(record)
        if answer is None:
            return
        name = answer.question_id
        record = record._replace(answer=answer)
        if (waiting := self.questions.pop(name, None)) is not None:
            self._score(waiting.place, name, waiting.question or self._again(waiting), record)
        elif name in self.numbers or name in self.answers:
            self.later.append((name, record._replace(answer=None)))
        else:
            self.answers[name] = record if len(self.answers) < DECODED else record._replace(answer=None)

    def _parsed(self, record: _Record, *, again: bool = False) -> AnswerStruct | None:
        """Return the record of a line; what is wrong with a routed one its own shard reports."""
        scorer = self.scorer
        scorer.answers.path = cast(Path, record.where)
        if not (again or record.routed):
            if self.of_answers.shard != record.shard:
                self.of_answers.open(record.shard, record.where)
            return scorer.answer(record.number, record.line)
        runs = {*scorer.runs}
        scorer.problems = scorer.answers.problems = Problems()
        found = scorer.answer(record.number, record.line)
        scorer.problems = scorer.answers.problems = self.of_answers
        scorer.runs = runs
        return found

    def _again(self, waiting: _WaitingQuestion) -> QuestionStruct:
        reader = self.scorer.questions
        reader.problems = Problems()
        found = reader.parse(waiting.number, waiting.line)
        reader.problems = self.of_questions
        assert found is not None  # the line was read before
        return found

    def _score(self, place: int, name: str, question: QuestionStruct, record: _Record | None) -> None:
        answer = None
        if record is not None:
            answer = record.answer or self._parsed(record, again=True)
            self.matched[name] = record.where, record.number
            self.scorer.answers.path = cast(Path, record.where)
            if answer is not None and answer.doubts:
                self.doubts.append((place, plain(answer.doubts)))
        self.places.append(place)
        self.scorer.score(question, answer, record.number if record is not None else 0)
        if len(self.places) == SIZE:
            self._flush()

    def _flush(self) -> None:
        rows = self.scorer.take_rows()
        self.rows += zip(self.places, rows, strict=True)
        self.groups.add_rows(rows)
        self.places = []

    def _left_over(self) -> tuple[list[tuple[str, _Record]], list[tuple[str, _Record]]]:
        """Report second records; return the records without a question here, own ones and routed ones."""
        left = [*self.answers.items()]
        for name, record in self.later:
            if name not in self.matched:
                left.append((name, record))
                continue
            where, number = self.matched[name]
            place = f"line {number}" if where == record.where else f"{where}:{number}"
            what = f"the question already has a record at {place}"
            self.of_answers.shard = record.shard
            self.of_answers.add(Problem(f"{record.where}:{record.number}", what, record=name))
        left.sort(key=lambda each: (each[1].shard, each[1].number))
        return [each for each in left if not each[1].routed], [each for each in left if each[1].routed]

    def _part(self, left: list[Leftover], strangers: list[Leftover]) -> ShardPart:
        import numpy

        rows = [row for _, row in sorted(self.rows, key=lambda each: each[0])]
        doubts: Counter[str] = Counter()
        for _, some in sorted(self.doubts, key=lambda each: each[0]):
            doubts.update(some)
        names = numpy.fromiter(map(digest, self.numbers), dtype=numpy.int64, count=len(self.numbers))
        return ShardPart(
            sums=Sums.of(self.scorer.totals, self.groups, doubts),
            rows=packed_table(as_table(rows, self.measures, self.context.job)),
            hashes=names.tobytes(),
            lines=numpy.fromiter(self.numbers.values(), dtype=numpy.int64, count=len(self.numbers)).tobytes(),
            runs=sorted(self.scorer.runs),
            gold=(sorted(self.scorer.gold.ids), self.scorer.gold.expects_files),
            problems=[*self.of_questions.sent, *self.of_answers.sent],
            questions=SentNotes.of(self.of_questions),
            answers=SentNotes.of(self.of_answers),
            leftovers=left,
            strangers=strangers,
        )


# Routed records -----------------------------------------------------------------------------------------------------


class Routed(msgspec.Struct, array_like=True):
    """A record on its way from its shard to the shard of its question."""

    shard: int
    line: int
    where: str
    text: bytes


def _routed(segments: Iterable[Segment]) -> Iterator[_Record]:
    for segment in segments:
        with segment.file.opened() as stream:
            stream.seek(segment.offset)
            found = msgspec.msgpack.decode(stream.read(segment.length), type=list[Routed])
        for one in found:
            yield _Record(one.shard, one.line, one.where.rpartition(":")[0], one.text, True, None)
