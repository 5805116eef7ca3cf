"""Compares two runs by their results: scored from files, so without a database."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, Unpack

from graphkit.analysis.evaluation_plan import refuse_one_name
from graphkit.analysis.gold_comparisons import GoldComparison
from graphkit.analysis.lost_measures import LostMeasure
from graphkit.analysis.run_comparisons import Mover, RunComparison
from graphkit.analysis.run_facts import RunFacts
from graphkit.analysis.run_pairs import (
    By,
    PairingOptions,
    Pairs,
    refuse_itself,
    refuse_repositories,
    relations_warning,
    unanswered_warning,
    unlogged_warning,
)
from graphkit.analysis.scales import scale_of
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.registry import compares_relations
from graphkit.measures.repositories import named
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.unanswered import is_unlogged
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.evaluate import evaluate_pass
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.results import LABELS, Evaluation, Row
from graphkit.scoring.results_folder import read_results
from graphkit.scoring.run_pass import RunPass

_Record = TypeVar("_Record", QuestionStruct, AnswerStruct)


def compare_files(
    first: str | Path,
    second: str | Path,
    dataset: str | Path | None = None,
    *,
    measures: Sequence[str | Measure],
    problems: Problems,
    progress: Progress = quiet,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Score two run logs, and compare them on the questions that both were scored on.

    Parameters
    ----------
    dataset
        Their dataset; by default the folder whose ``runs/`` holds each.
    options
        See :class:`~graphkit.analysis.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A file can't be used, a measure isn't computed from records, the runs are of different datasets, or there is
        nothing to compare.
    """
    passes = [RunPass(Dataset.of_run(Path(run), dataset), Path(run)) for run in (first, second)]
    source, other = (one.dataset for one in passes)
    if source.folder.resolve() != other.folder.resolve():
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {source.name!r}, "
            f"{second} of {other.name!r}",
            remedy="Compare runs over the same dataset, or name it by --dataset.",
        )
    refuse_one_name((one.run_file, one.name) for one in passes)
    how = EvaluationOptions(measures=measures, on_error=problems.on_error, strict=problems.strict)
    expect(progress, "runs scored", len(passes))
    results = []
    for one in passes:
        of_run = Problems(problems.on_error, strict=problems.strict)
        results.append(evaluate_pass(one, how, problems=of_run))
        problems.merge(of_run)
        progress("runs scored", 1)
    by, cluster = options.get("by"), options.get("cluster")
    members = _members_by_gold(source, by, problems) if by in ("repo", "relation") else None
    clusters = None if cluster is None else QuestionClusters.of_dataset(cluster, source)
    compared = compare_results(
        *results, members=members, clusters=clusters, strict=problems.strict, baseline=True, **options
    )
    if not all(run.run_file.is_file() for run in passes):  # a pipe can't be read again
        return compared
    wanted = {mover.question for mover in compared.movers}
    questions = {one.id: one for one in _records(source.questions_file, QuestionStruct) if one.id in wanted}
    answers = [
        {one.question_id: one for one in _records(run.run_file, AnswerStruct) if one.question_id in wanted}
        for run in passes
    ]
    movers = tuple(_with_edges(one, questions[one.question], *answers) for one in compared.movers)
    return dataclasses.replace(compared, movers=movers)


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
    if options.get("by") in ("repo", "relation"):
        what = f"results don't say the {options['by']} of a question"
        raise InputError(what, remedy="Compare by category, difficulty or group.")
    refuse_repositories("results", options.get("cluster"))
    results = [read_results(folder).evaluation() for folder in (first, second)]
    return compare_results(*results, measures=measures, strict=problems.strict, baseline=True, **options)


def compare_results(
    first: Evaluation,
    second: Evaluation,
    *,
    measures: Iterable[str] = (),
    members: Mapping[str, set[str]] | None = None,
    clusters: QuestionClusters | None = None,
    strict: bool = False,
    baseline: bool = False,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare two results that hold their rows, by some of their measures or by all that both hold.

    ``members`` are the questions of each group; by default those of each category or difficulty, if ``by`` says so.
    ``clusters`` are those that count as independent; by default the labels of the rows, if ``cluster`` says so.
    ``baseline`` says that the first run is a baseline: what it lacks is left out, and never its worst value.

    Raises
    ------
    InputError
        The results are of one run, the gold differs and ``strict`` refuses that, or no question was scored in both.
    """
    refuse_itself(first.run, second.run)
    chosen = list(measures)
    names = chosen or [name for name in first.measures if name in second.measures]
    before, after = (_values(result, names) for result in (first, second))
    hashes = [{row.question: row.gold_hash for row in result.rows} for result in (first, second)]
    old, new = (
        {name: {question: gold[question] for question in column} for name, column in values.items()}
        for values, gold in zip((before, after), hashes, strict=True)
    )
    check = GoldComparison.hold((first.run, second.run), (before, after), (old, new), strict)
    failed = _failed(first), _failed(second)
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in names}
    cluster = options.get("cluster")
    if clusters is None and cluster is not None:
        clusters = _clusters(first, cluster)
    unlogged = _unlogged(first, names), _unlogged(second, names)
    strict_before, strict_after = ({name: one.strict_values(name) for name in names} for one in (first, second))
    if not baseline:
        before = {name: {**column, **strict_before[name]} for name, column in before.items()}
        strict_before = {}
    relations = first.relations, second.relations
    runs = first.run, second.run
    pairs = Pairs(
        runs,
        before,
        after,
        failed,
        scales,
        options,
        clusters,
        unlogged,
        (strict_before, strict_after),
        relations,
        baseline,
    )
    questions = {row.question for row in first.rows}
    by = options.get("by")
    if members is None:
        members = _members(first, by) if by is not None else {}
    return pairs.compared(
        check,
        members,
        dict.fromkeys(before, questions),
        len(questions),
        dataset=first.dataset,
        warnings=_warnings((first, second), pairs),
        stale={*first.invalid, *second.invalid},
        lost=[] if chosen else [*_not_held(first, second)],
        facts=(_facts(first, names), _facts(second, names)),
    )


def _not_held(first: Evaluation, second: Evaluation) -> Iterator[LostMeasure]:
    """Yield the measures by which the first run was scored and that the results of the second don't hold."""
    for name, summary in first.measures.items():
        if name not in second.measures and summary.scored:
            yield LostMeasure(name, summary.scored, "its results don't hold this measure")


def _facts(result: Evaluation, names: Iterable[str]) -> RunFacts:
    failed = {row.question: row.failure for row in result.rows if _is_failed(row, result)}
    unscored = {name: result.unscored[name] for name in names if name in result.unscored}
    return RunFacts(failed, unscored, result.efficiency)


def _values(result: Evaluation, names: Iterable[str]) -> dict[str, dict[str, float]]:
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {row.question: value for row in result.rows if isinstance(value := row.values[places[name]], float | int)}
        for name in names
    }


