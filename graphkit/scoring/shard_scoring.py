"""Scores one shard of questions with its shard of records, in a worker."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from graphkit.errors import InputError
from graphkit.files.decoding import UNDECODED
from graphkit.files.jsonl import run_of_file
from graphkit.files.named_places import files_expected, has_sides
from graphkit.files.normal_forms import BACKSLASH, not_ascii
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import Parsed, RecordReader
from graphkit.files.session_walks import may_have_turn, session_walks
from graphkit.measures.outcome import stage_counts, two_by_two
from graphkit.measures.seeds import not_linked_as_json
from graphkit.records.collector import quiet_collector
from graphkit.records.question_texts import QuestionTexts
from graphkit.records.structs import AnswerStruct, QuestionStruct, TraversalStepStruct
from graphkit.records.three_texts import ThreeTexts
from graphkit.scoring.batches import SIZE
from graphkit.scoring.file_scoring import digest
from graphkit.scoring.further_measures import of_texts
from graphkit.scoring.lockstep import Line, Lockstep, Source, WaitingRecord
from graphkit.scoring.reason_counts import plain
from graphkit.scoring.results import Row
from graphkit.scoring.row_tables import as_table, packed_table
from graphkit.scoring.scorer import Job, Scorer
from graphkit.scoring.shard_parts import Leftover, SentNotes, SentTotals, ShardPart, totals_by_label, write_message
from graphkit.shards.inputs import Shard, shard_lines
from graphkit.shards.locations import Location

S = TypeVar("S", bound=Struct)


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
    sessions
        Whether a question may be a turn of a session.
    """

    job: Job
    questions: tuple[Shard, ...]
    answers: tuple[Shard, ...]
    extra: frozenset[str] = frozenset()
    sessions: bool = False

    @cached_property
    def walks(self) -> Mapping[str, list[TraversalStepStruct]]:
        """The edges that earlier turns walked, by the follow-up; the first use reads the whole run."""
        reader = _ShardReader(self, AnswerStruct, sessions=False)
        reader.problems = Problems("skip")

        def records() -> Iterator[AnswerStruct]:
            for shard in self.answers:
                reader.path = cast(Path, str(shard.location))
                for number, line in shard_lines(shard):
                    if (answer := reader.parse(number, line)) is not None:
                        yield answer

        return session_walks(_questions_in(self.questions), records(), str(self.questions[0].location))

    @cached_property
    def lists(self) -> ThreeTexts:
        """The meaning of lists of three texts in the run: all of it is read when the first one needs it."""
        return ThreeTexts(_values(self.answers), _gold_nodes(self.questions))

    @cached_property
    def asked(self) -> QuestionTexts:
        """The questions of the dataset by their texts: all are read when the first record names one so."""
        found = QuestionTexts()
        for question in _questions_in(self.questions):
            found.add(question.id, question.question)
        return found


def _values(shards: Iterable[Shard]) -> Iterator[Any]:
    for shard in shards:
        for _, line in shard_lines(shard):
            try:
                yield msgspec.json.decode(line)
            except UNDECODED:
                continue


def _questions_in(shards: Iterable[Shard]) -> Iterator[QuestionStruct]:
    """Yield the usable questions of shards."""
    for shard in shards:
        reader = RecordReader(Path(str(shard.location)), QuestionStruct, Problems("skip"))
        for number, line in shard_lines(shard):
            question = reader.parse(number, line)
            if question is not None:
                yield question


