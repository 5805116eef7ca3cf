"""Common keys of nodes and edges in logs of graphs, whatever their case, and columns of rows that hold an edge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from graphkit.readers.accounting import renamed
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedEdge

#: The properties that name a node, the most specific first, without case and ``_``.
NAMES = (
    *("id", "qname", "qualifiedname", "fqn", "uid", "uri", "iri", "key", "nodeid", "entityid", "docid"),
    *("name", "title"),
)
ELEMENT_IDS = ("elementid", "eid")
COMMITS = ("commit", "commitsha", "commitid", "sha", "revision", "version")
ENDS = (
    *(("source", "target"), ("s", "o"), ("s", "t"), ("subject", "object"), ("head", "tail"), ("start", "end")),
    *(("from", "to"), ("src", "dst"), ("src", "tgt"), ("srcid", "tgtid"), ("sourceid", "targetid")),
    *(("startnode", "endnode"), ("startid", "endid")),
)
RELATIONS = (
    *("relation", "type", "rel", "relationship", "predicate", "reltype", "relationtype", "relationshiptype"),
    *("label", "edge", "r", "p", "t"),
)

_RELATION_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_ELEMENT_ID = re.compile(r"\d+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:\d+")


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a key without its case and ``_``."""
    return name.replace("_", "").lower()


def first_of(properties: Mapping[str, Any], names: Iterable[str]) -> tuple[str | None, Any]:
    """Return the first of some plain names whose value isn't null, as the key is spelled, with the value."""
    held: dict[str, str] = {}
    for key, value in dict.items(properties) if isinstance(properties, dict) else properties.items():
        if value is not None:
            held.setdefault(plain(key), key)
    found = next((held[name] for name in names if name in held), None)
    return found, None if found is None else properties[found]


def name_of(properties: Mapping[str, Any]) -> str | None:
    """Return the name of a node among its properties; its elementId only if there is no other.

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
    """Return whether a name is Neo4j's own id of a node."""
    return _ELEMENT_ID.fullmatch(name) is not None


def edge_of(value: Any) -> LoggedEdge | None:
    """Return the edge that a map with common keys or a list holds, or None.

    >>> edge_of({"s": "a", "t": "CALLS", "o": "b"}) == edge_of(["a", "CALLS", "b"])
    True
    """
    if isinstance(value, list | tuple):
        ends = [end_of(part) for part in value]
        if len(ends) == 2 and ends[0] and ends[1]:
            return LoggedEdge(ends[0], None, ends[1])
        if len(ends) == 3 and ends[0] and ends[2] and isinstance(value[1], str | None):
            return LoggedEdge(ends[0], value[1], ends[2])
        return None
    if not isinstance(value, Mapping):
        return None
    held = renamed(value, plain) if isinstance(value, dict) else {plain(key): part for key, part in value.items()}
    for start, end in ENDS:
        source, target = end_of(held.get(start)), end_of(held.get(end))
        if source and target:
            relations = (held[name] for name in RELATIONS if name in held and name not in (start, end))
            return LoggedEdge(source, next(filter(None, map(text, relations)), None), target)
    return None


def end_of(value: Any) -> str | None:
    """Return the name of the end of an edge: from a node's properties, or an id."""
    return name_of(value) if isinstance(value, Mapping) else identifier(value)


def is_relation_type(value: Any) -> bool:
    """Return whether a value is a relation in capitals, as types of relationships are by custom."""
    return isinstance(value, str) and _RELATION_TYPE.fullmatch(value) is not None
