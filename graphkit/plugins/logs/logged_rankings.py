"""The ranking of retrieved items, and the place of retrieved triples in it, for all readers.

Each reader puts what its log says was retrieved into a :class:`Ranking`, so that one search has one ranking in
whichever format it was logged.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.readers.logged import LoggedChunk, LoggedEdge


class Ranking:
    """The items that a search retrieved, and the triples that came with them.

    1. Both ends of a retrieved triple are retrieved, its source before its target.
    2. An item ranks by its place in the log. The ends of the triples that it is, or that its text begins with, rank at
       this place, before the item's own name.
    3. What the log doesn't rank follows all items: the ends of triples that stand beside the items (in metadata, in
       other columns, in a table of their own), and the chunk that a triple was extracted from.
    4. Each name counts once, at its first rank, with its best score and its texts one below the other.
    """

    def __init__(self) -> None:
        self._items: list[tuple[float | None, list[LoggedChunk]]] = []
        self._unranked: list[LoggedChunk] = []

    def item(self, chunk: LoggedChunk | None, triples: Iterable[LoggedEdge] = (), score: float | None = None) -> None:
        """Add an item: its chunk, None if it has no name of its own, and the triples that it is or begins with."""
        self.several([*ends(triples), *([chunk] if chunk is not None else [])], score)

    def several(self, chunks: Iterable[LoggedChunk], score: float | None = None) -> None:
        """Add an item that is several chunks, best first, such as the rows of a query."""
        self._items.append((score, list(chunks)))

    def beside(self, triples: Iterable[LoggedEdge] = (), chunk: LoggedChunk | None = None) -> None:
        """Add triples from beside the items, or the chunk from which a triple was extracted."""
        self._unranked += [*ends(triples), *([chunk] if chunk is not None else [])]

    def extend(self, other: Ranking) -> None:
        """Add the items of another search for the same question."""
        self._items += other._items
        self._unranked += other._unranked

    def chunks(self, *, by_score: bool = False) -> list[LoggedChunk]:
        """Return one chunk for each name, best first.

        Parameters
        ----------
        by_score
            Whether a higher score is better than an earlier place. It is used only where each item has one.

        >>> found = Ranking()
        >>> found.item(LoggedChunk("file.py", "x"), [LoggedEdge("a", "CALLS", "b")], score=0.5)
        >>> found.item(LoggedChunk("b", "y"), score=0.7)
        >>> [chunk.name for chunk in found.chunks()], [chunk.name for chunk in found.chunks(by_score=True)]
        (['a', 'b', 'file.py'], ['b', 'a', 'file.py'])
        """
        items = list(self._items)
        if by_score and all(score is not None for score, _ in items):
            items.sort(key=lambda item: -(item[0] or 0.0))
        return _merged([*(chunk for _, chunks in items for chunk in chunks), *self._unranked])


def ends(triples: Iterable[LoggedEdge]) -> list[LoggedChunk]:
    """Return both ends of each triple, its source first."""
    return [LoggedChunk(end) for triple in triples for end in (triple.source, triple.target)]


def _merged(chunks: Iterable[LoggedChunk]) -> list[LoggedChunk]:
    """Return one chunk a name, at its first rank, with its best score and its texts one below the other."""
    first: dict[str, LoggedChunk] = {}
    values: dict[str, dict[str, None]] = {}  # ordered sets
    texts: dict[str, dict[str, None]] = {}
    for chunk in chunks:
        kept = first.setdefault(chunk.name, chunk)
        if chunk.values:
            values.setdefault(chunk.name, {}).update(dict.fromkeys(chunk.values))
        if chunk.text is not None:
            texts.setdefault(chunk.name, {})[chunk.text] = None
        if chunk.score is not None and (kept.score is None or chunk.score > kept.score):
            kept.score = chunk.score
        kept.commit = kept.commit or chunk.commit
    for name, its in texts.items():
        first[name].text = "\n\n".join(its)
    for name, held in values.items():
        first[name].values = tuple(held)
    return list(first.values())


def distinct(triples: Iterable[LoggedEdge]) -> list[LoggedEdge]:
    """Return each triple once, in the order of the log."""
    return list({(one.source, one.relation, one.target, one.directed): one for one in triples}.values())
