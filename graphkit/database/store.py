"""The open graph database: ``Store`` reads and writes, whichever database it is.

``dialects`` holds the differences between databases, and ``access`` those between the ways to reach them.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from graphkit.database.access import Access, Waiting, access_to, unseen
from graphkit.database.dialects import KnownDialect, recognized
from graphkit.database.driver import agent_of, connected, driver_errors, session_of
from graphkit.database.messages import translated, write_refused
from graphkit.database.outside import explaining, refuse_outside
from graphkit.database.settings import Settings, query_timeout
from graphkit.database.values import Row, Subgraph, plain, rows
from graphkit.errors import DatabaseError, GraphkitError, InputError

if TYPE_CHECKING:
    import neo4j

Parameters = Mapping[str, object]
_T = TypeVar("_T")

CONFLICT_SECONDS = 60.0  # how long to retry a write that conflicts with another writer
_UNIQUENESS_RETRIES = 6
#: Finds the ends of relationships that a query returned without them.
_ENDS = "UNWIND $ids AS id MATCH (n) WHERE elementId(n) = id RETURN n AS node"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 2.0  # seconds


class Explained(NamedTuple):
    """A server's account of a query that hasn't run: its plan, and its type (``"r"`` for one that only reads).

    The embedded database gives each the type ``"w"``, and a plan without the parts of its own.
    """

    plan: Mapping[str, Any] | None
    query_type: str | None


class BoundedResult(NamedTuple):
    """The first rows of a result, with values of the driver, and whether there are more."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


