"""Results of graph queries in logs: nodes, relationships, paths, maps and triples under common names.

The same things come in many forms: Neo4j's own objects as text, as JSON of its tools or of graphkit's recorder, as
``Record.data()`` has them, or as maps that a user's query makes. All of them become chunks and edges here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from graphkit.plugins.logs.graph_columns import (
    EDGES,
    SCORES,
    arrows,
    chunk_of,
    guessed,
    is_null_edge,
    is_relation,
    named_by_properties,
    variables,
)
from graphkit.plugins.logs.graph_objects import GraphObjects, is_relationship
from graphkit.plugins.logs.logged_rankings import Ranking, distinct, ends
from graphkit.plugins.logs.reprs import Described
from graphkit.plugins.logs.triples import JOINED_EDGES, edges_of_lines
from graphkit.readers.graph_names import edge_of, end_of, first_of, is_element_id, is_relation_type, name_of, plain
from graphkit.readers.json_values import number
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, ReadOptions
from graphkit.records.aliases import LONGEST_NAME
from graphkit.records.doubts import NAMELESS, NO_NAMES

NAME_THE_COLUMNS = (
    "rows of a Cypher query were read without edges: name the columns of source, relation and target (--columns a,r,b)"
)
GUESSED_COLUMNS = "edges were read from the columns {}: name others with --columns source,relation,target"
CHUNKS_ONLY = "edges were skipped: only what was retrieved was asked for"
UNREAD_EDGES = "edges in a form that isn't known: write them as objects of source, relation and target"

#: How deep, and how many values of a row are looked at for ids of the dataset.
_DEPTH, _MOST_VALUES = 4, 1000


def query_record(cypher: str, rows: Any = None, error: str | None = None, parameters: Any = None) -> dict[str, Any]:
    """Return a query as a record holds it; rows that aren't lists or objects of plain values are left out."""
    found: dict[str, Any] = {"cypher": cypher}
    if isinstance(parameters, dict) and parameters:
        found["parameters"] = {str(name): one for name, one in parameters.items()}
    if isinstance(rows, list) and all(isinstance(row, dict | list) and _is_plain(row) for row in rows):
        found["rows"] = rows
    return found | ({} if error is None else {"error": error})


