"""Joins questions and records that lie in different shards: by sorted hashes on disk, and an exchange of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from graphkit.scoring.file_scoring import digest
from graphkit.scoring.shard_parts import Leftover, ShardPart, read_message, write_message
from graphkit.shards.locations import Location

#: How many hashes are in memory at once, 12 bytes each and as many again to sort them.
TOGETHER = 2_000_000

#: The target of a record whose question is in no shard.
NOWHERE = -1


class Hashes:
    """The hashes of the ids of all questions, sorted by shard, in files of a folder."""

    def __init__(self, folder: Path, together: int = TOGETHER) -> None:
        self._folder = folder
        self._together = together
        self._counts: dict[int, int] = {}

    def put(self, shard: int, hashes: bytes) -> None:
        """Set the hashes of a shard."""
        import numpy

        values = numpy.frombuffer(hashes, dtype=numpy.int64)
        numpy.sort(values).tofile(self._file(shard))
        self._counts[shard] = len(values)

    def _file(self, shard: int) -> Path:
        return self._folder / f"questions-{shard}"

    def ranges(self) -> Iterator[tuple[int, int, Any, Any]]:
        """Yield ranges of hashes: the lowest, the highest, those within sorted, and the shard of each."""
        import numpy

        least, span = -(1 << 63), 1 << 64
        pieces = max(1, -(-sum(self._counts.values()) // self._together))
        bounds = [least + span * piece // pieces for piece in range(pieces + 1)]
        for low, beyond in zip(bounds, bounds[1:], strict=False):
            hashes, shards = [], []
            for shard in sorted(self._counts):
                if not self._counts[shard]:
                    continue
                every = numpy.memmap(self._file(shard), dtype=numpy.int64, mode="r")
                begin, end = every.searchsorted(numpy.int64(low)), every.searchsorted(numpy.int64(beyond - 1), "right")
                hashes.append(numpy.array(every[begin:end]))
                shards.append(numpy.full(end - begin, shard, dtype=numpy.int32))
            if not hashes:
                continue
            together, of = numpy.concatenate(hashes), numpy.concatenate(shards)
            order = numpy.argsort(together, kind="stable")
            yield low, beyond - 1, together[order], of[order]

    def repeated(self) -> dict[int, list[int]]:
        """Return the hashes that several shards have, and these shards in order."""
        found: dict[int, list[int]] = {}
        for _, _, hashes, shards in self.ranges():
            for place in (hashes[1:] == hashes[:-1]).nonzero()[0].tolist():
                some = found.setdefault(int(hashes[place]), [int(shards[place])])
                some.append(int(shards[place + 1]))
        return found


class Routes:
    """The shard of the question of each leftover record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[int, None] = {}

    def put(self, source: int, leftovers: Sequence[Leftover]) -> None:
        """Note the leftovers of a shard."""
        import numpy

        names = (digest(one.question) for one in leftovers)
        numpy.fromiter(names, dtype=numpy.int64, count=len(leftovers)).tofile(self._folder / f"left-{source}")
        self._sources[source] = None

    def find(self, questions: Hashes) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
        """Yield for each shard with leftovers the shards of the question of each of them: more than one only if they
        have the same hash.
        """
        import numpy

        targets = {source: self._folder / f"targets-{source}" for source in self._sources}
        for source, file in targets.items():
            count = (self._folder / f"left-{source}").stat().st_size // 8
            numpy.full(count, NOWHERE, dtype=numpy.int32).tofile(file)
        several: dict[int, dict[int, tuple[int, ...]]] = {}
        for low, high, hashes, shards in questions.ranges():
            for source, file in targets.items():
                wanted = numpy.fromfile(self._folder / f"left-{source}", dtype=numpy.int64)
                inside = ((wanted >= low) & (wanted <= high)).nonzero()[0]
                begin, end = (hashes.searchsorted(wanted[inside], side) for side in ("left", "right"))
                met = end > begin
                own = numpy.fromfile(file, dtype=numpy.int32)
                own[inside[met]] = shards[begin[met]]
                own.tofile(file)
                for place in (end - begin > 1).nonzero()[0].tolist():
                    some = shards[begin[place] : end[place]].tolist()
                    several.setdefault(source, {})[int(inside[place])] = tuple(dict.fromkeys(some))
        for source, file in targets.items():
            more = several.get(source, {})
            first = numpy.fromfile(file, dtype=numpy.int32).tolist()
            yield source, [more.get(at) or (() if one == NOWHERE else (one,)) for at, one in enumerate(first)]


@dataclass(frozen=True)
class Exchange:
    """The argument of a task of the exchange: a part, and the shards to which each of its leftovers goes."""

    part: Location
    targets: tuple[tuple[int, ...], ...]


def exchange(work: Exchange, path: Path) -> None:
    """Write the leftovers of a part, together by the shard that they go to, behind the size of what each gets."""
    by_target: dict[int, list[tuple[Leftover, bytes]]] = {}
    with work.part.local_copy() as part, part.open("rb") as lines:
        found, begin = read_message(part, ShardPart)
        lines.seek(begin)
        for one, targets in zip(found.leftovers, work.targets, strict=True):
            line = lines.read(one.size)
            for target in targets:
                by_target.setdefault(target, []).append((one, line))
    messages = [(target, msgspec.msgpack.encode(by_target.pop(target))) for target in [*by_target]]
    write_message(path, [(target, len(message)) for target, message in messages], (message for _, message in messages))


def segments(path: Path) -> Iterator[tuple[int, int, int]]:
    """Yield what a file of the exchange holds: the shard, and where its records begin and how many bytes they take."""
    sizes, offset = read_message(path, list[tuple[int, int]])
    for target, size in sizes:
        yield target, offset, size
        offset += size
