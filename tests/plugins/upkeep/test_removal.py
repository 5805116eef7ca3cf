"""Removing runs and datasets leaves the graph as it was before them."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import unfinished_loads
from graphkit.plugins.judging.grading.grade_run import grade
from graphkit.plugins.upkeep.removal import remove_dataset, remove_run
from tests.helpers.cli import tiny
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.loading import RUN, contents
from tests.helpers.suites import one_fast

pytestmark = pytest.mark.newest


def test_a_run_is_removed(empty_store: Store, dataset: Path) -> None:
    """Answers, seeds, traversals, chunks, scores and verdicts are deleted; the dataset and other runs stay.

    A node that the run alone named, as a seed, goes with it.
    """
    graphkit.evaluate(dataset / "runs" / "storefront-bm25.jsonl", dataset, store=empty_store)
    before = contents(empty_store)
    first, *others = read_jsonl(dataset / "runs" / f"{RUN}.jsonl")
    write_jsonl(dataset / "runs" / f"{RUN}.jsonl", [{**first, "seeds": ["api:linked.py"]}, *others])
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    assert len(empty_store.read("MATCH (:Answer)-[:SEEDED]->(n {id: 'api:linked.py'}) RETURN n.id AS id")) == 1
    grade(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    assert contents(empty_store) != before
    remove_run(empty_store, RUN)
    assert contents(empty_store) == before
    assert unfinished_loads(empty_store) == []


def test_a_dataset_is_removed_with_its_runs(empty_store: Store, dataset: Path, tmp_path: Path) -> None:
    """Another dataset stays unchanged, and the removed one can be loaded again."""
    other = tiny(tmp_path / "other")
    graphkit.evaluate(other, store=empty_store)
    before = contents(empty_store)
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    whole = contents(empty_store)
    name = str(empty_store.read("MATCH (r:Run {id: $run}) RETURN r.dataset AS name", {"run": RUN})[0]["name"])
    assert remove_dataset(empty_store, name) == [RUN]
    assert contents(empty_store) == before
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    assert contents(empty_store) == whole
    remove_dataset(empty_store, name)
    remove_dataset(empty_store, other.parent.parent.name)
    # With the last dataset goes everything.
    assert contents(empty_store) == {}


@one_fast("removed", [remove_run, remove_dataset], "the storefront is loaded for each kind", 0)
def test_what_is_not_there(empty_store: Store, dataset: Path, removed: object) -> None:
    """An unknown name is reported with the known ones, and nothing is removed."""
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    before = contents(empty_store)
    with pytest.raises(InputError, match="the graph holds no"):
        removed(empty_store, "nothing of that name")  # type: ignore[operator]
    assert contents(empty_store) == before


@pytest.mark.slow("the rest of an interruption")
def test_a_removal_that_died_goes_on(empty_store: Store, dataset: Path) -> None:
    """The rest of an interrupted removal is incomplete, and the same command removes it."""
    graphkit.load(empty_store, dataset)
    before = contents(empty_store)
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=empty_store)
    empty_store.write(cypher("load/run_changes"), {"id": RUN, "given": True})
    empty_store.write("MATCH (a:Answer {run: $run}) WITH a LIMIT 5 DETACH DELETE a", {"run": RUN})
    remove_run(empty_store, RUN)
    # Chunks and paths of answers that were deleted by hand lie beside; a whole removal leaves none.
    assert empty_store.read("MATCH (n:Run) RETURN count(n) AS count") == [{"count": 0}]
    assert empty_store.read("MATCH (n:Answer) RETURN count(n) AS count") == [{"count": 0}]
    assert contents(empty_store).keys() >= before.keys()
