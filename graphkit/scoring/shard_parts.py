"""The result of one shard, as a worker returns it: sums, hashes, problems and rows, in one file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec

from graphkit.errors import InputError
from graphkit.files.problems import Ignored, Problem, Problems
from graphkit.measures.matching import Edge
from graphkit.measures.registry import compares_relations
from graphkit.records.bounds import exact_parts
from graphkit.records.words import NO_LABEL
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.reason_counts import Left, count_reasons
from graphkit.scoring.results import LABELS, Row
from graphkit.scoring.scorer import Job
from graphkit.scoring.totals import Totals

#: The bytes in which a file says how long its first message is.
_LENGTH = 8

#: The column with the values under strict comparison of relations, where they differ: a JSON object by measure.
STRICT = "strict"

#: The column with what a results folder doesn't hold of a row.
HIDDEN = "hidden"

Group = tuple[str, str]


def arrow() -> Any:
    """Return pyarrow.

    Raises
    ------
    InputError
        It isn't installed.
    """
    try:
        import pyarrow
    except ImportError:
        remedy = "pip install 'graphkit-eval[parquet]', or write .jsonl without --on."
        raise InputError("a results folder needs pyarrow", remedy=remedy) from None
    return pyarrow


class GroupSums(msgspec.Struct):
    """The sums of each measure over the questions with one label."""

    total: int
    parts: list[list[float]]
    scored: list[int]
    left: list[Left]
    strict: list[list[float]]

    @classmethod
    def none(cls, count: int) -> GroupSums:
        """Return the sums over no question."""
        return cls(0, [[] for _ in range(count)], [0] * count, [Left()] * count, [[] for _ in range(count)])

    def add_rows(self, rows: Sequence[Row], names: Sequence[str]) -> None:
        """Add the values of some questions by the measures of these names."""
        self.total += len(rows)
        strict = [dict(row.strict) for row in rows]
        for place, (name, column) in enumerate(
            zip(names, zip(*(row.values for row in rows), strict=True), strict=True)
        ):
            numbers = [float(value) for value in column if not isinstance(value, str)]
            more = [
                part
                for of, value in zip(strict, column, strict=True)
                if name in of and not isinstance(value, str)
                for part in (of[name], -value)
            ]
            self._add(place, numbers, len(numbers), count_reasons(column)[1], more)

    def merge(self, other: GroupSums, sign: int = 1) -> None:
        """Add the sums over other questions, or take them away."""
        self.total += sign * other.total
        for place, parts in enumerate(other.parts):
            more = [sign * part for part in other.strict[place]]
            self._add(place, [sign * part for part in parts], sign * other.scored[place], other.left[place], more, sign)

    def _add(
        self,
        place: int,
        numbers: Sequence[float],
        scored: int,
        left: Sequence[int],
        strict: Sequence[float],
        sign: int = 1,
    ) -> None:
        self.parts[place] = exact_parts([*numbers, *self.parts[place]])
        self.strict[place] = exact_parts([*strict, *self.strict[place]])
        self.scored[place] += scored
        self.left[place] = self.left[place].plus(left, sign)

    def summaries(self, names: Sequence[str], partly: bool) -> dict[str, Summary]:
        """Return the summary of each measure over these questions of a run that logs relations ``partly`` or not."""
        each = zip(names, self.parts, self.scored, self.left, self.strict, strict=True)
        return {
            name: Summary.of(name, parts, scored, self.total, left, strict=strict if partly else ())
            for name, parts, scored, left, strict in each
        }


@dataclass
class Groups:
    """The sums by each label of the questions; those without one are the rest."""

    names: Sequence[str]
    sums: dict[Group, GroupSums] = field(default_factory=dict)

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Add the values of some questions."""
        members: dict[Group, list[Row]] = {}
        for row in rows:
            for by, label in zip(LABELS, row.labels, strict=True):
                if label:
                    members.setdefault((by, label), []).append(row)
        for group, some in members.items():
            self._of(group).add_rows(some, self.names)

    def merge(self, other: Iterable[tuple[Group, GroupSums]]) -> None:
        """Add the sums over other questions."""
        for group, sums in other:
            self._of(group).merge(sums)

    def _of(self, group: Group) -> GroupSums:
        return self.sums.setdefault(group, GroupSums.none(len(self.names)))

    def summaries(self, names: Sequence[str], totals: Totals) -> dict[str, dict[str, dict[str, Summary]]]:
        """Return the summaries by label, as :meth:`Evaluation.grouped` does from rows; ``totals`` are over all."""
        found: dict[str, dict[str, dict[str, Summary]]] = {}
        whole = totals.summaries(names)
        for by in LABELS:
            of = {label: sums for (label_of, label), sums in self.sums.items() if label_of == by}
            if not of:
                continue
            sums_of = ([*one] for one in (totals.parts, totals.scored, totals.left, totals.strict))
            rest = GroupSums(totals.questions, *sums_of)
            for sums in of.values():
                rest.merge(sums, -1)
            every = of | ({NO_LABEL: rest} if rest.total else {})
            found[by] = {
                label: {
                    name: one.within(whole[name])
                    for name, one in sums.summaries(names, totals.relations.partly).items()
                }
                for label, sums in sorted(every.items())
            }
        return found


