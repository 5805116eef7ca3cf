"""Splits an answer into sentences, so that claims and citations have a place."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, with its ``key`` such as ``s1`` and its range of characters."""

    key: str
    start: int
    end: int
    text: str


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, without the white space between them.

    A sentence ends at a full stop, question mark or exclamation mark before white space, and with its paragraph, list
    item, heading or table row. Citations right after its end belong to it. A block of code is one sentence.

    >>> [one.text for one in sentences_of("It reads orders.total, e.g. at 1.5. [1] Then `a.b` ends.")]
    ['It reads orders.total, e.g. at 1.5. [1]', 'Then `a.b` ends.']
    """
    spans = [
        span for start, end, code in _blocks(text) for span in ([(start, end)] if code else _split(text, start, end))
    ]
    found: list[Sentence] = []
    for start, end in spans:
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        words = words.strip()
        if words:
            found.append(Sentence(f"s{len(found) + 1}", start, start + len(words), words))
    return found


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Return the range of each paragraph, list item, heading, row and block of code, and whether it is code."""
    blocks: list[tuple[int, int, bool]] = []
    start, fence, place = 0, "", 0
    for line in text.splitlines(keepends=True):
        end = place + len(line)
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                blocks.append((start, end, True))
                start, fence = end, ""
        elif mark or not line.strip() or _ITEM.match(line):
            blocks.append((start, place, False))
            start, fence = place, mark[1] if mark else ""
            if _LINE.match(line):
                blocks.append((place, end, False))
                start = end
        place = end
    blocks.append((start, place, bool(fence)))
    return blocks


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    item = _ITEM.match(text, start, end)
    for stop in _END.finditer(text, item.end() if item else start, end):
        if stop.start() < start:  # inside a citation of the sentence before
            continue
        place = stop.end()
        while (after := _AFTER.match(text, place, end)) and _CITES.search(after[1]):
            place = after.end()
        if place > stop.end() and text[place : place + 1] in _CLOSING:
            place += 1
        if place < end and not text[place].isspace() and stop[1] in _SPACED:
            continue
        if stop[1] == "." and _ABBREVIATION.search(text, max(start, stop.start() - _LONGEST), stop.start() + 1):
            continue
        spans.append((start, place))
        start = place
    return [*spans, (start, end)]


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,4}[.)][ \t]|#{1,6}[ \t]|\|)")
#: An end with closing quotes and emphasis, and a possible citation after it on the same line.
_END = re.compile(r"([.!?…。！？])[.!?…。！？]*[\"'”’»)*_]{0,8}")
_AFTER = re.compile(r"[ \t]{0,8}\[([^\[\]\n]{1,400})\](?![(:])")
_CITES = re.compile(r"\A\s*\d[\d,;–\s-]*\Z|[/:#]")
_CLOSING = (".", ",", ";")
#: Ends that need white space after them; those of Chinese and Japanese don't.
_SPACED = ".!?…"
#: A heading, or a row of a table: it ends with its line.
_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_LONGEST = 16
_ABBREVIATION = re.compile(
    r"(?:(?<!\w)(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|nos|figs?|eq|pp?|vol|al|dr|mrs?|ms|prof|jr|sr|inc|ltd|viz)|(?<![\w.])[A-Z]|(?<!\w)(?:[A-Za-z]\.){1,4}[A-Za-z])\.\Z",
    re.IGNORECASE,
)
