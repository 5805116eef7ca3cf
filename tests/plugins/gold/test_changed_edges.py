"""Edges that one of two versions lacks: two knowledge graphs, or two commits of a repository."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.changed_edges import ChangedEdges
from tests.helpers.cli import Row, inside
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl

#: x calls y until v1, z since v2, and w always; of v, a commit is named that nobody knows.
EDGES: list[Row] = [
    {"source": "api:x", "relation": "CALLS", "target": "api:y", "until": "v1"},
    {"source": "api:x", "relation": "CALLS", "target": "api:z", "since": "v2"},
    {"source": "api:x", "relation": "CALLS", "target": "api:w"},
    {"source": "api:x", "relation": "CALLS", "target": "api:v", "since": "unknown"},
    {"source": "web:x", "relation": "CALLS", "target": "api:y", "until": "v1"},
]
COMMITS: list[Row] = [{"repo": "api", "sha": "v1"}, {"repo": "api", "sha": "v2", "parents": ["v1"]}]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write a dataset with the graph above, and a question about an edge that is always there."""
    gold = {"id": "q1", "question": "Q?", "gold_answer": "w", "paths": [[["api:x", "CALLS", "api:w"]]]}
    files: dict[str, list[Row]] = {"questions": [gold], "edges": EDGES, "commits": COMMITS}
    for name, rows in files.items():
        write_jsonl(tmp_path / "data" / f"{name}.jsonl", rows)
    return tmp_path / "data"


def test_two_graphs() -> None:
    """Of two stacks, the differences of the sets of their edges; a seed draws the same ones again."""
    before, after = (
        {(row["source"], row["relation"], row["target"]) for row in read_jsonl(STOREFRONT / f"edges-{name}.jsonl")}
        for name in ("stack-1", "stack-2")
    )
    found = ChangedEdges.between(Dataset(STOREFRONT), "stack-1..stack-2", Problems())
    assert {one.edge for one in found.found if one.kind == "removed" and one.stack == "stack-1"} == before - after
    assert {one.edge for one in found.found if one.kind == "added" and one.stack == "stack-2"} == after - before
    assert len(found.found) == len(before ^ after) > 1
    assert found.drawn(3, 5) == found.drawn(3, 5)
    assert {*found.drawn(10_000, 1)} == {*found.found}


def test_two_commits(data: Path) -> None:
    """One edge is gone, one is new, one is at both, and one can't be dated; those of other repositories don't count."""
    found = ChangedEdges.between(Dataset(data), "api@v1..v2", Problems())
    assert [(one.kind, one.edge[2], one.repository, one.commit) for one in found.found] == [
        ("removed", "api:y", "api", "v1"),
        ("added", "api:z", "api", "v2"),
    ]
    assert found.undated == 1
    turned = ChangedEdges.between(Dataset(data), "api@v2..api@v1", Problems())
    assert [(one.kind, one.edge[2]) for one in turned.found] == [("removed", "api:z"), ("added", "api:y")]


@pytest.mark.parametrize(
    ("versions", "what"),
    [
        ("v1..v2", "names no two versions"),
        ("api@v1", "names no two versions"),
        ("stack..stack", "names no two versions"),
        ("db@v1..v2", "no edge from 'db' says since or until which commit it exists"),
    ],
)
def test_what_names_no_versions(data: Path, versions: str, what: str) -> None:
    """Neither two graphs nor two commits of a repository with a history: refused, with what to write."""
    with pytest.raises(InputError, match=what):
        ChangedEdges.between(Dataset(data), versions, Problems())


def test_a_person_decides_in_a_sheet(data: Path, tmp_path: Path) -> None:
    """An accepted edge becomes gold at the commit that has it, which check finds sound."""
    sheet = tmp_path / "changed.csv"
    words = ("gold", "sample", data, "--changed", "api@v1..v2", "--decisions", sheet)
    done = inside(*words, cwd=tmp_path)
    assert "2 candidates (1 removed, 1 added)" in done.out
    assert "1 edge left out: the known parents of commits don't date it" in done.err
    with sheet.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"decision": one} for row, one in zip(rows, ("accept", "accept"), strict=True))
    done = inside(*words, "--json", cwd=tmp_path)
    assert json.loads(done.out) == {"added": ["changed-1", "changed-2"], "rejected": 0, "undecided": 0}
    removed, added = read_jsonl(data / "questions.jsonl")[1:]
    assert removed["question"] == "To what does api:x have the relation CALLS at v1, but no longer at v2?"
    assert removed["paths"] == [{"commits": {"api": "v1"}, "steps": [["api:x", "CALLS", "api:y"]]}]
    assert added["paths"] == [{"commits": {"api": "v2"}, "steps": [["api:x", "CALLS", "api:z"]]}]
    assert json.loads(inside("check", data, "--json", cwd=tmp_path).out)["invalid"] == []


def test_a_question_of_a_stack(tmp_path: Path) -> None:
    """An edge of one stack becomes gold of a question about this stack, which its graph holds."""
    copy, sheet = tmp_path / "shop", tmp_path / "changed.csv"
    shutil.copytree(STOREFRONT, copy, ignore=shutil.ignore_patterns("*.py", "history", "runs"))
    words = ("gold", "sample", copy, "--changed", "stack-1..stack-2", "--count", "1", "--decisions", sheet)
    inside(*words, cwd=tmp_path)
    sheet.write_text(sheet.read_text().rstrip("\r\n") + "accept\r\n")
    inside(*words, cwd=tmp_path)
    question = read_jsonl(copy / "questions.jsonl")[-1]
    assert (question["id"], question["stack"]) in [("changed-1", "stack-1"), ("changed-1", "stack-2")]
    assert json.loads(inside("check", copy, "--json", cwd=tmp_path).out)["invalid"] == []


def test_one_kind_of_sample(data: Path, tmp_path: Path) -> None:
    """Neither kind of sample, or both, is refused."""
    for more in ((), ("--unanswerable", "--changed", "a..b")):
        done = inside("gold", "sample", data, *more, "--decisions", "s.csv", cwd=tmp_path, code=2)
        assert "Give either --unanswerable or --changed A..B." in done.err
