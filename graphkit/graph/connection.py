"""The connection to the graph database: the only importer of the ``neo4j`` driver, which is imported late.

One class, ``Store``, speaks to both engines: the embedded one, which needs no set-up, and any Neo4j from 5.23 on that
``NEO4J_URI`` names.
"""

from __future__ import annotations

import itertools
import logging
import os
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from graphkit.errors import DatabaseError, GraphkitError, InputError
from graphkit.graph.embedded import (
    HOME_VARIABLE,
    DATABASE,
    DEFAULT_DIRECTORY,
    DEFAULT_HEAP,
    HEAP_VARIABLE,
    TIMEOUT_VARIABLE,
    Endpoint,
    Layout,
    disk_is_full,
    ensure_running,
)

if TYPE_CHECKING:
    import neo4j

Row = dict[str, object]
Parameters = Mapping[str, object]
_T = TypeVar("_T")

MINIMUM_NEO4J = (5, 23)
CONNECT_SECONDS = 10.0  # for the network connection alone
ANSWER_SECONDS = 15.0  # for the connection, the handshake and the login together
CONFLICT_SECONDS = 60.0  # how long a write that loses against another writer is tried again
_UNIQUENESS_RETRIES = 6
_EMBEDDED_RETRY_SECONDS = 1.0  # a server on this machine that doesn't answer has died
_DIRECT_RETRY_SECONDS = 5.0
_ROUTED_RETRY_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 2.0  # seconds
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_LONGEST_MESSAGE = 300  # characters of a server's message that are shown


# Settings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Which database to use. Without ``uri`` it is the embedded one in the folder ``data``."""

    uri: str | None = None
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str = DATABASE
    data: Path = field(default_factory=lambda: Path(DEFAULT_DIRECTORY))

    @classmethod
    def resolve(
        cls,
        uri: str | None = None,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        data: Path | None = None,
    ) -> Settings:
        """Fill what is None from ``NEO4J_URI``, ``_USERNAME``, ``_PASSWORD``, ``_DATABASE`` and ``GRAPHKIT_HOME``.

        A user name and a password inside the URI (``bolt://me:secret@host``) count where nothing else names them.

        Raises
        ------
        InputError
            When the URI isn't one of a Bolt server.
        """
        uri = uri or os.environ.get("NEO4J_URI") or None
        in_uri: tuple[str | None, str | None] = (None, None)
        if uri is not None:
            uri, in_uri = _checked_uri(uri)
        return cls(
            uri=uri,
            username=username or os.environ.get("NEO4J_USERNAME") or in_uri[0] or "neo4j",
            password=password or os.environ.get("NEO4J_PASSWORD") or in_uri[1],
            database=database or os.environ.get("NEO4J_DATABASE") or DATABASE,
            data=data or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_DIRECTORY),
        )


def _checked_uri(uri: str) -> tuple[str, tuple[str | None, str | None]]:
    remedy = "Write it as bolt://HOST:7687 or neo4j+s://HOST, or unset NEO4J_URI to use the embedded database."
    try:
        parts = urlsplit(uri.strip())
        host = parts.hostname
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in _SCHEMES or not host:
        raise InputError("This isn't the address of a Neo4j server", where=hide_password(uri), remedy=remedy)
    user, password = (unquote(part) if part else None for part in (parts.username, parts.password))
    clean = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return clean, (user, password)


def hide_password(text: str) -> str:
    """Remove ``user:password@`` from every address in a text."""
    return re.sub(r"(\w[\w+.-]*://)[^/\s@]*(?:@[^/\s@]*)*@", r"\1", text)


def query_timeout() -> float | None:
    """Return the seconds that ``GRAPHKIT_QUERY_TIMEOUT`` grants to one query; None if it isn't set.

    Neo4j counts them for every client on its own; the embedded database takes them from the client that starts it.
    """
    text = os.environ.get(TIMEOUT_VARIABLE)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise InputError(f"{TIMEOUT_VARIABLE} is {text!r}, which isn't a number of seconds", remedy="Write it as 60.")
    return seconds


