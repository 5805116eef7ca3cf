"""What the graph knows of a dataset beside its runs: commits that belong together, and questions that aren't scored."""

from __future__ import annotations

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit, Compatibility


def invalid_questions(store: Store, dataset: str) -> dict[str, str]:
    """Return the questions of a dataset that aren't scored whatever a run did, and why."""
    return {
        str(row["question"]): str(row["reason"]) for row in store.read(cypher("read/invalid"), {"dataset": dataset})
    }


def commit_graph(store: Store, dataset: str) -> CommitGraph:
    """Return what is known about commits to a dataset: by its own records, and by the history of repositories.

    What other datasets of the same database say doesn't matter: a run scores as it does from the files alone.
    """
    named = {"dataset": dataset}
    commits = [Commit.model_validate(row) for row in store.read(cypher("read/commits"), named)]
    rows = [
        Compatibility.model_validate({**row, "commits": dict(row["members"])})  # type: ignore[call-overload]
        for row in store.read(cypher("read/stacks"), named)
    ]
    return CommitGraph.build(commits, rows)
