"""Measures of spans, the lines or characters that the retrieved chunks cover: two cuts of one file compare by them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphkit.measures.base import CutMeasure
from graphkit.measures.case import Case
from graphkit.measures.containment import extent_of, relevant_extents
from graphkit.measures.text import normalised, textless
from graphkit.measures.unscored import NO_LINES, NO_RETRIEVAL, NO_TEXT, Unscored
from graphkit.records.extents import Extent
from graphkit.records.structs import ChunkStruct

NO_GOLD_SPANS = "the lines of the relevant ids aren't known, and no texts of evidence are given"
TEXTS_ALONE = "the gold gives texts of evidence without lines, so that what else was retrieved has no place"
NO_PLACE = "the lines of a retrieved id aren't known (not logged)"

#: The shortest part of a text of evidence that counts where a chunk doesn't hold all of it: less may be chance.
LEAST = 20

#: What tells the path of a file from a bare name.
_PATH = re.compile(r"[:/]|\.\w{1,20}\Z")

#: From a place up to before another one.
Span = tuple[int, int]

#: The spans in each file.
Spans = Mapping[str, Sequence[Span]]


@dataclass(frozen=True)
class SpanMeasure(CutMeasure):
    """A measure of the lines or characters that the top k chunks share with the gold.

    The gold's lines are those of the relevant ids: in the id (``repo:path:10-40``, ``repo:path#L10-L40``), else those
    at which the knowledge graph read the artifact. Without them the gold's ``relevant_texts`` count, by characters.
    Each line or character counts once, however many chunks hold it.
    """

    #: Whether it needs the number of all retrieved lines.
    needs_all: ClassVar[bool] = True

    source = "token-wise recall, precision and IoU of chunking (Smith and Troynikov 2024), here of lines or characters"

    def value(self, case: Case) -> float | Unscored:
        gold = relevant_extents(case).values()
        texts = {text for one in case.question.relevant_texts if (text := normalised(one))}
        by_lines = bool(gold) and all(one.lines for one in gold)
        if not by_lines and not texts:
            return Unscored(NO_GOLD_SPANS, of_question=True)
        if not by_lines and self.needs_all:
            return Unscored(TEXTS_ALONE, of_question=True)
        if not case.chunks_logged:
            return Unscored(NO_RETRIEVAL)
        top = case.chunks[: self.cutoff(case)]
        if not by_lines and textless(top):
            return Unscored(NO_TEXT)
        wanted: Spans
        if by_lines:
            wanted = spans_of(gold)
            found = self._lines(case, top, wanted)
        else:
            wanted = {text: [(0, len(text))] for text in texts}
            held = [normalised(chunk.text) for chunk in top if chunk.text]
            found = {one: [span for text in held for span in spans_in(one, text)] for one in texts}
        if isinstance(found, Unscored):
            return found
        both = size({file: [*wanted.get(file, ()), *found.get(file, ())] for file in {*wanted, *found}})
        return self.of(size(wanted), size(wanted) + size(found) - both, size(found))

    def _lines(self, case: Case, chunks: Iterable[ChunkStruct], wanted: Spans) -> Spans | Unscored:
        """Return the retrieved lines, or why some aren't known that the measure needs."""
        extents = [extent_of(case, chunk) for chunk in chunks]
        in_paths = any(map(_PATH.search, wanted))
        for one in extents:
            if one.lines is None:
                if one.file in wanted and (self.needs_all or not one.whole):
                    return Unscored(NO_LINES)
                # A bare name may be any chunk of the files of the gold, unless these are bare names as well.
                if one.file not in wanted and (self.needs_all or (in_paths and not _PATH.search(one.file))):
                    return Unscored(NO_PLACE)
        whole = {
            one.file: wanted[one.file] for one in extents if one.whole and one.file in wanted and not self.needs_all
        }
        return spans_of(one for one in extents if one.lines) | whole

    @abstractmethod
    def of(self, gold: int, common: int, retrieved: int) -> float:
        """Return the value from the number of lines or characters of the gold, of common ones and of retrieved ones."""


class SpanRecall(SpanMeasure):
    """Lines or characters of the gold that the top k chunks cover / lines or characters of the gold.

    A whole file covers all of its lines, however many they are. A chunk covers the part of an evidence text that it
    holds: all of it, or at least 20 characters that are the chunk's whole text, its end or its beginning.
    Texts are compared as by ``AnswerContainment``. It is unscored if the place of a chunk can't be told: an id without
    a file, a name of its own beside a path of the gold's, or a symbol in a file of the gold whose lines the knowledge
    graph doesn't state.
    """

    needs_all = False

    def of(self, gold: int, common: int, retrieved: int) -> float:
        return common / gold


class SpanPrecision(SpanMeasure):
    """Lines of the gold that the top k chunks cover / lines that they cover; 0 if nothing was retrieved.

    It needs the lines of each chunk, those of a whole file from its artifact. Texts of evidence give no value, since
    they don't tell how chunks overlap outside of them.
    """

    def of(self, gold: int, common: int, retrieved: int) -> float:
        return common / retrieved if retrieved else 0.0


class SpanIoU(SpanMeasure):
    """Intersection over union: lines both of the gold and of the top k chunks / lines of either.

    It needs the lines that ``SpanPrecision`` needs.
    """

    def of(self, gold: int, common: int, retrieved: int) -> float:
        return common / (gold + retrieved - common)


def spans_of(extents: Iterable[Extent]) -> dict[str, list[Span]]:
    """Return the lines of extents in each file."""
    found: dict[str, list[Span]] = {}
    for one in extents:
        if one.lines is not None:
            found.setdefault(one.file, []).append((one.lines[0], one.lines[1] + 1))
    return found


def size(spans: Spans) -> int:
    """Return how many lines or characters some spans cover, each counted once.

    >>> size({"a.py": [(5, 9), (1, 4), (3, 5)], "b.py": [(12, 13)]})
    9
    """
    total = 0
    for some in spans.values():
        reached = 0
        for start, end in sorted(some):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
    return total


def spans_in(wanted: str, text: str) -> Iterator[Span]:
    """Yield the spans of a wanted text that a chunk's text holds; both are normalised.

    >>> list(spans_in("-" * 50, "-" * 20)), list(spans_in("one", "one two"))
    ([(0, 20), (20, 40)], [(0, 3)])
    >>> list(filter(None, spans_in("the lock is taken before the write", "then the lock is taken before")))
    [(0, 24), (34, 34)]
    """
    if wanted in text:
        yield 0, len(wanted)
    elif len(text) >= LEAST and text in wanted:
        yield from (found.span() for found in re.finditer(re.escape(text), wanted))
    else:
        yield 0, _overlap(text, wanted)
        yield len(wanted) - _overlap(wanted, text), len(wanted)


def _overlap(before: str, after: str) -> int:
    """Return the length of the longest end of a text with which another one begins; 0 if it is shorter than LEAST."""
    end = before[-len(after) :] if after else ""
    place = end.find(after[:LEAST]) if len(after) >= LEAST else -1
    while place >= 0 and not after.startswith(end[place:]):
        place = end.find(after[:LEAST], place + 1)
    return len(end) - place if place >= 0 else 0
