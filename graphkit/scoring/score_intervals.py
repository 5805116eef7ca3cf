"""The score interval of a share (Wilson 1927), and of what can be mapped to one, at its effective number of items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95

_USUAL_QUANTILE = 1.959963984540054

#: The degrees of freedom from which Student's distribution is computed without scipy.
_LARGE = 2000


@lru_cache(maxsize=8)
def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors an interval extends to each side.

    >>> round(normal_quantile(), 4)
    1.96
    """
    if confidence == CONFIDENCE:
        return _USUAL_QUANTILE  # the import of scipy would take longer than most runs to score
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


@lru_cache(maxsize=1024)
def student_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors an interval extends if these are estimated, too.

    For large samples it is the expansion of Abramowitz and Stegun (1964, 26.7.5), as exact as a float there.

    >>> round(student_quantile(11), 4), round(student_quantile(59_999), 4)
    (2.201, 1.96)
    """
    if freedom >= _LARGE:
        z = normal_quantile(confidence)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def wilson_interval(share: float, items: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927); ``items`` need not be whole.

    >>> [round(bound, 4) for bound in wilson_interval(1.0, 15)]
    [0.7961, 1.0]
    """
    z = normal_quantile(confidence)
    share = min(1.0, max(0.0, share))
    middle = (share + z * z / (2 * items)) / (1 + z * z / items)
    reach = z * math.sqrt(share * (1 - share) / items + z * z / (4 * items * items)) / (1 + z * z / items)
    low = 0.0 if share == 0 else max(0.0, middle - reach)
    high = 1.0 if share == 1 else min(1.0, middle + reach)
    return low, high


def unseen_share(items: float, confidence: float = CONFIDENCE) -> float:
    """Return the largest share of items of a kind of which the sample holds none, as one end of an interval.

    It is the exact bound of Clopper and Pearson (1934), close to the rule of three.

    >>> round(unseen_share(12), 4), round(100 * unseen_share(100), 2)
    (0.2646, 3.62)
    """
    return float(1 - ((1 - confidence) / 2) ** (1 / items))


def share_in_words(found: int, items: int) -> str:
    """Return how many items are of a kind, and how large their share is at most: one-sided, by Clopper and Pearson.

    >>> share_in_words(0, 120), share_in_words(1, 2)
    ('0 of 120: at most 2.5% (95%, one-sided)', '1 of 2: at most 97% (95%, one-sided)')
    >>> share_in_words(3, 3)
    '3 of 3: at most 100% (95%, one-sided)'
    """
    if not found or found >= items:
        most = 1.0 if found else unseen_share(items, 2 * CONFIDENCE - 1)
    else:
        from scipy.special import betaincinv

        most = float(betaincinv(found + 1, items - found, CONFIDENCE))
    return f"{found} of {items}: at most {float(f'{100 * most:.2g}'):g}% ({CONFIDENCE:.0%}, one-sided)"


@dataclass(frozen=True, slots=True)
class Shape:
    """The basis of an interval: a share, its effective number of independent items, and its base.

    The figure is ``(share - base) / (1 - base)``. The base is 0 for a plain share, and the agreement by chance for a
    coefficient that is corrected for chance.
    """

    share: float
    effective: float
    base: float = 0.0

    @classmethod
    def of(cls, value: float, variance: float, items: float, base: float = 0.0, freedom: float | None = None) -> Shape:
        """Return the basis of a figure with a variance, which says how many items it is worth."""
        share = min(1.0, max(0.0, value * (1 - base) + base))
        spread = variance * (1 - base) ** 2
        inner = share * (1 - share)
        # A share at its end, or without any spread, gives no other number of items.
        effective = inner / spread if inner > 1e-12 and spread > 1e-12 else float(items)
        if freedom is not None:
            effective *= (normal_quantile() / student_quantile(freedom)) ** 2
        return cls(share, effective, base)

    def interval(self, times: float = 1.0) -> tuple[float, float]:
        """Return the interval of the figure for a sample so many times as large."""
        low, high = wilson_interval(self.share, self.effective * times)
        return (low - self.base) / (1 - self.base), (high - self.base) / (1 - self.base)


def bounded_interval(
    mean: float, variance: float, items: float, lowest: float, highest: float, freedom: float | None = None
) -> tuple[float, float]:
    """Return the score interval of a mean between two bounds, as a share of the way from the lowest to the highest.

    ``variance`` is that of the mean, and ``items`` are what a mean of equal values is worth.

    >>> [round(end, 4) for end in bounded_interval(1.0, 0.0, 12, 0.0, 1.0, freedom=11)]
    [0.7124, 1.0]
    """
    extent = highest - lowest
    low, high = Shape.of((mean - lowest) / extent, variance / extent**2, items, freedom=freedom).interval()
    return min(mean, lowest + low * extent), max(mean, lowest + high * extent)
