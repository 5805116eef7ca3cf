"""Two exports of a graph, merged: the edges say since and until which commit they exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.changed_edges import ChangedEdges
from graphkit.plugins.graphs.graph_importer import import_graph
from tests.helpers.cli import Row, inside
from tests.helpers.datasets import read_jsonl, write_jsonl

#: The history of api; web has no commit in any export.
COMMITS: list[Row] = [
    {"repo": "api", "sha": "v1", "tags": ["first"]},
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
        # A tag of that commit is no other one.
        ({"api": "v1"}, {"api": "first"}, NEW, "although both were read at api@first"),
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


def test_an_edge_that_comes_and_goes(tmp_path: Path) -> None:
    """y is there at v1 and v3, w at v1 and v2, twice in an export; what has changed between two commits follows.

    Only y differs from v1 to v2, by its removal, and it comes back at v3, where w is gone; at v4 z replaces y.
    """
    data = tmp_path / "data"
    write_jsonl(data / "commits.jsonl", [*COMMITS, {"repo": "api", "sha": "v4", "parents": ["v3"]}])
    exports = {"v1": (BOTH, OLD, OLD), "v2": (BOTH, BOTH), "v3": (OLD,), "v4": (NEW,)}
    for commit, edges in exports.items():
        import_graph(data, export(tmp_path, *edges), commits={"api": commit}, merge=commit != "v1")
    assert held(data) == [
        ("api:w", "v1", "v2"),
        ("api:y", "v1", "v1"),
        ("api:y", "v3", "v3"),
        ("api:z", "v4", None),
    ]
    write_jsonl(data / "questions.jsonl", [{"id": "q", "question": "?", "relevant": ["api:x"]}])
    changed = {("v1", "v2"): "-y", ("v2", "v3"): "-w +y", ("v1", "v3"): "-w", ("v3", "v4"): "-y +z", ("v2", "v2"): ""}
    for (one, two), expected in changed.items():
        found = ChangedEdges.between(Dataset(data), f"api@{one}..{two}", Problems()).found
        signs = [f"{'-' if each.kind == 'removed' else '+'}{each.edge[2][-1]}" for each in found]
        assert (" ".join(signs), one, two) == (expected, one, two)
    with pytest.raises(InputError, match="lists no commit 'v5' of 'api'"):
        ChangedEdges.between(Dataset(data), "api@v1..v5", Problems())


def test_artifacts_and_repositories_that_change(tmp_path: Path) -> None:
    """Of an artifact the new attributes count, and its commit stays if the new export states none.

    A repository that the former export lacks is read as if it were imported first: its edges get no date.
    """
    data = tmp_path / "data"
    write_jsonl(data / "commits.jsonl", COMMITS)
    import_graph(data, export(tmp_path, BOTH, "web:a,CALLS,web:b"), commits={"api": "v1", "web": "w1"})
    import_graph(
        data,
        export(tmp_path, BOTH, "web:a,CALLS,web:b", "db:t,CALLS,api:x"),
        commits={"api": "v2", "db": "d1"},
        merge=True,
    )
    assert {one["id"]: one.get("commit") for one in read_jsonl(data / "artifacts.jsonl")} == {
        "api:w": "v2",
        "api:x": "v2",
        "web:a": "w1",
        "web:b": "w1",
        "db:t": "d1",
    }
    assert held(data) == [("api:w", "v1", None), ("web:b", None, None), ("api:x", None, None)]


def test_an_edge_that_ends_before_it_begins(tmp_path: Path) -> None:
    """Refused with its line where the parents tell the order; where they don't, `check` says so."""
    edge = {"source": "api:x", "relation": "CALLS", "target": "api:y"}
    question = {"id": "q", "question": "?", "relevant": ["api:x"], "difficulty": "easy"}
    write_jsonl(tmp_path / "data" / "questions.jsonl", [question])
    write_jsonl(tmp_path / "data" / "commits.jsonl", COMMITS)
    write_jsonl(tmp_path / "data" / "edges.jsonl", [edge, edge | {"since": "v3", "until": "v1"}])
    done = inside("check", "data", cwd=tmp_path, code=2)
    assert (
        "edges.jsonl:2: record 'api:x': the edge exists since v3 until v1, which doesn't follow it in 'api'" in done.err
    )
    write_jsonl(tmp_path / "data" / "edges.jsonl", [edge | {"since": "first", "until": "v3"}])
    assert "undated-edge" not in inside("check", "data", "--json", cwd=tmp_path).out
    write_jsonl(tmp_path / "data" / "edges.jsonl", [edge | {"since": "v1", "until": "v8"}])
    found = json.loads(inside("check", "data", "--json", cwd=tmp_path).out)["findings"]
    [what] = [one["what"] for one in found if one["kind"] == "undated-edge"]
    assert "edges.jsonl:1: the known parents of commits don't tell whether the edge's `until` follows" in what


def test_nothing_to_merge_with(tmp_path: Path) -> None:
    """The first export isn't merged, and --merge doesn't go with --replace."""
    data = tmp_path / "data"
    data.mkdir()
    with pytest.raises(InputError, match="no graph with artifacts and edges to merge with"):
        import_graph(data, export(tmp_path, BOTH), merge=True)
    with pytest.raises(InputError, match="exclude each other"):
        import_graph(data, export(tmp_path, BOTH), merge=True, replace=True)
