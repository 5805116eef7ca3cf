"""The 95% interval of a mean over questions that aren't independent: those of one cluster vary together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphkit.measures.registry import bounds_of
from graphkit.records.words import counted, two
from graphkit.scoring.intervals import DRAWN_TOGETHER, FEWEST_EQUAL, RESAMPLES, SEED, around_equal
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.score_intervals import CONFIDENCE, bounded_interval, student_quantile

#: With clusters that tell less than so many of one size, or fewer of another mean than most, an interval may cover the
#: true value in less than 95%: see the simulation in docs/statistics.md.
FEW_CLUSTERS = 20
FEW_APART = 6

ONE_CLUSTER = "all questions are one cluster"
NARROW = "the interval may be too narrow"
ALIKE_CLUSTERS = "all clusters have equal means, so nothing shows how far others may lie"


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
    def effective(self) -> float:
        """The number of clusters of one size that tell as much: the squared sum of sizes over that of their squares."""
        return float(self.sizes.sum()) ** 2 / float((self.sizes.astype(float) ** 2).sum())

    @property
    def mean(self) -> float:
        """The mean over all values."""
        return math.fsum(self.sums) / int(self.sizes.sum())

    @property
    def alike(self) -> bool:
        """Whether all clusters have the same mean up to rounding."""
        return bool((abs(self._moved) <= 1e-9 * self.sizes).all())

    @property
    def apart(self) -> int:
        """The number of clusters whose mean isn't the commonest one."""
        import numpy

        _, counts = numpy.unique((self.sums / self.sizes).round(9), return_counts=True)
        return self.clusters - int(counts.max())

    @property
    def error(self) -> float:
        """The standard error of the mean of at least two clusters, by a jackknife that leaves each of them out.

        With clusters of one size it is the cluster-robust one (Liang and Zeger 1986), and with one value in each the
        usual one. With uneven clusters the cluster-robust one is too small (MacKinnon, Nielsen and Webb 2023). The
        jackknife is at least that of CR2 (Bell and McCaffrey 2002).
        """
        left = self._moved / (self.sizes.sum() - self.sizes)
        return float(((self.clusters - 1) / self.clusters * (left**2).sum()) ** 0.5)

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom of the error of at least two clusters, each with equal values.

        The squared error is a quadratic form of normal values, and 2 in its squared variation are the degrees of
        freedom (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018): one fewer than clusters of one size, and far
        fewer if some clusters are much larger than others.
        """
        share = self.sizes / self.sizes.sum()
        # The form's matrix has the elements c_g c_h ([g = h] - share_g - share_h + even).
        even, weight = float((share**2).sum()), (share / (1 - share)) ** 2
        own = 1 - 2 * share + even
        first, second = float((weight * share).sum()), float((weight * share**2).sum())
        every = float(weight.sum())
        squares = even**2 * every**2 + 2 * every * second - 4 * even * every * first + 2 * first**2
        squares += float((weight**2 * (own**2 - (even - 2 * share) ** 2)).sum())
        return float((weight * own).sum()) ** 2 / squares

    @property
    def _moved(self) -> Any:
        return self.sums - self.sizes * self.mean


def without_interval(found: ClusterSums) -> str:
    """Return why such clusters have no interval."""
    if found.clusters == 1:
        return ONE_CLUSTER
    if found.clusters >= FEWEST_EQUAL:
        return ALIKE_CLUSTERS
    return f"too few clusters for an interval: {counted(found.clusters, 'cluster')}"


def few_clusters(clusters: int) -> str:
    """Return the sentence on an interval over few clusters."""
    return f"{NARROW}: {counted(clusters, 'cluster')}, fewer than {FEW_CLUSTERS}"


def cautioned(found: ClusterSums) -> str | None:
    """Return a sentence on why an interval over clusters may be too narrow, or None."""
    if found.alike:
        return ALIKE_CLUSTERS
    narrow, clusters = NARROW, counted(found.clusters, "cluster")
    if found.clusters < FEW_CLUSTERS:
        return few_clusters(found.clusters)
    if found.effective < FEW_CLUSTERS:
        return f"{narrow}: {clusters} that tell as much as {found.effective:.1f} of one size, fewer than {FEW_CLUSTERS}"
    if found.apart < FEW_APART:
        return f"{narrow}: {found.apart} of {clusters} have another mean than most, fewer than {FEW_APART}"
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

    These are Student's t with the standard error over clusters and Satterthwaite's degrees of freedom, and the BCa
    bootstrap of whole clusters. One cluster has no interval, nor have fewer than six of the same mean. If each question
    is a cluster, it is :func:`~graphkit.scoring.intervals.interval`.
    """
    found = ClusterSums.of(values, clusters)
    if found.clusters < 2 or found.alike:
        if found.clusters < FEWEST_EQUAL or span is None:
            return None, None
        return around_equal(found.mean, found.effective, span, confidence)
    low, high = _resampled(found, resamples, seed, confidence)
    most = math.inf if span is None else span
    return max(-most, low), min(most, high)


