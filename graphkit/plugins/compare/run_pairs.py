"""Compares two runs by their values on the same questions: intervals and tests by measure and group, and movers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict, Unpack

from graphkit.analysis.config import Config
from graphkit.analysis.multiple_testing import corrected
from graphkit.analysis.paired import Accuracy, Draws, PairedResult, differences_of
from graphkit.analysis.run_differences import ComparingTask, Values, compare_task, comparing_tasks, completed
from graphkit.analysis.scales import Scale
from graphkit.errors import InputError, did_you_mean
from graphkit.measures.registry import known_measure, lower_is_better, worst_of
from graphkit.plugins.compare.compared_runs import ComparedRun, ComparisonSource, GoldComparison, LostMeasure
from graphkit.plugins.compare.run_comparisons import UNLOGGED, Group, Incomplete, Loss, Mover, RunComparison
from graphkit.records.bounds import equal, over, under
from graphkit.records.option_values import By
from graphkit.records.unanswered import MISSING, FailedAs
from graphkit.scoring.clustered_intervals import clustered_interval
from graphkit.scoring.intervals import RESAMPLES, SEED, interval
from graphkit.scoring.question_clusters import ClusterBy
from graphkit.shards.executors import opened_executor
from graphkit.shards.work import in_order


class PairingOptions(TypedDict, total=False):
    """Options of both comparisons.

    Attributes
    ----------
    by
        Also compare within the questions of each category, difficulty or group, or of each slice by their gold
        (:mod:`graphkit.scoring.slices`); a question may be in several.
    cluster
        Take as independent only clusters of questions, by the repositories of their gold, their session,
        category or group.
    resamples, seed
        Of the bootstrap and of the randomisation test.
    movers
        How many of the questions that moved most are listed, by the first measure.
    failed_as
        How ``with_failed``, on which verdict and gates rest, counts a question that the second run failed on and the
        first was scored on: as the worst value of its measure, or not at all. With ``"worst"``, so does a question
        whose record doesn't log what the measure needs, where the run logs it for others; with ``"failed"`` it is left
        out. On the side of a baseline each of these makes a question incomplete: it isn't compared.
    primary
        The measure that decides alone: its p-value isn't corrected for the others, which don't decide.
    symmetric
        Whether neither run is a baseline: failures of both count.
    family, pairs
        See :func:`~graphkit.analysis.multiple_testing.corrected`.
    config
        The weights that say by which measure the verdict is; by default graphkit's.
    executor, resources
        Workers that draw the resamples: an executor, or its name as in ``--on``, and what each task needs of the
        cluster. The figures don't depend on them: each measure of each group has draws of its own seed.
    """

    by: By | None
    cluster: ClusterBy | None
    resamples: int
    seed: int
    movers: int
    failed_as: FailedAs
    primary: str | None
    symmetric: bool
    family: Sequence[str]
    pairs: int
    config: Config
    executor: str | Executor | None
    resources: Mapping[str, float]


def draws_of(options: PairingOptions) -> Draws:
    """Return the number of resamples that options ask for, and their seed."""
    return Draws(options.get("resamples", RESAMPLES), options.get("seed", SEED))


def compare(source: ComparisonSource, *, strict: bool = False, **options: Unpack[PairingOptions]) -> RunComparison:
    """Compare two runs on the questions that both were scored on, by one gold.

    It holds no result if all measures are lost, or the baseline answered nothing.

    Raises
    ------
    InputError
        The gold differs and ``strict`` refuses that, or no question has a value in both runs, no measure is lost, and
        the baseline didn't crash.
    """
    held, gold = (source.without_baseline() if options.get("symmetric") else source).by_one_gold(strict)
    return Pairs(held, options).compared(gold)


@dataclass(frozen=True)
class Pairs:
    """Two runs whose values on the same questions are compared.

    If the first is a baseline, its failed, missing and unlogged questions are incomplete: nothing of them is compared.
    """

    source: ComparisonSource
    options: PairingOptions

    @cached_property
    def scales(self) -> Mapping[str, Scale | None]:
        """The scale of each measure."""
        return {name: self.source.scale(name) for name in self.before}

    @cached_property
    def before(self) -> Values:
        """The values of the first run."""
        return _comparable(self.source.first, self.source.second)

    @cached_property
    def after(self) -> Values:
        """The values of the second run."""
        return _comparable(self.source.second, self.source.first)

    @property
    def failed_as(self) -> FailedAs:
        """The rule for failed questions: the worst value, or unscored."""
        return self.options.get("failed_as", "worst")

    def results(self) -> tuple[tuple[Group, ...], tuple[PairedResult, ...]]:
        """Compare over all questions, and within each group that has something to compare.

        The second part is over all questions, too, and counts those that one run failed on as ``failed_as`` says.
        """
        members, own = self.source.members, self._counts_more()
        tables = [self._tasks(self.before, self.after, some) for some in (None, *members.values())]
        if own:
            tables.append(self._tasks(*self._held()))
        found = self._drawn(tables)
        with_failed = found.pop() if own else found[0]
        overall, *groups = map(Group, (None, *members), found)
        return (overall, *(group for group in groups if group.results)), with_failed

    def groups_with_failed(self) -> tuple[Group, ...]:
        """Compare within each group, failures counted as over all questions."""
        before, after = self._held()
        found = self._drawn([self._tasks(before, after, some) for some in self.source.members.values()])
        return tuple(map(Group, self.source.members, found))

    def _drawn(self, tables: Sequence[Sequence[ComparingTask]]) -> list[tuple[PairedResult, ...]]:
        """Return the results of some tables, each corrected over its measures."""
        with opened_executor(self.options.get("executor"), resources=self.options.get("resources")) as executor:
            done = in_order(
                executor, compare_with_accuracy, ((task.measure, task) for tasks in tables for task in tasks)
            )
            return [self._corrected([next(done) for _ in tasks], tasks) for tasks in tables]

    def _counts_more(self) -> bool:
        """Return whether failures or strict relations give questions other values than those that were scored."""
        failed, unlogged = self._counted()
        strict = (self.source.first.strict, self.source.second.strict)
        return any(failed) or any(any(one.values()) for one in (*unlogged, *strict))

    def _held(self) -> tuple[Values, Values]:
        """Return the values of both runs as ``with_failed`` counts them."""
        (before, after), (failed, unlogged) = self._strict(), self._counted()
        return (
            completed(before, failed[0], unlogged[0], after),
            completed(after, failed[1], unlogged[1], before),
        )

    def _counted(self) -> tuple[tuple[Set[str], Set[str]], tuple[Mapping[str, Set[str]], Mapping[str, Set[str]]]]:
        """Return the failed and the unlogged questions of each run that count as the worst value."""
        sides = [None if self.source.baseline else self.source.first, self.source.second]
        failed = [set[str]() if one is None or self.failed_as == "unscored" else one.failed for one in sides]
        unlogged = [{} if one is None or self.failed_as != "worst" else one.unlogged for one in sides]
        return (failed[0], failed[1]), (unlogged[0], unlogged[1])

    def _corrected(self, results: Sequence[PairedResult], tasks: Sequence[ComparingTask]) -> tuple[PairedResult, ...]:
        primary, how = self.primary, draws_of(self.options)
        return corrected(
            results,
            [one.column for one in tasks],
            family=self.options.get("family", ()) if primary is None else (primary,),
            pairs=self.options.get("pairs", 1),
            **how._asdict(),
        )

    @property
    def primary(self) -> str | None:
        """The measure that decides alone, as results write it, if one is named; raise InputError for an unknown one."""
        given = self.options.get("primary")
        return None if given is None else measure_among(given, self.before.keys(), "--first")

    def incomplete(self) -> tuple[Incomplete, ...]:
        """Return the questions that the baseline has no value for, and why, by name; none if there is no baseline."""
        if not self.source.baseline:
            return ()
        reasons = {one: reason or MISSING for one, reason in self.source.first.facts.failed.items()}
        lacking: dict[str, list[str]] = {}
        for name, questions in self.lacking().items():
            for one in questions - self.source.first.failed:
                lacking.setdefault(one, []).append(name)
        reasons |= {one: f"{UNLOGGED}{', '.join(names)}" for one, names in lacking.items()}
        return tuple(Incomplete(one, reason) for one, reason in sorted(reasons.items()))

    def lacking(self) -> dict[str, Set[str]]:
        """Return by measure the questions whose input the baseline doesn't log, though it does for others."""
        if not self.source.baseline:
            return {}
        return {name: questions for name, questions in self.source.first.unlogged.items() if self.before[name]}

    def not_logged(self) -> dict[str, int]:
        """Return for each measure how many questions count as the worst value since a record doesn't log its input."""
        sides = zip(self._counted()[1], (self.before, self.after), (self.after, self.before), strict=True)
        counts = dict.fromkeys(self.before, 0)
        for unlogged, own, other in sides:
            for name in counts:
                if own[name] and worst_of(name) is not None:
                    counts[name] += len(unlogged.get(name, frozenset()) & other[name].keys())
        return {name: count for name, count in counts.items() if count}

    def _strict(self) -> tuple[Values, Values]:
        """Return the values of both runs under strict comparison of relations.

        Where the first run has another one, its question is incomplete, and left out.
        """
        old, new = self.source.first.strict, self.source.second.strict
        before = {
            name: {one: value for one, value in column.items() if one not in old.get(name, ())}
            for name, column in self.before.items()
        }
        return before, {name: {**column, **new.get(name, {})} for name, column in self.after.items()}

    def left_out(self) -> dict[str, int]:
        """Return for each measure on how many questions only one of the runs was scored."""
        counts = {name: len(self.before[name].keys() ^ self.after[name].keys()) for name in self.before}
        return {name: count for name, count in counts.items() if count}

    def lost(self) -> Iterator[LostMeasure]:
        """Yield the measures by which the first run was scored and the second never, though it didn't fail throughout.

        The most frequent reason of the second run is given.
        """
        first, second = self.source.first, self.source.second
        for name, before in self.before.items():
            if name in second.untyped and name not in first.untyped and before:
                yield LostMeasure(name, len(before), untyped=True)
            elif not self.after[name] and before.keys() - second.failed:
                yield LostMeasure(name, len(before), second.reason(name))
        yield from self.source.lost

    def unscored(self) -> dict[str, int]:
        """Return for each measure on how many of the questions asked neither run was scored."""
        asked = self.source.asked
        counts = {name: len(asked[name] - self.before[name].keys() - self.after[name].keys()) for name in self.before}
        return {name: count for name, count in counts.items() if count}

    def movers(self) -> tuple[Mover, ...]:
        """Return the questions that moved most by the first measure with values of both runs."""
        both = (name for name, values in self.before.items() if values and self.after[name])
        name = next(both, next(iter(self.before), None))
        if name is None:
            return ()
        one, two = self.before[name], self.after[name]
        moved = [question for question in one.keys() & two.keys() if not equal(one[question], two[question])]
        moved.sort(key=lambda question: (-abs(two[question] - one[question]), question))
        moved = moved[: self.options.get("movers", 5)]
        edges = {} if self.source.edges is None or not moved else self.source.edges(moved)
        return tuple(
            Mover(question, name, one[question], two[question], *edges.get(question, ((), ()))) for question in moved
        )

    def losses(self) -> tuple[Loss, ...]:
        """Return the questions on which the second run is worse by any measure, by the first such measure."""
        found: dict[str, Loss] = {}
        for name, values in self.before.items():
            other, sign = self.after[name], -1 if lower_is_better(name) else 1
            worse = [
                Loss(question, name, values[question], other[question])
                for question in values.keys() & other.keys() - found.keys()
                if sign * (values[question] - other[question]) > 0 and not equal(values[question], other[question])
            ]
            worse.sort(key=lambda one: (-abs(one.second - one.first), one.question))
            found.update((one.question, one) for one in worse)
        return (*found.values(),)

    def values(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Return by measure and question both values, the second as the worst one where gates count it so."""
        before, after = self._strict()
        (_, failed), (_, unlogged) = self._counted()
        after = completed(after, failed, unlogged, before)
        return {
            name: {one: (value, after[name][one]) for one, value in column.items() if one in after[name]}
            for name, column in before.items()
        }

    def compared(self, gold: GoldComparison) -> RunComparison:
        """Return the comparison; see :func:`compare`."""
        source, (groups, with_failed) = self.source, self.results()
        first, second = source.first, source.second
        lost = (*self.lost(),)
        crashed = source.baseline and bool(first.failed) and not any(self.before.values())
        if not with_failed and not lost and not crashed:
            unscored = 1 if any(self.before.values()) else 0
            remedy = None if source.commands is None else f"`{source.commands[unscored]}` shows why."
            raise InputError("no question was scored in both runs", remedy=remedy)
        primary, deciding = self.primary, self.options.get("config", Config()).deciding(self.before)
        return RunComparison(
            source=source,
            groups=groups,
            by=self.options.get("by"),
            movers=self.movers(),
            left_out=self.left_out(),
            scored={name: len(column) for name, column in self._strict()[0].items()},
            unscored=self.unscored(),
            warnings=(*gold.warnings, *source.warnings),
            different_gold=gold.different,
            lost=lost,
            with_failed=with_failed,
            failed_as=self.failed_as,
            not_logged=self.not_logged(),
            losses=self.losses(),
            values=self.values,
            groups_with_failed=self.groups_with_failed if self._counts_more() else lambda: groups[1:],
            facts=(first.facts, second.facts),
            deciding=tuple(one for one in (primary, *deciding) if one is not None),
            primary=primary,
            incomplete=self.incomplete(),
            lacking=self.lacking(),
        )

    def _tasks(self, before: Values, after: Values, members: Set[str] | None = None) -> list[ComparingTask]:
        return comparing_tasks(before, after, self.scales, draws_of(self.options), self.source.clusters, members)


def _comparable(run: ComparedRun, other: ComparedRun) -> Values:
    """Return the values of a run, none by a measure of relations that it alone never logs: it would gain by that."""
    return {name: {} if name in run.untyped - other.untyped else column for name, column in run.values.items()}


def compare_with_accuracy(task: ComparingTask) -> PairedResult:
    """Compare one measure, also by the answers that are right; called in a worker."""
    result = compare_task(task)
    if task.scale is None:
        return result
    return dataclasses.replace(result, accuracy=_accuracy(task, task.scale, result))


def _accuracy(task: ComparingTask, scale: Scale, result: PairedResult) -> Accuracy:
    """Return the shares of right answers and their difference, with an interval over right and wrong."""
    _, first, second, _, how = task[:5]
    clusters = task.clusters
    one, two = ([1.0 if scale.is_right(value) else 0.0 for value in values] for values in (first, second))
    count = len(first)
    # From the counts: a difference of rounded shares would fall short of 5 points.
    points = 100 * (math.fsum(two) - math.fsum(one)) / count
    if (one, two) == (first, second):
        bounds = result.low, result.high
    elif clusters is None:
        bounds = interval(differences_of(one, two), **how._asdict(), span=1.0)
    else:
        bounds = clustered_interval(differences_of(one, two), clusters, **how._asdict(), span=1.0)
    low, high = (None if bound is None else 100 * bound for bound in bounds)
    return Accuracy(math.fsum(one) / count, math.fsum(two) / count, points, low, high, reading(points, low, high))


def reading(points: float, low: float | None, high: float | None) -> str:
    """Return the reading of an accuracy difference in percentage points; it is neutral if its interval holds 0.

    >>> reading(5.0, 1.0, 9.0), reading(5.0, -1.0, 11.0)
    ('strong', 'neutral: the interval holds 0')
    """
    if -1 < points < 1:
        return "neutral"
    if low is None or high is None:
        return "neutral: too few questions for an interval"
    if not (over(low, 0) or under(high, 0)):
        return "neutral: the interval holds 0"
    if points > 0:
        return "strong" if points >= 5 else "moderate"
    return "slight regression" if points > -5 else "significant regression"


def measure_among(given: str, known: Collection[str], option: str) -> str:
    """Return the measure that a user names in an option, as the results at hand write it.

    Raises
    ------
    InputError
        It isn't among them.
    """
    own = known_measure(given)
    found = next((name for name in (given, str(own)) if name in known), None)
    if found is None and own is not None:  # a cut-off that the user left out
        found = next((name for name in known if name.partition("@")[0] == str(own)), None)
    if found is None:
        what = f"{option} names {given!r}, which isn't compared"
        raise InputError(what, remedy=f"{did_you_mean(given, sorted(known))}There are: {', '.join(sorted(known))}.")
    return found
