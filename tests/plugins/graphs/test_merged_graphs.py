"""Two exports of a graph, merged: the edges say since and until which commit they exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.graphs.graph_importer import import_graph
from tests.helpers.cli import Row, inside
from tests.helpers.datasets import read_jsonl, write_jsonl

#: The history of api; web has no commit in any export.
COMMITS: list[Row] = [
    {"repo": "api", "sha": "v1"},
    {"repo": "api", "sha": "v2", "parents": ["v1"]},
    {"repo": "api", "sha": "v3", "parents": ["v2"]},
]

BOTH, OLD, NEW = "api:x,CALLS,api:w", "api:x,CALLS,api:y", "api:x,CALLS,api:z"


def export(folder: Path, *edges: str) -> Path:
    """Write an export, a table of edges."""
    path = folder / "export.csv"
    path.write_text("\n".join(("source,relation,target", *edges)) + "\n")
    return path


def held(data: Path) -> list[tuple[str, str | None, str | None]]:
    """Return the target of each edge with since and until, in the order of the file."""
    return [(one["target"], one.get("since"), one.get("until")) for one in read_jsonl(data / "edges.jsonl")]


def test_three_exports(tmp_path: Path) -> None:
    """y is gone at v2 and back at v3; z is there from v2 on; w at all. Gold at each version is judged by it."""
    data = tmp_path / "data"
    write_jsonl(data / "commits.jsonl", COMMITS)
    words = ("import", "graph", "export.csv", "--dataset", "data", "--json", "--commit")
    export(tmp_path, BOTH, OLD, "web:a,CALLS,api:x")
    inside(*words, "api=v1", cwd=tmp_path)
    export(tmp_path, BOTH, NEW, "web:a,CALLS,api:x")
    done = json.loads(inside(*words, "api=v2", "--merge", cwd=tmp_path).out)
    assert done["merged"] == {"both": 2, "until": 1, "since": 1}
    second = [("api:w", "v1", None), ("api:y", "v1", "v1"), ("api:x", None, None), ("api:z", "v2", None)]
    assert held(data) == second
    commits = {one["id"]: one.get("commit") for one in read_jsonl(data / "artifacts.jsonl")}
    assert commits == {"api:w": "v2", "api:x": "v2", "api:y": "v1", "api:z": "v2", "web:a": None}
    export(tmp_path, BOTH, NEW, OLD, "web:a,CALLS,api:x")
    inside(*words, "api=v3", "--merge", cwd=tmp_path)
    assert held(data) == [*second, ("api:y", "v3", None)]
    step = [["api:x", "CALLS", "api:y"]]
    sides = {
        name: {"id": name, "question": f"{name}?", "paths": [{"commits": {"api": name}, "steps": step}]}
        for name in ("v1", "v2", "v3")
    }
    write_jsonl(data / "questions.jsonl", [*sides.values()])
    assert json.loads(inside("check", "data", "--json", cwd=tmp_path, code=1).out)["invalid"] == ["v2"]


@pytest.mark.parametrize(
    ("first", "second", "edge", "what"),
    [
        ({}, {"api": "v2"}, NEW, "nothing states the former commit of api"),
        ({"api": "v1"}, {}, NEW, "nothing states the new commit of api"),
        ({"api": "v1"}, {"api": "v2"}, "web:a,CALLS,api:x", "nothing states the former commit of web"),
        ({"api": "v1"}, {"api": "v1"}, NEW, "although both were read at api@v1"),
        ({"api": "v2"}, {"api": "v1"}, NEW, "api@v1 doesn't follow v2, at which the graph was read"),
    ],
)
def test_a_difference_that_no_commit_dates(
    tmp_path: Path, first: dict[str, str], second: dict[str, str], edge: str, what: str
) -> None:
    """Refused whole, with the edge; both files stay as they were."""
    data = tmp_path / "data"
    write_jsonl(data / "commits.jsonl", COMMITS)
    import_graph(data, export(tmp_path, BOTH), commits=first)
    before = {name: (data / name).read_bytes() for name in ("artifacts.jsonl", "edges.jsonl")}
    with pytest.raises(InputError, match=what):
        import_graph(data, export(tmp_path, BOTH, edge), commits=second, merge=True)
    assert {name: (data / name).read_bytes() for name in before} == before


def test_nothing_to_merge_with(tmp_path: Path) -> None:
    """The first export isn't merged, and --merge doesn't go with --replace."""
    data = tmp_path / "data"
    data.mkdir()
    with pytest.raises(InputError, match="no graph with artifacts and edges to merge with"):
        import_graph(data, export(tmp_path, BOTH), merge=True)
    with pytest.raises(InputError, match="exclude each other"):
        import_graph(data, export(tmp_path, BOTH), merge=True, replace=True)
