"""Load git history into the graph in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.atomic import write_records
from graphkit.files.dataset import storable_name
from graphkit.files.git import is_shallow, open_repository, read_history, repository_name
from graphkit.graph.commit_names import know_histories, resolve_commits
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.walk_sides import align_sides
from graphkit.graph.writing import BATCH, batched, write_commits
from graphkit.records.models import Commit
from graphkit.records.progress import Progress, quiet


@dataclass(frozen=True, slots=True)
class HistoryLoad:
    """The result of reading a repository: how many commits were written, and how many were unchanged.

    The history of a ``shallow`` clone is cut.
    """

    repository: str
    written: int
    unchanged: int
    shallow: bool = False


def load_history(store: Store, path: Path, name: str | None = None, progress: Progress = quiet) -> HistoryLoad:
    """Load the history of a local git repository into commit nodes; write only new or changed commits.

    Raise InputError if there is no git repository, it can't be read, or its name can't be stored.

    ``path`` is a work tree, a bare repository, or a folder inside one; a shallow clone gives only its own commits.
    ``name`` is the repository's name in the graph, by default that of its folder.
    """
    with open_repository(path) as repository:
        chosen = storable_name(name or repository_name(repository, path), str(path))
        shallow = is_shallow(repository)
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
        align_sides(store, str(row["name"]))
    return HistoryLoad(chosen, written, unchanged, shallow)


def write_histories(out: Path, paths: Sequence[Path], name: str | None = None) -> list[HistoryLoad]:
    """Write the histories of local git repositories to one file, such as a dataset's ``commits.jsonl``.

    Raise InputError if a repository can't be read, two have one name, or the file can't be written.
    """
    loads: dict[str, HistoryLoad] = {}

    def histories() -> Iterator[Commit]:
        for path in paths:
            with open_repository(path) as repository:
                chosen = storable_name(name or repository_name(repository, path), str(path))
                if chosen in loads:
                    remedy = "Name each repository once; folders of one name go to files of their own, with --name."
                    raise InputError(f"two repositories are called {chosen!r}", where=str(path), remedy=remedy)
                commits = list(read_history(repository, chosen, path))
                yield from commits
                loads[chosen] = HistoryLoad(chosen, len(commits), 0, is_shallow(repository))

    write_records(out, histories())
    return list(loads.values())
