"""Watches a test from outside, in the interpreter that forked it: its time, its output and its use of resources."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import socket
import stat
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: How often a running test has its scratch folder, and a program its memory, measured, in seconds.
LOOK, MEMORY_LOOK = 0.05, 0.01

#: The ioctl calls by which the kernel asks whether a program may execute a file, and the flag that allows it.
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1


class ChildWatch:
    """A watch on a child: its time, its output and its use of resources."""

    def __init__(
        self, setup: dict[str, Any], wanted: dict[str, Any], child: int, started: float, status: socket.socket
    ) -> None:
        self.setup, self.child, self.status = setup, child, status
        self.limits = wanted["limits"]
        self.program = bool(wanted["argv"])
        self.deadline = started + wanted["seconds"]
        self.every = MEMORY_LOOK if self.program else LOOK
        self.looked = self.measured = started
        self.pid = ""
        self.stands = False
        self.asked: int | None = None
        self.kept = bytearray()
        self.printed = 0

    def close(self) -> None:
        """Close the descriptors of the watch."""
        self.status.close()
        self._stop_answering()

    def follow(self, printed: int, stopped: Callable[[int], bool]) -> tuple[str, Any]:
        """Wait until the child ends or passes a limit; return why, and its status if it has ended."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(printed, select.POLLIN)
        poll.register(self.status, select.POLLIN)
        waiting = True
        while True:
            if not waiting and (ended := reaped(self.child, os.WNOHANG)):  # code may close its pipes and go on
                return "exited", ended
            now = time.monotonic()
            if now >= self.deadline:
                return "timeout", None
            if now - self.measured >= self.every:
                self.measured = now
                if too_much := self._too_much(now):
                    return too_much, None
            for one, event in poll.poll(max(0.0, min(self.deadline - now, self.every if waiting else 0.001)) * 1000):
                if one == 0 and stopped(self.child):
                    return "stopped", None
                if one == self.asked:
                    self._answer()
                elif one == self.status.fileno():
                    self._hear(poll)
                elif one != printed:
                    continue  # an event of the same poll has closed it
                elif not self._print(printed, event):
                    poll.unregister(printed)
                    waiting = False
                elif self.printed > self.limits["printed"]:
                    return "printed", None

    def _print(self, printed: int, event: int) -> bool:
        data = os.read(printed, 1 << 16) if event & (select.POLLIN | select.POLLHUP) else b""
        self.kept += data[: self.limits["kept"] - len(self.kept)]
        self.printed += len(data)
        return bool(data)

    def _hear(self, poll: Any) -> None:
        """Read what the child reports before it runs any code: its number, that its wall stands, that it started."""
        data, descriptors, _, _ = socket.recv_fds(self.status, 64, 1)
        if descriptors:
            [self.asked] = descriptors
            poll.register(self.asked, select.POLLIN)
        self._note(data)
        if not data:
            poll.unregister(self.status)
            if self.asked is not None:
                poll.unregister(self.asked)
            self._stop_answering()

    def hear_the_rest(self) -> None:
        """Read what is left of the reports of a child that has ended."""
        self.status.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while report := self.status.recv(64):
                self._note(report)

    def _note(self, report: bytes) -> None:
        number, stands, _ = report.lstrip(b"?").partition(b"+")
        if stands:
            self.pid, self.stands = number.decode(), True

    def _answer(self) -> None:
        """Allow a program to start, or to map a library."""
        assert self.asked is not None
        question = bytearray(80)
        with contextlib.suppress(OSError):  # the program has ended
            fcntl.ioctl(self.asked, _RECEIVE, question)
            number = int.from_bytes(question[:8], sys.byteorder)
            reply = struct.pack("QqiI", number, 0, 0, _CONTINUE)
            fcntl.ioctl(self.asked, _SEND, bytearray(reply))

    def _stop_answering(self) -> None:
        """Make the kernel refuse all further questions."""
        if self.asked is not None:
            os.close(self.asked)
            self.asked = None

    def _too_much(self, now: float) -> str | None:
        """Return which limit the child has passed, of those that the kernel doesn't enforce."""
        if self.stands and self.program and _resident(self.pid, self.setup["processes"]) > self.limits["memory"]:
            return "memory"
        if now - self.looked < LOOK:
            return None
        self.looked = now
        threads, hidden = _held(self.setup, self.pid, self.limits["file_size"]) if self.stands else (0, 0)
        if threads > self.limits["threads"]:
            return "threads"
        return None if _fits(self.limits["disk"] - hidden, self.limits["files"]) else "disk"


def _resident(pid: str, processes: int) -> int:
    """Return how many bytes of memory a process holds, private and shared, without the files that it maps."""
    try:
        opened = os.open(f"{pid}/status", os.O_RDONLY, dir_fd=processes)
    except OSError:
        return 0
    try:
        text = os.read(opened, 1 << 16)
    except OSError:
        return 0
    finally:
        os.close(opened)
    return sum(int(size) << 10 for size in re.findall(rb"^Rss(?:Anon|Shmem):\s+(\d+) kB", text, re.MULTILINE))


def reaped(child: int, options: int) -> Any:
    """Return the status and the resource usage of a child that has ended; None if it runs."""
    found, status, used = os.wait4(child, options)
    return (status, used) if found else None


def _held(setup: dict[str, Any], pid: str, file_size: int) -> tuple[int, int]:
    """Return how many threads a test has, and how many bytes its files without a name have."""
    gone = (FileNotFoundError, ProcessLookupError, PermissionError)  # the kernel hides what is just ending
    threads = []
    with contextlib.suppress(*gone):
        threads = _names(f"{pid}/task", setup["processes"])
    for thread in threads:
        with contextlib.suppress(*gone):
            files = _nameless_files(setup, f"{pid}/task/{thread}", file_size)
            if files is not None:
                return len(threads), sum(files.values())
    return len(threads), 0


def _nameless_files(setup: dict[str, Any], thread: str, file_size: int) -> dict[int, int] | None:
    """Return the sizes of the files without a name that a thread holds (all share them); None if it has ended."""
    processes = setup["processes"]
    files: dict[int, int] = {}
    with open(os.open(f"{thread}/maps", os.O_RDONLY, dir_fd=processes), errors="replace") as file:
        maps = file.readlines()
    if not maps:
        return None
    for name in _names(f"{thread}/fd", processes):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found = os.stat(f"{thread}/fd/{name}", dir_fd=processes)
            if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                files[found.st_ino] = found.st_blocks * 512
    for line in maps:
        if line.endswith(" (deleted)\n"):
            *_, inode, path = line.split(maxsplit=5)
            if path.startswith(setup["scratch"]):
                files.setdefault(int(inode), file_size)  # its size is unknown
    return files


def _names(path: str, folder: int) -> list[str]:
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    try:
        return os.listdir(opened)
    finally:
        os.close(opened)


def _fits(most_bytes: int, most_files: int) -> bool:
    """Return whether the scratch folder, which is the current one, is within its limits."""
    size, count, waiting = 0, 0, ["."]
    if most_bytes < 0:
        return False
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if size > most_bytes or count > most_files:
                        return False
        except FileNotFoundError:
            continue  # the test removed it meanwhile
        except OSError:
            return False  # nested deeper than a path can be long
    return True
