"""The shards of an input: its files, the byte ranges of a large plain one, and the groups of rows of Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphkit.errors import InputError
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import is_array, is_compressed, line_spans, read_lines, span_lines
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
        """What decides the content of the shard: its place without credentials, size, version and part."""
        return (str(self.location), self.kind, self.size, self.version, self.span, self.groups)


def shards_of(given: str | Path | Location, *, lines: int = LINES) -> list[Shard]:
    """Return the shards of a file, a folder, a pattern or a URL: files in natural order, and each from its beginning.

    Parameters
    ----------
    given
        A file; a folder, of which the files with a name in ``ENDINGS`` count; or a pattern such as
        ``runs/bm25-*.jsonl``.
    lines
        The number of lines of a plain file of this machine in a shard. Another file is one shard.

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
    kind: Literal["jsonl", "parquet"] = "parquet" if file.name.endswith(".parquet") else "jsonl"
    whole = Shard(file, kind, file.size(), file.version())
    path = file.path
    if kind == "parquet" or path is None or is_compressed(path) or is_pipe(path) or is_array(path):
        yield whole
        return
    first = 1
    for offset, length, count in line_spans(path, lines):
        yield Shard(file, kind, whole.size, whole.version, (offset, length), first=first)
        first += count


def shard_lines(shard: Shard) -> Iterator[tuple[int, bytes]]:
    """Yield the number in the file and the content of each line of a shard that isn't blank.

    Raises
    ------
    InputError
        The file can't be read, is damaged, or holds a line that is too long.
    """
    with shard.location.local_copy() as path, _named(shard.location, path):
        if shard.span is None:
            yield from read_lines(path)
            return
        for number, line in enumerate(span_lines(path, *shard.span, shard.first), shard.first):
            if line and not line.isspace():
                yield number, line


@contextmanager
def _named(location: Location, copy: Path) -> Iterator[None]:
    """Name the location in errors that name its local copy."""
    try:
        yield
    except InputError as error:
        if error.where is not None:
            error.where = error.where.replace(str(copy), str(location))
        raise
