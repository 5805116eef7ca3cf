"""A driver that is killed with -9: its workers end, and the same work goes on where it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphkit.plugins.embedded.locks import wait_until
from tests.helpers import ROOT
from tests.helpers.processes import children, listed, running
from tests.shards.driver import COUNT


@pytest.mark.slow("a command with workers is killed")
@listed
def test_a_killed_driver(tmp_path: Path) -> None:
    """Another driver reuses the finished parts of a killed one, whose workers are gone, and yields all of them."""
    (tmp_path / "marks").mkdir()
    command = [sys.executable, "-m", "tests.shards.driver", str(tmp_path)]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    assert [driver.stdout.readline() for _ in range(4)] == [f"part {number}\n" for number in range(4)]
    workers = children(driver.pid)
    assert len(workers) >= 2
    driver.kill()
    driver.wait()
    driver.stdout.close()
    assert wait_until(lambda: not any(map(running, workers)), 60)
    finished = len(list((tmp_path / "parts").glob("*.part")))
    assert 4 <= finished < COUNT
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.splitlines() == [f"part {number}" for number in range(COUNT)]
    marks = {mark.name: mark.read_text() for mark in (tmp_path / "marks").iterdir()}
    # Each process was at one shard when it was killed: only these may have been begun twice.
    assert sum(text == "xx" for text in marks.values()) <= 2
    assert len(marks) == COUNT
    assert {path.suffix for path in (tmp_path / "parts").iterdir()} == {".part"}
