"""The nodes and relationships of a dataset, from the rows that an ordinary load writes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from graphkit.files.jsonl import find_file
from graphkit.files.stale_gold import invalid_reason
from graphkit.graph import rows as to_rows
from graphkit.graph import schema_version
from graphkit.graph.checked import CheckedDataset, KnowledgeGraph
from graphkit.graph.commit_names import GRAPH
from graphkit.graph.datasets import RECORDS, LoadSummary
from graphkit.graph.digests import dataset_digest
from graphkit.graph.writing import BATCH, batched
from graphkit.plugins.bulk.bulk_elements import Elements
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import GoldSum, as_number
from graphkit.records.progress import Progress, expect


class DatasetElements:
    """Adds a checked dataset to an empty database.

    Attributes
    ----------
    commits
        The commits that the dataset knows.
    nodes
        The numbers of the commit nodes by their keys.
    number
        The number of the dataset's node.
    graphs_at
        Whether the artifacts of a knowledge graph name commits.
    """

    def __init__(self, elements: Elements, checked: CheckedDataset, progress: Progress) -> None:
        self.elements = elements
        self.checked = checked
        self.dataset = checked.dataset
        self.progress = progress
        self.summary = LoadSummary(checked.dataset.name)
        self.places = checked.places
        self.commits = CommitGraph.build(checked.commits, checked.compatibility)
        self.commits.places, self.commits.absent = self.places, checked.gold.absent
        checked.gold.commits = self.commits
        self.nodes: dict[str, int] = {}
        self.number = 0
        self.graphs_at = False

    def add(self) -> None:
        """Add everything but the mark that it is complete."""
        listed = self._add_commits()
        self._add_compatibility()
        self.elements.principals(self.dataset.access, self.dataset.name)
        self._count("access", "access", len(self.checked.access))
        self._add_artifacts()
        for name, graph in self.checked.graphs.items():
            self._add_graph(name, graph)
        gold_hash = self._add_questions()
        self._add_dataset(gold_hash, listed)

    # Commits

    def _add_commits(self) -> list[tuple[int, dict[str, Any]]]:
        """Add all commits, and return those that are listed, with the properties of the listing."""
        expect(self.progress, "commits", len(self.checked.commits))
        rows = [to_rows.commit_row(commit) for commit in self.checked.commits]
        known: dict[str, dict[str, Any]] = {}
        for row in rows:
            names = ("repo", "sha", "branch", "tag", "tags", "parents", "committed_at", "committed_ms")
            known[row["key"]] = {"key": row["key"], "history": False, **{name: row[name] for name in names}}
        parents = {
            (row["key"], parent): None
            for row in rows
            if row["parents"]
            for parent in row["parent_keys"]
            if parent in known
        }
        members = [one for stack in self.commits.stacks.values() for one in stack.items()]
        for row in to_rows.member_rows([*members, *self._artifact_commits()]):
            known.setdefault(row["key"], {**row, "history": False, "parents": []})
        for key, properties in known.items():
            self.nodes[key] = self.elements.node("Commit", properties)
            self.elements.relate(
                ("IN", "Commit", "Repository"), self.nodes[key], self.elements.repository(properties["repo"])
            )
        for child, parent in parents:
            self.elements.relate(("PARENT", "Commit", "Commit"), self.nodes[child], self.nodes[parent])
        self._count("commits", "commits", len(rows))
        named = ("branch", "tags", "committed_at", "committed_ms")
        return [(self.nodes[row["key"]], {name: row[name] for name in named}) for row in rows]

    def _artifact_commits(self) -> Iterable[tuple[str, str]]:
        rows = (row for _, row in self._artifact_rows())
        return {(row["commit_repo"], row["sha"]) for row in rows if row["commit_key"] is not None}

    def _add_compatibility(self) -> None:
        name = self.dataset.name
        for row in self.checked.compatibility:
            properties = to_rows.stack_row(row, name, self.commits)
            shared = {"key": properties["key"], "id": properties["id"], "dataset": name, "source": properties["source"]}
            members = [self.nodes[key] for key in properties["members"]]
            own = ("compatible", "environment", "repositories", "names")
            stack = self.elements.node("Stack", {**shared, **{one: properties[one] for one in own}})
            for member in members:
                self.elements.relate(("PINS", "Stack", "Commit"), stack, member)
            if row.environment:
                at = {"environment": row.environment, "at": properties["at"]}
                deployment = self.elements.node("Deployment", {**shared, **at})
                for member in members:
                    self.elements.relate(("DEPLOYS", "Deployment", "Commit"), deployment, member)
            if row.compatible and not row.environment:
                self._add_pairs("COMPATIBLE_WITH", to_rows.pair_rows(row, self.commits))
            elif not row.compatible:
                self._add_pairs("INCOMPATIBLE_WITH", to_rows.pair_rows(row, self.commits))
        self._count("compatibility", "compatibility", len(self.checked.compatibility))

    def _add_pairs(self, kind: str, pairs: to_rows.Rows) -> None:
        for pair in pairs:
            properties = {"stack": pair["stack"], "dataset": self.dataset.name, "source": pair["source"]}
            first, second = self.nodes[pair["first"]], self.nodes[pair["second"]]
            self.elements.relate((kind, "Commit", "Commit"), first, second, properties)

    # Knowledge graphs

    def _artifact_rows(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield the name of each artifact's graph, and its row."""
        for name, graph in self.checked.graphs.items():
            for artifact in graph.artifacts or ():
                yield name, to_rows.artifact_row(artifact, self.commits)

    def _add_artifacts(self) -> None:
        """Add the artifacts of all graphs; the last record of an id counts, so places are noted first."""
        numbers = self.elements.numbers
        of = {"dataset": self.dataset.name}
        for batch in batched(enumerate(self._artifact_rows()), BATCH):
            numbers.set("last artifact", {row["id"]: place for place, (_, row) in batch})
        for batch in batched(enumerate(self._artifact_rows()), BATCH):
            last = numbers.find("last artifact", (row["id"] for _, (_, row) in batch))
            own = ("id", "repo", "path", "symbol", "kind", "aliases")
            numbers.set(
                "Artifact",
                {
                    row["id"]: self.elements.artifact(
                        {**of, **{one: row[one] for one in own}, "known": True}, self.places
                    )
                    for place, (_, row) in batch
                    if last[row["id"]] == place
                },
            )
            self.elements.send()
        for some in batched(self._artifact_rows(), BATCH):
            pinned = [(name, row) for name, row in some if row["commit_key"] is not None]
            ids = {row["id"] for _, row in pinned}
            found, read_at = numbers.find("Artifact", ids), numbers.find_records("read at", ids)
            for name, row in pinned:
                at = {"graph": name, "line": row["line"], "end_line": row["end_line"]}
                self.elements.relate(("AT", "Artifact", "Commit"), found[row["id"]], self.nodes[row["commit_key"]], at)
                read_at.setdefault(row["id"], {})[name] = [row["commit_repo"], row["sha"]]
                self.graphs_at = True
            numbers.set_records("read at", read_at)
            self._count("artifacts", None, len(some))

    def _add_graph(self, name: str, graph: KnowledgeGraph) -> None:
        for some in batched(graph.edges or (), BATCH):
            ends = (node for edge in some for node in (edge.source, edge.target))
            found = self._name_artifacts(ends)
            for edge in some:
                properties = {
                    "graph": name,
                    "relation": edge.relation,
                    "since": edge.since,
                    "until": edge.until,
                }
                start, end = found[edge.source], found[edge.target]
                self.elements.relate(("EDGE", "Artifact", "Artifact"), start, end, properties)
            self._count("edges", None, len(some))
        self.elements.node("Source", {"key": f"{name}{GRAPH}", "digest": graph.digest})

    def _name_artifacts(self, ids: Iterable[str]) -> dict[str, int]:
        found, fresh = self.elements.name_artifacts(ids, self.dataset.name, self.places)
        self.summary.created_artifacts.extend(fresh)
        return found

    # Questions

    def _add_questions(self) -> str:
        """Add the questions with their gold, and return the hash of the gold."""
        expect(self.progress, "questions", len(self.checked.ids))
        gold = GoldSum()
        for batch in batched(self.checked.questions, RECORDS):
            rows = []
            for question in batch:
                invalid = invalid_reason(self.checked.gold.reasons(question))
                rows.append(to_rows.question_row(question, self.dataset.name, self.commits, invalid))
            steps = [step for row in rows for step in row["steps"]]
            found = self._name_artifacts(node for step in steps for node in (step["source"], step["target"]))
            fresh, pins = {}, {}
            for row in rows:
                properties = row["properties"]
                gold.add(row["id"], as_number(properties["gold_hash"]))
                fresh[row["id"]] = number = self.elements.node("Question", properties)
                pins[row["id"]] = [properties[one] for one in ("stack", "pinned_repositories", "pinned_shas")]
                for path in row["paths"]:
                    self.elements.relate(
                        ("EXPECTS", "Question", "GoldPath"), number, self.elements.node("GoldPath", path)
                    )
            self.elements.numbers.set("Question", fresh)
            self.elements.numbers.set_records("pins", pins)
            for step in steps:
                kind = ("GOLD", "Artifact", "Artifact")
                self.elements.relate(kind, found[step["source"]], found[step["target"]], step["properties"])
            self._count("questions", None, len(rows))
        return gold.hexdigest()

    def _count(self, kind: str, source: str | None, count: int) -> None:
        """Count records, and note the source that they are all of."""
        if source is not None and (path := find_file(self.dataset.folder, source)) is not None:
            meaning = self._meant_by_rows() if source == "compatibility" else ""
            digest = self.checked.digests[path] + meaning
            self.elements.node("Source", {"key": f"{self.dataset.name}/{source}", "digest": digest})
        if count:
            self.summary.add(kind, written=count)
            self.progress(kind, count)
        self.elements.send()

    def _meant_by_rows(self) -> str:
        return to_rows.meant_by_rows(self.checked.compatibility, self.commits)

    def _add_dataset(self, gold_hash: str, listed: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the node of the dataset, which says that all of it is there."""
        digest = dataset_digest(self.dataset, self.checked.digests)
        properties = {
            "name": self.dataset.name,
            "repositories": sorted(self.checked.repositories),
            "commits": [to_rows.commit_key(repo, sha) for repo, sha in sorted(self.checked.named_commits)],
            "histories": [],
            **{f"repository_{name}": value for name, value in to_rows.repository_rules_row(self.places).items()},
            "folder": self.dataset.place,
            "digest": digest,
            "gold_hash": gold_hash,
            "questions": len(self.checked.ids),
            "changes": 0,
            "files": sorted(set(self.dataset.named_places().of_artifacts(self.places))),
            **self.checked.graph_names,
            "schema": schema_version.SCHEMA_VERSION,
            "schema_digest": digest,
            "loaded_at": datetime.now(UTC).isoformat(),
        }
        self.number = self.elements.node("Dataset", properties)
        for commit, own in listed:
            self.elements.relate(("LISTS", "Dataset", "Commit"), self.number, commit, own)
        # The questions are numbered in their order.
        for question in range(len(self.checked.ids)):
            self.elements.relate(("HAS", "Dataset", "Question"), self.number, question)
            self.elements.send()
