"""Processes that start at once: forks of one that has imported graphkit, which is most of the work of a short command.

They have an id, an environment, streams and an end of their own, and can be killed. They don't show how a command
starts: ``tests.helpers.cli.graphkit`` does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from graphkit.cli import main
from tests.helpers.cli import environment

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.helpers.warm", __name__])


class Forked:
    """A running process, with those methods of ``subprocess.Popen`` that tests use; its streams are text."""

    def __init__(self, words: list[str], cwd: Path, env: Mapping[str, str] | None) -> None:
        self._files = [_nameless() for _ in range(2)]
        streams = [DupFd(file) for file in self._files]
        self._process = _CONTEXT.Process(target=_become, args=(words, cwd, environment(env), streams))
        self._process.start()
        self.pid = int(self._process.pid or 0)
        self._texts: tuple[str, str] | None = None

    @property
    def returncode(self) -> int | None:
        """The exit code, or the number of the signal that ended the process as a negative one."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        return self.returncode

    def written(self) -> tuple[str, str]:
        """Return what both streams hold so far."""
        if self._texts is not None:
            return self._texts
        out, err = (os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace") for file in self._files)
        return out, err

    def wait(self, timeout: float = 120) -> int:
        """Wait for the end, and return the exit code."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        if self._texts is None:
            self._texts = self.written()
            for file in self._files:
                os.close(file)
        return self.returncode

    def communicate(self, timeout: float = 120) -> tuple[str, str]:
        """Wait for the end, and return what was written to both streams."""
        self.wait(timeout)
        return self.written()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


def _nameless() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def command(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Forked:
    """Start a command of graphkit."""
    return Forked([*map(str, arguments)], cwd, env)


def program(text: str, *arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Forked:
    """Start a program in Python, as ``python -c`` does."""
    return Forked(["-c", text, *map(str, arguments)], cwd, env)


def _become(words: list[str], cwd: Path, env: dict[str, str], streams: list[Any]) -> None:
    """Become the command or the program, in the fork."""
    for number, stream in enumerate(streams, 1):
        descriptor = stream.detach()
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path.insert(0, "")
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = ["graphkit", *words]
        main()
