"""The nodes and edges of somebody else's graph, as it calls them, before they are artifacts and edges of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = {}


class GraphNode(NamedTuple):
    """A node of a graph.

    Attributes
    ----------
    key
        What edges call it by.
    name
        What its graph calls it by, where that is worth keeping: the elementId of a database isn't.
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
        The names of its ends, for those that no node has described. Without them such an edge waits for its nodes.
    """

    source: str
    relation: str | None
    target: str
    properties: Mapping[str, Any] = _NOTHING
    names: tuple[str, str] | None = None
