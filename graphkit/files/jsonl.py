"""Lines of JSON Lines files: plain, gzip or Zstandard, UTF-8, read as a stream."""

from __future__ import annotations

import glob
import gzip
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import IO, cast

import msgspec

from graphkit.errors import InputError, unreadable_file
from graphkit.files.intake import Pipe, Unpacked, are_lifted, is_pipe, too_much

#: The longest accepted line in bytes: a longer one means a damaged or a wrong file.
MAX_LINE = 32 * 1024 * 1024

#: The most bytes of blank lines in a row.
MAX_BLANK = 4 << 20

#: The longest array, or other file that is held as a whole, in bytes.
LONGEST_ARRAY = 256 << 20

#: The largest file whose lines :func:`read_once` holds, and the most that it holds of all files, in bytes.
HELD_FILE = 8 << 20
HELD = 64 << 20

_BLOCK = 1 << 16
BOM = b"\xef\xbb\xbf"
SUFFIXES = ("", ".gz", ".zst")


def is_compressed(path: Path) -> bool:
    """Return whether a file is one that :func:`open_binary` decompresses."""
    return path.suffix in SUFFIXES[1:]


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed by its suffix, within the limits of :mod:`graphkit.files.intake`.

    Raises
    ------
    InputError
        The file is missing, a directory, or can't be read.
    """
    if path.is_dir():
        raise InputError(
            "this is a directory where a JSON Lines file is expected", where=str(path), remedy="Name a file in it."
        )
    try:
        if is_compressed(path):
            return cast(IO[bytes], Unpacked(path))
        return cast(IO[bytes], Pipe(path)) if is_pipe(path) else path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable_file(path, error) from None


def create_binary(path: Path) -> IO[bytes]:
    """Open a file for writing bytes, compressed by its suffix."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "wb", compresslevel=6))
    if path.suffix == ".zst":
        import zstandard

        return cast(IO[bytes], zstandard.open(path, "wb"))
    return path.open("wb")


def raw_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file without their ends, blank ones included, at a cost of about 0.1 us each.

    A byte order mark is dropped, and a last line without an end is a line. If the file is one JSON array, each item is
    a line, counted from 1; such a file is held as a whole.

    Raises
    ------
    InputError
        The file is missing, a directory, empty, binary, damaged, or holds a line of more than ``MAX_LINE`` bytes.
    """
    held = _held.get()
    return chain.from_iterable(_line_blocks(path) if held is None else held.line_blocks(path))


@contextmanager
def read_once() -> Iterator[None]:
    """Within the block, hold the lines of small files, so that each file is opened only once.

    A file that was changed in between is read again.
    """
    if _held.get() is not None:
        yield
        return
    token = _held.set(_HeldLines())
    try:
        yield
    finally:
        _held.reset(token)


class _HeldLines:
    """The lines of small files that were read to their end, by device, inode, size and times of the file."""

    def __init__(self) -> None:
        self._files: dict[tuple[int, ...], list[list[bytes]]] = {}
        self._size = 0

    def line_blocks(self, path: Path) -> Iterator[list[bytes]]:
        try:
            state = path.stat()
        except OSError:
            state = None
        if state is None or not stat.S_ISREG(state.st_mode) or is_compressed(path) or state.st_size > HELD_FILE:
            yield from _line_blocks(path)
            return
        key = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        if key in self._files:
            yield from self._files[key]
            return
        blocks = []
        for lines in _line_blocks(path):
            blocks.append(lines)
            yield lines
        if self._size + state.st_size <= HELD:
            self._files[key] = blocks
            self._size += state.st_size


_held: ContextVar[_HeldLines | None] = ContextVar("held lines", default=None)


def stored_blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file as it is stored, in blocks.

    Raises
    ------
    InputError
        The file is missing, a directory, or a pipe.
    """
    with open_binary(path):
        pass  # raises InputError with a remedy if the file can't be read
    if is_pipe(path):
        what = "this is a pipe or a device, but a load reads the file more than once"
        raise InputError(what, where=str(path), remedy="Write it into a file first.")
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block


def whole(path: Path, *, records: bool = True) -> bytes:
    """Return the whole content of a file.

    Parameters
    ----------
    records
        Whether it must contain JSON records; then an empty or a binary file is refused.

    Raises
    ------
    InputError
        The file is missing, a directory, damaged, or longer than ``LONGEST_ARRAY`` bytes.
    """
    with open_binary(path) as stream:
        return _rest(stream, path, first_block(stream, path)[1] if records else b"")


