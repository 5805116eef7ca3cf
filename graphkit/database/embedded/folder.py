"""The folder of an embedded database on its disk: made where it is missing, and what is wrong with it in words."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from graphkit.errors import DatabaseError

_LEAST_ROOM = 1024 * 1024  # bytes


def prepared(directory: Path) -> Path:
    """Return the folder as an absolute path, made (mode 0700) if it doesn't exist."""
    directory = directory.absolute()
    if directory.exists() and not directory.is_dir():
        raise DatabaseError(
            "The place for the embedded database is a file, not a folder",
            where=str(directory),
            remedy="Name another folder (--data or GRAPHKIT_HOME), or move the file away.",
        )
    if (directory / "questions.jsonl").exists():
        raise DatabaseError(
            "The place for the embedded database is the folder of a dataset, whose files it would lie among",
            where=str(directory),
            remedy="Name the dataset by --dataset, and by --data or GRAPHKIT_HOME another folder for the database.",
        )
    with os_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


@contextlib.contextmanager
def os_errors(directory: Path) -> Iterator[None]:
    """Raise what fails on the folder's files as an error of the database."""
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
