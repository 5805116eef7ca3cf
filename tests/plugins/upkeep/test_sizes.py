"""The sizes of datasets and runs in the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.opening import open_store
from graphkit.plugins.upkeep.removal import remove_dataset
from graphkit.plugins.upkeep.sizes import graph_sizes
from tests.helpers.cli import Graph, inside, tiny


def test_sizes_of_dataset_and_run(empty_store: Store, tmp_path: Path) -> None:
    """Each node and relationship is counted where it belongs; what is shared counts in the whole alone."""
    run = tiny(tmp_path / "shop")
    graphkit.evaluate(run, store=empty_store, measures=["EdgeRecall"])
    dataset, of_run, whole = graph_sizes(empty_store)
    # The dataset, 2 questions, 2 gold paths, 4 artifacts and 3 chunks; 2 HAS, 2 EXPECTS, 3 GOLD and 3 OF.
    assert (dataset.kind, dataset.name, dataset.nodes, dataset.relationships) == ("dataset", "shop", 12, 10)
    # The run, 2 answers, 2 traversed paths, 2 scores, 2 decisions whether an answer is right and a grading. From the
    # answers 2 ANSWERS, 2 WALKED, 3 RETRIEVED and 4 SCORED; from the run 2 PRODUCED, a GRADED and an OVER; 2 TRAVERSED.
    assert (of_run.kind, of_run.name, of_run.nodes, of_run.relationships) == ("run", "r", 10, 17)
    assert of_run.kinds == {"Run": 1, "Answer": 2, "Score": 4, "RetrievedPath": 2, "Grading": 1}
    # Nothing is shared, since no record names a commit.
    counted = empty_store.read("MATCH (n) RETURN count(n) AS nodes")[0]["nodes"]
    assert whole.nodes == counted
    assert (whole.nodes, whole.relationships) == (22, 27)


@pytest.mark.slow("a database of its own is filled")
def test_bytes_are_divided_by_number(tmp_path: Path) -> None:
    """A run gets its share of the files of each kind by number; what all runs share counts only in the whole graph."""
    run = tiny(tmp_path / "shop")
    half = run.with_name("half.jsonl")
    half.write_text(run.read_text().splitlines()[0].replace('"run": "r"', '"run": "half"') + "\n")
    with open_store(data=tmp_path / "db") as store:
        for file in (run, half):
            graphkit.evaluate(file, store=store, measures=["EdgeRecall"])
        _, of_half, of_run, whole = graph_sizes(store)
    files = {file.name: file.stat().st_size for file in (tmp_path / "db" / "databases" / "neo4j").iterdir()}

    def of(*kinds: str) -> int:
        return sum(size for name, size in files.items() if name.startswith(tuple(f"{kind}_0" for kind in kinds)))

    # Of three answers one belongs to the half, of five retrieved chunks (x, y, and x, y, w) two; its unanswered
    # question has a score, too.
    thirds = of("Answer", "ANSWERS", "RetrievedPath", "WALKED", "TRAVERSED", "PRODUCED", "SCORED")
    halves = of("Run", "Grading", "GRADED", "Score", "OVER")
    assert all(of(kind) for kind in ("Answer", "Score", "TRAVERSED", "RETRIEVED"))
    assert of_half.bytes == round(thirds / 3 + halves / 2 + of("RETRIEVED") * 2 / 5)
    assert of_run.bytes == round(thirds * 2 / 3 + halves / 2 + of("RETRIEVED") * 3 / 5)
    assert whole.bytes == sum(files.values())


def test_removal_shows_its_progress(empty_store: Store, tmp_path: Path) -> None:
    """Each transaction of a removal is reported: at the least the questions, answers and scores."""
    graphkit.evaluate(tiny(tmp_path / "shop"), store=empty_store, measures=["EdgeRecall"])
    seen: dict[str, int] = {}

    def progress(kind: str, count: int) -> None:
        seen[kind] = seen.get(kind, 0) + count

    remove_dataset(empty_store, "shop", progress)
    assert seen["questions removed"] == 2
    # 2 answers, 2 scores, 2 traversed edges, 3 chunks, 4 artifacts.
    assert seen["records removed"] >= 13
    assert [one.kind for one in graph_sizes(empty_store)] == ["graph"]


def test_command_shows_sizes(graph: Graph, tmp_path: Path) -> None:
    """``graphkit db sizes`` lists datasets and runs, then the whole graph, with their bytes."""
    run = tiny(tmp_path / "shop")
    inside("evaluate", run, cwd=tmp_path, env=graph.env, code=0)
    done = inside("db", "sizes", "--json", cwd=tmp_path, env=graph.env, code=0)
    rows = done.objects()
    assert [(row["kind"], row["name"]) for row in rows] == [("dataset", "shop"), ("run", "r"), ("graph", "")]
    assert 0 < sum(row["bytes"] for row in rows[:-1]) < rows[-1]["bytes"]
    assert "bytes on disk" in inside("db", "sizes", cwd=tmp_path, env=graph.env, code=0).out