def _is_plain(value: Any, depth: int = 20) -> bool:
    """Return whether a value is JSON."""
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(name, str) and _is_plain(one, depth - 1) for name, one in value.items())
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(one, depth - 1) for one in value)
    return value is None or isinstance(value, str | int | float | bool)


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
        The columns of rows that held edges, and those that held nothing: a null or an empty list is no path where
        others hold one.
    rows
        The rows as they were given.
    """

    options: ReadOptions
    query: str | None = None  # the Cypher whose rows these are
    query_used: bool = False  # whether its pattern gave an edge its direction
    ranking: Ranking = field(default_factory=Ranking)
    named: bool = False  # whether anything retrieved has a name
    unnamed: int = 0
    valued: bool = False  # whether rows hold values of which some may be ids of the dataset
    listed: dict[str, None] = field(default_factory=dict)  # such values in lists beside a row's own
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
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)  # the Cypher that was asked, with its rows

    def note(self, words: str) -> None:
        """Note a doubt, once."""
        self.notes[words] = None

    def retrieved(self, chunk: LoggedChunk, triples: Sequence[LoggedEdge] = ()) -> None:
        """Add a chunk, and the triples that its text begins with."""
        self.places += 1
        self.named = True
        self.ranking.item(chunk, triples)

    def triples(self, triples: Sequence[LoggedEdge], score: float | None = None) -> None:
        """Add an item that consists of triples only, with the score of its row."""
        self.places += 2 * len(triples)
        self.named = True
        self.ranking.several([LoggedChunk(one.name, score=score) for one in ends(triples)])

    def nameless(
        self, triples: Sequence[LoggedEdge] = (), values: tuple[str, ...] = (), score: float | None = None
    ) -> None:
        """Add an item without a name: its triples or values represent it, or else it only keeps its rank."""
        if triples:
            self.triples(triples, score)
            return
        self.places += 1
        self.unnamed += 1
        self.valued = self.valued or bool(values)
        self.ranking.item(LoggedChunk(f"(no name: {self.places})", score=score, values=values, is_named=False))

    def add_to(self, answer: LoggedAnswer) -> None:
        """Add the gathered items to an answer."""
        answer.symbols = True
        if self.queries:
            answer.queries = [*(answer.queries or ()), *self.queries]
        everything = distinct([*(edge for path in self.paths for edge in path), *self.edges])
        if not self.options.chunks_only:
            self.ranking.beside(everything)
            self.named = self.named or bool(everything)
        answer.values += self.listed
        if self.named or self.valued or (self.asked and not self.places):
            answer.retrieved = self.ranking.chunks()
        if self.unnamed and not self.valued:
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
                parts = [part for part in value if not is_null_edge(part)]
                for part in parts:
                    self._edge(part)
                self.walked = self.walked or not parts or len(self.edges) + len(self.paths) > before
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
        self.walked = self.walked or found.walked

    def row(self, row: Mapping[str, Any], beside: Mapping[str, Any] | None = None) -> bool:
        """Add a row of a query with further known fields, and return whether the row has any value."""
        found = GraphObjects()
        self.rows.append(row)
        own: dict[str, Any] = dict(beside or {})
        inner = {key: value for key, value in row.items() if plain(key) == "metadata" and isinstance(value, Mapping)}
        rest = {key: value for key, value in row.items() if key not in inner}
        for held in inner.values():
            own |= held
        before = len(self.edges)
        edges = self.metadata({**own, **rest})
        its_edges = self.edges[before:]
        own |= {key: value for key, value in rest.items() if not isinstance(value, Mapping | list | tuple | Described)}
        single: dict[str, None] = {}
        listed: dict[str, None] = {}
        for key, value in rest.items():
            if value is None or (isinstance(value, list | tuple) and not value):
                self.null_columns.add(key)
            elif key in edges:
                continue
            elif written := _edges_in(value):
                self.edges += written
                its_edges += written
                self.walked = True
                self.edge_columns.add(key)
            else:
                seen = len(found.found) + found.paths_seen
                nodes = len(found.nodes)
                found.collect(value)
                if len(found.found) + found.paths_seen > seen:
                    self.edge_columns.add(key)
                elif len(found.nodes) == nodes:
                    (listed if isinstance(value, list | tuple) else single).update(_strings(value, _DEPTH))
        self._objects(found)
        lines = [] if found.walked or edges or its_edges else self._lines(rest)
        columns, end = ([], None) if found.walked or edges or its_edges or lines else self._columns(rest)
        score = number(first_of(own, SCORES)[1])
        name = None if columns else name_of(own)
        values = tuple(one for one in single if one != name)
        kept = True
        if name and not (is_element_id(name) and found.nodes):
            self.retrieved(replace(chunk_of(own, name), values=values))
        elif end:
            self.retrieved(LoggedChunk(end, score=score, values=values))
        elif columns or lines:
            self.triples(columns or lines, score)
            known = {one for edge in columns or lines for one in (edge.source, edge.relation, edge.target)}
            listed |= {value: None for value in single if value not in known}
        elif found.nodes:
            for node in found.nodes:
                chunk = chunk_of(node.properties, node.name)
                chunk.score = score if chunk.score is None else chunk.score
                self.retrieved(replace(chunk, values=values if node is found.nodes[-1] else ()))
        elif any(path for _, path in found.found):
            self.triples([edge for _, path in found.resolved() for edge in path], score)
            listed |= single
        elif named := named_by_properties(rest):
            for one in named:
                self.retrieved(replace(chunk_of(own, one), values=values if one is named[-1] else ()))
        else:
            kept = bool(its_edges)
            self.nameless(its_edges, values or tuple(listed), score)
            listed = {**single, **listed} if its_edges else listed if values else {}
        self.listed |= listed
        return kept

    def _lines(self, row: Mapping[str, Any]) -> list[LoggedEdge]:
        """Add the edges that a query joined into texts or lists of texts, and return them."""
        every = [one for value in row.values() for one in (value if isinstance(value, list | tuple) else [value])]
        texts = (value for value in every if isinstance(value, str) and not is_element_id(value))
        edges = [edge for value in texts for edge in edges_of_lines(value)]
        if edges:
            self.note(JOINED_EDGES)
            self.walked = True
            self.edges.extend(edges)
        return edges

    def _columns(self, row: Mapping[str, Any]) -> tuple[list[LoggedEdge], str | None]:
        """Add the edge that a row's columns hold, and return it, or else the one end that they hold."""
        columns, sure = self.options.columns, True
        lacking = columns is not None and any(column not in row for column in columns)
        if columns is None or lacking:
            columns, sure = guessed(row, self.query)
        if columns is None:
            several = sum(isinstance(value, str) for value in row.values()) > 1
            if lacking:
                self.note(
                    f"rows without the columns {', '.join(self.options.columns or ())}: they have {', '.join(row)}"
                )
            elif several and (name_of(row) is None or any(map(is_relation, row.items()))):
                self.note(NAME_THE_COLUMNS)
            return [], None
        source, relation, target = end_of(row[columns[0]]), row[columns[1]], end_of(row[columns[2]])
        if not source or not target:
            # OPTIONAL MATCH gives nulls beside a node without a neighbour.
            if (source or target) and relation is None:
                self.walked = True
            else:
                self.note(f"rows whose columns {columns[0]} and {columns[2]} don't name two nodes")
            return [], source or target
        edge = LoggedEdge(source, relation if isinstance(relation, str) else None, target)
        if not sure:
            edge = self._pointed(edge, columns)
            self.note(GUESSED_COLUMNS.format(", ".join(columns)))
        self.walked = True
        self.edges.append(edge)
        return [edge], None

    def _pointed(self, edge: LoggedEdge, columns: Sequence[str]) -> LoggedEdge:
        """Give an edge the direction that its query asked for; without the query it has none."""
        found = arrows(self.query or "", *variables(columns, self.query))
        self.query_used = self.query_used or found is not None
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


def _edges_in(value: Any) -> list[LoggedEdge]:
    """Return the edges that a column holds as maps or lists of three, alone or in a list; empty if it holds others."""
    parts = value if isinstance(value, list | tuple) and value and not isinstance(value[0], str) else [value]
    parts = [part for part in parts if not is_null_edge(part)]
    if not all(_states_edge(part) for part in parts):
        return []
    return [edge for part in parts if (edge := edge_of(part)) is not None]


def _states_edge(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return (
            len(value) == 3 and is_relation_type(value[1]) and isinstance(value[0], str) and isinstance(value[2], str)
        )
    if not isinstance(value, Mapping) or is_relationship(value) or isinstance(value.get("labels"), list):
        return False
    edge = edge_of(value)
    return edge is not None and edge.relation is not None


def _strings(value: Any, depth: int) -> Iterator[tuple[str, None]]:
    """Yield the texts in a value that may be ids."""
    if isinstance(value, str):
        if 0 < len(value) <= LONGEST_NAME and not is_element_id(value):
            yield value, None
    elif depth and isinstance(value, Mapping | list | tuple):
        for one in islice(value.values() if isinstance(value, Mapping) else value, _MOST_VALUES):
            yield from _strings(one, depth - 1)
