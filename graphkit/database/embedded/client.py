"""The client's side of the embedded database: find the server of a folder, start it, stop it, report on it.

The server is a process of its own (``embedded.server``) and belongs to one folder. Its life is ruled by advisory
file locks, which the kernel releases whatever happens to a process:

``server.lock``
    held exclusively by the server for life;
``clients.lock``
    held shared by every process that uses the server; the server stops when nobody holds it any more;
``start.lock``
    held exclusively around "is there a server? else start one".
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.database.embedded.locks import is_held, lock_file, lock_within, locking_pid, wait_until, written_pid
from graphkit.errors import DatabaseError, InputError

if sys.platform != "win32":
    import fcntl

DEFAULT_DIRECTORY = ".graphkit"
HOME_VARIABLE = "GRAPHKIT_HOME"
DATABASE = "neo4j"
ADMIN = "root"
READER = "reader"
HEAP_VARIABLE = "GRAPHKIT_JVM_HEAP"
#: What Java takes by itself, within a container of its memory.
DEFAULT_HEAP = "a quarter of the memory"
TIMEOUT_VARIABLE = "GRAPHKIT_QUERY_TIMEOUT"

START_SECONDS = 90.0  # a cold start takes about one second; a starved machine may need many
HOLDER_SECONDS = 15.0  # how long a server that holds the folder may take to answer
STOP_SECONDS = 60.0
_LEAST_ROOM = 1024 * 1024  # bytes
_HIDDEN_FROM_SERVER = ("ANTHROPIC_", "NEO4J_")


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


@dataclass(frozen=True)
class Endpoint:
    """How to reach a running embedded server. ``release`` it when done: the server stops after its last client."""

    uri: str
    user: str
    password: str = field(repr=False)
    reader_user: str
    reader_password: str = field(repr=False)
    version: str
    directory: Path
    database: str = DATABASE

    def release(self) -> None:
        """Give the server back. Needed once for each ``ensure_running``; the end of the process does it too."""
        _release(self.directory)


@dataclass(frozen=True)
class Status:
    """What is known of the embedded server of a folder."""

    directory: Path
    running: bool
    pid: int | None = None
    uri: str | None = None
    version: str | None = None
    started_at: str | None = None
    keep: bool = False


def ensure_running(directory: Path, *, keep: bool = False) -> Endpoint:
    """Find the server of ``directory`` or start it, and hold it until ``Endpoint.release``.

    Parameters
    ----------
    directory
        The database folder; made (mode 0700) if it doesn't exist.
    keep
        Leave the server running after its last client, until ``stop``.

    Raises
    ------
    DatabaseError
        When the folder can't be used, another process holds it, or the server doesn't start.
    InputError
        When ``GRAPHKIT_JVM_HEAP`` isn't a size of memory.
    """
    _require_posix()
    layout = Layout(_prepared(directory))
    with _os_errors(layout.directory), _locked(layout.start_lock):
        _acquire(layout)
        try:
            if keep:
                layout.keep.touch(mode=0o600)
            state = _find(layout) or _start(layout)
            return _endpoint(layout, state)
        except BaseException:
            _release(layout.directory)
            raise


def stop(directory: Path) -> bool:
    """Stop the server of ``directory`` cleanly, and end its keep mode.

    Returns
    -------
    bool
        Whether a server was running.

    Raises
    ------
    DatabaseError
        When it doesn't stop within a minute, or isn't ours to stop.
    """
    _require_posix()
    layout = Layout(directory.absolute())
    if not layout.directory.is_dir():
        return False
    with _os_errors(layout.directory):
        layout.keep.unlink(missing_ok=True)
        if not is_held(layout.server_lock):
            return False
        pid = _holder(layout)
        if pid is None:
            raise _held_error(layout, None)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        if not wait_until(lambda: not is_held(layout.server_lock), STOP_SECONDS):
            raise DatabaseError(
                f"The embedded database (process {pid}) didn't stop within {STOP_SECONDS:.0f} seconds",
                where=str(layout.directory),
                remedy=f"See {layout.log}. What was committed is safe even if you end it with: kill -9 {pid}",
            )
    return True


def status(directory: Path) -> Status:
    """Report on the server of ``directory`` without starting or holding it."""
    _require_posix()
    layout = Layout(directory.absolute())
    keep = layout.keep.exists()
    with _os_errors(layout.directory):
        state = _live_state(layout)
    if state is None:
        return Status(layout.directory, running=False, keep=keep)
    return Status(layout.directory, True, state.pid, state.uri, state.version, state.started_at, keep)


def last_log_line(log: Path) -> str | None:
    """Return the last line of a server's log that says what went wrong, or just the last one; None if there is none."""
    try:
        lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return None
    for line, following in zip(reversed(lines), ["", *reversed(lines)], strict=False):
        if _TELLING.search(line) and not line.startswith("at "):
            # The virtual machine says on a line of its own that it didn't start, and why on the next.
            return (
                following[:500] if line.startswith("Error occurred during initialization") and following else line[:500]
            )
    return lines[-1][:500] if lines else None