def _rest(stream: IO[bytes], path: Path, block: bytes) -> bytes:
    """Return a block and all following ones."""
    held = bytearray(block)
    while block := read_block(stream, path, 0):
        held += block
        if len(held) > LONGEST_ARRAY and not are_lifted():
            raise too_much(f"the file is longer than {LONGEST_ARRAY >> 20} MiB, and is held as a whole", str(path))
    return bytes(held)


def _line_blocks(path: Path) -> Iterator[list[bytes]]:
    with open_binary(path) as stream:
        _, block = first_block(stream, path)
        if block.lstrip()[:1] == b"[":
            yield _items(stream, path, block)
        else:
            yield from _lines_of(stream, path, block, 0)


def _lines_of(stream: IO[bytes], path: Path, block: bytes, done: int) -> Iterator[list[bytes]]:
    """Yield the lines of a block and of what follows it in a stream, after ``done`` lines of the file."""
    begun: list[bytes] = []  # the parts of a line that continues in the next block, and their size
    size = 0
    blank = _Blank(path)
    while block:
        blank.count(block)
        lines = block.split(b"\n")
        begun.append(lines[0])
        size += len(lines[0])
        # Only a line that began in an earlier block can be too long: a block is shorter.
        if size > MAX_LINE:
            raise _too_long(path, done + 1)
        if len(lines) > 1:
            lines[0] = b"".join(begun)
            begun = [lines.pop()]
            size = len(begun[0])
            done += len(lines)
            yield lines
        block = read_block(stream, path, done)
    if size:
        yield [b"".join(begun)]


def span_lines(path: Path, offset: int, length: int, first: int) -> Iterator[bytes]:
    """Yield the lines of a span of :func:`line_spans`; ``first`` is the number of its first line in the file.

    Raises
    ------
    InputError
        The file can't be read.
    """
    with open_binary(path) as stream:
        stream.seek(offset)
        span = cast(IO[bytes], _Span(stream, length))
        yield from chain.from_iterable(_lines_of(span, path, read_block(span, path, first - 1), first - 1))


class _Span:
    """The next bytes of a stream, so many of them."""

    def __init__(self, stream: IO[bytes], length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, size: int) -> bytes:
        block = self._stream.read(min(size, self._left))
        self._left -= len(block)
        return block


def is_array(path: Path) -> bool:
    """Return whether a file begins as a JSON array does. Raises what :func:`raw_lines` raises."""
    with open_binary(path) as stream:
        return first_block(stream, path)[1].lstrip()[:1] == b"["


