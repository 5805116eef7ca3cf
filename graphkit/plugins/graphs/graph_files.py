"""Reads graphs from files: GraphML, node-link JSON, and tables of nodes and edges, recognised by their content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from graphkit.errors import InputError, did_you_mean
from graphkit.files.jsonl import first_block, open_binary
from graphkit.files.tables import columns_of, is_table, read_table
from graphkit.imports.sources import values_of
from graphkit.plugins.graphs.graphml import read_graphml
from graphkit.readers.graph_names import NAMES, edge_of, is_relation_type, plain
from graphkit.readers.json_values import identifier
from graphkit.readers.logged import LoggedEdge
from graphkit.records.graph_parts import GraphEdge, GraphNode

Columns = tuple[str, str, str]

#: A header of neo4j-admin: the name, the role, the space of the ids, and the options of the type.
_ADMIN = re.compile(r"(?P<name>[^:]*):(?P<role>[A-Za-z_]+(?:\[\])?)(?:\((?P<space>[^()]*)\))?(?:\{.*\})?")
_ADMIN_ROLES = {"ID": "id", "START_ID": "source", "END_ID": "target", "TYPE": "relation", "LABEL": "labels"}

#: The keys of the edges in node-link JSON: since networkx 3.4, and before.
_LINKS = ("edges", "links")

_AS_GRAPHML = 'Write it as GraphML: networkx.write_graphml({}, "graph.graphml").'
_AS_TABLE = "Write its triples to a table with the columns source, relation and target, as rdflib lists them."
_COMMENTS = rb"\s*(?:(?://|#)[^\n]*\n\s*)*"
#: Forms of graphs that aren't read, by how they begin, with a way to one that is.
_UNREAD = {
    "GML": (
        rb"\s*(?:(?:Creator|Version|comment)\b[^\n]*\n\s*)*graph\s*\[",
        _AS_GRAPHML.format("networkx.read_gml(FILE)"),
    ),
    "DOT": (
        _COMMENTS + rb"(?:strict\s+)?(?:di)?graph\b[^{\[\n,;\t]{0,200}\{",
        _AS_GRAPHML.format("networkx.nx_pydot.read_dot(FILE)"),
    ),
    "Turtle": (_COMMENTS + rb"@?(?:prefix|base)\s+[^\n]*<", _AS_TABLE),
    "N-Triples": (_COMMENTS + rb"(?:<[^<>\s]+:[^<>\s]*>|_:\S+)\s+<[^<>\s]+:[^<>\s]*>\s+[<_\"]", _AS_TABLE),
    "Cypher": (
        _COMMENTS + rb"(?::?BEGIN\s+)?(?:CREATE|MERGE|MATCH|UNWIND|CALL)\b[^\n,;\t]{0,200}[(\[{]",
        "Load it into a database, and read it from there: graphkit import graph --uri bolt://... --query ...",
    ),
}

#: Separates the space of an id from the id in the key of a node.
_SPACE = "\0"

#: The rows by which triples without a header are known.
_SAMPLE = 1000

_UNDIRECTED = "edges without a direction, kept as they are written, source first"


def read_file(
    path: Path, columns: Columns | None, unread: Counter[str], notes: Counter[str]
) -> Iterator[GraphNode | GraphEdge]:
    """Yield the nodes and edges of a file that isn't a table.

    Raises
    ------
    InputError
        The file has an unknown format or can't be read.
    """
    if format_of(path) == "GraphML":
        return read_graphml(path, unread, notes)
    return _node_link(path, columns, notes)


def format_of(path: Path) -> Literal["GraphML", "node-link JSON", "table"]:
    """Return the format of a file by its beginning.

    Raises
    ------
    InputError
        The file is missing, empty, binary or damaged.
    """
    if is_table(path):
        return "table"
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
    for form, (pattern, remedy) in _UNREAD.items():
        if re.match(pattern, block, re.IGNORECASE):
            raise InputError(f"{form} isn't read", where=str(path), remedy=remedy)
    begin = block.lstrip()[:1]
    return "GraphML" if begin == b"<" else "node-link JSON" if begin in (b"{", b"[") else "table"


def _node_link(path: Path, columns: Columns | None, notes: Counter[str]) -> Iterator[GraphNode | GraphEdge]:
    for where, value in values_of(path):
        links = next((name for name in _LINKS if isinstance(value, dict) and isinstance(value.get(name), list)), None)
        if links is None:
            held = f"it has {', '.join(list(value)[:10])}" if isinstance(value, dict) else "it isn't an object"
            remedy = "networkx.node_link_data writes it."
            what = f"this isn't node-link JSON, an object with nodes and with edges or links: {held}"
            raise InputError(what, where=where, remedy=remedy)
        nodes = value.get("nodes") or ()
        by_place = columns is None and _links_by_place(nodes, value[links])
        for place, node in enumerate(nodes):
            own = identifier(node.get("id")) if isinstance(node, Mapping) else identifier(node)
            key = str(place) if by_place else own or ""
            yield GraphNode(key, own, (), node if isinstance(node, Mapping) else {})
        for number, link in enumerate(value[links], 1):
            marked = _marked(link)
            notes[_UNDIRECTED] += value.get("directed") is False and marked is link
            edge = _linked(marked, columns, f"{where} ({links} {number})")
            yield edge._replace(names=None) if by_place else edge
        notes += Counter()  # without those that are 0


def _links_by_place(nodes: Sequence[Any], links: Sequence[Any]) -> bool:
    """Return whether the ends of links are places in the list of nodes, as in d3 and early networkx, and no ids."""
    ends = [link.get(end) for link in links if isinstance(link, Mapping) for end in ("source", "target")]
    if not ends or not all(type(end) is int and 0 <= end < len(nodes) for end in ends):
        return False
    own = {identifier(node.get("id")) if isinstance(node, Mapping) else identifier(node) for node in nodes}
    return not any(str(end) in own for end in ends)


def _marked(link: Any) -> Any:
    """Return a link in the direction that graphify keeps by ``_src`` and ``_tgt`` beside undirected ends."""
    if not isinstance(link, Mapping) or "_src" not in link:
        return link
    if {link["_src"], link.get("_tgt")} != {link.get("source"), link.get("target")}:
        return link
    rest = {key: value for key, value in link.items() if key not in ("_src", "_tgt")}
    return {**rest, "source": link["_src"], "target": link["_tgt"]}


def _linked(link: Any, columns: Columns | None, where: str) -> GraphEdge:
    if not isinstance(link, Mapping):
        raise InputError("the edge isn't an object", where=where)
    source, target = (link.get(columns[place] if columns else name) for place, name in ((0, "source"), (2, "target")))
    ends = identifier(source) or "", identifier(target) or ""
    if columns and not all(ends) and (missing := next((one for one in columns[::2] if one not in link), None)):
        raise _unknown_column(missing, list(link), where)
    relation = link.get(columns[1]) if columns else None
    own = {columns[0], columns[2]} if columns else {"source", "target"}
    properties = {key: value for key, value in link.items() if key not in own}
    return GraphEdge(ends[0], identifier(relation), ends[1], properties, ends)


@dataclass(frozen=True, slots=True)
class GraphTable:
    """A table of nodes or edges, and the meaning of its columns.

    Attributes
    ----------
    roles
        The columns by meaning: ``id`` and ``labels``, or ``source``, ``relation`` and ``target``.
    names
        The properties by column.
    spaces
        The spaces of ids by role.
    without_header
        Whether the first line is a triple, too.
    """

    path: Path
    roles: Mapping[str, str]
    names: Mapping[str, str]
    spaces: Mapping[str, str]
    without_header: bool = False

    @classmethod
    def opened(cls, path: Path, columns: Columns | None) -> GraphTable:
        """Read the columns of a file.

        Raises
        ------
        InputError
            The file can't be read, or lacks one of the ``columns``.
        """
        held = columns_of(path)
        roles, names, spaces = _admin(held)
        if columns is not None and not roles:
            if all(one not in held for one in columns):
                return cls(path, {}, names, {})
            for one in columns:
                if one not in held:
                    raise _unknown_column(one, held, str(path))
            roles = dict(zip(("source", "relation", "target"), columns, strict=True))
        elif not roles and (edge := _edge_columns(held)):
            roles = {"source": edge.source, "target": edge.target}
            roles |= {"relation": edge.relation} if edge.relation else {}
        if columns is None and not roles and _are_triples(path, held):
            return cls(
                path, dict(zip(("source", "relation", "target"), held, strict=True)), {}, {}, without_header=True
            )
        ends = {roles.get(role) for role in ("source", "relation", "target")}
        return cls(path, roles, {one: name for one, name in names.items() if one not in ends}, spaces)

    @property
    def has_edges(self) -> bool:
        """Whether its rows are edges."""
        return "source" in self.roles and "target" in self.roles

    def read(self) -> Iterator[GraphNode | GraphEdge]:
        """Yield the rows. Raises the errors of :func:`graphkit.files.tables.read_table`."""
        first = [(1, dict(zip(self.roles.values(), self.roles.values(), strict=True)))] if self.without_header else []
        for _, row in chain(first, read_table(self.path)):
            cell = {role: row.get(column, "").strip() for role, column in self.roles.items()}
            properties = {name: row[column] for column, name in self.names.items() if row.get(column)}
            if self.has_edges:
                ends = cell["source"], cell["target"]
                relation = cell.get("relation") or None
                keys = (self._key(end, role) for end, role in zip(ends, ("source", "target"), strict=True))
                yield GraphEdge(next(keys), relation, next(keys), properties, ends)
            else:
                own = cell.get("id") or next(filter(None, (row.get(name) for name in ("id", "Id", "ID"))), None)
                labels = tuple(filter(None, re.split("[;:]", cell.get("labels", ""))))
                yield GraphNode(self._key(own or "", "id"), own or None, labels, properties)

    def _key(self, name: str, role: str) -> str:
        space = self.spaces.get(role)
        return f"{space}{_SPACE}{name}" if space and name else name


def _edge_columns(columns: Sequence[str]) -> LoggedEdge | None:
    """Return the columns that hold an edge by their names, as an edge. A node may have start and end lines, too."""
    edge = edge_of({one: one for one in columns})
    is_node = edge is not None and edge.source.casefold() == "start" and "id" in map(str.casefold, columns)
    return None if is_node else edge


def _are_triples(path: Path, columns: Sequence[str]) -> bool:
    """Return whether a table is triples without a header: its second of three columns holds few names, often repeated.

    A relation in capitals at the place of a header is one, too.
    """
    if len(columns) != 3 or any(plain(one) in NAMES for one in columns):
        return False
    relations = [row.get(columns[1], "") for _, row in islice(read_table(path), _SAMPLE)]
    ends_in_capitals = is_relation_type(columns[0]) or is_relation_type(columns[2])
    return columns[1] in relations or (is_relation_type(columns[1]) and not ends_in_capitals)


def _admin(columns: Sequence[str]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the roles, properties and spaces of columns with headers of neo4j-admin."""
    found = {column: _ADMIN.fullmatch(column) for column in columns}
    is_admin = any(match and match["role"].upper() in ("ID", "START_ID", "END_ID") for match in found.values())
    roles: dict[str, str] = {}
    names: dict[str, str] = {}
    spaces: dict[str, str] = {}
    for column, match in found.items():
        what = match["role"].upper() if match and is_admin else ""
        role = _ADMIN_ROLES.get(what)
        if role is not None and match is not None:
            roles[role] = column
            if match["space"]:
                spaces[role] = match["space"]
        if what != "IGNORE" and (name := match["name"] if match and is_admin else column):
            names[column] = name
    return roles, names, spaces


