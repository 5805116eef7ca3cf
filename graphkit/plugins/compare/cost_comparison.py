"""The quality of two runs against what they take: paired differences, the frontier, and whether the dearer run pays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.findings import digits, listed
from graphkit.analysis.multiple_testing import holm
from graphkit.analysis.pair_verdict import PairVerdict, sure
from graphkit.analysis.paired import Draws, PairedResult, compare_pairs
from graphkit.measures.registry import lower_is_better
from graphkit.plugins.compare.compared_runs import FIGURES, ComparisonSource, LostMeasure, RunUsage
from graphkit.records.bounds import beaten
from graphkit.records.words import counted, two
from graphkit.scoring.score_intervals import CONFIDENCE

#: The quantiles shown beside the means, whose values have heavy tails.
QUANTILES: Mapping[str, float] = {"median": 0.5, "p95": 0.95}

#: Why an interval of differences may be too narrow where there is no ratio.
NO_RATIO = "the interval may be too narrow: such figures have heavy tails, and a figure of 0 has no ratio"

#: How many questions a sentence names.
NAMED = 3


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """One figure of two runs over the questions that both answered and whose records state it.

    Attributes
    ----------
    result
        The paired difference of the means, second minus first; None if it isn't logged, and ``reason`` then says by
        whom.
    ratio
        The paired difference of the logarithms, whose interval holds where few questions take most of all; None if one
        run states 0 where the other doesn't. The ratio of a typical question is its exponential.
    quantiles
        Median and 95th percentile of both runs.
    logged
        The number of answered questions of each run whose records state it.
    silent, could
        The questions that both runs answered, whose record of the first run states it and that of the second doesn't,
        although others of the second do; and how many answered questions of both the first run states it for.
    beaten
        The runs that the other one dominates by the means of quality and this figure: as good for less, or better for
        as much. Means may be chance.
    """

    name: str
    unit: str
    result: PairedResult | None
    logged: tuple[int, int]
    beaten: tuple[str, ...] = ()
    reason: str | None = None
    ratio: PairedResult | None = None
    quantiles: Mapping[str, tuple[Quantile, Quantile]] = dataclasses.field(default_factory=dict)
    silent: tuple[str, ...] = ()
    could: int = 0

    @property
    def decisive(self) -> PairedResult | None:
        """The difference that decides which run takes more: of the logarithms, or of the means without a ratio."""
        return self.result if self.ratio is None else self.ratio

    @property
    def price(self) -> int:
        """1 or -1 if the second run clearly takes more or less, of a typical question and on average; else 0."""
        if self.result is None or self.decisive is None:
            return 0
        clear = sure(self.decisive)
        return clear if clear * self.result.delta > 0 else 0

    @property
    def sentence(self) -> str:
        """The figure of both runs, its difference, and what a typical question takes."""
        if self.result is None:
            return f"{self.name}: {self.reason}"
        one = self.result
        values = f"{digits(one.first)} to {digits(one.second)}{self.unit}"
        change = f"{_signed(one.delta)}{self.unit}"
        if self.ratio is not None:
            change += f", by a factor of {digits(math.exp(self.ratio.delta))} {_ends(self.ratio, _factor)}"
        else:
            change += f" {_ends(one, _signed)}"
        quantiles = (f"{name} {first} to {second}" for name, (first, second) in self.quantiles.items())
        return "; ".join(
            (f"{self.name}: {values} a question, {change} over {counted(one.questions, 'question')}", *quantiles)
        )

    def as_json(self, runs: tuple[str, str]) -> dict[str, Any]:
        """Return the figure as JSON."""
        return {
            "figure": self.name,
            "difference": None if self.result is None else dataclasses.asdict(self.result),
            "ratio": None if self.ratio is None else _as_ratio(self.ratio),
            "quantiles": {
                name: {run: dataclasses.asdict(one) for run, one in zip(runs, both, strict=True)}
                for name, both in self.quantiles.items()
            },
            "logged": dict(zip(runs, self.logged, strict=True)),
            "beaten": list(self.beaten),
            "reason": self.reason,
            "silent": list(self.silent),
        }

    def silence(self, first: str, second: str) -> str | None:
        """Return for which questions only the first run states the figure, in words; None if there are none.

        >>> FigureDifference("cost", "", None, (4, 2), silent=("q1", "q3"), could=4).silence("main", "mine")
        'cost: mine states none for 2 of 4 questions that main states it for (q1, q3)'
        """
        if not self.silent:
            return None
        asked = f"{len(self.silent)} of {counted(self.could, 'question')}"
        names = listed(self.silent, NAMED)
        return f"{self.name}: {second} states none for {asked} that {first} states it for ({names})"


@dataclass(frozen=True, slots=True)
class CostComparison:
    """Quality against latency, tokens and cost.

    Attributes
    ----------
    quality
        The difference of the first measure, failed questions included; None if no measure was compared.
    figures
        Those that decide first come first.
    """

    first: str
    second: str
    quality: PairedResult | None
    figures: tuple[FigureDifference, ...]

    @property
    def sentence(self) -> str:
        """Whether the dearer run pays, by the first figure that both runs log, and that isn't 0 throughout."""
        known = self._deciding
        if self.quality is None:
            return "nothing shows whether the dearer run pays: no measure of quality was compared"
        if known is None or known.result is None:
            return f"nothing shows whether the dearer run pays: {_absent(self.figures)}; {self._gained(self.second)}"
        taken, name = known.result, known.name
        quality, price = PairVerdict.of(self.first, self.second, self.quality, self.quality.questions), known.price
        better = quality.winner
        gain = better is not None
        if not price and not gain:
            both, gained = f"{self.second} and {self.first}", self._gained(self.second)
            return f"{both} don't clearly differ, neither in quality ({gained}) nor in {name}"
        if not price:
            assert better is not None
            return f"{better} pays: it is better ({self._gained(better)}) and doesn't clearly take more {name}"
        dearer, other = (self.second, self.first) if taken.delta > 0 else (self.first, self.second)
        more = f"{digits(abs(taken.delta))}{known.unit} more {name} a question than {other}"
        gained = self._gained(dearer)
        if not gain:
            return f"nothing shows that {dearer} pays: it takes {more}, and isn't clearly better ({gained})"
        if better == dearer:
            return f"{dearer} is better ({gained}) for {more}: neither dominates the other"
        return f"{dearer} doesn't pay: it takes {more}, and is worse ({gained})"

    def _gained(self, run: str) -> str:
        """Return by how much the quality of a run is higher than that of the other."""
        one, sign = self.quality, 1 if run == self.second else -1
        assert one is not None
        interval = f"no interval: {one.reason}"
        if one.low is not None and one.high is not None:
            low, high = sorted((sign * one.low, sign * one.high))
            interval = f"[{two(low, sign=True)}, {two(high, sign=True)}]"
        return f"{one.measure} {two(sign * one.delta, sign=True)} {interval}"

    @property
    def _deciding(self) -> FigureDifference | None:
        known = [one for one in self.figures if one.result is not None]
        spent = [one for one in known if one.result is not None and (one.result.first or one.result.second)]
        return next(iter(spent or known), None)

    def lines(self) -> Iterator[str]:
        """Yield a sentence a figure, and one on the frontier."""
        for one in self.figures:
            yield one.sentence
            if (silence := one.silence(self.first, self.second)) is not None:
                yield silence
        for run in (self.first, self.second):
            names = [one.name for one in self.figures if run in one.beaten]
            if names:
                yield f"frontier: by the means, {run} is dominated on quality and {', '.join(names)}"
        free = [one.name for one in self.figures if one.result is not None and not one.beaten]
        if free and self.quality is not None:
            yield f"frontier: by the means, neither run is dominated on quality and {', '.join(free)}"

    def lost(self) -> Iterator[LostMeasure]:
        """Yield the figures that records of the first run state, and none of the second."""
        for one in self.figures:
            if one.logged[0] and not one.logged[1]:
                yield LostMeasure(one.name, one.logged[0], "none of its records states it")

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --cost --json`` prints."""
        return {
            "measure": None if self.quality is None else self.quality.measure,
            "sentence": self.sentence,
            "quality": None if self.quality is None else dataclasses.asdict(self.quality),
            "figures": [one.as_json((self.first, self.second)) for one in self.figures],
        }


def compare_cost(source: ComparisonSource, quality: PairedResult | None, draws: Draws) -> CostComparison:
    """Compare what two runs take on the questions that both answered; p-values are corrected over the figures.

    Raises
    ------
    InputError
        The records of a run aren't at hand any more.
    """
    used = [RunUsage({name: {} for name in FIGURES}, ()) if one.usage is None else one.usage() for one in source.sides]
    figures = [_difference(name, source, quality, (used[0], used[1]), draws) for name in FIGURES]
    by_name, ratios = (
        _corrected([one for one in some if one is not None])
        for some in ([one.result for one in figures], [one.ratio for one in figures])
    )
    return CostComparison(
        *source.runs,
        quality,
        tuple(dataclasses.replace(one, result=by_name.get(one.name), ratio=ratios.get(one.name)) for one in figures),
    )


def _corrected(results: list[PairedResult]) -> dict[str, PairedResult]:
    """Return the differences by figure, with p-values corrected over the figures."""
    p_values = holm([one.p_value for one in results])
    return {one.measure: dataclasses.replace(one, p_corrected=p) for one, p in zip(results, p_values, strict=True)}


def _difference(
    name: str,
    source: ComparisonSource,
    quality: PairedResult | None,
    usage: tuple[RunUsage, RunUsage],
    draws: Draws,
) -> FigureDifference:
    runs, clusters = source.runs, source.clusters
    first, second = (one.figures[name] for one in usage)
    could = [one for one in first if one in usage[1].answered]
    silent = tuple(sorted(one for one in could if one not in second)) if second else ()
    found = FigureDifference(name, FIGURES[name], None, (len(first), len(second)), silent=silent, could=len(could))
    both = sorted(first.keys() & second.keys())
    if not both:
        never = [run for run, one in zip(runs, (first, second), strict=True) if not one]
        reason = f"not logged by {' and '.join(never)}" if never else "no question that both answered states it"
        return dataclasses.replace(found, reason=reason)
    values = [first[one] for one in both], [second[one] for one in both]
    codes = None if clusters is None else clusters.codes(both)
    result = compare_pairs(name, *values, **draws._asdict(), clusters=codes)
    lost: tuple[str, ...] = () if quality is None else _dominated(runs, quality, result)
    ratio = _ratio(name, values, draws, codes)
    if ratio is None:
        result = dataclasses.replace(result, caution=result.caution or NO_RATIO)
    quantiles = {
        label: (quantile(values[0], share, clusters is None), quantile(values[1], share, clusters is None))
        for label, share in QUANTILES.items()
    }
    return dataclasses.replace(found, result=result, beaten=lost, ratio=ratio, quantiles=quantiles)


def _dominated(runs: tuple[str, str], quality: PairedResult, taken: PairedResult) -> tuple[str, ...]:
    """Return the run that the other one dominates by the means of quality and of what it takes, if there is one."""
    sign = -1 if lower_is_better(quality.measure) else 1
    places = (sign * quality.first, taken.first), (sign * quality.second, taken.second)
    return tuple(run for run, own, other in zip(runs, places, places[::-1], strict=True) if beaten(own, [other]))


def _ratio(
    name: str, values: tuple[list[float], list[float]], draws: Draws, codes: list[int] | None
) -> PairedResult | None:
    """Return the paired difference of the logarithms; None if one value of a question is 0 and the other isn't.

    No ratio is taken to be larger than that of the largest and the smallest value.
    """
    pairs = [(one, two) for one, two in zip(*values, strict=True)]
    if any(min(pair) <= 0 < max(pair) or min(pair) < 0 for pair in pairs):
        return None
    stated = [value for pair in pairs for value in pair if value > 0]
    span = math.log(max(stated) / min(stated)) if stated else 0.0
    first, second = ([math.log(one) if one else 0.0 for one in some] for some in values)
    return compare_pairs(name, first, second, **draws._asdict(), clusters=codes, span=span or None)


def _as_ratio(ratio: PairedResult) -> dict[str, Any]:
    """Return the ratio of a typical question, second by first, as JSON."""
    ends = (None if end is None else math.exp(end) for end in (ratio.low, ratio.high))
    value, p_values = math.exp(ratio.delta), {"p_value": ratio.p_value, "p_corrected": ratio.p_corrected}
    return {"value": value, **dict(zip(("low", "high"), ends, strict=True)), **p_values, "caution": ratio.caution}


def _ends(result: PairedResult, written: Callable[[float], str]) -> str:
    if result.low is None or result.high is None:
        return f"(no interval: {result.reason})"
    return f"[{written(result.low)}, {written(result.high)}]{'*' if result.caution else ''}"


def _factor(logarithm: float) -> str:
    return digits(math.exp(logarithm))


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{digits(abs(value))}"


def _absent(figures: Iterable[FigureDifference]) -> str:
    return "; ".join(f"{one.name} {one.reason}" for one in figures if one.reason is not None)


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile by nearest rank, with the values between which the true one lies with 95% confidence.

    ``low`` or ``high`` is None if the values are too few to bound it on that side.
    """

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"{digits(self.value)} [{digits(self.low)}, {digits(self.high)}]"


def quantile(values: Sequence[float], share: float, independent: bool = True) -> Quantile:
    """Return a quantile of at least one value.

    The interval ends at two of the values in order: as many lie below the true quantile as a binomial distribution says
    (David and Nagaraja 2003, *Order Statistics*, 7.1). Values that aren't ``independent`` have none.

    >>> quantile(range(1, 11), 0.5)
    Quantile(value=5, low=2, high=9)
    """
    from scipy import stats

    ordered, size = sorted(values), len(values)
    value = ordered[max(0, math.ceil(share * size - 1e-9) - 1)]
    if not independent:
        return Quantile(value)
    tail = (1 - CONFIDENCE) / 2
    first, last = (int(stats.binom.ppf(one, size, share)) for one in (tail, 1 - tail))
    return Quantile(value, ordered[first - 1] if first else None, ordered[last] if last < size else None)
