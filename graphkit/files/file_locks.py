"""Locks among processes: only one at a time reads a file, changes it and writes it back."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphkit.errors import InputError


@contextmanager
def locked(path: Path, wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock file while the block runs; other processes wait for it.

    The kernel releases the lock of a process that dies. The file is removed with the lock.

    Parameters
    ----------
    wait
        Called once if another process holds the lock, before waiting.

    Raises
    ------
    InputError
        The file can't be created.
    """
    try:
        descriptor = _taken(path, wait)
    except OSError as error:
        what = f"the folder can't be written: {error.strerror or error}"
        raise InputError(what, where=str(path.parent), remedy="Make it writable.") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while the lock is held: a process that waits for this file sees that it is gone
        os.close(descriptor)


def _taken(path: Path, wait: Callable[[], None]) -> int:
    """Return the descriptor of the locked file, which still exists."""
    waited = False
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not waited:
                    wait()
                waited = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its last holder removed it
