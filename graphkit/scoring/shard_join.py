"""Joins questions and records that lie in different shards: by sorted hashes on disk, and an exchange of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from graphkit.scoring.file_scoring import digest
from graphkit.scoring.shard_parts import Leftover, ShardPart, read_message, write_message
from graphkit.shards.locations import Location

#: How many hashes are in memory at once, 12 bytes each and as many again to sort them.
TOGETHER = 2_000_000


class Hashes:
    """The hashes of the ids of all questions and leftover records, sorted in files of a folder."""

    def __init__(self, folder: Path, together: int = TOGETHER) -> None:
        self._folder = folder
        self._together = together
        self._counts: dict[int, int] = {}
        self._left: dict[int, int] = {}

    def put(self, shard: int, part: ShardPart) -> None:
        """Note the questions and the leftovers of a shard, in place of those of a former part."""
        import numpy

        questions = numpy.frombuffer(part.hashes, dtype=numpy.int64)
        numpy.sort(questions).tofile(self._folder / f"questions-{shard}")
        names = (digest(one.question) for one in part.leftovers)
        numpy.fromiter(names, dtype=numpy.int64, count=len(part.leftovers)).tofile(self._folder / f"left-{shard}")
        self._counts[shard], self._left[shard] = len(questions), len(part.leftovers)

    def _ranges(self) -> Iterator[tuple[Any, Any]]:
        """Yield the hashes of the questions in order, some at a time, and the shard of each; equal ones together."""
        import numpy

        least, span = -(1 << 63), 1 << 64
        pieces = max(1, -(-sum(self._counts.values()) // self._together))
        bounds = [least + span * piece // pieces for piece in range(pieces + 1)]
        for low, beyond in pairwise(bounds):
            hashes, shards = [numpy.empty(0, numpy.int64)], [numpy.empty(0, numpy.int32)]
            for shard in sorted(shard for shard, count in self._counts.items() if count):
                every = numpy.memmap(self._folder / f"questions-{shard}", dtype=numpy.int64, mode="r")
                begin, end = every.searchsorted(numpy.int64(low)), every.searchsorted(numpy.int64(beyond - 1), "right")
                hashes.append(every[begin:end])
                shards.append(numpy.full(end - begin, shard, dtype=numpy.int32))
            together, of = numpy.concatenate(hashes), numpy.concatenate(shards)
            order = numpy.argsort(together, kind="stable")
            yield together[order], of[order]

    def repeated(self) -> dict[int, list[int]]:
        """Return the hashes that several shards have, and these shards in order."""
        found: dict[int, list[int]] = {}
        for hashes, shards in self._ranges():
            for place in (hashes[1:] == hashes[:-1]).nonzero()[0].tolist():
                some = found.setdefault(int(hashes[place]), [int(shards[place])])
                some.append(int(shards[place + 1]))
        return found

    def targets(self) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
        """Yield for each shard with leftovers the shards of the question of each of them: more than one only if they
        have the same hash.
        """
        import numpy

        with_left = [shard for shard, count in self._left.items() if count]
        files = self._folder / "hashes", self._folder / "shards"
        if with_left:
            with files[0].open("wb") as of_hashes, files[1].open("wb") as of_shards:
                for some, of_some in self._ranges():
                    of_hashes.write(some.tobytes())
                    of_shards.write(of_some.tobytes())
        for source in with_left:
            wanted = numpy.fromfile(self._folder / f"left-{source}", dtype=numpy.int64)
            if not any(self._counts.values()):
                yield source, [()] * len(wanted)
                continue
            hashes, shards = (numpy.asarray(numpy.memmap(*one, "r")) for one in zip(files, ("i8", "i4"), strict=True))
            begin, end = (hashes.searchsorted(wanted, side).tolist() for side in ("left", "right"))
            met = (shards[first:last].tolist() for first, last in zip(begin, end, strict=True))
            yield source, [tuple(dict.fromkeys(some)) for some in met]


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
