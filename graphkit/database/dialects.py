"""The differences between databases: one class per database, with everything that graphkit does differently for it.

All of them speak Bolt, are reached with one driver, and run the same queries (``cypher/``), which use only the Cypher
that all of them share. Each database registers its class in the entry-point group ``graphkit.databases``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from graphkit.errors import DatabaseError

if TYPE_CHECKING:
    import neo4j


#: The group of the entry points.
GROUP = "graphkit.databases"


class HiddenError(NamedTuple):
    """An error that a server reports as part of a result."""

    text: str
    write_refused: bool


class Dialect:
    """The behaviour of a database. This is that of any Bolt server, which applies until the server says what it is."""

    #: Endings of the error codes of a refused write.
    write_refused_codes: ClassVar[tuple[str, ...]] = (
        "Security.Forbidden",
        "AccessMode",
        "ForbiddenOnReadOnlyDatabase",
    )
    #: Beginnings of the error codes of an invalid query.
    wrong_query_codes: ClassVar[tuple[str, ...]] = (
        "Neo.ClientError.Statement",
        "Neo.ClientError.Procedure",
        "Neo.ClientError.Schema",
    )
    #: Words in the message of a query that ran out of memory, in lower case without spaces.
    out_of_memory_words: ClassVar[tuple[str, ...]] = ("outofmemory",)
    #: Whether the server refuses writes in a read session. Otherwise only a read-only account prevents them.
    reading_session_refuses_writes: ClassVar[bool] = True
    #: Whether a query can reach beyond the graph, by LOAD CSV or by plug-ins, so that its plan is looked at first.
    reaches_outside: ClassVar[bool] = True
    #: Words in the message of a LOAD CSV that the server refuses as it does a write.
    load_csv_refused_words: ClassVar[tuple[str, ...]] = ()
    #: Whether two simultaneous MERGEs of one key can violate the constraint. A retry then finds the node.
    merges_collide: ClassVar[bool] = False

    def hides_cause(self, code: str) -> bool:
        """Return whether an error with this code may hide its cause, such as a full disk."""
        return not code

    def hidden_error(self, summary: neo4j.ResultSummary) -> HiddenError | None:
        """Return the error in a result that the server sent as a success; None if there is none."""
        return None


class KnownDialect(Dialect, ABC):
    """The behaviour of a database that graphkit works with."""

    #: The value of ``Store.engine``, which ``graphkit db status`` shows.
    engine: ClassVar[str]
    #: The product name in messages.
    product: ClassVar[str]

    @abstractmethod
    def version(self, agent: str) -> str | None:
        """Return the version in a server's ``agent`` text, or None if the text belongs to another database.

        Raises
        ------
        DatabaseError
            This version can't run graphkit's queries.
        """


class ArcadeDB(KnownDialect):
    """ArcadeDB, the embedded database.

    Two more differences need no code: a result without rows names no columns, and the time limit of a query belongs
    to the server, which reads it from the client that starts it.
    """

    engine = "embedded"
    product = "ArcadeDB"
    # It has no specific code for errors such as an unknown procedure.
    wrong_query_codes = (*Dialect.wrong_query_codes, "Neo.DatabaseError.General.UnknownError")
    out_of_memory_words = (*Dialect.out_of_memory_words, "querymaxheap")
    reading_session_refuses_writes = False
    reaches_outside = False  # the embedded server is started without LOAD CSV, and it has no plug-ins
    load_csv_refused_words = ("LOAD CSV", "update security")
    merges_collide = True

    def version(self, agent: str) -> str | None:
        """Read the version after the name, as in ``Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)``."""
        found = re.search(r"ArcadeDB (\d[\w.]*)", agent)
        return found.group(1) if found is not None else None

    def hides_cause(self, code: str) -> bool:
        """Return True for failed commits: only the server's log says why."""
        return not code or "Transaction" in code or code.startswith("Neo.DatabaseError")

    def hidden_error(self, summary: neo4j.ResultSummary) -> HiddenError | None:
        """Return the error of a PROFILE, which the server puts into the text of the profile."""
        arguments = (summary.profile or {}).get("args") or {}
        found = re.search(r"^Error: (.*)$", str(arguments.get("string-representation", "")), re.MULTILINE)
        if found is None:
            return None
        # For the reader, SET and DELETE fail at the commit, without a reason.
        refused = "error on commit" in found.group(1) or "not allowed" in found.group(1)
        return HiddenError(found.group(1), refused)


class Neo4j(KnownDialect):
    """Neo4j."""

    engine = "neo4j"
    product = "Neo4j"
    #: The first version that supports ``CALL (x) {}``.
    minimum: ClassVar[tuple[int, int]] = (5, 23)

    def version(self, agent: str) -> str | None:
        """Read ``Neo4j/5.26.0`` with no text after it: other databases begin like this and then add their name."""
        found = re.fullmatch(r"Neo4j/(\d{1,9})\.(\d{1,9})(\S*)", agent.strip())
        if found is None:
            return None
        if (int(found.group(1)), int(found.group(2))) < self.minimum:
            least = ".".join(map(str, self.minimum))
            raise DatabaseError(
                f"the server runs {agent.strip()}; graphkit needs Neo4j {least} or newer",
                remedy="Upgrade the server (5.26 is its long-term release), or unset NEO4J_URI to use the embedded "
                "database.",
            )
        return agent.strip().partition("/")[2]


@cache
def dialects() -> tuple[KnownDialect, ...]:
    """Return the installed databases, by the names of their entry points.

    Raise DatabaseError if an entry point can't be imported, or names something else.
    """
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            dialect = point.load()()
        except Exception as error:  # whatever the module of another package raises
            raise _bad_entry_point(point.name, point.value, f"can't be used: {error}") from error
        if not isinstance(dialect, KnownDialect):
            raise _bad_entry_point(point.name, point.value, "isn't a subclass of KnownDialect")
        found.append(dialect)
    return tuple(found)


def _bad_entry_point(name: str, value: str, what: str) -> DatabaseError:
    return DatabaseError(
        f"the database {name!r} ({value}) {what}", remedy=f"Repair or uninstall the package that names it in {GROUP}."
    )


def dialect_of(agent: str) -> Dialect:
    """Return the dialect for a server's ``agent`` text; that of any Bolt server if it is unknown."""
    try:
        return recognized(agent)[0]
    except DatabaseError:
        return Dialect()


def recognized(agent: str) -> tuple[KnownDialect, str]:
    """Return the database and the version that a server's ``agent`` text names.

    Raise DatabaseError if the database is unknown, or too old.
    """
    for dialect in dialects():
        if (version := dialect.version(agent)) is not None:
            return dialect, version
    known = " and ".join(dialect.product for dialect in dialects())
    raise DatabaseError(
        f"the server calls itself {agent[:80]!r}; graphkit works with {known}",
        remedy="Set NEO4J_URI to a Neo4j server of version 5.26 or newer, or unset it to use the embedded database.",
    )
