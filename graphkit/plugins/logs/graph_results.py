"""Edges in the results of tools, in the forms in which tools give graphs to a model.

Read are a whole graph (``{"nodes": ..., "edges": ...}``, also with links by index), rows of a query, triples, texts of
facts, paths of names or of names and relations in turn, and neighbours with their relations. Names alone are no edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from graphkit.plugins.logs.graph_columns import EDGES, VARIABLES, variable
from graphkit.plugins.logs.graph_objects import is_relationship
from graphkit.plugins.logs.graph_values import UNREAD_EDGES, Gathered
from graphkit.plugins.logs.reprs import Described
from graphkit.plugins.logs.triples import JOINED_EDGES, edges_of_lines
from graphkit.readers.graph_names import (
    ENDS,
    edge_of,
    end_of,
    first_of,
    is_element_id,
    is_relation_type,
    name_of,
    plain,
)
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedEdge, ReadOptions

#: How deep a graph may lie within a result.
DEPTH = 6

#: A map of more lists is a table of them, and no path.
_MOST_LISTS = 20

#: The keys of edges in a graph, beside those of any list of edges.
_LINKS = "links"

#: The keys of neighbours, and whether these are targets; None where the entry says it, if anything does.
_NEIGHBOURS: Mapping[str, bool | None] = {
    **dict.fromkeys(("neighbors", "neighbours", "adjacent", "connected", "expanded"), None),
    **dict.fromkeys(("outgoing", "successors", "callees", "children", "outedges"), True),
    **dict.fromkeys(("incoming", "predecessors", "callers", "parents", "inedges"), False),
}
_CENTERS = ("node", "source", "center", "entity", "start", "of")
_OUT = frozenset(("out", "outgoing", "outbound", "forward", "->", "-->", "successor", "target"))
_IN = frozenset(("in", "incoming", "inbound", "backward", "reverse", "<-", "<--", "predecessor", "source"))

#: The keys of a neighbour's relation that can't be the kind of a node.
_RELATIONS = (
    *("relation", "relationship", "rel", "predicate", "reltype", "relationtype", "relationshiptype"),
    *("edge", "edgetype", "via"),
)


@dataclass(slots=True)
class ResultGraph:
    """The edges of a result.

    Attributes
    ----------
    paths, edges
        Its paths, and its edges that belong to none.
    unread
        Whether it holds edges in a form that isn't known.
    """

    paths: list[list[LoggedEdge]] = field(default_factory=list)
    edges: list[LoggedEdge] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    unread: bool = False


def graph_of_result(value: Any, query: str | None = None, center: str | None = None) -> ResultGraph:
    """Return the edges that a result holds.

    Parameters
    ----------
    query
        The Cypher that was asked, whose arrows give a direction to edges in columns.
    center
        What the call asked about, whose neighbours a list without another node's name holds.

    >>> graph_of_result({"nodes": [], "edges": [{"source": "a", "relation": "CALLS", "target": "b"}]}).edges
    [LoggedEdge(source='a', relation='CALLS', target='b', directed=True, description=None)]
    >>> [(edge.source, edge.target, edge.directed) for edge in graph_of_result({"path": ["a", "b", "c"]}).paths[0]]
    [('a', 'b', False), ('b', 'c', False)]
    """
    graph = ResultGraph()
    if isinstance(value, str):
        graph.edges.extend(edges_of_lines(value) if "->" in value or "<-" in value else ())
        if graph.edges:
            graph.notes[JOINED_EDGES] = None
    else:
        _ResultSearch(graph, query).within(value, center, DEPTH)
    # Two numbers are the lines of a file rather than two nodes.
    graph.edges = [edge for edge in graph.edges if not (edge.source.isdigit() and edge.target.isdigit())]
    return graph


class _Keys(NamedTuple):
    """Whether keys are those of ends of an edge, of a relation, of lists of edges, and of neighbours."""

    ends: bool
    relation: bool
    edges: bool
    neighbours: bool


@lru_cache(maxsize=1024)
def _keys_of(keys: tuple[str, ...]) -> _Keys:
    held = {plain(key) for key in keys}
    columns = {plain(variable(key)) for key in keys}
    return _Keys(
        ends=any({start, end} <= columns for start, end in (*ENDS, *((start, end) for start, _, end in VARIABLES))),
        relation=bool(held & {*_RELATIONS, "type"}),
        edges=bool(held & {*EDGES, _LINKS}),
        neighbours=bool(held & _NEIGHBOURS.keys()),
    )


@dataclass(slots=True)
class _ResultSearch:
    graph: ResultGraph
    query: str | None

    def within(self, value: Any, center: str | None, depth: int) -> None:
        """Add the edges of a value, and of what it holds where it isn't graph content itself."""
        if depth == 0:
            return
        if isinstance(value, (list, tuple)):
            if path := _path_in_turn(value):
                self.graph.paths.append(path)
            elif not self._described(value):
                for part in value:
                    self.within(part, center, depth - 1)
        elif isinstance(value, Described):
            self._row({"value": value})
        elif isinstance(value, dict) and not self._mapping(value, center):
            for part in value.values():
                if not isinstance(part, str):
                    self.within(part, center, depth - 1)

    def _described(self, value: Sequence[Any]) -> bool:
        """Add a path of nodes as maps, and of relations in turn, as ``Record.data()`` has it."""
        return len(value) > 2 and isinstance(value[1], str) and self._row({"path": value})

    def _mapping(self, value: Mapping[str, Any], center: str | None) -> bool:
        """Add the edges that a map is or lists; return whether it is graph content."""
        keys = _keys_of(tuple(value))
        nested = [one for one in value.values() if isinstance(one, (list, dict, tuple, Described)) and one]
        if nested and (names := _path_of_names(value)) is not None:
            self.graph.paths.extend(names)
            return True
        if keys.edges and self._whole_graph(value):
            return True
        if keys.neighbours:
            own = name_of(value) or _first_end(value, _CENTERS) or center
            if own and self._neighbours(value, own):
                return True
        if center and keys.relation and (edge := _neighbour(value, center, None)) is not None:
            self.graph.edges.append(edge)
            return True
        # Most maps in results are of files and passages: a row that no query gave needs ends in columns, or something
        # that holds an edge.
        texts = (one for one in value.values() if isinstance(one, str))
        if (
            self.query is not None
            or keys.ends
            or any(map(_is_graph_object, nested))
            or any("->" in one or "<-" in one for one in texts)
        ):
            return self._row(value)
        return False

    def _row(self, value: Mapping[str, Any]) -> bool:
        """Add the edges of a row of a query."""
        gathered = Gathered(ReadOptions(), query=self.query)
        gathered.row(value)
        if gathered.paths or gathered.edges:
            self.graph.paths.extend(gathered.paths)
            self.graph.edges.extend(gathered.edges)
            # A reader of calls takes no --columns: the dataset gives these edges their direction.
            self.graph.notes |= {note: None for note in gathered.notes if "--columns" not in note}
            return True
        return False

    def _whole_graph(self, value: Mapping[str, Any]) -> bool:
        """Add the edges of a graph whose nodes stand beside them, by their names."""
        held = {plain(key): part for key, part in value.items()}
        nodes = held.get("nodes", held.get("vertices", held.get("entities")))
        lists = [held[key] for key in EDGES if isinstance(held.get(key), list)]
        if isinstance(held.get(_LINKS), list) and isinstance(nodes, list):
            lists.append(held[_LINKS])
        names = _names_of(nodes) if isinstance(nodes, list) else {}
        found = False
        for one in (one for each in lists for one in each):
            if not isinstance(one, Mapping | list | tuple):
                continue
            found = True
            if (edge := edge_of(one)) is not None:
                source, target = names.get(edge.source, edge.source), names.get(edge.target, edge.target)
                self.graph.edges.append(replace(edge, source=source, target=target))
            elif not self._row({"edges": [one]}):
                self.graph.unread = True
                self.graph.notes[UNREAD_EDGES] = None
        return found

    def _neighbours(self, value: Mapping[str, Any], own: str) -> bool:
        found = []
        for key, part in value.items():
            if plain(key) in _NEIGHBOURS and isinstance(part, list):
                found += [_neighbour(one, own, _NEIGHBOURS[plain(key)]) for one in part if isinstance(one, Mapping)]
        edges = [edge for edge in found if edge is not None]
        self.graph.edges.extend(edges)
        return bool(edges)


