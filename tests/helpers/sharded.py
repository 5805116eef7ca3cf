"""A generated dataset and its run, written in shards, and what a graph holds of them."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path

from graphkit.database.store import Store
from tests.helpers.datasets import read_jsonl
from tests.helpers.loading import contents

#: The run of :func:`tests.helpers.datasets.generate` with the seed 5.
RUN = "gen5-a"

#: The properties that name files or are digests of them.
OF_FILES = {
    "Run": ("file", "origin", "content", "digest", "schema_digest"),
    "Dataset": ("digest", "schema_digest"),
    "Grading": ("gold",),
}


def lines_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the lines of a generated dataset's questions and of its run, in the order of the questions."""
    questions = read_jsonl(folder / "questions.jsonl")
    place = {one["id"]: number for number, one in enumerate(questions)}
    answers = sorted(read_jsonl(folder / "runs" / f"{RUN}.jsonl"), key=lambda one: place[one["question_id"]])
    return [*map(json.dumps, questions)], [*map(json.dumps, answers)]


def cut(draw: random.Random, lines: list[str], pieces: int) -> list[list[str]]:
    """Cut lines at random places, with at least one in each piece."""
    places = sorted(draw.sample(range(1, len(lines)), min(pieces, len(lines)) - 1))
    return [lines[begin:end] for begin, end in zip([0, *places], [*places, len(lines)], strict=True)]


def dataset_of(folder: Path, source: Path, questions: list[list[str]], answers: list[list[str]]) -> Path:
    """Write a dataset whose questions and run are shards, or files if there is one piece of each; every second shard is
    compressed.
    """
    made = folder / "data"
    (made / "runs").mkdir(parents=True)
    for name in ("commits.jsonl", "compatibility.jsonl"):
        if (source / name).exists():
            (made / name).write_bytes((source / name).read_bytes())
    for place, pieces in (("questions", questions), (f"runs/{RUN}", answers)):
        if len(pieces) == 1:
            (made / f"{place}.jsonl").write_text("\n".join(pieces[0]) + "\n")
            continue
        (made / place).mkdir(parents=True)
        for number, piece in enumerate(pieces):
            data = ("\n".join(piece) + "\n").encode()
            if number % 2:
                (made / place / f"{number}.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
            else:
                (made / place / f"{number}.jsonl").write_bytes(data)
    return made


def run_in(dataset: Path) -> Path:
    """Return the run of a dataset: its file, or its folder."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    return file if file.exists() else dataset / "runs" / RUN


def in_six_shards(source: Path, folder: Path, seed: int = 3) -> Path:
    """Write a dataset in six shards, and its run in six others and in another order."""
    draw = random.Random(seed)
    questions, answers = lines_of(source)
    return dataset_of(folder, source, cut(draw, questions, 6), cut(draw, draw.sample(answers, len(answers)), 6))


def emptied(store: Store) -> Store:
    """Return the store with nothing in it."""
    store.write("MATCH (n) DETACH DELETE n")
    return store


def but_for_files(store: Store) -> Counter[str]:
    """Return the content of the graph without the names and digests of files."""
    found: Counter[str] = Counter()
    for text, count in contents(store).items():
        row = json.loads(text)
        for name in OF_FILES.get("".join(row["kind"]), ()):
            row["properties"].pop(name, None)
        found[json.dumps(row, sort_keys=True)] += count
    return found
