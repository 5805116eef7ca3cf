"""The outcome of a query over a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The outcome of a query.

    Attributes
    ----------
    executable
        Whether it ran to its end: neither refused, nor in error.
    refused
        Why it didn't run, since it would do more than read the graph; else None.
    error
        Why it isn't valid, or failed; else None.
    unsupported
        Why the database can't tell what it finds, although it may be right; it then isn't executable, nor in error.
    columns, rows
        Its result: lists of plain values, a node as the dictionary of its properties, ``_id`` and ``_labels``, a
        relationship as that of its properties, ``_source``, ``_type`` and ``_target``, a path as a list of both.
    ordered
        Whether the query orders its rows.
    truncated
        Whether it has more rows than are kept.
    nodes, edges
        The ids of nodes, and the edges (source, relation, target), that its patterns bind in the rows of the result;
        None if that isn't known.
    untraced
        Why it isn't known.
    seconds
        How long it took.
    """

    executable: bool
    refused: str | None = None
    error: str | None = None
    unsupported: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    ordered: bool = False
    truncated: bool = False
    nodes: tuple[str, ...] | None = None
    edges: tuple[tuple[str, str, str], ...] | None = None
    untraced: str | None = None
    seconds: float = 0.0
