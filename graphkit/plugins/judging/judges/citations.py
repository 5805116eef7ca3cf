"""Finds the citations in an answer, and the retrieved chunks that they refer to.

A citation is ``[repo/path]``, ``[repo/path:line]``, ``[repo:path#symbol]``, the id of a retrieved chunk in brackets, a
numbered mark ``[2]`` if the record lists its citations, or a match of the user's pattern. Brackets in code, links and
their definitions, and brackets after a word (``items[0]``) are not citations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from graphkit.errors import InputError
from graphkit.measures.text import last_component
from graphkit.records.aliases import LONGEST_NAME
from graphkit.records.ids import Places

#: The widest range of a mark such as ``[2-5]``; a wider one is not a mark.
_WIDEST_MARK = 20

#: The flags that a pattern may begin with.
_FLAGS = re.compile(r"\A\(\?[aimsux]+\)")


@dataclass(frozen=True, slots=True)
class FoundCitation:
    """A citation in an answer, with its range of characters and its target."""

    text: str
    target: str
    start: int
    end: int
    chunks: tuple[str, ...] = ()  # ids of the retrieved chunks that it refers to
    whole: bool = False  # whether it applies to the whole answer: the record lists it, and the text doesn't mark it


@dataclass(frozen=True, slots=True)
class Place:
    """The origin of a retrieved chunk, for comparison with citations; ``source`` is ``repo/path``."""

    id: str
    source: str
    path: str | None = None
    symbol: str | None = None


def citation_pattern(text: str) -> re.Pattern[str]:
    r"""Compile a user's pattern of citations, such as ``\(source: (?P<target>[^()]+)\)``.

    Raise an InputError if it is not a regular expression, or has no group ``target``.
    """
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InputError(f"the pattern of citations isn't a regular expression: {error}", where=repr(text)) from None
    if "target" not in pattern.groupindex:
        remedy = r"Put it around the target of a citation: \(source: (?P<target>[^()]+)\)."
        raise InputError("the pattern of citations has no group `target`", where=repr(text), remedy=remedy)
    return pattern


def pattern_text(pattern: re.Pattern[str]) -> str:
    r"""Return the text of a compiled pattern with its flags: compiled again, it is the same pattern.

    >>> pattern_text(re.compile(r"<(?P<target>\w+)>", re.IGNORECASE))
    '(?i)<(?P<target>\\w+)>'
    """
    letters = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
    flags = "".join(letter for letter, flag in letters.items() if pattern.flags & flag)
    text = _FLAGS.sub("", pattern.pattern, count=1)
    return f"(?{flags}){text}" if flags else text


def find_citations(
    answer: str, listed: Sequence[str] = (), known: Collection[str] = (), pattern: re.Pattern[str] | None = None
) -> list[FoundCitation]:
    """Return the citations of an answer in order.

    Parameters
    ----------
    listed
        The citations that the record lists. The mark ``[n]`` in the text stands for the n-th of them. Without numbered
        marks, one that the text doesn't mention applies to the whole answer.
    known
        Ids of retrieved chunks, and files as ``repo/path``: in brackets they are always citations.
    pattern
        An additional pattern of citations; its group ``target`` is the target.

    >>> [one.target for one in find_citations("A [api/auth.py:12] b[0] [web:a.ts#f] [doc](http://x) `[api/b.py]`")]
    ['api/auth.py:12', 'web:a.ts#f']
    """
    prose = _prose(answer)
    found = [*_own_citations(prose, pattern)] if pattern is not None else []
    taken = {place for one in found for place in range(one.start, one.end)} if found else set()
    numbered = False
    for start, end in _brackets(prose):
        if start in taken:
            continue
        content = answer[start + 1 : end - 1]
        numbers = _numbers(content) if listed else None
        if numbers is not None:
            targets = _marked(numbers, listed)
            numbered = numbered or bool(targets)
        else:
            targets = _targets(content, known)
        found += [FoundCitation(answer[start:end], target, start, end) for target in targets]
    found.sort(key=lambda one: one.start)
    if numbered:
        return found
    marked = {one.target for one in found}
    rest = [one for one in dict.fromkeys(listed) if one and one not in marked]
    return [*found, *(FoundCitation(target, target, 0, len(answer), whole=True) for target in rest)]


def resolved(
    citations: Iterable[FoundCitation], retrieved: Sequence[Place], places: Places | None = None
) -> tuple[FoundCitation, ...]:
    """Return citations with the ids of the chunks that each refers to.

    An id refers to the chunk of this id. A node, ``repo:path#symbol`` or ``repo:path``, refers to the chunk of exactly
    this symbol, or of the whole file. A file, ``repo/path``, refers to all of its chunks, whatever the line.
    """
    by_target: dict[str, tuple[str, ...]] = {}
    # The retrieved sources decide where the path ends: it may contain a #.
    own = (Places() if places is None else places).with_files(lambda _: [place.source for place in retrieved])
    for one in citations:
        if one.target not in by_target:
            by_target[one.target] = tuple(dict.fromkeys(_chunks_of(one.target, retrieved, own)))
    return tuple(replace(one, chunks=by_target[one.target]) for one in citations)


def _chunks_of(target: str, retrieved: Sequence[Place], places: Places) -> list[str]:
    if exact := [place.id for place in retrieved if place.id == target]:
        return exact
    bare = _LINE.sub("", target)
    if exact := [place.id for place in retrieved if place.id == bare]:
        return exact
    path, own = places.split(bare)
    source = places.file(bare)
    if path is not None:
        return [place.id for place in retrieved if place.source == source and _same_symbol(own, place.symbol)]
    symbol = bare[len(source) + 1 :]
    of_file = [place for place in retrieved if place.source == source]
    of_file = of_file or [place for place in retrieved if place.path == source]
    return [place.id for place in of_file if not symbol or _same_symbol(symbol, place.symbol)]


def _same_symbol(one: str | None, other: str | None) -> bool:
    if not one or not other:
        return not one and not other
    return one == other or (one == last_component(one) == last_component(other))


def _prose(text: str) -> str:
    """Return a text of the same length with all code hidden."""
    parts, place, fence = [], 0, ""
    paragraph = 0
    for line in text.splitlines(keepends=True):
        end = place + len(line)
        mark = _FENCE.match(line)
        if fence:
            parts.append(_HIDDEN * len(line))
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            paragraph = end
        elif mark or not line.strip():
            parts.append(_without_spans(text[paragraph:place]))
            parts.append(_HIDDEN * (len(line) - 1) + "\n" if mark else line)
            fence = mark[1] if mark else ""
            paragraph = end
        place = end
    parts.append(_without_spans(text[paragraph:]))
    return "".join(parts)


def _without_spans(paragraph: str) -> str:
    """Hide the code spans of a paragraph: each from a run of backticks to the next run of the same length."""
    if "`" not in paragraph:
        return paragraph
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(paragraph)]
    closing: list[int | None] = [None] * len(runs)
    last: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = last.get(length)
        last[length] = index
    parts, place, index = [], 0, 0
    while index < len(runs):
        partner = closing[index]
        if partner is None:
            index += 1
            continue
        start, end = runs[index][0], runs[partner][1]
        parts += [paragraph[place:start], _HIDDEN * (end - start)]
        place, index = end, partner + 1
    return "".join([*parts, paragraph[place:]])


def _brackets(prose: str) -> Iterator[tuple[int, int]]:
    """Yield the brackets that may be citations: no links, definitions, indexes, images or escaped ones."""
    defined = {label.casefold() for label in _DEFINITION.findall(prose)}
    previous, previous_stands = -1, False
    for bracket in _BRACKET.finditer(prose):
        start, end = bracket.span()
        # [1][2]: the second is whatever the first is.
        stands = previous_stands if start == previous else not _is_index(prose, start)
        after = prose[end : end + 1]
        following = _BRACKET.match(prose, end) if after == "[" else None
        labels = {bracket[1].casefold(), following[1].casefold() if following else ""}
        if after == "(" or not labels.isdisjoint(defined):
            stands = False
        previous, previous_stands = end, stands
        if stands:
            yield start, end


def _is_index(prose: str, start: int) -> bool:
    before = prose[start - 1] if start else " "
    if before == ")":  # f(x)[0] is an index; (as is written)[1] is a citation
        opening = prose.rfind("(", max(0, start - 200), start)
        return opening < 0 or _is_word(prose[opening - 1 : opening])
    return _is_word(before) or before in "]}>!\\$@"


def _is_word(character: str) -> bool:
    # Not every letter: Chinese and Japanese put marks after words without a space.
    return character.isascii() and (character.isalnum() or character == "_")


def _own_citations(prose: str, pattern: re.Pattern[str]) -> Iterator[FoundCitation]:
    for match in pattern.finditer(prose):
        target = (match["target"] or "").strip()
        if 0 < len(target) <= LONGEST_NAME and _HIDDEN not in target:
            yield FoundCitation(match[0], target, *match.span())


def _numbers(content: str) -> list[int] | None:
    """Return the numbers of a mark such as ``2``, ``1, 3`` or ``2-4``; None for other text."""
    if not _MARK.fullmatch(content):
        return None
    numbers: list[int] = []
    for part in re.split(r"[,;]", content):
        first, _, last = re.sub(r"[–\s]", "-", part.strip()).partition("-")
        low, high = int(first), int(last.strip("-") or first)
        if high - low >= _WIDEST_MARK or high < low:
            return []
        numbers += range(low, high + 1)
    return numbers


def _marked(numbers: Sequence[int], listed: Sequence[str]) -> list[str]:
    """Return the targets of a mark; a single number without a listed citation has an unknown target."""
    targets = [listed[number - 1] for number in numbers if 1 <= number <= len(listed) and listed[number - 1]]
    return targets or ([f"[{numbers[0]}]"] if len(numbers) == 1 and numbers[0] else [])


def _targets(content: str, known: Collection[str]) -> list[str]:
    """Return the targets of brackets with this content: ids, files or symbols; none for other text."""
    content = content.strip()
    if not content or len(content) > LONGEST_NAME:
        return []
    if content in known:
        return [content]
    parts = [part.strip() for part in re.split(r"[,;]\s+", content)]
    return parts if all(part in known or _is_target(part) for part in parts) else []


def _is_target(text: str) -> bool:
    bare = _LINE.sub("", text)
    if _NODE.fullmatch(bare):
        return True
    return _FILE.fullmatch(bare) is not None and (bare != text or _NAMED.search(bare.partition("#")[0]) is not None)


_HIDDEN = "\x00"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`+")
_BRACKET = re.compile(rf"\[([^\[\]\n\x00]{{1,{LONGEST_NAME}}})\]")
#: A definition of a link; one with a file as its target is a list of sources.
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]{1,8}(?:<|https?:|www\.|mailto:|#|/|\./)", re.MULTILINE)
_MARK = re.compile(r"\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4}){0,50}\s*")
_LINE = re.compile(r"(?::|#L)\d+(?:(?:-|–|:|-L)\d+)?\Z")
#: repo:path with a slash, an extension or a symbol (a slice such as [1:2] has none), and not a web address.
_NODE = re.compile(r"[\w.@+-]+:(?!//)(?=[^#]*[/.]|[^#]+#)[^\s:#]+(?:#\S+)?")
_FILE = re.compile(r"[\w.@+~-]+(?:/[\w.@+~=()$-]+)+(?:#\S+)?")
#: The end of a path that is certainly a file, unlike [and/or].
_NAMED = re.compile(
    r"(?:[^/]\.[A-Za-z]\w*|/\.\w+|/(?:Dockerfile|Makefile|LICENSE|README|Procfile|Gemfile|Jenkinsfile|CODEOWNERS))\Z"
)
