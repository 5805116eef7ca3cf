"""TREC run files: lines of question, Q0, document, rank, score and tag."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphkit.plugins.logs.judgements import refuse_judgements
from graphkit.plugins.logs.payloads import plain_key
from graphkit.readers.json_values import number
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import shortened

FIELDS = 6

#: How many lines are held: those of a question may lie as far apart.
HELD = 1_000_000

RANKS = "the ranks aren't in the order of the scores: the scores decide, as in trec_eval"


class TrecReader(Reader):
    """Reads runs. A question's lines may lie apart, and lines that begin with ``#`` and a header are passed over."""

    name = "trec"
    priority = 10
    finds_edges = False
    options = ()
    title = "TREC runs: lines of `qid Q0 docno rank score tag`"
    lines = True
    lacks = (
        "A run has a ranking and nothing else: no traversal, no text, no answer, no times and no tokens.",
        "The order is that of trec_eval: by score in single precision, equal ones by the document's name backwards; "
        "the rank that was written isn't used.",
        "A question without a line looks like one that retrieved nothing.",
    )

    def refuse(self, path: Path) -> None:
        refuse_judgements(path)

    def recognises(self, value: Any) -> bool:
        fields = value.split() if isinstance(value, str) else []
        return len(fields) >= FIELDS and _score(fields[4]) is not None and fields[3].lstrip("+-").isdecimal()

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        done: set[str] = set()
        run: str | None = None
        open_: dict[str, _Ranking] = {}
        held = 0
        for where, line in values:
            fields = str(line).lstrip("\ufeff").split(None, FIELDS - 1)
            score = _score(fields[4]) if len(fields) == FIELDS else None
            if score is None:
                if str(line).lstrip().startswith("#") or (run is None and _is_header(fields)):
                    unread["lines that are comments or a header"] += 1
                    continue
                what = f"this isn't `qid Q0 docno rank score tag`: {shortened(str(line))!r}"
                raise UnreadableLogError(what, where=where, remedy="Each line has six fields, the fifth a number.")
            question, _, document, rank, _, tag = fields
            run = run or tag.strip()
            if tag.strip() != run:
                what = f"the lines are of several runs: {shortened(run)!r} and {shortened(tag.strip())!r}"
                raise UnreadableLogError(what, where=where, remedy="Write a file a run, and import each.")
            if question in done:
                what = f"the lines of the question {shortened(question)!r} lie more than {HELD} lines apart"
                raise UnreadableLogError(what, where=where, remedy="Sort them: sort -s -k1,1 RUN > SORTED.")
            if question not in open_:
                open_[question] = _Ranking(where, question)
            open_[question].add(where, document, score, rank)
            held += 1
            while held > HELD and len(open_) > 1:
                first = open_.pop(next(iter(open_)))
                done.add(first.question)
                held -= len(first)
                yield first.answer(run)
        for ranking_ in open_.values():
            yield ranking_.answer(run or "")


def _is_header(fields: list[str]) -> bool:
    """Return whether a value is a header, by the names of its columns."""
    plain = set(map(plain_key, fields))
    return bool(plain & {"qid", "queryid", "topic", "topicid"}) and "score" in plain


class _Ranking:
    """The documents that were retrieved for one question."""

    def __init__(self, where: str, question: str) -> None:
        self.question = question
        self._where = where
        self._scores: dict[str, float] = {}
        self._ranks: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._scores)

    def add(self, where: str, document: str, score: float, rank: str) -> None:
        if document in self._scores:
            what = f"the document {shortened(document)!r} stands twice for the question {shortened(self.question)!r}"
            raise UnreadableLogError(what, where=where, remedy="Remove the worse line.")
        self._scores[document] = score
        self._ranks[document] = rank

    def answer(self, run: str) -> LoggedAnswer:
        ranked = ranking(self._scores)
        ranks = [rank for name, _ in ranked if (rank := number(self._ranks[name])) is not None]
        notes = [] if ranks == sorted(ranks) else [RANKS]
        chunks = [LoggedChunk(name, score=score) for name, score in ranked]
        return LoggedAnswer(self._where, self.question, run=run, retrieved=chunks, notes=notes)


def ranking(scores: dict[str, float]) -> list[tuple[str, float]]:
    """Return documents with their scores as trec_eval ranks them.

    Scores are compared in single precision, and of equal ones the document whose bytes are greater comes first.

    >>> ranking({"a": 1.0, "b": 1.00000001, "c": 2.0})
    [('c', 2.0), ('b', 1.00000001), ('a', 1.0)]
    >>> ranking({"a": 1.00000001, "b": 1.0})
    [('b', 1.0), ('a', 1.00000001)]
    """
    return sorted(
        scores.items(), key=lambda item: (_single(item[1]), item[0].encode(errors="surrogatepass")), reverse=True
    )


def _single(value: float) -> float:
    try:
        single: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


def _score(field: str) -> float | None:
    try:
        score = float(field)
    except ValueError:
        return None
    return score if math.isfinite(score) else None