def clustered_mean_interval(
    values: Sequence[float],
    clusters: Sequence[int],
    lowest: float | None,
    highest: float | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """Return an interval of the mean of a measure over clusters, within the bounds of its values.

    As :func:`~graphkit.scoring.intervals.mean_interval`, it takes in the score interval between two bounds. None for
    one cluster, and for clusters of equal means of a measure without bounds.
    """
    found = ClusterSums.of(values, clusters)
    if found.clusters < 2:
        return None
    mean, same = found.mean, found.alike
    low = high = mean
    if lowest is not None and highest is not None and lowest < highest:
        variance = 0.0 if same else found.error**2
        low, high = bounded_interval(mean, variance, found.effective, lowest, highest, found.freedom)
    elif same:
        return None
    if not same:
        ends = _resampled(found, resamples, seed)
        low, high = min(low, ends[0]), max(high, ends[1])
    return low if lowest is None else max(low, lowest), high if highest is None else min(high, highest)


def _resampled(found: ClusterSums, resamples: int, seed: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the wider on each side of BCa and Student's t over clusters that aren't all alike."""
    import numpy
    from scipy import stats

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
    reach = student_quantile(found.freedom, confidence) * found.error
    return float(numpy.fmin(drawn.low, found.mean - reach)), float(numpy.fmax(drawn.high, found.mean + reach))


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """The mean of a measure over the questions that count, with its 95% interval over their clusters.

    Attributes
    ----------
    mean, questions
        The mean that gates check, and the number of questions behind it.
    low, high
        None if the clusters are too few, and ``reason`` then says so.
    caution
        A sentence on why the interval may be too narrow, or None.
    """

    mean: float
    questions: int
    clusters: int
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    caution: str | None = None

    @classmethod
    def of(cls, measure: str, values: Sequence[float], codes: Sequence[int]) -> ClusteredMean:
        """Return the mean of values that are given with the number of the cluster of each."""
        sums = ClusterSums.of(values, codes)
        found = cls(sums.mean, len(values), sums.clusters)
        ends = clustered_mean_interval(values, codes, *bounds_of(measure))
        if ends is None:
            return dataclasses.replace(found, reason=without_interval(sums))
        return dataclasses.replace(found, low=ends[0], high=ends[1], caution=cautioned(sums))

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.4f} ({self.reason})"
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]{' *' if self.caution else ''}"


@dataclass(frozen=True, slots=True)
class ClusteredMeans:
    """The clusters of a run's questions, and each measure over them."""

    clusters: QuestionClusters
    measures: Mapping[str, ClusteredMean]

    @classmethod
    def of(
        cls, clusters: QuestionClusters, measures: Iterable[str], values: Callable[[str], Mapping[str, float]]
    ) -> ClusteredMeans:
        """Return the means of measures over ``values(measure)``, which are those by question; of none there is none."""
        means = {}
        for name in measures:
            if held := values(name):
                means[name] = ClusteredMean.of(name, [*held.values()], clusters.codes([*held]))
        return cls(clusters, means)

    @property
    def sentence(self) -> str:
        """The clusters in words."""
        return self.clusters.sentence

    def interval(self, measure: str) -> tuple[float, float] | None:
        """Return the interval of a measure, if it has one."""
        found = self.measures.get(measure)
        return None if found is None or found.low is None or found.high is None else (found.low, found.high)

    def as_json(self) -> dict[str, Any]:
        """Return the clusters and the measures as outputs show them."""
        measures = {name: dataclasses.asdict(one) for name, one in self.measures.items()}
        return {**self.clusters.as_json(), "measures": measures}

    def in_words(self) -> str:
        """Return the first measure with its interval, and how many clusters are behind it."""
        for name, one in self.measures.items():
            interval = "no interval" if one.low is None or one.high is None else f"[{two(one.low)}, {two(one.high)}]"
            note = f" ({one.reason})" if one.reason else f" over {counted(one.clusters, 'cluster')}"
            return f"{name} {two(one.mean)} {interval}{note}{f'; {one.caution}' if one.caution else ''}"
        return "no measure has a value"
