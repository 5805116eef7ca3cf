"""A database that is stopped while it starts is started once more, and the reason is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import DatabaseError
from graphkit.plugins.embedded import starting
from graphkit.plugins.embedded.place import Layout
from tests.helpers import ROOT

#: A server that is killed before it has said a word, behind a line of its log that is no reason, so many times.
STOPPED = """
import os, signal, sys
from pathlib import Path
count = Path("count")
done = int(count.read_text()) if count.exists() else 0
count.write_text(str(done + 1))
print("2026-11-23 INFO [Server] Studio web tool couldn't be found, failing over", flush=True)
if done < {times}:
    os.kill(os.getpid(), signal.SIGKILL)
Path({state!r}).write_text('{{"pid": 1, "bolt_port": 2, "started_at": "now", "version": "1"}}')
os.write(int(sys.argv[-1]), b"ready")
"""


def start(folder: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> starting.State:
    """Start a program instead of the server, with the same pipe and log."""
    layout = Layout(folder)
    program = folder / "server.py"
    program.write_text(STOPPED.format(times=times, state=str(layout.state)))
    run: Any = subprocess.run

    def instead(command: list[str], **options: object) -> object:
        python, *_, ready = command
        return run([python, str(program), ready], **options)

    monkeypatch.setattr(subprocess, "run", instead)
    return starting.start(layout)


def test_a_server_that_was_stopped_once_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt dies by SIGKILL, and the second is ready."""
    assert start(tmp_path, monkeypatch, 1).bolt_port == 2
    assert (tmp_path / "count").read_text() == "2"


def test_a_server_that_is_stopped_twice_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two attempts, no line of the log counts as the cause."""
    with pytest.raises(DatabaseError, match="was stopped twice while it started") as refused:
        start(tmp_path, monkeypatch, 9)
    assert (tmp_path / "count").read_text() == "2"
    assert "Studio" not in str(refused.value)
    assert "it said nothing" not in str(refused.value)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "Error occurred during initialization of VM\nCould not reserve enough space\n",
            "Could not reserve enough space",
        ),
        ("x\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n", "Terminating due to java.lang.Out"),
        ("INFO failed over\nWARNI cannot find it\n", None),
        ("", None),
    ],
)
def test_only_a_reason_of_its_own_is_a_cause(tmp_path: Path, log: str, reason: str | None) -> None:
    """The reason is the virtual machine's own line, not one that only looks like it."""
    (tmp_path / "log").write_text(log)
    found = starting._own_reason(tmp_path / "log")
    assert found == reason if reason is None else found is not None and found.startswith(reason)


#: The server's program, whose first choice of ports holds one that is taken: of Bolt, or of HTTP.
_TAKEN = """
import socket, sys
from graphkit.plugins.embedded import server
place, folder = int(sys.argv[1]), sys.argv[2]
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
free, choices = server._free_ports, []
def chosen():
    ports = list(free())
    if not choices:
        ports[place] = listener.getsockname()[1]
    choices.append(ports)
    print("chosen", flush=True)
    return tuple(ports)
server._free_ports = chosen
server._until_signal = lambda: lambda: False  # it ends as soon as it is ready
server.main([folder])
"""


@pytest.mark.slow("a race for a port, with a server of its own")
@pytest.mark.database
@pytest.mark.parametrize("place", [0, 1])
def test_a_port_that_was_taken_meanwhile(tmp_path: Path, place: int) -> None:
    """A port that another process bound since it was chosen is replaced by another one."""
    folder = tmp_path / "db"
    folder.mkdir()
    command = [sys.executable, "-c", _TAKEN, str(place), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["chosen", "chosen", "ready"]), done.stderr[-2000:]
