"""Tools of the loads: batches, progress, deletion in parts, and the commits that several loads write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from graphkit.database.store import Store
from graphkit.graph import rows as to_rows
from graphkit.graph import schema_version
from graphkit.graph.queries import cypher
from graphkit.records.models import Commit
from graphkit.records.words import counted

T = TypeVar("T")

#: Nodes or edges that one transaction writes.
BATCH = 5000

#: Nodes or edges that one transaction deletes at most.
CLEARED = 10_000

#: Chunks that no longer belong to anything, as many as are looked for at once.
LOOKED_FOR = 200_000


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most ``size``."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def retried_writes(count: int) -> str:
    """Return a sentence about writes that conflicted with those of another process."""
    held = "because another writer held the same nodes"
    return f"{counted(count, 'write')} {'was' if count == 1 else 'were'} tried again {held}"


def clear(store: Store, query: str, parameters: dict[str, Any], done: Callable[[int], None] = lambda _: None) -> None:
    """Run a query that deletes or links a limited number of items and returns how many, until none is left.

    ``done`` is called with the number after each transaction.
    """
    while count := int(str(next(iter(store.write(cypher(query), {**parameters, "limit": CLEARED})[0].values())))):
        done(count)


def clear_unnamed(store: Store, dataset: str, done: Callable[[int], None] = lambda _: None) -> None:
    """Delete the chunks and the artifacts of a dataset that nothing of it names any more."""
    # Each look for chunks goes over all of them, so it finds more than one transaction deletes.
    named = {"dataset": dataset, "limit": LOOKED_FOR}
    while digests := [row["digest"] for row in store.read(cypher("read/unnamed_chunks"), named)]:
        for some in batched(digests, CLEARED):
            store.write(cypher("load/clear_unnamed_chunks"), {"digests": some})
            done(len(some))
        if len(digests) < LOOKED_FOR:
            break
    clear(store, "load/clear_unnamed_artifacts", {"dataset": dataset}, done)


def clear_former(store: Store, done: Callable[[int], None] = lambda _: None) -> None:
    """Delete the chunks and the artifacts that a version before 15 wrote, and that nothing names any more."""
    clear(store, "load/clear_former_chunks", {}, done)
    clear(store, "load/clear_former_artifacts", {"schema": schema_version.SCHEMA_VERSION}, done)


def write_commits(
    store: Store, commits: Iterable[Commit], on_batch: Callable[[int], None], dataset: str | None = None
) -> None:
    """Merge commits of a dataset, or of a repository's history, then link each to its parents."""
    listed = [to_rows.commit_row(commit) for commit in commits]
    for batch in batched(listed, BATCH):
        rows = {"rows": batch}
        statements: list[tuple[str, dict[str, Any]]] = [(cypher("load/commits"), {**rows, "history": dataset is None})]
        if dataset is not None:
            statements.append((cypher("load/listed"), {**rows, "dataset": dataset}))
        store.write_many(statements)
        on_batch(len(batch))
    for batch in batched(listed, BATCH):
        store.write(
            cypher("load/parents"),
            {"rows": [{"key": row["key"], "parent_keys": row["parent_keys"]} for row in batch if row["parents"]]},
        )
