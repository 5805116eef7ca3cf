"""A user's own graph: a database that a query reads, and that nothing is written to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, ClassVar

from graphkit.database.access import DIRECT_RETRY_SECONDS, Access, Login
from graphkit.database.dialects import Dialect, dialect_of
from graphkit.database.driver import agent_of, connected, driver_errors
from graphkit.database.messages import translated, write_refused
from graphkit.database.settings import checked_uri, hide_password, query_timeout
from graphkit.database.values import plain
from graphkit.errors import InputError
from graphkit.records.graph_parts import GraphEdge, GraphNode

if TYPE_CHECKING:
    import neo4j

#: The variable of the password.
PASSWORD_VARIABLE = "GRAPHKIT_SOURCE_PASSWORD"  # noqa: S105 - the name of a variable

#: How many rows are fetched together.
FETCHED = 1000


class ForeignAccess(Access):
    """By the address of a database that isn't graphkit's: NEO4J_URI and its like say nothing about it.

    Parameters
    ----------
    uri
        May hold user name and password, which count where nothing else names them.
    database
        By default the account's own.
    """

    dialect = Dialect()
    address_remedy: ClassVar[str] = "Write it as bolt://HOST:7687 or neo4j+s://HOST."
    unreachable_remedy: ClassVar[str] = "Check --uri, and that the server runs."
    database_remedy: ClassVar[str] = "Name one that it has by --database; without it the account's own is read."
    write_remedy: ClassVar[str] = "graphkit only reads your graph: let the query MATCH and RETURN."

    def __init__(
        self, uri: str, username: str | None = None, password: str | None = None, database: str | None = None
    ) -> None:
        clean, in_uri = checked_uri(uri)
        super().__init__(clean, database or "")
        username, password = username or in_uri[0], password or in_uri[1]
        self._login = (username or "neo4j", password or "") if username or password else None

    @property
    def login(self) -> Login | None:
        """The account that was named; without a name and a password the server is asked without one."""
        return self._login

    @property
    def reader(self) -> None:
        """None: the one account is there for reading."""
        return

    @property
    def retry_seconds(self) -> float:
        """As for any server."""
        return DIRECT_RETRY_SECONDS

    @property
    def disk(self) -> str:
        """The address."""
        return hide_password(self.uri)

    def disk_is_full(self) -> bool:
        """Only the server can tell."""
        return False

    @property
    def memory_remedy(self) -> str:
        """What every server has."""
        return "Raise the server's memory"

    def login_remedy(self, code: str) -> str:
        """Name the option and the variable."""
        blocked = " The server blocks further attempts for some seconds." if code.endswith("RateLimit") else ""
        return f"Give --user, and the password by {PASSWORD_VARIABLE}; an account that may only read will do.{blocked}"

    def stopped(self) -> None:
        """Only the network tells."""
        return

    def release(self) -> None:
        """Nothing was taken."""


def read_rows(access: ForeignAccess, query: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as they come: nodes and relationships as parts of a graph, paths as lists of them.

    The query runs in a session for reading, and in a transaction that is never committed: whatever account is used,
    nothing is changed. No procedure is called, and no version of the server is asked for.

    Raises
    ------
    InputError
        The query isn't valid Cypher.
    DatabaseError
        The server can't be reached, refuses the account, or the query would write.
    """
    import neo4j

    if not query.strip():
        raise InputError("the query is empty", remedy="Write it as: MATCH (a)-[r]->(b) RETURN a, r, b")
    timeout = query_timeout()
    with closing(connected(access, access.login)) as driver:
        # What differs between versions isn't used: one that graphkit's own queries need isn't asked for.
        dialect = dialect_of(agent_of(driver, access))
        try:
            with (
                driver.session(
                    database=access.database or None, default_access_mode=neo4j.READ_ACCESS, fetch_size=FETCHED
                ) as session,
                session.begin_transaction(timeout=timeout) as transaction,
            ):
                result = transaction.run(query)
                for record in result:
                    yield {name: _part(value) for name, value in zip(record.keys(), record.values(), strict=True)}
                    _forget(record)
                if result.consume().counters.contains_updates:
                    raise write_refused(access)
        except driver_errors() as error:
            raise translated(error, access, dialect, by_person=True) from error


def _part(value: Any) -> Any:
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return GraphNode(value.element_id, None, tuple(sorted(value.labels)), _properties(value))
    if isinstance(value, Relationship):
        source, target = (node.element_id if node is not None else "" for node in value.nodes)
        return GraphEdge(source, value.type, target, _properties(value))
    if isinstance(value, Path):
        return [_part(part) for part in (*value.nodes, *value.relationships)]
    if isinstance(value, list):
        return [_part(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _part(item) for key, item in value.items()}
    return plain(value)


def _properties(entity: neo4j.graph.Entity) -> dict[str, Any]:
    return {str(name): plain(value) for name, value in entity.items()}


def _forget(record: neo4j.Record) -> None:
    """Let go of what the driver keeps of a record: it holds every node and relationship of a result until its end."""
    from neo4j.graph import Entity, Path

    for value in record.values():
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, Entity | Path):
                part.graph._nodes.clear()
                part.graph._relationships.clear()
                return
