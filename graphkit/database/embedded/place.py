"""The files of an embedded database, and the names that its clients and its server share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_DIRECTORY = ".graphkit"
HOME_VARIABLE = "GRAPHKIT_HOME"
DATABASE = "neo4j"
ADMIN = "root"
READER = "reader"
HEAP_VARIABLE = "GRAPHKIT_JVM_HEAP"
#: Java's own default, also within a container.
DEFAULT_HEAP = "a quarter of the memory"
TIMEOUT_VARIABLE = "GRAPHKIT_QUERY_TIMEOUT"


@dataclass(frozen=True)
class Layout:
    """The paths of an embedded database's files."""

    directory: Path

    @property
    def server_lock(self) -> Path:
        """The lock that the running server holds exclusively; its text is the server's process id."""
        return self.directory / "server.lock"

    @property
    def clients_lock(self) -> Path:
        """The lock that all clients share."""
        return self.directory / "clients.lock"

    @property
    def start_lock(self) -> Path:
        """The lock that a client holds exclusively while it looks for the server and starts it."""
        return self.directory / "start.lock"

    @property
    def state(self) -> Path:
        """Ports and process id of the running server."""
        return self.directory / "server.json"

    @property
    def credentials(self) -> Path:
        """The passwords of the two accounts."""
        return self.directory / "credentials.json"

    @property
    def keep(self) -> Path:
        """A file that exists while the server must outlive its clients."""
        return self.directory / "keep"

    @property
    def log_directory(self) -> Path:
        """The server's logs."""
        return self.directory / "log"

    @property
    def log(self) -> Path:
        """The output of the server since its last start."""
        return self.log_directory / "server.log"