def check_version(agent: str) -> str:
    """Return the version that a server's ``agent`` text states.

    Raises
    ------
    DatabaseError
        When it is a Neo4j below 5.23, whose Cypher lacks ``CALL (x) {}``, or no server that graphkit knows.
    """
    if arcade := re.search(r"ArcadeDB (\d[\w.]*)", agent):
        return arcade.group(1)
    found = re.fullmatch(r"Neo4j/(\d+)\.(\d+)(\S*)", agent.strip())
    if found is None:
        raise DatabaseError(
            f"The server calls itself {agent[:80]!r}; graphkit works with Neo4j and its own embedded database",
            remedy="Set NEO4J_URI to a Neo4j server of version 5.26 or newer, or unset it.",
        )
    if (int(found.group(1)), int(found.group(2))) < MINIMUM_NEO4J:
        raise DatabaseError(
            f"The server runs {agent.strip()}; graphkit needs Neo4j 5.23 or newer",
            remedy="Upgrade the server (5.26 is its long-term release), or unset NEO4J_URI to use the embedded "
            "database.",
        )
    return agent.strip().partition("/")[2]


# The store ---------------------------------------------------------------------------------------------------------


class Store:
    """An open graph database. Use it as a context manager; make a new one after a fork.

    Rows come back as dictionaries of plain values: a node is a dictionary of its properties and ``_labels``, a
    relationship one of its properties and ``_type``, a path the list of both in turn, a date or time its ISO text.

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
    """

    def __init__(
        self,
        driver: neo4j.Driver,
        *,
        engine: str,
        version: str,
        settings: Settings,
        endpoint: Endpoint | None,
        read_only: bool,
    ) -> None:
        self.engine = engine
        self.version = version
        self.database = settings.database if endpoint is None else endpoint.database
        self.uri = (settings.uri or "") if endpoint is None else endpoint.uri
        self._driver = driver
        self._settings = settings
        self._endpoint = endpoint
        self._read_only = read_only
        self._reader: neo4j.Driver | None = driver if read_only else None
        self._reader_guard = threading.Lock()
        self._timeout = query_timeout()

    @classmethod
    def open(cls, settings: Settings, *, read_only: bool = False) -> Store:
        """Connect, and check that the server answers, lets us in, has the database and is new enough.

        Parameters
        ----------
        settings
            Which database.
        read_only
            Let the server refuse every write: by the reader's account (embedded) or read sessions (Neo4j).

        Raises
        ------
        DatabaseError
            When any of this fails.
        """
        query_timeout()  # a wrong value is told before anything is started
        endpoint = ensure_running(settings.data) if settings.uri is None else None
        try:
            uri = settings.uri if endpoint is None else endpoint.uri
            assert uri is not None
            where = _Where(uri, settings, endpoint)
            driver = _connected(uri, _login(settings, endpoint, read_only), where)
            try:
                agent = _agent(driver, where)
                version = check_version(agent)
                engine = "embedded" if "ArcadeDB" in agent else "neo4j"
                store = cls(
                    driver, engine=engine, version=version, settings=settings, endpoint=endpoint, read_only=read_only
                )
                store.read("RETURN 1")
            except BaseException:
                driver.close()
                raise
        except BaseException:
            if endpoint is not None:
                endpoint.release()
            raise
        return store

    def close(self) -> None:
        """Give the connections back; the embedded server stops after its last client. May be called twice."""
        for driver in {id(d): d for d in (self._driver, self._reader) if d is not None}.values():
            driver.close()
        self._reader = None
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            endpoint.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def read(self, cypher: str, parameters: Parameters | None = None) -> list[Row]:
        """Run a query that only reads and return its rows.

        Raises
        ------
        DatabaseError
            When the server can't be reached or refuses the query.
        """
        import neo4j

        try:
            return self._driver.execute_query(
                self._query(cypher),
                dict(parameters or {}),
                routing_=neo4j.RoutingControl.READ,
                database_=self.database,
                result_transformer_=_rows,
            )
        except _driver_errors() as error:
            raise self._translated(error) from error

    def stream(self, cypher: str, parameters: Parameters | None = None, *, fetch_size: int = 1000) -> Iterator[Row]:
        """Run a query that only reads and yield its rows as they come, ``fetch_size`` at a time."""
        import neo4j

        try:
            with self._driver.session(
                database=self.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=fetch_size
            ) as session:
                for record in session.run(self._query(cypher), dict(parameters or {})):
                    yield _row(record)
        except _driver_errors() as error:
            raise self._translated(error) from error

    def query_readonly(self, cypher: str, parameters: Parameters | None = None) -> tuple[list[str], list[list[object]]]:
        """Run a query that a person wrote; the server refuses it if it would change anything.

        Returns
        -------
        tuple
            The names of the columns, and the rows. The embedded engine names no columns where there are no rows.

        Raises
        ------
        InputError
            When the query isn't valid Cypher.
        DatabaseError
            When it would write, or the server fails.
        """
        import neo4j

        if not cypher.strip():
            raise InputError("The query is empty", remedy="Write it as: MATCH (n) RETURN count(n)")
        try:
            driver = self._reading_driver()
            with driver.session(database=self.database, default_access_mode=neo4j.READ_ACCESS) as session:
                result = session.run(self._query(cypher), dict(parameters or {}))
                columns = list(result.keys())
                rows = [[plain(value) for value in record.values()] for record in result]
                hidden = _profile_error(result.consume())
        except _driver_errors() as error:
            raise self._translated(error, by_person=True) from error
        if hidden is not None:
            raise (
                _write_refused(hide_password(self.uri))
                if "not allowed" in hidden
                else InputError(f"The query can't be run: {hidden}")
            )
        return columns, rows

    # Writing

    def write(self, cypher: str, parameters: Parameters | None = None) -> list[Row]:
        """Run one statement in a transaction and return its rows.

        It runs again when another writer was in its way or the connection broke before the commit.
        """
        return self._transaction(lambda transaction: _rows(transaction.run(cypher, dict(parameters or {}))))

    def write_many(self, statements: Sequence[tuple[str, Parameters]]) -> None:
        """Run several statements in one transaction: all of them take effect, or none."""

        def work(transaction: neo4j.Transaction) -> None:
            for cypher, parameters in statements:
                transaction.run(cypher, dict(parameters)).consume()

        self._transaction(work)

    def write_batches(
        self,
        cypher: str,
        rows: Iterable[Mapping[str, object]],
        *,
        size: int = 5000,
        on_batch: Callable[[int], None] | None = None,
        **parameters: object,
    ) -> int:
        """Run a statement that begins with ``UNWIND $rows AS row`` once for every ``size`` rows.

        Parameters
        ----------
        cypher
            The statement. Each batch is one transaction, and runs again after a conflict.
        rows
            Taken from the iterable as needed: only one batch is in memory.
        size
            Rows a batch.
        on_batch
            Called after each commit with the number of rows of that batch.
        parameters
            Further parameters of the statement.

        Returns
        -------
        int
            The number of rows written.
        """
        if size < 1:
            raise InputError("The size of a batch must be at least 1")
        source, written = iter(rows), 0
        while batch := [dict(row) for row in itertools.islice(source, size)]:
            self.write_many([(cypher, {**parameters, "rows": batch})])
            written += len(batch)
            if on_batch is not None:
                on_batch(len(batch))
        return written

    def schema(self, statements: Iterable[str]) -> None:
        """Run schema statements, each on its own, as both engines require. Write them with ``IF NOT EXISTS``."""

        for statement in statements:

            def run(session: neo4j.Session, text: str = statement) -> None:
                session.run(self._query(text)).consume()

            self._retried(run)

    # Within

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
        """Run in a session for writing, again as long as the failure may pass.

        The driver's own retries start with pauses of a second, far too long for the conflicts of two loaders.
        """
        import neo4j

        mode = neo4j.READ_ACCESS if self._read_only else neo4j.WRITE_ACCESS
        begin = time.monotonic()
        for attempt in itertools.count():
            try:
                with self._driver.session(database=self.database, default_access_mode=mode) as session:
                    return run(session)
            except _driver_errors() as error:
                if time.monotonic() - begin > self._patience(error, attempt):
                    raise self._translated(error) from error
            time.sleep(random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))  # noqa: S311
        raise AssertionError

    def _patience(self, error: Exception, attempt: int) -> float:
        """Return for how many seconds after the first attempt an error is worth another one; negative: not at all."""
        from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

        if isinstance(error, ConstraintError) and self.engine == "embedded":
            # Two MERGEs of one key at once: the second to commit fails there, and finds the node when run again.
            return CONFLICT_SECONDS if attempt < _UNIQUENESS_RETRIES else -1.0
        if isinstance(error, Neo4jError) and error.is_retryable() and "OutOfMemory" not in (error.code or ""):
            return CONFLICT_SECONDS
        if isinstance(error, DriverError) and error.is_retryable():
            return _retry_seconds(self.uri, self._endpoint)
        return -1.0

    def _reading_driver(self) -> neo4j.Driver:
        """Return a driver whose sessions the server itself lets only read, if they are opened for reading."""
        if self.engine == "neo4j":
            return self._driver
        with self._reader_guard:
            if self._reader is None:
                if self._endpoint is None:
                    raise DatabaseError(
                        "An ArcadeDB server reached by NEO4J_URI can't be told to refuse writes",
                        where=self.uri,
                        remedy="Unset NEO4J_URI to use the embedded database, or name a Neo4j server.",
                    )
                where = _Where(self.uri, self._settings, self._endpoint)
                login = (self._endpoint.reader_user, self._endpoint.reader_password)
                self._reader = _connected(self.uri, login, where)
            return self._reader

    def _translated(self, error: Exception, *, by_person: bool = False) -> GraphkitError:
        where = _Where(self.uri, self._settings, self._endpoint)
        return translated(error, where, by_person=by_person)


