"""The comparison of two runs: the differences of each measure, what wasn't compared, and the questions that moved."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from graphkit.analysis.findings import listed
from graphkit.analysis.pair_verdict import WORSE, PairVerdict, family_in_words, in_family, judged, unanswered_in_words
from graphkit.analysis.paired import Draws, PairedResult
from graphkit.analysis.run_differences import Values
from graphkit.analysis.scales import largest_difference
from graphkit.measures.registry import lower_is_better
from graphkit.plugins.compare.changed_gold import GoldDifference
from graphkit.plugins.compare.compared_runs import ComparisonSource, LostMeasure, RunFacts
from graphkit.plugins.compare.cost_comparison import CostComparison, compare_cost
from graphkit.plugins.compare.sample_plans import SamplePlan, planned
from graphkit.plugins.compare.verdict_notes import legend, why_unclear, with_counts
from graphkit.records.bounds import equal
from graphkit.records.notebook_html import Drawn, bar, block
from graphkit.records.option_values import By
from graphkit.records.unanswered import FailedAs
from graphkit.records.words import counted, short_shas, two
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.slices import overlap_in_words

if TYPE_CHECKING:
    from graphkit.analysis.explanations import Explanation

#: How the reason begins why a question is incomplete whose record the baseline answered.
UNLOGGED = "not logged: "

#: How many questions a sentence names.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of both runs over the questions of one group; ``name`` is None for all questions."""

    name: str | None
    results: tuple[PairedResult, ...]


@dataclass(frozen=True, slots=True)
class Mover:
    """A question that moved. Only the second run traversed the gold edges ``found``, only the first those ``lost``."""

    question: str
    measure: str
    first: float
    second: float
    found: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def delta(self) -> float:
        """The difference, second minus first."""
        return self.second - self.first


class Incomplete(NamedTuple):
    """A question that isn't compared, or not by some measures, since the baseline lacks a value, and why it does."""

    question: str
    reason: str


class Loss(NamedTuple):
    """A question on which the second run is worse, and the first measure by which it is."""

    question: str
    measure: str
    first: float
    second: float


