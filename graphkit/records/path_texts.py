"""Paths written as text: ``A -CALLS-> B -IMPORTS-> C``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

#: An arrow. Without spaces around it, only an upper-case relation or brackets tell it from a name with hyphens.
_ARROW = re.compile(
    r"<-\[(?P<back_in>[^\[\]]{1,200})\]-"
    r"|-\[(?P<in>[^\[\]]{1,200})\]->"
    r"|<-(?P<back_plain>[A-Z][A-Z0-9_]*)-"
    r"|-(?P<plain>[A-Z][A-Z0-9_]*)->"
    r"|\s<-(?P<back>[^\s<>\[\]-][^<>\[\]]{0,200}?)-\s"
    r"|\s-(?P<spaced>[^\s<>\[\]-][^<>\[\]]{0,200}?)->\s"
    r"|\s(?P<back_bare><--?)\s"
    r"|\s(?:--?>|→)\s"
)

#: Separates the paths in one text.
_PATHS = re.compile(r"[;\n]")

#: A part of an arrow in a name, where an arrow wasn't understood.
_LEFT = re.compile(r"--?>|<--?(?=\S)|→|\]-|-\[")

FORM = "Write a path as A -CALLS-> B -IMPORTS-> C, with spaces around the arrows."


def steps_of_text(text: str) -> list[dict[str, Any]]:
    """Return the steps of a path that is written as text.

    An arrow may have a relation (``-CALLS->``, ``-[CALLS]->``) or none (``->``), and may point back (``<-CALLS-``).

    Raises
    ------
    ValueError
        The text has no arrow, an arrow lacks an end, or a part of an arrow isn't understood.

    >>> steps_of_text("a -CALLS-> b <-OWNS- c")
    [{'source': 'a', 'target': 'b', 'relation': 'CALLS'}, {'source': 'c', 'target': 'b', 'relation': 'OWNS'}]
    >>> steps_of_text("my-page.ts -> b")
    [{'source': 'my-page.ts', 'target': 'b'}]
    """
    padded = f" {text.strip()} "
    nodes: list[str] = []
    steps: list[dict[str, Any]] = []
    arrows = list(_ARROW.finditer(padded))
    begin = 0
    for arrow in arrows:
        nodes.append(padded[begin : arrow.start()].strip())
        begin = arrow.end()
    nodes.append(padded[begin:].strip())
    if not arrows:
        raise ValueError(f"the path has no arrow: {text.strip()[:60]!r}")
    for node in nodes:
        if not node:
            raise ValueError("an arrow of the path has no name before or behind it")
        if _LEFT.search(node):
            raise ValueError(f"an arrow isn't understood in {node[:60]!r}")
    for place, arrow in enumerate(arrows):
        parts = {name: value for name, value in arrow.groupdict().items() if value is not None}
        ends = nodes[place : place + 2]
        source, target = reversed(ends) if any(name.startswith("back") for name in parts) else ends
        step = {"source": source, "target": target}
        relation = next((value.strip(": ") for name, value in parts.items() if name != "back_bare"), None)
        steps.append({**step, "relation": relation} if relation else step)
    return steps


def has_arrow(text: str) -> bool:
    """Tell whether a text is written as a path.

    >>> has_arrow("a -CALLS-> b"), has_arrow("my-page.ts")
    (True, False)
    """
    return bool(_ARROW.search(f" {text.strip()} ") or _LEFT.search(text))


def paths_of_text(text: str) -> list[dict[str, Any]]:
    """Return the paths in a text, which semicolons or line ends separate. Raises what :func:`steps_of_text` raises.

    >>> len(paths_of_text("a -> b -> c; a -OWNS-> c"))
    2
    """
    return [{"steps": steps_of_text(part)} for part in _PATHS.split(text) if part.strip()]


def text_of_steps(steps: Sequence[tuple[str, str | None, str]]) -> str:
    """Return the text of a path, whose edges may point back.

    >>> text_of_steps([("a", "CALLS", "b"), ("c", "OWNS", "b"), ("x", None, "y")])
    'a -CALLS-> b <-OWNS- c; x -> y'
    """
    text, end = "", None
    for (source, relation, target), after in zip_longest(steps, steps[1:]):
        arrow = f"-{relation}-" if relation else "-"
        if end not in (source, target):
            # The next step shows at which end this one begins.
            onwards = after is None or target in (after[0], after[2]) or source not in (after[0], after[2])
            text, end = f"{text}{'; ' if text else ''}{source if onwards else target}", source if onwards else target
        text, end = (f"{text} {arrow}> {target}", target) if source == end else (f"{text} <{arrow} {source}", source)
    return text
