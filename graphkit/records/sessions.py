"""Sessions: questions that are asked one after another, and what the turns before one walked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphkit.records.models import TraversalStep


def turn_taken(session: str | None, turn: int | None) -> str:
    """Return that an earlier question is this turn of a session, as errors say it."""
    return f"turn {turn} of the session {session!r} is already taken"


def walked_before(turns: Iterable[tuple[Any, Any]]) -> tuple[Any, ...] | None:
    """Return the edges of the traversals of turns, each once a turn; None if a turn's traversal is unknown."""
    found: dict[tuple[Any, ...], TraversalStep] = {}
    for turn, traversal in turns:
        if traversal is None:
            return None
        for step in traversal:
            edge = {name: step.get(name) for name in ("source", "relation", "target")}
            directed = step.get("directed", True)
            found.setdefault((turn, directed, *edge.values()), TraversalStep(**edge, directed=directed, path=turn))
    return tuple(found.values())
