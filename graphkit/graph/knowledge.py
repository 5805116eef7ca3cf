"""Facts about a dataset in the graph: its questions, files and commits, and the questions that aren't scored."""

from __future__ import annotations

from typing import Any

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.records.commits import CommitGraph, PlacedGold, ReadAt, read_nothing
from graphkit.records.ids import Places, RepositoryRules
from graphkit.records.models import Commit, Compatibility


def question_ids(store: Store, dataset: str) -> set[str]:
    """Return the ids of the questions of a dataset."""
    return {str(row["id"]) for row in store.read(cypher("load/dataset_questions"), {"dataset": dataset})}


def invalid_questions(store: Store, dataset: str) -> dict[str, str]:
    """Return the questions with stale gold, which no run is scored on, and why."""
    return {
        str(row["question"]): str(row["reason"]) for row in store.read(cypher("read/invalid"), {"dataset": dataset})
    }


def absent_gold(store: Store, dataset: str) -> dict[str, frozenset[PlacedGold]]:
    """Return the gold edges that the knowledge graphs of a dataset lack, for each question that lacks any."""
    found: dict[str, set[PlacedGold]] = {}
    for row in store.read(cypher("read/absent_gold"), {"dataset": dataset}):
        source, relation, target = (str(row[name]) for name in ("source", "relation", "target"))
        found.setdefault(str(row["question"]), set()).add((int(str(row["place"])), (source, relation or None, target)))
    return {question: frozenset(edges) for question, edges in found.items()}


def commit_graph(store: Store, dataset: str, read_at: ReadAt = read_nothing) -> CommitGraph:
    """Return the commits that a dataset knows, from its own records and the histories of its repositories.

    Other datasets of the same database don't count, so that a run scores as it does from files alone.

    ``read_at`` returns the commits at which the dataset's knowledge graphs read an artifact.
    """
    return CommitGraph.build(known_commits(store, dataset), known_compatibility(store, dataset), read_at)


def known_compatibility(store: Store, dataset: str) -> list[Compatibility]:
    """Return the compatibility rows of a dataset."""
    return [
        Compatibility.model_validate({**row, "commits": dict(zip(row["repositories"], row["names"], strict=True))})  # type: ignore[call-overload]
        for row in store.read(cypher("read/stacks"), {"dataset": dataset})
    ]


def known_places(store: Store, dataset: str) -> Places:
    """Return where the nodes of a dataset lie, by the files and the repositories that it names."""
    named = {"dataset": dataset}

    def files(_: Places) -> list[str]:
        return [str(row["file"]) for row in store.read(cypher("read/known_files"), named)]

    def repositories() -> RepositoryRules:
        rows = store.read(cypher("read/repository_rules"), named)
        if not rows:
            return RepositoryRules()
        rules: dict[str, Any] = rows[0]
        return RepositoryRules(
            {str(row["id"]): str(row["repo"]) for row in store.read(cypher("read/stated_repositories"), named)}
            if rules["stated"]
            else {},
            None if rules["prefixes"] is None else frozenset(rules["prefixes"]),
            frozenset(rules["kinds"]),
            rules["pattern"],
        )

    return Places(files, repositories)


def known_commits(store: Store, dataset: str) -> list[Commit]:
    """Return the commits that a dataset lists, and those in the histories of its repositories."""
    return [Commit.model_validate(row) for row in store.read(cypher("read/commits"), {"dataset": dataset})]


def history_changes(store: Store) -> int:
    """Return how often the histories of repositories have changed; read it before the commits themselves."""
    return int(str(store.read(cypher("read/histories"))[0]["changes"]))