# Drivers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Where:
    """What a message needs to know of the server."""

    uri: str
    settings: Settings
    endpoint: Endpoint | None

    @property
    def embedded(self) -> bool:
        return self.endpoint is not None


def _driver_errors() -> tuple[type[Exception], ...]:
    from neo4j.exceptions import DriverError, Neo4jError

    return (DriverError, Neo4jError, OSError)


def _retry_seconds(uri: str, endpoint: Endpoint | None) -> float:
    if endpoint is not None:
        return _EMBEDDED_RETRY_SECONDS
    return _ROUTED_RETRY_SECONDS if uri.startswith("neo4j") else _DIRECT_RETRY_SECONDS


def _login(settings: Settings, endpoint: Endpoint | None, read_only: bool) -> tuple[str, str] | None:
    if endpoint is not None:
        reader = (endpoint.reader_user, endpoint.reader_password)
        return reader if read_only else (endpoint.user, endpoint.password)
    return (settings.username, settings.password) if settings.password else None


def _connected(uri: str, login: tuple[str, str] | None, where: _Where) -> neo4j.Driver:
    import neo4j
    from neo4j.exceptions import ConfigurationError

    # Without any handler Python itself would print the driver's warnings to the standard error.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    try:
        return neo4j.GraphDatabase.driver(
            uri,
            auth=login,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=ANSWER_SECONDS,
            max_transaction_retry_time=_retry_seconds(uri, where.endpoint),
            warn_notification_severity=neo4j.NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
            user_agent="graphkit",
        )
    except (ConfigurationError, ValueError) as error:
        raise DatabaseError(
            f"The address of the database can't be used: {_shortened(str(error))}",
            where=hide_password(uri),
            remedy="Write NEO4J_URI as bolt://HOST:7687 or neo4j+s://HOST.",
        ) from error
    except _driver_errors() as error:
        raise translated(error, where) from error