def _is_graph_object(value: Any) -> bool:
    """Return whether a value is a node, a relationship or a path of a database, or a list of such."""
    if isinstance(value, (list, tuple)):
        in_turn = len(value) > 2 and isinstance(value[1], str) and isinstance(value[0], dict)
        return in_turn or (bool(value) and not isinstance(value[0], (list, tuple)) and _is_graph_object(value[0]))
    if not isinstance(value, dict):
        return isinstance(value, Described)
    return isinstance(value.get("labels"), list) or isinstance(value.get("segments"), list) or is_relationship(value)


def _neighbour(value: Mapping[str, Any], center: str, outward: bool | None) -> LoggedEdge | None:
    """Return the edge to a neighbour, or None for a name without a relation."""
    if (edge := edge_of(value)) is not None:
        return edge
    held = {plain(key): part for key, part in value.items()}
    other = name_of(value) or _first_end(held, ("node", "neighbor", "neighbour", "target"))
    relation = text(first_of(value, _RELATIONS)[1])
    if relation is None and is_relation_type(held.get("type")):
        relation = held["type"]
    if other is None or relation is None or other == center:
        return None
    said = str(held.get("direction", held.get("dir", ""))).strip().lower()
    outward = True if said in _OUT else False if said in _IN else outward
    if outward is None:
        return LoggedEdge(center, relation, other, directed=False)
    return LoggedEdge(center, relation, other) if outward else LoggedEdge(other, relation, center)


