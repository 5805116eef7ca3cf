"""The locks of this process as a client of embedded servers, with the number of holders of each."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.locks import lock_file, lock_within, locking_pid, running_work
from graphkit.plugins.embedded.place import Layout

if sys.platform != "win32":
    import fcntl

_leases: dict[Path, tuple[int, int]] = {}  # folder -> file descriptor, number of holders in this process
_leases_guard = threading.Lock()


@contextlib.contextmanager
def alone_starting(layout: Layout, seconds: float) -> Iterator[None]:
    """Let only this process look for the server and start it; wait at most ``seconds`` for another process."""
    path = layout.start_lock
    descriptor = lock_file(path)
    try:
        if not lock_within(descriptor, fcntl.LOCK_EX, seconds):
            pid = locking_pid(path)
            raise DatabaseError(
                f"another process{f' ({pid})' if pid else ''} has been starting the embedded database for too long",
                where=str(path.parent),
                remedy="Try again, or end that process.",
            )
        yield
    finally:
        os.close(descriptor)


def join(layout: Layout, seconds: float) -> None:
    """Become a client; wait at most ``seconds`` for a stopping server, which keeps the lock."""
    with _leases_guard:
        descriptor, holders = _leases.get(layout.directory, (-1, 0))
        if holders == 0:
            descriptor = lock_file(layout.clients_lock)
            if not lock_within(descriptor, fcntl.LOCK_SH, seconds):
                os.close(descriptor)
                raise held_error(layout, locking_pid(layout.clients_lock))
        _leases[layout.directory] = (descriptor, holders + 1)


def leave(directory: Path) -> None:
    """End one use of the server by this process, which is no longer a client after the last one."""
    with _leases_guard:
        descriptor, holders = _leases.get(directory, (-1, 0))
        if holders > 1:
            _leases[directory] = (descriptor, holders - 1)
        elif holders == 1:
            del _leases[directory]
            # Close instead of unlocking: a forked copy of this process shares the lock and may still need it.
            os.close(descriptor)


def work_error(layout: Layout, work: str) -> DatabaseError:
    """Return the error of a folder in which other work is under way, which its sentence says."""
    return DatabaseError(
        f"{work}, and has the embedded database for itself",
        where=str(layout.directory),
        remedy="It is well, and ends by itself: wait for it, and run the command again.",
    )


def held_error(layout: Layout, pid: int | None) -> DatabaseError:
    """Return the error of a folder that a process holds although no server answers."""
    if (work := running_work(layout.server_lock)) is not None:
        return work_error(layout, str(work))
    who = f"process {pid}" if pid else "another process"
    ending = f"end process {pid} (kill {pid})" if pid else "end the process that uses the folder"
    return DatabaseError(
        f"{who} holds the folder of the embedded database, but no server answers",
        where=str(layout.directory),
        remedy=f"Wait for it, {ending}, or name another folder (--data or GRAPHKIT_HOME). Its log: {layout.log}",
    )