class Sums(msgspec.Struct):
    """The totals of a shard in a form that can be sent."""

    parts: list[list[float]]
    squares: list[list[float]]
    scored: list[int]
    left: list[Left]
    counts: tuple[int, int, int, int, int, int]
    gold: int
    relations: tuple[int, int, int]
    strict: list[list[float]]
    figures: dict[str, tuple[bytes, bytes]]
    doubts: list[tuple[str, int]]
    groups: list[tuple[Group, GroupSums]]

    @classmethod
    def of(cls, totals: Totals, groups: Groups, doubts: Counter[str]) -> Sums:
        """Return the sums of a shard."""
        return cls(
            totals.parts,
            totals.squares,
            totals.scored,
            totals.left,
            (
                *(totals.questions, totals.failed, totals.missing, totals.no_answer),
                *(totals.without_commit, totals.commit_of_artifact),
            ),
            totals.gold.value % (1 << 64),
            (totals.edges, totals.edges_without_relation, totals.directionless),
            totals.strict,
            totals.efficiency.packed(),
            [*doubts.items()],
            [*groups.sums.items()],
        )

    def add_to(self, totals: Totals, groups: Groups) -> None:
        """Add these sums to those of a run, without its usage, its doubts and the reasons of its questions."""
        other = Totals(len(self.parts))
        other.parts, other.squares, other.scored, other.left = self.parts, self.squares, self.scored, self.left
        other.questions, other.failed, other.missing, other.no_answer = self.counts[:4]
        other.without_commit, other.commit_of_artifact = self.counts[4:]
        other.gold.value = self.gold
        other.count_relations(*self.relations)
        other.strict = self.strict
        for doubt, count in self.doubts:
            other.doubts.count(doubt, count)
        totals.add(other)
        groups.merge(self.groups)


class SentProblem(msgspec.Struct, array_like=True):
    """A problem with its file and line."""

    shard: int
    line: int
    where: str
    what: str
    record: str | None
    remedy: str | None
    more: int


class SentNotes(msgspec.Struct):
    """The notes about usable records, and their unknown fields."""

    noted: dict[str, int]
    examples: list[tuple[str, str, str | None]]
    ignored: list[tuple[str, int, str, str | None]]

    @classmethod
    def of(cls, problems: Problems) -> SentNotes:
        """Return those of a shard."""
        return cls(
            dict(problems.noted),
            [(note.what, note.where, note.record) for some in problems.notes.values() for note in some],
            [
                (name, count, *problems.first_ignored[file, name])
                for (file, name), count in problems.ignored_fields.items()
            ],
        )

    def add_to(self, problems: Problems, file: str) -> None:
        """Add them to the problems of a run, all unknown fields as those of one file."""
        other = Problems(noted=Counter(self.noted))
        for what, where, record in self.examples:
            other.notes.setdefault(what, []).append(Problem(where, what, record=record))
        for name, count, where, closest in self.ignored:
            other.ignored_fields[file, name] += count
            other.first_ignored.setdefault((file, name), Ignored(where, closest))
        problems.merge(other)


