"""The coverage of intervals of a mean over clustered questions: ``python -m benchmarks.cluster_coverage [SAMPLES]``.

Differences are drawn from worlds whose mean is known, and in which the questions of a cluster share an effect. The
candidates: the interval that takes questions as independent, Student's t with the cluster-robust standard error and
with that of the jackknife, the BCa bootstrap of whole clusters, and what graphkit takes, the wider of the last two on
each side.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy
from scipy import stats

from graphkit.scoring.clustered_intervals import ClusterSums, clustered_interval
from graphkit.scoring.intervals import interval

SAMPLES = 1_000
RESAMPLES = 999
CLUSTERS = (5, 10, 20, 40)

Bounds = tuple[float | None, float | None]
#: Draws the sizes of so many clusters, and the values of each question by the number of its cluster.
Draw = Callable[[Any], Any]

_random = numpy.random.default_rng(13)


def _even(clusters: int) -> Any:
    return numpy.full(clusters, 10)


def _uneven(clusters: int) -> Any:
    """Return sizes of 1 to 40 questions, most of them small."""
    return numpy.clip(numpy.rint(_random.lognormal(1.8, 0.9, clusters)), 1, 40).astype(int)


def _normal(codes: Any) -> Any:
    return 0.2 + _random.normal(0, 0.3, codes.max() + 1)[codes] + _random.normal(0, 0.4, codes.size)


def _outcomes(codes: Any) -> Any:
    """Return losses, ties and wins: each cluster has a share of wins of its own, .3 on average, and of losses, .1."""
    won = _random.beta(0.6, 1.4, codes.max() + 1)[codes]
    lost = (1 - won) / 7
    drawn = _random.random(codes.size)
    return (drawn < won).astype(float) - (drawn > 1 - lost)


#: The sizes of the clusters, the values, and their mean.
WORLDS: dict[str, tuple[Callable[[int], Any], Draw, float]] = {
    "normal, 10 each": (_even, _normal, 0.2),
    "normal, 1 to 40": (_uneven, _normal, 0.2),
    "won, tied or lost, 10 each": (_even, _outcomes, 0.2),
    "won, tied or lost, 1 to 40": (_uneven, _outcomes, 0.2),
}


def candidates(values: Any, codes: Any) -> dict[str, Bounds]:
    """Return the interval of each candidate."""
    found = ClusterSums.of(values, codes)
    quantile, moved = stats.t.ppf(0.975, found.clusters - 1), found.sums - found.sizes * found.mean
    robust = (found.clusters / (found.clusters - 1) * (moved**2).sum()) ** 0.5 / values.size
    wide = clustered_interval(values, codes, resamples=RESAMPLES, seed=1)
    drawn = wide if found.alike else _bootstrap(found)
    return {
        "unclustered": interval(values, resamples=RESAMPLES, seed=1),
        "robust": (found.mean - quantile * robust, found.mean + quantile * robust),
        "jackknife": (found.mean - quantile * found.error, found.mean + quantile * found.error),
        "BCa": drawn,
        "wider": wide,
    }


def _bootstrap(found: ClusterSums) -> Bounds:
    bounds = stats.bootstrap(
        (found.sums, found.sizes),
        lambda sums, sizes, axis=-1: sums.sum(axis) / sizes.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=numpy.random.default_rng(1),
    ).confidence_interval
    return float(bounds.low), float(bounds.high)


def main(samples: int = SAMPLES) -> None:
    """Print a row of the table for each world: percent of samples whose interval holds the mean."""
    print(f"| differences | {' | '.join(f'{count} clusters' for count in CLUSTERS)} |")
    print(f"|---|{'---|' * len(CLUSTERS)}")
    for name, (sizes, draw, mean) in WORLDS.items():
        cells = []
        for count in CLUSTERS:
            held: dict[str, int] = {}
            for _ in range(samples):
                codes = numpy.repeat(numpy.arange(count), sizes(count))
                for candidate, (low, high) in candidates(draw(codes), codes).items():
                    inside = low is not None and high is not None and low <= mean <= high
                    held[candidate] = held.get(candidate, 0) + inside
            cells.append(" ".join(f"{100 * hits / samples:.0f}" for hits in held.values()))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
