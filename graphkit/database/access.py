"""The two ways to a database: the embedded server of a folder, or a server at an address that the settings name."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from graphkit.database.dialects import ArcadeDB, Dialect
from graphkit.database.embedded.client import ensure_running
from graphkit.database.embedded.folder import disk_is_full
from graphkit.database.embedded.place import DEFAULT_HEAP, HEAP_VARIABLE, Layout
from graphkit.database.settings import Settings, hide_password
from graphkit.errors import DatabaseError

Login = tuple[str, str]

EMBEDDED_RETRY_SECONDS = 1.0  # a server on this machine that doesn't answer has died
DIRECT_RETRY_SECONDS = 5.0
ROUTED_RETRY_SECONDS = 30.0


class Access(ABC):
    """A way to a database: its address and accounts, and what can be known and advised from outside it.

    Attributes
    ----------
    uri, database
        The address, without a password, and the name of the database there.
    dialect
        The ways that count before the server has said which database it is.
    address_remedy, unreachable_remedy, database_remedy, write_remedy
        What to do where the address can't be used, where nothing answers there, where the server has no such database,
        and where it refuses a write.
    """

    dialect: ClassVar[Dialect]
    address_remedy: ClassVar[str] = "Write NEO4J_URI as bolt://HOST:7687 or neo4j+s://HOST."
    unreachable_remedy: ClassVar[str] = (
        "Check NEO4J_URI and that the server runs (docker compose up -d; graphkit db status), "
        "or unset NEO4J_URI to use the embedded database."
    )
    database_remedy: ClassVar[str] = "Set NEO4J_DATABASE to one that it has; Neo4j's own default is neo4j."
    write_remedy: ClassVar[str] = (
        "Data is written by graphkit load, git and evaluate; anything else needs a tool and an account of the database."
    )

    def __init__(self, uri: str, database: str) -> None:
        self.uri = uri
        self.database = database

    @property
    @abstractmethod
    def login(self) -> Login | None:
        """The account that may write; None where the settings name none."""

    @property
    @abstractmethod
    def reader(self) -> Login | None:
        """The account that may only read, if there is one."""

    @property
    @abstractmethod
    def retry_seconds(self) -> float:
        """For how long a connection that breaks is tried again."""

    @property
    @abstractmethod
    def disk(self) -> str:
        """What names the database's disk."""

    @abstractmethod
    def disk_is_full(self) -> bool:
        """Tell whether the disk has no room left, as far as can be seen from here."""

    @property
    @abstractmethod
    def memory_remedy(self) -> str:
        """What raises the memory of the server."""

    @abstractmethod
    def login_remedy(self, code: str) -> str:
        """Return what to do where the server refuses the account with a code."""

    @abstractmethod
    def stopped(self) -> DatabaseError | None:
        """Return the error of a server that no longer answers, or None where only the network tells why."""

    @abstractmethod
    def release(self) -> None:
        """Give the server back. May be called twice."""


class EmbeddedAccess(Access):
    """By the embedded server of a folder, which is started and held until the release."""

    dialect = ArcadeDB()

    def __init__(self, folder: Path) -> None:
        endpoint = ensure_running(folder)
        super().__init__(endpoint.uri, endpoint.database)
        self._endpoint = endpoint
        self._held = True

    @property
    def login(self) -> Login:
        """The account of the administrator."""
        return self._endpoint.user, self._endpoint.password

    @property
    def reader(self) -> Login:
        """The account of the reader."""
        return self._endpoint.reader_user, self._endpoint.reader_password

    @property
    def retry_seconds(self) -> float:
        """Hardly any: a server on this machine that doesn't answer has died."""
        return EMBEDDED_RETRY_SECONDS

    @property
    def disk(self) -> str:
        """The folder."""
        return str(self._endpoint.directory)

    def disk_is_full(self) -> bool:
        """Look at the folder's disk."""
        return disk_is_full(self._endpoint.directory)

    @property
    def memory_remedy(self) -> str:
        """The variable, and how much it is now."""
        counts = "; it counts from the server's next start"
        return f"Raise {_heap(counts)}"

    def login_remedy(self, code: str) -> str:
        """Name the file of the passwords, which are made anew."""
        return f"Stop the server (graphkit db stop), delete {self._layout.credentials} and try again."

    def stopped(self) -> DatabaseError | None:
        """Look into the server's log, unless it was we who left."""
        if not self._held:
            return None
        log = self._layout.log
        if "OutOfMemoryError" in _tail(log):
            return DatabaseError(
                "The embedded database ran out of memory and stopped; what was committed is safe",
                where=self.disk,
                remedy=f"Raise {_heap()} and run it again.",
            )
        return DatabaseError(
            "The embedded database stopped answering; what was committed is safe",
            where=self.disk,
            remedy=f"Run the command again: it starts the database. See: graphkit db status, and its log {log}",
        )

    def release(self) -> None:
        """Give the server back: it stops after its last client."""
        if self._held:
            self._held = False
            self._endpoint.release()

    @property
    def _layout(self) -> Layout:
        return Layout(self._endpoint.directory)


class ServerAccess(Access):
    """By an address; the server's folder and log are out of sight."""

    dialect = Dialect()

    def __init__(self, uri: str, settings: Settings) -> None:
        super().__init__(uri, settings.database)
        self._settings = settings

    @property
    def login(self) -> Login | None:
        """The account that the settings name; without a password the server is asked without one."""
        return (self._settings.username, self._settings.password) if self._settings.password else None

    @property
    def reader(self) -> None:
        """None: the settings name one account."""
        return

    @property
    def retry_seconds(self) -> float:
        """Longer where a cluster may have to choose another leader."""
        return ROUTED_RETRY_SECONDS if self.uri.startswith("neo4j") else DIRECT_RETRY_SECONDS

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
        """Name the variables."""
        remedy = "Set NEO4J_USERNAME and NEO4J_PASSWORD to an account of this server."
        if code.endswith("RateLimit"):
            remedy += " The server blocks further attempts for some seconds."
        return remedy

    def stopped(self) -> None:
        """Only the network tells."""
        return

    def release(self) -> None:
        """Nothing was taken."""


def access_to(settings: Settings) -> Access:
    """Return the way to the database that the settings name; the embedded server is started for it."""
    return EmbeddedAccess(settings.data) if settings.uri is None else ServerAccess(settings.uri, settings)


def _heap(further: str = "") -> str:
    return f"{HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}{further})"


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
