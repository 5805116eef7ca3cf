"""Files to score: a seeded dataset of rankings and one of traversals, written once and kept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

Pair = tuple[dict[str, object], dict[str, object]]

RELATIONS = ("CALLS", "IMPORTS", "DEFINES")


def rankings(count: int) -> Iterator[Pair]:
    """Yield questions with 5 graded chunks and answers with 20 retrieved ones, about 1.1 kB together."""
    draw = random.Random(1)
    ids = [f"r{file % 6}:src/m{file}.py#f{name}" for file in range(40) for name in range(5)]
    for number in range(count):
        relevant = {draw.choice(ids): draw.randint(1, 3) for _ in range(5)}
        retrieved = [
            {"id": name, "score": round(20 - place + 0.9 * draw.random(), 4)}
            for place, name in enumerate(draw.sample(ids, 20))
        ]
        yield (
            {"id": f"q{number}", "question": "what", "relevant": relevant},
            {"run": "a", "question_id": f"q{number}", "retrieved": retrieved},
        )


def traversals(count: int) -> Iterator[Pair]:
    """Yield questions with 8 gold edges and answers with up to 3 paths of 10 edges, about 3 kB together.

    A path follows the gold path for some steps and leaves it then; every tenth answer is the gold path and no more.
    """
    draw = random.Random(1)
    nodes = [f"r{repo}:src/m{file}.py#f{name}" for repo in range(6) for file in range(40) for name in range(20)]
    for number in range(count):
        gold = _chain(draw, draw.choices(nodes, k=9))
        paths = [gold]
        if number % 10:
            paths = []
            for _ in range(draw.randint(1, 3)):
                kept = gold[: draw.randint(0, 8)]
                start = kept[-1]["target"] if kept else gold[0]["source"]
                paths.append(kept + _chain(draw, [start, *draw.choices(nodes, k=10 - len(kept))]))
        steps = [
            {"path": path, "position": position, **step}
            for path, walk in enumerate(paths)
            for position, step in enumerate(walk)
        ]
        yield (
            {"id": f"q{number}", "question": "what", "paths": [{"id": "a", "steps": gold}]},
            {"run": "a", "question_id": f"q{number}", "traversal": steps},
        )


def _chain(draw: random.Random, nodes: list[str]) -> list[dict[str, str]]:
    return [
        {"source": source, "relation": draw.choice(RELATIONS), "target": target}
        for source, target in zip(nodes, nodes[1:], strict=False)
    ]


FAMILIES = {"ranking": rankings, "paths": traversals}


def dataset(folder: Path, family: str, count: int) -> Path:
    """Write a dataset with one run unless the folder holds it, and return its folder."""
    target = folder / f"{family}-{count}"
    if not target.exists():
        partial = folder / f".{family}-{count}"
        (partial / "runs").mkdir(parents=True, exist_ok=True)
        encode = msgspec.json.encode
        with (partial / "questions.jsonl").open("wb") as questions, (partial / "runs/a.jsonl").open("wb") as answers:
            for question, answer in FAMILIES[family](count):
                questions.write(encode(question) + b"\n")
                answers.write(encode(answer) + b"\n")
        partial.rename(target)
    return target
