"""The embedded database as graphkit reaches it: access to the server of a folder, and its status."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphkit.database.access import Access, Waiting
from graphkit.database.dialects import ArcadeDB
from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.client import ensure_running, status
from graphkit.plugins.embedded.folder import bytes_by_kind, disk_is_full
from graphkit.plugins.embedded.place import DEFAULT_HEAP, HEAP_VARIABLE, Layout, ServerLimits

RETRY_SECONDS = 1.0  # a local server that doesn't answer has died


class EmbeddedAccess(Access):
    """Access to the embedded server of a folder, which it starts and holds until the release."""

    dialect = ArcadeDB()

    def __init__(self, folder: Path, waiting: Waiting, timeout: float | None = None) -> None:
        endpoint = ensure_running(folder, waiting=waiting, limits=ServerLimits(timeout))
        super().__init__(
            endpoint.uri,
            endpoint.database,
            (endpoint.user, endpoint.password),
            (endpoint.reader_user, endpoint.reader_password),
        )
        self.retry_seconds = RETRY_SECONDS
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
        what = "the embedded database stopped answering"
        remedy = (
            f"Run the command again: it starts the database. See: graphkit db status, and its log {self._layout.log}"
        )
        if "OutOfMemoryError" in _tail(self._layout.log):
            what, remedy = "the embedded database ran out of memory and stopped", f"Raise {_heap()} and run it again."
        return DatabaseError(f"{what}; what was committed is safe", where=self.disk, remedy=remedy)

    def release(self) -> None:
        """Release the server, which stops after its last client."""
        if self._held:
            self._held = False
            self._endpoint.release()


class Embedded:
    """The embedded database; see :class:`graphkit.database.access.EmbeddedDatabase`."""

    def access(self, folder: Path, waiting: Waiting, timeout: float | None = None) -> Access:
        """Return access to the database in a folder; see :func:`graphkit.plugins.embedded.client.ensure_running`."""
        return EmbeddedAccess(folder, waiting, timeout)

    def status(self, folder: Path) -> dict[str, Any]:
        """Return what is known of the server of a folder, or of the work that runs instead."""
        return {name: value for name, value in dataclasses.asdict(status(folder)).items() if value is not None}


EMBEDDED = Embedded()


def _heap(further: str = "") -> str:
    return f"{HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}{further})"


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
