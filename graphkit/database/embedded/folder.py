"""The folder of an embedded database: create it, and explain what is wrong with it."""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from graphkit.errors import DatabaseError

_LEAST_ROOM = 1024 * 1024  # bytes


def prepared(directory: Path) -> Path:
    """Create the folder (mode 0700) if it doesn't exist, and return its absolute path."""
    directory = directory.absolute()
    if directory.exists() and not directory.is_dir():
        raise DatabaseError(
            "The path of the embedded database is a file, not a folder",
            where=str(directory),
            remedy="Name another folder (--data or GRAPHKIT_HOME), or move the file away.",
        )
    if (directory / "questions.jsonl").exists():
        raise DatabaseError(
            "The path of the embedded database is the folder of a dataset, and its files would lie among the dataset's",
            where=str(directory),
            remedy="Name the dataset by --dataset, and by --data or GRAPHKIT_HOME another folder for the database.",
        )
    with os_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


@contextlib.contextmanager
def os_errors(directory: Path) -> Iterator[None]:
    """Raise DatabaseError for a failed operation on the folder's files."""
    try:
        yield
    except OSError as error:
        raise os_error(error, directory) from error


def os_error(error: OSError, directory: Path) -> DatabaseError:
    """Return the DatabaseError for a failed file operation in the folder."""
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
    """Return whether the disk of a folder has less than a megabyte left."""
    try:
        return shutil.disk_usage(directory).free < _LEAST_ROOM
    except OSError:
        return False


#: ``GOLD_0.4.65536.v0.bucket``, ``Answer_0_out_edges.38...``, ``Answer_0_2904...umtidx``: records, links, an index.
_FILE_OF_KIND = re.compile(r"(.+?)_\d+[._]")


def bytes_by_kind(database: Path) -> Mapping[str, int]:
    """Return the bytes of a database's files by label and type, with links and indexes; of the rest as ``""``."""
    found: Counter[str] = Counter()
    for file in database.iterdir():
        kind = _FILE_OF_KIND.match(file.name)
        with contextlib.suppress(FileNotFoundError):  # the server removes files of its log
            found[kind.group(1) if kind else ""] += file.stat().st_size
    return found
