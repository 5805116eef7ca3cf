"""What the names of commits mean to a dataset of the graph: which histories are of its repositories, and which shas."""

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

#: How the keys of the sources that are knowledge graphs end.
GRAPH = "/graph"

#: Questions whose chunks and paths are looked at together.
QUESTIONS = 250


def know_histories(store: Store, dataset: str) -> int:
    """Tell a dataset which histories are of its repositories; return how often these have changed.

    A history that was read is that of a repository which the dataset names. Where the dataset names commits of it by
    whole shas and the history holds none of them, it is of another repository that has the same name.
    """
    named = {"dataset": dataset}
    repositories = store.read(cypher("read/repositories"), named)
    if not repositories:
        store.write(cypher("load/dataset_histories"), {"name": dataset, "histories": []})
        return 0
    commits = store.read(cypher("read/dataset_commits"), named)
    histories = []
    for row in repositories:
        # Of the keys repo@sha, no sha holds the sign.
        own = [one for one in commits if str(one["key"]).rpartition("@")[0] == row["repo"]]
        if row["shared"] or any(one["history"] for one in own) or not (own or row["listed"]):
            histories.append(row["repo"])
    store.write(cypher("load/dataset_histories"), {"name": dataset, "histories": histories})
    return sum(int(str(row["changes"])) for row in repositories)


def resolve_commits(store: Store, dataset: str, run: str | None = None) -> None:
    """Tell which commits the chunks and walks of a dataset's runs, or of one of them, are of.

    Nothing is to be told where all of them name whole shas: such runs aren't looked at.
    """
    opened = [str(row["run"]) for row in store.read(cypher("load/open_runs"), {"dataset": dataset})]
    runs = [name for name in opened if run is None or name == run]
    if runs:
        settling = _Settling(store, dataset)
        for name in runs:
            settling.settle(name)


class _Settling:
    """Tells the commits of runs, by what is known to their dataset."""

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

    def settle(self, run: str) -> None:
        """Write what a run is to be told, where it isn't told already.

        Answers to questions that have left the dataset stay as they are: nothing asks for them any more.
        """
        answers = self.store.read(cypher("load/run_answers"), {"run": run})
        asked = (name for row in answers if (name := str(row["question"])) in self.questions)
        for questions in batched(asked, QUESTIONS):
            few = {"run": run, "questions": questions}
            chunks = self.store.read(cypher("load/open_chunks"), {**few, "unnamed": self.unnamed})
            paths = self.store.read(cypher("load/open_paths"), few)
            self._read_artifacts({str(row["id"]) for row in chunks if row["commit"] is None})
            told: dict[str, list[dict[str, Any]]] = {}
            for chunk in self._chunks(chunks):
                told.setdefault(chunk.pop("answer"), []).append(chunk)
            rows = [{"answer": answer, "chunks": some} for answer, some in told.items()]
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
            told = {"commit_key": commit_key(repo, sha), "ambiguous": ambiguous}
            if any(row[name] != one for name, one in told.items()):
                yield {"answer": row["answer"], "rank": row["rank"], "sha": sha, **told}

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
