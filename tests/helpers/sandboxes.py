"""The sandboxes of this machine."""

from __future__ import annotations

from functools import cache

from graphkit.plugins.sandbox.hosts import host_files
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.sandbox import failure_of
from graphkit.plugins.sandbox.walls import WALLS, Wall
from tests.helpers.absent import absent

#: The walls by their names, for parameters of tests.
WALL_NAMES = [wall.name for wall in WALLS]


@cache
def _failure(name: str) -> str | None:
    return failure_of(_named(name), host_files(), SandboxLimits())


def _named(name: str) -> Wall:
    return next(wall for wall in WALLS if wall.name == name)


def wall_here(name: str) -> Wall:
    """Return a wall that holds on this machine; else the test is skipped, or fails where each is required."""
    failure = _failure(name)
    if failure is not None:
        absent("GRAPHKIT_REQUIRE_SANDBOX", f"{name} doesn't work here: {failure}")
    return _named(name)
