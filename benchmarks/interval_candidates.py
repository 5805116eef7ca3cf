"""Candidates for the interval of a mean difference, by size and kind: ``python -m benchmarks.interval_candidates``.

Samples are drawn from worlds whose mean is known. Candidates: BCa alone, studentised bootstrap, Student's t, the
inverted randomisation test (means of random subsets, Hartigan 1969), and what graphkit takes: the wider of BCa and t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
from scipy import stats

SAMPLES = 2_000
RESAMPLES = 999
SIZES = (5, 10, 20, 30, 50, 100)
#: The places of the 2.5% and the 97.5% quantile among so many sorted resamples.
LOW, HIGH = int(0.025 * (RESAMPLES + 1)) - 1, int(0.975 * (RESAMPLES + 1)) - 1

Draw = Callable[[int], Any]
Bounds = tuple[float, float]

_random = numpy.random.default_rng(7)


def _signs(lost: float, won: float) -> Draw:
    return lambda count: _random.choice([-1.0, 0.0, 1.0], p=[lost, 1 - lost - won, won], size=count)


def _thirds(count: int) -> Any:
    return (_random.integers(0, 4, count) - _random.integers(0, 4, count)) / 3


def _tied_thirds(count: int) -> Any:
    moved = _random.integers(1, 4, count) / 3 * numpy.where(_random.random(count) < 0.7, 1, -1)
    return moved * (_random.random(count) < 0.3)


#: The differences of a question in each world, with their mean.
WORLDS: dict[str, tuple[Draw, float]] = {
    "0/1": (_signs(0.1, 0.4), 0.3),
    "0/1, 70% ties": (_signs(0.1, 0.2), 0.1),
    "0/1, 90% ties": (_signs(0.03, 0.07), 0.04),
    "thirds": (_thirds, 0.0),
    "thirds, 70% ties": (_tied_thirds, 0.3 * 0.4 * 2 / 3),
    "skewed": (lambda count: _random.beta(0.5, 4, count), 0.5 / 4.5),
    "skewed, 70% ties": (lambda count: _random.beta(1, 3, count) * (_random.random(count) < 0.3), 0.3 / 4),
}


def intervals(values: Any) -> Iterator[tuple[str, Bounds]]:
    """Yield the interval of each candidate for one sample whose values aren't all equal."""
    count, mean, error = values.size, values.mean(), values.std(ddof=1) / values.size**0.5
    drawn = values[_random.integers(0, count, (RESAMPLES, count))]
    means = drawn.mean(1)
    rank = ((means < mean - 1e-12).mean() + (means <= mean + 1e-12).mean()) / 2
    bias = stats.norm.ppf(rank) if 0 < rank < 1 else 0.0
    moved = values - mean
    skew = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    normal = bias + stats.norm.ppf([0.025, 0.975])
    bca = tuple(numpy.percentile(means, 100 * stats.norm.cdf(bias + normal / (1 - skew * normal))))
    reach = stats.t.ppf(0.975, count - 1) * error
    student = mean - reach, mean + reach
    yield "BCa", bca
    yield "t", student
    yield "wider", (min(bca[0], student[0]), max(bca[1], student[1]))
    off = means - mean
    errors = drawn.std(1, ddof=1) / count**0.5
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratios = numpy.where(
            errors < 1e-12, numpy.where(abs(off) < 1e-12, 0, numpy.copysign(numpy.inf, off)), off / errors
        )
    ratios.sort()
    yield "bootstrap-t", (mean - ratios[HIGH] * error, mean - ratios[LOW] * error)
    chosen = _random.integers(0, 2, (RESAMPLES, count))
    sizes = numpy.maximum(chosen.sum(1), 1)
    subsets = numpy.sort(chosen @ values / sizes)
    yield "inverted test", (subsets[LOW], subsets[HIGH])


def covered(draw: Draw, mean: float, size: int) -> dict[str, float]:
    """Return the share of samples whose interval holds the mean; of equal values it is their value."""
    held = dict.fromkeys(("BCa", "t", "wider", "bootstrap-t", "inverted test"), 0)
    for _ in range(SAMPLES):
        values = draw(size)
        if numpy.ptp(values) < 1e-9:
            continue  # none of these means is a value, so no candidate holds it
        for name, (low, high) in intervals(values):
            held[name] += bool(low - 1e-9 <= mean <= high + 1e-9)
    return {name: count / SAMPLES for name, count in held.items()}


def main() -> None:
    """Print the table: a line a world and size."""
    for world, (draw, mean) in WORLDS.items():
        for size in SIZES:
            found = covered(draw, mean, size)
            print(
                f"{world:<18} n={size:<4}",
                "  ".join(f"{name} {share:.3f}" for name, share in found.items()),
                flush=True,
            )


if __name__ == "__main__":
    main()
