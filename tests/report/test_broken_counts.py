"""Every door counts the boundaries and relations of each run alike: page, terminal, notebook, queries and agents."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from graphkit.graph.runs import load_run
from graphkit.plugins.agents.workspace import Workspace
from graphkit.report import PageOptions, write_report
from tests.helpers.cli import inside
from tests.helpers.datasets import STOREFRONT, scored_copy
from tests.helpers.pages import Page

KINDS = ("boundaries-missed", "relations-missed")

#: Kinds of which the page lists only the first rows.
SINGLE = ("edges-missed", "nodes-missed", "edges-absent")

#: The columns that name a row of each kind.
NAMES = {
    "boundaries-missed": ("from_repo", "to_repo"),
    "relations-missed": ("relation",),
    "edges-missed": ("source", "relation", "target"),
    "nodes-missed": ("node",),
    "edges-absent": ("source", "relation", "target"),
}

#: The fixtures of the other datasets.
_DATA = {"pallets": "pallets", "traced": "traced_packages"}

#: Missed and required edges by the names of a boundary or a relation.
Counts = dict[tuple[str, ...], tuple[int, int]]


def runs_of(dataset: Path) -> list[Path]:
    """Return the runs of a dataset."""
    return sorted((dataset / "runs").glob("*.jsonl*"))


def of_page(page: Page) -> list[dict[str, Counts]]:
    """Return the counts that the cells of a page state: for each run, by the kind of failure."""
    counts: list[dict[str, Counts]] = []
    row: tuple[str, tuple[str, ...]] | None = None
    cell = 0
    for tag, one in page.elements:
        href, title = str(one.get("href")), str(one.get("title"))
        if found := re.fullmatch(r"#questions\?(boundary|relation)=[^&]*", href):
            row, cell = (KINDS[found[1] == "relation"], ()), 0
        elif row is not None and row[1] == () and tag == "bdi":
            row = (row[0], tuple(title.split(" → ")))
        elif row is not None and tag in ("a", "span") and re.search("required", title):
            counts += [{kind: {} for kind in KINDS} for _ in range(cell + 1 - len(counts))]
            if walked := re.fullmatch(r"(\d+) of (\d+) required edges walked", title):
                counts[cell][row[0]][row[1]] = (int(walked[2]) - int(walked[1]), int(walked[2]))
            cell += 1
        elif tag == "tbody":
            row = None
    return [{kind: {name: one for name, one in of.items() if one[0]} for kind, of in run.items()} for run in counts]


def of_rows(kind: str, rows: Any) -> Counts:
    """Return the counts of the rows of a named query."""
    return {tuple(row[name] for name in NAMES[kind]): (row["missed"], row["required"]) for row in rows}


def of_missed(run: Path | str, store: Store | None = None) -> dict[str, dict[tuple[str, ...], int]]:
    """Return how many edges the rows of missed-boundaries and missed-edges name, each once for its question."""
    found: dict[str, Counter[tuple[str, ...]]] = {kind: Counter() for kind in KINDS}
    for kind, name in zip(KINDS, ("missed-boundaries", "missed-edges"), strict=True):
        rows: Any = graphkit.file_failures(run, name) if store is None else graphkit.failures(store, str(run), name)
        edges = {(row["question"], row["source"], row["relation"], row["target"]): row for row in rows}
        for row in edges.values():
            boundary = kind == KINDS[0]
            found[kind][(row["from_repo"], row["to_repo"]) if boundary else (row["relation"] or "(no relation)",)] += 1
    return {kind: dict(counts) for kind, counts in found.items()}


def same_rows(workspace: Workspace, run: str, kind: str, rows: list[dict[str, Any]]) -> bool:
    """Whether an agent reads these rows: in its first reply, in the one that goes on there, and in that of the last.

    A reply holds about twenty rows, and each evaluates the run's failures anew.
    """

    def reply(offset: int) -> list[dict[str, Any]]:
        told = json.loads(workspace.failures(run, kind, offset=offset))
        assert told["counts"] == {kind: len(rows)}
        found = [{name: value for name, value in row.items() if name != "kind"} for row in told["rows"]]
        assert found or offset >= len(rows)
        return found

    first = reply(0)
    return all(
        found == rows[offset : offset + len(found)]
        for offset, found in (
            (0, first),
            (len(first), reply(len(first))),
            (len(rows) - 1, reply(max(len(rows) - 1, 0))),
        )
    )


@pytest.mark.slow("three datasets are scored and asked through every door")
@pytest.mark.parametrize("name", ["storefront", *(pytest.param(one, marks=pytest.mark.data) for one in _DATA)])
def test_every_door_counts_alike(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Page, terminal, notebook and agent state the same counts of each run of each dataset."""
    source = request.getfixturevalue(_DATA[name]) if name in _DATA else STOREFRONT
    files = runs_of(scored_copy(source, tmp_path))
    on_page = of_page(Page(write_report(files, tmp_path / "page.html", PageOptions()).read_text("utf-8")))
    assert len(on_page) == len(files)
    workspace = Workspace(tmp_path.resolve(), None)
    compared = 0
    for number, file in enumerate(files):
        named = of_missed(file)
        for kind in (*KINDS, *SINGLE):
            rows = list(graphkit.file_failures(file, kind))
            counts = of_rows(kind, rows)
            doors = {
                "terminal": of_rows(
                    kind, inside("failures", file, "--kind", kind, "--limit", "0", "--json", cwd=tmp_path).objects()
                ),
                **({"page": on_page[number][kind]} if kind in KINDS else {}),
            }
            assert all(one == counts for one in doors.values()), (file, kind, doors)
            assert same_rows(workspace, str(file.relative_to(tmp_path)), kind, rows), (file, kind)
            if kind in KINDS:
                assert named[kind] == {one: missed for one, (missed, _) in counts.items()}, (file, kind)
                compared += len(counts)
    assert compared > 20


@pytest.mark.slow("two datasets are loaded with all their runs")
@pytest.mark.parametrize("name", ["storefront", pytest.param("pallets", marks=pytest.mark.data)])
def test_the_graph_counts_as_files_do(name: str, request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> None:
    """The named queries state of each run what its file states, where every other door finds it."""
    source = request.getfixturevalue(_DATA[name]) if name in _DATA else STOREFRONT
    dataset = scored_copy(source, tmp_path)
    prepared(store)
    graphkit.load(store, dataset)
    compared = 0
    for number, file in enumerate(runs_of(dataset)):
        run = f"run {number}"
        load_run(store, dataset.name, run, file)
        named = of_missed(run, store)
        for kind in (*KINDS, *SINGLE):
            counts = of_rows(kind, graphkit.failures(store, run, kind))
            assert counts == of_rows(kind, graphkit.file_failures(file, kind)), (file, kind)
            if kind in KINDS:
                assert named[kind] == {one: missed for one, (missed, _) in counts.items()}, (file, kind)
                compared += len(counts)
    assert compared > 20