class Unwritten(msgspec.Struct, array_like=True):
    """What a results folder doesn't hold of a row: the latency, the missing gold of its stage, and absent edges."""

    latency_ms: float | None = None
    missing: tuple[str, ...] = ()
    absent: tuple[Edge, ...] | None = None

    @classmethod
    def of(cls, row: Row) -> Self:
        """Return that of a row."""
        judged = row.outcome
        return cls(row.latency_ms) if judged is None else cls(row.latency_ms, judged.stage.missing, judged.absent)

    def packed(self) -> bytes:
        """Return it as bytes."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """Return it from its bytes."""
        return msgspec.msgpack.decode(packed, type=cls)


class ShardPart(msgspec.Struct):
    """The first message of a part.

    Attributes
    ----------
    rows
        A stream of Arrow with a row a question, in their order.
    hashes, lines
        The hash of the id of each of these questions and the number of its line: 8 bytes each.
    runs
        The names of the run in its records.
    gold
        The wanted ids that the gold holds, and whether a question expects files.
    questions, answers
        The problems, notes and unknown fields of the questions, and of the records.
    leftovers
        The records without a question here, and where each begins and ends in the rest of the file.
    strangers
        Routed records whose question isn't here after all, since another has the same hash.
    """

    sums: Sums
    rows: bytes
    hashes: bytes
    lines: bytes
    runs: list[str]
    gold: tuple[list[str], bool]
    problems: list[SentProblem]
    questions: SentNotes
    answers: SentNotes
    leftovers: list[Leftover]
    strangers: list[Leftover]

    def write(self, path: Path, lines: Iterable[bytes]) -> None:
        """Write the part, and behind it the lines of its leftovers."""
        head = msgspec.msgpack.encode(self)
        with path.open("wb") as stream:
            stream.write(len(head).to_bytes(_LENGTH, "little") + head)
            stream.writelines(lines)

    @classmethod
    def read(cls, path: Path) -> ShardPart:
        """Return the part in a file."""
        with path.open("rb") as stream:
            return msgspec.msgpack.decode(stream.read(int.from_bytes(stream.read(_LENGTH), "little")), type=cls)


class Leftover(msgspec.Struct, array_like=True):
    """A record without a question in its shard: its place among all records, its id, and the size of its line."""

    shard: int
    line: int
    where: str
    question: str
    size: int


def lines_behind(path: Path, sizes: Iterable[int]) -> Iterator[bytes]:
    """Yield the lines behind the first message of a part."""
    with path.open("rb") as stream:
        stream.seek(int.from_bytes(stream.read(_LENGTH), "little"), 1)
        for size in sizes:
            yield stream.read(size)


def schema(measures: Sequence[str], job: Job) -> Any:
    """Return the columns of the rows of a job."""
    pa = arrow()
    text = pa.string()
    fields = [(name, text) for name in ("id", *LABELS, "gold_hash", "failure")]
    fields.append(("k", pa.int64()))
    if job.decides:
        fields += [("right_answer", pa.bool_()), ("decided_by", text)]
    if job.detailed is not None:
        fields.append(("details", text))
    if job.outcomes:
        fields.append(("right_path", pa.bool_()))
        fields += [(name, text) for name in ("undecided", "stage", "stage_reason")]
        fields += [("missed_edges", pa.int64()), ("missed_ids", pa.int64())]
    if job.outcomes or job.undirected:
        fields.append(("missed", text))
    for name in measures:
        fields += [(name, pa.float64()), (reason_of(name), text)]
    if any(map(compares_relations, measures)):
        fields.append((STRICT, text))
    return pa.schema([*fields, (HIDDEN, pa.binary())])


def reason_of(measure: str) -> str:
    """Return the name of the column with the reasons why a measure has no value."""
    return f"{measure}.reason"


def as_table(rows: Sequence[Row], measures: Sequence[str], job: Job) -> Any:
    """Return the rows of a job as a table of Arrow."""
    columns: list[list[Any]] = [[row.question for row in rows]]
    columns += [[row.labels[place] for row in rows] for place in range(len(LABELS))]
    columns += [[row.gold_hash for row in rows], [row.failure for row in rows]]
    columns.append([row.k for row in rows])
    if job.decides:
        texts = [row.decision for row in rows]
        columns += [[one.right for one in texts if one], [one.by for one in texts if one]]
    if job.detailed is not None:
        columns += [[json.dumps(row.details) if row.details else None for row in rows]]
    if job.outcomes:
        judged = [row.outcome for row in rows]
        columns += [[one.path for one in judged if one]]
        columns += [[one.undecided for one in judged if one], [one.stage.name for one in judged if one]]
        columns += [[one.stage.reason for one in judged if one], [one.missed_edges for one in judged if one]]
        columns.append([one.missed_ids for one in judged if one])
    if job.outcomes or job.undirected:
        edges = [row.missed or (row.outcome.missed if row.outcome else ()) for row in rows]
        columns.append([json.dumps(missed) if missed else None for missed in edges])
    for place in range(len(measures)):
        values = [row.values[place] for row in rows]
        columns += [[None if isinstance(value, str) else float(value) for value in values]]
        columns += [[value if isinstance(value, str) else None for value in values]]
    wanted = schema(measures, job)
    if STRICT in wanted.names:
        columns += [[json.dumps(dict(row.strict)) if row.strict else None for row in rows]]
    columns.append([Unwritten.of(row).packed() for row in rows])
    arrays = [arrow().array(column, field.type) for column, field in zip(columns, wanted, strict=True)]
    return arrow().Table.from_arrays(arrays, schema=wanted)


def packed_table(table: Any) -> bytes:
    """Return a table as bytes."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpacked_table(packed: bytes) -> Any:
    """Return the table in some bytes."""
    return arrow().ipc.open_stream(packed).read_all()
