"""Commands in a pseudo-terminal, as a person uses them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphkit.cli import progress
from graphkit.cli.terminal import say
from tests.helpers import forked
from tests.helpers.cli import called, environment
from tests.helpers.processes import running


class Terminal:
    """A command in a pseudo-terminal: what it says there, and lines that are typed."""

    def __init__(self, *arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.master, slave = pty.openpty()
        self.said = ""
        self.process = forked.command(*arguments, cwd=cwd, env=env, terminal=slave)
        os.close(slave)

    def expect(self, text: str, seconds: float = 60) -> str:
        """Wait until something is said, and return all that was said up to it."""
        end = time.monotonic() + seconds
        while text not in self.said:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{text!r} wasn't said in time, but {self.said!r}"
            try:
                read = os.read(self.master, 4096)
            except OSError:  # the other end is closed
                read = b""
            assert read, f"{text!r} wasn't said before the end, but {self.said!r}"
            self.said += read.decode(errors="replace").replace("\r\n", "\n")
        before, _, self.said = self.said.partition(text)
        return before

    def type(self, text: str) -> None:
        """Type some characters."""
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C once the command waits for what is typed: of an earlier one Python would know only then."""
        while (found := running(self.process.pid)) is not None and found.state != "S":
            time.sleep(0.001)
        os.killpg(self.process.pid, signal.SIGINT)  # what a terminal that controls the process sends

    def end(self) -> tuple[int, str]:
        """Wait for the end, and return exit code and standard output."""
        out, _ = self.process.communicate(timeout=60)
        return self.process.wait(), out

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


@dataclass(frozen=True)
class Screen:
    """What a command left on a terminal: its exit code, all that it wrote, and the lines that a person then sees."""

    code: int
    raw: str
    lines: list[str]

    @property
    def words(self) -> set[str]:
        """The words on the screen."""
        return {word for line in self.lines for word in line.split()}


def on_screen(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, columns: int = 80, code: int | None = None
) -> Screen:
    """Run a command within this process, to its end, in a pseudo-terminal of some columns for all of its streams."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    wanted = {"TERM": "xterm-256color", **environment(env)}
    wanted = {name: value for name, value in wanted.items() if name != "COLUMNS" or name in (env or {})}
    parts: list[bytes] = []
    reader = threading.Thread(target=_read, args=(master, parts))
    reader.start()
    with _on_descriptors(slave), ExitStack() as stack:
        os.close(slave)
        read, out, err = (stack.enter_context(open(number, mode, closefd=False)) for number, mode in enumerate("rww"))
        status = called(*arguments, cwd=cwd, wanted=wanted, streams=(read, out, err))
    reader.join()
    os.close(master)
    raw = b"".join(parts).decode(errors="replace")
    assert code is None or status == code, f"exit code {status}\n{raw}"
    return Screen(status, raw, drawn(raw))


def _read(master: int, parts: list[bytes]) -> None:
    """Read what is written to a terminal, until nobody has it open any more."""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            return
        if not part:
            return
        parts.append(part)


@contextmanager
def _on_descriptors(slave: int) -> Iterator[None]:
    """Put a terminal in the place of this process's standard streams, of which libraries ask the size."""
    kept = [os.dup(number) for number in range(3)]
    for number in range(3):
        os.dup2(slave, number)
    try:
        yield
    finally:
        for number, former in enumerate(kept):
            os.dup2(former, number)
            os.close(former)


#: A sequence that controls a terminal.
_CONTROL = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


def drawn(raw: str) -> list[str]:
    """Return the lines of a terminal after a text: it may return to the beginning, go up, erase, and change colours."""
    rows, row, place, at = [""], 0, 0, 0
    while at < len(raw):
        control = _CONTROL.match(raw, at)
        if control is not None:
            at = control.end()
            if control[2] == "A":
                row = max(0, row - int(control[1] or 1))
            elif control[2] == "K":
                rows[row] = "" if control[1] == "2" else rows[row][:place]
            else:
                assert control[2] in "hlm", f"an unknown sequence: {control[0]!r}"
            continue
        char, at = raw[at], at + 1
        if char == "\n":
            row += 1
            rows += [""] * (row == len(rows))
        elif char == "\r":
            place = 0
        else:
            rows[row] = f"{rows[row]:<{place}}"[:place] + char + rows[row][place + 1 :]
            place += 1
    return [line.rstrip() for line in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


class ProgressLines:
    """Lines of progress as they are printed, so that a test waits for them and not for a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, every: float = 0.1) -> None:
        self._lines = threading.Semaphore(0)
        monkeypatch.setattr(progress, "LINE_EVERY", every)
        monkeypatch.setattr(progress, "say", self._say)

    def _say(self, text: str = "") -> None:
        say(text)
        self._lines.release()

    def await_more(self, count: int) -> None:
        """Wait until so many more lines were printed; for 60 s at most, after which the test fails by itself."""
        while self._lines.acquire(blocking=False):
            pass
        for _ in range(count):
            self._lines.acquire(timeout=60)
