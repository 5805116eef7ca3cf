"""Several processes write at the same time: nothing is lost, nothing waits for ever, and retries are counted."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.runs import load_run
from graphkit.graph.writing import retried_writes
from tests.helpers.datasets import write_jsonl
from tests.helpers.engines import EngineSettings
from tests.helpers.loading import contents

RUNS = ("r0", "r1", "r2", "r3")
QUESTIONS = 80

#: Loads a run in many small transactions, once every process stands ready.
LOAD = """
import sys, time
from pathlib import Path
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.graph import stream
from graphkit.graph.runs import load_run

stream.FIRST = stream.LEAST = stream.MOST = 60
folder, run = Path(sys.argv[1]), sys.argv[2]
with Store.open(Settings.resolve()) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    print(load_run(store, folder.name, run, folder / "runs" / f"{run}.jsonl").written)
"""


def world(folder: Path) -> Path:
    """Write a dataset of two artifacts that every run walks between, and new artifacts that all runs name."""
    draw = random.Random(24)
    hubs, named = ["web:a.py#f", "api:b.py#g"], [f"api:n{number}.py#h" for number in range(20)]
    dataset = folder / "crowd"
    (dataset / "runs").mkdir(parents=True)
    gold = [{"steps": [{"source": hubs[0], "relation": "CALLS", "target": hubs[1]}]}]
    ids = [f"q{number}" for number in range(QUESTIONS)]
    write_jsonl(dataset / "questions.jsonl", [{"id": name, "question": "?", "paths": gold} for name in ids])
    for run in RUNS:
        answers = []
        for name in ids:
            nodes = [hubs[0], hubs[1], draw.choice(named), hubs[0]]
            walk = [{"source": a, "relation": "CALLS", "target": b} for a, b in zip(nodes, nodes[1:], strict=False)]
            found = [{"id": node, "text": "same"} for node in nodes[1:3]]
            calls = [{"name": "open", "seen": [draw.choice(named)]}]
            answers.append(
                {"run": run, "question_id": name, "traversal": walk, "retrieved": found, "tool_calls": calls}
            )
        write_jsonl(dataset / "runs" / f"{run}.jsonl", answers)
    return dataset


@pytest.mark.slow("a race of several processes")
def test_runs_loaded_together_are_those_loaded_one_after_another(
    engine_settings: EngineSettings, empty_store: Store, tmp_path: Path
) -> None:
    """Four processes load four runs of the same artifacts and chunks, and the graph is the same as without a rush."""
    dataset = world(tmp_path)
    graphkit.load(empty_store, dataset)
    for run in RUNS:
        load_run(empty_store, "crowd", run, dataset / "runs" / f"{run}.jsonl")
    expected = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.load(empty_store, dataset)
    command = [sys.executable, "-c", LOAD, str(dataset)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": engine_settings.env, "text": True}
    loads = [subprocess.Popen([*command, run], **pipes) for run in RUNS]  # type: ignore[call-overload]
    try:
        for one in loads:
            assert one.stdout.readline() == "ready\n"
        for one in loads:
            one.stdin.write("\n")
            one.stdin.flush()
        assert [one.communicate(timeout=300)[0] for one in loads] == [f"{QUESTIONS}\n"] * len(RUNS)
    finally:
        for one in loads:
            one.kill()
            one.wait()
    assert contents(empty_store) == expected


def test_writes_that_were_tried_again_are_counted(engine_settings: EngineSettings, empty_store: Store) -> None:
    """Two writers of the same two nodes, in opposite orders, both succeed, and at least one counts a retry."""
    empty_store.write("CREATE (:Held {n: 1, v: 0}), (:Held {n: 2, v: 0})")
    both = threading.Barrier(2, timeout=60)

    def write(store: Store, order: list[int]) -> None:
        first = True

        def work(transaction: object) -> None:
            nonlocal first
            for place, node in enumerate(order):
                transaction.run("MATCH (n:Held {n: $n}) SET n.v = n.v + 1", {"n": node}).consume()  # type: ignore[attr-defined]
                if place == 0 and first:
                    first = False
                    both.wait()

        store._transaction(work)

    with Store.open(engine_settings.settings) as other:
        threads = [
            threading.Thread(target=write, args=(one, order)) for one, order in ((empty_store, [1, 2]), (other, [2, 1]))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert empty_store.conflicts + other.conflicts >= 1
    assert empty_store.read("MATCH (n:Held) RETURN sum(n.v) AS v") == [{"v": 4}]


def test_retries_in_words() -> None:
    """The note counts the writes."""
    assert retried_writes(1) == "1 write was tried again because another writer held the same nodes"
    assert retried_writes(3) == "3 writes were tried again because another writer held the same nodes"
