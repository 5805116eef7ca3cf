"""Local git repositories: open one, and report missing and damaged objects."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError

if TYPE_CHECKING:
    from dulwich.repo import Repo


def open_repository(path: Path) -> Repo:
    """Open the git repository that holds a path, or raise InputError."""
    from dulwich.errors import NotGitRepository
    from dulwich.repo import Repo

    try:
        return Repo.discover(str(path))
    except (NotGitRepository, OSError, ValueError) as error:
        remedy = "Name the folder of a local clone."
        raise InputError("this is no git repository", where=str(path), remedy=remedy) from error


@contextmanager
def git_errors(where: str) -> Iterator[None]:
    """Raise InputError for the errors of an incomplete or damaged repository."""
    from dulwich.errors import ChecksumMismatch, FileFormatException, MissingCommitError

    try:
        yield
    except (KeyError, MissingCommitError) as error:
        missing = error.args[0] if error.args else b""
        shown = missing.decode("ascii", "replace") if isinstance(missing, bytes) else str(missing)
        what = f"the repository lacks the object {shown.partition(' ')[0]}"
        raise InputError(what, where=where, remedy="Fetch it whole, or `git fsck` it.") from None
    except (ChecksumMismatch, FileFormatException, zlib.error) as error:
        what = f"the repository holds a damaged object: {error}"
        raise InputError(what, where=where, remedy="Clone it again.") from None
