"""The standard streams: usable even if the caller closed them, and quiet once nobody reads."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


def prepare_streams() -> None:
    """Make standard input, output and error usable, whatever the caller did with them.

    Without this, a closed one is None in Python, and its number goes to the next file that is opened.
    """
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(free, True)
    os.close(free)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stdout = _output(sys.stdout, 1)
    sys.stderr = _output(sys.stderr, 2)


class _Output(io.FileIO):
    """A stream whose reader may stop: the rest is dropped, so that the command still finishes.

    The exit code is the same as if everything had been read: a failed gate still fails.
    """

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def _output(stream: TextIO | None, number: int) -> TextIO:
    """Return the stream of a number with the encoding of the one that Python opened.

    Characters that the terminal lacks appear as ``\\u2013``.
    """
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream  # somebody put an object of their own there, such as a notebook
    output = _Output(number, "wb", closefd=False)
    waits = number == 1 and not output.isatty() and not getattr(stream, "write_through", False)
    return io.TextIOWrapper(
        io.BufferedWriter(output),
        encoding=stream.encoding if stream is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=not waits,
    )
