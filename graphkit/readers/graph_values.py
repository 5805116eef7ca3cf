"""Results of graph queries in logs: nodes, relationships, paths, maps and triples under common names.

The same things come in many forms: Neo4j's own objects as text, as JSON of its tools or of graphkit's recorder, as
``Record.data()`` has them, or as maps that a user's query makes. All of them become chunks and edges here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphkit.readers.graph_names import (
    EDGES,
    SCORES,
    arrows,
    chunk_of,
    edge_of,
    end_of,
    first_of,
    guessed,
    is_element_id,
    is_relation,
    name_of,
    named_by_properties,
    plain,
    variable,
)
from graphkit.readers.graph_objects import GraphObjects, is_relationship
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, ReadOptions
from graphkit.readers.logged_rankings import Ranking, distinct
from graphkit.readers.payloads import number
from graphkit.readers.reprs import Described
from graphkit.readers.triples import edges_of_lines

ONLY_ELEMENT_IDS = (
    "nodes are named by Neo4j's elementId only, which is another in each database: let the query return what names them"
)
NAMELESS = "something retrieved has no name: it keeps its rank, and stands for nothing that the dataset knows"
NO_NAMES = "nothing retrieved has a name, so what was retrieved is unknown"
NAME_THE_COLUMNS = (
    "rows of a Cypher query were read without edges: name the columns of source, relation and target (--columns a,r,b)"
)
GUESSED_COLUMNS = "edges were read from the columns {}: name others with --columns source,relation,target"
JOINED_EDGES = "edges were read from lines of text such as A - REL -> B, which a query joined"
CHUNKS_ONLY = "edges were skipped: only what was retrieved was asked for"
UNREAD_EDGES = "edges in a form that isn't known: write them as objects of source, relation and target"


@dataclass(slots=True)
class Gathered:
    """The chunks and edges that were gathered for one answer.

    Attributes
    ----------
    walked
        Whether the log has a place for edges at all, filled or not.
    cut, all_paths
        How many paths were cut to their ends, and how many there are.
    edge_columns, null_columns
        The columns of rows that held edges, and those that held nothing: a null is no path where others hold one.
    """

    options: ReadOptions
    query: str | None = None  # the Cypher whose rows these are
    ranking: Ranking = field(default_factory=Ranking)
    named: bool = False  # whether anything retrieved has a name
    unnamed: int = 0
    asked: bool = False  # whether the log has a field for retrieved items
    places: int = 0  # where chunks could be, with a name or without
    paths: list[list[LoggedEdge]] = field(default_factory=list)
    edges: list[LoggedEdge] = field(default_factory=list)
    walked: bool = False
    cut: int = 0
    all_paths: int = 0
    edge_columns: set[str] = field(default_factory=set)
    null_columns: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, words: str) -> None:
        """Note a doubt, once."""
        self.notes[words] = None

    def retrieved(self, chunk: LoggedChunk, triples: Sequence[LoggedEdge] = ()) -> None:
        """Add a chunk, and the triples that its text begins with."""
        self.places += 1
        self.named = True
        if is_element_id(chunk.name):
            self.note(ONLY_ELEMENT_IDS)
        self.ranking.item(chunk, triples)

    def triples(self, triples: Sequence[LoggedEdge]) -> None:
        """Add an item that consists of triples only."""
        self.places += 2 * len(triples)
        self.named = True
        self.ranking.item(None, triples)

    def nameless(self, triples: Sequence[LoggedEdge] = ()) -> None:
        """Add an item without a name: its triples represent it, or else it only keeps its rank."""
        if triples:
            self.triples(triples)
            return
        self.places += 1
        self.unnamed += 1
        self.ranking.item(LoggedChunk(f"(no name: {self.places})"))

    def add_to(self, answer: LoggedAnswer) -> None:
        """Add the gathered items to an answer."""
        everything = distinct([*(edge for path in self.paths for edge in path), *self.edges])
        if not self.options.chunks_only:
            self.ranking.beside(everything)
            self.named = self.named or bool(everything)
        if self.named or (self.asked and not self.places):
            answer.retrieved = self.ranking.chunks()
        if self.unnamed:
            self.note(NAMELESS if self.named else NO_NAMES)
        if self.options.chunks_only:
            self.note(CHUNKS_ONLY)
        elif self.walked:
            answer.ordered = not self.edges and any(len(path) > 1 for path in self.paths)
            paths = self.paths if answer.ordered else [everything]
            answer.traversal = [path for path in {_key(path): path for path in paths}.values() if path]
        answer.notes.extend(self.notes)

    def metadata(self, metadata: Mapping[str, Any]) -> set[str]:
        """Add the edges that a user's metadata holds, and return the keys that were read."""
        read = set()
        for key, value in metadata.items():
            if plain(key) in EDGES and isinstance(value, list | tuple):
                read.add(key)
                before = len(self.edges) + len(self.paths)
                for part in value:
                    self._edge(part)
                self.walked = self.walked or not value or len(self.edges) + len(self.paths) > before
        return read

    def _edge(self, part: Any) -> None:
        if isinstance(part, Described) or is_relationship(part):
            found = GraphObjects()
            found.collect(part)
            self._objects(found)
        elif edge := edge_of(part):
            self.edges.append(edge)
        else:
            self.note(UNREAD_EDGES)

    def _objects(self, found: GraphObjects) -> None:
        self.cut += found.cut
        self.all_paths += found.paths_seen
        for words in found.notes:
            self.note(words)
        for nodes_path, edges in found.resolved():
            if nodes_path:
                self.paths.append(edges)
            else:
                self.edges.extend(edges)
            if any(is_element_id(end) for edge in edges for end in (edge.source, edge.target)):
                self.note(ONLY_ELEMENT_IDS)
        self.walked = self.walked or found.walked

    def row(self, row: Mapping[str, Any], beside: Mapping[str, Any] | None = None) -> bool:
        """Add a row of a query with further known fields, and return whether the row has any value."""
        found = GraphObjects()
        own: dict[str, Any] = dict(beside or {})
        inner = {key: value for key, value in row.items() if plain(key) == "metadata" and isinstance(value, Mapping)}
        rest = {key: value for key, value in row.items() if key not in inner}
        for held in inner.values():
            own |= held
        before = len(self.edges)
        edges = self.metadata({**own, **rest})
        its_edges = self.edges[before:]
        own |= {key: value for key, value in rest.items() if not isinstance(value, Mapping | list | tuple | Described)}
        for key, value in rest.items():
            if value is None:
                self.null_columns.add(key)
            elif key not in edges:
                seen = len(found.found) + found.paths_seen
                found.collect(value)
                if len(found.found) + found.paths_seen > seen:
                    self.edge_columns.add(key)
        self._objects(found)
        triples = [] if found.walked or edges else self._lines(rest) or self._columns(rest)
        name = None if triples else name_of(own)
        if name and not (is_element_id(name) and found.nodes):
            self.retrieved(chunk_of(own, name))
        elif triples:
            self.triples(triples)
        elif found.nodes:
            score = number(first_of(own, SCORES)[1])
            for node in found.nodes:
                chunk = chunk_of(node.properties, node.name)
                chunk.score = score if chunk.score is None else chunk.score
                self.retrieved(chunk)
        elif any(path for _, path in found.found):
            self.triples([edge for _, path in found.resolved() for edge in path])
        elif named := named_by_properties(rest):
            for one in named:
                self.retrieved(chunk_of(own, one))
        else:
            self.nameless(its_edges)
            return bool(its_edges)
        return True

    def _lines(self, row: Mapping[str, Any]) -> list[LoggedEdge]:
        """Add the edges that a query joined into texts, and return them."""
        texts = (value for value in row.values() if isinstance(value, str) and not is_element_id(value))
        edges = [edge for value in texts for edge in edges_of_lines(value)]
        if edges:
            self.note(JOINED_EDGES)
            self.walked = True
            self.edges.extend(edges)
        return edges

    def _columns(self, row: Mapping[str, Any]) -> list[LoggedEdge]:
        """Add the edge that a row's columns hold, and return it."""
        columns, sure = self.options.columns, True
        if columns is None:
            columns, sure = guessed(row)
        if columns is None:
            several = sum(isinstance(value, str) for value in row.values()) > 1
            if several and (name_of(row) is None or any(map(is_relation, row.items()))):
                self.note(NAME_THE_COLUMNS)
            return []
        if any(column not in row for column in columns):
            self.note(f"rows without the columns {', '.join(columns)}: they have {', '.join(row)}")
            return []
        source, target = end_of(row[columns[0]]), end_of(row[columns[2]])
        if not source or not target:
            self.note(f"rows whose columns {columns[0]} and {columns[2]} don't name two nodes")
            return []
        relation = row[columns[1]]
        edge = LoggedEdge(source, relation if isinstance(relation, str) else None, target)
        if not sure:
            edge = self._pointed(edge, columns)
            self.note(GUESSED_COLUMNS.format(", ".join(columns)))
        self.walked = True
        self.edges.append(edge)
        return [edge]

    def _pointed(self, edge: LoggedEdge, columns: Sequence[str]) -> LoggedEdge:
        """Give an edge the direction that its query asked for; without the query it has none."""
        found = arrows(self.query or "", *map(variable, columns))
        if found is None or found[0] == found[1]:
            return LoggedEdge(edge.source, edge.relation, edge.target, directed=False)
        return edge if found[1] else LoggedEdge(edge.target, edge.relation, edge.source)


