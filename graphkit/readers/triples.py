"""Edges within documents: in metadata, where users put them, and in texts as LlamaIndex writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphkit.readers.graph_names import EDGES, edge_of
from graphkit.readers.logged import LoggedEdge

#: The keys of metadata that hold edges.
KEYS = EDGES

_PREAMBLE = "Here are some facts extracted from the provided text:"
_ARROW = " -> "


@dataclass(slots=True)
class FoundEdges:
    """The edges of a document, and what is doubtful about them."""

    edges: list[LoggedEdge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def edges_of_metadata(metadata: Any) -> FoundEdges | None:
    """Return the edges that metadata hold, or None where they have no list of them."""
    if not isinstance(metadata, dict):
        return None
    held = next((metadata[key] for key in KEYS if isinstance(metadata.get(key), list)), None)
    if held is None:
        return None
    found = FoundEdges()
    for one in held:
        edge = edge_of(one)
        if edge is None:
            found.notes.append("an entry of the metadata's edges has no source or no target, and was left out")
        else:
            found.edges.append(edge)
    return found


def edges_of_text(content: str | None) -> FoundEdges | None:
    """Return the edges that LlamaIndex wrote into the text of a node, or None where it has none.

    A node is one ``A -> REL -> B``; with its source text it is a preamble, such lines, and the text behind a blank one.
    """
    if content is None:
        return None
    if content.startswith(_PREAMBLE):
        lines = content[len(_PREAMBLE) :].lstrip("\n").partition("\n\n")[0].split("\n")
    elif "\n" not in content and content.count(_ARROW) == 2:
        lines = [content]
    else:
        return None
    found = FoundEdges()
    for line in lines:
        ends = line.split(_ARROW)
        if len(ends) == 3 and all(ends):
            found.edges.append(LoggedEdge(ends[0], ends[1], ends[2]))
        elif line:
            found.notes.append("a line of a document's edges isn't A -> RELATION -> B, and was left out")
    return found
