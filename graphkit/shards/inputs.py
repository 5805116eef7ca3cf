"""The shards of an input: its files, the byte ranges of a large plain one, and the groups of rows of Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from graphkit.errors import InputError
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import is_array, is_compressed, line_spans, read_lines, span_lines
from graphkit.files.parquet import group_sizes, parquet_rows
from graphkit.shards.locations import Location

#: The number of lines of a plain file in a shard.
LINES = 10_000

#: The endings of the files that a folder may hold.
ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")


@dataclass(frozen=True)
class Shard:
    """A part of an input on which one worker works.

    Parameters
    ----------
    location
        The file.
    kind
        Whether it has lines of JSON or rows of Parquet.
    size, version
        The size of the whole file in bytes, and a text that changes with its content.
    span
        The offset and length of the lines in a plain file, or None for the whole file.
    groups
        The numbers of the row groups, or None for the whole file.
    first
        The number of the first line or row in the file, from 1.
    """

    location: Location
    kind: Literal["jsonl", "parquet"]
    size: int
    version: str
    span: tuple[int, int] | None = None
    groups: tuple[int, ...] | None = None
    first: int = 1

    @property
    def name(self) -> str:
        """The shard as messages name it: its file, and the line or row at which it begins if that isn't the first."""
        return str(self.location) if self.first == 1 else f"{self.location}:{self.first}"

    @property
    def key(self) -> tuple[object, ...]:
        """The identity of the shard's content: its place without credentials, size, version and part."""
        return (str(self.location), self.kind, self.size, self.version, self.span, self.groups)


def shards_of(given: str | Path | Location, *, lines: int = LINES) -> list[Shard]:
    """Return the shards of a file, a folder, a pattern or a URL: files in natural order, and each from its beginning.

    Parameters
    ----------
    given
        A file; a folder, of which the files with a name in ``ENDINGS`` count; or a pattern such as
        ``runs/bm25-*.jsonl``.
    lines
        The number of lines in a shard of a plain file of this machine. A compressed or remote file is one shard, except
        that one of Parquet is cut between its row groups: into shards of at most so many rows, or of one group.

    Raises
    ------
    InputError
        There is no such file, or none in the folder; or one can't be read.
    """
    return [shard for file in files_of(given) for shard in _cut(file, lines)]


def files_of(given: str | Path | Location) -> list[Location]:
    """Return the files of a file, a folder, a pattern or a URL in natural order; raise what :func:`shards_of` does."""
    location = Location.of(given)
    if location.is_pattern:
        found = location.matches()
        what, remedy = "no file has such a name", "Check the pattern; quote it, so that the shell leaves it alone."
    elif location.is_folder():
        found = [file for file in location.files() if file.name.endswith(ENDINGS)]
        what, remedy = "the folder holds no shard", f"A shard is a file whose name ends in {', '.join(ENDINGS)}."
    else:
        return [location]
    if not found:
        raise InputError(what, where=str(location), remedy=remedy)
    return found


def _cut(file: Location, lines: int) -> Iterator[Shard]:
    path = file.path
    if path is not None and not path.is_file() and path.exists() and is_pipe(path):
        raise InputError("a pipe can't be cut into shards", where=str(file), remedy="Write it into a file first.")
    size, version = file.size(), file.version()
    if file.name.endswith(".parquet"):
        with file.opened() as stream:
            sizes = group_sizes(str(file), stream)
        first = 1
        for groups in _together(sizes, lines):
            yield Shard(file, "parquet", size, version, groups=groups, first=first)
            first += sum(sizes[group] for group in groups)
    elif path is None or is_compressed(path) or is_array(path):
        yield Shard(file, "jsonl", size, version)
    else:
        first = 1
        for offset, length, count in line_spans(path, lines):
            yield Shard(file, "jsonl", size, version, (offset, length), first=first)
            first += count


def _together(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of neighbouring row groups, each time as many as hold at most so many rows, or a single one."""
    held: list[int] = []
    rows = 0
    for group, size in enumerate(sizes):
        if held and rows + size > most:
            yield tuple(held)
            held, rows = [], 0
        held.append(group)
        rows += size
    if held:
        yield tuple(held)


def shard_lines(shard: Shard) -> Iterator[tuple[int, bytes]]:
    """Yield the number in the file and the content of each line of a shard that isn't blank.

    A row of Parquet is a line of JSON without its nulls, numbered like a line. A remote file is copied first;
    of Parquet, only the row groups are read.

    Raises
    ------
    InputError
        The file can't be read, is damaged, or holds a line that is too long.
    """
    if shard.kind == "parquet":
        with shard.location.opened() as stream:
            rows = parquet_rows(str(shard.location), groups=shard.groups, stream=stream)
            for number, row in enumerate(rows, shard.first):
                yield number, msgspec.json.encode(_without_nulls(row))
        return
    with shard.location.local_copy() as path, _named(shard.location, path):
        if shard.span is None:
            yield from read_lines(path)
            return
        for number, line in enumerate(span_lines(path, *shard.span, shard.first), shard.first):
            if line and not line.isspace():
                yield number, line


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


@contextmanager
def _named(location: Location, copy: Path) -> Iterator[None]:
    """Name the location in errors that name its local copy."""
    try:
        yield
    except InputError as error:
        if error.where is not None:
            error.where = error.where.replace(str(copy), str(location))
        raise