_TELLING = re.compile(r"error|exception|severe|fail|cannot|could not|unable|invalid|denied|no space", re.IGNORECASE)


@dataclass(frozen=True)
class _State:
    pid: int
    bolt_port: int
    started_at: str
    version: str

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.bolt_port}"


def _require_posix() -> None:
    if sys.platform == "win32":
        raise DatabaseError(
            "The embedded database needs Linux or macOS",
            remedy="Set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD to a Neo4j server, or work inside WSL.",
        )


def _prepared(directory: Path) -> Path:
    directory = directory.absolute()
    if directory.exists() and not directory.is_dir():
        raise DatabaseError(
            "The place for the embedded database is a file, not a folder",
            where=str(directory),
            remedy="Name another folder (--data or GRAPHKIT_HOME), or move the file away.",
        )
    with _os_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


@contextlib.contextmanager
def _os_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise os_error(error, directory) from error


def os_error(error: OSError, directory: Path) -> DatabaseError:
    """Say what a failed file operation in the database folder means."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DatabaseError(
            "The disk is full",
            where=str(directory),
            remedy="Make room, or name a folder on another disk (--data or GRAPHKIT_HOME).",
        )
    reason = error.strerror or type(error).__name__
    return DatabaseError(
        f"The folder of the embedded database can't be used: {reason}",
        where=str(error.filename or directory),
        remedy="Name a folder that you may write to (--data or GRAPHKIT_HOME), or set NEO4J_URI to a Neo4j server.",
    )


def disk_is_full(directory: Path) -> bool:
    """Tell whether the disk of a folder has no room for even one page of the database."""
    try:
        return shutil.disk_usage(directory).free < _LEAST_ROOM
    except OSError:
        return False


# Locks -------------------------------------------------------------------------------------------------------------

_leases: dict[Path, tuple[int, int]] = {}  # folder -> file descriptor, number of holders in this process
_leases_guard = threading.Lock()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = lock_file(path)
    try:
        if not lock_within(descriptor, fcntl.LOCK_EX, START_SECONDS + HOLDER_SECONDS):
            pid = locking_pid(path)
            raise DatabaseError(
                f"Another process{f' ({pid})' if pid else ''} has been starting the embedded database for too long",
                where=str(path.parent),
                remedy="Try again, or end that process.",
            )
        yield
    finally:
        os.close(descriptor)


def _acquire(layout: Layout) -> None:
    """Become a client. Waits for a server that is shutting down for want of clients: it keeps the lock to its end."""
    with _leases_guard:
        descriptor, holders = _leases.get(layout.directory, (-1, 0))
        if holders == 0:
            descriptor = lock_file(layout.clients_lock)
            if not lock_within(descriptor, fcntl.LOCK_SH, STOP_SECONDS):
                os.close(descriptor)
                raise _held_error(layout, locking_pid(layout.clients_lock))
        _leases[layout.directory] = (descriptor, holders + 1)


def _release(directory: Path) -> None:
    with _leases_guard:
        descriptor, holders = _leases.get(directory, (-1, 0))
        if holders > 1:
            _leases[directory] = (descriptor, holders - 1)
        elif holders == 1:
            del _leases[directory]
            # Closing, not unlocking: a forked copy of this process shares the lock and may still need it.
            os.close(descriptor)


def _holder(layout: Layout) -> int | None:
    return locking_pid(layout.server_lock)


# Finding and starting ----------------------------------------------------------------------------------------------


def _live_state(layout: Layout) -> _State | None:
    """Return the state of the server that runs now, not that of one which was killed."""
    if not is_held(layout.server_lock):
        return None
    state = _read_state(layout)
    return state if state is not None and state.pid == written_pid(layout.server_lock) else None


def _read_state(layout: Layout) -> _State | None:
    try:
        content = json.loads(layout.state.read_text("utf-8"))
        return _State(
            int(content["pid"]), int(content["bolt_port"]), str(content["started_at"]), str(content["version"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _find(layout: Layout) -> _State | None:
    """Return the running server, or None if the folder is free. A server that is stopping is waited for."""
    found: list[_State] = []

    def settled() -> bool:
        if not is_held(layout.server_lock):
            return True
        state = _live_state(layout)
        if state is not None and _answers(state.bolt_port):
            found.append(state)
        return bool(found)

    if not wait_until(settled, HOLDER_SECONDS):
        raise _held_error(layout, _holder(layout))
    return found[0] if found else None


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False


def _held_error(layout: Layout, pid: int | None) -> DatabaseError:
    who = f"Process {pid}" if pid else "Another process"
    ending = f"end process {pid} (kill {pid})" if pid else "end the process that uses the folder"
    return DatabaseError(
        f"{who} holds the folder of the embedded database, but no server answers",
        where=str(layout.directory),
        remedy=f"Wait for it, {ending}, or name another folder (--data or GRAPHKIT_HOME). Its log: {layout.log}",
    )


def _start(layout: Layout) -> _State:
    """Start the server and wait until it answers. The caller holds ``start.lock``."""
    _check_heap()
    layout.state.unlink(missing_ok=True)
    layout.log_directory.mkdir(mode=0o700, exist_ok=True)
    if layout.log.exists():
        layout.log.replace(layout.log.with_suffix(".log.1"))
    reader, writer = os.pipe()
    try:
        try:
            with layout.log.open("wb") as log:
                _spawn(layout, writer, log.fileno())
        finally:
            os.close(writer)
        message = _first_message(reader, START_SECONDS)
    finally:
        os.close(reader)
    state = _read_state(layout) if message == "ready" else None
    if state is None:
        raise _start_error(layout, message)
    return state


def _spawn(layout: Layout, ready: int, log: int) -> None:
    """Run the server's program; it detaches itself, so that it is nobody's child and ``subprocess.run`` returns."""
    package_root = str(Path(__file__).resolve().parents[3])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_HIDDEN_FROM_SERVER)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
    # -P: the database folder is the working folder and must not be searched for modules.
    command = [
        sys.executable,
        "-P",
        "-m",
        "graphkit.database.embedded.server",
        str(layout.directory),
        "--detach",
        str(ready),
    ]
    subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=layout.directory,
        env=environment,
        pass_fds=(ready,),
        start_new_session=True,  # Ctrl-C in the terminal is for the client, not for the database
        check=False,
    )


def _first_message(descriptor: int, seconds: float) -> str:
    """Read what the server says of its start: "ready", a reason why not, or nothing if it died or took too long."""
    deadline = time.monotonic() + seconds
    chunks: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            return "timeout"
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace").strip()


def _start_error(layout: Layout, message: str) -> DatabaseError:
    if message == "timeout":
        what = f"The embedded database wasn't ready within {START_SECONDS:.0f} seconds"
    else:
        what = f"The embedded database didn't start: {message or last_log_line(layout.log) or 'it said nothing'}"
    remedy = f"Its log: {layout.log}"
    if "no space left" in what.lower() or disk_is_full(layout.directory):
        what = f"{what} (the disk is full)"
        remedy = f"Make room, or name a folder on another disk (--data or GRAPHKIT_HOME). {remedy}"
    elif "heap" in what.lower() or "memory" in what.lower():
        remedy = f"Set {HEAP_VARIABLE} to the memory that the database may take, such as 1g. {remedy}"
    return DatabaseError(what, where=str(layout.directory), remedy=remedy)


def _check_heap() -> None:
    heap = os.environ.get(HEAP_VARIABLE)
    if heap and not re.fullmatch(r"[1-9][0-9]*[kKmMgG]", heap):
        raise InputError(f"{HEAP_VARIABLE} is {heap!r}, which isn't a size of memory", remedy="Write it as 512m or 4g.")


def _endpoint(layout: Layout, state: _State) -> Endpoint:
    try:
        passwords = json.loads(layout.credentials.read_text("utf-8"))
        password, reader_password = str(passwords[ADMIN]), str(passwords[READER])
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseError(
            "The passwords of the embedded database can't be read",
            where=str(layout.credentials),
            remedy="Stop the server (graphkit db stop) and delete the file: new passwords are made at the next start.",
        ) from error
    return Endpoint(state.uri, ADMIN, password, READER, reader_password, state.version, layout.directory)
