"""Compare the edges of a log with the knowledge graph, and add their direction and relation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

from graphkit.records.structs import EdgeStruct

#: How the knowledge graph holds an edge.
Held = Literal["forward", "reversed", "other", "unknown"]


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An edge to be recorded.

    Attributes
    ----------
    held
        How the knowledge graph holds the edge, after its direction and relation were added.
    turned, related
        Whether its direction, or its relation, comes from the knowledge graph.
    directed
        Whether the log or the knowledge graph says which end is the source.
    """

    source: str
    relation: str | None
    target: str
    held: Held
    turned: bool = False
    related: bool = False
    directed: bool = True


class KnowledgeEdges:
    """The edges of all knowledge graphs of a dataset."""

    def __init__(self, edges: Iterable[EdgeStruct] = ()) -> None:
        self._relations: dict[tuple[str, str], tuple[str, ...]] = {}
        self._spelled: dict[str, str | None] = {}
        self._beside: dict[str, dict[str, None]] = {}
        #: The first and the last commit of each edge (source, relation, target) that exists at some commits only.
        self.spans: dict[tuple[str, str, str], list[tuple[str | None, str | None]]] = {}
        for edge in edges:
            held = self._relations.get((edge.source, edge.target), ())
            if edge.since or edge.until or self.spans:
                named, span = (edge.source, edge.relation, edge.target), (edge.since, edge.until)
                if named in self.spans or (span != (None, None) and edge.relation not in held):
                    self.spans.setdefault(named, []).append(span)
            if edge.relation not in held:
                self._relations[edge.source, edge.target] = (*held, edge.relation)
                if self._spelled.setdefault(edge.relation.casefold(), edge.relation) != edge.relation:
                    self._spelled[edge.relation.casefold()] = None

    def __len__(self) -> int:
        return len(self._relations)

    @property
    def relations(self) -> set[str]:
        """The relations of all edges, in lower case."""
        return {*self._spelled}

    def spelled(self, relation: str) -> str:
        """Return a relation in the graph's spelling, or as it is where the graph has none or several."""
        return self._spelled.get(relation.casefold()) or relation

    def between(self, seen: Collection[str], name: str) -> Iterator[PlacedEdge]:
        """Yield the edges of the knowledge graph between a name and names that were seen before it."""
        if not self._beside:
            for source, target in self._relations:
                self._beside.setdefault(source, {})[target] = None
                self._beside.setdefault(target, {})[source] = None
        for other in self._beside.get(name, ()):
            if other in seen and other != name:
                for source, target in ((other, name), (name, other)):
                    for relation in self._relations.get((source, target), ()):
                        yield PlacedEdge(source, relation, target, "forward")

    def placed(self, source: str, relation: str | None, target: str, directed: bool = True) -> PlacedEdge:
        """Return an edge with the direction and the relation that the knowledge graph adds.

        An edge that isn't ``directed`` is turned if the graph holds only the reverse, with this relation or else with
        any; it has no direction yet if the graph holds both or neither. A missing relation becomes the only one that
        the graph holds in this direction. A relation gets the graph's spelling.
        """
        if relation is not None:
            relation = self.spelled(relation)
        held = self.held(source, relation, target)
        turned = False
        if not directed:
            there, back = self._relations.get((source, target), ()), self._relations.get((target, source), ())
            directed = (relation in there) != (relation in back) or bool(there) != bool(back)
            turned = held == "reversed" or (held == "other" and (source, target) not in self._relations)
            if turned:
                source, target = target, source
                held = self.held(source, relation, target)
        related = False
        if relation is None and held == "forward" and len(self._relations[source, target]) == 1:
            relation, related = self._relations[source, target][0], True
        return PlacedEdge(source, relation, target, held, turned, related, directed)

    def named_in(self, words: str, placed: PlacedEdge) -> list[PlacedEdge]:
        """Return the edge with each relation between its ends that a text names, or unchanged if it names none.

        Only an edge without a relation can gain one.
        """
        held = self._relations.get((placed.source, placed.target), ())
        if placed.relation is not None or not words:
            return [placed]
        named = [relation for relation in held if _names(words, relation)]
        named = named or [relation for relation in held if _names(_plain(words), _plain(relation))]
        return [replace(placed, relation=relation, related=True) for relation in named] or [placed]

    def held(self, source: str, relation: str | None, target: str) -> Held:
        """Return how the knowledge graph holds an edge; an edge without a relation may have any."""
        forward = self._relations.get((source, target), ())
        backward = self._relations.get((target, source), ())
        if relation in forward or (relation is None and forward):
            return "forward"
        if relation in backward or (relation is None and backward):
            return "reversed"
        return "other" if forward or backward else "unknown"


#: How many names are hashed once: the edges of a node mostly follow each other.
_REMEMBERED = 50_000


class EdgeHashes:
    """The edges of one knowledge graph and their ends as numbers of 64 bits, of which millions fit into memory.

    That two of them share a number is as good as impossible: a chance of one in 10,000,000 over a million edges and a
    million walked ones.
    """

    def __init__(self, edges: Iterable[EdgeStruct]) -> None:
        self._numbers: set[int] = set()
        number = lru_cache(_REMEMBERED)(_number)
        for edge in edges:
            pair = _number(edge.source, edge.target)
            self._numbers |= {pair, pair ^ number(edge.relation)}
            for node in (edge.source, edge.target):
                self._numbers |= {number(node), number(node.partition("#")[0])}

    def holds(self, source: str, relation: str | None, target: str) -> bool:
        """Return whether the graph holds an edge in this direction; one without a relation may have any."""
        pair = _number(source, target)
        return (pair if relation is None else pair ^ _number(relation)) in self._numbers

    def knows(self, node: str) -> bool:
        """Return whether a node is an end of an edge, or the file of one."""
        return _number(node) in self._numbers


def _number(*texts: str) -> int:
    """Return a hash of texts that all processes share."""
    return int.from_bytes(blake2b(repr(texts).encode(), digest_size=8).digest())


def without_names(words: str, names: Iterable[str]) -> str:
    """Return words without the first mention of each name, in any letter case: a name may hold a relation's word."""
    for name in names:
        words = re.sub(re.escape(name), " ", words, count=1, flags=re.IGNORECASE)
    return words


def _names(words: str, relation: str) -> bool:
    """Return whether words hold a relation as a whole word."""
    return re.search(rf"(?<!\w){re.escape(relation)}(?!\w)", words) is not None


def _plain(words: str) -> str:
    return words.casefold().replace("_", " ")
