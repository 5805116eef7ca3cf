"""A page that several modules look at; the browsers are those of :mod:`tests.helpers.browsers`."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.report import write_report
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl


@pytest.fixture(scope="session")
def ten_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over ten runs: the storefront's graph run, under ten names, each walking one edge more than the last."""
    folder = tmp_path_factory.mktemp("ten")
    for name in ("questions.jsonl", "commits.jsonl"):
        write_jsonl(folder / name, read_jsonl(STOREFRONT / name))
    answers = read_jsonl(STOREFRONT / "runs" / "storefront-graph.jsonl")
    runs = []
    for number in range(10):
        name = f"run-{number}-with-a-name-as-people-give-them"
        rows = [{**one, "run": name, "traversal": (one.get("traversal") or [])[: number + 1]} for one in answers]
        runs.append(write_jsonl(folder / "runs" / f"{number}.jsonl", rows))
    return write_report(runs, folder / "ten.html")
