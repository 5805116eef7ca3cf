"""Queries of others, run over a graph within limits: none writes, and none runs for longer than it may.

A query is refused before it runs if its text or the server's plan shows that it writes, loads a file, or calls what
isn't in a list of procedures and functions that read the graph. What remains runs in a read session, in a transaction
that is never committed. The server ends it at its time limit; if it doesn't, the query is abandoned, and an embedded
server is ended with it.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.database.settings import Settings
from graphkit.database.store import BoundedResult, Store
from graphkit.database.values import plain
from graphkit.errors import DatabaseError, GraphkitError, InputError, ServerLimitError, WriteRefusedError
from graphkit.plugins.cypher.allowed import PROCEDURES, RefusedQueryError, check_plan, check_text
from graphkit.plugins.cypher.dataset_graph import TIMEOUT, DatasetGraph
from graphkit.plugins.cypher.embedded_dialect import UnsupportedQueryError, unsupported
from graphkit.plugins.cypher.kept_outcomes import KeptOutcomes, key_of
from graphkit.plugins.cypher.neo4j_rules import InvalidQueryError
from graphkit.plugins.cypher.outcomes import QueryOutcome

if TYPE_CHECKING:
    from graphkit.plugins.cypher.cypher_text import ParsedQuery

#: Rows of a result that are kept.
MOST_ROWS = 10_000

#: Seconds beyond the time limit after which a query whose server doesn't end it is abandoned.
GRACE = 5.0

#: ``CYPHER 5 planner=cost`` before a query, which the embedded database doesn't read.
_VERSION = re.compile(r"\A\s*CYPHER(?:\s+(?:(\d{1,4})(?:\.\d+)?|\w+\s*=\s*\w+))*\s+(?=[A-Za-z(/])", re.IGNORECASE)
_PREFIX = "the query can't be run: "
_UNTRACED = "the query that traces it failed"
_NOT_TRACED = "only its rows were asked for"


class QueryRunner:
    """Runs queries of others over a graph that it reads by a store.

    Parameters
    ----------
    graph
        The graph of a dataset that the store reads, whose server may be ended and started again.
    timeout
        Seconds that a query may take.
    max_rows
        Rows that are kept of a result.
    id_property
        The property of a node that is its id; a node without it has the id that the database gave it.
    procedures
        Further procedures, and functions of plug-ins, that may run.
    kept
        The outcomes that are known already, which this adds to.
    """

    def __init__(
        self,
        store: Store,
        graph: DatasetGraph | None = None,
        *,
        timeout: float = TIMEOUT,
        max_rows: int = MOST_ROWS,
        id_property: str = "id",
        procedures: Collection[str] = (),
        kept: KeptOutcomes | None = None,
    ) -> None:
        self._store = store
        self._graph = graph
        self._timeout = timeout
        self._max_rows = max_rows
        self._id_property = id_property
        self._allowed = PROCEDURES | {*procedures}
        self._kept = kept
        self._slow: dict[str, QueryOutcome] = {}

    @property
    def id_property(self) -> str:
        """The property of a node that is its id."""
        return self._id_property

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the graph of the dataset lacks."""
        return self._graph.unused if self._graph is not None else ()

    @property
    def store(self) -> Store:
        """The store that reads the graph: another one after its server was ended."""
        return self._store

    def run(
        self, text: str, parameters: Mapping[str, object] | None = None, *, rows_only: bool = False
    ) -> QueryOutcome:
        """Run a query as it stands, if it only reads the graph; its mistakes are part of the outcome.

        Parameters
        ----------
        rows_only
            Leave the walk unknown, unless it is known already: that of a query that finds rows takes a second query.

        Raises
        ------
        DatabaseError
            The server can't be reached.
        """
        given = dict(parameters or {})
        newer: tuple[str, ...] = ()
        if self._graph is not None and (before := _VERSION.match(text)):
            text, newer = text[before.end() :], (before[1],) if int(before[1] or 5) > 5 else ()
        state = self._kept.state(self._store) if self._kept is not None else None
        how = (self._id_property, str(self._max_rows), *sorted(self._allowed), *newer)
        place = self._store.uri if self._graph is None else ""  # its own graph is at any port
        whole, rows = (key_of(self._store, place, text, given, (form, *how)) for form in ("walk", "rows"))
        if (found := self._known(state, whole)) is not None:
            return found
        found = self._known(state, rows)
        if found is not None and (rows_only or not found.executable):
            return found
        key = rows if rows_only else whole
        begin, lasting = time.monotonic(), True
        try:
            check_text(text, self._allowed)
            outcome = found if found is not None else self._result(text, given)
            if not rows_only:
                outcome, lasting = self._traced(text, given, outcome)
        except RefusedQueryError as error:
            outcome = QueryOutcome(executable=False, refused=str(error))
        except WriteRefusedError:
            outcome = QueryOutcome(executable=False, refused="it would write, as the server says")
        except UnsupportedQueryError as error:
            outcome = QueryOutcome(executable=False, unsupported=str(error))
        except InvalidQueryError as error:
            other = f"{error}, but Cypher {newer[0]} may allow it; ask a Neo4j server" if newer else None
            outcome = QueryOutcome(executable=False, error=None if newer else str(error), unsupported=other)
        except InputError as error:
            what = error.what.removeprefix(_PREFIX)
            lacks = unsupported(what, text)
            outcome = QueryOutcome(executable=False, error=None if lacks else what, unsupported=lacks)
        except ServerLimitError as error:
            outcome, lasting = QueryOutcome(executable=False, error=error.what), False
        outcome = replace(outcome, seconds=time.monotonic() - begin)
        if not lasting:  # it may succeed at another time or elsewhere, so only this runner knows it
            self._slow[key] = outcome
        elif self._kept is not None and state is not None and state == self._kept.state(self._store):
            self._kept.put(state, key, outcome)
        return outcome

    def _known(self, state: str | None, key: str) -> QueryOutcome | None:
        """Return the outcome of a query that ran before."""
        if key in self._slow:
            return self._slow[key]
        return self._kept.get(state, key) if self._kept is not None and state is not None else None

    def _result(self, text: str, parameters: Mapping[str, object]) -> QueryOutcome:
        """Return the rows of a query that may run."""
        if not text.strip():
            return QueryOutcome(executable=False, error="the query is empty")
        result = self._answered(text, parameters)
        rows, columns = self._rows(result.rows), tuple(result.columns)
        return QueryOutcome(True, columns=columns, rows=rows, truncated=result.truncated, untraced=_NOT_TRACED)

    def _traced(self, text: str, parameters: Mapping[str, object], found: QueryOutcome) -> tuple[QueryOutcome, bool]:
        """Return an outcome with the walk of the query, and whether it is the same another time."""
        if not found.executable:
            return found, True
        found = replace(found, untraced=None)
        try:
            return self._walked(text, parameters, found), True
        except ServerLimitError as error:
            return replace(found, untraced=f"{_UNTRACED}: {error.what}"), False

    def _walked(self, text: str, parameters: Mapping[str, object], found: QueryOutcome) -> QueryOutcome:
        """Return an outcome with the nodes and edges that the query binds, or why they aren't known."""
        from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, parsed
        from graphkit.plugins.cypher.provenance import Untraceable, traced

        try:
            query = parsed(text)
        except CypherSyntaxError as error:
            return replace(found, untraced=f"graphkit can't read it, although the database can: {error}")
        found = replace(found, ordered=query.ordered)
        if found.truncated:
            return replace(found, untraced=f"its result has more than {self._max_rows} rows")
        try:
            tracing = traced(query)
            if not found.rows:
                return replace(found, nodes=(), edges=())
            again = self._answered(tracing.text, parameters)
        except Untraceable as error:
            return replace(found, untraced=error.reason)
        except ServerLimitError:
            raise
        except (GraphkitError, RefusedQueryError, UnsupportedQueryError, InvalidQueryError) as error:
            what = error.what if isinstance(error, GraphkitError) else str(error)
            return replace(found, untraced=f"{_UNTRACED}: {what.removeprefix(_PREFIX)}")
        if again.truncated:
            return replace(found, untraced=f"more than {self._max_rows} rows lead to its result")
        returned = self._rows(tracing.results(again.rows))
        if _bag(returned) != _bag(found.rows):
            if len(returned) != len(found.rows) or not _takes_some(query):
                return replace(found, untraced="the query that traces it returns other rows")
            # Which rows LIMIT takes of unordered ones is left to the server: these are those that were traced.
            found = replace(found, rows=returned)
        bound = tracing.collect(again.rows)
        ids = {key: self._id(key, properties) for key, properties in bound.nodes.items()}
        edges = {
            (ids.get(source, source), str(properties["_type"]), ids.get(target, target))
            for source, target, properties in bound.edges.values()
        }
        return replace(found, nodes=tuple(sorted({*ids.values()})), edges=tuple(sorted(edges)))

    def _rows(self, rows: Iterable[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(self._plain(value) for value in row) for row in rows)

    def _answered(self, text: str, parameters: Mapping[str, object]) -> BoundedResult:
        """Return what the server answers; after its death ask the next one, once."""
        try:
            return self._within(text, parameters)
        except (InputError, ServerLimitError, WriteRefusedError):
            self._revive()
            raise
        except DatabaseError as error:
            if not self._revive_dying():
                raise InputError(error.what) from error
        try:
            return self._within(text, parameters)
        except DatabaseError as error:
            if self._revive_dying():
                raise ServerLimitError("the database stopped twice while the query ran") from error
            raise

    def _revive(self) -> bool:
        """Open the graph again if its server has died, and return whether it had."""
        if self._graph is None or self._graph.serves(self._store):
            return False
        self._store.close()
        self._store = self._graph.open()
        return True

    def _revive_dying(self) -> bool:
        """Open the graph again also if its server still runs, for a moment, after it has dropped its connections.

        Raises
        ------
        DatabaseError
            There is no server, and none can be started.
        """
        if self._revive():
            return True
        try:
            self._store.read("RETURN 1")
        except DatabaseError:
            if not self._revive():
                raise
            return True
        return False

    def _within(self, text: str, parameters: Mapping[str, object]) -> BoundedResult:
        """Return what the server answers within the time; the query runs in a thread of its own, which may be left.

        A query that the server doesn't end is left to it, and an embedded server is ended.
        """
        done = threading.Event()
        found: list[BoundedResult | BaseException] = []

        def ask() -> None:
            try:
                check = partial(check_plan, text=text, allowed=self._allowed)
                found.append(self._store.query_within(text, parameters, self._max_rows, check))
            except BaseException as error:  # raised where it is awaited
                found.append(error)
            done.set()

        threading.Thread(target=ask, daemon=True, name="query").start()
        if not done.wait(self._timeout + GRACE):
            if self._graph is not None:
                self._graph.end_server()
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
        return self._id(node.element_id, node)

    def _id(self, key: str, properties: Mapping[str, Any]) -> str:
        own = properties.get(self._id_property)
        return key if own is None else str(own)


@contextlib.contextmanager
def query_runner(
    graph: DatasetGraph | Settings,
    home: Path | None = None,
    *,
    timeout: float = TIMEOUT,
    max_rows: int = MOST_ROWS,
    id_property: str = "id",
    procedures: Collection[str] = (),
) -> Iterator[QueryRunner]:
    """Open a graph for queries of others: that of a dataset, or that of a server, which is only read.

    Parameters
    ----------
    home
        The folder of graphkit, in which outcomes are kept; that of the environment by default.

    Raises
    ------
    DatabaseError
        The server can't be reached, or it can't refuse writes.
    """
    if isinstance(graph, DatasetGraph):
        kept, own, store = KeptOutcomes(graph.folder / "outcomes.sqlite", graph.digest), graph, graph.open()
    else:
        folder = (home or Settings.resolve().data) / "graphs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store, own = Store.open(replace(graph, timeout=timeout), read_only=True), None
        try:
            store.query_within("RETURN 1", {}, 1, lambda _: None)  # else each query would fail for the server's sake
        except BaseException:
            store.close()
            raise
        kept = KeptOutcomes(folder / "outcomes.sqlite")
    runner = QueryRunner(
        store, own, kept=kept, timeout=timeout, max_rows=max_rows, id_property=id_property, procedures=procedures
    )
    try:
        yield runner
    finally:
        kept.close()
        runner.store.close()


def _bag(rows: Iterable[Sequence[Any]]) -> Counter[str]:
    """Return the rows for comparison: in no order, nor are lists, since the order of collect() is the server's."""
    return Counter(repr([_canonical(value) for value in row]) for row in rows)


def _canonical(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return sorted((_canonical(one) for one in value), key=repr)
    if isinstance(value, dict):
        return sorted((key, _canonical(one)) for key, one in value.items())
    return value


def _takes_some(query: ParsedQuery) -> bool:
    """Return whether a query takes some of its rows, in an order that may be the server's."""
    return re.search(r"\b(?:LIMIT|SKIP|OFFSET)\b|\[", query.text, re.IGNORECASE) is not None
