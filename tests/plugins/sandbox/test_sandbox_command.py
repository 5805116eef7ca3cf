"""``graphkit sandbox check`` as a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.plugins.sandbox.attempts import attempts
from graphkit.plugins.sandbox.forgeries import forgeries
from graphkit.plugins.sandbox.walls import Wall
from tests.helpers.cli import Process

#: Without a wall the attempts reach this machine, so they belong to the whole suite as well.
pytestmark = pytest.mark.sandbox

#: Ways out of the sandbox, and answers that forge results or take too much memory.
EVERY = len(attempts()) + len(forgeries())


def test_check(process: Process, bubblewrap: Wall, tmp_path: Path) -> None:
    """The sandbox that is chosen is named, and each attempt is in the table with what happened; nothing is left."""
    done = process("sandbox", "check", cwd=tmp_path, env={"TMPDIR": str(tmp_path)}, code=0)
    lines = done.out.splitlines()
    assert lines[0] == "sandbox: bubblewrap"
    for attempt in attempts():
        [row] = [line for line in lines if line.strip().startswith(f"{attempt.name} ")]
        assert "held" in row
    assert lines[-1] == f"{EVERY} attempts, 0 got out"
    assert list(tmp_path.iterdir()) == []


def test_check_without_a_sandbox(process: Process, tmp_path: Path) -> None:
    """Without one it shows what gets through, nothing of what was read, and ends with 1."""
    done = process("sandbox", "check", "--mechanism", "none", "--json", cwd=tmp_path, code=1)
    found = done.object()
    said = {one["attempt"]: one for one in found["attempts"]}
    assert found["mechanism"] == "none"
    assert found["escaped"] == sum(one["escaped"] for one in found["attempts"])
    assert said["read a file"]["escaped"]
    assert "the secret of the file came out" in said["read a file"]["said"]
    assert not said["too large a result"]["escaped"]
    assert "root:" not in done.out  # of /etc/passwd, which was read
    assert f"{found['escaped']} of {EVERY} attempts got out without a sandbox" in done.err
