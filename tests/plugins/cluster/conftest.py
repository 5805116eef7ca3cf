"""What the tests of clusters share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(autouse=True)
def _only_rays_question(refused: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray asks where it runs at its start, also if it may send no statistics; nothing else reaches beyond loopback."""
    # Ray reads this once in a process: a cluster after a test of another address would not be on loopback.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    yield
    assert [line for line in refused() if not line.endswith(("169.254.169.254:80", "metadata.google.internal"))] == []
