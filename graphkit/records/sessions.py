"""Sessions: questions that are asked one after another, each with what the turns before it walked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def checked_turn(question: Any) -> None:
    """Refuse the place of a question in its session, or a gold path that begins in no earlier turn, by a ValueError."""
    turn = question.turn
    if turn is not None and question.session is None:
        raise ValueError("a turn needs the session that it belongs to")
    for path in question.paths:
        if path.from_turn is not None and path.from_turn >= (turn or 1):
            of = "has no turn" if turn is None else f"is turn {turn}"
            raise ValueError(f"from_turn must name an earlier turn: it is {path.from_turn}, and the question {of}")


def walked_before(turns: Iterable[tuple[Any, Any]]) -> tuple[Any, ...] | None:
    """Return the edges of the traversals of turns, each once a turn; None if a turn's traversal is unknown."""
    from graphkit.records.models import TraversalStep

    found: dict[tuple[Any, ...], TraversalStep] = {}
    for turn, traversal in turns:
        if traversal is None:
            return None
        for step in traversal:
            edge = {name: step.get(name) for name in ("source", "relation", "target")}
            directed = step.get("directed", True)
            found.setdefault((turn, directed, *edge.values()), TraversalStep(**edge, directed=directed, path=turn))
    return tuple(found.values())
