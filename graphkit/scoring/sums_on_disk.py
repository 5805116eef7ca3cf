"""What the parts of a run add up to on the disk, within a small memory: problems in order, and the spread of usage."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from graphkit.files.problems import Problem
from graphkit.records.bounds import exact_parts
from graphkit.records.usage import FIGURES, Spread


class ProblemsOnDisk:
    """Problems in a file; in memory are only their places, 24 bytes each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._places = array("q")  # of each: the shard, the line, and where it begins in the file

    def __len__(self) -> int:
        return len(self._places) // 3

    def add(self, problems: Iterable[tuple[int, Problem]]) -> None:
        """Add problems, each with the place of its shard."""
        encode = msgspec.msgpack.Encoder().encode
        with self._file.open("ab") as stream:
            for shard, problem in problems:
                self._places.extend((shard, split_place(problem.where)[1] or 0, stream.tell()))
                message = encode(problem)
                stream.write(len(message).to_bytes(4, "little") + message)

    def __iter__(self) -> Iterator[Problem]:
        """Yield the problems: first those of questions, each file from its beginning."""
        import numpy

        if not self._places:
            return
        decode = msgspec.msgpack.Decoder(Problem).decode
        shards, lines, offsets = numpy.array(self._places).reshape(-1, 3).T
        with self._file.open("rb") as stream:
            for place in numpy.lexsort((offsets, lines, shards)).tolist():
                stream.seek(offsets[place])
                yield decode(stream.read(int.from_bytes(stream.read(4), "little")))


def split_place(where: str) -> tuple[str, int | None]:
    """Return the file and the line of a place.

    >>> split_place("runs/a.jsonl:3"), split_place("s3://b:9000/a.parquet")
    (('runs/a.jsonl', 3), ('s3://b:9000/a.parquet', None))
    """
    file, _, line = where.rpartition(":")
    return (file, int(line)) if line.isdecimal() and int(line) else (where, None)


class UsageOnDisk:
    """Bare numbers of each figure: those of answered questions in a file, of failed ones only their sum."""

    def __init__(self, folder: Path) -> None:
        self._files = {name: folder / f"usage-{name}" for name in FIGURES}
        self._parts: dict[str, list[float]] = {name: [] for name in FIGURES}
        self._failed: dict[str, list[float]] = {name: [] for name in FIGURES}
        self._stated: set[str] = set()

    def add(self, figures: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Add the figures of a shard, as :meth:`graphkit.records.usage.Tally.packed` returns them."""
        import numpy

        for name, (answered, failed) in figures.items():
            if answered:
                with self._files[name].open("ab") as stream:
                    stream.write(answered)
            for sums, packed in ((self._parts, answered), (self._failed, failed)):
                if packed:
                    self._stated.add(name)
                    sums[name] = exact_parts([*numpy.frombuffer(packed).tolist(), *sums[name]])

    def spreads(self) -> dict[str, Spread]:
        """Return each figure over the records."""
        return {name: self._spread(name) for name in FIGURES}

    def _spread(self, name: str) -> Spread:
        file = self._files[name]
        count = file.stat().st_size // 8 if file.exists() else 0
        parts = self._parts[name]
        total = math.fsum([*parts, *self._failed[name]]) if name in self._stated else None
        if not count:
            return Spread(None, None, None, total, 0)
        low, high, p95 = at_places(file, (count - 1) // 2, count // 2, math.ceil(0.95 * count) - 1)
        return Spread(math.fsum(parts) / count, (low + high) / 2, p95, total, count)


def at_places(file: Path, *places: int) -> list[float]:
    """Return the numbers at some places of a file's doubles in their order, the least at 0; the file is rearranged."""
    import numpy

    numbers = numpy.memmap(file, dtype=numpy.float64, mode="r+")  # the system writes it back where memory is short
    numbers.partition(places)
    return [float(numbers[place]) for place in places]
