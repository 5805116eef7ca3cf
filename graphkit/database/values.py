"""Convert values of the driver to plain ones: text, numbers, lists and dictionaries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import neo4j

Row = dict[str, object]

_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The nodes and relationships in some values, by the ids that the database gives them.

    A node has plain properties and ``_labels``; a relationship the ids of its ends, and plain properties and ``_type``.
    Ends that no value holds are in ``missing``.
    """

    nodes: dict[str, Row] = field(default_factory=dict)
    relationships: dict[str, tuple[str, str, Row]] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """The ids of ends that aren't among the nodes."""
        ends = {end for start, target, _ in self.relationships.values() for end in (start, target)}
        return sorted(ends - self.nodes.keys())

    def add(self, value: object) -> None:
        """Add the nodes and relationships in a value of the driver."""
        if type(value) in _SCALARS:
            return
        from neo4j.graph import Node, Path, Relationship

        if isinstance(value, Node):
            self.nodes[value.element_id] = plain(value)
        elif isinstance(value, Relationship):
            start, end = (node.element_id if node is not None else "" for node in value.nodes)
            self.relationships[value.element_id] = (start, end, plain(value))
        elif isinstance(value, Path):
            for part in (*value.nodes, *value.relationships):
                self.add(part)
        elif isinstance(value, list | dict):
            for one in value.values() if isinstance(value, dict) else value:
                self.add(one)


def rows(result: neo4j.Result) -> list[Row]:
    """Return the rows of a result as dictionaries of plain values."""
    return [
        {
            name: value if type(value) in _SCALARS else plain(value)
            for name, value in zip(record.keys(), record.values(), strict=True)
        }
        for record in result
    ]


def plain(value: object) -> Any:
    """Return a value of the driver as text, number, list or dictionary."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return {"_labels": sorted(value.labels), **_properties(value)}
    if isinstance(value, Relationship):
        return {"_type": value.type, **_properties(value)}
    if isinstance(value, Path):
        first, *others = value.nodes
        steps, before = [plain(first)], first
        for relationship, node in zip(value.relationships, others, strict=True):
            start = relationship.start_node
            against = start is not None and start.element_id != before.element_id
            steps += [plain(relationship) | ({"_reversed": True} if against else {}), plain(node)]
            before = node
        return steps
    return _plain_other(value)


def _properties(entity: Any) -> Row:
    return {str(name): plain(item) for name, item in entity.items()}


def _plain_other(value: object) -> object:
    for method in ("iso_format", "isoformat"):  # the driver's temporal types, and Python's
        if hasattr(value, method):
            return _iso(str(getattr(value, method)()))
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, tuple | set | frozenset):  # a point is a tuple of its coordinates
        return [plain(item) for item in value]
    return str(value)


def _iso(text: str) -> str:
    """Remove trailing zeros from the seconds, to which the driver always gives nine decimals."""
    return re.sub(r"(\.\d*?)0+(?=$|[Z+-])", lambda found: found.group(1) if len(found.group(1)) > 1 else "", text)
