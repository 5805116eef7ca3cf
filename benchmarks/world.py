"""A world with hubs: a seeded dataset with commits, a graph and two runs, its artifacts drawn from a power law.

``python -m benchmarks.world FOLDER QUESTIONS`` writes one in shards, with one run and without its graph.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

Record = dict[str, object]

REPOSITORIES = ("web", "api", "auth", "billing", "search", "infra")
RELATIONS = ("CALLS", "IMPORTS", "QUERIES")
COMMITS = 4
GOLD_EDGES = 8
RUNS = ("walker", "drifter")

#: The questions of a shard, and the most artifacts that a world in shards has: each process holds their names.
SHARD = 20_000
ARTIFACTS = 1_000_000


class World:
    """Draws the records of a dataset with ``count`` questions: the same ones every time.

    ``seed`` decides what it draws, by default the count; ``artifacts`` is the number of them, by default the count.
    """

    def __init__(self, count: int, seed: int | str | None = None, artifacts: int | None = None) -> None:
        self.count = count
        self.draw = random.Random(count if seed is None else seed)
        size = max(500, count if artifacts is None else artifacts)
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

    def question(self, number: int) -> Record:
        """Draw a question with its gold path."""
        gold = self.chain(GOLD_EDGES)
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
        """Write everything as a dataset; the graph has the edges of all gold paths, and as many besides."""
        (folder / "runs").mkdir(parents=True)
        with (
            (folder / "questions.jsonl").open("wb") as questions,
            (folder / "edges.jsonl").open("wb") as edges,
            (folder / f"runs/{RUNS[0]}.jsonl").open("wb") as first,
            (folder / f"runs/{RUNS[1]}.jsonl").open("wb") as second,
        ):
            for number in range(self.count):
                question = self.question(number)
                questions.write(_line(question))
                edges.writelines(map(_line, question["paths"][0]["steps"]))  # type: ignore[index]
                first.write(_line(self.answer(RUNS[0], question)))
                second.write(_line(self.answer(RUNS[1], question)))
            edges.writelines(_line(self.edge()) for _ in range(self.count * GOLD_EDGES))
        parts = {
            "commits": self.commits(),
            "compatibility": self.compatibility(),
            "artifacts": self.nodes(),
        }
        for name, records in parts.items():
            with (folder / f"{name}.jsonl").open("wb") as stream:
                stream.writelines(map(_line, records))


def write_shards(folder: Path, count: int, ending: str = ".zst", size: int = SHARD, processes: int = 2) -> None:
    """Write ``count`` questions in shards of ``size``, and the run ``walker`` in as many, without a graph.

    Each shard has a seed of its own, so processes share the work and write the same files. ``ending`` is ``""`` or
    ``".zst"``.
    """
    for part in (f"runs/{RUNS[0]}", "questions"):
        (folder / part).mkdir(parents=True)
    small = World(0)
    for name, records in {"commits": small.commits(), "compatibility": small.compatibility()}.items():
        (folder / f"{name}.jsonl").write_bytes(b"".join(map(_line, records)))
    write = partial(_write_shard, folder, count, ending, size)
    with ProcessPoolExecutor(processes) as pool:
        for _ in pool.map(write, range(0, count, size)):
            pass


def _write_shard(folder: Path, count: int, ending: str, size: int, first: int) -> None:
    world = World(count, f"{count}/{first}", min(count, ARTIFACTS))
    name = f"{first // size:05}.jsonl{ending}"
    with _opened(folder / "questions" / name) as questions, _opened(folder / "runs" / RUNS[0] / name) as answers:
        for number in range(first, min(first + size, count)):
            question = world.question(number)
            questions.write(_line(question))
            answers.write(_line(world.answer(RUNS[0], question)))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with path.open("wb") as stream:
        if path.suffix == ".zst":
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(stream) as packed:
                yield packed
        else:
            yield stream


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


def sharded_world(folder: Path, count: int, ending: str = "", size: int = SHARD) -> Path:
    """Write the world of ``count`` questions in shards unless the folder holds it, and return its folder."""
    target = folder / f"world-{count}-in-{size}{ending}"
    if not target.exists():
        partial_folder = folder / f".{target.name}"
        write_shards(partial_folder, count, ending, size)
        partial_folder.rename(target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.world", description="Write a world in shards.")
    parser.add_argument("folder", type=Path, help="the new folder of the dataset")
    parser.add_argument("questions", type=int, help="how many there are")
    parser.add_argument("--shard", type=int, default=SHARD, help=f"the questions of a shard ({SHARD})")
    parser.add_argument("--plain", action="store_true", help="write plain files; without it they are .zst")
    parser.add_argument("--processes", type=int, default=2, help="how many write (2)")
    given = parser.parse_args()
    write_shards(given.folder, given.questions, "" if given.plain else ".zst", given.shard, given.processes)


if __name__ == "__main__":
    main()
