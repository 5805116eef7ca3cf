"""The client of one warm interpreter behind a wall."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphkit.errors import GraphkitError
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.walls import Wall

#: Seconds to start, and to reply after a test's own time limit, before an interpreter counts as lost.
PATIENCE = 30.0

#: How a test ended: by itself, by a signal, at one of its limits, or because graphkit stopped it.
How = Literal["exited", "signal", "timeout", "memory", "disk", "threads", "printed", "stopped"]


class SandboxError(GraphkitError):
    """A sandbox that can't be set up, or that broke."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a test, with its output."""

    how: How
    code: int  # the exit status, or the number of the signal
    #: Its duration, and the peak of its memory in bytes.
    seconds: float
    memory: int
    printed: str  # the beginning of its output
    result: bytes  # the end of its replies, which can't be trusted


class Worker:
    """A warm interpreter, which runs one test after the other, each in its own process.

    Raise a SandboxError if it doesn't start.
    """

    def __init__(self, wall: Wall, files: Sequence[Path], limits: SandboxLimits) -> None:
        self._limits = limits
        with ExitStack() as stack:
            try:
                start = stack.enter_context(wall.start(files, limits))
                self._control, theirs = socket.socketpair()
                stack.callback(self._control.close)
                stack.callback(theirs.close)
                self._process = subprocess.Popen(
                    start.command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    env={"PYTHONHASHSEED": "0"},
                    pass_fds=tuple(start.descriptors),
                    start_new_session=True,
                )
            except (ImportError, OSError, RuntimeError) as error:
                raise SandboxError(f"{wall.name}: {error}") from None
            stack.callback(self._end)
            theirs.close()
            try:
                self._send(json.dumps(start.setup).encode())
                self._receive(time.monotonic() + PATIENCE)
            except _LostError as error:
                raise SandboxError(f"{wall.name}: {error}") from None
            self._stack = stack.pop_all()

    @property
    def alive(self) -> bool:
        """Whether the interpreter runs."""
        return self._process.poll() is None

    def start(
        self, seconds: float, argv: Sequence[str] = (), script: str = "", stdin: str | None = None
    ) -> WorkerSession:
        """Start one test with a script of ``inside/``: by the program of ``argv``, or in Python if that is empty.

        Raise a SandboxError if the interpreter is lost.
        """
        limits = {name: getattr(self._limits, name) for name in SandboxLimits.__dataclass_fields__}
        wanted = {"seconds": seconds, "argv": list(argv), "script": script, "limits": limits}
        theirs, ours = os.pipe()
        from_them, their_replies = os.pipe()
        try:
            with _standard_input(stdin) as given:
                self._send(json.dumps(wanted).encode(), (given, theirs, their_replies))
        except BaseException as error:
            os.close(ours)
            os.close(from_them)
            self.close()
            if isinstance(error, _LostError):
                raise SandboxError(f"the sandbox broke: {error}") from None
            raise
        finally:
            os.close(theirs)
            os.close(their_replies)
        return WorkerSession(self, ours, from_them, time.monotonic() + seconds + PATIENCE, self._limits.result)

    def stop(self) -> None:
        """End the running test."""
        with contextlib.suppress(_LostError):
            self._send(b"")

    def ended(self, deadline: float) -> dict[str, Any]:
        """Return the report on the end of a test.

        Raise a SandboxError if the interpreter is lost, or the wall couldn't be built.
        """
        try:
            report: dict[str, Any] = json.loads(self._receive(deadline))
        except _LostError as error:
            self.close()
            raise SandboxError(f"the sandbox broke: {error}") from None
        except BaseException:
            self.close()  # a late report would be read as the one on the next test
            raise
        if not report.pop("stands"):
            raise SandboxError(f"the sandbox broke: {report['printed'].strip() or 'it ended before a test began'}")
        return report

    @property
    def output(self) -> int:
        """The descriptor that becomes readable when a test has ended."""
        assert self._process.stdout is not None
        number: int = self._process.stdout.fileno()
        return number

    def close(self) -> None:
        """End the interpreter and everything that it started, and remove its folder."""
        self._stack.close()

    def _send(self, frame: bytes, descriptors: Sequence[int] = ()) -> None:
        head = len(frame).to_bytes(4, "big")
        try:
            if descriptors:
                socket.send_fds(self._control, [head], descriptors)
            else:
                self._control.sendall(head)
            self._control.sendall(frame)
        except OSError:
            raise _LostError(self._complaint()) from None

    def _receive(self, deadline: float) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4, deadline), "big"), deadline)

    def _exactly(self, size: int, deadline: float) -> bytes:
        source = self.output
        poll = select.poll()
        poll.register(source, select.POLLIN)
        parts = []
        while size:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise _LostError("it doesn't reply")
            part = os.read(source, min(size, 1 << 20))
            if not part:
                raise _LostError(self._complaint())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _complaint(self) -> str:
        """End the interpreter, and return the last line of its errors."""
        self._kill()
        assert self._process.stderr is not None
        errors = self._process.stderr.read(4096).decode(errors="replace").strip()
        return errors.splitlines()[-1] if errors else f"it ended with {self._process.returncode}"

    def _end(self) -> None:
        self._kill()
        self._control.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class _LostError(Exception):
    """The interpreter no longer replies."""


