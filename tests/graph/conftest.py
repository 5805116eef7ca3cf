"""Fixtures of the tests of loading: an empty database, and a dataset that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graphkit.database.store import Store
from graphkit.graph.queries import schema_statements
from tests.helpers.datasets import STOREFRONT


@pytest.fixture
def empty_store(store: Store) -> Store:
    """Each database in turn, empty, with its constraints and indexes."""
    store.schema(schema_statements())
    return store


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A copy of the storefront dataset that a test may change."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for file in STOREFRONT.glob("*.jsonl"):
        shutil.copy(file, folder)
    shutil.copytree(STOREFRONT / "runs", folder / "runs")
    return folder
