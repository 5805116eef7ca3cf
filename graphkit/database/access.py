"""Access to a database: by the embedded server of a folder, or by the address of a server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from graphkit.database.dialects import ArcadeDB, Dialect
from graphkit.database.embedded.client import Waiting, ensure_running, unseen
from graphkit.database.embedded.folder import bytes_by_kind, disk_is_full
from graphkit.database.embedded.place import DEFAULT_HEAP, HEAP_VARIABLE, Layout
from graphkit.database.settings import Settings, hide_password
from graphkit.errors import DatabaseError

Login = tuple[str, str]

EMBEDDED_RETRY_SECONDS = 1.0  # a local server that doesn't answer has died
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
        "Check NEO4J_URI and that the server runs (docker compose up -d; graphkit db status), "
        "or unset NEO4J_URI to use the embedded database."
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


class EmbeddedAccess(Access):
    """Access to the embedded server of a folder, which it starts and holds until the release."""

    dialect = ArcadeDB()

    def __init__(self, folder: Path, waiting: Waiting) -> None:
        endpoint = ensure_running(folder, waiting=waiting)
        super().__init__(
            endpoint.uri,
            endpoint.database,
            (endpoint.user, endpoint.password),
            (endpoint.reader_user, endpoint.reader_password),
        )
        self.retry_seconds = EMBEDDED_RETRY_SECONDS
        self.disk = str(endpoint.directory)
        self.memory_remedy = f"Raise {_heap('; it applies from the next start of the server')}"
        self._endpoint = endpoint
        self._layout = Layout(endpoint.directory)
        self._held = True

    def disk_is_full(self) -> bool:
        """Check the disk of the folder."""
        return disk_is_full(self._endpoint.directory)

    def bytes_by_kind(self) -> Mapping[str, int]:
        """Look at the files of the folder."""
        return bytes_by_kind(self._layout.database)

    def login_remedy(self, code: str) -> str:
        """Name the file with the passwords; graphkit makes new ones."""
        return f"Stop the server (graphkit db stop), delete {self._layout.credentials} and try again."

    def stopped(self) -> DatabaseError | None:
        """Return the reason from the server's log; None after the release."""
        if not self._held:
            return None
        what = "The embedded database stopped answering"
        remedy = (
            f"Run the command again: it starts the database. See: graphkit db status, and its log {self._layout.log}"
        )
        if "OutOfMemoryError" in _tail(self._layout.log):
            what, remedy = "The embedded database ran out of memory and stopped", f"Raise {_heap()} and run it again."
        return DatabaseError(f"{what}; what was committed is safe", where=self.disk, remedy=remedy)

    def release(self) -> None:
        """Release the server, which stops after its last client."""
        if self._held:
            self._held = False
            self._endpoint.release()


def access_to(settings: Settings, waiting: Waiting = unseen) -> Access:
    """Return access to the database that the settings name, and start the embedded server for it.

    ``waiting`` shows what is awaited before that: see :func:`ensure_running`.
    """
    if settings.uri is None:
        return EmbeddedAccess(settings.data, waiting)
    # Without a password, the server is asked without an account.
    login = (settings.username, settings.password) if settings.password else None
    return Access(settings.uri, settings.database, login)


def _heap(further: str = "") -> str:
    return f"{HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}{further})"


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
