"""What queries of a graph give, as logs hold it: nodes, relationships, paths, maps and triples under common names.

The same things come in many forms: Neo4j's own objects as text, as JSON of its tools or of graphkit's recorder, as
``Record.data()`` has them, or as maps that a user's query makes. All of them become chunks and edges here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graphkit.readers.edge_lines import edges_of_lines
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, ReadOptions
from graphkit.readers.payloads import identifier, number, text
from graphkit.readers.reprs import DEEPEST, Described

#: What names a node, the more telling first, without case and ``_``.
NAMES = (
    *("id", "qname", "qualifiedname", "fqn", "uid", "uri", "iri", "key", "nodeid", "entityid", "docid"),
    *("name", "title"),
)
ELEMENT_IDS = ("elementid", "eid")
COMMITS = ("commit", "commitsha", "commitid", "sha", "revision", "version")
SCORES = ("score", "relevancescore", "similarityscore", "similarity")
TEXTS = ("text", "content", "pagecontent", "chunk", "body")

#: What holds edges, and what their ends and relations are called.
EDGES = ("triples", "triplets", "edges", "relationships", "relations")
_ENDS = (
    *(("source", "target"), ("s", "o"), ("s", "t"), ("subject", "object"), ("head", "tail"), ("start", "end")),
    *(("from", "to"), ("src", "dst"), ("src", "tgt"), ("srcid", "tgtid"), ("sourceid", "targetid")),
    *(("startnode", "endnode"), ("startid", "endid")),
)
_RELATIONS = (
    *("relation", "type", "rel", "relationship", "predicate", "reltype", "relationtype", "relationshiptype"),
    *("label", "edge", "r", "p", "t"),
)
#: Columns of rows that are often called so, though they needn't be the ends of an edge.
_VARIABLES = (("a", "r", "b"), ("n", "r", "m"), ("s", "r", "t"), ("x", "r", "y"))

_ELEMENT_ID = re.compile(r"\d+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:\d+")
_RELATION_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_COLUMN = re.compile(r"(?:type\((\w+)\)|(\w+)(?:\.\w+)?)")

ONLY_ELEMENT_IDS = (
    "nodes are named by Neo4j's elementId only, which is another in each database: let the query return what names them"
)
NAMELESS = "something retrieved has no name: it keeps its rank, and stands for nothing that the dataset knows"
NO_NAMES = "nothing retrieved has a name, so what was retrieved isn't told"
NAME_THE_COLUMNS = (
    "rows of a Cypher query were read without edges: name the columns of source, relation and target (--columns a,r,b)"
)
GUESSED_COLUMNS = "edges were read from the columns {}: name others with --columns source,relation,target"
JOINED_EDGES = "edges were read from lines of text such as A - REL -> B, which a query joined"
UNDIRECTED = "paths without the direction of their edges, as Record.data() gives them"
SHORT_PATHS = "the text of a Path of one edge tells its ends, and neither relation nor direction"
CHUNKS_ONLY = "edges were left out: only what was retrieved was asked for"
UNREAD_EDGES = "edges in a form that isn't known: write them as objects of source, relation and target"


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a key without its case and ``_``."""
    return name.replace("_", "").lower()


def first_of(properties: Mapping[str, Any], names: Iterable[str]) -> tuple[str | None, Any]:
    """Return the key and the value that stands under the first of some plain names, where it isn't null."""
    held: dict[str, str] = {}
    for key, value in properties.items():
        if value is not None:
            held.setdefault(plain(key), key)
    found = next((held[name] for name in names if name in held), None)
    return found, None if found is None else properties[found]


def name_of(properties: Mapping[str, Any]) -> str | None:
    """Return what names a node among its properties; its elementId only where nothing else does.

    >>> name_of({"id": "4:8718b093-462d-48a1-90a9-c49cd235a8be:1", "qname": "a.b"}), name_of({"score": 1})
    ('a.b', None)
    """
    held = {plain(key): value for key, value in properties.items()}
    last_resort = None
    for known in (*NAMES, *ELEMENT_IDS):
        if known in held and (name := identifier(held[known])) is not None:
            if not is_element_id(name):
                return name
            last_resort = last_resort or name
    return last_resort


def is_element_id(name: str) -> bool:
    """Tell whether a name is Neo4j's own id of a node."""
    return _ELEMENT_ID.fullmatch(name) is not None


