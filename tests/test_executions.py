"""The short form of ``python -m tests.executions``: some executions of every kind leave nothing, behind each wall."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.plugins.sandbox.walls import Wall
from tests.executions import KINDS, reported, series
from tests.helpers.sandboxes import WALL_NAMES

EXECUTIONS = 60


@pytest.mark.slow("sixty executions")
@pytest.mark.parametrize("wall", [*WALL_NAMES, "none"], indirect=True)
def test_nothing_is_left(wall: Wall, tmp_path: Path) -> None:
    """No process, file or descriptor stays, and each ends as its kind does: 60 are two and more of each of 12 kinds."""
    assert len(KINDS) == 12
    left = series(wall, EXECUTIONS, tmp_path, seed=7)
    assert sum(left.ended.values()) == EXECUTIONS
    assert not left.anything, reported(wall, EXECUTIONS, left)
