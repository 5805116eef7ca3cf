"""``graphkit load --bulk``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphkit
from tests.helpers.cli import inside


@pytest.mark.slow("a database is made by the importer and opened")
def test_bulk_fills_a_new_database(tmp_path: Path) -> None:
    """The command prints what it loaded, of the dataset and of each run; the next one finds both."""
    dataset = graphkit.storefront_folder()
    run = dataset / "runs" / "storefront-graph.jsonl"
    done = inside("load", dataset, "--bulk", "--runs", run, "--data", tmp_path / "new", cwd=tmp_path, code=0)
    assert "storefront: 39 questions loaded" in done.out
    assert "storefront-graph: 39 answers loaded" in done.out
    again = inside("load", dataset, "--data", tmp_path / "new", cwd=tmp_path, code=0)
    assert "storefront: 0 questions loaded, 39 there already" in again.out


def test_bulk_with_neo4j_prints_the_next_steps(tmp_path: Path) -> None:
    """Without a server that listens, the files are written once, and the command that imports them is printed."""
    dataset = graphkit.storefront_folder()
    arguments = ("load", dataset, "--bulk", "--neo4j-uri", "bolt://localhost:1")
    done = inside(*arguments, cwd=tmp_path, code=0)
    out = tmp_path / "storefront-import"
    assert "storefront: 39 questions loaded" in done.out
    assert f"  cd {out} && neo4j-admin database import full neo4j @import.args" in done.out.splitlines()
    again = inside(*arguments, "--json", cwd=tmp_path, code=0)
    step = json.loads(again.out)
    assert (step["finished"], step["folder"], step["loaded"], step["imported"]) == (False, out.name, None, False)


def test_bulk_options_alone_are_refused(tmp_path: Path) -> None:
    """Options that need --bulk or Neo4j are refused without it, with what to do."""
    dataset = graphkit.storefront_folder()
    for option in (("--runs", "run.jsonl"), ("--out", "out"), ("--neo4j-home", "home"), ("--overwrite",)):
        alone = inside("load", dataset, *option, cwd=tmp_path, code=2)
        assert f"{option[0]} needs --bulk" in alone.err
    embedded = inside("load", dataset, "--bulk", "--out", "out", cwd=tmp_path, code=2)
    assert "are for Neo4j" in embedded.err
    assert "NEO4J_URI" in embedded.err
