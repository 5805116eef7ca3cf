"""Local git repositories: open one, read its history with dulwich, and report missing and damaged objects."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.records.commits import DEFAULT_BRANCHES
from graphkit.records.fields import FARTHEST_ZONE

if TYPE_CHECKING:
    from dulwich.repo import Repo

    from graphkit.records.models import Commit


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


def commit_around(path: Path) -> str | None:
    """Return the commit that is checked out around a file; None outside of a repository."""
    try:
        with closing(open_repository(path.parent)) as repo:
            return repo.head().decode("ascii")
    except (InputError, KeyError):
        return None


def is_shallow(repository: Repo) -> bool:
    """Return whether this is a shallow clone, whose history is cut."""
    return bool(repository.get_shallow())


def repository_name(repository: Repo, path: Path) -> str:
    """Return the name of a repository's folder."""
    folder = Path(repository.path).resolve()
    return folder.name.removesuffix(".git") or folder.parent.name or path.name


def read_history(repository: Repo, name: str, path: Path) -> Iterator[Commit]:
    """Yield every commit that a branch or tag reaches, parents before children.

    The branch of a commit is the first one with the commit on its chain of first parents: the default branch, then the
    others by name. A commit from a merge has none.
    """
    from graphkit.records.models import Commit

    with git_errors(str(path)):
        heads, tags = _references(repository)
        branches = _first_parents(repository, heads)
        for entry in repository.get_walker(include=_reached(repository, heads, tags), order="topo", reverse=True):
            commit = entry.commit
            sha = commit.id.decode()
            yield Commit(
                repo=name,
                sha=sha,
                parents=tuple(parent.decode() for parent in commit.parents),
                branch=branches.get(sha),
                committed_at=_moment(commit.commit_time, commit.commit_timezone),
                tag=tags[sha][0] if sha in tags else None,
                tags=tuple(tags.get(sha, ())),
            )


def _moment(seconds: int, offset: int) -> datetime | None:
    """Return the time of a commit; None beyond the calendar, UTC for an impossible offset, as old tools wrote them."""
    away = timedelta(seconds=offset)
    zone = timezone(away) if abs(away) <= FARTHEST_ZONE else UTC
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone(zone)
    except (ValueError, OverflowError, OSError):
        return None


def _references(repository: Repo) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the branches (name to sha, the default one first) and the tags (sha of the commit to names)."""
    heads: dict[str, str] = {}
    tags: dict[str, list[str]] = {}
    for reference, target in sorted(repository.get_refs().items()):
        text = reference.decode("utf-8", "replace")
        sha = _commit_sha(repository, target)
        if sha is None:
            continue
        if text.startswith("refs/heads/"):
            heads[text.removeprefix("refs/heads/")] = sha
        elif text.startswith("refs/remotes/") and not text.endswith("/HEAD"):
            heads.setdefault(text.removeprefix("refs/remotes/").partition("/")[2], sha)
        elif text.startswith("refs/tags/"):
            tags.setdefault(sha, []).append(text.removeprefix("refs/tags/"))
    default = _default_branch(repository, heads)
    ordered = sorted(heads, key=lambda name: (name != default, name not in DEFAULT_BRANCHES, name))
    return {name: heads[name] for name in ordered}, tags


def _commit_sha(repository: Repo, target: bytes) -> str | None:
    """Return the commit of a reference, also through annotated tags; None if there is none."""
    from dulwich.objects import Commit as GitCommit
    from dulwich.objects import Tag

    try:
        found = repository[target]
        while isinstance(found, Tag):
            found = repository[found.object[1]]
    except KeyError:
        return None
    return found.id.decode() if isinstance(found, GitCommit) else None


def _default_branch(repository: Repo, heads: dict[str, str]) -> str | None:
    for reference in (b"refs/remotes/origin/HEAD", b"HEAD"):
        target = repository.refs.read_ref(reference)  # type: ignore[arg-type]
        if target and target.startswith(b"ref: "):
            name = target.removeprefix(b"ref: ").decode("utf-8", "replace")
            short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")
            if short in heads and (short in DEFAULT_BRANCHES or reference != b"HEAD"):
                return short
    return next((name for name in heads if name in DEFAULT_BRANCHES), None)


def _first_parents(repository: Repo, heads: dict[str, str]) -> dict[str, str]:
    """Return the branch of each commit that is on a chain of first parents."""
    from dulwich.objects import Commit as GitCommit

    branches: dict[str, str] = {}
    for name, head in heads.items():
        sha = head
        while sha not in branches:
            branches[sha] = name
            try:
                found = repository[sha.encode()]
            except KeyError:  # a shallow clone ends here
                break
            if not isinstance(found, GitCommit) or not found.parents:
                break
            sha = found.parents[0].decode()
    return branches


def _reached(repository: Repo, heads: dict[str, str], tags: Iterable[str]) -> list[Any]:
    shas = {*heads.values(), *tags}
    if not shas:
        head = repository.refs.read_ref(b"HEAD")  # type: ignore[arg-type]
        shas = {head.decode()} if head and not head.startswith(b"ref: ") else set()
    return [sha.encode() for sha in sorted(shas)]
