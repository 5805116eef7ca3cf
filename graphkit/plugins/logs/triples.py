"""Edges within documents: in metadata, where users put them, and in texts as LlamaIndex and queries write them.

A node of LlamaIndex is one ``A -> REL -> B``. With the text of its source it is a preamble, a line for each edge, an
empty line, and that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.graph_columns import EDGES, is_null_edge
from graphkit.readers.graph_names import edge_of
from graphkit.readers.logged import LoggedEdge

#: The keys of metadata that hold edges.
KEYS = EDGES

_PREAMBLE = "Here are some facts extracted from the provided text:"
_ARROW = " -> "
_ABOVE_EDGES = 4  # lines of a preamble of the user's own

AMBIGUOUS = (
    "edges whose names hold ' -> ' can be split in several ways; of these the one whose relation is known counts"
)
UNSPLIT = "edges whose names hold ' -> ' can be split in several ways, and are skipped"
NOT_EDGES = "lines among the edges of a text aren't edges (names with line breaks?), and are skipped"
OWN_PREAMBLE = "edges stand at the head of texts that don't begin as LlamaIndex's do by default"
JOINED_EDGES = "edges were read from lines of text such as A - REL -> B, which a query joined"
NOT_AN_EDGE = "an entry of the metadata's edges has no source or no target, and was skipped"


@dataclass(slots=True)
class SplitText:
    """A text, and the edges that it is or begins with.

    Attributes
    ----------
    text
        The text after the edges; None if there is none.
    parts
        Each edge split at its arrows: three parts, or more if a name contains an arrow.
    alone
        Whether the text is only one edge.
    """

    text: str | None
    parts: list[list[str]] = field(default_factory=list)
    alone: bool = False


def split_text(content: str, notes: set[str]) -> SplitText:
    """Return a text apart from the edges that it begins with below LlamaIndex's preamble, or that it is."""
    if content.startswith(_PREAMBLE):
        block, _, rest = content.removeprefix(_PREAMBLE).lstrip().partition("\n\n")
        lines = [(line, parts_of(line)) for line in block.split("\n")]
        if any(parts is None and line.strip() for line, parts in lines):
            notes.add(NOT_EDGES)
        return SplitText(rest or None, [parts for _, parts in lines if parts is not None])
    if "\n" not in content and (parts := parts_of(content)) is not None:
        return SplitText(content, [parts], alone=True)
    return SplitText(content or None)


def split_own_preambles(texts: list[SplitText], notes: set[str]) -> None:
    """Split edges from the heads of texts below another preamble or none, if each of the texts has some.

    One text of many that begins with arrows is prose.
    """
    heads = [_edges_at_head(one.text or "") for one in texts]
    for one, head in zip(texts, heads, strict=True):
        if head is not None and all(heads):
            one.parts, rest = head
            one.text = rest or None
            notes.add(OWN_PREAMBLE)


def _edges_at_head(content: str) -> tuple[list[list[str]], str] | None:
    """Return the edges of a text's first or second paragraph, and the text after an empty line."""
    *paragraphs, last = content.split("\n\n", 2)
    for place, paragraph in enumerate(paragraphs):
        split = [parts_of(line) for line in paragraph.split("\n")]
        first = next((index for index, parts in enumerate(split) if parts is not None), _ABOVE_EDGES)
        edges = [parts for parts in split[first:] if parts is not None]
        if edges and first < _ABOVE_EDGES and len(edges) == len(split) - first:
            return edges, "\n\n".join([*paragraphs[place + 1 :], last])
    return None


def parts_of(line: str) -> list[str] | None:
    """Return a text split at its arrows, without the properties in parentheses, or None if it is no edge.

    >>> parts_of("Ann -> KNOWS -> Bob"), parts_of("a -> b")
    (['Ann', 'KNOWS', 'Bob'], None)
    >>> parts_of("Ann ({'a': 'x -> y'}) -> KNOWS -> Bob ({'b': 1})")
    ['Ann', 'KNOWS', 'Bob']
    """
    parts: list[str] = []
    opened: list[str] = []  # of properties whose values hold arrows themselves
    for piece in line.split(_ARROW):
        opened.append(piece)
        if (len(opened) > 1 or " ({" in piece) and not piece.endswith("})"):
            continue
        name = _ARROW.join(opened)
        parts.append(name[: name.index(" ({")].strip() if name.endswith("})") and " ({" in name else name.strip())
        opened = []
    return parts if len(parts) >= 3 and not opened and all(parts) else None


