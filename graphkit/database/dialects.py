"""What differs between the databases: one class for each, and everything that graphkit does differently for it.

All of them are reached by Bolt with the one driver, and run the same queries (``cypher/``): what their dialects of
Cypher don't share isn't written there. A further database is a class here and its line in ``DIALECTS``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from graphkit.errors import DatabaseError

if TYPE_CHECKING:
    import neo4j


class HiddenError(NamedTuple):
    """An error that a server reports as part of a result."""

    text: str
    write_refused: bool


class Dialect:
    """The ways of a database. These are those of Bolt itself: they count until a server has said what it is."""

    #: Ends of the codes with which it refuses a write.
    write_refused_codes: ClassVar[tuple[str, ...]] = (
        "Security.Forbidden",
        "AccessMode",
        "ForbiddenOnReadOnlyDatabase",
        "Cluster.NotALeader",
    )
    #: Beginnings of the codes of a query that can't be run as it is written.
    wrong_query_codes: ClassVar[tuple[str, ...]] = (
        "Neo.ClientError.Statement",
        "Neo.ClientError.Procedure",
        "Neo.ClientError.Schema",
    )
    #: What its message says where the memory was not enough, in small letters without blanks.
    out_of_memory_words: ClassVar[tuple[str, ...]] = ("outofmemory",)
    #: Whether a session for reading makes the server refuse writes; elsewhere only an account that may only read does.
    reading_session_refuses_writes: ClassVar[bool] = True
    #: Whether the second of two MERGEs of one key at once fails on the constraint; run again it finds the node.
    merges_collide: ClassVar[bool] = False

    def hides_cause(self, code: str) -> bool:
        """Tell whether the server's log alone may say why: a full disk then has to be looked for."""
        return not code

    def hidden_error(self, summary: neo4j.ResultSummary) -> HiddenError | None:
        """Return the error that a result reports though the server sent it as a success."""
        return None


class KnownDialect(Dialect, ABC):
    """The ways of a database that graphkit knows."""

    #: ``Store.engine``, and what ``graphkit db status`` shows.
    engine: ClassVar[str]
    #: Its name for people.
    product: ClassVar[str]

    @abstractmethod
    def version(self, agent: str) -> str | None:
        """Return the version that a server's ``agent`` text states, or None where it is another database's.

        Raises
        ------
        DatabaseError
            When this version can't run graphkit's queries.
        """


class ArcadeDB(KnownDialect):
    """ArcadeDB, the embedded database.

    What else differs there needs nothing from graphkit: a result without rows names no columns, and a query's limit of
    time is the server's, taken from the client that started it.
    """

    engine = "embedded"
    product = "ArcadeDB"
    # It has no code of its own for, say, an unknown procedure.
    wrong_query_codes = (*Dialect.wrong_query_codes, "Neo.DatabaseError.General.UnknownError")
    out_of_memory_words = (*Dialect.out_of_memory_words, "querymaxheap")
    reading_session_refuses_writes = False
    merges_collide = True

    def version(self, agent: str) -> str | None:
        """Read it behind the name: ``Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)``."""
        found = re.search(r"ArcadeDB (\d[\w.]*)", agent)
        return found.group(1) if found is not None else None

    def hides_cause(self, code: str) -> bool:
        """Only its log tells why a commit failed."""
        return not code or "Transaction" in code or code.startswith("Neo.DatabaseError")

    def hidden_error(self, summary: neo4j.ResultSummary) -> HiddenError | None:
        """Return the error of a PROFILE, which it hides in the text of the profile."""
        arguments = (summary.profile or {}).get("args") or {}
        found = re.search(r"^Error: (.*)$", str(arguments.get("string-representation", "")), re.MULTILINE)
        if found is None:
            return None
        # The reader's refusal of SET and DELETE comes at the commit, without its reason.
        refused = "error on commit" in found.group(1) or "not allowed" in found.group(1)
        return HiddenError(found.group(1), refused)


class Neo4j(KnownDialect):
    """Neo4j, which speaks Bolt as its driver expects it."""

    engine = "neo4j"
    product = "Neo4j"
    #: The first version whose Cypher has ``CALL (x) {}``.
    minimum: ClassVar[tuple[int, int]] = (5, 23)

    def version(self, agent: str) -> str | None:
        """Read ``Neo4j/5.26.0`` and nothing behind it: others begin so, too, and say then what they are."""
        found = re.fullmatch(r"Neo4j/(\d+)\.(\d+)(\S*)", agent.strip())
        if found is None:
            return None
        if (int(found.group(1)), int(found.group(2))) < self.minimum:
            least = ".".join(map(str, self.minimum))
            raise DatabaseError(
                f"The server runs {agent.strip()}; graphkit needs Neo4j {least} or newer",
                remedy="Upgrade the server (5.26 is its long-term release), or unset NEO4J_URI to use the embedded "
                "database.",
            )
        return agent.strip().partition("/")[2]


#: The databases that graphkit works with.
DIALECTS: tuple[KnownDialect, ...] = (ArcadeDB(), Neo4j())


def ways_of(agent: str) -> Dialect:
    """Return the ways of the database that a server's ``agent`` text names; Bolt's own where it is no known one."""
    try:
        return recognized(agent)[0]
    except DatabaseError:
        return Dialect()


def recognized(agent: str) -> tuple[KnownDialect, str]:
    """Return which database a server's ``agent`` text names, and its version.

    Raises
    ------
    DatabaseError
        When graphkit doesn't know it, or it is too old.
    """
    for dialect in DIALECTS:
        if (version := dialect.version(agent)) is not None:
            return dialect, version
    known = " and ".join(dialect.product for dialect in DIALECTS)
    raise DatabaseError(
        f"The server calls itself {agent[:80]!r}; graphkit works with {known}",
        remedy="Set NEO4J_URI to a Neo4j server of version 5.26 or newer, or unset it to use the embedded database.",
    )