def _agent(driver: neo4j.Driver, where: _Where) -> str:
    try:
        return driver.get_server_info().agent
    except _driver_errors() as error:
        raise translated(error, where) from error


# Values ------------------------------------------------------------------------------------------------------------

_SCALARS = frozenset({str, int, float, bool, type(None)})


def _rows(result: neo4j.Result) -> list[Row]:
    return [_row(record) for record in result]


def _row(record: neo4j.Record) -> Row:
    return {
        name: value if type(value) in _SCALARS else plain(value)
        for name, value in zip(record.keys(), record.values(), strict=True)
    }


def plain(value: object) -> Any:
    """Turn a value of the driver into text, numbers, lists and dictionaries."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return _plain_graph(value)


def _plain_graph(value: object) -> object:
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return {"_labels": sorted(value.labels), **_properties(value)}
    if isinstance(value, Relationship):
        return {"_type": value.type, **_properties(value)}
    if isinstance(value, Path):
        first, *others = value.nodes
        steps = [plain(part) for pair in zip(value.relationships, others, strict=True) for part in pair]
        return [plain(first), *steps]
    return _plain_other(value)


def _properties(entity: Any) -> Row:
    return {str(name): plain(item) for name, item in entity.items()}


def _plain_other(value: object) -> object:
    for method in ("iso_format", "isoformat"):  # the driver's temporal types, and Python's
        if hasattr(value, method):
            return _iso(str(getattr(value, method)()))
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, tuple | set | frozenset):  # a point is a tuple of its coordinates
        return [plain(item) for item in value]
    return str(value)


def _iso(text: str) -> str:
    """Drop the zeros that the driver writes behind the seconds: nine digits, always."""
    return re.sub(r"(\.\d*?)0+(?=$|[Z+-])", lambda found: found.group(1) if len(found.group(1)) > 1 else "", text)


# Errors ------------------------------------------------------------------------------------------------------------


def translated(error: Exception, where: _Where, *, by_person: bool = False) -> GraphkitError:
    """Turn an error of the driver into one of ours: a sentence and what to do. ``by_person``: a person's query."""
    from neo4j.exceptions import Neo4jError

    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    message = (error.message or "") if isinstance(error, Neo4jError) else str(error)
    place = hide_password(where.uri)
    if found := _disk_or_memory(code, message, where, place):
        return found
    if not code or code.endswith("DatabaseUnavailable"):
        return _unreachable(error, message, where, place)
    if found := _refused(code, where, place):
        return found
    if "TransactionTimedOut" in code or "Transaction.Terminated" in code:
        return DatabaseError(
            "The query took too long and was ended",
            where=place,
            remedy=f"Ask for less, or raise {TIMEOUT_VARIABLE} (seconds) or the server's own limit.",
        )
    text = _shortened(message)
    if by_person and _is_wrong_query(code, where):
        return InputError(f"The query can't be run: {text}")
    if "ConstraintValidation" in code:
        return DatabaseError(f"The database holds a conflicting record: {text}", where=place)
    return DatabaseError(f"The database refused: {text or code}", where=place)


