"""The sizes of chunks: how many questions one task has."""

from __future__ import annotations

#: A chunk keeps a worker busy for so many rounds of its concurrent questions, and a small run still has so many chunks.
ROUNDS = 8
CHUNKS = 16


def chunk_size(count: int, concurrency: int) -> int:
    """Return how many of ``count`` questions a task has that asks so many at once.

    >>> chunk_size(10_000, 4), chunk_size(100, 4), chunk_size(10, 4)
    (32, 6, 4)
    """
    return min(ROUNDS * concurrency, max(concurrency, count // CHUNKS))
