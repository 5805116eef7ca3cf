"""The coverage of the intervals that graphkit prints: ``python -m benchmarks.coverage [SAMPLES] [TABLE...]``.

Samples are drawn, always the same ones, from worlds whose true value is known. A cell is the percentage of samples
whose interval holds it. From 10 questions on, at least 93% of the samples, less two standard errors of their number,
should be held, or carry a caution: ``*`` marks a cell where only cautions make it so, ``!`` one that is too sure, and
``(N)`` N% of samples without an interval.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy

from benchmarks.trust_coverage import drawn
from graphkit.analysis.estimates import Estimate
from graphkit.analysis.paired import Draws, compare_pairs
from graphkit.analysis.power import mcnemar_power
from graphkit.analysis.repetitions import components
from graphkit.plugins.compare.compared_runs import RunUsage
from graphkit.plugins.compare.cost_comparison import compare_cost
from graphkit.plugins.compare.sample_plans import planned
from graphkit.plugins.judging.trust.agreement import Metric, alpha, gwet, kappa
from graphkit.plugins.judging.trust.inflation import mean_difference
from graphkit.scoring.clustered_intervals import (
    ClusterSums,
    cautioned,
    clustered_mean_interval,
)
from graphkit.scoring.intervals import mean_caution, mean_interval
from tests.helpers.costs import spending

SAMPLES = 400
RESAMPLES = 299
ENOUGH = 0.93

Draw = Callable[[int], Any]


class Found(NamedTuple):
    """The interval of a sample, None if it has none, and its caution."""

    ends: tuple[float, float] | None
    caution: str | None = None

    def holds(self, value: float) -> bool:
        """Return whether the interval is there and holds a value."""
        return self.ends is not None and self.ends[0] - 1e-9 <= value <= self.ends[1] + 1e-9


Case = tuple[str, float, Sequence[int], Callable[[int], Found]]

_random = numpy.random.default_rng(7)


def cell(truth: float, samples: Sequence[Found], size: int) -> str:
    """Return the percentage of samples that hold the truth, marked as the module says."""
    known = [one for one in samples if one.ends is not None]
    missing = f" ({100 * (len(samples) - len(known)) / len(samples):.0f})" if len(known) < len(samples) else ""
    if not known:
        return f"–{missing}"
    held = numpy.mean([one.holds(truth) for one in known])
    warned = numpy.mean([one.holds(truth) or one.caution is not None for one in known])
    least = ENOUGH - 2 * (ENOUGH * (1 - ENOUGH) / len(known)) ** 0.5  # what 93% look like in so few samples
    mark = "" if held >= least else "*" if warned >= least or size < 10 else "!"
    return f"{100 * held:.0f}{mark}{missing}"


def _ends(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def _of(estimate: Estimate) -> Found:
    return Found(_ends(estimate.low, estimate.high), estimate.reason)


# Means ----------------------------------------------------------------------------------------------------------------


def _mean(values: Any) -> Found:
    """Return the interval of a mean; equal samples are computed once."""
    return _mean_of(tuple(sorted(values.tolist())))


@cache
def _mean_of(values: tuple[float, ...]) -> Found:
    return Found(mean_interval(values, 0.0, 1.0, resamples=RESAMPLES), mean_caution(values, 0.0, 1.0))


def _yes(share: float, size: int) -> Found:
    return _mean((_random.random(size) < share).astype(float))


def means() -> Iterator[Case]:
    """Yield means of values from 0 to 1: of yes-or-no values, and of others."""
    sizes = (5, 10, 20, 30, 50, 100, 200)
    for share in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98):
        yield f"yes or no, {share:g}", share, sizes, partial(_yes, share)
    nearly = 0.97 + 0.03 / 2
    yield (
        "97% ones, others anything",
        nearly,
        sizes,
        lambda n: _mean(numpy.where(_random.random(n) < 0.97, 1.0, _random.random(n))),
    )
    yield "thirds", 0.5, sizes, lambda n: _mean(_random.integers(0, 4, n) / 3)
    yield "skewed", 0.5 / 4.5, sizes, lambda n: _mean(_random.beta(0.5, 4, n))


# Differences ----------------------------------------------------------------------------------------------------------


def _difference(values: Any) -> Found:
    return _difference_of(tuple(sorted(values.tolist())))


@cache
def _difference_of(values: tuple[float, ...]) -> Found:
    found = compare_pairs("m", [0.0] * len(values), values, span=1.0, resamples=RESAMPLES)
    return Found(_ends(found.low, found.high), found.caution)


def _steps(values: Sequence[float], shares: Sequence[float]) -> Draw:
    return lambda n: _random.choice(values, p=shares, size=n)


def _stepped(draw: Draw, size: int) -> Found:
    return _difference(draw(size))


def differences() -> Iterator[Case]:
    """Yield paired differences from -1 to 1: of yes-or-no values, of thirds, and skewed ones."""
    sizes = (5, 10, 20, 30, 50, 100, 200)
    yes_or_no = {(0.1, 0.1): "no difference", (0.1, 0.4): "won 40%, lost 10%", (0.03, 0.07): "90% ties"}
    for (lost, won), name in yes_or_no.items():
        draw = _steps((-1.0, 0.0, 1.0), (lost, 1 - lost - won, won))
        yield f"yes or no, {name}", won - lost, sizes, partial(_stepped, draw)
    yield "none differs", 0.0, sizes, lambda n: _difference(numpy.zeros(n))
    yield "thirds", 0.0, sizes, lambda n: _difference((_random.integers(0, 4, n) - _random.integers(0, 4, n)) / 3)
    for lost, won in ((0.05, 0.2), (0.02, 0.2)):
        draw = _steps((-1.0, 0.0, lost / won), (lost, 1 - lost - won, won))
        name = f"-1 in {lost:.0%}, +{lost / won:g} in {won:.0%}"
        yield name, 0.0, sizes, partial(_stepped, draw)
    yield "skewed", 0.5 / 4.5, sizes, lambda n: _difference(_random.beta(0.5, 4, n))


QUALITY = compare_pairs("m", [0.0] * 6, [0.0] * 3 + [1.0] * 3, resamples=9)


def cost_of(first: Any, second: Any) -> Found:
    """Return the interval of the logarithm of a typical ratio."""
    some = [{f"q{n}": float(one) for n, one in enumerate(values)} for values in (first, second)]
    usage = [RunUsage({"cost": costs, "tokens": {}, "latency": {}}, costs) for costs in some]
    ratio = compare_cost(spending("a", "b", (usage[0], usage[1])), QUALITY, Draws(RESAMPLES, 1)).figures[0].ratio
    return Found(None) if ratio is None else Found(_ends(ratio.low, ratio.high), ratio.caution)


def costs() -> Iterator[Case]:
    """Yield costs with heavy tails, whose ratio is lognormal or has a Pareto tail."""
    sizes = (10, 20, 30, 50, 100)

    def lognormal(n: int) -> Found:
        first = _random.lognormal(5, 1.5, n)
        return cost_of(first, first * _random.lognormal(0.3, 1.0, n))

    yield "lognormal", 0.3, sizes, lognormal
    yield (
        "Pareto, independent",
        0.2,
        sizes,
        lambda n: cost_of(1 + _random.pareto(1.5, n), numpy.exp(0.2) * (1 + _random.pareto(1.5, n))),
    )


# Clusters -------------------------------------------------------------------------------------------------------------


def _sizes(even: bool, clusters: int) -> Any:
    """Return 10 questions a cluster, or 1 to 40."""
    if even:
        return numpy.full(clusters, 10)
    return numpy.clip(numpy.rint(_random.lognormal(1.8, 0.9, clusters)), 1, 40).astype(int)


def _within(mean: float, codes: Any) -> Any:
    """Return yes or no by clusters, whose shares of yes have a variance of .3 mean (1 - mean)."""
    share = _random.beta(mean * 0.7 / 0.3, (1 - mean) * 0.7 / 0.3, codes.max() + 1)
    return (_random.random(codes.size) < share[codes]).astype(float)


def clusters() -> Iterator[Case]:
    """Yield means and differences over clusters of 10 questions, or of 1 to 40."""
    counts = (10, 20, 30, 60)
    for even, name in ((True, "10 each"), (False, "1 to 40")):

        def mean(share: float, count: int, even: bool = even) -> Found:
            codes = numpy.repeat(numpy.arange(count), _sizes(even, count))
            values = _within(share, codes)
            ends = clustered_mean_interval(values.tolist(), codes.tolist(), 0.0, 1.0, resamples=RESAMPLES)
            return Found(ends, cautioned(ClusterSums.of(values, codes.tolist())))

        def none(count: int, even: bool = even) -> Found:
            codes = numpy.repeat(numpy.arange(count), _sizes(even, count))
            found = compare_pairs(
                "m", _within(0.3, codes), _within(0.3, codes), span=1.0, clusters=codes.tolist(), resamples=RESAMPLES
            )
            return Found(_ends(found.low, found.high), found.caution)

        for share in (0.5, 0.9, 0.97):
            yield f"mean {share:g}, {name}", share, counts, partial(mean, share)
        yield f"no difference, {name}", 0.0, counts, none


# Repetitions ----------------------------------------------------------------------------------------------------------


def repetitions() -> Iterator[Case]:
    """Yield the variances between and within questions over three repetitions of a good and of a middling system."""
    sizes = (10, 20, 50, 100)
    for mean, alike in ((0.97, 0.5), (0.97, 0.1), (0.9, 0.3), (0.6, 0.4)):

        def variance(place: int, n: int, mean: float = mean, alike: float = alike) -> Found:
            weight = (1 - alike) / alike
            right = _random.beta(mean * weight, (1 - mean) * weight, n)
            values = (_random.random((n, 3)) < right[:, None]).astype(float).tolist()
            _, between, within, _ = components(values, 0.0, 1.0, resamples=RESAMPLES)
            one = (between, within)[place]
            return Found(_ends(one.low, one.high))

        every = mean * (1 - mean)
        name = f"right {mean:.0%}, {alike:.0%} of the variance between"
        yield f"between: {name}", every * alike, sizes, partial(variance, 0)
        yield f"within: {name}", every * (1 - alike), sizes, partial(variance, 1)


# Judges ---------------------------------------------------------------------------------------------------------------


@cache
def _excess_of(more: int, less: int, size: int) -> Found:
    same = [0.0] * (size - more - less)
    return _of(mean_difference([0.0] * more + [1.0] * less + same, [1.0] * more + [0.0] * less + same, 1.0))


def judges() -> Iterator[Case]:
    """Yield inflation of yes-or-no grades, kappa, AC1 and alpha, also of judges that nearly always agree."""
    sizes = (10, 15, 30, 60, 120)
    for right, missed, passed in ((0.9, 0.02, 0.0), (0.95, 0.0, 0.3), (0.9, 0.1, 0.5)):

        def excess(n: int, right: float = right, missed: float = missed, passed: float = passed) -> Found:
            person, chance = _random.random(n) < right, _random.random(n)
            judge = numpy.where(person, chance >= missed, chance < passed)
            return _excess_of(int((judge > person).sum()), int((judge < person).sum()), n)

        truth = (1 - right) * passed - right * missed
        yield f"inflation {truth:+.3f} of {right:.0%}", truth, sizes, excess
    for shares, follows in (((0.5, 0.5), 0.95), ((0.1, 0.9), 0.95), ((0.2, 0.8), 0.6), ((0.25,) * 4, 0.9)):
        names = [str(place) for place in range(len(shares))]
        named = f"{len(shares)} grades, {follows:g}" + ("" if len({*shares}) == 1 else f", {max(shares):.0%} of one")

        def agreed(
            figure: Callable[..., Estimate], n: int, shares: Sequence[float] = shares, follows: float = follows
        ) -> Found:
            return _of(figure(*drawn(shares, follows, n)))

        metric: Metric = "ordinal" if len(shares) > 2 else "nominal"
        coefficients: dict[str, Callable[..., Estimate]] = {
            "kappa": partial(kappa, categories=names),
            f"{metric} alpha": partial(_alpha, metric=metric, names=names),
            "AC1": partial(gwet, categories=names),
        }
        for name, figure in coefficients.items():
            known = gwet(*drawn(shares, follows, 100_000), names).value if name == "AC1" else follows
            assert known is not None
            yield f"{name}: {named}", known, sizes, partial(agreed, figure)


def _alpha(one: Sequence[str], two: Sequence[str], metric: Metric, names: Sequence[str]) -> Estimate:
    return alpha([*zip(one, two, strict=True)], metric, names)


# Power ----------------------------------------------------------------------------------------------------------------

#: The share of questions that differ, the true difference of the pilot, and the one that is planned for.
PILOTS = ((0.3, 0.1, 0.15), (0.5, 0.1, 0.2), (0.15, 0.05, 0.1))


def power_row(differing: float, true: float, wanted: float, sizes: Sequence[int], samples: int) -> Iterator[str]:
    """Yield a cell a size: the mean exact power in percent of planned samples, and at the detectable difference."""
    won, lost = (differing + true) / 2, (differing - true) / 2
    for size in sizes:
        plans, found = [], []
        for _ in range(samples):
            values = _random.choice((-1.0, 0.0, 1.0), p=(lost, 1 - differing, won), size=size)
            first, second = ((values == one).astype(float).tolist() for one in (-1, 1))
            result = compare_pairs("m", first, second, span=1.0, resamples=9)
            [plan] = planned([result], wanted)
            if plan.needed_questions is not None and result.detectable is not None:
                plans.append(mcnemar_power(wanted, differing, plan.needed_questions))
                now = min(result.detectable, 1.0)
                found.append(mcnemar_power(now, max(now, differing), size))
        yield f"{100 * numpy.mean(plans):.0f} {100 * numpy.mean(found):.0f}"


TABLES: dict[str, Callable[[], Iterator[Case]]] = {
    "means": means,
    "differences": differences,
    "costs": costs,
    "clusters": clusters,
    "repetitions": repetitions,
    "judges": judges,
}


def main(samples: int = SAMPLES, names: Sequence[str] = (*TABLES, "power")) -> int:
    """Print the tables, and return the number of cells that are too sure."""
    sure = 0
    for name in names:
        if name == "power":
            sizes: Sequence[int] = (30, 60, 100, 200)
            print(f"\n| power: planned, detectable | {' | '.join(f'n = {size}' for size in sizes)} |")
            print(f"|---|{'---|' * len(sizes)}")
            for differing, true, wanted in PILOTS:
                row = power_row(differing, true, wanted, sizes, max(20, samples // 10))
                print(f"| {differing:.0%} differ, {wanted:g} wanted | {' | '.join(row)} |", flush=True)
            continue
        header = None
        for label, truth, sizes, draw in TABLES[name]():
            if header is None:
                header = f"\n| {name} | {' | '.join(f'n = {size}' for size in sizes)} |\n|---|{'---|' * len(sizes)}"
                print(header)
            cells = [cell(truth, [draw(size) for _ in range(samples)], size) for size in sizes]
            sure += sum("!" in one for one in cells)
            print(f"| {label} | {' | '.join(cells)} |", flush=True)
    print(f"\n{sure} cells are too sure")
    return sure


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else SAMPLES, given[1:] or (*TABLES, "power"))
