"""Fixtures of the tests of loading: a dataset that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.helpers.datasets import STOREFRONT


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A copy of the storefront dataset that a test may change."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for file in STOREFRONT.glob("*.jsonl"):
        shutil.copy(file, folder)
    shutil.copytree(STOREFRONT / "runs", folder / "runs")
    return folder
