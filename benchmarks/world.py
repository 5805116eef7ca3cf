"""A world with hubs: a seeded dataset with commits, a graph and two runs, its artifacts drawn from a power law."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

Record = dict[str, object]

REPOSITORIES = ("web", "api", "auth", "billing", "search", "infra")
RELATIONS = ("CALLS", "IMPORTS", "QUERIES")
COMMITS = 4
GOLD_EDGES = 8
RUNS = ("walker", "drifter")


class World:
    """Draws the records of a dataset with ``count`` questions: the same ones every time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.draw = random.Random(count)
        self.gold: list[Record] = []
        size = max(500, count)
        self.artifacts = [f"{REPOSITORIES[number % 6]}:src/m{number // 40}.py#f{number % 40}" for number in range(size)]

    def artifact(self) -> str:
        """Draw an artifact; the first ones are hubs, the hundredth part of them being drawn a third of the time."""
        return self.artifacts[int(len(self.artifacts) * self.draw.random() ** 4)]

    def edge(self, source: str | None = None) -> Record:
        """Draw an edge, from a given artifact on."""
        return {
            "source": source or self.artifact(),
            "relation": self.draw.choice(RELATIONS),
            "target": self.artifact(),
        }

    def chain(self, count: int, source: str | None = None) -> list[Record]:
        """Draw edges, each from where the last one led."""
        edges: list[Record] = []
        for _ in range(count):
            edges.append(self.edge(source))
            source = str(edges[-1]["target"])
        return edges

    def sha(self, artifact: str) -> str:
        """Draw a commit of an artifact's repository."""
        return f"{artifact.partition(':')[0]}-{self.draw.randrange(COMMITS)}"

    def commits(self) -> Iterable[Record]:
        """Yield the commits of each repository, a day apart."""
        start = datetime(2026, 1, 1, tzinfo=UTC)
        for repo in REPOSITORIES:
            for number in range(COMMITS):
                at = (start + timedelta(days=number)).isoformat()
                parents = [f"{repo}-{number - 1}"] if number else []
                yield {
                    "repo": repo,
                    "sha": f"{repo}-{number}",
                    "branch": "main",
                    "committed_at": at,
                    "parents": parents,
                }

    def compatibility(self) -> Iterable[Record]:
        """Yield a deployment of each day, and one pair that clashes."""
        for number in range(COMMITS):
            commits = {repo: f"{repo}-{number}" for repo in REPOSITORIES}
            yield {"id": f"day-{number}", "commits": commits, "environment": "production"}
        yield {"id": "clash", "commits": {"web": "web-0", "api": "api-3"}, "compatible": False}

    def nodes(self) -> Iterable[Record]:
        """Yield the artifacts of the knowledge graph."""
        for artifact in self.artifacts:
            yield {"id": artifact, "kind": "function"}

    def edges(self) -> Iterable[Record]:
        """Yield the edges of the knowledge graph: the gold of the questions drawn so far, and as many besides."""
        yield from self.gold
        for _ in self.gold:
            yield self.edge()

    def question(self, number: int) -> Record:
        """Draw a question with its gold path."""
        gold = self.chain(GOLD_EDGES)
        self.gold += gold
        nodes = [str(edge["target"]) for edge in gold]
        return {
            "id": f"q{number}",
            "question": f"What does {gold[0]['source']} reach?",
            "stack": f"day-{self.draw.randrange(COMMITS)}",
            "paths": [{"id": "a", "steps": gold}],
            "relevant": dict.fromkeys(nodes[:3], 1),
            "expected_files": [nodes[-1].partition("#")[0]],
        }

    def answer(self, run: str, question: Record) -> Record:
        """Draw what a run did with a question: two paths that follow the gold path for a while, and five chunks."""
        gold: list[Record] = question["paths"][0]["steps"]  # type: ignore[index]
        traversal: list[Record] = []
        for path in range(2):
            kept = gold[: self.draw.randint(0, GOLD_EDGES)]
            end = str(kept[-1]["target"]) if kept else str(gold[0]["source"])
            for position, edge in enumerate([*kept, *self.chain(GOLD_EDGES - len(kept), end)]):
                commit = self.sha(str(edge["source"]))
                traversal.append({"path": path, "position": position, **edge, "source_commit": commit})
        found = [str(edge["target"]) for edge in traversal[:3]] + [self.artifact() for _ in range(2)]
        retrieved = [{"id": node, "commit": self.sha(node), "text": f"def {node}"} for node in found]
        return {"run": run, "question_id": question["id"], "retrieved": retrieved, "traversal": traversal}

    def write(self, folder: Path) -> None:
        """Write everything as a dataset."""
        (folder / "runs").mkdir(parents=True)
        with (
            (folder / "questions.jsonl").open("wb") as questions,
            (folder / f"runs/{RUNS[0]}.jsonl").open("wb") as first,
            (folder / f"runs/{RUNS[1]}.jsonl").open("wb") as second,
        ):
            for number in range(self.count):
                question = self.question(number)
                questions.write(_line(question))
                first.write(_line(self.answer(RUNS[0], question)))
                second.write(_line(self.answer(RUNS[1], question)))
        parts = {
            "commits": self.commits(),
            "compatibility": self.compatibility(),
            "artifacts": self.nodes(),
            "edges": self.edges(),
        }
        for name, records in parts.items():
            with (folder / f"{name}.jsonl").open("wb") as stream:
                stream.writelines(map(_line, records))


def _line(record: Record) -> bytes:
    return msgspec.json.encode(record) + b"\n"


def world(folder: Path, count: int) -> Path:
    """Write the world of ``count`` questions unless the folder holds it, and return its folder."""
    target = folder / f"world-{count}"
    if not target.exists():
        partial = folder / f".world-{count}"
        World(count).write(partial)
        partial.rename(target)
    return target