@dataclass(frozen=True)
class RunComparison:
    """Two runs over the same questions; every difference is second minus first.

    Attributes
    ----------
    source
        Both runs as they were compared.
    by
        What the groups but the first are by, if requested.
    left_out, unscored
        For each measure, the number of questions that only one of the runs was scored on, and that neither was: they
        are not compared. A measure without a common question is in no group, and if all are lost, there is no result.
    warnings
        Sentences about missing records and outdated data.
    lost
        The measures by which the first run was scored and the second never, and why.
    different_gold
        The questions whose gold differs between the runs; measures that depend on it aren't compared on them.
    with_failed
        The measures over all questions, pairs with one failed run included: the failed one counts as the worst value.
        Verdict and gates use these.
    primary
        The measure that decides alone, if one was named.
    incomplete
        The questions that the baseline has no value for, by name.
    lacking
        By measure, the questions whose input the baseline doesn't log, though it does for others.
    scored
        By each measure, how many questions the first run was scored on.
    values
        Returns by measure and question the values of both runs as gates count them.
    groups_with_failed
        Returns the groups but the first, failures counted as in ``with_failed``.
    failed_as
        ``"unscored"`` if failures don't count; ``with_failed`` then equals the measures over all questions.
    not_logged
        By measure, how many questions count as the worst value in ``with_failed`` since a record doesn't log its input.
    losses
        The questions that both runs were scored on and on which the second is worse by any measure: those of the first
        measure first, the largest loss first.
    facts
        What is known of each run beside its values.
    plan
        How many questions a difference of each measure needs, if requested.
    cost
        The quality against what the runs take, if requested.
    deciding
        The measures in the order in which they decide; see :meth:`graphkit.analysis.config.Config.deciding`.
    """

    source: ComparisonSource = field(repr=False, compare=False)
    groups: tuple[Group, ...]
    by: By | None
    movers: tuple[Mover, ...]
    left_out: Mapping[str, int]
    unscored: Mapping[str, int]
    warnings: tuple[str, ...]
    different_gold: tuple[str, ...]
    lost: tuple[LostMeasure, ...]
    with_failed: tuple[PairedResult, ...]
    failed_as: FailedAs
    not_logged: Mapping[str, int]
    losses: tuple[Loss, ...]
    facts: tuple[RunFacts, RunFacts]
    deciding: tuple[str, ...]
    scored: Mapping[str, int]
    primary: str | None
    incomplete: tuple[Incomplete, ...]
    lacking: Mapping[str, Set[str]]
    values: Callable[[], Mapping[str, Mapping[str, tuple[float, float]]]] = field(repr=False, compare=False)
    groups_with_failed: Callable[[], tuple[Group, ...]] = field(repr=False, compare=False)
    plan: tuple[SamplePlan, ...] = ()
    cost: CostComparison | None = None

    @property
    def first(self) -> str:
        """The name of the first run."""
        return self.source.first.name

    @property
    def second(self) -> str:
        """The name of the second run."""
        return self.source.second.name

    @property
    def dataset(self) -> str | None:
        """None if scores from files were compared."""
        return self.source.dataset

    @property
    def questions(self) -> int:
        """The number of questions of the dataset, or with a score of either run."""
        return self.source.questions

    @property
    def stale(self) -> tuple[str, ...]:
        """The questions whose gold is stale: neither run is scored on them."""
        return tuple(sorted(self.source.stale))

    @property
    def asked(self) -> int:
        """How many questions the first run was asked, without those with stale gold."""
        return self.questions - len(self.source.stale)

    @property
    def failed(self) -> tuple[int, int]:
        """How many questions each run failed on or has no record for, without those with stale gold."""
        return len(self.source.first.failed), len(self.source.second.failed)

    @property
    def failed_alone(self) -> tuple[int, int]:
        """How many questions only the first and only the second run failed on."""
        before, after = self.source.first.failed, self.source.second.failed
        return len(before - after), len(after - before)

    @property
    def most_failed(self) -> tuple[int, int]:
        """How many questions each run failed on in the repetition that failed on most."""
        before, after = self.source.first.most_failed, self.source.second.most_failed
        return self.failed if before is None or after is None else (before, after)

    @property
    def clusters(self) -> QuestionClusters | None:
        """The clusters of the questions that intervals and tests take as independent; None if each question does."""
        return self.source.clusters

    @property
    def gold_change(self) -> GoldDifference | None:
        """How the gold differs from the baseline's, if each run has a dataset of its own."""
        return self.source.gold_change

    @cached_property
    def apart(self) -> dict[str, tuple[float, int]]:
        """By measure, the mean over the questions that only the second run was asked, and their number."""
        return {name: (math.fsum(some) / len(some), len(some)) for name, some in self.source.apart.items() if some}

    @cached_property
    def repeated(self) -> dict[str, str]:
        """For each run that stands for several repetitions of a system, a sentence on these."""
        deciding = None if self.headline is None else self.headline.measure
        runs = self.source.first, self.source.second
        return {one.name: one.sentence(deciding) for one in runs if one.sentence is not None}

    @cached_property
    def repetition_of(self) -> dict[str, str]:
        """If the second run stands for several repetitions, what commands call the one that lost most of each question.

        The one that is worst of all stands under the empty text.
        """
        deciding = None if self.headline is None else self.headline.measure
        return _worst_repetitions(self.losses, deciding, self.source.second.repetitions)

    def scope(self) -> list[str]:
        """Return sentences on what is compared: how gold differs, what the baseline lacks, what only one was asked."""
        found = [*self.repeated.values(), *([self.gold_change.sentence] if self.gold_change else [])]
        if self.incomplete:
            found.append(
                f"{self.first} lacks {counted(len(self.incomplete), 'question')}, not compared: {self._lacks()}"
            )
        if self.source.baseline and self.failed_as != "unscored":
            gone = sum(not one.reason.startswith(UNLOGGED) for one in self.incomplete)
            words = unanswered_in_words(
                {self.first: gone, self.second: self.failed_alone[1]}, self.questions, self.first
            )
            found += [words] if gone else []
        if self.apart:
            asked = counted(max(count for _, count in self.apart.values()), "question")
            means = [f"{name} {two(mean)}" for name, (mean, _) in self.apart.items()]
            found.append(f"{self.second} alone was asked {asked}, without weight here: {listed(means, NAMED)}")
        return found

    def _lacks(self) -> str:
        """Return the questions that the baseline lacks, a reason behind the last of those that share it."""
        reasons: dict[str, list[str]] = {}
        for one in self.incomplete[:NAMED]:
            reasons.setdefault(one.reason, []).append(one.question)
        more = len(self.incomplete) - NAMED
        shown = "; ".join(f"{', '.join(some)} ({why})" for why, some in reasons.items())
        return f"{shown} and {more} more" if more > 0 else shown

    def named(self, second: str, question: str = "") -> str:
        """Return what a command names to look at the second run: itself, or the repetition that lost most."""
        return self.repetition_of.get(question) or self.repetition_of.get("", second)

    def losses_by(self, measure: str) -> list[Loss]:
        """Return the questions on which the second run is worse by a measure, as gates count them, largest first."""
        sign = -1 if lower_is_better(measure) else 1
        pairs = self.values().get(measure, {}).items()
        found = [
            Loss(question, measure, first, second)
            for question, (first, second) in pairs
            if sign * (first - second) > 0 and not equal(first, second)
        ]
        return sorted(found, key=lambda one: (-abs(one.second - one.first), one.question))

    def lost_in_words(self) -> list[str]:
        """Return a sentence for each lost measure."""
        return [one.in_words(self.first, self.second) for one in self.lost]

    def with_plan(self, difference: float) -> RunComparison:
        """Return the comparison with the number of questions that a difference of each measure needs.

        Raises
        ------
        InputError
            The difference isn't above 0.
        """
        return dataclasses.replace(self, plan=planned(self.with_failed, difference))

    def with_cost(self, draws: Draws) -> RunComparison:
        """Return the comparison with the cost of both runs, whose records are read.

        Raises
        ------
        InputError
            The file of a run is gone or has changed, so that nothing says what it took.
        """
        cost = compare_cost(self.source, self.headline, draws)
        return dataclasses.replace(self, cost=cost, lost=(*self.lost, *cost.lost()))

    def with_facts(self) -> RunComparison:
        """Return the comparison with facts that take time to read: missing values, and what the runs took."""
        measures = [*(one.measure for one in self.overall), *(one.measure for one in self.lost), *self.unscored]
        first, second = (
            facts if run.read_facts is None else run.read_facts(dict.fromkeys(measures))
            for run, facts in zip((self.source.first, self.source.second), self.facts, strict=True)
        )
        return dataclasses.replace(self, facts=(first, second))

    @property
    def explainer(self) -> Callable[[str], Explanation] | None:
        """The function that explains a question of the second run; None if its records aren't at hand."""
        explain = self.source.second.explain
        return None if explain is None else lambda question: explain(self.named("", question), question)

    @property
    def overall(self) -> tuple[PairedResult, ...]:
        """The measures over all questions."""
        return self.groups[0].results

    def regressions(self) -> list[PairedResult]:
        """Return the measures on which the second run is significantly worse, failed questions included."""
        return [one for one in self.with_failed if judged(one) == WORSE]

    @staticmethod
    def gain(result: PairedResult) -> float:
        """Return by how much the second run is better: the difference, negated if less is better."""
        return result.delta * (-1 if lower_is_better(result.measure) else 1)

    def failures(self, result: PairedResult) -> int:
        """Return how many pairs of a result of ``with_failed`` count a failed question."""
        return result.questions - next((one.questions for one in self.overall if one.measure == result.measure), 0)

    def left_out_unfailed(self) -> dict[str, int]:
        """Return ``left_out`` without the questions that one run failed on, which ``with_failed`` counts."""
        counted = {one.measure: self.failures(one) for one in self.with_failed}
        return {name: rest for name, count in self.left_out.items() if (rest := count - counted.get(name, 0)) > 0}

    @property
    def headline(self) -> PairedResult | None:
        """The difference by which the verdict is: that of the measure that decides first, failed questions included.

        It is None if nothing was compared, since all measures are lost.
        """
        results = {one.measure: one for one in self.with_failed}
        return next((results[name] for name in (*self.deciding, *results) if name in results), None)

    @property
    def pair(self) -> PairVerdict:
        """The verdict on both runs."""
        tests = family_in_words(in_family(self.with_failed)) if self.primary is None else ""
        return PairVerdict.of(self.first, self.second, self.headline, self.questions, tests)

    @property
    def verdict(self) -> str:
        """A sentence: which run is better by the first measure, and on how many measures the second one is."""
        return self.verdict_of(str)

    def verdict_of(self, shown: Callable[[str], str]) -> str:
        """Return the verdict with names as they are ``shown``."""
        return with_counts(self.pair, self.second, self.with_failed, shown)

    def notes(self, shown: Callable[[str], str] = str) -> list[str]:
        """Return what a mark on an interval means, and why differences are unclear whose intervals exclude 0."""
        marks = legend(self.with_failed)
        return [*why_unclear(self.with_failed, shown), *([] if marks is None else [marks])]

    def __repr__(self) -> str:
        return f"<RunComparison: {self.verdict}; {counted(self.questions, 'question')}>"

    def _repr_html_(self) -> str:
        """Draw the comparison in a notebook: the verdict, each difference with its interval, and what moved most."""
        columns = ("measure", self.first, self.second, "difference", "", "95% interval", "p (corrected)", "questions")
        moved = [
            f"{one.question}: {one.measure} {one.first:.4f} to {one.second:.4f}"
            + "".join(f"; {sign} {edge}" for sign, edges in (("+", one.found), ("-", one.lost)) for edge in edges)
            for one in self.movers
        ]
        notes = [*self.scope(), *self.notes()]
        notes += [] if self.clusters is None else [self.clusters.sentence]
        notes += [] if self.cost is None else [self.cost.sentence]
        notes += [*(one.sentence for one in self.plan[:1]), *moved, *self.warnings]
        return block(self.verdict, columns, [_drawn_pair(one) for one in self.with_failed], notes)

    @property
    def overlap(self) -> str:
        """A sentence on groups that share questions; an empty text if they partition them."""
        return "" if self.by is None else overlap_in_words(self.by, Counter(chain(*self.source.members.values())))

    def title(self, group: Group) -> str:
        """Return the name of a group as a title shows it: of a number, with what it counts."""
        name = short_shas(group.name or "")
        return f"{self.by} {name}" if name.isdecimal() else name

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --json`` prints."""
        return {
            "first": self.first,
            "second": self.second,
            "dataset": self.dataset,
            "groups": [
                {"name": group.name, "measures": [dataclasses.asdict(one) for one in group.results]}
                for group in self.groups
            ],
            "overlap": self.overlap or None,
            "movers": [{**dataclasses.asdict(one), "delta": one.delta} for one in self.movers],
            "questions": self.questions,
            "left_out": dict(self.left_out),
            "unscored": dict(self.unscored),
            "warnings": list(self.warnings),
            "different_gold": list(self.different_gold),
            "stale": list(self.stale),
            "lost": [one._asdict() for one in self.lost],
            "failed": {self.first: self.failed[0], self.second: self.failed[1]},
            "failed_as": self.failed_as,
            "primary": self.primary,
            "repeated": dict(self.repeated),
            "gold_change": None if self.gold_change is None else self.gold_change.as_json(),
            "apart": {name: {"mean": mean, "questions": n} for name, (mean, n) in self.apart.items()},
            "incomplete": [one._asdict() for one in self.incomplete],
            "not_logged": dict(self.not_logged),
            "with_failed": [{**dataclasses.asdict(one), "failures": self.failures(one)} for one in self.with_failed],
            "verdict": self.pair.as_json(),
            "regressions": [one.measure for one in self.regressions()],
            "clusters": None if self.clusters is None else self.clusters.as_json(),
            "plan": [one.as_json() for one in self.plan] or None,
            "cost": None if self.cost is None else self.cost.as_json(),
        }


def _worst_repetitions(
    losses: Iterable[Loss], measure: str | None, repetitions: Mapping[str, Values]
) -> dict[str, str]:
    """Return which of several repetitions lost most of each question, and which is worst of all (the empty text)."""
    if not repetitions:
        return {}

    def worst(measure: str, values: Mapping[str, float]) -> str:
        sign = -1 if lower_is_better(measure) else 1
        return min(values, key=lambda one: sign * values[one], default=next(iter(repetitions)))

    found = {}
    for loss in losses:
        of_question = {name: held.get(loss.measure, {}).get(loss.question) for name, held in repetitions.items()}
        found[loss.question] = worst(
            loss.measure, {one: value for one, value in of_question.items() if value is not None}
        )
    columns = {} if measure is None else {name: [*held.get(measure, {}).values()] for name, held in repetitions.items()}
    means = {name: math.fsum(some) / len(some) for name, some in columns.items() if some}
    return {**found, "": worst(measure or "", means)}


def _drawn_pair(result: PairedResult) -> list[object]:
    """Return the row of a measure in a notebook."""
    interval = None if result.low is None or result.high is None else (result.low, result.high)
    words = "" if interval is None else f"{interval[0]:+.4f} to {interval[1]:+.4f}{' *' if result.caution else ''}"
    span = largest_difference(result.measure, None)
    drawn = Drawn("") if span is None else bar(result.delta, interval, span=(-span, span))
    both = [result.measure, result.first, result.second, f"{result.delta:+.4f}"]
    return [*both, drawn, words, result.p_corrected, result.questions]