def _disk_or_memory(code: str, message: str, where: _Where, place: str) -> DatabaseError | None:
    lower = message.lower()
    folder = where.endpoint.directory if where.endpoint else None
    # The embedded engine tells only its log why a commit failed.
    vague = not code or "Transaction" in code or code.startswith("Neo.DatabaseError")
    if folder and vague and disk_is_full(folder):
        lower = "no space left"
    if "no space left" in lower or "disk quota" in lower or "disk full" in lower:
        return DatabaseError(
            "The disk of the database is full; the write didn't take place",
            where=str(folder or place),
            remedy="Make room and run the command again.",
        )
    if "OutOfMemory" in code or "outofmemory" in lower.replace(" ", "") or "querymaxheap" in lower:
        remedy = "Raise the server's memory, ask for less, or write in smaller batches."
        if where.embedded:
            remedy = (
                f"Raise {HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}; it counts from the "
                "server's next start), ask for less, or write in smaller batches."
            )
        return DatabaseError("The query needs more memory than the database has", where=place, remedy=remedy)
    return None


def _unreachable(error: Exception, message: str, where: _Where, place: str) -> DatabaseError:
    if where.endpoint is not None:
        log = Layout(where.endpoint.directory).log
        if "OutOfMemoryError" in _tail(log):
            return DatabaseError(
                "The embedded database ran out of memory and stopped; what was committed is safe",
                where=str(where.endpoint.directory),
                remedy=f"Raise {HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}) and run it again.",
            )
        return DatabaseError(
            "The embedded database stopped answering; what was committed is safe",
            where=str(where.endpoint.directory),
            remedy=f"Run the command again: it starts the database. See: graphkit db status, and its log {log}",
        )
    remedy = (
        "Check NEO4J_URI and that the server runs (docker compose up -d; graphkit db status), "
        "or unset NEO4J_URI to use the embedded database."
    )
    causes = list(_causes(error))
    for kind, what in _NETWORK_TROUBLE:
        if any(isinstance(cause, kind) for cause in causes):
            return DatabaseError(what, where=place, remedy=remedy)
    if any(isinstance(cause, ssl.SSLError) or _NOT_BOLT.search(str(cause)) for cause in causes):
        what = "What answers at this address isn't a Neo4j server, or encrypts otherwise than the address says"
        return DatabaseError(what, where=place, remedy=f"{remedy} Encrypted servers are bolt+s:// or neo4j+s://.")
    # The driver's own sentence is on the last line; the ones before only repeat the address.
    reason = _shortened((message.strip().splitlines() or [type(error).__name__])[-1])
    return DatabaseError(f"The server can't be reached: {reason}", where=place, remedy=remedy)


