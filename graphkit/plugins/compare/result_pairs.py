"""Compares two runs by their results, in memory or in folders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from graphkit.analysis.run_differences import failed_questions, unlogged_questions, values_of
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.measures.registry import compares_relations
from graphkit.plugins.compare.compared_runs import (
    ComparedRun,
    ComparisonSource,
    LostMeasure,
    RunFacts,
    refuse_itself,
    refuse_repositories,
    relations_warning,
    unanswered_warning,
    unlogged_warning,
)
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_pairs import PairingOptions, compare
from graphkit.records.unanswered import FailedAs
from graphkit.records.words import counted
from graphkit.scoring.options import check_choices
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.repeated_systems import RepeatedSystem
from graphkit.scoring.results import LABELS, Evaluation
from graphkit.scoring.results_folder import read_results


def compare_folders(
    first: str | Path,
    second: str | Path,
    *,
    measures: Sequence[str],
    problems: Problems,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare the results in two folders that ``graphkit evaluate --out FOLDER`` wrote.

    Raises
    ------
    InputError
        A folder holds no results or was changed, or there is nothing to compare.
    """
    if options.get("by") not in (None, *LABELS):
        what = f"results don't say the {options['by']} of a question"
        raise InputError(what, remedy="Compare by category, difficulty or group.")
    refuse_repositories("results", options.get("cluster"))
    old, new = (read_results(folder).evaluation() for folder in (first, second))
    baseline = not options.get("symmetric")
    return compare_results(old, new, measures=measures, baseline=baseline, strict=problems.strict, **options)


def compare_results(
    first: Evaluation,
    second: Evaluation,
    *,
    measures: Iterable[str] = (),
    clusters: QuestionClusters | None = None,
    baseline: bool = False,
    strict: bool = False,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare two results that hold their rows; see :func:`results_source`."""
    source = results_source(first, second, measures=measures, clusters=clusters, baseline=baseline, **options)
    return compare(source, strict=strict, **options)


def results_source(
    first: Evaluation,
    second: Evaluation,
    *,
    measures: Iterable[str] = (),
    members: Mapping[str, set[str]] | None = None,
    clusters: QuestionClusters | None = None,
    baseline: bool = False,
    systems: Sequence[RepeatedSystem] = (),
    **options: Unpack[PairingOptions],
) -> ComparisonSource:
    """Return two results that hold their rows as a comparison sees them, by some measures or by all that both hold.

    ``members`` are the questions of each group; by default those of each category or difficulty, if ``by`` says so.
    ``clusters`` are those that count as independent; by default the labels of the rows, if ``cluster`` says so.
    ``baseline`` says that the first run is a baseline: what it lacks is left out, and never its worst value.
    ``systems`` are those of the results that stand for several repetitions.

    Raises
    ------
    InputError
        The results are of one run.
    """
    check_choices(options)
    refuse_itself(first.run, second.run)
    chosen = list(measures)
    names = chosen or [name for name in first.measures if name in second.measures]
    by, cluster, failed_as = options.get("by"), options.get("cluster"), options.get("failed_as", "worst")
    if clusters is None and cluster is not None:
        clusters = _clusters(first, cluster)
    if members is None:
        members = {name: set(some) for name, some in first.members(by).items()} if by is not None else {}
    old, new = (_compared_run(one, names, systems) for one in (first, second))
    asked = {row.question for row in first.rows}
    members = {name: some & asked for name, some in members.items()}  # a dataset's hold those that --where left out
    place = [*LABELS].index("category")
    found = ComparisonSource(
        old,
        new,
        len(asked),
        dict.fromkeys(names, asked),
        dataset=second.dataset,
        members=members,
        clusters=clusters,
        stale={*first.invalid, *second.invalid},
        warnings=(*_warnings((first, second), (old, new), systems, failed_as, baseline),),
        lost=() if chosen else (*_not_held(first, second),),
        apart=_apart(second, names, asked),
        categories={row.question: label for row in first.rows if (label := row.labels[place]) is not None},
    )
    return found if baseline else found.without_baseline()


def _compared_run(result: Evaluation, names: Sequence[str], systems: Iterable[RepeatedSystem]) -> ComparedRun:
    system = next((one for one in systems if one.name == result.run), None)
    values, hashes = values_of(result, names), {row.question: row.gold_hash for row in result.rows}
    relations = {name for name in names if result.relations.never and compares_relations(name)}
    unscored = {name: result.unscored[name] for name in names if name in result.unscored}
    return ComparedRun(
        result.run,
        values,
        RunFacts(failed_questions(result), unscored, result.efficiency),
        gold={name: {question: hashes[question] for question in column} for name, column in values.items()},
        unlogged=unlogged_questions(result, names),
        strict={name: result.strict_values(name) for name in names},
        untyped=relations | {name for name in names if result.refused(name)},
        most_failed=max(one.unanswered for one in _repetitions(result, systems)),
        sentence=None if system is None else system.sentence,
    )


def _repetitions(result: Evaluation, systems: Iterable[RepeatedSystem]) -> Sequence[Evaluation]:
    return next((one.repetitions for one in systems if one.name == result.run), (result,))


def _apart(result: Evaluation, names: Iterable[str], asked: Collection[str]) -> dict[str, list[float]]:
    """Return by measure the values of the questions that the other run wasn't asked, as gates count them."""
    if all(row.question in asked for row in result.rows):
        return {}
    return {
        name: [value for question, value in result.held_values(name).items() if question not in asked]
        for name in names
        if name in result.measures
    }


def _not_held(first: Evaluation, second: Evaluation) -> Iterator[LostMeasure]:
    """Yield the measures by which the first run was scored and that the results of the second don't hold."""
    for name, summary in first.measures.items():
        if name not in second.measures and summary.scored:
            yield LostMeasure(name, summary.scored, "its results don't hold this measure")


def _clusters(result: Evaluation, by: ClusterBy) -> QuestionClusters:
    refuse_repositories("results", by)
    place = [*LABELS].index(by)  # type: ignore[arg-type]
    return QuestionClusters.by_label(by, {row.question: row.labels[place] for row in result.rows})


def _warnings(
    results: tuple[Evaluation, Evaluation],
    runs: tuple[ComparedRun, ComparedRun],
    systems: Sequence[RepeatedSystem],
    failed_as: FailedAs,
    baseline: bool,
) -> Iterator[str]:
    for result in results:
        for one in _repetitions(result, systems):
            if result is not results[0] or not baseline:  # what a baseline lacks is listed by name
                yield from unanswered_warning(one.run, one.missing, one.failed, one.questions, failed_as)
            if any(map(compares_relations, runs[0].values)):
                yield from relations_warning(one.run, one.relations)
    yield from unlogged_warning(runs[1], failed_as)
    if invalid := results[0].invalid:
        yield f"the gold of {counted(len(invalid), 'question')} is stale: not compared"
