"""Gives the means of a run intervals over clusters of its questions."""

from __future__ import annotations

import dataclasses

from graphkit.measures.registry import bounds_of
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import ClusterSums, cautioned, clustered_mean_interval, without_interval
from graphkit.scoring.clustered_means import ClusteredMean, ClusteredMeans
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.results import Evaluation


def with_clusters(result: Evaluation, clusters: QuestionClusters) -> Evaluation:
    """Return a result that holds rows, with intervals over clusters of its questions."""
    means = {}
    for name in result.measures:
        values = result.held_values(name)
        if values:
            means[name] = _mean(name, [*values.values()], clusters.codes([*values]))
    return dataclasses.replace(result, clustered=ClusteredMeans(clusters, means))


def _mean(measure: str, values: list[float], codes: list[int]) -> ClusteredMean:
    sums = ClusterSums.of(values, codes)
    found = ClusteredMean(sums.mean, len(values), sums.clusters)
    ends = clustered_mean_interval(values, codes, *bounds_of(measure))
    if ends is None:
        return dataclasses.replace(found, reason=without_interval(sums))
    return dataclasses.replace(found, low=ends[0], high=ends[1], caution=cautioned(sums))


def in_words(result: Evaluation) -> str:
    """Return the first measure of a clustered run with its interval, and how many clusters are behind it."""
    assert result.clustered is not None
    for name, one in result.clustered.measures.items():
        interval = "no interval" if one.low is None or one.high is None else f"[{one.low:.2f}, {one.high:.2f}]"
        note = f" ({one.reason})" if one.reason else f" over {counted(one.clusters, 'cluster')}"
        return f"{result.run}: {name} {one.mean:.2f} {interval}{note}{f'; {one.caution}' if one.caution else ''}"
    return f"{result.run}: no measure has a value"
