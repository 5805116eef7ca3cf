"""The result of one shard, as a worker returns it: sums, hashes, problems and rows, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from graphkit.files.problems import Ignored, Problem, Problems
from graphkit.records.words import NO_LABEL
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.reason_counts import Left
from graphkit.scoring.results import LABELS, Row
from graphkit.scoring.totals import Totals

T = TypeVar("T")

#: The bytes in which a file says how long its first message is.
_LENGTH = 8

# Sums ----------------------------------------------------------------------------------------------------------------

#: The sums that parts hold. Usage goes to the disk, and the driver counts reasons in the order of the questions.
_SENT = (
    *("parts", "squares", "scored", "left", "strict", "questions", "failed", "missing", "no_answer"),
    *("without_commit", "commit_of_artifact", "edges", "edges_without_relation", "directionless", "unversioned"),
    *("cut", "cut_example"),
)

#: A kind of label, and a label: those of some questions.
Group = tuple[str, str]


class SentTotals(msgspec.Struct):
    """Totals as they are sent: the sums by their names, the hash of the gold, and the doubts."""

    sums: dict[str, Any]
    gold: int
    doubts: dict[str, int]

    @classmethod
    def of(cls, totals: Totals, doubts: Mapping[str, int] | None = None) -> SentTotals:
        """Return totals in that form, with these doubts."""
        return cls({name: getattr(totals, name) for name in _SENT}, totals.gold.value % (1 << 64), dict(doubts or {}))

    def totals(self) -> Totals:
        """Return the totals."""
        found = Totals(len(self.sums["parts"]))
        for name, value in self.sums.items():
            setattr(found, name, value)
        found.left = [Left(*one) for one in found.left]
        found.gold.value = self.gold
        for doubt, count in self.doubts.items():
            found.doubts.count(doubt, count)
        return found


def totals_by_label(rows: Sequence[Row], measures: Sequence[str], whole: Totals) -> Iterator[tuple[Group, Totals]]:
    """Yield the totals over the rows with each label, and those without one; ``whole`` are those over all rows."""
    for place, by in enumerate(LABELS):
        members: dict[str, list[Row]] = {}
        for row in rows:
            members.setdefault(row.labels[place] or NO_LABEL, []).append(row)
        if members.keys() <= {NO_LABEL}:
            yield (by, NO_LABEL), whole
        else:
            yield from (((by, label), _totals_of(some, measures)) for label, some in members.items())


def _totals_of(rows: Sequence[Row], measures: Sequence[str]) -> Totals:
    found = Totals(len(measures))
    found.questions = len(rows)
    for index, column in enumerate(zip(*(row.values for row in rows), strict=True)):
        found.add_values(index, [float(value) for value in column if not isinstance(value, str)])
        found.add_unscored(index, column)
    places = {name: index for index, name in enumerate(measures)}
    for row in rows:
        for name, strict in row.strict:
            value = row.values[places[name]]
            if not isinstance(value, str):
                found.add_strict(places[name], value, strict)
    return found


def grouped_summaries(
    groups: Mapping[Group, Totals], measures: Sequence[str], whole: Totals
) -> dict[str, dict[str, dict[str, Summary]]]:
    """Return the summaries by label, as :meth:`Evaluation.grouped` does from rows; ``whole`` are those over all."""
    found: dict[str, dict[str, dict[str, Summary]]] = {}
    of_all = whole.summaries(measures)
    for by in LABELS:
        labelled = {label: one for (kind, label), one in groups.items() if kind == by}
        if labelled.keys() <= {NO_LABEL}:
            continue
        found[by] = {}
        for label, one in sorted(labelled.items()):
            one.edges, one.edges_without_relation = whole.edges, whole.edges_without_relation  # as gates take all
            one.unversioned = whole.unversioned
            found[by][label] = {name: summary.within(of_all[name]) for name, summary in one.summaries(measures).items()}
    return found


# Problems ------------------------------------------------------------------------------------------------------------


class SentNotes(msgspec.Struct):
    """The notes about usable records, and their unknown fields."""

    noted: dict[str, int]
    notes: dict[str, list[Problem]]
    ignored: list[tuple[str, int, Ignored]]

    @classmethod
    def of(cls, problems: Problems) -> SentNotes:
        """Return those of a shard."""
        fields = problems.ignored_fields.items()
        ignored = [(key[1], count, problems.first_ignored[key]) for key, count in fields]
        return cls(dict(problems.noted), problems.notes, ignored)

    def add_to(self, problems: Problems, file: str) -> None:
        """Add them to the problems of a run, all unknown fields as those of one file."""
        other = Problems(notes=self.notes, noted=Counter(self.noted))
        for name, count, first in self.ignored:
            other.ignored_fields[file, name] += count
            other.first_ignored.setdefault((file, name), first)
        problems.merge(other)


# Files ---------------------------------------------------------------------------------------------------------------


def write_message(path: Path, message: Any, behind: Iterable[bytes]) -> None:
    """Write a message into a file, and bytes behind it."""
    packed = msgspec.msgpack.encode(message)
    with path.open("wb") as stream:
        stream.write(len(packed).to_bytes(_LENGTH, "little") + packed)
        stream.writelines(behind)


def read_message(path: Path, kind: type[T]) -> tuple[T, int]:
    """Return the message in a file, and the place of the first byte behind it."""
    with path.open("rb") as stream:
        packed = stream.read(int.from_bytes(stream.read(_LENGTH), "little"))
        return msgspec.msgpack.decode(packed, type=kind), _LENGTH + len(packed)


class Leftover(msgspec.Struct, array_like=True):
    """A record without a question in its shard: its place among all records, its id, and the size of its line."""

    shard: int
    line: int
    where: str
    question: str
    size: int


class ShardPart(msgspec.Struct):
    """The message of a part; behind it are the lines of its leftovers.

    Attributes
    ----------
    totals, groups, figures
        The sums over the questions, over those with each label, and the usage
        (:meth:`graphkit.records.usage.Tally.packed`).
    ended
        The numbers of questions by right or wrong answer and path, and by stage, if the job has outcomes.
    rows
        A stream of Arrow with a row a question, in their order.
    hashes, lines
        The hash of the id of each of these questions and the number of its line: 8 bytes each.
    runs
        The names of the run in its records.
    gold
        The wanted ids that the gold holds, and whether a question expects files.
    problems
        The problems, each with the place of its shard.
    questions, answers
        The notes and unknown fields of the questions, and of the records.
    leftovers
        The records without a question here.
    strangers
        Routed records whose question isn't here after all, since another has the same hash.
    """

    totals: SentTotals
    groups: list[tuple[Group, SentTotals]]
    figures: dict[str, tuple[bytes, bytes]]
    ended: dict[str, dict[str, int]]
    rows: bytes
    hashes: bytes
    lines: bytes
    runs: list[str]
    gold: tuple[list[str], bool]
    problems: list[tuple[int, Problem]]
    questions: SentNotes
    answers: SentNotes
    leftovers: list[Leftover]
    strangers: list[Leftover]

    @classmethod
    def read(cls, path: Path) -> ShardPart:
        """Return the part in a file."""
        return read_message(path, cls)[0]