_NOT_BOLT = re.compile("handshake|Bolt service|protocol")
_NETWORK_TROUBLE: tuple[tuple[type[Exception], str], ...] = (
    (ConnectionRefusedError, "Nothing listens at this address: the connection was refused"),
    (socket.gaierror, "The host of this address isn't known"),
    (TimeoutError, "The server didn't answer in time"),
)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all that led to it: the driver wraps, and groups when it asked several servers."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def _refused(code: str, where: _Where, place: str) -> DatabaseError | None:
    if code.endswith(("Security.Forbidden", "AccessMode", "ForbiddenOnReadOnlyDatabase", "Cluster.NotALeader")):
        return _write_refused(place)
    if ".Security." in code:
        if where.embedded:
            credentials = Layout(where.settings.data).credentials
            remedy = f"Stop the server (graphkit db stop), delete {credentials} and try again."
        else:
            remedy = "Set NEO4J_USERNAME and NEO4J_PASSWORD to an account of this server."
            if code.endswith("RateLimit"):
                remedy += " The server blocks further attempts for some seconds."
        return DatabaseError("The server refused the user name or the password", where=place, remedy=remedy)
    if code.endswith("DatabaseNotFound"):
        return DatabaseError(
            f"The server has no database named {where.settings.database!r}",
            where=place,
            remedy="Set NEO4J_DATABASE to one that it has; Neo4j's own default is neo4j.",
        )
    return None


def _write_refused(place: str) -> DatabaseError:
    return DatabaseError(
        "The server refused: this may only read, and the query would write",
        where=place,
        remedy="Data is written by graphkit load, git and evaluate; anything else needs a tool and an account of the "
        "database.",
    )


def _profile_error(summary: neo4j.ResultSummary) -> str | None:
    """Return the error of a PROFILE on the embedded engine, which hides it in the text of the profile."""
    arguments = (summary.profile or {}).get("args") or {}
    found = re.search(r"^Error: (.*)$", str(arguments.get("string-representation", "")), re.MULTILINE)
    if found is None:
        return None
    # The reader's refusal of SET and DELETE comes at the commit, without its reason.
    return "not allowed" if "error on commit" in found.group(1) else found.group(1)


def _is_wrong_query(code: str, where: _Where) -> bool:
    if code.startswith(("Neo.ClientError.Statement", "Neo.ClientError.Procedure", "Neo.ClientError.Schema")):
        return True
    # The embedded engine has no code of its own for, say, an unknown procedure.
    return code == "Neo.DatabaseError.General.UnknownError" and where.embedded


def _shortened(message: str) -> str:
    """Keep the meaningful part of a server's message: its first line, without the list of all that was expected."""
    lines = hide_password(message).strip().splitlines()
    text = lines[0].strip() if lines else ""
    text = re.sub(r" \(offset: \d+\)", "", text)
    place = re.search(r"\(line \d+, column \d+\)", text)
    if len(text) > _LONGEST_MESSAGE or text.count(", '") > 4:
        short = re.sub(r": expected .*", "", text)
        text = short[: _LONGEST_MESSAGE - 1] + ("…" if len(short) >= _LONGEST_MESSAGE else "")
        if place and place.group(0) not in text:
            text = f"{text} {place.group(0)}"
    return text


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
