"""Limits on inputs: how far a small file may unpack, and how much a pipe may send and how long it may be silent.

Every reader of a file uses them, by :func:`graphkit.files.jsonl.open_binary` or by its own :class:`SizeMeter`. The
limits are far above what real logs need; ``--no-input-limits`` and ``GRAPHKIT_NO_INPUT_LIMITS=1`` lift them.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from graphkit.errors import InputError

#: The maximum ratio of unpacked to packed bytes; real logs reach 50. It counts from ``FREE`` bytes on.
RATIO = 200
FREE = 4 << 20

#: The most bytes that a pipe or a device may send, and for how many seconds it may be silent.
PIPE_BYTES = 256 << 20
PIPE_SILENCE = 15.0

#: The most bytes of another tool's log from a pipe: all of it is held until its end.
LOG_PIPE_BYTES = 16 << 20
_narrowed: int | None = None

#: The maximum density of JSON that is held as a whole: each list or object counts three times, each comma once. Less
#: than ``SHORT`` bytes are never too dense.
DENSEST = 4_000_000
SHORT = 4 << 20

OPTION = "--no-input-limits"
VARIABLE = "GRAPHKIT_NO_INPUT_LIMITS"

#: The number of bytes to unpack at once: a few bytes of Zstandard may contain 32 000 times as many.
_PACKED_BLOCK = 1 << 10


class Packed(Protocol):
    """A source of packed bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes, or none at the end."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def are_lifted() -> bool:
    """Return whether the user lifted the limits."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


@contextmanager
def lifted(wanted: bool) -> Iterator[None]:
    """Lift the limits within the block if asked to, also for the processes that it starts."""
    before = os.environ.get(VARIABLE)
    if wanted:
        os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if wanted:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before


@contextmanager
def pipes_up_to(size: int) -> Iterator[None]:
    """Read at most so many bytes from each pipe that is opened within the block."""
    global _narrowed
    before, _narrowed = _narrowed, size
    try:
        yield
    finally:
        _narrowed = before


def too_much(what: str, where: str) -> InputError:
    """Return the refusal of an input beyond a limit, with the option that lifts it."""
    remedy = f"If you trust it, lift the limits of inputs by {OPTION} (or {VARIABLE}=1)."
    return InputError(what, where=where, remedy=remedy)


def is_too_dense(data: bytes | bytearray) -> bool:
    """Return whether JSON holds so many values that they would fill the memory, many times the size of the text."""
    return len(data) >= SHORT and Density().add(data)


class Density:
    """Counts the values in JSON that arrives in pieces."""

    def __init__(self) -> None:
        self._size = self._weight = 0

    def add(self, piece: bytes | bytearray) -> bool:
        """Count a piece; return whether all pieces so far are too dense."""
        self._size += len(piece)
        self._weight += 3 * (piece.count(b"[") + piece.count(b"{")) + piece.count(b",")
        return self._size >= SHORT and self._weight > DENSEST and not are_lifted()


class SizeMeter:
    """Counts the unpacked bytes of a file, and refuses more than a log could contain.

    Parameters
    ----------
    where
        The file, as messages name it.
    packed
        The number of packed bytes; for a stream, of those read so far.
    """

    def __init__(self, where: str, packed: int = 0) -> None:
        self.packed = packed
        self._where = where
        self._unpacked = 0

    def unpacked(self, size: int) -> None:
        """Count some more bytes of content.

        Raises
        ------
        InputError
            The number is implausible.
        """
        self._unpacked += size
        if self._unpacked > FREE and self._unpacked > RATIO * self.packed and not are_lifted():
            shown = f"{self.packed:,} bytes unpack to more than {self._unpacked >> 20} MiB"
            raise too_much(f"the file is compressed implausibly well: {shown}", self._where)


class Pipe:
    """The bytes of a pipe or a device, up to its limit, and without a pause longer than ``PIPE_SILENCE``."""

    def __init__(self, path: Path) -> None:
        # Opened without waiting: a pipe without a writer would block forever.
        self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._where = str(path)
        self._most = self._left = PIPE_BYTES if _narrowed is None else _narrowed
        self._by_hand = os.isatty(self._file)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def read(self, size: int = -1, /) -> bytes:
        """Return some bytes, none at the end.

        Raises
        ------
        InputError
            The pipe sent too much, or nothing for too long.
        """
        patient = self._by_hand or are_lifted()
        if not self._poll.poll(None if patient else PIPE_SILENCE * 1000):
            raise too_much(f"nothing came from this pipe for {PIPE_SILENCE:.0f} seconds", self._where)
        block = os.read(self._file, size if size > 0 else 1 << 16)
        self._left -= len(block)
        if self._left < 0 and not are_lifted():
            raise too_much(f"this pipe sends more than {self._most >> 20} MiB", self._where)
        return block

    def close(self) -> None:
        """Close it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Unpacked:
    """The content of a file compressed by gzip or Zstandard, whose size a meter watches."""

    def __init__(self, path: Path) -> None:
        self._source = _Counted(path)
        self._stream: Any = _zstandard(self._source) if path.suffix == ".zst" else _gzip(self._source)

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes, none at the end.

        Raises
        ------
        InputError
            The file unpacks to implausibly much.
        """
        block: bytes = self._stream.read(size)
        self._source.meter.unpacked(len(block))
        return block

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Counted:
    """The bytes of a packed file or a pipe, with the meter of the unpacked size."""

    def __init__(self, path: Path) -> None:
        self._file: Packed = Pipe(path) if is_pipe(path) else path.open("rb")
        # The ratio to the bytes read so far, not to the whole file, shows a bomb before a minute of unpacking.
        self.meter = SizeMeter(str(path))

    def read(self, size: int = -1, /) -> bytes:
        block = self._file.read(size)
        self.meter.packed += len(block)
        return block

    def close(self) -> None:
        self._file.close()


def is_pipe(path: Path) -> bool:
    """Return whether a path names a pipe, a device or the like, instead of a file with a size."""
    mode = path.stat().st_mode
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and hasattr(select, "poll")


def _gzip(source: Any) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=source, mode="rb")


class _zstandard:  # noqa: N801 - named like _gzip
    """All frames of Zstandard, in pieces of any size. Unlike the reader of ``zstandard`` it refuses one cut short."""

    def __init__(self, source: _Counted) -> None:
        self._source = source
        self._frame: Any = None
        self._packed = b""
        self._block = memoryview(b"")

    def read(self, size: int) -> bytes:
        if not self._block:
            self._block = memoryview(self._next())
        piece = bytes(self._block[:size] if size >= 0 else self._block)
        self._block = self._block[len(piece) :]
        return piece

    def _next(self) -> bytes:
        import zstandard

        while data := self._packed or self._source.read(_PACKED_BLOCK):
            frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            block: bytes = frame.decompress(data)
            self._frame, self._packed = (None, frame.unused_data) if frame.eof else (frame, b"")
            if block:
                return block
        if self._frame is not None:
            raise EOFError("its last frame has no end")
        return b""
