"""Queries of others, run over a graph within limits: none writes, and none runs for longer than it may.

A query is refused before it runs if its text or the server's plan shows that it writes, loads a file, or calls what
isn't in a list of procedures and functions that read the graph. What remains runs in a read session, in a transaction
that is never committed. The server ends it at its time limit; if it doesn't, the query is abandoned, and an embedded
server is ended with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphkit.database.store import BoundedResult, Store
from graphkit.database.values import plain
from graphkit.errors import InputError, ServerLimitError, WriteRefusedError
from graphkit.plugins.cypher.allowed import PROCEDURES, RefusedQueryError, check_plan, check_text
from graphkit.plugins.cypher.dataset_graph import TIMEOUT

#: Rows of a result that are kept.
MOST_ROWS = 10_000

#: Seconds beyond the time limit after which a query whose server doesn't end it is abandoned.
GRACE = 5.0

_PREFIX = "the query can't be run: "


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What came of a query.

    Attributes
    ----------
    executable
        Whether it ran to its end: neither refused, nor in error.
    refused
        Why it didn't run, since it would do more than read the graph; else None.
    error
        Why it isn't valid, or failed; else None.
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
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    ordered: bool = False
    truncated: bool = False
    nodes: tuple[str, ...] | None = None
    edges: tuple[tuple[str, str, str], ...] | None = None
    untraced: str | None = None
    seconds: float = 0.0


class QueryRunner:
    """Runs queries of others over a graph that it reads by a store.

    Parameters
    ----------
    timeout
        Seconds that a query may take.
    max_rows
        Rows that are kept of a result.
    id_property
        The property of a node that is its id; a node without it has the id that the database gave it.
    procedures
        Further procedures, and functions of plug-ins, that may run.
    """

    def __init__(
        self,
        store: Store,
        *,
        timeout: float = TIMEOUT,
        max_rows: int = MOST_ROWS,
        id_property: str = "id",
        procedures: Collection[str] = (),
    ) -> None:
        self._store = store
        self._timeout = timeout
        self._max_rows = max_rows
        self._id_property = id_property
        self._allowed = PROCEDURES | {*procedures}

    def run(self, text: str, parameters: Mapping[str, object] | None = None) -> QueryOutcome:
        """Run a query, if it only reads the graph; its mistakes are part of the outcome.

        Raises
        ------
        DatabaseError
            The server can't be reached.
        """
        begin = time.monotonic()

        def outcome(**found: Any) -> QueryOutcome:
            return QueryOutcome(seconds=time.monotonic() - begin, **found)

        try:
            check_text(text, self._allowed)
            result = self._answered(text, dict(parameters or {}))
        except (RefusedQueryError, WriteRefusedError) as error:
            return outcome(executable=False, refused=error.what if isinstance(error, WriteRefusedError) else str(error))
        except (InputError, ServerLimitError) as error:
            return outcome(executable=False, error=error.what.removeprefix(_PREFIX))
        rows = tuple(tuple(self._plain(value) for value in row) for row in result.rows)
        return outcome(executable=True, columns=tuple(result.columns), rows=rows, truncated=result.truncated)

    def _answered(self, text: str, parameters: Mapping[str, object]) -> BoundedResult:
        """Return what the server answers within the time; the query runs in a thread of its own, which may be left.

        A query that the server doesn't end is left to it, and an embedded server is ended.
        """
        done = threading.Event()
        found: list[BoundedResult | BaseException] = []

        def ask() -> None:
            try:
                check = partial(check_plan, allowed=self._allowed)
                found.append(self._store.query_within(text, parameters, self._max_rows, check))
            except BaseException as error:  # raised where it is awaited
                found.append(error)
            done.set()

        threading.Thread(target=ask, daemon=True, name="query").start()
        if not done.wait(self._timeout + GRACE):
            raise ServerLimitError(f"the server didn't end the query within {self._timeout:g} seconds")
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    def _plain(self, value: Any) -> Any:
        """Return a value of the driver as a plain one, in which nodes and relationships have their ids."""
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            return [self._plain(one) for one in value]
        if isinstance(value, dict):
            return {str(key): self._plain(one) for key, one in value.items()}
        if hasattr(value, "relationships") and hasattr(value, "nodes"):
            first, *others = value.nodes
            steps = zip(value.relationships, others, strict=True)
            return [self._plain(first), *(self._plain(part) for step in steps for part in step)]
        if hasattr(value, "element_id"):
            if hasattr(value, "labels"):
                return {"_id": self.node_id(value), **plain(value)}
            source, target = map(self.node_id, value.nodes)
            return {"_source": source, **plain(value), "_target": target}
        return plain(value)

    def node_id(self, node: Any) -> str:
        """Return the id of a node of the driver."""
        own = node.get(self._id_property)
        return str(own if own is not None else node.element_id)
