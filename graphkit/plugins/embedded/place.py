"""The files of an embedded database, and the names that its clients and its server share."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from graphkit.database.settings import DATABASE

ADMIN = "root"
READER = "reader"
HEAP_VARIABLE = "GRAPHKIT_JVM_HEAP"
#: Java's own default, also within a container.
DEFAULT_HEAP = "a quarter of the memory"


class ServerLimits(NamedTuple):
    """The limits of a server: the seconds after which it ends a query, and its Bolt port, 0 for any.

    Without seconds, those of ``GRAPHKIT_QUERY_TIMEOUT`` count.
    """

    timeout: float | None = None
    port: int = 0


class Layout:
    """The paths of an embedded database's files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        #: The running server holds this lock exclusively; the file's text is the server's process id.
        self.server_lock = directory / "server.lock"
        #: All clients share this lock.
        self.clients_lock = directory / "clients.lock"
        #: A client holds this lock exclusively while it looks for the server and starts it.
        self.start_lock = directory / "start.lock"
        #: The ports and the process id of the running server.
        self.state = directory / "server.json"
        #: The passwords of the two accounts.
        self.credentials = directory / "credentials.json"
        #: This file exists while the server must outlive its clients.
        self.keep = directory / "keep"
        self.log_directory = directory / "log"
        #: The output of the server since its last start.
        self.log = self.log_directory / "server.log"
        #: The output of the last bulk load.
        self.bulk_log = self.log_directory / "bulk.log"
        #: The database's files.
        self.database = directory / "databases" / DATABASE
        #: The output of the last compaction.
        self.compact_log = self.log_directory / "compact.log"
        #: A database that a bulk load or a compaction fills.
        self.partial = directory / "bulk" / DATABASE
        #: The same, when it is whole.
        self.complete = directory / "bulk" / "complete"
        #: The database that it replaces.
        self.former = directory / "bulk" / "former"