def relations_in(texts: list[SplitText]) -> set[str]:
    """Return the relations of the edges that can be split in one way only."""
    return {parts[1] for one in texts for parts in one.parts if len(parts) == 3}


def edges_in(split: SplitText, relations: set[str], notes: set[str]) -> list[LoggedEdge]:
    """Return the edges of a text; where names hold arrows, those with a relation that other edges have."""
    found = (_edge(parts, relations, notes) for parts in split.parts)
    return [edge for edge in found if edge is not None]


def _edge(parts: list[str], relations: set[str], notes: set[str]) -> LoggedEdge | None:
    if len(parts) == 3:
        return LoggedEdge(parts[0], parts[1], parts[2])
    at_relation = [index for index in range(1, len(parts) - 1) if parts[index] in relations]
    if len(at_relation) != 1:
        notes.add(UNSPLIT)
        return None
    notes.add(AMBIGUOUS)
    index = at_relation[0]
    return LoggedEdge(_ARROW.join(parts[:index]), parts[index], _ARROW.join(parts[index + 1 :]))


def edges_of_metadata(metadata: Any, notes: set[str]) -> list[LoggedEdge] | None:
    """Return the edges that metadata hold; None if they have no list of edges, or none of it can be read."""
    if not isinstance(metadata, dict):
        return None
    held = next((metadata[key] for key in KEYS if isinstance(metadata.get(key), list)), None)
    if held is None:
        return None
    held = [one for one in held if not is_null_edge(one)]
    edges = [edge_of(one) for one in held]
    if None in edges:
        notes.add(NOT_AN_EDGE)
    found = [edge for edge in edges if edge is not None]
    return found if found or not held else None


#: A relation is in capitals, as Neo4j's are by custom, so that prose with arrows isn't taken for edges. What stands in
#: brackets behind it are properties of the edge.
_RELATION = r"(?P<relation>[A-Z][A-Z0-9_]*)(?: ?[({][^\n]*?[)}])?"
_FORMS = (
    re.compile(rf"(?P<start>\S[^\n]*?) -(?: |->? )?{_RELATION} ?-?> (?P<end>\S[^\n]*)"),  # A - REL -> B, A -> REL -> B
    re.compile(rf"\(?(?P<start>[^\s()][^\n()]*)\)? ?-\[(?:\w*:)?{_RELATION}\]-> ?\(?(?P<end>[^\s()][^\n()]*)\)?"),
    re.compile(rf"\(?(?P<end>[^\s()][^\n()]*)\)? ?<-\[(?:\w*:)?{_RELATION}\]- ?\(?(?P<start>[^\s()][^\n()]*)\)?"),
)

#: The longest line that is looked at: names are no longer, and prose isn't searched for long.
_LONGEST = 2_000


def edges_of_lines(text: str) -> Iterator[LoggedEdge]:
    """Yield the edge of each line that consists of one.

    >>> [(edge.source, edge.relation, edge.target) for edge in edges_of_lines("a - CALLS(x) -> b\\nSo it goes -> on.")]
    [('a', 'CALLS', 'b')]
    """
    for line in text.splitlines():
        line = line.strip().removeprefix("- ").strip()
        if len(line) > _LONGEST or not ("->" in line or "<-" in line):
            continue
        match = next(filter(None, (form.fullmatch(line) for form in _FORMS)), None)
        if match is not None and "->" not in match["end"]:
            yield LoggedEdge(match["start"].strip(), match["relation"], match["end"].strip())


def facts_in(text: str) -> tuple[list[str], list[LoggedEdge]] | None:
    """Return the few lines that a text begins with and the edges that all others are, or None.

    >>> above, edges = facts_in("web:a#f\\nweb:a#f - CALLS -> web:b#g")
    >>> above, [(edge.source, edge.relation, edge.target) for edge in edges]
    (['web:a#f'], [('web:a#f', 'CALLS', 'web:b#g')])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()] if "->" in text or "<-" in text else []
    found = [next(edges_of_lines(line), None) for line in lines]
    first = next((place for place, edge in enumerate(found) if edge is not None), _ABOVE_EDGES)
    edges = [edge for edge in found[first:] if edge is not None]
    return (lines[:first], edges) if first < _ABOVE_EDGES and len(edges) == len(found) - first else None