def _failed(result: Evaluation) -> set[str]:
    """Return the questions with valid gold that a run failed on, or has no record for."""
    return {row.question for row in result.rows if _is_failed(row, result)}


def _unlogged(result: Evaluation, names: Iterable[str]) -> dict[str, set[str]]:
    """Return by measure the questions whose record doesn't log what it needs."""
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {
            row.question
            for row in result.rows
            if isinstance(reason := row.values[places[name]], str) and is_unlogged(reason)
        }
        for name in names
    }


def _is_failed(row: Row, result: Evaluation) -> bool:
    return row.failure is not None and row.question not in result.invalid


def _members(result: Evaluation, by: By) -> dict[str, set[str]]:
    members: dict[str, set[str]] = {}
    place = [*LABELS].index(by)  # type: ignore[arg-type]
    for row in result.rows:
        members.setdefault(row.labels[place] or NO_LABEL, set()).add(row.question)
    return dict(sorted(members.items()))


def _clusters(result: Evaluation, by: ClusterBy) -> QuestionClusters:
    refuse_repositories("results", by)
    place = [*LABELS].index(by)  # type: ignore[arg-type]
    return QuestionClusters.by_label(by, {row.question: row.labels[place] for row in result.rows})


def _members_by_gold(dataset: Dataset, by: By | None, problems: Problems) -> dict[str, set[str]]:
    """Return the questions of each repository or relation of gold; a question may be in several."""
    members: dict[str, set[str]] = {}
    for question in _records(dataset.questions_file, QuestionStruct):
        steps = [step for path in question.paths for step in path.steps]
        if by == "repo":
            found = {*named(*(node for step in steps for node in (step.source, step.target)))}
        else:
            found = {step.relation for step in steps if step.relation}
        for name in found or {NO_LABEL}:
            members.setdefault(name, set()).add(question.id)
    return dict(sorted(members.items()))


def _records(path: Path, kind: type[_Record]) -> Iterator[_Record]:
    """Yield the usable records of a file whose problems were reported before."""
    for _, record in RecordReader(path, kind, Problems("skip")):
        yield record


def _warnings(results: Sequence[Evaluation], pairs: Pairs) -> Iterator[str]:
    for result, baseline in zip(results, (pairs.baseline, False), strict=True):
        counts = result.missing, result.failed, result.questions
        yield from unanswered_warning(result.run, *counts, pairs.failed_as, baseline)
        if any(map(compares_relations, pairs.before)):
            yield from relations_warning(result.run, result.relations)
    yield from unlogged_warning(results[1].run, pairs.unlogged[1], pairs.after, pairs.failed_as)
    if invalid := results[0].invalid:
        yield f"the gold of {counted(len(invalid), 'question')} is stale: not compared"


def _with_edges(mover: Mover, question: QuestionStruct, *answers: Mapping[str, AnswerStruct]) -> Mover:
    """Return a mover with the gold edges that only one of the runs traversed, as the query found-and-lost has them."""
    before, after = (Case(question, answer.get(question.id)) for answer in answers)
    return dataclasses.replace(mover, found=_only(after, before), lost=_only(before, after))


def _only(case: Case, other: Case) -> tuple[str, ...]:
    if case.failure is not None or (other.answer is not None and not other.walk_logged):
        return ()
    paths = sorted((path.id if path.id is not None else str(index), path.edges) for index, path in enumerate(case.gold))
    edges = [edge for _, some in paths for edge in some]
    found = [edge for edge in edges if _walked(edge, case) and not _walked(edge, other)]
    return tuple(dict.fromkeys(f"{source} -{relation or ''}-> {target}" for source, relation, target in found))


def _walked(edge: tuple[str, str | None, str], case: Case) -> bool:
    """Return whether a traversal holds an edge; a relation that one side leaves open fits any."""
    source, relation, target = edge
    return any(
        source == one and target == two and (relation == kind or not kind or not relation)
        for one, kind, two in case.walked
    )
