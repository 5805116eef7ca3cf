"""The 95% interval of a mean over questions that aren't independent: those of one cluster vary together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphkit.scoring.intervals import CONFIDENCE, DRAWN_TOGETHER, FEWEST_EQUAL, RESAMPLES, SEED

#: With fewer clusters than these, or more than this share of the questions in one, an interval covers the true value in
#: less than 95%: see the simulation in docs/decisions.md.
FEW_CLUSTERS = 20
LARGEST_SHARE = 0.5

ONE_CLUSTER = "all questions are one cluster"


class ClusterSums(NamedTuple):
    """The sum of the values in each cluster, and their number."""

    sums: Any
    sizes: Any

    @classmethod
    def of(cls, values: Any, clusters: Sequence[int]) -> ClusterSums:
        """Return the sums of values whose clusters are given as numbers in the same order."""
        import numpy

        _, codes = numpy.unique(numpy.asarray(clusters), return_inverse=True)
        sums = numpy.bincount(codes, weights=numpy.asarray(values, dtype=float))
        return cls(sums, numpy.bincount(codes))

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return int(self.sizes.size)

    @property
    def mean(self) -> float:
        """The mean over all values."""
        return math.fsum(self.sums) / int(self.sizes.sum())

    @property
    def alike(self) -> bool:
        """Whether all clusters have the same mean up to rounding."""
        return bool((abs(self._moved) <= 1e-9 * self.sizes).all())

    @property
    def error(self) -> float:
        """The standard error of the mean of at least two clusters, by a jackknife that leaves each of them out.

        With clusters of one size it is the cluster-robust one (Liang and Zeger 1986), and with one value in each the
        usual one. With uneven clusters the cluster-robust one is too small (MacKinnon, Nielsen and Webb 2023).
        """
        left = self._moved / (self.sizes.sum() - self.sizes)
        return float(((self.clusters - 1) / self.clusters * (left**2).sum()) ** 0.5)

    @property
    def _moved(self) -> Any:
        return self.sums - self.sizes * self.mean


def without_interval(clusters: int) -> str:
    """Return why so few clusters have no interval."""
    return ONE_CLUSTER if clusters == 1 else f"too few clusters for an interval: {clusters} clusters"


def cautioned(found: ClusterSums) -> str | None:
    """Return a sentence on why an interval over clusters may be too narrow, or None."""
    largest, questions = int(found.sizes.max()), int(found.sizes.sum())
    if found.alike:
        return "all clusters have equal means, so nothing shows how far others may lie"
    if found.clusters < FEW_CLUSTERS:
        return f"the interval may be too narrow: {found.clusters} clusters, fewer than {FEW_CLUSTERS}"
    if largest > LARGEST_SHARE * questions:
        return f"the interval may be too narrow: one cluster has {largest} of {questions} questions"
    return None


def clustered_interval(
    values: Any,
    clusters: Sequence[int],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
    span: float | None = None,
) -> tuple[float | None, float | None]:
    """Return an interval of a mean: the wider on each side of two that take clusters, not questions, as independent.

    These are Student's t with the standard error over clusters and one degree of freedom fewer than clusters, and the
    BCa bootstrap of whole clusters. One cluster has no interval, nor have fewer than six of the same mean. If each
    question is a cluster, it is :func:`~graphkit.scoring.intervals.interval`.
    """
    import numpy
    from scipy import stats

    found = ClusterSums.of(values, clusters)
    mean = found.mean
    if found.clusters < 2 or found.alike:
        return (mean, mean) if found.clusters >= FEWEST_EQUAL else (None, None)
    drawn = stats.bootstrap(
        (found.sums, found.sizes.astype(float)),
        lambda sums, sizes, axis=-1: sums.sum(axis) / sizes.sum(axis),
        paired=True,
        vectorized=True,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, DRAWN_TOGETHER // found.clusters),
        method="BCa",
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    reach = float(stats.t.ppf((1 + confidence) / 2, found.clusters - 1)) * found.error
    most = math.inf if span is None else span
    return max(-most, float(numpy.fmin(drawn.low, mean - reach))), min(
        most, float(numpy.fmax(drawn.high, mean + reach))
    )
