"""Paths that a user's pattern finds in the knowledge graph, on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.graph.opening import prepared
from graphkit.plugins.gold.proposals import proposed_paths
from tests.helpers.cli import Row, tiny

#: x calls y, y queries the table t of another repository, whose commit isn't known; y was called by w, too.
EDGES = (
    {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},
    {"source": "a:m.py#w", "relation": "CALLS", "target": "a:m.py#y"},
    {"source": "a:m.py#y", "relation": "QUERIES", "target": "b:t.sql"},
)
ARTIFACTS = (
    {"id": "a:m.py#x", "commit": "one"},
    {"id": "a:m.py#y", "commit": "one"},
    {"id": "a:m.py#w", "commit": "two"},
    {"id": "b:t.sql"},
)
COMMITS = ({"repo": "a", "sha": "one"}, {"repo": "a", "sha": "two"})


@pytest.fixture
def known(store: Store, tmp_path: Path) -> Store:
    """Return a store that holds the knowledge graph of the dataset ``mine``."""
    prepared(store)
    tiny(tmp_path / "mine", edges=EDGES, artifacts=ARTIFACTS, commits=COMMITS)
    graphkit.load(store, tmp_path / "mine")
    return store


def test_paths_with_their_commits(known: Store) -> None:
    """Each path has its edges in their direction, and the known commits of its repositories."""
    pattern = "MATCH p = (:Artifact {id: $start})-[:EDGE*1..3]->(b);"
    found = proposed_paths(known, "mine", pattern, 10, {"start": "a:m.py#x"})
    # The path to y begins the one to the table, so it isn't proposed by itself.
    [one] = found.found
    assert one.steps == (("a:m.py#x", "CALLS", "a:m.py#y"), ("a:m.py#y", "QUERIES", "b:t.sql"))
    assert (dict(one.commits), one.unpinned) == ({"a": "one"}, ("b",))
    assert (found.foreign, found.cut) == (0, False)
    short = proposed_paths(known, "mine", "MATCH p = (:Artifact {id: $start})-[:EDGE]->(b)", 10, {"start": "a:m.py#x"})
    assert [dict(one.commits) for one in short.found] == [{"a": "one"}]


def test_an_edge_against_the_walk(known: Store) -> None:
    """An edge keeps its direction if the path traverses it backwards; two commits of a repository pin none."""
    pattern = "MATCH p = (:Artifact {id: 'a:m.py#x'})-[:EDGE]-()-[:EDGE]-(:Artifact {id: 'a:m.py#w'})"
    [one] = proposed_paths(known, "mine", pattern, 10).found
    assert one.steps == (("a:m.py#x", "CALLS", "a:m.py#y"), ("a:m.py#w", "CALLS", "a:m.py#y"))
    assert (dict(one.commits), one.unpinned) == ({}, ("a",))


def test_what_is_not_of_the_knowledge_graph(known: Store, tmp_path: Path) -> None:
    """Matches outside the dataset's graph are skipped and counted; ``cut`` says whether there are more."""
    gold = proposed_paths(known, "mine", "MATCH p = (:Artifact)-[:GOLD]->(:Artifact)", 10)
    assert (gold.found, gold.foreign) == ([], 3)  # q1 has two steps, q2 one
    nodes = proposed_paths(known, "mine", "MATCH p = (:Artifact {id: 'b:t.sql'})", 10)
    assert (nodes.found, nodes.foreign) == ([], 1)
    tiny(tmp_path / "other", questions=[{"id": "o", "question": "?"}], answers=[])
    graphkit.load(known, tmp_path / "other")
    others = proposed_paths(known, "other", "MATCH p = ()-[:EDGE]->()", 10)
    assert (others.found, others.foreign) == ([], 3)
    cut = proposed_paths(known, "mine", "MATCH p = ()-[:EDGE]->()", 2)
    assert (len(cut.found), cut.cut) == (2, True)


def test_a_path_twice(known: Store, tmp_path: Path) -> None:
    """A path that several knowledge graphs hold at the same commits is proposed once."""
    files: dict[str, tuple[Row, ...]] = {
        "edges": EDGES,
        "artifacts": ARTIFACTS,
        "edges-b": EDGES,
        "artifacts-b": ARTIFACTS,
        "commits": COMMITS,
    }
    tiny(tmp_path / "mine", **files)
    graphkit.load(known, tmp_path / "mine")
    found = proposed_paths(known, "mine", "MATCH p = (:Artifact {id: 'a:m.py#x'})-[:EDGE]->()", 10)
    assert [dict(one.commits) for one in found.found] == [{"a": "one"}]


def test_what_no_pattern_may_do(known: Store) -> None:
    """A pattern that writes, is invalid or names no path is refused, and so is an unknown dataset."""
    with pytest.raises(DatabaseError):
        proposed_paths(known, "mine", "MATCH p = (a)-[:EDGE]->(b) SET a.x = 1 WITH p", 10)
    with pytest.raises(InputError):
        proposed_paths(known, "mine", "MATCH p = (a)-[:EDGE->(b)", 10)
    with pytest.raises(InputError, match="must call its paths p"):
        proposed_paths(known, "mine", "MATCH (a)-[:EDGE]->(b)", 10)
    with pytest.raises(InputError, match="doesn't hold the dataset 'none'"):
        proposed_paths(known, "none", "MATCH p = (a)-[:EDGE]->(b)", 10)
    assert known.read("MATCH (a:Artifact) WHERE a.x IS NOT NULL RETURN count(*) AS n") == [{"n": 0}]
