"""Neo4j's own objects within a row of a query, in each form that logs have them: text, JSON, or maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphkit.plugins.logs.reprs import DEEPEST, Described
from graphkit.readers.graph_names import ELEMENT_IDS, first_of, name_of, plain
from graphkit.readers.json_values import identifier
from graphkit.readers.logged import LoggedEdge

UNDIRECTED = "paths without the direction of their edges, as Record.data() gives them"
SHORT_PATHS = "the text of a Path of one edge holds its ends, but neither relation nor direction"


def _is_node(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("labels"), list) and "properties" in value


def is_relationship(value: Any) -> bool:
    """Return whether a value is a relationship as JSON, by its type and its ends."""
    if not isinstance(value, Mapping) or isinstance(value.get("labels"), list):
        return False
    held = {*map(plain, value.keys())}
    return bool(held & {"type", "label"}) and any(
        ends <= held for ends in ({"start", "end"}, {"startnodeelementid", "endnodeelementid"})
    )


@dataclass(slots=True)
class _Node:
    name: str
    properties: Mapping[str, Any]


@dataclass(slots=True)
class GraphObjects:
    """The graph's objects within a row; the ends of relationships may be ids of nodes elsewhere in it."""

    nodes: list[_Node] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    found: list[tuple[bool, list[LoggedEdge]]] = field(default_factory=list)
    cut: int = 0
    paths_seen: int = 0
    walked: bool = False
    notes: dict[str, None] = field(default_factory=dict)

    def resolved(self) -> Iterator[tuple[bool, list[LoggedEdge]]]:
        """Yield the edges by the names of their ends, each list with whether it is a path."""
        named = self.names.get
        for is_path, edges in self.found:
            ends = ((edge, named(edge.source, edge.source), named(edge.target, edge.target)) for edge in edges)
            yield is_path, [replace(edge, source=source, target=target) for edge, source, target in ends]

    def collect(self, value: Any, depth: int = 0) -> None:
        """Add the graph's objects that a value is or holds."""
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
        """Add a node, or the id of one, and return its name."""
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
        """Add edges, with None for each that can't be read. If none can be read, the walk is unknown."""
        given = list(edges)
        found = [edge for edge in given if edge is not None]
        if found or not given:
            self.walked = True
            self.found.append((is_path, found))

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
        elif is_relationship(value):
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
        """Add a path as ``Record.data()`` has it: maps of its nodes, and between them the types of its edges."""
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
