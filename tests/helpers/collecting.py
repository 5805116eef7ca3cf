"""A plugin of pytest that collects the suite in less time."""

from __future__ import annotations

import compileall
import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

from tests.helpers import ROOT


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the package once: the commands that tests start compile nothing, and would do it anew each time."""
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(ROOT / "graphkit", quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests only in files that hold a prompt of them: it imports each module, and asks all its objects."""
    collectors = yield
    if b">>>" in file_path.read_bytes():
        return collectors
    return [one for one in collectors if not isinstance(one, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor in what they left later: all of it is needed to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