def _items(stream: IO[bytes], path: Path, block: bytes) -> list[bytes]:
    """Return the items of a JSON array as lines; the lines themselves if the array is only the first of them."""
    data = _rest(stream, path, block)
    try:
        # Within an item only white space can contain the end of a line.
        lines = [bytes(item).replace(b"\n", b" ") for item in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        lines = data.split(b"\n")
        if not _is_json(lines[0]):
            raise InputError(
                f"the file begins as a JSON array, and isn't one: {error}",
                where=str(path),
                remedy="Write one JSON record a line, or one array of records.",
            ) from None
        lines = lines[:-1] if not lines[-1] else lines
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise _too_long(path, number)
    return lines


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def line_spans(path: Path, count: int) -> Iterator[tuple[int, int, int]]:
    """Yield the positions of a plain file's lines, ``count`` at a time: offset, length without last end, number.

    These are the lines of :func:`raw_lines`, but of no JSON array, at the cost of reading the file: no line is made. It
    raises the errors of that function.
    """
    with open_binary(path) as stream:
        at, block = first_block(stream, path)
        begin = line = at  # where the span begins, and its last line; the block begins at ``at``
        lines = done = 0  # of the span, and before it
        blank = _Blank(path)
        while block:
            blank.count(block)
            end = block.find(b"\n")
            # Only a line that began in an earlier block can be too long: a block is shorter.
            if at + (end if end >= 0 else len(block)) - line > MAX_LINE:
                raise _too_long(path, done + lines + 1)
            while end >= 0:
                lines += 1
                line = at + end + 1
                if lines == count:
                    yield begin, at + end - begin, count
                    begin = line
                    done, lines = done + count, 0
                end = block.find(b"\n", end + 1)
            at += len(block)
            block = read_block(stream, path, done + lines)
        if at > line:
            yield begin, at - begin, lines + 1
        elif lines:
            yield begin, at - 1 - begin, lines


class _Blank:
    """Counts the blank bytes in a row, and refuses more than ``MAX_BLANK`` of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0

    def count(self, block: bytes) -> None:
        """Count a block."""
        self._size = self._size + len(block) if block.isspace() else 0
        if self._size > MAX_BLANK and not are_lifted():
            raise too_much(f"the file holds more than {MAX_BLANK >> 20} MiB of blank lines", str(self._path))


def _too_long(path: Path, number: int) -> InputError:
    return InputError(
        f"the line is longer than {MAX_LINE // 2**20} MiB",
        where=f"{path}:{number}",
        remedy="Each line must be one JSON record; split or shorten this one.",
    )


def first_block(stream: IO[bytes], path: Path) -> tuple[int, bytes]:
    """Return the length of the byte order mark, if there is one, and the block that follows it.

    Raises
    ------
    InputError
        The file is empty, binary or damaged.
    """
    block = read_block(stream, path, 0)
    skipped = len(BOM) if block.startswith(BOM) else 0
    block = block[skipped:] or read_block(stream, path, 0)
    if not block:
        raise InputError("the file is empty", where=str(path), remedy="It must hold one JSON record a line.")
    _refuse_binary(path, block)
    return skipped, block


def read_block(stream: IO[bytes], path: Path, done: int) -> bytes:
    """Return the next bytes of a file after ``done`` lines; none at its end.

    Raises
    ------
    InputError
        The file is damaged, or goes beyond a limit.
    """
    try:
        return stream.read(_BLOCK)
    except InputError:
        raise
    except Exception as error:  # OSError, and the errors of gzip, zlib and zstandard
        raise InputError(
            f"the file is damaged or cut short: {error}", where=f"{path}:{done + 1}", remedy="Make it anew."
        ) from None


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) of each line that isn't blank; raise the errors of :func:`raw_lines`."""
    for number, line in enumerate(raw_lines(path), 1):
        if line and not line.isspace():
            yield number, line


def text_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) for each line of text that isn't blank, also of one that begins with a bracket.

    Raises
    ------
    InputError
        The file is missing, a directory, empty, binary or damaged, or a line is too long.
    """
    with open_binary(path) as stream:
        lines = chain.from_iterable(_lines_of(stream, path, first_block(stream, path)[1], 0))
        yield from ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _refuse_binary(path: Path, block: bytes) -> None:
    if b"\0" in block[:4096] or block[:2] in (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"PK"):
        if path.suffix.lower() in (".csv", ".tsv", ".txt") and (at := block.find(b"\0")) >= 0:
            line = block.count(b"\n", 0, at) + 1
            remedy = "Save it again as text in UTF-8."
            raise InputError("the line holds a null character, as no text does", where=f"{path}:{line}", remedy=remedy)
        if block[:4] == b"PAR1":
            remedy = "`graphkit import auto FILE --dataset DIR -o RUN.jsonl` makes a run of a log in Parquet."
            raise InputError("this is Parquet, not JSON Lines", where=str(path), remedy=remedy)
        raise InputError(
            "this is a binary file, not JSON Lines in UTF-8",
            where=str(path),
            remedy="Compressed files must end in .gz or .zst; convert UTF-16 to UTF-8.",
        )


def find_file(folder: Path, stem: str) -> Path | None:
    """Return ``folder/stem.jsonl``, or its ``.gz`` or ``.zst`` form, or None if there is no such file."""
    for suffix in SUFFIXES:
        path = folder / f"{stem}.jsonl{suffix}"
        if path.exists():
            return path
    return None


def folders_around(run_file: Path) -> tuple[Path, Path]:
    """Return the folders where the dataset of a run may be: the one above the run's folder, and the run's folder.

    >>> folders_around(Path("d/runs/r.jsonl")), folders_around(Path("r.jsonl"))
    ((PosixPath('d'), PosixPath('d/runs')), (PosixPath('..'), PosixPath('.')))
    """
    folder = run_file.parent
    return (folder.parent if folder.name not in ("", "..") else folder / "..", folder)


def is_file_name(text: str) -> bool:
    """Return whether a text is the name of a file of records rather than of a run.

    >>> is_file_name("runs/bm25.jsonl.gz"), is_file_name("bm25")
    (True, False)
    """
    return text.endswith(tuple(f".jsonl{suffix}" for suffix in SUFFIXES))


def stem_of(path: Path) -> str:
    """Return a file's name without ``.jsonl`` and the endings after it.

    >>> stem_of(Path("runs/bm25.jsonl.gz"))
    'bm25'
    """
    return path.name.split(".jsonl")[0]


def run_of_file(path: Path) -> str | None:
    """Return the name of a run by its file, for records that state none; None for a pipe.

    A run in several files is named by their folder.

    >>> run_of_file(Path("runs/harness-2026-03-25.jsonl")), run_of_file(Path("runs/mine/*.jsonl"))
    ('harness-2026-03-25', 'mine')
    """
    if path.exists():
        return None if is_pipe(path) else stem_of(path)
    return stem_of(path.parent if glob.has_magic(path.name) else path) or None