def _unknown_column(name: str, held: Sequence[str], where: str) -> InputError:
    remedy = f"{did_you_mean(name, held)}There are: {', '.join(map(str, held))}."
    return InputError(f"there is no column {name!r}", where=where, remedy=remedy)


def edges_of_row(row: Mapping[str, Any], columns: Columns | None) -> Iterator[GraphNode | GraphEdge]:
    """Yield the nodes and edges in a row of a query: as values, in paths, lists and maps, or by its columns.

    Parameters
    ----------
    columns
        The columns of source, relation and target; the ends may be nodes.

    Raises
    ------
    InputError
        The row lacks one of the columns.
    """
    found = list(_parts(list(row.values())))
    yield from (part for part in found if isinstance(part, GraphNode))
    if columns is None and found:
        yield from (part for part in found if isinstance(part, GraphEdge))
        return
    if columns is None and (edge := _edge_columns(list(row))):
        columns = edge.source, edge.relation or "", edge.target
    if columns is None:
        return
    for one in columns:
        if one and one not in row:
            raise _unknown_column(one, list(row), "--columns")
    source, relation, target = (row.get(one) for one in columns)
    relation = relation.relation if isinstance(relation, GraphEdge) else identifier(relation)
    ends = [end.key if isinstance(end, GraphNode) else identifier(end) for end in (source, target)]
    if ends[0] and ends[1]:
        names = None if isinstance(source, GraphNode) or isinstance(target, GraphNode) else (ends[0], ends[1])
        yield GraphEdge(ends[0], relation, ends[1], {}, names)


def _parts(value: Any) -> Iterator[GraphNode | GraphEdge]:
    if isinstance(value, GraphNode | GraphEdge):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        yield from _parts(list(value.values()))