def chunk_of(properties: Mapping[str, Any], name: str) -> LoggedChunk:
    """Return a chunk with the text, score and commit that its properties hold."""
    return LoggedChunk(
        name,
        text(first_of(properties, TEXTS)[1]),
        number(first_of(properties, SCORES)[1]),
        text(first_of(properties, COMMITS)[1]),
    )


def edge_of(value: Any) -> LoggedEdge | None:
    """Return the edge that a map or a list says under common names, or None.

    >>> edge_of({"s": "a", "t": "CALLS", "o": "b"}) == edge_of(["a", "CALLS", "b"])
    True
    """
    if isinstance(value, list | tuple):
        ends = [_end(part) for part in value]
        if len(ends) == 2 and ends[0] and ends[1]:
            return LoggedEdge(ends[0], None, ends[1])
        if len(ends) == 3 and ends[0] and ends[2] and isinstance(value[1], str | None):
            return LoggedEdge(ends[0], value[1], ends[2])
        return None
    if not isinstance(value, Mapping):
        return None
    held = {plain(key): part for key, part in value.items()}
    for start, end in _ENDS:
        source, target = _end(held.get(start)), _end(held.get(end))
        if source and target:
            relations = (held[name] for name in _RELATIONS if name in held and name not in (start, end))
            return LoggedEdge(source, next(filter(None, map(text, relations)), None), target)
    return None


def _end(value: Any) -> str | None:
    return name_of(value) if isinstance(value, Mapping) else identifier(value)