def _first_end(value: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((end for key in keys if (end := end_of(value.get(key)))), None)


def _path_in_turn(value: Sequence[Any]) -> list[LoggedEdge]:
    """Return the edges of names and relations in turn; of one edge, a triple, the source comes first."""
    if len(value) < 3 or len(value) % 2 == 0 or not all(map(is_relation_type, value[1::2])):
        return []
    ends = [identifier(one) if isinstance(one, str) else None for one in value[::2]]
    if not all(ends) or any(map(is_element_id, filter(None, ends))):
        return []
    steps = zip(ends, value[1::2], ends[1:], strict=False)
    return [LoggedEdge(str(start), relation, str(end), directed=len(value) == 3) for start, relation, end in steps]


def _path_of_names(value: Mapping[str, Any]) -> list[list[LoggedEdge]] | None:
    """Return the paths that lists of names hold, alone or beside the list of their relations; else None."""
    lists = {plain(key): part for key, part in value.items() if isinstance(part, list) and part}
    for relations in lists.values() if len(lists) <= _MOST_LISTS else ():
        if all(map(is_relation_type, relations)):
            for nodes in lists.values():
                ends = [end_of(one) for one in nodes]
                if nodes is not relations and len(nodes) == len(relations) + 1 and all(ends):
                    return [_undirected(ends, relations)]
    given = lists.get("path", lists.get("paths", []))
    walks = [given] if "path" in lists and all(isinstance(one, str) for one in given) else given
    if walks and all(
        isinstance(one, list) and len(one) > 1 and all(isinstance(end, str) for end in one) for one in walks
    ):
        return [path for one in walks if (path := _path_in_turn(one) or _undirected(one, [None] * (len(one) - 1)))]
    return None


def _undirected(ends: Sequence[str | None], relations: Sequence[str | None]) -> list[LoggedEdge]:
    steps = zip(ends, relations, ends[1:], strict=False)
    return [LoggedEdge(str(start), relation, str(end), directed=False) for start, relation, end in steps]


def _names_of(nodes: Sequence[Any]) -> dict[str, str]:
    """Return the names of nodes by what edges call them: an id of the database, or their place in the list."""
    names: dict[str, str] = {}
    own = {str(identifier(one.get("id"))) for one in nodes if isinstance(one, Mapping)}
    for place, node in enumerate(nodes):
        if not isinstance(node, Mapping):
            continue
        number = identifier(node.get("id", node.get("identity", node.get("elementId"))))
        name = _better_name(node) or number
        if name is not None:
            if number is not None:
                names[number] = name
            if str(place) not in own:
                names.setdefault(str(place), name)
    return names


def _better_name(node: Mapping[str, Any]) -> str | None:
    """Return the name of a node whose own id is a number of the database."""
    properties = node.get("properties", node.get("data"))
    inner = name_of(properties) if isinstance(properties, Mapping) else None
    number = identifier(node.get("id"))
    if inner is not None or (number is not None and not (number.isdigit() or is_element_id(number))):
        return inner or number
    return name_of({key: one for key, one in node.items() if plain(key) != "id"})
