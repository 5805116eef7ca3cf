"""Notes on a verdict over several measures: on how many a run is better, why some are unclear, what a mark means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphkit.analysis.findings import listed
from graphkit.analysis.pair_verdict import (
    BETTER,
    UNCLEAR,
    WORSE,
    PairVerdict,
    excludes_zero,
    family_in_words,
    in_family,
    judged,
)
from graphkit.analysis.paired import FEW_DIFFERENT, FEW_QUESTIONS, PairedResult
from graphkit.analysis.power import LEVEL
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import FEW_APART, FEW_CLUSTERS

#: The legends of the mark on an interval.
CAUTION = (
    f"* may be too narrow: fewer than {FEW_QUESTIONS} questions, "
    f"fewer than {FEW_DIFFERENT} that differ, all by the same, or so little that rare ones could turn it"
)
CLUSTER_CAUTION = (
    f"* may be too narrow: less than {FEW_CLUSTERS} clusters of one size would tell, "
    f"fewer than {FEW_APART} of another mean than most, fewer than {FEW_QUESTIONS} questions or {FEW_DIFFERENT} "
    "that differ, all by the same, or so little that rare ones could turn it"
)


def why_unclear(results: Sequence[PairedResult], shown: Callable[[str], str] = str) -> list[str]:
    """Return why differences are unclear although their intervals exclude 0: the correction, or the test itself."""
    some = [one for one in results if judged(one) == UNCLEAR and excludes_zero(one)]
    corrected = [shown(one.measure) for one in some if one.p_value < LEVEL]
    tested = [f"{shown(one.measure)} (p {one.p_value:.2f})" for one in some if one.p_value >= LEVEL]
    found = []
    if corrected:
        over = family_in_words(in_family(results))
        found.append(f"unclear after correction over {over}, though the interval excludes 0: {listed(corrected, 6)}")
    if tested:
        found.append(f"unclear by the randomisation test, though the interval excludes 0: {listed(tested, 6)}")
    return found


def legend(results: Iterable[PairedResult]) -> str | None:
    """Return what the mark on an interval means; None if no interval has one."""
    marked = [one for one in results if one.low is not None and one.caution]
    if not marked:
        return None
    return CAUTION if all(one.clusters is None for one in marked) else CLUSTER_CAUTION


def with_counts(
    verdict: PairVerdict, second: str, results: Sequence[PairedResult], shown: Callable[[str], str] = str
) -> str:
    """Return the verdict, and by how many of several measures the second run is better and worse."""
    if len(results) < 2:
        return verdict.sentence(shown)
    better, worse = ([shown(one.measure) for one in results if judged(one) == kind] for kind in (BETTER, WORSE))
    lost = f"{len(worse)} ({listed(worse)})" if worse else "none"
    of = counted(len(results), "measure")
    return f"{verdict.sentence(shown)}; {shown(second)} is better on {len(better) or 'none'} of {of}, worse on {lost}"
