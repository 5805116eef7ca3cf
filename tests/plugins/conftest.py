"""Fixtures for the tests of several plug-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import tiny
from tests.helpers.systems import SYSTEMS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the module of the systems, and the tiny dataset beside it without a run."""
    (tmp_path / "systems.py").write_text(SYSTEMS)
    tiny(tmp_path / "data").unlink()
    return tmp_path
