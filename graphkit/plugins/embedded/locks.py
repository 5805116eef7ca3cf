"""Advisory file locks, which the kernel releases even if a process dies, and their holders."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_POLL_SECONDS = 0.02


def lock_file(path: Path) -> int:
    """Open a lock file and return its descriptor, which child processes don't inherit."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_held(path: Path) -> bool:
    """Return whether a process holds the file's lock exclusively."""
    if not path.exists():
        return False
    descriptor = lock_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def lock_within(descriptor: int, mode: int, seconds: float) -> bool:
    """Lock a file, waiting at most ``seconds``; return whether that succeeded."""

    def locked() -> bool:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return wait_until(locked, seconds)


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a process that holds the files of a database alone, such as a compaction."""

    what: str
    since: str
    pid: int

    def __str__(self) -> str:
        return f"a {self.what} is running since {self.since} (process {self.pid})"


def held_lock(path: Path, seconds: float, work: str | None = None) -> int | None:
    """Lock a file, write the id of this process into it, and return its descriptor; None if another one keeps it.

    ``work`` is written, too, with the time: what this process does that has the files for itself.
    """
    descriptor = lock_file(path)
    if not lock_within(descriptor, fcntl.LOCK_EX, seconds):
        os.close(descriptor)
        return None
    os.truncate(descriptor, 0)
    lines = [str(os.getpid()), *([work, time.strftime("%Y-%m-%d %H:%M:%S")] if work is not None else [])]
    os.pwrite(descriptor, "\n".join(lines).encode("ascii"), 0)
    return descriptor


def locking_pid(path: Path) -> int | None:
    """Return the id of the process that holds the file's lock, from the kernel or else from the text of the file."""
    return _pid_by_kernel(path) or written_pid(path)


def _pid_by_kernel(path: Path) -> int | None:
    try:
        info = path.stat()
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    file = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    for line in lines:
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[3] == "WRITE" and words[5] == file and int(words[4]) > 0:
            return int(words[4])
    return None


def written_pid(path: Path) -> int | None:
    """Return the process id in a file, or None if there is none."""
    try:
        return int(path.read_text("ascii").partition("\n")[0])
    except (OSError, ValueError):
        return None


def running_work(path: Path) -> Work | None:
    """Return the work of the process that holds the file's lock; None if it is a server, or nobody holds it."""
    try:
        lines = path.read_text("ascii").splitlines()
    except (FileNotFoundError, ValueError):
        return None
    return Work(lines[1], lines[2], int(lines[0])) if len(lines) == 3 and is_held(path) else None


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return False if it doesn't hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
