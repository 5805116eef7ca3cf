"""The declaration of the graph: labels and types of relationships with their properties, as ``cypher/schema.cypher``
states them beside the constraints and indexes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from graphkit.files.assets import cypher_folder
from graphkit.files.texts import read_text

_NODE = re.compile(r"// \(:(?P<name>\w+)\) (?P<meaning>.+)")
_RELATIONSHIP = re.compile(r"// \(:(?P<starts>[\w|]+)\)-\[:(?P<name>\w+)\]->\(:(?P<ends>[\w|]+)\) (?P<meaning>.+)")
_PROPERTY = re.compile(r"//   (?P<name>\w+) (?P<type>[A-Z][A-Z <>]*): (?P<meaning>.+)")
_INDEX = re.compile(r"CREATE (?P<kind>CONSTRAINT|INDEX) .* (?:REQUIRE|ON) \(?(?P<properties>\w+\.\w+(?:, \w+\.\w+)*)")


@dataclass(frozen=True, slots=True)
class GraphProperty:
    """A property with its type, as Cypher names it, and its meaning."""

    name: str
    type: str
    meaning: str


@dataclass(slots=True)
class GraphElement:
    """A label, or a type of relationships between ``starts`` and ``ends``, which are empty for a label.

    ``keys`` are the properties that are unique together, ``indexes`` those that have an index together.
    """

    name: str
    meaning: str
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    properties: list[GraphProperty] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    indexes: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def pattern(self) -> str:
        """The pattern of Cypher that matches it."""
        if not self.starts:
            return f"(:{self.name})"
        return f"(:{'|'.join(self.starts)})-[:{self.name}]->(:{'|'.join(self.ends)})"


def graph_schema() -> list[GraphElement]:
    """Return every label and every type of relationships, in the order of the declaration.

    Between other labels the same type is an element of its own.
    """
    elements: list[GraphElement] = []
    for line in read_text(cypher_folder() / "schema.cypher").splitlines():
        if found := _RELATIONSHIP.fullmatch(line) or _NODE.fullmatch(line):
            parts = found.groupdict(default="")
            starts, ends = (tuple(filter(None, parts.get(side, "").split("|"))) for side in ("starts", "ends"))
            elements.append(GraphElement(parts["name"], parts["meaning"], starts, ends))
        elif found := _PROPERTY.fullmatch(line):
            elements[-1].properties.append(GraphProperty(**found.groupdict()))
        elif found := _INDEX.match(line):
            names = tuple(name.partition(".")[2] for name in found["properties"].split(", "))
            (elements[-1].keys if found["kind"] == "CONSTRAINT" else elements[-1].indexes).append(names)
    return elements
