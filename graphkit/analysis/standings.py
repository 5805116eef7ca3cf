"""How the runs of a page stand against one another: which is best, by how much, and whether that may be chance."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphkit.analysis.comparison_findings import change
from graphkit.analysis.evaluation_findings import ranked, unclear
from graphkit.analysis.findings import listed, two
from graphkit.analysis.paired import PairedResult
from graphkit.analysis.power import LEVEL
from graphkit.analysis.result_pairs import compare_results
from graphkit.errors import InputError
from graphkit.measures.registry import bounds_of, lower_is_better
from graphkit.records.words import counted
from graphkit.scoring.intervals import RESAMPLES, mean_interval
from graphkit.scoring.results import Evaluation

#: How many values all comparisons together draw at most; beyond it, each draws fewer resamples, but not below FEWEST.
DRAWS = 500_000_000
FEWEST_RESAMPLES = 1_000

#: With more runs than these, each is compared with the default baseline alone.
BASELINES = 10

EDGE_RECALL = "EdgeRecall"


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict against one baseline: a sentence, the difference with its interval, and what else is clear.

    ``change`` is the interval of the value if there is one run, and empty if nothing is compared; ``more`` is a further
    sentence, or empty.
    """

    text: str
    change: str = ""
    more: str = ""

    def __str__(self) -> str:
        return " ".join(
            part for part in (f"{self.text}: {self.change}." if self.change else self.text, self.more) if part
        )


@dataclass(frozen=True)
class Standings:
    """Several runs of one dataset, and the differences of each pair of them.

    Attributes
    ----------
    headline
        The first measure that all runs were scored by; None for one run, or without such a measure.
    order
        The numbers of the runs, the best by the headline first.
    differences
        By baseline and other run, the differences of each measure (the other run minus the baseline), failed questions
        included, corrected over these measures (Holm).
    resamples
        How many resamples each interval and test took.
    """

    results: tuple[Evaluation, ...]
    headline: str | None
    order: tuple[int, ...]
    differences: dict[tuple[int, int], dict[str, PairedResult]] = field(repr=False)
    resamples: int = RESAMPLES

    @property
    def baseline(self) -> int | None:
        """The baseline by default: the second best run, as in the summary of ``evaluate``; None without a headline."""
        return self.order[1] if self.headline is not None else None

    @property
    def baselines(self) -> tuple[int, ...]:
        """The runs that may be chosen as the baseline."""
        if self.baseline is None:
            return ()
        return tuple(range(len(self.results))) if len(self.results) <= BASELINES else (self.baseline,)

    def difference(self, baseline: int, run: int, measure: str) -> PairedResult | None:
        """Return the difference of a run to a baseline; None if no question was scored in both."""
        return self.differences.get((baseline, run), {}).get(measure)

    def verdict(self, baseline: int | None = None) -> RunVerdict:
        """Return the verdict: the best other run against a baseline, by default the second best run."""
        base = self.baseline if baseline is None else baseline
        if len(self.results) == 1:
            return of_one(self.results[0])
        if self.headline is None or base is None:
            return RunVerdict(f"{counted(len(self.results), 'run')} without a measure that all were scored by.")
        best = next(run for run in self.order if run != base)
        found = self.difference(base, best, self.headline)
        if found is None:
            return RunVerdict(f"{self._values(best, base)}; no question was scored in both.")
        more = " ".join(part for part in (_doubt(found), self._behind(base)) if part)
        if unclear(found):
            return RunVerdict(
                f"{self._name(best)} and {self._name(base)} don't clearly differ: {self._both(best, base)}",
                _change(found),
                more,
            )
        return RunVerdict(self._values(best, base), _change(found), more)

    def _behind(self, base: int) -> str:
        """Return a sentence on the other runs that are clearly worse than the baseline; empty if there are none."""
        assert self.headline is not None
        sign = -1 if lower_is_better(self.headline) else 1
        others = [run for run in self.order if run != base]
        found = [(run, self.difference(base, run, self.headline)) for run in others[1:]]
        clear = [
            f"{self._name(run)} ({_value(self.headline, self.results[run])})"
            for run, one in found
            if one is not None and unclear(one) is False and sign * one.delta < 0
        ]
        return f"Clearly behind {self._name(base)}: {listed(clear, BASELINES)}." if clear else ""

    def _name(self, run: int) -> str:
        return self.results[run].run

    def _both(self, run: int, base: int) -> str:
        """Return the values of two runs that were named before."""
        assert self.headline is not None
        both = " and ".join(_value(self.headline, self.results[number]) for number in (run, base))
        return f"they walk {both} of the required edges" if self.headline == EDGE_RECALL else f"{self.headline} {both}"

    def _values(self, run: int, base: int) -> str:
        assert self.headline is not None
        one, other = (_value(self.headline, self.results[number]) for number in (run, base))
        if self.headline == EDGE_RECALL:
            return f"{self._name(run)} walks {one} of the required edges, {self._name(base)} {other}"
        return f"{self._name(run)} has {self.headline} {one}, {self._name(base)} {other}"


