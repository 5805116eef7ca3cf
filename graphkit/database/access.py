"""Access to a database: by the embedded server of a folder, or by the address of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Protocol

from graphkit.database.dialects import Dialect
from graphkit.database.settings import Settings, hide_password
from graphkit.errors import DatabaseError, InputError
from graphkit.records.plugins import installed, load

Login = tuple[str, str]

#: Shows a sentence while its block waits.
Waiting = Callable[[str], AbstractContextManager[object]]

#: The entry-point group of the embedded database.
GROUP = "graphkit.embedded"

DIRECT_RETRY_SECONDS = 5.0
ROUTED_RETRY_SECONDS = 30.0


class Access:
    """Access to a server at an address, whose folder and log are out of sight.

    Attributes
    ----------
    uri, database
        The address, without a password, and the name of the database there.
    login, reader
        The account to use, or None to connect without one; and the read-only account, if there is one.
    retry_seconds
        Seconds to retry after a broken connection: longer for a cluster, which may have to elect a leader.
    disk
        The name of the database's disk in messages.
    dialect
        The dialect that applies before the server says which database it is.
    address_remedy, unreachable_remedy, database_remedy, write_remedy, account_remedy, memory_remedy
        Remedies: for an invalid address, no answer, an unknown database, a refused write, a refused account, and too
        little memory.
    """

    dialect: ClassVar[Dialect] = Dialect()
    address_remedy: ClassVar[str] = "Write NEO4J_URI as bolt://HOST:7687 or neo4j+s://HOST."
    unreachable_remedy: ClassVar[str] = (
        "Check the address (--neo4j-uri, NEO4J_URI) and that the server runs (docker compose up -d; graphkit db "
        "status). Without an address graphkit uses the embedded database."
    )
    database_remedy: ClassVar[str] = "Set NEO4J_DATABASE to one that it has; Neo4j's own default is neo4j."
    write_remedy: ClassVar[str] = (
        "Data is written by graphkit load, git and evaluate; anything else needs a tool and an account of the database."
    )
    account_remedy: ClassVar[str] = "Set NEO4J_USERNAME and NEO4J_PASSWORD to an account of this server."

    def __init__(self, uri: str, database: str, login: Login | None = None, reader: Login | None = None) -> None:
        self.uri = uri
        self.database = database
        self.login = login
        self.reader = reader
        self.retry_seconds = ROUTED_RETRY_SECONDS if uri.startswith("neo4j") else DIRECT_RETRY_SECONDS
        self.disk = hide_password(uri)
        self.memory_remedy = "Raise the server's memory"

    def disk_is_full(self) -> bool:
        """Return whether the disk is known to be full."""
        return False

    def bytes_by_kind(self) -> Mapping[str, int] | None:
        """Return the bytes of the database's files by label and type; None if they are out of sight."""
        return None

    def login_remedy(self, code: str) -> str:
        """Return the remedy for an account that the server refuses with an error code."""
        blocked = " The server blocks further attempts for some seconds." if code.endswith("RateLimit") else ""
        return f"{self.account_remedy}{blocked}"

    def stopped(self) -> DatabaseError | None:
        """Return why the server stopped; None, since a remote server gives no detail."""
        return None

    def release(self) -> None:
        """Release the server. May be called twice."""


class EmbeddedDatabase(Protocol):
    """The embedded database, which a plug-in adds: the object that an entry point of ``graphkit.embedded`` names."""

    def access(self, folder: Path, waiting: Waiting, timeout: float | None = None) -> Access:
        """Return access to the database in a folder, whose server is started; ``waiting`` shows what is awaited.

        ``timeout`` are the seconds that a query may take, if the server isn't running yet.
        """

    def status(self, folder: Path) -> dict[str, Any]:
        """Return facts of the database in a folder by name, of which ``running`` is one, without starting it."""


def unseen(sentence: str) -> AbstractContextManager[object]:
    """Show nothing of a sentence."""
    return nullcontext()


def embedded_database() -> EmbeddedDatabase:
    """Return the embedded database.

    Raises
    ------
    DatabaseError
        Its plug-in isn't there.
    """
    for point in installed(GROUP).values():
        try:
            found: EmbeddedDatabase = load(point, InputError)
        except InputError:  # its folder may have been removed
            continue
        return found
    raise DatabaseError(
        "the embedded database needs the plug-in embedded, which isn't there",
        remedy="Set NEO4J_URI to a Neo4j server, or install graphkit-eval again.",
    )


def access_to(settings: Settings, waiting: Waiting = unseen) -> Access:
    """Return access to the database that the settings name, and start the embedded server for it.

    ``waiting`` shows what is awaited before that. Raise DatabaseError if there is no embedded database.
    """
    if settings.uri is None:
        return embedded_database().access(settings.data, waiting, settings.timeout)
    # Without a password, the server is asked without an account.
    login = (settings.username, settings.password) if settings.password else None
    return Access(settings.uri, settings.database, login)
