"""Means with intervals over clusters of questions, as outputs show them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.scoring.question_clusters import QuestionClusters


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

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.4f} ({self.reason})"
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]{' *' if self.caution else ''}"


@dataclass(frozen=True, slots=True)
class ClusteredMeans:
    """The clusters of a run's questions, and each measure over them."""

    clusters: QuestionClusters
    measures: Mapping[str, ClusteredMean]

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