def of_one(result: Evaluation) -> RunVerdict:
    """Return the verdict on a run without another: its first measure with a value, and the interval of it."""
    for measure, summary in result.measures.items():
        if summary.held(result.failed_as) is not None:
            value, found = _value(measure, result), None
            if len(sample := result.sample(measure)) > 1:
                found = mean_interval(sample, *bounds_of(measure))
            between = "" if found is None else f"[{two(found[0])}, {two(found[1])}]"
            what = f"walks {value} of the required edges" if measure == EDGE_RECALL else f"has {measure} {value}"
            return RunVerdict(f"{result.run} {what}", between) if between else RunVerdict(f"{result.run} {what}.")
    return RunVerdict(f"{result.run} isn't scored by any measure.")


def standings(results: Sequence[Evaluation], measures: Sequence[str]) -> Standings:
    """Compare each pair of runs by some measures; the results hold their rows."""
    found = ranked(results)
    headline, order = (None, range(len(results))) if found is None else (found[0], [*map(results.index, found[1])])
    pairs = [(base, run) for base in range(len(results)) for run in range(base + 1, len(results))]
    if len(results) > BASELINES:
        pairs = [(min(order[1], run), max(order[1], run)) for run in order if run != order[1]]
    resamples = resamples_for(len(pairs) * len(measures) * max(result.questions for result in results))
    differences: dict[tuple[int, int], dict[str, PairedResult]] = {}
    for base, run in pairs:
        one, other = results[base], results[run]
        shared = [name for name in measures if name in one.measures and name in other.measures]
        if shared:
            with contextlib.suppress(InputError):  # no question was scored in both
                compared = compare_results(
                    one.with_zeros(),
                    other.with_zeros(),
                    measures=shared,
                    movers=0,
                    resamples=resamples,
                    failed_as="unscored" if one.failed_as == "unscored" else "worst",
                )
                differences[base, run] = {each.measure: each for each in compared.with_failed}
                differences[run, base] = {each.measure: mirrored(each) for each in compared.with_failed}
    return Standings(tuple(results), headline, tuple(order), differences, resamples)


def resamples_for(values: int) -> int:
    """Return how many resamples each of many intervals takes, given the number of values in all of them together."""
    return max(FEWEST_RESAMPLES, min(RESAMPLES, DRAWS // max(values, 1)))


def mirrored(result: PairedResult) -> PairedResult:
    """Return a comparison with its runs swapped: the differences change their sign, the p-values stay."""
    return dataclasses.replace(
        result,
        first=result.second,
        second=result.first,
        delta=0.0 - result.delta,
        low=None if result.high is None else 0.0 - result.high,
        high=None if result.low is None else 0.0 - result.low,
        effect=None if result.effect is None else 0.0 - result.effect,
        wins=result.losses,
        losses=result.wins,
        accuracy=None,
    )


def clear(result: PairedResult) -> bool:
    """Return whether a difference is significant after the correction over the compared measures."""
    return result.p_holm < LEVEL


def _value(measure: str, result: Evaluation) -> str:
    value = result.measures[measure].held(result.failed_as)
    assert value is not None
    return f"{value:.0%}" if measure == EDGE_RECALL else two(value)


def _change(found: PairedResult) -> str:
    """Return a difference with its interval, without the mark of a doubt, which :func:`_doubt` says in words."""
    return change(dataclasses.replace(found, caution=None))


def _doubt(found: PairedResult) -> str:
    """Return why the interval may be too narrow as a sentence; empty if it isn't doubtful."""
    return f"{found.caution[0].upper()}{found.caution[1:]}." if found.caution else ""
