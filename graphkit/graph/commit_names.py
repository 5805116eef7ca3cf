"""Resolve the names of commits for a dataset: the histories of its repositories, and the shas of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.knowledge import known_commits, known_compatibility
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.rows import commit_key
from graphkit.graph.writing import batched
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit, Compatibility

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
        resolver = CommitResolver(store, dataset)
        for name in runs:
            resolver.resolve(name)


def commits_state(store: Store, dataset: str) -> object:
    """Return a value that changes with what the names of commits mean in a dataset; None while something loads it."""
    named = {"dataset": dataset}
    others = (load.name for load in unfinished_loads(store))
    if any(name == f"dataset {dataset}" or name.startswith("history ") for name in others):
        return None
    histories = [(row["repo"], row["changes"]) for row in store.read(cypher("read/repositories"), named)]
    return [histories, *(row for row in store.read(cypher("read/datasets")) if row["name"] == dataset)]


class CommitNames:
    """The commits that a dataset knows, and what chunks and paths of its runs mean by them.

    Parameters
    ----------
    graphs
        The dataset's knowledge graphs.
    unnamed
        Whether one of them names commits, which chunks without a commit then inherit.
    """

    def __init__(
        self,
        dataset: str,
        graphs: list[str],
        unnamed: bool,
        commits: Iterable[Commit],
        compatibility: Iterable[Compatibility],
    ) -> None:
        self.dataset = dataset
        self.graphs = graphs
        self.unnamed = unnamed
        self.commits = CommitGraph.build(commits, compatibility, self._read_at)
        self.questions: dict[str, tuple[Any, dict[str, str]]] = {}
        self._artifacts: Mapping[str, Mapping[str, tuple[str, str]]] = {}

    def know(self, pins: Iterable[Mapping[str, Any]]) -> None:
        """Take note of the stacks and pins of questions, instead of former ones."""
        self.questions = {str(row["question"]): (row["stack"], self._pins(row)) for row in pins}

    def read_at(self, artifacts: Mapping[str, Mapping[str, tuple[str, str]]]) -> None:
        """Take note of the repositories and commits of artifacts by graph, instead of former ones."""
        self._artifacts = artifacts

    def _pins(self, row: Mapping[str, Any]) -> dict[str, str]:
        own = dict(zip(row["repositories"], row["shas"], strict=True))
        return {**self.commits.stacks.get(row["stack"] or "", {}), **own}

    def _read_at(self, artifact: str, graph: str | None) -> list[tuple[str, str]]:
        found = self._artifacts.get(artifact, {})
        own = f"{self.dataset}/{graph}"
        if graph is not None and own in self.graphs:
            return [found[own]] if own in found else []
        return [*found.values()]

    def chunks(self, chunks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the commits of those retrieved chunks that changed, and whether a commit is ambiguous."""
        for row in chunks:
            fresh = self.commit_of_chunk(row)
            if any(row[name] != fresh[name] for name in ("commit_key", "ambiguous")):
                yield {"question": row["question"], "rank": row["rank"], "sha": fresh.pop("commit"), **fresh}

    def commit_of_chunk(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the commit that a retrieved chunk means; its sha only if the chunk doesn't name that."""
        stack, pins = self.questions[row["question"]]
        repo, sha, ambiguous = row["repo"], None, None
        if row["commit"] is None:
            repo, sha = self.commits.commit_of(row["id"], stack) or (repo, None)
        elif repo is not None:
            meant, ambiguous = self.commits.meant(repo, row["commit"], pins)
            sha = meant if meant != row["commit"] else None
        return {"commit": sha, "commit_key": commit_key(repo, sha or row["commit"]), "ambiguous": ambiguous}

    def paths(self, paths: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the commits of those paths that changed."""
        for row in paths:
            keys = self.commits_of_path(row)
            if keys != row["commits"]:
                yield {"question": row["question"], "index": row["index"], "commits": keys}

    def commits_of_path(self, row: Mapping[str, Any]) -> list[str]:
        """Return the keys of the commits that the steps of a path mean."""
        _, pins = self.questions[row["question"]]
        repos, names = [*row["source_repos"], *row["target_repos"]], [*row["source_commits"], *row["target_commits"]]
        named = {(repo, name) for repo, name in zip(repos, names, strict=True) if repo and name}
        return sorted({str(commit_key(repo, self.commits.meant(repo, name, pins).sha)) for repo, name in named})


class CommitResolver:
    """Resolves the commits of runs with the commits that their dataset knows."""

    def __init__(self, store: Store, dataset: str) -> None:
        self.store = store
        keys = (str(row["key"]) for row in store.read(cypher("load/sources")))
        graphs = (key.removesuffix(GRAPH) for key in keys if key.endswith(GRAPH))
        own = [name for name in graphs if name == dataset or name.startswith(f"{dataset}/")]
        unnamed = bool(store.read(cypher("read/graphs_at"), {"graphs": own}))
        self.names = CommitNames(
            dataset, own, unnamed, known_commits(store, dataset), known_compatibility(store, dataset)
        )
        self.names.know(store.read(cypher("load/pins"), {"dataset": dataset}))

    def complete(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Put the commits into the rows of answers that aren't written yet, as :meth:`resolve` does afterwards."""
        waiting = []
        for row in rows:
            named = {"question": row["question"]}
            if not row["open"] or row["question"] not in self.names.questions:
                continue
            chunks = {chunk["digest"]: chunk["properties"] for chunk in row["chunks"]}
            for found in row["retrieved"]:
                chunk = {"repo": None, "commit": None, **chunks[found["chunk"]]}
                if chunk.get("named") or (self.names.unnamed and chunk["commit"] is None):
                    waiting.append((found, {**chunk, **named, "commit_key": None, "ambiguous": None}))
            for path in row["paths"]:
                if path["properties"]["named"]:
                    path["properties"]["commits"] = self.names.commits_of_path({**path["properties"], **named})
        self._read_artifacts({chunk["id"] for _, chunk in waiting if chunk["commit"] is None})
        for found, chunk in waiting:
            found.update(self.names.commit_of_chunk(chunk))

    def resolve(self, run: str) -> None:
        """Write the commits of a run that changed. Answers to questions that left the dataset stay as they are."""
        answers = self.store.read(cypher("load/run_answers"), {"run": run})
        asked = (name for row in answers if (name := str(row["question"])) in self.names.questions)
        for questions in batched(asked, QUESTIONS):
            few = {"run": run, "questions": questions}
            chunks = self.store.read(cypher("load/open_chunks"), {**few, "unnamed": self.names.unnamed})
            paths = self.store.read(cypher("load/open_paths"), few)
            self._read_artifacts({str(row["id"]) for row in chunks if row["commit"] is None})
            resolved: dict[str, list[dict[str, Any]]] = {}
            for chunk in self.names.chunks(chunks):
                resolved.setdefault(chunk.pop("question"), []).append(chunk)
            rows = [{"question": question, "chunks": some} for question, some in resolved.items()]
            self.store.write_many(
                [
                    (cypher("load/chunk_commits"), {"run": run, "rows": rows}),
                    (cypher("load/path_commits"), {"run": run, "rows": list(self.names.paths(paths))}),
                ]
            )

    def _read_artifacts(self, ids: set[str]) -> None:
        artifacts: dict[str, dict[str, tuple[str, str]]] = {}
        if ids and self.names.unnamed:
            for row in self.store.read(cypher("read/read_at"), {"dataset": self.names.dataset, "ids": sorted(ids)}):
                if row["graph"] in self.names.graphs:
                    at = artifacts.setdefault(str(row["id"]), {})
                    at[str(row["graph"])] = str(row["repo"]), str(row["sha"])
        self.names.read_at(artifacts)
