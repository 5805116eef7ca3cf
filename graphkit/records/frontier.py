"""The frontier of quality and price: who is beaten on both."""

from __future__ import annotations

from collections.abc import Iterable

#: A quality, of which more is better, and a price, of which less is.
Place = tuple[float, float]


def beaten(own: Place, others: Iterable[Place]) -> bool:
    """Return whether another one has at least this quality for at most this price, and is better in one of both.

    >>> beaten((0.5, 10), [(0.5, 9)]), beaten((0.5, 10), [(0.6, 11)]), beaten((0.5, 10), [(0.5, 10)])
    (True, False, False)
    """
    return any(one[0] >= own[0] and one[1] <= own[1] and one != own for one in others)
