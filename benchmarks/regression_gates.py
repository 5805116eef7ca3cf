"""Count how often the gates of a comparison fail equal systems, and how often they see a loss: before, and now.

Two systems answer the same questions: by each measure a question has its own chance of each of four edges, and the
measures share most of it, as those of one traversal do (their differences correlate by about .7). Of equal systems each
failed gate is a false alarm; with failures each run fails on 2% of its questions, at random. Before: Holm over the
measures, failures of both runs as the worst value, and no more failures than the baseline.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from benchmarks.results import Line, write
from graphkit.analysis.multiple_testing import DifferenceColumn, holm, max_t
from graphkit.analysis.pair_verdict import WORSE, judged
from graphkit.analysis.paired import PairedResult, compare_pairs, randomisation_p
from graphkit.analysis.power import LEVEL
from graphkit.plugins.compare.comparison_gates import sign_test

SAMPLES = 300
RESAMPLES = 499
SEED = 39
QUESTIONS = (12, 30, 100)
MEASURES = (1, 4, 8)
FAILURES = (0.0, 0.02)
DROPS = (0.05, 0.1)


class World(NamedTuple):
    """The values of both runs, a row a measure, and the questions that each failed on."""

    first: Any
    second: Any
    failed: tuple[Any, Any]


def world(random: Any, questions: int, measures: int, failures: float, loss: float = 0.0) -> World:
    """Return the values of two runs; the second loses an edge of a question with the chance ``loss``."""
    chance = random.beta(1.5, 1.0, questions)

    def values(lost: Any) -> Any:
        shared = random.random((1, questions, 4))
        drawn = numpy.where(
            random.random((measures, questions, 4)) < 0.8, shared, random.random((measures, questions, 4))
        )
        return numpy.maximum(0.0, (drawn < chance[:, None]).mean(axis=2) - lost / 4)

    none, lost = numpy.zeros(questions), (random.random(questions) < loss).astype(float)
    failed = random.random(questions) < failures, random.random(questions) < failures
    return World(values(none), values(lost), failed)


def compared(one: World) -> list[PairedResult]:
    """Return the comparison as ``compare`` makes it, but for the bootstrap, which widens intervals.

    What the first run failed on isn't compared, and a failure of the second counts as 0.
    """
    left = ~one.failed[0]
    second = numpy.where(one.failed[1], 0.0, one.second)[:, left]
    results = [
        compare_pairs("EdgeRecall", [*a], [*b], resamples=0, span=1.0)
        for a, b in zip(one.first[:, left], second, strict=True)
    ]
    columns = [DifferenceColumn(range(int(left.sum())), b - a) for a, b in zip(one.first[:, left], second, strict=True)]
    found = max_t(columns, resamples=RESAMPLES)
    return [dataclasses.replace(result, p_corrected=p) for result, p in zip(results, found, strict=True)]


def now(one: World) -> bool:
    """Return whether ``--fail-on-regression`` fails."""
    alone = int((one.failed[0] & ~one.failed[1]).sum()), int((one.failed[1] & ~one.failed[0]).sum())
    more = alone[1] > alone[0] and sign_test(*alone) < LEVEL
    return more or any(judged(result) == WORSE for result in compared(one))


def before(one: World) -> bool:
    """Return whether it failed before."""
    first, second = (numpy.where(failed, 0.0, some) for failed, some in zip(one.failed, one[:2], strict=True))
    differences = second - first
    p_values = holm([randomisation_p(some, resamples=RESAMPLES) for some in differences])
    lost = any(p < LEVEL and some.mean() < 0 for p, some in zip(p_values, differences, strict=True))
    return lost or int(one.failed[1].sum()) > int(one.failed[0].sum())


def shares(samples: int, questions: int, measures: int, failures: float, loss: float = 0.0) -> tuple[float, float]:
    """Return the share of worlds in which the gate on regressions fails, before and now."""
    random = numpy.random.default_rng(SEED)
    worlds = [world(random, questions, measures, failures, loss) for _ in range(samples)]
    return sum(map(before, worlds)) / samples, sum(map(now, worlds)) / samples


def drops(samples: int, questions: int, measures: int) -> dict[str, float]:
    """Return the share of equal systems that fail each plain bound, and each bound that must be ruled out."""
    random = numpy.random.default_rng(SEED)
    found = [compared(world(random, questions, measures, 0.0)) for _ in range(samples)]
    kinds = {
        f"--fail-on-drop {bound:g}": [any(-one.delta > bound for one in some) for some in found] for bound in DROPS
    }
    kinds |= {
        f"--rule-out-drop {bound:g}": [any(one.low is None or -one.low > bound for one in some) for some in found]
        for bound in DROPS
    }
    return {kind: sum(failed) / samples for kind, failed in kinds.items()}


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Count false alarms of equal systems and the power for a loss; ``large`` draws 2,000 worlds."""
    samples, lines = 2_000 if large else SAMPLES, []
    for failures in FAILURES:
        for questions in QUESTIONS:
            for measures in MEASURES:
                old, new = shares(samples, questions, measures, failures)
                what = f"equal systems, {questions} questions, {measures} measures, {failures:.0%} failures: regression"
                lines.append(Line(what, f"{new:.1%}", "before", f"{old:.1%}", "", "at most 6%", new <= 0.06))
    for questions, loss in ((12, 0.95), (30, 0.5), (100, 0.25)):
        for measures in MEASURES:
            old, new = shares(samples, questions, measures, 0.0, loss)
            what = f"power, a loss of {loss / 4:.2f}, {questions} questions, {measures} measures: regression"
            lines.append(Line(what, f"{new:.1%}", "before", f"{old:.1%}", ""))
    for questions in QUESTIONS:
        for kind, share in drops(samples, questions, 4).items():
            lines.append(Line(f"equal systems, {questions} questions, 4 measures: {kind}", f"{share:.1%}", "", "", ""))
    if save:
        write("Gates of comparisons", f"Share of {samples} worlds in which the gate fails, with seed {SEED}.", lines)
    return lines
