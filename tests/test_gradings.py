"""The short form of ``python -m tests.gradings``: a server that fails now and then, and gradings that are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gradings import graded_whole, graded_with_kills


@pytest.mark.slow("gradings against a server that fails now and then")
def test_nothing_is_lost(tmp_path: Path) -> None:
    """With refusals and errors of the server, each of 60 answers has both its verdicts, each asked for once."""
    found = graded_whole(tmp_path, 60, 16)
    assert not found.bad, str(found)
    assert found.verdicts == 120, str(found)


@pytest.mark.slow("gradings are killed at random moments")
def test_nothing_is_paid_twice(tmp_path: Path) -> None:
    """Killed twice and run to its end: what was kept is never asked for again, and nothing is missing."""
    found = graded_with_kills(tmp_path, 60, 16, kills=2, seed=3)
    assert not found.bad, str(found)
    assert (found.kills, found.verdicts) == (2, 120), str(found)
    assert found.kept[-1] > 0, str(found)
