"""Resolve the names of commits for a dataset: the histories of its repositories, and the shas of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.knowledge import commit_graph
from graphkit.graph.queries import cypher
from graphkit.graph.rows import commit_key
from graphkit.graph.writing import batched
from graphkit.records.commits import CommitGraph
from graphkit.records.ids import repo_of

#: The ending of the source keys of knowledge graphs.
GRAPH = "/graph"

#: Questions whose chunks and paths are read together.
QUESTIONS = 250


def know_histories(store: Store, dataset: str) -> int:
    """Store which histories belong to a dataset's repositories, and return how often these have changed.

    A history belongs to the repository of the same name, unless the dataset names commits of it by whole shas and the
    history holds none of them: then it belongs to another repository with the same name.
    """
    named = {"dataset": dataset}
    repositories = store.read(cypher("read/repositories"), named)
    if not repositories:
        store.write(cypher("load/dataset_histories"), {"name": dataset, "histories": []})
        return 0
    commits = store.read(cypher("read/dataset_commits"), named)
    histories = []
    for row in repositories:
        # In a key repo@sha, the sha holds no @.
        own = [one for one in commits if str(one["key"]).rpartition("@")[0] == row["repo"]]
        if row["shared"] or any(one["history"] for one in own) or not (own or row["listed"]):
            histories.append(row["repo"])
    store.write(cypher("load/dataset_histories"), {"name": dataset, "histories": histories})
    return sum(int(str(row["changes"])) for row in repositories)


def resolve_commits(store: Store, dataset: str, run: str | None = None) -> None:
    """Store the commits of the chunks and traversals of a dataset's runs, or of one run.

    Runs that name only whole shas need nothing, and are skipped.
    """
    opened = [str(row["run"]) for row in store.read(cypher("load/open_runs"), {"dataset": dataset})]
    runs = [name for name in opened if run is None or name == run]
    if runs:
        resolver = _Resolver(store, dataset)
        for name in runs:
            resolver.resolve(name)


class _Resolver:
    """Resolves the commits of runs with the commits that their dataset knows."""

    def __init__(self, store: Store, dataset: str) -> None:
        self.store = store
        self.dataset = dataset
        self.commits: CommitGraph = commit_graph(store, dataset, self._read_at)
        keys = (str(row["key"]) for row in store.read(cypher("load/sources")))
        graphs = (key.removesuffix(GRAPH) for key in keys if key.endswith(GRAPH))
        self.graphs = [name for name in graphs if name == dataset or name.startswith(f"{dataset}/")]
        self.unnamed = bool(store.read(cypher("read/graphs_at"), {"graphs": self.graphs}))
        self.questions: dict[str, tuple[Any, dict[str, str]]] = {
            str(row["question"]): (row["stack"], self._pins(row))
            for row in store.read(cypher("load/pins"), {"dataset": dataset})
        }
        self.artifacts: dict[str, dict[str, tuple[str, str]]] = {}

    def _pins(self, row: Mapping[str, Any]) -> dict[str, str]:
        own = dict(zip(row["repositories"], row["shas"], strict=True))
        return {**self.commits.stacks.get(row["stack"] or "", {}), **own}

    def _read_at(self, artifact: str, graph: str | None) -> list[tuple[str, str]]:
        found = self.artifacts.get(artifact, {})
        own = f"{self.dataset}/{graph}"
        if graph is not None and own in self.graphs:
            return [found[own]] if own in found else []
        return [*found.values()]

    def resolve(self, run: str) -> None:
        """Write the commits of a run that changed. Answers to questions that left the dataset stay as they are."""
        answers = self.store.read(cypher("load/run_answers"), {"run": run})
        asked = (name for row in answers if (name := str(row["question"])) in self.questions)
        for questions in batched(asked, QUESTIONS):
            few = {"run": run, "questions": questions}
            chunks = self.store.read(cypher("load/open_chunks"), {**few, "unnamed": self.unnamed})
            paths = self.store.read(cypher("load/open_paths"), few)
            self._read_artifacts({str(row["id"]) for row in chunks if row["commit"] is None})
            resolved: dict[str, list[dict[str, Any]]] = {}
            for chunk in self._chunks(chunks):
                resolved.setdefault(chunk.pop("answer"), []).append(chunk)
            rows = [{"answer": answer, "chunks": some} for answer, some in resolved.items()]
            self.store.write_many(
                [
                    (cypher("load/chunk_commits"), {"rows": rows}),
                    (cypher("load/path_commits"), {"rows": list(self._paths(paths))}),
                ]
            )

    def _read_artifacts(self, ids: set[str]) -> None:
        self.artifacts = {}
        if ids and self.unnamed:
            for row in self.store.read(cypher("read/read_at"), {"ids": sorted(ids)}):
                if row["graph"] in self.graphs:
                    at = self.artifacts.setdefault(str(row["id"]), {})
                    at[str(row["graph"])] = str(row["repo"]), str(row["sha"])

    def _chunks(self, chunks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in chunks:
            stack, pins = self.questions[row["question"]]
            repo, sha, ambiguous = row["repo"], None, None
            if row["commit"] is None:
                repo, sha = self.commits.commit_of(row["id"], stack) or (repo, None)
            elif repo is not None:
                meant, ambiguous = self.commits.meant(repo, row["commit"], pins)
                sha = meant if meant != row["commit"] else None
            fresh = {"commit_key": commit_key(repo, sha), "ambiguous": ambiguous}
            if any(row[name] != one for name, one in fresh.items()):
                yield {"answer": row["answer"], "rank": row["rank"], "sha": sha, **fresh}

    def _paths(self, paths: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in paths:
            _, pins = self.questions[row["question"]]
            ends = zip(
                [*row["sources"], *row["targets"]], [*row["source_commits"], *row["target_commits"]], strict=True
            )
            named = {(repo, name) for node, name in ends if name and (repo := repo_of(node)) is not None}
            keys = sorted({str(commit_key(repo, self.commits.meant(repo, name, pins).sha)) for repo, name in named})
            if keys != row["commits"]:
                yield {"answer": row["answer"], "index": row["index"], "commits": keys}
