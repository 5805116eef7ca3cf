"""The folder of an embedded database: create it, and explain what is wrong with it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from graphkit.errors import DatabaseError

if sys.platform != "win32":
    import pwd
    import resource

_LEAST_ROOM = 1024 * 1024  # bytes


def prepared(directory: Path) -> Path:
    """Create the folder (mode 0700) if it doesn't exist, and return its absolute path."""
    with os_errors(directory):
        return _made(directory.absolute())


def _made(directory: Path) -> Path:
    if directory.exists() and not directory.is_dir():
        raise DatabaseError(
            "the path of the embedded database is a file, not a folder",
            where=str(directory),
            remedy="Name another folder (--data or GRAPHKIT_HOME), or move the file away.",
        )
    if (directory / "questions.jsonl").exists():
        raise DatabaseError(
            "the path of the embedded database is the folder of a dataset, and its files would lie among the dataset's",
            where=str(directory),
            remedy="Name the dataset by --dataset, and by --data or GRAPHKIT_HOME another folder for the database.",
        )
    try:
        os.fsencode(directory).decode("utf-8")
    except UnicodeDecodeError:
        raise DatabaseError(
            "the path of the embedded database isn't UTF-8, and its Java finds no file there",
            where=str(directory),
            remedy="Name a folder by --data or GRAPHKIT_HOME whose path is UTF-8.",
        ) from None
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
            "the disk is full",
            where=str(directory),
            remedy="Make room, or name a folder on another disk (--data or GRAPHKIT_HOME).",
        )
    reason = error.strerror or type(error).__name__
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return DatabaseError(f"{reason}{few_files()}", where=str(directory), remedy=_FILES_REMEDY)
    denied = error.errno in (errno.EACCES, errno.EPERM) and os.access(directory, os.F_OK)  # else no database is there
    if denied and (owner := other_owner(Path(error.filename or directory))):
        return DatabaseError(
            f"the embedded database in this folder belongs to {owner}: {reason}",
            where=str(directory),
            remedy=f"Run the command as {owner}, or name a folder of your own (--data or GRAPHKIT_HOME).",
        )
    return DatabaseError(
        f"the folder of the embedded database can't be used: {reason}",
        where=str(error.filename or directory),
        remedy="Name a folder that you may write to (--data or GRAPHKIT_HOME), or set NEO4J_URI to a Neo4j server.",
    )


def other_owner(path: Path) -> str | None:
    """Return the user that owns a path, or what is there of it; None if that is the user of this process."""
    for one in (path, *path.parents):
        with contextlib.suppress(OSError):
            uid = one.stat().st_uid
            try:
                name = pwd.getpwuid(uid).pw_name
            except KeyError:
                name = f"the user {uid}"
            return None if uid == os.geteuid() else name
    return None


#: Open files with which a database may not even start: its Java alone has about as many.
_FEW_FILES = 256
_FILES_REMEDY = "Allow more open files: ulimit -n 4096 (in containers --ulimit nofile=4096)."


def few_files() -> str:
    """Return a note on the limit of open files of this process if it is low; else nothing."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return f" (at most {limit} files may be open: ulimit -n 4096 allows more)" if 0 <= limit < _FEW_FILES else ""


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