@dataclass(slots=True)
class Gathered:
    """What is gathered of one answer: what was retrieved, and the edges in it.

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
    chunks: dict[str, LoggedChunk] = field(default_factory=dict)
    asked: bool = False  # whether the log has a place for what was retrieved
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
        """Tell what is doubtful, once."""
        self.notes[words] = None

    def retrieved(self, chunk: LoggedChunk) -> None:
        """Take a chunk; of those of one name the first, which is the best."""
        self.places += 1
        if is_element_id(chunk.name):
            self.note(ONLY_ELEMENT_IDS)
        self.chunks.setdefault(chunk.name, chunk)

    def nameless(self) -> None:
        """Keep the rank of something that has no name."""
        self.places += 1
        self.chunks[f"(no name: {self.places})"] = LoggedChunk(f"(no name: {self.places})")

    def say(self, answer: LoggedAnswer) -> None:
        """Write into an answer what was gathered."""
        named = any(not name.startswith("(no name: ") for name in self.chunks)
        if named or (self.asked and not self.places):
            answer.retrieved = list(self.chunks.values())
        if len(self.chunks) and any(name.startswith("(no name: ") for name in self.chunks):
            self.note(NAMELESS if named else NO_NAMES)
        if self.options.chunks_only:
            self.note(CHUNKS_ONLY)
        elif self.walked:
            answer.ordered = not self.edges and any(len(path) > 1 for path in self.paths)
            everything = [*(edge for path in self.paths for edge in path), *self.edges]
            paths = self.paths if answer.ordered else [_distinct(everything)]
            answer.walk = [path for path in {_key(path): path for path in paths}.values() if path]
        answer.notes.extend(self.notes)

    def metadata(self, metadata: Mapping[str, Any]) -> set[str]:
        """Take the edges that a user's metadata holds, and return the keys that were read."""
        read = set()
        for key, value in metadata.items():
            if plain(key) in EDGES and isinstance(value, list | tuple):
                read.add(key)
                self.walked = True
                for part in value:
                    self._edge(part)
        return read

    def _edge(self, part: Any) -> None:
        if isinstance(part, Described) or _is_relationship(part):
            found = _Objects()
            found.collect(part)
            self._objects(found)
        elif edge := edge_of(part):
            self.edges.append(edge)
        else:
            self.note(UNREAD_EDGES)

    def _objects(self, found: _Objects) -> None:
        self.cut += found.cut
        self.all_paths += found.paths_seen
        for words in found.notes:
            self.note(words)
        for nodes_path, edges in found.resolved():
            self.walked = True
            if nodes_path:
                self.paths.append(edges)
            else:
                self.edges.extend(edges)
            if any(is_element_id(end) for edge in edges for end in (edge.source, edge.target)):
                self.note(ONLY_ELEMENT_IDS)
        self.walked = self.walked or found.walked

    def row(self, row: Mapping[str, Any], beside: Mapping[str, Any] | None = None) -> bool:
        """Take a row of a query, by its columns, with what else is told of it, and tell whether it said anything."""
        found = _Objects()
        own: dict[str, Any] = dict(beside or {})
        inner = {key: value for key, value in row.items() if plain(key) == "metadata" and isinstance(value, Mapping)}
        rest = {key: value for key, value in row.items() if key not in inner}
        for told in inner.values():
            own |= told
        edges = self.metadata({**own, **rest})
        own |= {key: value for key, value in rest.items() if not isinstance(value, Mapping | list | tuple | Described)}
        for key, value in rest.items():
            if value is None:
                self.null_columns.add(key)
            elif key not in edges:
                before = len(found.found) + found.paths_seen
                found.collect(value)
                if len(found.found) + found.paths_seen > before:
                    self.edge_columns.add(key)
        self._objects(found)
        ends = None if found.walked or edges else self._lines(rest) or self._columns(rest)
        name = None if ends else name_of(own)
        if name and not (is_element_id(name) and found.nodes):
            self.retrieved(chunk_of(own, name))
        elif ends:
            for end in ends:
                self.retrieved(LoggedChunk(end))
        elif found.nodes:
            score = number(first_of(own, SCORES)[1])
            for node in found.nodes:
                chunk = chunk_of(node.properties, node.name)
                chunk.score = score if chunk.score is None else chunk.score
                self.retrieved(chunk)
        elif any(path for _, path in found.found):
            for _, path in found.resolved():
                for end in (end for edge in path for end in (edge.source, edge.target)):
                    self.retrieved(LoggedChunk(end))
        elif named := _named_by_properties(rest):
            for one in named:
                self.retrieved(chunk_of(own, one))
        else:
            self.nameless()
            return False
        return True

    def _lines(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Take the edges that a query joined into texts, and return their ends."""
        texts = (value for value in row.values() if isinstance(value, str) and not is_element_id(value))
        edges = [edge for value in texts for edge in edges_of_lines(value)]
        if not edges:
            return None
        self.note(JOINED_EDGES)
        self.walked = True
        self.edges.extend(edges)
        return tuple(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)))

    def _columns(self, row: Mapping[str, Any]) -> tuple[str, str] | None:
        """Take the edge that a row's columns hold, and return its ends."""
        columns, sure = self.options.columns, True
        if columns is None:
            columns, sure = _guessed(row)
        if columns is None:
            several = sum(isinstance(value, str) for value in row.values()) > 1
            if several and (name_of(row) is None or any(map(_is_relation, row.items()))):
                self.note(NAME_THE_COLUMNS)
            return None
        if any(column not in row for column in columns):
            self.note(f"rows without the columns {', '.join(columns)}: they have {', '.join(row)}")
            return None
        source, target = _end(row[columns[0]]), _end(row[columns[2]])
        if not source or not target:
            self.note(f"rows whose columns {columns[0]} and {columns[2]} don't name two nodes")
            return None
        relation = row[columns[1]]
        edge = LoggedEdge(source, relation if isinstance(relation, str) else None, target)
        if not sure:
            edge = self._pointed(edge, columns)
            self.note(GUESSED_COLUMNS.format(", ".join(columns)))
        self.walked = True
        self.edges.append(edge)
        return source, target

    def _pointed(self, edge: LoggedEdge, columns: Sequence[str]) -> LoggedEdge:
        """Give an edge the direction that its query asked for; without the query it has none."""
        arrows = _arrows(self.query or "", *map(_variable, columns))
        if arrows is None or arrows[0] == arrows[1]:
            return LoggedEdge(edge.source, edge.relation, edge.target, directed=False)
        return edge if arrows[1] else LoggedEdge(edge.target, edge.relation, edge.source)


class InOrder:
    """Answers in the order of their log; one that may have walked nothing waits until another tells.

    A column that is null, or a search that found nothing, has walked nothing where other answers of the log hold edges,
    and tells nothing of walks where none does.
    """

    _NOTHING_FOUND = "*"  # no column's name

    def __init__(self) -> None:
        self._held: deque[tuple[LoggedAnswer, set[str]]] = deque()
        self._known: set[str] = set()

    def add(self, answer: LoggedAnswer, gathered: Gathered | None) -> Iterator[LoggedAnswer]:
        """Take an answer with what was gathered of it, and yield those that needn't wait any longer."""
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
                first.walk = []
            yield first

    def rest(self) -> Iterator[LoggedAnswer]:
        """Yield those that waited in vain."""
        yield from (answer for answer, _ in self._held)


def _key(path: Iterable[LoggedEdge]) -> tuple[Any, ...]:
    return tuple((edge.source, edge.relation, edge.target, edge.directed) for edge in path)


def _distinct(edges: Iterable[LoggedEdge]) -> list[LoggedEdge]:
    return list({_key([edge]): edge for edge in edges}.values())


def _variable(column: str) -> str:
    match = _COLUMN.fullmatch(column)
    return (match[1] or match[2]) if match else column


@lru_cache(maxsize=64)
def _arrows(query: str, start: str, relation: str, end: str) -> tuple[bool, bool] | None:
    """Return whether a query's pattern of three variables has arrows to its start, and to its end."""
    link = rf"-\s*\[\s*{re.escape(relation)}\b[^\]\[]*\]\s*-"
    found = re.search(rf"\({re.escape(start)}\b[^()]*\)\s*(<?){link}(>?)\s*\({re.escape(end)}\b", query)
    return (bool(found[1]), bool(found[2])) if found else None


def _named_by_properties(row: Mapping[str, Any]) -> list[str]:
    """Return the names in columns that are called by a property that names a node, such as ``a.name``."""
    properties = ((column.partition("."), value) for column, value in row.items())
    names = (identifier(value) for (_, dot, name), value in properties if dot and plain(name) in NAMES)
    return [name for name in dict.fromkeys(names) if name is not None and not is_element_id(name)]


def _is_relation(column: tuple[str, Any]) -> bool:
    """Tell a column that holds a relation, by its name and what it holds."""
    name, value = column
    named = plain(_variable(name)) in _RELATIONS[:8]
    return named and isinstance(value, str) and _RELATION_TYPE.fullmatch(value) is not None


def _guessed(row: Mapping[str, Any]) -> tuple[tuple[str, str, str] | None, bool]:
    """Return the columns that hold an edge by their names, and whether the names say so without doubt."""
    told = _told_columns(tuple(row))
    if told is not None:
        return told, True
    by_variable = {plain(_variable(column)): column for column in row}
    types = [column for column in row if isinstance(row[column], str) and _RELATION_TYPE.fullmatch(row[column])]
    if len(by_variable) == len(row) and len(types) == 1:
        for start, relation, end in _VARIABLES:
            if start in by_variable and end in by_variable and by_variable.get(relation) == types[0]:
                return (by_variable[start], types[0], by_variable[end]), False
    return None, False


@lru_cache(maxsize=256)
def _told_columns(columns: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return the columns whose names say that they hold source, relation and target of an edge."""
    held: dict[str, list[str]] = {}
    for column in columns:
        held.setdefault(plain(_variable(column)), []).append(column)
    once = {name: found[0] for name, found in held.items() if len(found) == 1}
    for start, end in _ENDS:
        if len(start) > 1 and start in once and end in once:
            relation = next((name for name in _RELATIONS if name in once and name not in (start, end)), None)
            if relation is not None:
                return once[start], once[relation], once[end]
    return None


def _is_node(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("labels"), list) and "properties" in value


def _is_relationship(value: Any) -> bool:
    if not isinstance(value, Mapping) or isinstance(value.get("labels"), list):
        return False
    held = {plain(key) for key in value}
    return bool(held & {"type", "label"}) and any(
        ends <= held for ends in ({"start", "end"}, {"startnodeelementid", "endnodeelementid"})
    )


@dataclass(slots=True)
class _Node:
    name: str
    properties: Mapping[str, Any]


@dataclass(slots=True)
class _Objects:
    """The graph's objects within a row; the ends of relationships may be ids of nodes elsewhere in it."""

    nodes: list[_Node] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    found: list[tuple[bool, list[LoggedEdge]]] = field(default_factory=list)
    cut: int = 0
    paths_seen: int = 0
    walked: bool = False
    notes: dict[str, None] = field(default_factory=dict)

    def resolved(self) -> Iterator[tuple[bool, list[LoggedEdge]]]:
        """Yield the edges by the names of their ends: whether they are a path, and they."""
        for is_path, edges in self.found:
            yield (
                is_path,
                [
                    LoggedEdge(
                        self.names.get(edge.source, edge.source),
                        edge.relation,
                        self.names.get(edge.target, edge.target),
                        edge.directed,
                    )
                    for edge in edges
                ],
            )

    def collect(self, value: Any, depth: int = 0) -> None:
        """Take the graph's objects that a value is or holds."""
        if depth > DEEPEST:
            return
        if isinstance(value, Described):
            self._described(value)
        elif _is_node(value):
            self.node(value)
        elif isinstance(value, Mapping):
            self._map(value, depth)
        elif isinstance(value, list | tuple) and not self._alternating(value):
            for part in value:
                self.collect(part, depth + 1)

    def node(self, value: Any, chunk: bool = True) -> str | None:
        """Take a node, or the id of one, and return its name."""
        properties: Any
        ids: Mapping[str, Any]
        if isinstance(value, Described):
            properties, ids = value.fields.get("properties"), value.fields
        elif _is_node(value):
            properties, ids = value["properties"], value
        elif isinstance(value, Mapping):
            properties, ids = value, value
        else:
            return identifier(value)
        properties = properties if isinstance(properties, Mapping) else {}
        element = identifier(first_of(ids, (*ELEMENT_IDS, "id", "identity"))[1])
        name = name_of(properties) or element
        if name is None:
            return None
        if element is not None and name_of(properties):
            self.names[element] = name
        if chunk:
            self.nodes.append(_Node(name, properties))
        return name

    def _edge(self, source: Any, relation: Any, target: Any, directed: bool = True) -> LoggedEdge | None:
        start, end = self.node(source, chunk=False), self.node(target, chunk=False)
        if start is None or end is None:
            self.notes["relationships whose ends have no names: let the query return their nodes too"] = None
            return None
        return LoggedEdge(start, relation if isinstance(relation, str) else None, end, directed)

    def _take(self, is_path: bool, edges: Iterable[LoggedEdge | None]) -> None:
        self.walked = True
        self.found.append((is_path, [edge for edge in edges if edge is not None]))

    def _described(self, value: Described) -> None:
        fields = value.fields
        if value.kind == "Node":
            self.node(value)
        elif value.kind == "Relationship" and isinstance(fields.get("nodes"), list) and len(fields["nodes"]) == 2:
            source, target = fields["nodes"]
            self._take(False, [self._edge(source, fields.get("type"), target)])
        elif value.kind == "Path":
            self.paths_seen += 1
            self.walked = True
            start, end, size = fields.get("start"), fields.get("end"), fields.get("size")
            self.node(start)
            if size != 0:
                self.node(end)
            if size == 1:
                self.notes[SHORT_PATHS] = None
                self._take(False, [self._edge(start, None, end, directed=False)])
            elif size != 0:
                self.cut += 1

    def _map(self, value: Mapping[str, Any], depth: int) -> None:
        segments, nodes, links = (value.get(key) for key in ("segments", "nodes", "relationships"))
        if isinstance(segments, list):
            for segment in segments:
                if isinstance(segment, Mapping):
                    self.node(segment.get("start"))
            if segments and isinstance(segments[-1], Mapping):
                self.node(segments[-1].get("end"))
            inner = [part.get("relationship") for part in segments if isinstance(part, Mapping)]
            self._take(True, map(self._relationship, inner))
        elif isinstance(nodes, list) and isinstance(links, list):
            for node in nodes:
                self.node(node)
            self._take(True, map(self._relationship, links))
        elif _is_relationship(value):
            self._take(False, [self._relationship(value)])
        elif depth == 0 and name_of(value):
            self.node(value)

    def _relationship(self, value: Any) -> LoggedEdge | None:
        if not isinstance(value, Mapping):
            return None
        _, source = first_of(value, ("startnodeelementid", "start"))
        _, target = first_of(value, ("endnodeelementid", "end"))
        return self._edge(source, first_of(value, ("type", "label"))[1], target)

    def _alternating(self, value: Sequence[Any]) -> bool:
        """Take a path as ``Record.data()`` has it: maps of its nodes, and between them the types of its edges."""
        if len(value) < 3 or len(value) % 2 == 0:
            return False
        maps, types = value[::2], value[1::2]
        if not all(isinstance(part, Mapping) for part in maps) or not all(isinstance(part, str) for part in types):
            return False
        for node in maps:
            self.node(node)
        steps = zip(maps, types, maps[1:], strict=False)
        self._take(len(types) > 1, [self._edge(*step, directed=False) for step in steps])
        self.notes[UNDIRECTED] = None
        return True
