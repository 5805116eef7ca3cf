"""Read a user's own graph from a database that graphkit never writes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, ClassVar

from graphkit.database.access import DIRECT_RETRY_SECONDS, Access
from graphkit.database.dialects import dialect_of
from graphkit.database.driver import agent_of, connected, driver_errors
from graphkit.database.messages import translated, write_refused
from graphkit.database.outside import explaining, refuse_outside
from graphkit.database.settings import checked_uri, query_timeout
from graphkit.database.values import plain
from graphkit.errors import InputError
from graphkit.records.graph_parts import GraphEdge, GraphNode

if TYPE_CHECKING:
    import neo4j

#: The environment variable with the password.
PASSWORD_VARIABLE = "GRAPHKIT_SOURCE_PASSWORD"  # noqa: S105 - the name of a variable

#: Rows that are fetched at once.
FETCHED = 1000


class ForeignAccess(Access):
    """Access to a database that isn't graphkit's, at an address of its own: ``NEO4J_URI`` doesn't count.

    The address may hold a user name and a password, which count if no other is given. The default database is that of
    the account.
    """

    address_remedy: ClassVar[str] = "Write it as bolt://HOST:7687 or neo4j+s://HOST."
    unreachable_remedy: ClassVar[str] = "Check --uri, and that the server runs."
    database_remedy: ClassVar[str] = "Name one that it has by --database; without it graphkit reads the account's own."
    write_remedy: ClassVar[str] = "graphkit only reads your graph: let the query MATCH and RETURN."
    account_remedy: ClassVar[str] = (
        f"Give --user, and the password by {PASSWORD_VARIABLE}; a read-only account is sufficient."
    )

    def __init__(
        self, uri: str, username: str | None = None, password: str | None = None, database: str | None = None
    ) -> None:
        clean, in_uri = checked_uri(uri)
        username, password = username or in_uri[0], password or in_uri[1]
        login = (username or "neo4j", password or "") if username or password else None
        super().__init__(clean, database or "", login)
        self.retry_seconds = DIRECT_RETRY_SECONDS


def read_rows(access: ForeignAccess, query: str, *, allow_load_csv: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as they come: nodes and relationships as parts of a graph, paths as lists of them.

    The query runs in a read session, in a transaction that is never committed, so it changes nothing, whichever
    account it uses. Any version of the server will do.

    Raise InputError if the query isn't valid Cypher, or reaches beyond the graph (:mod:`graphkit.database.outside`)
    while ``allow_load_csv`` is false. Raise DatabaseError if the server can't be reached, refuses the account, or the
    query would write.
    """
    import neo4j

    if not query.strip():
        raise InputError("the query is empty", remedy="Write it as: MATCH (a)-[r]->(b) RETURN a, r, b")
    timeout = query_timeout()
    with closing(connected(access, access.login)) as driver:
        dialect = dialect_of(agent_of(driver, access))  # any version will do, unlike for graphkit's own queries
        try:
            with (
                driver.session(
                    database=access.database or None, default_access_mode=neo4j.READ_ACCESS, fetch_size=FETCHED
                ) as session,
                session.begin_transaction(timeout=timeout) as transaction,
            ):
                if not allow_load_csv:
                    explained = transaction.run(explaining(query))
                    rows = [record.values() for record in explained]  # servers without a plan describe it in rows
                    refuse_outside(explained.consume().plan, rows)
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


#: What the driver keeps of a result: version 5 has both by their former ids, too.
_KEPT = ("_nodes", "_relationships", "_legacy_nodes", "_legacy_relationships")


def _forget(record: neo4j.Record) -> None:
    """Free the nodes and relationships of a record, which the driver otherwise keeps until the end of the result."""
    from neo4j.graph import Entity, Path

    for value in record.values():
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, Entity | Path):
                for kept in _KEPT:
                    getattr(part.graph, kept, {}).clear()
                return
