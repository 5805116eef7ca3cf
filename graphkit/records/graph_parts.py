"""The nodes and edges of another program's graph, before they become artifacts and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = {}


class GraphNode(NamedTuple):
    """A node of a graph.

    Attributes
    ----------
    key
        The name that edges use.
    name
        The name in its graph, unless it is the elementId of a database.
    """

    key: str
    name: str | None = None
    labels: tuple[str, ...] = ()
    properties: Mapping[str, Any] = _NOTHING


class GraphEdge(NamedTuple):
    """An edge of a graph, by the keys of its ends.

    Attributes
    ----------
    names
        The names of its ends, for ends that no node describes. An edge without them waits for its nodes.
    """

    source: str
    relation: str | None
    target: str
    properties: Mapping[str, Any] = _NOTHING
    names: tuple[str, str] | None = None
