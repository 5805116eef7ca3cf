"""Where the files of an embedded database lie, and what is agreed between its clients and its server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_DIRECTORY = ".graphkit"
HOME_VARIABLE = "GRAPHKIT_HOME"
DATABASE = "neo4j"
ADMIN = "root"
READER = "reader"
HEAP_VARIABLE = "GRAPHKIT_JVM_HEAP"
#: What Java takes by itself, within a container of its memory.
DEFAULT_HEAP = "a quarter of the memory"
TIMEOUT_VARIABLE = "GRAPHKIT_QUERY_TIMEOUT"


@dataclass(frozen=True)
class Layout:
    """Where the files of an embedded database lie."""

    directory: Path

    @property
    def server_lock(self) -> Path:
        """Held exclusively by the running server; its text is the server's process id."""
        return self.directory / "server.lock"

    @property
    def clients_lock(self) -> Path:
        """Held shared by every client."""
        return self.directory / "clients.lock"

    @property
    def start_lock(self) -> Path:
        """Held exclusively while a client looks for the server and starts it."""
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
        """Exists while the server must outlive its clients."""
        return self.directory / "keep"

    @property
    def log_directory(self) -> Path:
        """The server's logs."""
        return self.directory / "log"

    @property
    def log(self) -> Path:
        """What the server printed since its last start."""
        return self.log_directory / "server.log"
