"""The extent of an id: a file, a symbol in it, or lines of it. Ids of different granularity are compared by it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from graphkit.records.ids import Places
from graphkit.records.structs import ChunkStruct

#: How what an id covers lies to what another one covers: within it, around it, equal to it or across its ends, or in
#: one file with it, where the lines of one aren't known.
Granularity = Literal["finer", "coarser", "overlapping", "unknown"]

_LINES = re.compile(r":(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?\Z|#L(?P<from>\d{1,9})(?:-L?(?P<to>\d{1,9}))?\Z")
#: A single number behind a colon is a line if a file is before it: ``a.py:10``, not ``chunk:10``.
_FILE = re.compile(r"/|\.\w{1,20}\Z")
_SEPARATOR = re.compile(r"[.:#/]+")


class Extent(NamedTuple):
    """The part of a file that an id covers.

    ``file`` is ``repo:path``, or the id without its symbol and its lines, and ``whole`` is whether the id covers all of
    it. The lines, from the first to the last, may be known even then.
    """

    file: str
    symbol: str | None
    lines: tuple[int, int] | None
    whole: bool

    @classmethod
    def of(cls, node: str, places: Places, stack: str | None = None, chunk: ChunkStruct | None = None) -> Extent:
        """Return what an id covers; a chunk's own fields go before what its id says.

        Lines are those in the id (``path:10-40``, ``path:10``, ``path#L10-L40``), else those at which the knowledge
        graph read the artifact: that of the ``stack``, else all graphs that agree.

        >>> Extent.of("web:src/a.py:10-40", Places())
        Extent(file='web:src/a.py', symbol=None, lines=(10, 40), whole=False)
        >>> Extent.of("web:src/a.py#Cart.add", Places())
        Extent(file='web:src/a.py', symbol='Cart.add', lines=None, whole=False)
        >>> Extent.of("doc-7", Places()).whole, Extent.of("chunk:10", Places()).lines
        (True, None)
        """
        place, lines = split_lines(node)
        path, symbol = places.split(place)
        file = place if path is None and " " in place else places.file(place)  # a title may hold a "#"
        if path is None:
            symbol = place[len(file) + 1 :] or None
        if chunk is not None:
            path, symbol = chunk.path or path, chunk.symbol or symbol
        if path is not None:
            repo = (chunk.repo if chunk is not None else None) or places.repo(place)
            file = path if repo is None else f"{repo}:{path}"
        named = chunk is None or chunk.path is None or place in (file, path)  # another name is any part of its file
        return cls(file, symbol, lines or places.lines(node, stack), named and symbol is None and lines is None)

    def against(self, other: Extent) -> Granularity | None:
        """Return how this lies to another extent; None if they share nothing.

        >>> whole, method, lines = (Extent.of(f"x:a.py{one}", Places()) for one in ("", "#Cart.add", ":3-9"))
        >>> method.against(whole), whole.against(lines), method.against(lines)
        ('finer', 'coarser', 'unknown')
        >>> [lines.against(Extent.of(f"x:a.py:{one}", Places())) for one in ("9-12", "3-9", "10-12")]
        ['overlapping', 'overlapping', None]
        """
        if self.file != other.file:
            return None
        if self.whole or other.whole:
            within, around = other.whole, self.whole
        elif self.lines is not None and other.lines is not None:
            (first, last), (start, end) = self.lines, other.lines
            if last < start or end < first:
                return None
            within, around = start <= first and last <= end, first <= start and end <= last
        elif self.symbol is None or other.symbol is None:
            return "unknown"
        else:
            own, others = _parts(self.symbol), _parts(other.symbol)
            within, around = own[: len(others)] == others, others[: len(own)] == own
            if not within and not around:
                return None
        return "overlapping" if within == around else "finer" if within else "coarser"


def split_lines(node: str) -> tuple[str, tuple[int, int] | None]:
    """Return an id without the lines that it ends with, and these; the id and None if it has none.

    >>> split_lines("web:a.py:10-40"), split_lines("src/a.py#L7"), split_lines("isbn:12")
    (('web:a.py', (10, 40)), ('src/a.py', (7, 7)), ('isbn:12', None))
    """
    found = _LINES.search(node) if node[-1:].isdecimal() else None
    if found is not None:
        place, first, last = node[: found.start()], found["first"] or found["from"], found["last"] or found["to"]
        lines = int(first), int(last or first)
        if place and 0 < lines[0] <= lines[1] and (found["from"] or last or _FILE.search(place)):
            return place, lines
    return node, None


def may_share(nodes: Iterable[str], ids: Collection[str]) -> bool:
    """Return whether one of some ids may share a file and a part of it with one of some nodes that isn't among them.

    It is quick, and never wrong where it says no.

    >>> [may_share(["x:a.py#f"], [one]) for one in ("x:a.py", "x:a.py#f.g", "x:a.py:1-9", "x:a.py#g", "x:b.py")]
    [True, True, True, False, False]
    """
    text = "\n".join(ids)
    for node in nodes:
        file, _, symbol = node.partition("#")
        if not symbol or symbol[0] == "L":
            if split_lines(file)[0] in text:
                return True
        elif file in text:
            top = symbol.partition(".")[0].partition(":")[0].partition("(")[0]
            if file in ids or f"{file}#{top}" in text or f"{file}:" in text or f"{file}#L" in text:
                return True
    return False


def _parts(symbol: str) -> list[str]:
    """Return the components of a symbol; arguments are a part of their own, by which overloads differ."""
    name, _, arguments = symbol.strip().partition("(")
    return [*filter(None, _SEPARATOR.split(name)), *([arguments] if arguments else [])]