@contextmanager
def _standard_input(text: str | None) -> Iterator[int]:
    """Yield a read-only descriptor of a text."""
    if text is None:
        opened = os.open(os.devnull, os.O_RDONLY)
    else:
        with tempfile.TemporaryFile() as file:
            file.write(text.encode(errors="surrogatepass"))
            file.flush()
            opened = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY)
    try:
        yield opened
    finally:
        os.close(opened)


class StoppedError(Exception):
    """The process of the test has ended."""


class ForgedError(Exception):
    """The output isn't the one reply to a request."""


class WorkerSession:
    """A running test, which gets one line at a time, and replies to each with one line.

    A line without a request raises a :class:`ForgedError`.
    """

    def __init__(self, worker: Worker, requests: int, replies: int, deadline: float, limit: int) -> None:
        self._worker, self._requests, self._replies = worker, requests, replies
        self._deadline, self._limit = deadline, limit
        self._read = b""
        self._last = b""
        self._open = True
        self._over: dict[str, Any] | None = None
        self._reported = False
        for one in (requests, replies):
            os.set_blocking(one, False)

    def ask(self, line: bytes) -> bytes:
        """Send a request, and return the reply.

        Raise a StoppedError if the process has ended. Raise a ForgedError if a line came without a request, or is too
        long. Raise a SandboxError if the sandbox broke.
        """
        self._pull()
        if self._read:
            raise ForgedError("a result came out that nothing had asked for")
        return self.respond(line)

    def respond(self, line: bytes) -> bytes:
        """Respond to a line of the test, and return its next one; raise as :meth:`ask`."""
        data = memoryview(line + b"\n")
        while data and self._open:
            self._wait(True)
            with contextlib.suppress(BlockingIOError):
                try:
                    data = data[os.write(self._requests, data) :]
                except BrokenPipeError:
                    break
        while b"\n" not in self._read and self._open:
            self._wait(False)
            self._pull()
        reply, newline, rest = self._read.partition(b"\n")
        if not newline:
            if reply:
                raise ForgedError("what came out breaks off")
            raise StoppedError
        self._read = rest
        return reply

    def finish(self) -> Ended:
        """Wait for the process, and return how it ended.

        Raise a ForgedError if there was more output. Raise a SandboxError if the sandbox broke.
        """
        self._shut()
        while self._open:
            self._wait(False)
            self._pull()
        ended = self.stop(kill=False)
        if self._read:
            raise ForgedError("more came out than was asked for")
        return ended

    def stop(self, *, kill: bool = True) -> Ended:
        """End the process, and return how it ended."""
        if kill and not self._reported:
            self._worker.stop()
        self._shut()
        if not self._reported:
            self._end()
        with contextlib.suppress(ForgedError):
            self._pull()
        self.close()
        if self._over is None:
            raise SandboxError("the sandbox broke: nothing is known of the test")
        return Ended(**self._over, result=self._last)

    def close(self) -> None:
        """End the process if it runs, and close the channel."""
        if not self._reported:
            self._worker.stop()
            with contextlib.suppress(SandboxError):
                self._end()
        self._shut()
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1

    def _end(self) -> None:
        self._reported = True  # even if reading the report fails
        self._over = self._worker.ended(self._deadline)

    def _shut(self) -> None:
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    def _wait(self, writes: bool) -> None:
        """Wait until the channel can be read (or written, if ``writes``), or the process has ended."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        poll.register(self._worker.output, select.POLLIN)
        if writes:
            poll.register(self._requests, select.POLLOUT)
        ready = dict(poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000))
        if not ready or self._worker.output in ready:  # _end raises an error if the worker is silent
            self._end()
            self._pull()
            self._open = False

    def _pull(self) -> None:
        """Read the available output."""
        while self._open and self._replies >= 0:
            try:
                part = os.read(self._replies, 1 << 16)
            except BlockingIOError:
                return
            self._open = bool(part)
            self._last = (self._last + part)[-self._limit :]
            self._read += part
            if len(self._read) > self._limit:
                raise ForgedError("more came out than a result may hold")
