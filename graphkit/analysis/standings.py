"""How the runs of a page stand against one another: which is best, by how much, and whether that may be chance."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from graphkit.analysis.config import Config, family_of
from graphkit.analysis.findings import listed
from graphkit.analysis.pair_verdict import PairVerdict, family_in_words, in_family, mirrored, unanswered_in_words
from graphkit.analysis.paired import PairedResult
from graphkit.analysis.run_differences import result_differences
from graphkit.measures.registry import bounds_of, lower_is_better
from graphkit.records.words import counted, two
from graphkit.scoring.intervals import MANY, RESAMPLES, mean_interval
from graphkit.scoring.question_clusters import QuestionClusters
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
            part for part in (f"{self.text}, {self.change}." if self.change else self.text, self.more) if part
        )


@dataclass(frozen=True)
class Standings:
    """Several runs of one dataset, and the differences of each pair of them.

    Attributes
    ----------
    headline
        The measure that decides: the first of :meth:`graphkit.analysis.config.Config.deciding` by which some questions
        have a value in all runs. None for one run, or without such a measure.
    order
        The numbers of the runs, the best by the headline first.
    differences
        By baseline and other run, the differences of each measure (the other run minus the baseline), failed questions
        included, corrected over the measures and over all pairs of runs.
    tests
        How many measures and pairs of runs the correction covers.
    resamples
        How many resamples each interval and test took.
    weightless
        The measures that the configuration weighs with 0, by which there is no verdict.
    """

    results: tuple[Evaluation, ...]
    headline: str | None
    order: tuple[int, ...]
    differences: dict[tuple[int, int], dict[str, PairedResult]] = field(repr=False)
    tests: tuple[int, int] = (1, 1)
    resamples: int = RESAMPLES
    weightless: frozenset[str] = frozenset()

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

    @property
    def correction(self) -> str:
        """The comparisons over which p-values are corrected, in words."""
        return _corrected_over(*self.tests)

    def difference(self, baseline: int, run: int, measure: str) -> PairedResult | None:
        """Return the difference of a run to a baseline; None if no question was scored in both."""
        return self.differences.get((baseline, run), {}).get(measure)

    def pair(self, baseline: int, run: int) -> PairVerdict:
        """Return the verdict on two runs by the headline."""
        assert self.headline is not None
        one, other = self.results[baseline], self.results[run]
        found = self.difference(baseline, run, self.headline)
        return PairVerdict.of(one.run, other.run, found, one.questions, self.correction)

    def verdict(self, baseline: int | None = None) -> RunVerdict:
        """Return the verdict: the best other run against a baseline, by default the second best run."""
        base = self.baseline if baseline is None else baseline
        if len(self.results) == 1:
            return of_one(self.results[0], self.weightless)
        if self.headline is None or base is None:
            return RunVerdict(f"{incomparable(self.results)}.")
        best = next(run for run in self.order if run != base)
        found = self.pair(base, best)
        if found.result is None:
            return RunVerdict(f"{found.sentence()}.")
        more = " ".join(part for part in (_doubt(found), self._unanswered(base, best), self._behind(base)) if part)
        return RunVerdict(f"{found.claim()}: {found.values()}", found.change, more)

    def _unanswered(self, *runs: int) -> str:
        """Return a sentence on the questions that runs gave no answer to; empty without them, or if none counts."""
        some = [self.results[run] for run in runs]
        if some[0].failed_as == "unscored":
            return ""
        words = unanswered_in_words({one.run: one.unanswered for one in some}, some[0].questions)
        return f"{words}." if words else ""

    def _behind(self, base: int) -> str:
        """Return a sentence on the other runs that the baseline beats; empty if there are none."""
        others = [run for run in self.order if run != base][1:]
        beaten = [run for run in others if self.pair(base, run).winner == self.results[base].run]
        shown = [f"{self.results[run].run} ({two(self._mean(base, run))})" for run in beaten]
        return f"Clearly behind {self.results[base].run}: {listed(shown, BASELINES)}." if shown else ""

    def _mean(self, base: int, run: int) -> float | None:
        """Return the mean of a run over the questions that it is compared on."""
        found = None if self.headline is None else self.difference(base, run, self.headline)
        return None if found is None else found.second


def of_one(result: Evaluation, weightless: Collection[str] = ()) -> RunVerdict:
    """Return the verdict on a run without another: its first measure with a value and a weight, with the interval."""
    for measure in result.measures:
        if measure not in weightless and result.held(measure) is not None:
            value, found = _value(measure, result), None
            if len(sample := result.sample(measure)) > 1:
                found = mean_interval(sample, *bounds_of(measure))
            between = "" if found is None else f"[{two(found[0])}, {two(found[1])}]"
            what = f"walks {value} of the required edges" if measure == EDGE_RECALL else f"has {measure} {value}"
            return RunVerdict(f"{result.run} {what}", between) if between else RunVerdict(f"{result.run} {what}.")
    return RunVerdict(f"{result.run} isn't scored by any measure.")


def standings(results: Sequence[Evaluation], measures: Sequence[str], config: Config | None = None) -> Standings:
    """Compare each pair of runs by some measures and by those of the verdict; the results hold their rows."""
    found = ranked(results, config)
    headline, order = (None, range(len(results))) if found is None else (found[0], [*map(results.index, found[1])])
    pairs = [(base, run) for base in range(len(results)) for run in range(base + 1, len(results))]
    every = len(pairs)
    if len(results) > BASELINES:
        pairs = [(min(order[1], run), max(order[1], run)) for run in order if run != order[1]]
    family = _family(results, headline)
    names = list(dict.fromkeys([*measures, *family]))
    resamples = resamples_for(len(pairs) * len(names) * max(result.questions for result in results))
    differences: dict[tuple[int, int], dict[str, PairedResult]] = {}
    for base, run in pairs:
        some = differences_of_pair(results[base], results[run], names, pairs=every, resamples=resamples, family=family)
        if some:
            differences[base, run] = {each.measure: each for each in some}
            differences[run, base] = {each.measure: mirrored(each) for each in some}
    tests = max((in_family(some.values()) for some in differences.values()), default=1), max(every, 1)
    weightless = (config if config is not None else Config()).weightless
    return Standings(tuple(results), headline, tuple(order), differences, tests, resamples, weightless)


def differences_of_pair(
    first: Evaluation,
    second: Evaluation,
    measures: Sequence[str],
    *,
    pairs: int = 1,
    resamples: int = RESAMPLES,
    clusters: QuestionClusters | None = None,
    family: Sequence[str] = (),
) -> list[PairedResult]:
    """Return the differences of two of several runs (second minus first), corrected over measures and pairs of runs.

    The measures are those of ``family``, by default the usual ones.

    There are none if no question was scored in both. Where there are many pairs and many questions, nothing is drawn:
    see :func:`~graphkit.analysis.paired.compare_pairs`.
    """
    quick = pairs > 1 and first.questions > MANY
    shared = [name for name in measures if name in first.measures and name in second.measures]
    return result_differences(
        first.with_zeros(),
        second.with_zeros(),
        shared,
        clusters=clusters,
        resamples=0 if quick else resamples,
        failed_as="worst" if first.failed_as == "zero" else first.failed_as,
        family=family or family_of(shared_by([first, second])),
        pairs=pairs,
    )


def _family(results: Sequence[Evaluation], headline: str | None) -> list[str]:
    """Return the measures over which p-values are corrected, the one that decides among them."""
    names = family_of(shared_by(results))
    return names if headline is None or headline in names else [*names, headline]


def shared_by(results: Sequence[Evaluation]) -> list[str]:
    """Return the measures that all of some results hold, and that compare them by the same.

    Where one run never logs relations and another does, measures of relations compare more of the other.
    """
    names = [name for name in results[0].measures if all(name in one.measures for one in results)]
    return [name for name in names if len({one.refused(name) for one in results}) == 1]


@dataclass(frozen=True)
class Lead:
    """The best of several runs, the next best, and the verdict on the two."""

    first: Evaluation
    second: Evaluation
    verdict: PairVerdict


def leading(results: Sequence[Evaluation], config: Config | None = None) -> Lead | None:
    """Return the best two of several runs, and the verdict on them, which is that of their :class:`Standings`.

    Runs that were scored by different gold can't be compared, nor runs without a common question.
    """
    results = list({result.run: result for result in results}.values())  # a file may be named twice
    found = ranked(results, config)
    if found is None:
        return None
    measure, (first, second, *_) = found
    pairs = len(results) * (len(results) - 1) // 2
    clusters = None if first.clustered is None else first.clustered.clusters
    ordered = [one for one in results if one.run in (first.run, second.run)]
    names = _family(results, measure)
    some = differences_of_pair(ordered[0], ordered[1], names, pairs=pairs, clusters=clusters, family=names)
    result = next((one for one in some if one.measure == measure), None)
    tests = _corrected_over(in_family(some), pairs)
    return Lead(first, second, PairVerdict.of(ordered[0].run, ordered[1].run, result, first.questions, tests))


def incomparable(results: Sequence[Evaluation]) -> str:
    """Return why several runs have no ranking."""
    other = len({result.gold_hash for result in results}) > 1
    reason = "they were scored by different gold" if other else "no question has a value in all of them"
    return f"{counted(len(results), 'run')} can't be compared: {reason}"


def ranked(results: Sequence[Evaluation], config: Config | None = None) -> tuple[str, list[Evaluation]] | None:
    """Return the measure that decides between several runs, and the runs, the best by it first.

    It is the first in the order of the weights by which some questions have a value in all runs; the means are those
    over these questions. There is none for one run, and none for runs that were scored by different gold.
    """
    if len(results) < 2 or len({result.gold_hash for result in results}) > 1:
        return None
    chosen = config if config is not None else Config()
    for measure in chosen.deciding(shared_by(results)):
        values = [result.held_values(measure) for result in results]
        both = set(values[0]).intersection(*values[1:])
        if both:
            sign = -1 if lower_is_better(measure) else 1
            means = [sign * math.fsum(one[question] for question in both) / len(both) for one in values]
            order = sorted(range(len(results)), key=lambda place: (-means[place], place))
            return measure, [results[place] for place in order]
    return None


def resamples_for(values: int) -> int:
    """Return how many resamples each of many intervals takes, given the number of values in all of them together."""
    return max(FEWEST_RESAMPLES, min(RESAMPLES, DRAWS // max(values, 1)))


def _value(measure: str, result: Evaluation) -> str:
    value = result.measures[measure].held(result.failed_as)
    assert value is not None
    return f"{value:.0%}" if measure == EDGE_RECALL else two(value)


def _corrected_over(measures: int, pairs: int) -> str:
    """Return over how many measures and pairs of runs p-values are corrected, in words."""
    return family_in_words(measures) + (f" and {counted(pairs, 'pair')} of runs" if pairs > 1 else "")


def _doubt(found: PairVerdict) -> str:
    """Return why the runs don't clearly differ, and why the interval may be too narrow, as sentences."""
    doubts = [one for one in (found.why_unclear, found.caution) if one]
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in doubts)
