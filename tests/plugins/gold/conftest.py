"""Fixtures of the tests of gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.migrations import CODE, Clone


@pytest.fixture
def web(tmp_path: Path) -> Clone:
    """A repository with two files of code."""
    clone = Clone(tmp_path / "web")
    clone.write("src/auth.py", CODE)
    clone.write("src/other.py", "def other():\n    return 1\n" * 10)
    return clone
