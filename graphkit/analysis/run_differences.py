"""The differences of two runs by each measure, over the questions that both have a value on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from graphkit.analysis.multiple_testing import DifferenceColumn, corrected
from graphkit.analysis.paired import Draws, PairedResult, compare_pairs, differences_of
from graphkit.analysis.scales import Scale, largest_difference, scale_of
from graphkit.measures.registry import worst_of
from graphkit.records.gold import different_gold
from graphkit.records.unanswered import FailedAs, is_unlogged
from graphkit.scoring.intervals import RESAMPLES
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.results import Evaluation

#: By measure and question.
Values = Mapping[str, Mapping[str, float]]


class ComparingTask(NamedTuple):
    """One measure of two runs, to be compared; ``units`` are the numbers of the questions, or of their clusters."""

    measure: str
    first: list[float]
    second: list[float]
    scale: Scale | None
    how: Draws
    units: list[int]
    clustered: bool = False

    @property
    def clusters(self) -> list[int] | None:
        """The cluster of each question; None if each counts as independent."""
        return self.units if self.clustered else None

    @property
    def column(self) -> DifferenceColumn:
        """The differences, for the correction over measures."""
        return DifferenceColumn(self.units, differences_of(self.first, self.second))


def comparing_tasks(
    before: Values,
    after: Values,
    scales: Mapping[str, Scale | None],
    how: Draws,
    clusters: QuestionClusters | None = None,
    members: Set[str] | None = None,
) -> list[ComparingTask]:
    """Return what is to be compared: each measure on the questions, or some ``members``, that both have a value on."""
    tasks = []
    order = sorted(set().union(*before.values()))
    codes = range(len(order)) if clusters is None else clusters.codes(order)
    numbers = dict(zip(order, codes, strict=True))
    for name, values in before.items():
        both = sorted(values.keys() & after[name].keys() & (values.keys() if members is None else members))
        if both:
            pairs = [values[question] for question in both], [after[name][question] for question in both]
            units = [numbers[one] for one in both]
            tasks.append(ComparingTask(name, *pairs, scales[name], how, units, clusters is not None))
    return tasks


def compare_task(task: ComparingTask) -> PairedResult:
    """Compare one measure; its p-value isn't corrected yet."""
    name, first, second, scale, how = task[:5]
    return compare_pairs(
        name, first, second, **how._asdict(), span=largest_difference(name, scale), clusters=task.clusters
    )


def completed(values: Values, failed: Set[str], unlogged: Mapping[str, Set[str]], other: Values) -> Values:
    """Return the values of a run with the worst one for each question that it failed on and the other was scored on.

    So it is for a question whose record doesn't log what the measure needs, if the run logs it for others. A measure
    without a worst value keeps its values.
    """
    found: dict[str, Mapping[str, float]] = {}
    for name, column in values.items():
        worst = worst_of(name)
        left = failed | unlogged.get(name, frozenset()) if column else failed
        found[name] = column if worst is None else {**column, **dict.fromkeys(left & other[name].keys(), worst)}
    return found


def failed_questions(result: Evaluation) -> dict[str, str]:
    """Return why a run has no answer to questions with valid gold that it failed on or has no record for."""
    failures = ((row.question, row.failure) for row in result.rows if row.question not in result.invalid)
    return {question: failure for question, failure in failures if failure is not None}


def values_of(result: Evaluation, measures: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the values of a result that holds its rows, by measure and question."""
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {row.question: value for row in result.rows if isinstance(value := row.values[places[name]], float | int)}
        for name in measures
    }


def unlogged_questions(result: Evaluation, measures: Iterable[str]) -> dict[str, set[str]]:
    """Return by measure the questions whose record doesn't log what it needs."""
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {
            row.question
            for row in result.rows
            if isinstance(reason := row.values[places[name]], str) and is_unlogged(reason)
        }
        for name in measures
    }


def result_differences(
    first: Evaluation,
    second: Evaluation,
    measures: Sequence[str],
    *,
    clusters: QuestionClusters | None = None,
    resamples: int = RESAMPLES,
    failed_as: FailedAs = "worst",
    family: Sequence[str] = (),
    pairs: int = 1,
) -> list[PairedResult]:
    """Return the differences of two results that hold their rows (second minus first), by each measure.

    A question that one run failed on, and with ``failed_as="worst"`` one whose record doesn't log what the measure
    needs though others do, has the worst value, if the other run was scored on it. Questions that the runs were scored
    on by different gold aren't compared. ``family`` and ``pairs`` are what p-values are corrected over: see
    :func:`~graphkit.analysis.multiple_testing.corrected`. There are no differences if no question was scored in both,
    or both results are of one run.
    """
    if first.run == second.run:
        return []
    sides = first, second
    strict = [{name: one.strict_values(name) for name in measures} for one in sides]
    before, after = (values_of(one, measures) for one in sides)
    before = {name: {**column, **strict[0][name]} for name, column in before.items()}
    other_gold = different_gold(*({row.question: row.gold_hash for row in one.rows} for one in sides))
    removed = {name: {*other_gold} & before[name].keys() & after[name].keys() for name in measures}
    for column, name in ((values[name], name) for values in (before, after) for name in measures):
        for question in removed[name]:
            del column[question]
    if any(removed.values()) and not any(before[name].keys() & after[name].keys() for name in measures):
        return []
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in measures}
    after = {name: {**column, **strict[1][name]} for name, column in after.items()}
    failed = [set[str]() if failed_as == "unscored" else failed_questions(one).keys() for one in sides]
    unlogged = [unlogged_questions(one, measures) if failed_as == "worst" else {} for one in sides]
    tables = completed(before, failed[0], unlogged[0], after), completed(after, failed[1], unlogged[1], before)
    how = Draws(resamples)
    tasks = comparing_tasks(*tables, scales, how, clusters)
    columns = [one.column for one in tasks]
    return [*corrected([*map(compare_task, tasks)], columns, family=family, pairs=pairs, **how._asdict())]
