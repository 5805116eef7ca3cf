"""What the graph knows: its runs and questions by their names, commits that belong together, what isn't scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError, did_you_mean
from graphkit.graph.queries import cypher
from graphkit.records.commits import CommitGraph, ReadAt, read_nothing
from graphkit.records.ids import KnownFiles
from graphkit.records.models import Commit, Compatibility


def invalid_questions(store: Store, dataset: str) -> dict[str, str]:
    """Return the questions of a dataset that aren't scored whatever a run did, and why."""
    return {
        str(row["question"]): str(row["reason"]) for row in store.read(cypher("read/invalid"), {"dataset": dataset})
    }


def commit_graph(store: Store, dataset: str, read_at: ReadAt = read_nothing) -> CommitGraph:
    """Return what is known about commits to a dataset: by its own records, and by the history of repositories.

    What other datasets of the same database say doesn't matter: a run scores as it does from the files alone.

    Parameters
    ----------
    read_at
        Tells at which commits the dataset's knowledge graphs read an artifact.
    """
    named = {"dataset": dataset}
    rows = [
        Compatibility.model_validate({**row, "commits": dict(zip(row["repositories"], row["names"], strict=True))})  # type: ignore[call-overload]
        for row in store.read(cypher("read/stacks"), named)
    ]
    return CommitGraph.build(known_commits(store, dataset), rows, read_at)


def known_files(store: Store, dataset: str) -> KnownFiles:
    """Return the files that a dataset names, which decide where ids are split."""
    named = {"dataset": dataset}
    return KnownFiles(lambda: [str(row["file"]) for row in store.read(cypher("read/known_files"), named)])


def known_commits(store: Store, dataset: str) -> list[Commit]:
    """Return the commits that a dataset lists, and those of its repositories whose history was read."""
    return [Commit.model_validate(row) for row in store.read(cypher("read/commits"), {"dataset": dataset})]


def history_changes(store: Store) -> int:
    """Return how often the histories of repositories have changed, to be read before the commits themselves."""
    return int(str(store.read(cypher("read/histories"))[0]["changes"]))


def require_run(store: Store, run: str) -> Mapping[str, Any]:
    """Return what the graph knows of a run, and refuse one that it doesn't hold, or not completely.

    Raises
    ------
    InputError
        With the runs that the graph holds.
    """
    runs = {str(row["id"]): row for row in store.read(cypher("read/runs"))}
    if run in runs and runs[run]["complete"]:
        return runs[run]
    if run in runs:
        raise InputError(
            f"the run {run!r} was not loaded to its end",
            remedy="Run `graphkit evaluate` on its file again: the load goes on where it stopped.",
        )
    hint = did_you_mean(run, runs)
    known = f"The graph holds: {', '.join(runs)}." if runs else "The graph holds no run yet."
    raise InputError(
        f"no run is called {run!r}", remedy=f"{hint}{known} `graphkit evaluate RUN.jsonl` scores a run and keeps it."
    )


def require_question(store: Store, question: str) -> None:
    """Refuse a question that the graph doesn't hold.

    Raises
    ------
    InputError
        No question has this id.
    """
    if not store.read(cypher("load/known_questions"), {"ids": [question]}):
        raise InputError(
            f"no question has the id {question!r}",
            remedy="`graphkit failures RUN --kind questions-by-score` lists the questions of a run.",
        )
