"""The usage of many records in files: exact means, medians and percentiles within a fixed memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphkit.records.bounds import exact_parts
from graphkit.records.usage import FIGURES, Spread

#: How many numbers are read at once.
_BLOCK = 1 << 18


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
        low, high, p95 = (nth(file, place) for place in ((count - 1) // 2, count // 2, math.ceil(0.95 * count) - 1))
        return Spread(math.fsum(parts) / count, (low + high) / 2, p95, total, count)


def nth(file: Path, place: int) -> float:
    """Return the number at a place of a file's doubles in their order, the least at 0; the file isn't sorted."""
    import numpy

    prefix, shift = 0, 64
    while shift:
        shift -= 16
        counts = numpy.zeros(1 << 16, dtype=numpy.int64)
        for keys in _keys(file):
            if shift < 48:
                keys = keys[keys >> numpy.uint64(shift + 16) == numpy.uint64(prefix)]
            digits = (keys >> numpy.uint64(shift)) & numpy.uint64(0xFFFF)
            counts += numpy.bincount(digits.astype(numpy.int64), minlength=1 << 16)
        below = counts.cumsum()
        digit = int(below.searchsorted(place, "right"))
        place -= int(below[digit - 1]) if digit else 0
        prefix = prefix << 16 | digit
    bits = prefix & ~(1 << 63) if prefix >> 63 else ~prefix & (1 << 64) - 1
    return float(numpy.array([bits], dtype=numpy.uint64).view(numpy.float64)[0])


def _keys(file: Path) -> Iterator[Any]:
    """Yield the numbers as integers in the same order."""
    import numpy

    with file.open("rb") as stream:
        while block := stream.read(8 * _BLOCK):
            bits = numpy.frombuffer(block, dtype=numpy.uint64)
            negative = bits >> numpy.uint64(63) == 1
            yield numpy.where(negative, ~bits, bits | numpy.uint64(1 << 63))