def _gold_nodes(shards: Iterable[Shard]) -> Iterator[str]:
    for question in _questions_in(shards):
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
    sides, turns
        Whether a gold path has commits of its own, and whether a question may be a turn of a session.
    texts
        The measures of gold that is text, by the first questions.
    """

    files: list[str]
    not_ascii: list[str]
    tools: bool
    sides: bool
    turns: bool
    texts: list[str]


def survey(shard: Shard, path: Path) -> None:
    """Write the :class:`Survey` of a shard of questions."""
    reader = RecordReader(Path(str(shard.location)), QuestionStruct, Problems("skip"))
    files: dict[str, None] = {}
    strange: dict[str, None] = {}
    tools = sides = turns = False
    texts = of_texts(reader, shard_lines(shard))
    for number, line in shard_lines(shard):
        files.update(dict.fromkeys(files_expected((line,))))
        sides = sides or has_sides((line,))
        turns = turns or may_have_turn(line)
        looked_at = b"tool" in line and not tools
        if (looked_at or not line.isascii() or BACKSLASH in line) and (
            (question := reader.parse(number, line)) is not None
        ):
            strange.update(dict.fromkeys(not_ascii(question)))
            tools = tools or bool(question.expected_tool_calls)
    path.write_bytes(msgspec.msgpack.encode(Survey([*files], [*strange], tools, sides, turns, [*texts])))


# Scoring ------------------------------------------------------------------------------------------------------------


class _ShardProblems(Problems):
    """All problems of some shards, each with the place of its shard."""

    def __init__(self, extra: frozenset[str]) -> None:
        super().__init__("skip")
        self.shard = 0
        self.sent: list[tuple[int, Problem]] = []
        self._own = extra

    def open(self, shard: int, where: str) -> None:
        """Go on with another shard."""
        self.shard = shard
        self.allow(where, self._own)

    def add(self, problem: Problem) -> None:
        """Add a problem; none is too many."""
        self.sent.append((self.shard, problem))


class _ShardReader(RecordReader[S]):
    """Reads the records of shards; each has a path of its own."""

    def __init__(self, context: ShardContext, kind: type[S], *, sessions: bool = True) -> None:
        run = run_of_file(context.job.run_file) if kind is AnswerStruct else None
        super().__init__(Path(), kind, Problems(), run=run, sessions=sessions and context.sessions)
        self.context = context

    @cached_property
    def walks(self) -> Mapping[str, list[TraversalStepStruct]]:
        """The edges that earlier turns walked in the whole run, by the follow-up."""
        return self.context.walks if self.sessions else {}

    def lists(self) -> ThreeTexts:
        """Return the meaning of lists of three texts in the whole run."""
        return self.context.lists

    @cached_property
    def asked(self) -> QuestionTexts:
        """The questions of all shards by their texts."""
        return self.context.asked


def score_shard(work: ShardWork, path: Path) -> None:
    """Score a shard, and write its :class:`~graphkit.scoring.shard_parts.ShardPart`."""
    with quiet_collector():
        _ShardScorer(work, context_in(work.context)).write(path)


def usable_records(context: ShardContext) -> Iterator[AnswerStruct]:
    """Yield the usable records of the run in their order, as they are scored."""
    scorer = Scorer(context.job, digest)
    scorer.answers = reader = _ShardReader(context, AnswerStruct)
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
        self.scorer = scorer = Scorer(context.job, digest)
        self.measures = [str(measure) for measure in context.job.measures]
        scorer.questions, scorer.answers = _ShardReader(context, QuestionStruct), _ShardReader(context, AnswerStruct)
        scorer.begin()
        self.of_questions, self.of_answers = _ShardProblems(context.extra), _ShardProblems(context.extra)
        scorer.questions.problems = self.of_questions
        scorer.problems = scorer.answers.problems = self.of_answers
        where = str(context.questions[work.place].location)
        scorer.questions.path = cast(Path, where)
        self.of_questions.open(work.place, where)
        self.joined = Lockstep(scorer, Source(Path()), work.taken)
        self.joined.matched = {}
        self.rows: list[Row] = []
        self.doubts: list[tuple[int, list[str]]] = []

    def write(self, path: Path) -> None:
        """Score all, and write the part."""
        joined = self.joined
        routed = sorted(_routed(self.work.routed), key=lambda record: (record.source.shard, record.number))
        first = min(self.work.answers, default=len(self.context.answers)) + len(self.context.questions)
        self._take(record for record in routed if record.source.shard < first)
        joined.read(self.scorer.questions.parsed(self._questions()), self._answers())
        self._take(record for record in routed if record.source.shard >= first)
        left = self._left_over()
        joined.score_missing()
        self._flush()
        own = [(name, one) for name, one in left if not one.source.routed]
        strangers = [_left(*each) for each in left if each[1].source.routed]
        part = self._part([_left(*each) for each in own], strangers)
        write_message(path, part, (one.line for _, one in own))

    def _questions(self) -> Iterator[Line]:
        for count, line in enumerate(shard_lines(self.context.questions[self.work.place])):
            if count % SIZE == 0:
                self._flush()
            yield line

    def _answers(self) -> Iterator[Parsed[AnswerStruct]]:
        """Yield the records to join with the questions, and set the reader to each of their files in turn."""
        for place in self.work.answers:
            shard = self.context.answers[place]
            where = str(shard.location)
            self.joined.source = Source(cast(Path, where), len(self.context.questions) + place)
            self.scorer.answers.path = self.joined.source.path
            self.of_answers.open(self.joined.source.shard, where)
            yield from self.scorer.answers.parsed(shard_lines(shard))

    def _take(self, routed: Iterable[WaitingRecord]) -> None:
        """Join records whose own shard reports what is wrong with them."""
        for record in routed:
            self.scorer.answers.path = record.source.path
            if (answer := self.scorer.answer_again(record.number, record.line)) is not None:
                self.joined.take(record._replace(answer=answer), answer)

    def _flush(self) -> None:
        lines = self.joined.places[len(self.rows) :]
        self.doubts += [(lines[place], plain(doubts)) for place, doubts in self.scorer.doubted]
        self.rows += self.scorer.take_rows()

    def _left_over(self) -> list[tuple[str, WaitingRecord]]:
        """Return the records without a question here, and report second ones of a question."""
        left, matched = [], self.joined.matched or {}
        for name, record in (*self.joined.answers.items(), *self.joined.later):
            if name not in matched:
                left.append((name, record))
                continue
            source, number = matched[name]
            place = f"line {number}" if source.path == record.source.path else f"{source.path}:{number}"
            what = f"the question already has a record at {place}"
            self.of_answers.shard = record.source.shard
            self.of_answers.add(Problem(f"{record.source.path}:{record.number}", what, record=name))
        return sorted(left, key=lambda each: (each[1].source.shard, each[1].number))

    def _part(self, left: list[Leftover], strangers: list[Leftover]) -> ShardPart:
        import numpy

        numbers, lines = self.joined.numbers, self.joined.places
        rows = [self.rows[place] for place in sorted(range(len(lines)), key=lines.__getitem__)]
        doubts: Counter[str] = Counter()
        for _, some in sorted(self.doubts, key=lambda each: each[0]):
            doubts.update(some)
        names = numpy.fromiter(map(digest, numbers), dtype=numpy.int64, count=len(numbers))
        totals, judged = self.scorer.totals, [row.outcome for row in rows if row.outcome is not None]
        groups = totals_by_label(rows, self.measures, totals)
        ended = {"two_by_two": two_by_two(judged).counts, "stages": stage_counts(judged)} if judged else {}
        return ShardPart(
            totals=SentTotals.of(totals, doubts),
            groups=[(group, SentTotals.of(one)) for group, one in groups],
            figures=totals.efficiency.packed(),
            ended=ended | not_linked_as_json(row.unlinked for row in rows),
            rows=packed_table(as_table(rows, self.measures, self.context.job)),
            hashes=names.tobytes(),
            lines=numpy.fromiter(numbers.values(), dtype=numpy.int64, count=len(numbers)).tobytes(),
            runs=sorted(self.scorer.runs),
            gold=(sorted(self.scorer.gold.ids), self.scorer.gold.expects_files),
            problems=[*self.of_questions.sent, *self.of_answers.sent],
            questions=SentNotes.of(self.of_questions),
            answers=SentNotes.of(self.of_answers),
            leftovers=left,
            strangers=strangers,
        )


def _left(name: str, record: WaitingRecord) -> Leftover:
    source, number, line, _ = record
    return Leftover(source.shard, number, f"{source.path}:{number}", name, len(line))


def _routed(segments: Iterable[Segment]) -> Iterator[WaitingRecord]:
    for segment in segments:
        with segment.file.opened() as stream:
            stream.seek(segment.offset)
            found = msgspec.msgpack.decode(stream.read(segment.length), type=list[tuple[Leftover, bytes]])
        for one, line in found:
            source = Source(cast(Path, one.where.rpartition(":")[0]), one.shard, True)
            yield WaitingRecord(source, one.line, line)
