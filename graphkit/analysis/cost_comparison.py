"""The quality of two runs against what they take: paired differences, the frontier, and whether the dearer run pays."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphkit.analysis.findings import digits, two
from graphkit.analysis.paired import PairedResult, compare_pairs
from graphkit.measures.registry import lower_is_better
from graphkit.records.frontier import beaten
from graphkit.records.structs import AnswerStruct
from graphkit.records.words import counted
from graphkit.scoring.question_clusters import QuestionClusters

#: The figures and their units, the one that decides first: money, else tokens, else time.
FIGURES: Mapping[str, str] = {"cost": "", "tokens": "", "latency": " ms"}

Usage = Mapping[str, Mapping[str, float]]


def usage_of(records: Iterable[AnswerStruct], questions: Collection[str]) -> Usage:
    """Return latency, tokens and cost of each answered question, as far as its record states them.

    Tokens are those of prompt and output together, and known only if both are.
    """
    found: dict[str, dict[str, float]] = {name: {} for name in FIGURES}
    for record in records:
        if record.error is not None or record.question_id not in questions:
            continue
        both = record.prompt_tokens, record.output_tokens
        tokens = None if both[0] is None or both[1] is None else both[0] + both[1]
        for name, value in (("cost", record.cost), ("tokens", tokens), ("latency", record.latency_ms)):
            if value is not None:
                found[name].setdefault(record.question_id, float(value))
    return found


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """One figure of two runs over the questions that both answered and whose records state it.

    Attributes
    ----------
    result
        The paired difference, second minus first; None if it isn't logged, and ``reason`` then says by whom.
    logged
        The number of answered questions of each run whose records state it.
    beaten
        The runs that the other one beats on both quality and this figure: as good for less, or better for as much.
    """

    name: str
    unit: str
    result: PairedResult | None
    logged: tuple[int, int]
    beaten: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def sentence(self) -> str:
        """The figure of both runs and its difference."""
        if self.result is None:
            return f"{self.name}: {self.reason}"
        one = self.result
        values = f"{digits(one.first)} to {digits(one.second)}{self.unit}"
        interval = f"no interval: {one.reason}"
        if one.low is not None and one.high is not None:
            interval = f"[{_signed(one.low)}, {_signed(one.high)}]{'*' if one.caution else ''}"
        over = counted(one.questions, "question")
        return f"{self.name}: {values} a question, {_signed(one.delta)}{self.unit} {interval} over {over}"


@dataclass(frozen=True, slots=True)
class CostComparison:
    """Quality against latency, tokens and cost.

    Attributes
    ----------
    quality
        The difference of the first measure, failed questions included.
    figures
        Those that decide first come first.
    """

    first: str
    second: str
    quality: PairedResult
    figures: tuple[FigureDifference, ...]

    @property
    def sentence(self) -> str:
        """Whether the dearer run pays, by the first figure that both runs log, and that isn't 0 throughout."""
        known = self._deciding
        if known is None or known.result is None:
            return f"nothing shows whether the dearer run pays: {_absent(self.figures)}; {self._gained(self.second)}"
        taken, name = known.result, known.name
        gain, price = _sign(self.quality), _sign(taken)
        gain *= -1 if lower_is_better(self.quality.measure) else 1
        better = self.second if gain > 0 else self.first
        if not price and not gain:
            both, gained = f"{self.second} and {self.first}", self._gained(self.second)
            return f"{both} don't clearly differ, neither in quality ({gained}) nor in {name}"
        if not price:
            return f"{better} pays: it is better ({self._gained(better)}) and doesn't clearly take more {name}"
        dearer, other = (self.second, self.first) if taken.delta > 0 else (self.first, self.second)
        more = f"{digits(abs(taken.delta))}{known.unit} more {name} a question than {other}"
        gained = self._gained(dearer)
        if not gain:
            return f"nothing shows that {dearer} pays: it takes {more}, and isn't clearly better ({gained})"
        if better == dearer:
            return f"{dearer} is better ({gained}) for {more}: neither beats the other"
        return f"{dearer} doesn't pay: it takes {more}, and is worse ({gained})"

    def _gained(self, run: str) -> str:
        """Return by how much the quality of a run is higher than that of the other."""
        one, sign = self.quality, 1 if run == self.second else -1
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
        for run in (self.first, self.second):
            names = [one.name for one in self.figures if run in one.beaten]
            if names:
                yield f"frontier: {run} is beaten on quality and {', '.join(names)}"
        free = [one.name for one in self.figures if one.result is not None and not one.beaten]
        if free:
            yield f"frontier: neither run is beaten on quality and {', '.join(free)}"

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --cost --json`` prints."""
        return {
            "measure": self.quality.measure,
            "sentence": self.sentence,
            "quality": dataclasses.asdict(self.quality),
            "figures": [
                {
                    "figure": one.name,
                    "difference": None if one.result is None else dataclasses.asdict(one.result),
                    "logged": {self.first: one.logged[0], self.second: one.logged[1]},
                    "beaten": list(one.beaten),
                    "reason": one.reason,
                }
                for one in self.figures
            ],
        }


class Draws(NamedTuple):
    """The number of resamples behind an interval or a test, and their seed."""

    resamples: int
    seed: int


def compare_cost(
    runs: tuple[str, str],
    quality: PairedResult,
    usage: tuple[Usage, Usage],
    draws: Draws,
    clusters: QuestionClusters | None = None,
) -> CostComparison:
    """Compare what two runs take on the questions that both answered."""
    figures = tuple(_difference(name, runs, quality, usage, draws, clusters) for name in FIGURES)
    return CostComparison(*runs, quality, figures)


def _difference(
    name: str,
    runs: tuple[str, str],
    quality: PairedResult,
    usage: tuple[Usage, Usage],
    draws: Draws,
    clusters: QuestionClusters | None,
) -> FigureDifference:
    first, second = (one[name] for one in usage)
    found = FigureDifference(name, FIGURES[name], None, (len(first), len(second)))
    both = sorted(first.keys() & second.keys())
    if not both:
        silent = [run for run, one in zip(runs, (first, second), strict=True) if not one]
        reason = f"not logged by {' and '.join(silent)}" if silent else "no question that both answered states it"
        return dataclasses.replace(found, reason=reason)
    values = [first[one] for one in both], [second[one] for one in both]
    codes = None if clusters is None else clusters.codes(both)
    result = compare_pairs(name, *values, **draws._asdict(), clusters=codes)
    sign = -1 if lower_is_better(quality.measure) else 1
    places = (sign * quality.first, result.first), (sign * quality.second, result.second)
    lost = tuple(run for run, own, other in zip(runs, places, places[::-1], strict=True) if beaten(own, [other]))
    return dataclasses.replace(found, result=result, beaten=lost)


def _sign(result: PairedResult) -> int:
    """Return 1 or -1 for a difference whose interval excludes 0, and 0 for one that may be chance."""
    if result.low is None or result.high is None or result.low <= 0 <= result.high:
        return 0
    return 1 if result.delta > 0 else -1


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{digits(abs(value))}"


def _absent(figures: Iterable[FigureDifference]) -> str:
    return "; ".join(f"{one.name} {one.reason}" for one in figures if one.reason is not None)
