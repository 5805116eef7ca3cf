"""Comparing two runs measure by measure, beside the bare means of as many resamples and scipy's bootstrap."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any, TypeVar

import numpy
from scipy import stats

from benchmarks.results import Line, spaced, write
from graphkit.analysis.multiple_testing import DifferenceColumn, corrected
from graphkit.analysis.paired import PairedResult, compare_pairs
from graphkit.scoring.intervals import RESAMPLES, SEED
from graphkit.scoring.score_intervals import CONFIDENCE

QUESTIONS = 10_000
MEASURES = 12
#: scipy draws this many resamples at a time: all of them at once would take gigabytes.
BATCH = 100
#: A mean over resamples is off by more than this many standard errors once in millions.
ERRORS = 6

Pairs = dict[str, tuple[list[float], list[float]]]
Found = TypeVar("Found")


def values() -> Pairs:
    """Draw the values of both runs; the second differs on a twelfth of the questions by the first measure, up to all.

    Values are eighths, as a recall of eight edges is.
    """
    draw = numpy.random.default_rng(1)
    pairs = {}
    for number in range(MEASURES):
        first = draw.integers(0, 9, QUESTIONS) / 8
        moved = draw.random(QUESTIONS) < (number + 1) / MEASURES
        second = numpy.where(moved, draw.integers(0, 9, QUESTIONS) / 8, first)
        pairs[f"measure {number + 1}"] = first.tolist(), second.tolist()
    return pairs


def compared(pairs: Pairs) -> list[PairedResult]:
    """Compare each measure, and correct over all of them."""
    results = [compare_pairs(name, first, second) for name, (first, second) in pairs.items()]
    units = range(len(next(iter(pairs.values()))[0]))
    return list(
        corrected(results, [DifferenceColumn(units, differences(first, second)) for first, second in pairs.values()])
    )


def differences(first: list[float], second: list[float]) -> Any:
    """Return second minus first."""
    return numpy.asarray(second) - numpy.asarray(first)


def resampled(pairs: Pairs) -> list[Any]:
    """Return the mean of each resample, drawn one by one."""
    draw = numpy.random.default_rng(2)
    found = []
    for first, second in pairs.values():
        moved = differences(first, second)
        means = [moved[draw.integers(0, moved.size, moved.size)].mean() for _ in range(RESAMPLES)]
        found.append(numpy.asarray(means))
    return found


def bootstrapped(pairs: Pairs) -> list[tuple[float, float]]:
    """Return the intervals that scipy finds: the wider of its bootstrap and of Student's t."""
    found = []
    for first, second in pairs.values():
        moved = differences(first, second)
        draw = numpy.random.default_rng(SEED)
        result = stats.bootstrap(
            (moved,),
            numpy.mean,
            confidence_level=CONFIDENCE,
            n_resamples=RESAMPLES,
            batch=BATCH,
            method="BCa",
            rng=draw,
        )
        bounds, student = result.confidence_interval, stats.ttest_1samp(moved, 0).confidence_interval(CONFIDENCE)
        found.append((float(min(bounds.low, student.low)), float(max(bounds.high, student.high))))
    return found


def agree(pairs: Pairs, ours: list[PairedResult], means: list[Any], intervals: list[tuple[float, float]]) -> None:
    """Raise where the differences or the intervals are not the same."""
    for result, drawn, (low, high) in zip(ours, means, intervals, strict=True):
        first, second = pairs[result.measure]
        exact = fmean(second) - fmean(first)
        tolerance = ERRORS * float(numpy.std(drawn)) / math.sqrt(len(drawn))
        if not math.isclose(result.delta, exact, abs_tol=1e-9):
            raise RuntimeError(f"{result.measure}: graphkit says {result.delta}, the means say {exact}")
        if abs(result.delta - float(numpy.mean(drawn))) > tolerance:
            raise RuntimeError(f"{result.measure}: graphkit says {result.delta}, resamples {numpy.mean(drawn)}")
        if result.low is None or result.high is None:
            raise RuntimeError(f"{result.measure}: no interval")
        if not (math.isclose(result.low, low, abs_tol=1e-9) and math.isclose(result.high, high, abs_tol=1e-9)):
            raise RuntimeError(f"{result.measure}: graphkit says {result.low} to {result.high}, scipy {low} to {high}")


def timed(taken: list[float], work: Callable[[Pairs], Found], pairs: Pairs) -> Found:
    """Return what a call returns, and note how long it takes."""
    started = time.perf_counter()
    found = work(pairs)
    taken.append(time.perf_counter() - started)
    return found


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure the comparison, the bare means and scipy's bootstrap in turns."""
    pairs = values()
    few = {name: (first[:100], second[:100]) for name, (first, second) in pairs.items()}
    compared(few)  # to warm up
    ours: list[float] = []
    bare: list[float] = []
    peer: list[float] = []
    for _ in range(repeats):
        agree(pairs, timed(ours, compared, pairs), timed(bare, resampled, pairs), timed(peer, bootstrapped, pairs))
    own = median(ours)
    what = f"{MEASURES} measures, {spaced(QUESTIONS)} questions"
    beside = {"means of resamples, a numpy loop": bare, "scipy.stats.bootstrap (BCa), no test": peer}
    lines = [
        Line(what, f"{own:.1f} s", title, f"{median(other):.1f} s", f"{own / median(other):.1f} times the cost")
        for title, other in beside.items()
    ]
    if save:
        note = (
            f"Values in memory; {spaced(RESAMPLES)} resamples and as many random signs; median of {repeats} in turns."
        )
        write("Comparing", note, lines)
    return lines
