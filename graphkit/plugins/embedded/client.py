"""The client of the embedded database: find the server of a folder, start it, stop it, report its status.

The server is a separate process (``embedded.server``) for one folder. Advisory file locks, which the kernel releases
even if a process dies, rule its life:

``server.lock``
    the server holds it exclusively while it runs;
``clients.lock``
    every process that uses the server shares it; the server stops when nobody holds it;
``start.lock``
    a client holds it exclusively while it looks for the server and starts it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.database.access import Waiting, unseen
from graphkit.database.settings import DATABASE
from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.folder import os_errors, other_owner, prepared
from graphkit.plugins.embedded.leases import alone_starting, held_error, join, leave, work_error
from graphkit.plugins.embedded.locks import is_held, locking_pid, running_work, wait_until, written_pid
from graphkit.plugins.embedded.place import ADMIN, READER, Layout, ServerLimits
from graphkit.plugins.embedded.starting import START_SECONDS, State, read_state, start

HOLDER_SECONDS = 15.0  # how long a server that holds the folder may take to answer
STOP_SECONDS = 60.0
_ANY = ServerLimits()
WORK_SECONDS = 600.0  # how long to wait for a compaction or a bulk load


@dataclass(frozen=True)
class Endpoint:
    """The address and accounts of a running embedded server. ``release`` it: the server stops after its last client."""

    uri: str
    user: str
    password: str = field(repr=False)
    reader_user: str
    reader_password: str = field(repr=False)
    version: str
    directory: Path
    database: str = DATABASE

    def release(self) -> None:
        """Release the server, once for each ``ensure_running``; the end of the process does it too."""
        leave(self.directory)


@dataclass(frozen=True)
class Status:
    """The status of the embedded server of a folder, or the compaction or bulk load that runs instead."""

    directory: Path
    running: bool
    pid: int | None = None
    uri: str | None = None
    version: str | None = None
    started_at: str | None = None
    keep: bool = False
    work: str | None = None


def ensure_running(
    directory: Path, *, keep: bool = False, waiting: Waiting = unseen, limits: ServerLimits = _ANY
) -> Endpoint:
    """Find the server of ``directory`` or start it, and hold it until ``Endpoint.release``.

    Raise DatabaseError if the folder can't be used, another process holds it, or the server doesn't start. Raise
    InputError if ``GRAPHKIT_JVM_HEAP`` isn't a memory size.

    The folder is created (mode 0700) if it doesn't exist. With ``keep``, the server runs on until ``stop``. While a
    compaction or a bulk load has the folder for itself, its end is awaited, within ``waiting`` with a sentence on it.

    A server that runs already keeps the ``limits`` that it was started with.
    """
    _require_posix()
    layout = Layout(prepared(directory))
    with os_errors(layout.directory):
        if (work := running_work(layout.server_lock)) is not None:
            with waiting(f"{work}, waiting for its end"):
                if not wait_until(lambda: running_work(layout.server_lock) is None, WORK_SECONDS):
                    raise work_error(layout, str(work))
    with os_errors(layout.directory), alone_starting(layout, START_SECONDS + HOLDER_SECONDS):
        join(layout, STOP_SECONDS)
        try:
            if keep:
                layout.keep.touch(mode=0o600)
            state = _find(layout) or start(layout, limits)
            return _endpoint(layout, state)
        except BaseException:
            leave(layout.directory)
            raise


def stop(directory: Path) -> bool:
    """Stop the server of ``directory`` cleanly, end its keep mode, and return whether it was running.

    Raise DatabaseError if the server doesn't stop within a minute, or belongs to another user, or if it isn't a server
    but a compaction or a bulk load.
    """
    _require_posix()
    layout = Layout(directory.absolute())
    with os_errors(layout.directory):
        if not layout.directory.is_dir():
            return False
        if not is_held(layout.server_lock):
            layout.keep.unlink(missing_ok=True)
            return False
        if (work := running_work(layout.server_lock)) is not None:
            raise work_error(layout, str(work))
        pid = locking_pid(layout.server_lock)
        if pid is None:
            raise held_error(layout, None)
        try:
            os.kill(pid, signal.SIGTERM)
        except PermissionError:
            owner = other_owner(Path(f"/proc/{pid}")) or "another user"
            raise DatabaseError(
                f"the embedded database (process {pid}) runs as {owner}",
                where=str(layout.directory),
                remedy=f"Run the command as {owner}; without clients, a database that isn't kept stops by itself.",
            ) from None
        except ProcessLookupError:
            pass
        layout.keep.unlink(missing_ok=True)
        if not wait_until(lambda: not is_held(layout.server_lock), STOP_SECONDS):
            raise DatabaseError(
                f"the embedded database (process {pid}) didn't stop within {STOP_SECONDS:.0f} seconds",
                where=str(layout.directory),
                remedy=f"See {layout.log}. What was committed is safe even if you end it with: kill -9 {pid}",
            )
    return True


def status(directory: Path) -> Status:
    """Return the status of the server of ``directory`` without starting or holding it."""
    _require_posix()
    layout = Layout(directory.absolute())
    with os_errors(layout.directory):
        keep = layout.keep.exists()
        state, work = _live_state(layout), running_work(layout.server_lock)
    if state is None:
        return Status(layout.directory, running=False, keep=keep, work=None if work is None else str(work))
    return Status(layout.directory, True, state.pid, state.uri, state.version, state.started_at, keep)


def _require_posix() -> None:
    if sys.platform == "win32":
        raise DatabaseError(
            "the embedded database needs Linux or macOS",
            remedy="Set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD to a Neo4j server, or work inside WSL.",
        )


def _live_state(layout: Layout) -> State | None:
    """Return the state of the running server; ignore that of a killed one."""
    if not is_held(layout.server_lock):
        return None
    state = read_state(layout)
    return state if state is not None and state.pid == written_pid(layout.server_lock) else None


def _find(layout: Layout) -> State | None:
    """Return the running server, or None if the folder is free. Wait for a server that is stopping."""
    found: list[State] = []

    def found_or_free() -> bool:
        if not is_held(layout.server_lock):
            return True
        state = _live_state(layout)
        if state is not None and _answers(state.bolt_port):
            found.append(state)
        return bool(found)

    if not wait_until(found_or_free, HOLDER_SECONDS):
        raise held_error(layout, locking_pid(layout.server_lock))
    return found[0] if found else None


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False


def _endpoint(layout: Layout, state: State) -> Endpoint:
    try:
        passwords = json.loads(layout.credentials.read_text("utf-8"))
        password, reader_password = str(passwords[ADMIN]), str(passwords[READER])
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseError(
            "the passwords of the embedded database can't be read",
            where=str(layout.credentials),
            remedy="Stop the server (graphkit db stop) and delete the file: the next start makes new passwords.",
        ) from error
    return Endpoint(state.uri, ADMIN, password, READER, reader_password, state.version, layout.directory)
