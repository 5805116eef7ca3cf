"""``graphkit load --bulk``."""

from __future__ import annotations

from pathlib import Path

import graphkit
from tests.helpers.cli import inside


def test_bulk_fills_a_new_database(tmp_path: Path) -> None:
    """The command prints what it loaded, of the dataset and of each run; the next one finds both."""
    dataset = graphkit.storefront_folder()
    run = dataset / "runs" / "storefront-graph.jsonl"
    done = inside("load", dataset, "--bulk", "--runs", run, "--data", tmp_path / "new", cwd=tmp_path, code=0)
    assert "storefront: 30 questions loaded" in done.out
    assert "storefront-graph: 30 answers loaded" in done.out
    again = inside("load", dataset, "--data", tmp_path / "new", cwd=tmp_path, code=0)
    assert "storefront: 0 questions loaded, 30 there already" in again.out


def test_bulk_refuses_a_server_and_runs_alone(tmp_path: Path) -> None:
    """--bulk with the address of a server, and --runs without --bulk, are refused with what to do."""
    dataset = graphkit.storefront_folder()
    refused = inside("load", dataset, "--bulk", "--neo4j-uri", "bolt://localhost:1", cwd=tmp_path, code=2)
    assert "embedded database only" in refused.err
    alone = inside("load", dataset, "--runs", dataset / "runs" / "storefront-graph.jsonl", cwd=tmp_path, code=2)
    assert "--runs needs --bulk" in alone.err
