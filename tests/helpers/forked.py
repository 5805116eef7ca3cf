"""Processes that start at once: forks of one that has imported graphkit, which is most of the work of a short command.

They have an id, a session, an environment, streams and an end of their own. They do not show how a command
starts, nor what Python reads from the environment before it does: ``tests.helpers.cli.graphkit`` does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.cli import environment


@cache
def _forking() -> socket.socket:
    """Start the process that forks, and return what it is asked by; it ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.warm", str(theirs.fileno())],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # before the wait
    return ours


class Forked:
    """A running process, with those methods of ``subprocess.Popen`` that tests use; its streams are text."""

    def __init__(
        self,
        words: list[str],
        program: str | None,
        cwd: Path,
        env: Mapping[str, str] | None,
        terminal: int | None = None,
    ) -> None:
        request = {"words": words, "program": program, "cwd": str(cwd), "env": environment(env)}
        self._streams = [_nameless() for _ in range(2)]
        self._kept, kept = os.pipe()
        asked, nothing = _nameless(json.dumps(request).encode()), os.open(os.devnull, os.O_RDONLY)
        streams = [nothing, *self._streams] if terminal is None else [terminal, self._streams[0], terminal]
        socket.send_fds(_forking(), [b"!"], [asked, *streams, kept])
        for file in (asked, nothing, kept):
            os.close(file)
        self._lock = threading.Lock()
        self._texts: tuple[str, str] | None = None
        self.returncode: int | None = None
        self.pid = self._number(300)

    def __del__(self) -> None:
        os.close(self._kept)

    def _number(self, timeout: float) -> int:
        """Return the next number that the keeper writes."""
        if not select.select([self._kept], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a fork", timeout)
        digits = b""
        while (one := os.read(self._kept, 1)) not in (b"\n", b""):
            digits += one
        return int(digits)

    def written(self) -> tuple[str, str]:
        """Return what both streams hold so far."""
        if self._texts is not None:
            return self._texts
        out, err = (os.pread(one, os.fstat(one).st_size, 0).decode(errors="replace") for one in self._streams)
        return out, err

    def wait(self, timeout: float = 120) -> int:
        """Wait for the end; return the exit code, or the number of the signal that ended the process as negative."""
        if self.returncode is None and not select.select([self._kept], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a fork", timeout)
        with self._lock:
            if self.returncode is None:
                code = self._number(0)
                self._texts = self.written()
                for file in self._streams:
                    os.close(file)
                self.returncode = code
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def communicate(self, timeout: float = 120) -> tuple[str, str]:
        """Wait for the end, and return what was written to both streams."""
        self.wait(timeout)
        return self.written()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


def _nameless(content: bytes = b"") -> int:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        return os.dup(file.fileno())


def command(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None, terminal: int | None = None) -> Forked:
    """Start a command of graphkit; it reads from a terminal, and writes its standard error there, if one is given."""
    return Forked(["graphkit", *map(str, arguments)], None, cwd, env, terminal)


def program(text: str, *arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Forked:
    """Start a program in Python, as ``python -c`` does."""
    return Forked(["-c", *map(str, arguments)], text, cwd, env)
