"""Reads GraphML of networkx, Gephi, yEd and APOC as a stream.

networkx holds a file twice in memory, as a document and as a graph. This module uses expat, and refuses entities, which
let a small file expand to a very large one or name other files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from graphkit.errors import InputError
from graphkit.files.jsonl import MAX_LINE, open_binary, read_block
from graphkit.records.graph_parts import GraphEdge, GraphNode
from graphkit.records.words import shortened

#: The elements whose text is a value. yEd writes names in the last two.
_TEXTS = {"data", "default", "NodeLabel", "EdgeLabel"}

#: The attributes of a node's or an edge's element that aren't properties.
_OWN = {"id", "source", "target", "directed", "sourceport", "targetport", "labels"}


@dataclass(slots=True)
class _Open:
    """An open node, edge or key."""

    kind: str
    attributes: Mapping[str, str]
    properties: dict[str, Any] = field(default_factory=dict)


class _GraphmlHandler:
    """Handles the events of the parser, and keeps complete nodes and edges until they are fetched."""

    def __init__(self, unread: Counter[str], notes: Counter[str], line: Callable[[], int]) -> None:
        self.parts: list[GraphNode | GraphEdge] = []
        self.root: str | None = None
        self._unread = unread
        self._notes = notes
        self._names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._open: list[_Open] = []
        self._undirected: list[bool] = []
        self._key: str | None = None
        self._text: list[str] | None = None
        self._size = 0
        self._line = line
        self._nodes: set[str] = set()
        self._awaited: dict[str, int] = {}

    def missing(self) -> tuple[str, int] | None:
        """Return the first node that only an edge names, with the line of the edge."""
        return next(((node, line) for node, line in self._awaited.items() if node not in self._nodes), None)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if self.root is None:
            self.root = name
        if name in ("node", "edge", "key"):
            self._open.append(_Open(name, attributes))
            if name == "node":
                self._nodes.add(attributes.get("id", ""))
            elif name == "edge":
                self._await(attributes)
        elif name == "graph":
            self._undirected.append(attributes.get("edgedefault") == "undirected")
        elif name == "hyperedge":
            self._unread["hyperedges"] += 1
        if name in _TEXTS:
            self._key = attributes.get("key") if name == "data" else self._key
            self._text, self._size = [], 0

    def _await(self, edge: Mapping[str, str]) -> None:
        """Note the ends of an edge without a node so far, since nodes may follow their edges."""
        for end in ("source", "target"):
            if (node := edge.get(end, "")) not in self._nodes:
                self._awaited.setdefault(node, self._line())

    def characters(self, text: str) -> None:
        if self._text is not None:
            self._size += len(text)
            if self._size > MAX_LINE:
                raise _TooLongError
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name in _TEXTS and self._text is not None:
            self._value(name, "".join(self._text).strip())
            self._text = None
        elif name == "graph" and self._undirected:
            self._undirected.pop()
        elif name in ("node", "edge", "key") and self._open:
            self._close(self._open.pop())

    def _value(self, name: str, text: str) -> None:
        holder = self._open[-1] if self._open else None
        if holder is None or not text:
            return
        if name == "default":
            holder.properties["default"] = text
        elif name == "data":
            holder.properties[self._names.get(self._key or "", self._key or "")] = text
        else:
            holder.properties.setdefault("label", text)

    def _close(self, part: _Open) -> None:
        own = part.attributes
        if part.kind == "key":
            name = own.get("attr.name") or own.get("id", "")
            self._names[own.get("id", "")] = name
            if "default" in part.properties:
                for domain in ("node", "edge"):
                    if own.get("for", "all") in (domain, "all"):
                        self._defaults[domain][name] = part.properties["default"]
            return
        more = {key: value for key, value in own.items() if key not in _OWN}
        properties = {**self._defaults[part.kind], **more, **part.properties}
        if part.kind == "node":
            labels = tuple(filter(None, own.get("labels", "").split(":")))
            self.parts.append(GraphNode(own.get("id", ""), own.get("id"), labels, properties))
            return
        directed = own.get("directed")
        if directed == "false" or (directed is None and any(self._undirected[-1:])):
            self._notes["edges without a direction, kept as they are written, source first"] += 1
        self.parts.append(GraphEdge(own.get("source", ""), None, own.get("target", ""), properties))


class _TooLongError(Exception):
    """A value is too long."""


class _EntityError(Exception):
    """The file declares an entity."""


def read_graphml(path: Path, unread: Counter[str], notes: Counter[str]) -> Iterator[GraphNode | GraphEdge]:
    """Yield the nodes and edges of a file in order.

    Parameters
    ----------
    unread, notes
        Counters for unread elements and for notes.

    Raises
    ------
    InputError
        The file isn't GraphML, is damaged, declares entities, or has an edge without its node.
    """

    def entity(*_: Any) -> int:
        raise _EntityError

    parser = expat.ParserCreate()
    handler = _GraphmlHandler(unread, notes, lambda: parser.CurrentLineNumber)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = handler.start, handler.end
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = entity
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    with open_binary(path) as stream:
        block = b"-"
        while block:
            block = read_block(stream, path, parser.CurrentLineNumber - 1)
            try:
                parser.Parse(block, not block)
            except expat.ExpatError as error:
                what = f"this isn't XML: {expat.ErrorString(error.code)}"
                raise InputError(what, where=f"{path}:{error.lineno}", remedy="Write the file anew.") from None
            except _EntityError:
                what = "the file declares an entity, which GraphML doesn't need and which can exhaust the memory"
                where = f"{path}:{parser.CurrentLineNumber}"
                raise InputError(what, where=where, remedy="Write it without a DOCTYPE.") from None
            except _TooLongError:
                what = f"a value is longer than {MAX_LINE >> 20} MiB"
                raise InputError(what, where=f"{path}:{parser.CurrentLineNumber}") from None
            if handler.root not in ("graphml", None):
                what = f"this XML isn't GraphML: it begins with <{handler.root}>"
                raise InputError(what, where=str(path), remedy="networkx.write_graphml writes it.")
            yield from handler.parts
            handler.parts.clear()
    if (missing := handler.missing()) is not None:
        node, line = missing
        what = f"the edge names the node {shortened(node)!r}, which the file lacks" if node else "the edge lacks an end"
        raise InputError(what, where=f"{path}:{line}", remedy="Write the file anew, with all nodes of its edges.")