class InOrder:
    """Answers in the order of their log; one that may have traversed nothing waits until another one shows it.

    A null column, or a search without results, is an empty traversal if other answers of the log have edges; otherwise
    the traversal is unknown.
    """

    _NOTHING_FOUND = "*"  # no column's name

    def __init__(self) -> None:
        self._held: deque[tuple[LoggedAnswer, set[str]]] = deque()
        self._known: set[str] = set()

    def add(self, answer: LoggedAnswer, gathered: Gathered | None) -> Iterator[LoggedAnswer]:
        """Add an answer with its gathered items, and yield the answers that needn't wait any longer."""
        waits: set[str] = set()
        if gathered is not None and not gathered.options.chunks_only and answer.error is None:
            self._known |= gathered.edge_columns | ({self._NOTHING_FOUND} if gathered.walked else set())
            if not gathered.walked:
                nothing_found = gathered.asked and not gathered.places
                waits = gathered.null_columns | ({self._NOTHING_FOUND} if nothing_found else set())
        self._held.append((answer, waits))
        while self._held and (not self._held[0][1] or self._held[0][1] & self._known):
            first, waits = self._held.popleft()
            if waits:
                first.traversal = []
            yield first

    def rest(self) -> Iterator[LoggedAnswer]:
        """Yield the answers that waited in vain."""
        yield from (answer for answer, _ in self._held)


def _key(path: Iterable[LoggedEdge]) -> tuple[Any, ...]:
    return tuple((edge.source, edge.relation, edge.target, edge.directed) for edge in path)
