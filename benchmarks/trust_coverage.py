"""The coverage of the intervals of agreement and of calibrated accuracy.

Run ``python -m benchmarks.trust_coverage``; a first argument is the number of samples, a second one adds the bootstrap.

A person's labels and a judge's are drawn from worlds whose kappa, AC1, alpha and accuracy are known. Candidates for
coefficients: the normal interval of the large-sample variance, the percentile bootstrap over items, and what graphkit
takes, Wilson's interval at the effective sample size. A sample of which a candidate has no interval isn't counted.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from graphkit.analysis.estimates import Estimate
from graphkit.plugins.judging.trust.agreement import alpha, gwet, kappa
from graphkit.plugins.judging.trust.calibration import prediction_powered, rogan_gladen
from graphkit.scoring.score_intervals import normal_quantile, student_quantile

SAMPLES = 1_000
RESAMPLES = 299
SIZES = (15, 30, 60, 120)

Labels = Sequence[str]
Figure = Callable[[Labels, Labels], Estimate]
Bounds = tuple[float, float]

_random = numpy.random.default_rng(11)

#: How often a person gives each grade, and how far the judge follows the person and not a habit of the same shares.
WORLDS: dict[str, tuple[tuple[float, ...], float]] = {
    "2 even, kappa .4": ((0.5, 0.5), 0.4),
    "2 even, kappa .8": ((0.5, 0.5), 0.8),
    "2 of 80%, kappa .6": ((0.2, 0.8), 0.6),
    "2 of 90%, kappa .8": ((0.1, 0.9), 0.8),
    "4 grades, kappa .6": ((0.2, 0.1, 0.3, 0.4), 0.6),
    "4 grades, kappa .9": ((0.1, 0.1, 0.2, 0.6), 0.9),
}


def drawn(shares: Sequence[float], follows: float, items: int) -> tuple[list[str], list[str]]:
    """Return the labels of a person and of a judge."""
    person, habit = (_random.choice(len(shares), p=shares, size=items) for _ in range(2))
    judge = numpy.where(_random.random(items) < follows, person, habit)
    return [str(one) for one in person], [str(one) for one in judge]


def figures(kinds: int) -> dict[str, Figure]:
    """Return the coefficients that are looked at."""
    names = [str(kind) for kind in range(kinds)]
    found: dict[str, Figure] = {
        "kappa": lambda one, two: kappa(one, two, names),
        "AC1": lambda one, two: gwet(one, two, names),
        "alpha": lambda one, two: alpha(list(zip(one, two, strict=True)), order=names),
    }
    if kinds > 2:
        found["linear kappa"] = lambda one, two: kappa(one, two, names, "linear")
        found["ordinal alpha"] = lambda one, two: alpha(list(zip(one, two, strict=True)), "ordinal", names)
    return found


def candidates(figure: Figure, one: Labels, two: Labels, resampled: bool) -> Iterator[tuple[str, Bounds | None]]:
    """Yield the interval of each candidate for one sample."""
    found = figure(one, two)
    known = found.value is not None and found.low is not None and found.high is not None
    yield "ours", (found.low, found.high) if known else None  # type: ignore[misc]
    if known and found.shape is not None and found.value is not None:
        shape = found.shape
        worth = shape.effective * (student_quantile(found.size - 1) / normal_quantile()) ** 2
        spread = shape.share * (1 - shape.share) / worth
        reach = normal_quantile() * spread**0.5 / (1 - shape.base)
        yield "normal", (found.value - reach, found.value + reach)
    if resampled:
        values = []
        for _ in range(RESAMPLES):
            chosen = _random.integers(0, len(one), len(one))
            value = figure([one[place] for place in chosen], [two[place] for place in chosen]).value
            values += [] if value is None else [value]
        low, high = numpy.percentile(values, [2.5, 97.5]) if values else (0.0, 0.0)
        yield "bootstrap", (float(low), float(high)) if values else None


def coefficients(samples: int, resampled: bool) -> None:
    """Print the coverage of the coefficients' intervals, and their mean width, for each world and size."""
    for world, (shares, follows) in WORLDS.items():
        for name, figure in figures(len(shares)).items():
            truth = figure(*drawn(shares, follows, 20_000 if "alpha" not in name else 3_000)).value
            if "alpha" in name or name == "kappa":
                truth = follows  # whoever follows a person so often, and else has the same habit, has this kappa
            assert truth is not None
            for items in SIZES:
                held: dict[str, list[bool]] = defaultdict(list)
                widths: dict[str, list[float]] = defaultdict(list)
                missing = 0
                for _ in range(samples if "alpha" not in name else samples // 4):
                    one, two = drawn(shares, follows, items)
                    for candidate, bounds in candidates(figure, one, two, resampled and name == "kappa"):
                        if bounds is None:
                            missing += candidate == "ours"
                            continue
                        held[candidate].append(bounds[0] <= truth <= bounds[1])
                        widths[candidate].append(bounds[1] - bounds[0])
                text = ", ".join(
                    f"{candidate} {100 * numpy.mean(some):.1f}% ({numpy.mean(widths[candidate]):.2f})"
                    for candidate, some in held.items()
                )
                print(f"{world}: {name}, n = {items}: {text}; none: {missing}", flush=True)


#: The true accuracy, how often a judge calls a right answer right, and how often a wrong one wrong.
JUDGES = ((0.5, 0.9, 0.8), (0.8, 0.95, 0.7), (0.9, 0.9, 0.6), (0.6, 0.99, 0.95), (0.3, 0.8, 0.9))


def accuracies(samples: int) -> None:
    """Print the coverage of the intervals of calibrated accuracy, and their mean width beside the plain one."""
    for truth, sensitivity, specificity in JUDGES:
        for items, others in ((15, 85), (30, 170), (60, 240), (100, 900), (25, 5)):
            held: dict[str, list[bool]] = defaultdict(list)
            widths: dict[str, list[float]] = defaultdict(list)
            for _ in range(samples):
                right = _random.random(items + others) < truth
                judged = numpy.where(
                    right, _random.random(right.size) < sensitivity, _random.random(right.size) < 1 - specificity
                ).astype(float)
                person, own, rest = (
                    some.astype(float).tolist() for some in (right[:items], judged[:items], judged[items:])
                )
                found = {"PPI++": prediction_powered(person, own, rest).estimate}
                found["people alone"] = prediction_powered(person, own, []).estimate
                found["Rogan-Gladen"] = rogan_gladen(
                    int(judged.sum()),
                    judged.size,
                    (int((judged[:items] * right[:items]).sum()), int(right[:items].sum())),
                    (int(((1 - judged[:items]) * ~right[:items]).sum()), int((~right[:items]).sum())),
                ).estimate
                for name, estimate in found.items():
                    if estimate.low is None or estimate.high is None:
                        continue
                    held[name].append(estimate.low <= truth <= estimate.high)
                    widths[name].append(estimate.high - estimate.low)
            text = ", ".join(
                f"{name} {100 * numpy.mean(some):.1f}% ({numpy.mean(widths[name]):.2f}, {samples - len(some)} none)"
                for name, some in held.items()
            )
            print(f"accuracy {truth}, {sensitivity}/{specificity}, {items} of {items + others}: {text}", flush=True)


def main(arguments: Sequence[Any] = sys.argv) -> None:
    """Print all."""
    samples = int(arguments[1]) if len(arguments) > 1 else SAMPLES
    accuracies(samples)
    coefficients(samples, resampled=len(arguments) > 2)


if __name__ == "__main__":
    main()
