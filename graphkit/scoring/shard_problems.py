"""The problems of all shards, on disk: sorted by file and line, however many there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from graphkit.scoring.shard_parts import SentProblem


class ProblemsOnDisk:
    """Problems in a file; in memory are only their places, 24 bytes each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._shards, self._lines, self._offsets = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, problems: Iterable[SentProblem]) -> None:
        """Add problems."""
        encode = msgspec.msgpack.Encoder().encode
        with self._file.open("ab") as stream:
            for one in problems:
                self._shards.append(one.shard)
                self._lines.append(one.line)
                self._offsets.append(stream.tell())
                message = encode(one)
                stream.write(len(message).to_bytes(4, "little") + message)

    def __iter__(self) -> Iterator[SentProblem]:
        """Yield the problems: first those of questions, each file from its beginning."""
        import numpy

        if not self._offsets:
            return
        decode = msgspec.msgpack.Decoder(SentProblem).decode
        keys = [numpy.frombuffer(each, dtype=numpy.int64) for each in (self._offsets, self._lines, self._shards)]
        with self._file.open("rb") as stream:
            for place in numpy.lexsort(keys).tolist():
                stream.seek(self._offsets[place])
                yield decode(stream.read(int.from_bytes(stream.read(4), "little")))

    def first(self, count: int) -> Iterator[SentProblem]:
        """Yield the first problems."""
        return islice(self, count)

    def as_json(self) -> Iterator[dict[str, Any]]:
        """Yield each problem as the results hold it."""
        for one in self:
            yield {
                "file": one.where.rpartition(":")[0] if one.line else one.where,
                "line": one.line or None,
                "record": one.record,
                "what": one.what,
                "remedy": one.remedy,
                "more": one.more,
            }
