"""Edges in the lines of a text, as queries join them for a model: ``A - REL -> B``, ``A -> REL -> B`` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphkit.readers.logged import LoggedEdge

#: A relation is in capitals, as Neo4j's are by custom, so that prose with arrows isn't taken for edges. What stands in
#: brackets behind it are properties of the edge.
_RELATION = r"(?P<relation>[A-Z][A-Z0-9_]*)(?: ?[({][^\n]*?[)}])?"
_FORMS = (
    re.compile(rf"(?P<start>\S[^\n]*?) -(?: |->? )?{_RELATION} ?-?> (?P<end>\S[^\n]*)"),  # A - REL -> B, A -> REL -> B
    re.compile(rf"\(?(?P<start>[^\s()][^\n()]*)\)? ?-\[\w*:?{_RELATION}\]-> ?\(?(?P<end>[^\s()][^\n()]*)\)?"),
    re.compile(rf"\(?(?P<end>[^\s()][^\n()]*)\)? ?<-\[\w*:?{_RELATION}\]- ?\(?(?P<start>[^\s()][^\n()]*)\)?"),
)

#: The longest line that is looked at: names are no longer, and prose isn't searched for long.
_LONGEST = 2_000


def edges_of_lines(text: str) -> Iterator[LoggedEdge]:
    """Yield the edge of each line that is one and nothing else.

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
