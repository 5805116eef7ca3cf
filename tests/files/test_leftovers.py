"""Leftovers of a killed process, which the next one removes, and files of a living one, which stay."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from graphkit.files.atomic import written
from graphkit.files.leftovers import held_folder

HOLDING = """
import sys, time
from pathlib import Path
from graphkit.files.atomic import written
from graphkit.files.leftovers import held_folder
with held_folder() as folder, written(Path(sys.argv[1])) as temporary:
    print(folder, temporary, sep="\\n", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file beside the result and its folder stay while it lives, and are gone after the next use behind its death.

    Another file of a similar name, which no graphkit made, stays.
    """
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "temp").mkdir()
    target, other = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.backup.jsonl"
    other.write_text("mine")
    command = [sys.executable, "-c", HOLDING, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, temporary = (Path(process.stdout.readline().strip()) for _ in range(2))
        for alive in (True, False):
            with written(target) as mine, held_folder():
                mine.write_text("new")
            assert (folder.exists(), temporary.exists()) == (alive, alive)
            if alive:
                process.send_signal(signal.SIGKILL)
                process.wait()
    assert sorted(tmp_path.iterdir()) == sorted([other, target, tmp_path / "temp"])
    assert list((tmp_path / "temp").iterdir()) == []
