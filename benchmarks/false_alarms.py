"""Count how often equal runs are told apart on a page: before the correction over pairs of runs, and with it.

The runs of a sample are equal: question by question their values come from one distribution. Each difference that a
page would call clear is a false alarm: that some run is clearly behind the second best one, a star on the board against
that baseline, or a star at any baseline. The rules before: an interval that excludes 0 for a run behind, and a p-value
below .05 for a star, of each pair alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from benchmarks.results import Line, write
from graphkit.analysis.multiple_testing import DifferenceColumn, corrected
from graphkit.analysis.pair_verdict import sure
from graphkit.analysis.paired import PairedResult, compare_pairs
from graphkit.analysis.power import LEVEL

SAMPLES = 300
RESAMPLES = 999
SEED = 38
QUESTIONS = 30
RUNS = (5, 10)
MEASURE = "EdgeRecall"
KINDS = ("a run clearly behind", "a star", "a star at some baseline")

Draw = Callable[[Any, int, int], Any]


def _outcomes(random: Any, runs: int, questions: int) -> Any:
    """Return right or wrong: each question has a share of runs that solve it, and half of them .5 on average."""
    return (random.random((runs, questions)) < random.beta(1, 1, questions)).astype(float)


def _recalls(random: Any, runs: int, questions: int) -> Any:
    """Return shares of four edges, of which each question has its own chance."""
    return random.binomial(4, random.beta(0.5, 0.8, questions), (runs, questions)) / 4


WORLDS: dict[str, Draw] = {"right or wrong": _outcomes, "quarters": _recalls}


def alarms(values: Any) -> dict[str, tuple[bool, bool]]:
    """Return which false alarms the values of runs raise, before and after the correction over pairs of runs."""
    runs = len(values)
    pairs = list(itertools.combinations(range(runs), 2))
    found = {
        (one, other): compare_pairs(MEASURE, [*values[one]], [*values[other]], resamples=RESAMPLES, span=1.0)
        for one, other in pairs
    }
    after = {
        (one, other): corrected(
            [result],
            [DifferenceColumn(range(values.shape[1]), values[other] - values[one])],
            pairs=len(pairs),
            resamples=RESAMPLES,
        )[0]
        for (one, other), result in found.items()
    }
    order = sorted(range(runs), key=lambda run: -values[run].mean())
    base = order[1]
    stars = [pair for pair, result in found.items() if result.p_value < LEVEL]
    starred = [pair for pair, result in after.items() if sure(result)]
    behind = [(min(base, run), max(base, run)) for run in order[2:]]
    return {
        KINDS[0]: (
            any(_excludes_zero(found[pair]) and _worse(found[pair], pair, base) for pair in behind),
            any(sure(after[pair]) and _worse(after[pair], pair, base) for pair in behind),
        ),
        KINDS[1]: (any(base in pair for pair in stars), any(base in pair for pair in starred)),
        KINDS[2]: (bool(stars), bool(starred)),
    }


def _excludes_zero(result: PairedResult) -> bool:
    return result.low is not None and result.high is not None and not result.low <= 0 <= result.high


def _worse(result: PairedResult, pair: tuple[int, int], base: int) -> bool:
    """Return whether the run beside the baseline is the worse one of a pair."""
    return (result.delta < 0) == (pair[0] == base)


def shares(draw: Draw, runs: int, samples: int = SAMPLES, questions: int = QUESTIONS) -> dict[str, tuple[float, float]]:
    """Return the share of samples with each false alarm, before and after the correction."""
    random = numpy.random.default_rng(SEED)
    counts = {kind: [0, 0] for kind in KINDS}
    for _ in range(samples):
        for kind, raised in alarms(draw(random, runs, questions)).items():
            for place, one in enumerate(raised):
                counts[kind][place] += one
    return {kind: (before / samples, after / samples) for kind, (before, after) in counts.items()}


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Count the false alarms of each number of runs and each kind of values; ``large`` draws four times as many."""
    samples = SAMPLES * (4 if large else 1)
    lines = []
    for name, draw in WORLDS.items():
        for runs in RUNS:
            for kind, (before, after) in shares(draw, runs, samples).items():
                what = f"{runs} equal runs, {QUESTIONS} questions, {name}: {kind}"
                bar = "at most 5%", after <= LEVEL
                lines.append(Line(what, f"{after:.1%}", "each pair alone", f"{before:.1%}", "", *bar))
    if save:
        write("False alarms among equal runs", f"Share of {samples} samples, with seed {SEED}.", lines)
    return lines
