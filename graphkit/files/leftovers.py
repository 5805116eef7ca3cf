"""Temporary files and folders of a living process; it removes the leftovers of killed ones.

The process that makes one holds a lock on it, which ends with the process. An unlocked one is a leftover.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # without such locks, leftovers can't be recognised
    fcntl = None  # type: ignore[assignment]

#: The beginning of the names of such temporary folders.
FOLDERS = "graphkit-held-"


def held_file(folder: Path, prefix: str, suffix: str = "") -> tuple[int, Path]:
    """Return a new temporary file, and the descriptor that locks it until it is closed."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=folder)
        if _locked(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # swept before it was locked


def sweep(folder: Path, prefix: str, suffix: str = "") -> None:
    """Remove the files that :func:`held_file` made in a folder, and that no process locks any more."""
    name = re.compile(rf"{re.escape(prefix)}[a-z0-9_]{{8}}{re.escape(suffix)}")
    for path in _entries(folder):
        if name.fullmatch(path.name):
            _remove_if_left(path)


@contextmanager
def held_folder(place: Path | None = None) -> Iterator[Path]:
    """Yield a new temporary folder, removed at the end; remove those of dead processes first.

    ``place`` is the folder to make it in, by default that for temporary files.
    """
    place = place or Path(tempfile.gettempdir())
    name = re.compile(rf"{FOLDERS}[a-z0-9_]{{8}}")
    for path in _entries(place):
        if name.fullmatch(path.name):
            _remove_if_left(path)
    while True:
        made = Path(tempfile.mkdtemp(prefix=FOLDERS, dir=place))
        with contextlib.suppress(FileNotFoundError):  # swept before it was locked
            descriptor = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
            if _locked(descriptor) is not False and made.exists():
                break
            os.close(descriptor)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(descriptor)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove_if_left(path: Path) -> None:
    """Remove one of our temporary files or folders that no process locks.

    The lock is kept until it is gone: the process that has just made it can't take it for its own meanwhile.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if status.st_uid == os.getuid() and _locked(descriptor) is True:
                if stat.S_ISDIR(status.st_mode):
                    shutil.rmtree(path, ignore_errors=True)
                elif stat.S_ISREG(status.st_mode):
                    path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool | None:
    """Lock a file; return whether no other process holds it, and None if that is unknown."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
