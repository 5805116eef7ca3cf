"""Load git history into the graph: commits with parents, branches, tags and times, read with dulwich in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.database.store import Store
from graphkit.files.dataset import storable_name
from graphkit.files.git import git_errors, open_repository
from graphkit.graph.commit_names import know_histories, resolve_commits
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.writing import BATCH, batched, write_commits
from graphkit.records.commits import DEFAULT_BRANCHES
from graphkit.records.fields import FARTHEST_ZONE
from graphkit.records.models import Commit
from graphkit.records.progress import Progress, quiet

if TYPE_CHECKING:
    from dulwich.repo import Repo


@dataclass(frozen=True, slots=True)
class HistoryLoad:
    """The result of reading a repository: how many commits were written, and how many were unchanged."""

    repository: str
    written: int
    unchanged: int


def load_history(store: Store, path: Path, name: str | None = None, progress: Progress = quiet) -> HistoryLoad:
    """Load the history of a local git repository into commit nodes; write only new or changed commits.

    Raise InputError if there is no git repository, it can't be read, or its name can't be stored.

    ``path`` is a work tree, a bare repository, or a folder inside one; a shallow clone gives only its own commits.
    ``name`` is the repository's name in the graph, by default that of its folder.
    """
    with open_repository(path) as repository:
        chosen = storable_name(name or _folder_name(repository, path), str(path))
        with reserved(store, f"history of {chosen}") as held:
            rows = store.read(cypher("load/known_commits"), {"repo": chosen})
            known = {str(row["sha"]): (row["branch"], row["tags"]) for row in rows}
            linked = {str(row["sha"]): int(str(row["parents"])) for row in rows}
            written = unchanged = 0
            there: set[str] = set()
            for batch in batched(read_history(repository, chosen, path), BATCH):
                there.update(commit.sha for commit in batch)
                # A shallow clone lacks parents that a later load may bring.
                fresh = [
                    commit
                    for commit in batch
                    if known.get(commit.sha) != (commit.branch, [*commit.all_tags])
                    or linked[commit.sha] < len(there.intersection(commit.parents))
                ]
                unchanged += len(batch) - len(fresh)
                if fresh:
                    # Count a change before and after the write: results from the old commits are outdated even if
                    # this load dies, and so are results from a part of the new ones.
                    store.write(cypher("load/history_changes"), {"repo": chosen})
                    write_commits(store, fresh, lambda count: progress("commits", count))
                    store.write(cypher("load/history_changes"), {"repo": chosen})
                written += len(fresh)
                held.beat()
    store.write(cypher("load/late_commits"), {})
    for row in store.read(cypher("read/naming_datasets"), {"repo": chosen}):
        know_histories(store, str(row["name"]))
        resolve_commits(store, str(row["name"]))
    return HistoryLoad(chosen, written, unchanged)


def _folder_name(repository: Repo, path: Path) -> str:
    folder = Path(repository.path).resolve()
    return folder.name.removesuffix(".git") or folder.parent.name or path.name


def read_history(repository: Repo, name: str, path: Path) -> Iterator[Commit]:
    """Yield every commit that a branch or tag reaches, parents before children.

    The branch of a commit is the first one with the commit on its chain of first parents: the default branch, then the
    others by name. A commit from a merge has none.
    """
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
