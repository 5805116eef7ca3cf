"""Bulk loading: the graph is the one that the ordinary loaders write, and it appears as a whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from benchmarks.world import world
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import first_run
from graphkit.graph.datasets import load_dataset
from graphkit.graph.opening import open_store
from graphkit.graph.runs import load_run
from graphkit.plugins.bulk.bulk_load import BulkLoad, bulk_load, embedded_importer
from graphkit.plugins.embedded.client import stop
from graphkit.plugins.embedded.import_batches import TOGETHER
from tests.helpers import ROOT
from tests.helpers.cli import Graph
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.engines import child_environment
from tests.helpers.loading import whole
from tests.helpers.processes import children
from tests.helpers.sharded import emptied
from tests.helpers.suites import one_fast

SHA = "ab12" * 10
OTHER = "cd34" * 10

#: The seeds of the odd dataset's first run.
SEEDS = (
    "MATCH (a:Answer)-[s:SEEDED]->(n) WHERE a.run ENDS WITH 'one' "
    "RETURN n.id AS id, s.rank AS rank, s.score AS score, s.mention AS mention ORDER BY rank"
)


def through_bolt(store: Store, dataset: Path, runs: list[Path]) -> Counter[str]:
    """Load a dataset and runs as usual into an empty database, and return all of it."""
    load_dataset(store, Dataset(dataset), Problems())
    for run in runs:
        load_run(store, dataset.name, first_run(run) or "", run)
    return whole(store)


def in_bulk(folder: Path, dataset: Path, runs: list[Path], together: int = TOGETHER) -> BulkLoad:
    """Fill the embedded database in a folder, by batches of so many relationships."""
    return bulk_load(embedded_importer(folder, together), Dataset(dataset), runs, Problems())


def odd_dataset(folder: Path) -> list[Path]:
    """Write a dataset in which everything occurs that ordinary ones lack, and return its runs."""
    edge: dict[str, Any] = {"source": "api:a.py#f", "relation": "CALLS", "target": "web:b.ts#g"}
    bare: dict[str, Any] = {"source": "web:b.ts#g", "target": "lib:unlisted.py"}
    texts = {
        "question": 'Two\nlines, "quoted", \u2028 and \\?',
        "gold_answer": "",
        "facts": [" spaces ", "a;b", "\x1e\uffff\r"],
    }
    questions: list[dict[str, Any]] = [
        {"id": "q1", **texts, "paths": [{"steps": [edge, bare]}, {"steps": [bare]}], "stack": "s1"},
        {
            **{"id": "q2", "question": "?", "relevant": {"api:a.py#f": 2.5, "x": -1}, "commits": {"api": SHA}},
            "seeds": ["api:a.py#f", "unlisted:seed.py"],
        },
        {
            "id": "q5",
            "question": "which?",
            "gold_cypher": ["RETURN 'é\\'\"'", "RETURN 1"],
            "stale": "they find nothing",
        },
        {"id": "q3", "question": "no gold", "expected_tool_calls": [{"name": "grep"}, {"name": "ls", "arguments": {}}]},
        # Two versions: the walk is at one of them, or says none.
        {
            "id": "q4",
            "question": "what changed?",
            "paths": [{"commits": {"api": tag}, "steps": [edge, bare]} for tag in ("v1", OTHER)],
        },
    ]
    commits: list[dict[str, Any]] = [
        {"repo": "api", "sha": SHA, "tag": "v1", "committed_at": "2026-01-02T03:04:05.678+02:00", "parents": [OTHER]},
        {"repo": "api", "sha": OTHER, "branch": "main"},
        {"repo": "web", "sha": "ab99" * 10, "parents": ["gone"]},
    ]
    rows: list[dict[str, Any]] = [
        {"id": "s1", "commits": {"api": "v1", "web": "ab99" * 10}, "environment": "prod", "at": "2026-02-01T00:00:00Z"},
        {"id": "s2", "commits": {"api": OTHER, "web": "ab99" * 10, "lib": "l1"}},
        {"id": "s3", "commits": {"api": SHA, "lib": "l2"}, "compatible": False},
    ]
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "commits.jsonl", commits)
    write_jsonl(folder / "compatibility.jsonl", rows)
    # No principal reads lib, and one reads nothing; the repositories new and seen aren't those of commits.
    rules: list[dict[str, Any]] = [
        {"principal": "all", "allow": ["*"], "deny": [{"repository": "lib"}, {"relation": "READS"}, "x"]},
        {"principal": "web-team", "allow": ["web:*", "new:*", {"repository": "a?i"}]},
        {"principal": "nobody"},
    ]
    write_jsonl(folder / "access.jsonl", rules)
    first: list[dict[str, Any]] = [
        {"id": "api:a.py#f", "kind": "function", "commit": "v1", "line": 3, "aliases": ["load"]},
        {"id": "web:b.ts#g", "kind": "old"},
    ]
    write_jsonl(folder / "artifacts-s1.jsonl", first)
    write_jsonl(folder / "artifacts-s2.jsonl", [{"id": "web:b.ts#g", "kind": "new", "commit": "ab99" * 10}])
    write_jsonl(folder / "edges-s1.jsonl", [edge, edge])
    write_jsonl(folder / "edges-s2.jsonl", [{**bare, "relation": "READS"}])
    chunks: list[dict[str, Any]] = [
        {"id": "api:a.py#f", "text": "", "score": 1},
        {"id": "api:a.py#f", "commit": "v1"},
        {"id": "new:later.py", "commit": "ab12"},
        {"id": "api:a.py#f", "commit": OTHER, "score": 0.5},
    ]
    calls: list[dict[str, Any]] = [
        {"name": "open", "arguments": {"path": "é"}, "seen": ["api:a.py#f", "seen:only.py"]},
        {"name": "ls"},
    ]
    walk: list[dict[str, Any]] = [
        {**edge, "source_commit": "v1", "path": 0},
        {**bare, "path": 1, "target_commit": "l1"},
        # Without a direction: gold has it the other way round.
        {"source": bare["target"], "target": bare["source"], "path": 2, "source_commit": "l1", "directed": False},
    ]
    # One node twice, and one that nothing else names; linked to nothing isn't the same as not logged.
    seeds: list[dict[str, Any]] = [
        {"id": "linked:only.py", "score": 1, "mention": "é"},
        {"id": "api:a.py#f", "mention": ""},
        {"id": "linked:only.py", "score": 0.25},
    ]
    queries = [{"cypher": "RETURN 'é;\\n'", "parameters": {"a": [1, None]}, "rows": [[1]], "error": "\u2028"}]
    compared = {"executable": True, "same": False, "nodes": ["x"], "gold_nodes": [], "cause": "a;b", "cause_kind": "c"}
    answers: list[dict[str, Any]] = [
        {
            **{"question_id": "q1", "answer": "yes", "retrieved": chunks, "traversal": walk, "tool_calls": calls},
            "seeds": seeds,
        },
        {"question_id": "q2", "retrieved": chunks[2:], "traversal": [], "citations": ["x"], "latency_ms": 3, "cost": 1},
        {"question_id": "q3", "error": "down", "seeds": []},
        {"question_id": "q4", "traversal": walk},
        {"question_id": "q5", "traversal": [], "queries": queries, "compared_result": compared},
    ]
    runs = [folder / "runs" / "one.jsonl", folder / "runs" / "two.jsonl"]
    runs[0].parent.mkdir()
    later = [{**bare, "source": "new:later.py"}]
    write_jsonl(runs[0], [{"run": "one", **answer} for answer in answers])
    write_jsonl(runs[1], [{"run": "two", **answers[0], "traversal": later}, {"run": "two", **answers[2]}])
    return runs


def late_dataset(folder: Path) -> list[Path]:
    """Write a dataset whose last answer alone names the artifacts of all chunks before it, and return its run."""
    questions = [{"id": f"q{number:03}", "question": "?", "relevant": {"x": 1}} for number in range(300)]
    answers: list[dict[str, Any]] = [
        {"run": "one", "question_id": one["id"], "retrieved": [{"id": f"api:m{place % 7}.py"}]}
        for place, one in enumerate(questions)
    ]
    steps = [{"source": f"api:m{place}.py", "relation": "CALLS", "target": "api:z.py"} for place in range(7)]
    answers[-1]["traversal"] = [{"path": 0, "position": place, **step} for place, step in enumerate(steps)]
    write_jsonl(folder / "questions.jsonl", questions)
    run = folder / "runs" / "one.jsonl"
    run.parent.mkdir()
    write_jsonl(run, answers)
    return [run]


def mixed_dataset(folder: Path) -> list[Path]:
    """Write a dataset that holds the odd one, the late one, the storefront and a world, and return its runs."""
    parts = {"storefront": graphkit.storefront_folder(), "world": world(folder / "parts", 60)}
    for name, write in (("odd", odd_dataset), ("late", late_dataset)):
        parts[name] = folder / "parts" / name
        parts[name].mkdir()
        write(parts[name])
    (folder / "runs").mkdir()
    runs = []
    for name, part in parts.items():
        for file in part.glob("*.jsonl"):
            records = read_jsonl(file)
            if file.stem == "questions":
                records = [{**record, "id": f"{name}-{record['id']}"} for record in records]
            with (folder / file.name).open("ab") as stream:
                stream.writelines(json.dumps(record).encode() + b"\n" for record in records)
        for run in sorted(part.glob("runs/*.jsonl")):
            runs.append(folder / "runs" / f"{name}-{run.name}")
            answers = [{**record, "question_id": f"{name}-{record['question_id']}"} for record in read_jsonl(run)]
            write_jsonl(runs[-1], [{**answer, "run": runs[-1].stem} for answer in answers])
    return runs


@pytest.mark.parametrize(
    "batches", ["one", pytest.param("many", marks=pytest.mark.slow("a world and the storefront are loaded twice"))]
)
def test_bulk_load_writes_what_the_loaders_write(
    graph: Graph, embedded_dir: Path, tmp_path: Path, batches: str
) -> None:
    """Each node and relationship is the same to the last property, and a later load finds nothing to do.

    The constraints and indexes exist before anybody opens the new database: a second node of a key is refused.
    """
    dataset = tmp_path / "mixed"
    dataset.mkdir()
    runs = (odd_dataset if batches == "one" else mixed_dataset)(dataset)
    emptied(graph.store)
    with open_store(data=embedded_dir) as store:
        expected = through_bolt(store, dataset, runs)
    loaded = in_bulk(tmp_path / "new", dataset, runs, 1_000 if batches == "many" else TOGETHER)
    with Store.open(Settings(data=tmp_path / "new")) as bare, pytest.raises(DatabaseError):
        bare.write("MATCH (q:Question) WITH q LIMIT 1 CREATE (:Question {dataset: q.dataset, id: q.id})")
    with open_store(data=tmp_path / "new") as store:
        assert whole(store) == expected
        assert [tuple(row.values()) for row in store.read(SEEDS)] == [
            *(("linked:only.py", 1, 1.0, "é"), ("api:a.py#f", 2, None, ""), ("linked:only.py", 3, 0.25, None)),
        ]
        assert not load_dataset(store, Dataset(dataset), Problems()).written.get("questions")
        again = [load_run(store, dataset.name, one.run, file) for one, file in zip(loaded.runs, runs, strict=True)]
        assert [(one.run, 0, one.written) for one in loaded.runs] == [(a.run, a.written, a.unchanged) for a in again]


@pytest.mark.slow("a database of its own is filled, and opened again")
def test_database_that_holds_something_is_refused(tmp_path: Path) -> None:
    """Nothing is added to a database with content, and nothing of it is lost."""
    with open_store(data=tmp_path / "db") as store:
        store.write("CREATE (:Repository {name: 'api'})-[:HELD]->(:Question {dataset: 'shop', id: 'q1'})")
        before = whole(store)
    with pytest.raises(DatabaseError, match="nodes already") as refused:
        in_bulk(tmp_path / "db", graphkit.storefront_folder(), [])
    assert "--data" in str(refused.value.remedy)
    with open_store(data=tmp_path / "db") as store:
        assert whole(store) == before


@one_fast("mistakes", [("runs",), ("question", "twice")], "further mistakes", ids=" and ".join)
def test_refused_run_leaves_nothing(tmp_path: Path, mistakes: tuple[str, ...]) -> None:
    """A record of another question, a file of two runs and two files of one run leave the database empty."""
    for mistake in mistakes:
        dataset = tmp_path / mistake
        dataset.mkdir()
        runs = odd_dataset(dataset)
        if mistake == "twice":
            runs = [runs[0], runs[0]]
        else:
            other = {"question_id": "q9"} if mistake == "question" else {"question_id": "q2", "run": "other"}
            with runs[1].open("a") as stream:
                stream.write(json.dumps({"run": "two", **other}) + "\n")
        # A database that isn't empty is refused with another error.
        with pytest.raises(
            InputError, match={"question": "q9|not in the dataset", "runs": "2 runs", "twice": "another"}[mistake]
        ):
            in_bulk(tmp_path / "new", dataset, runs)
    with open_store(data=tmp_path / "new") as store:
        assert store.read("MATCH (n) WHERE NOT n:Graphkit RETURN n") == []


@pytest.mark.slow("500 questions are loaded, killed twice, and loaded again")
def test_killed_bulk_load_leaves_an_empty_database(tmp_path: Path) -> None:
    """After a kill -9 of either process in the middle the database is empty, and the same command fills it.

    It also removes what the killed ones left in the folder for temporary files.
    """
    dataset = world(tmp_path, 500)
    data = tmp_path / "new"
    command = [
        sys.executable,
        "-m",
        "graphkit",
        "load",
        str(dataset),
        "--bulk",
        "--runs",
        str(dataset / "runs/walker.jsonl"),
    ]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = child_environment(Settings(data=data)) | {"TMPDIR": str(temporary)}
    for victim in ("client", "importer"):
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while not (data / "bulk").exists():
            assert process.poll() is None, "the load ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        importer = children(process.pid)[0]
        os.kill(importer if victim == "importer" else process.pid, signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        if victim == "importer":
            assert process.returncode == 3
            assert b"Nothing was stored. Run the command again." in said
        with open_store(data=data) as store:
            assert store.read("MATCH (n) WHERE NOT n:Graphkit RETURN n") == []
        stop(data)
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    assert list(temporary.iterdir()) == []
    with open_store(data=data) as store:
        found = store.read("MATCH (r:Run)-[:PRODUCED]->(a) RETURN r.complete AS complete, count(a) AS answers")
        assert found == [{"complete": True, "answers": 500}]