class Store:
    """An open graph database. Use it as a context manager; open a new one after a fork.

    It reads what it wrote, from whichever member of a cluster: bookmarks order its transactions.

    Rows are dictionaries of plain values: a node is a dictionary of its properties and ``_labels``, a relationship one
    of its properties and ``_type``, a path the list of its nodes and relationships, a date or time its ISO text.

    Attributes
    ----------
    engine
        ``"embedded"`` or ``"neo4j"``: the dialect. (An ArcadeDB server named by NEO4J_URI counts as embedded.)
    version
        The version that the server states.
    database
        The name of the database.
    uri
        The server's address, without a password.
    conflicts
        How many writes were tried again because another writer held the same nodes.
    """

    def __init__(
        self,
        access: Access,
        driver: neo4j.Driver,
        dialect: KnownDialect,
        version: str,
        *,
        read_only: bool,
        timeout: float | None = None,
    ) -> None:
        self.engine = dialect.engine
        self.version = version
        self.database = access.database
        self.uri = access.uri
        self._access = access
        self._dialect = dialect
        self._driver = driver
        self._read_only = read_only
        refuses = dialect.reading_session_refuses_writes or access.reader is not None
        self._reader: neo4j.Driver | None = driver if read_only and refuses else None
        self._reader_guard = threading.Lock()
        self._timeout = timeout or query_timeout()
        self.conflicts = 0

    @classmethod
    def open(cls, settings: Settings, *, read_only: bool = False, waiting: Waiting = unseen) -> Store:
        """Connect, and check that the server answers, accepts the account, has the database and is new enough.

        Parameters
        ----------
        read_only
            Let the server refuse every write: by the reader's account (embedded) or read sessions (Neo4j).
        waiting
            Makes the context in which the end of a compaction or a bulk load is awaited, from a sentence on it.

        Raises
        ------
        DatabaseError
            A check fails.
        """
        query_timeout()  # reports a wrong value before anything starts
        access = access_to(settings, waiting)
        try:
            driver = connected(access, (access.reader if read_only else None) or access.login)
            try:
                dialect, version = recognized(agent_of(driver, access))
                store = cls(access, driver, dialect, version, read_only=read_only, timeout=settings.timeout)
                store.read("RETURN 1")
            except BaseException:
                driver.close()
                raise
        except BaseException:
            access.release()
            raise
        return store

    def close(self) -> None:
        """Close the connections; the embedded server stops after its last client. May be called twice."""
        for driver in {id(d): d for d in (self._driver, self._reader) if d is not None}.values():
            driver.close()
        self._reader = None
        self._access.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def bytes_by_kind(self) -> Mapping[str, int] | None:
        """Return the bytes on disk by label of nodes and type of relationships, and of the rest as ``""``.

        None if the database doesn't show them: over Bolt, only the folder of the embedded database can be looked at.
        """
        return self._access.bytes_by_kind()

    # Reading

    def read(self, cypher: str, parameters: Parameters | None = None) -> list[Row]:
        """Run a read query and return its rows.

        Raises
        ------
        DatabaseError
            The server can't be reached or refuses the query.
        """
        import neo4j

        try:
            return self._driver.execute_query(
                self._query(cypher),
                dict(parameters or {}),
                routing_=neo4j.RoutingControl.READ,
                database_=self.database,
                result_transformer_=rows,
            )
        except driver_errors() as error:
            raise self._translated(error) from error

    def query_readonly(
        self,
        cypher: str,
        parameters: Parameters | None = None,
        *,
        allow_load_csv: bool = False,
        subgraph: Subgraph | None = None,
    ) -> tuple[list[str], list[list[object]]]:
        """Run a query that a user wrote, and return its columns and rows; the server refuses it if it would write.

        The embedded engine names no columns if there are no rows.

        Parameters
        ----------
        allow_load_csv
            Also run LOAD CSV, and procedures and functions of plug-ins: they can read files and send data. (The
            embedded engine never runs LOAD CSV.)
        subgraph
            Receives the nodes and relationships of the rows, and the ends of relationships that come without them.

        Raises
        ------
        InputError
            The query isn't valid Cypher, or it reaches beyond the graph.
        DatabaseError
            The query would write, or the server fails.
        """
        if not cypher.strip():
            raise InputError("the query is empty", remedy="Write it as: MATCH (n) RETURN count(n)")
        try:
            with session_of(self._reading_driver(), self._access, read_only=True) as session:
                if self._dialect.reaches_outside and not allow_load_csv:
                    explained = session.run(self._query(explaining(cypher)), dict(parameters or {}))
                    refuse_outside(explained.consume().plan)
                result = session.run(self._query(cypher), dict(parameters or {}))
                columns = list(result.keys())
                rows = []
                for record in result:
                    rows.append([plain(value) for value in record.values()])
                    if subgraph is not None:
                        subgraph.add(list(record.values()))
                hidden = self._dialect.hidden_error(result.consume())
                if subgraph is not None and hidden is None and subgraph.missing:
                    for record in session.run(self._query(_ENDS), {"ids": subgraph.missing}):
                        subgraph.add(record["node"])
        except driver_errors() as error:
            raise self._translated(error, by_person=True) from error
        if hidden is not None:
            if hidden.write_refused:
                raise write_refused(self._access)
            raise InputError(f"the query can't be run: {hidden.text}")
        return columns, rows

    def query_within(
        self, cypher: str, parameters: Parameters, most: int, check: Callable[[Explained], None]
    ) -> BoundedResult:
        """Run a query that someone else wrote, and return at most some of its rows, with values of the driver.

        It runs in a read session, in a transaction that is never committed, within the seconds of the settings.

        Parameters
        ----------
        most
            The number of rows after which the rest is left.
        check
            Receives what the server says of the query before it runs; if it raises, the query doesn't run.

        Raises
        ------
        InputError
            The query isn't valid Cypher.
        DatabaseError
            The query would write, takes too long, or the server fails.
        """
        try:
            with (
                session_of(self._reading_driver(), self._access, read_only=True) as session,
                session.begin_transaction(timeout=self._timeout) as transaction,
            ):
                summary = transaction.run(explaining(cypher), dict(parameters)).consume()
                check(Explained(summary.plan, summary.query_type))
                result = transaction.run(cypher, dict(parameters))
                columns, taken = (
                    list(result.keys()),
                    [list(record.values()) for record in itertools.islice(result, most + 1)],
                )
                # The embedded database says only afterwards that a query writes.
                if len(taken) <= most and "w" in (result.consume().query_type or ""):
                    raise write_refused(self._access)
        except driver_errors() as error:
            raise self._translated(error, by_person=True) from error
        return BoundedResult(columns, taken[:most], len(taken) > most)

    def state(self) -> str:
        """Return what every write to the database changes, as a server states it: the bookmark of its last one.

        Raises
        ------
        DatabaseError
            The server can't be reached.
        """
        try:
            with session_of(self._driver, self._access, read_only=True) as session:
                session.run("RETURN 1").consume()
                return " ".join(sorted(session.last_bookmarks().raw_values))
        except driver_errors() as error:
            raise self._translated(error) from error

    # Writing

    def write(self, cypher: str, parameters: Parameters | None = None) -> list[Row]:
        """Run one statement in a transaction and return its rows.

        It runs again after a conflict with another writer, or if the connection broke before the commit.
        """
        return self._transaction(lambda transaction: rows(transaction.run(cypher, dict(parameters or {}))))

    def write_many(
        self,
        statements: Sequence[tuple[str, Parameters]],
        check: Callable[[list[list[Row]]], None] = lambda results: None,
    ) -> None:
        """Run several statements in one transaction: all of them take effect, or none does.

        ``check`` receives the rows of each statement before the commit; if it raises, none takes effect.
        """

        def work(transaction: neo4j.Transaction) -> None:
            check([rows(transaction.run(cypher, dict(parameters))) for cypher, parameters in statements])

        self._transaction(work)

    def schema(self, statements: Iterable[str]) -> None:
        """Run schema statements one by one, as both engines require. Write them with ``IF NOT EXISTS``."""

        for statement in statements:

            def run(session: neo4j.Session, text: str = statement) -> None:
                session.run(self._query(text)).consume()

            self._retried(run)

    def _query(self, cypher: str) -> neo4j.Query:
        import neo4j

        return neo4j.Query(cypher, timeout=self._timeout)

    def _transaction(self, work: Callable[[neo4j.Transaction], _T]) -> _T:
        def run(session: neo4j.Session) -> _T:
            with session.begin_transaction(timeout=self._timeout) as transaction:
                result = work(transaction)
                transaction.commit()
                return result

        return self._retried(run)

    def _retried(self, run: Callable[[neo4j.Session], _T]) -> _T:
        """Run in a write session, and retry temporary failures.

        The driver's own retries start with pauses of a second, which is too long for conflicts of two loaders.
        """
        from neo4j.exceptions import Neo4jError

        begin = time.monotonic()
        for attempt in itertools.count():
            try:
                with session_of(self._driver, self._access, read_only=self._read_only) as session:
                    return run(session)
            except driver_errors() as error:
                if time.monotonic() - begin > self._patience(error, attempt):
                    raise self._translated(error) from error
                self.conflicts += isinstance(error, Neo4jError)
            time.sleep(random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))  # noqa: S311
        raise AssertionError

    def _patience(self, error: Exception, attempt: int) -> float:
        """Return for how many seconds after the first attempt to retry after an error; negative for never."""
        from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

        if isinstance(error, ConstraintError) and self._dialect.merges_collide:
            return CONFLICT_SECONDS if attempt < _UNIQUENESS_RETRIES else -1.0
        if isinstance(error, Neo4jError) and error.is_retryable() and "OutOfMemory" not in (error.code or ""):
            return CONFLICT_SECONDS
        if isinstance(error, DriverError) and error.is_retryable():
            return self._access.retry_seconds
        return -1.0

    def _reading_driver(self) -> neo4j.Driver:
        """Return a driver in whose read sessions the server refuses writes."""
        if self._dialect.reading_session_refuses_writes:
            return self._driver
        with self._reader_guard:
            if self._reader is None:
                if self._access.reader is None:
                    raise DatabaseError(
                        f"a server of {self._dialect.product} reached by NEO4J_URI can't refuse writes",
                        where=self.uri,
                        remedy="Unset NEO4J_URI to use the embedded database, or name a Neo4j server.",
                    )
                self._reader = connected(self._access, self._access.reader)
            return self._reader

    def _translated(self, error: Exception, *, by_person: bool = False) -> GraphkitError:
        return translated(error, self._access, self._dialect, by_person=by_person)
