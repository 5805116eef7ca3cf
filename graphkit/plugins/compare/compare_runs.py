"""Compares two runs in the graph on the questions that both were scored on."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack

from graphkit.analysis.explanations import why
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import records_of
from graphkit.graph.digests import dataset_digest
from graphkit.graph.failures import failures
from graphkit.graph.knowledge import invalid_questions, known_places, question_ids
from graphkit.graph.known_names import partial_runs, require_run, run_source
from graphkit.graph.queries import cypher
from graphkit.graph.question_ranges import read_questions
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.registry import compares_relations
from graphkit.plugins.compare.compared_runs import (
    ComparedRun,
    ComparisonSource,
    RunFacts,
    RunUsage,
    refuse_itself,
    relations_warning,
    unanswered_warning,
    unlogged_warning,
)
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_pairs import PairingOptions, compare
from graphkit.plugins.compare.stored_runs import StoredRun, pooled_run, stored_runs
from graphkit.records.commits import CommitGraph
from graphkit.records.option_values import By
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct
from graphkit.records.unanswered import FailedAs
from graphkit.records.usage import figures_of, summarised
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.options import check_choices
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.reason_counts import count_reasons, listed
from graphkit.scoring.repeated_systems import repeated_in_words
from graphkit.scoring.results import LABELS
from graphkit.scoring.slices import Slices


def compare_runs(
    store: Store,
    first: str,
    second: str,
    *,
    measures: Sequence[str | Measure] = (),
    engine: Literal["cypher"] | None = None,
    strict: bool = False,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare two runs in the graph, on the questions that both were scored on.

    Parameters
    ----------
    measures
        Names of any scores that the graph holds of both runs, whoever gave them, and of any measure that is computed in
        the graph; by default graphkit's usual ones.
    engine
        ``"cypher"`` computes every measure in the graph now; by default the scores in the graph are read.
    strict
        Refuse scores that others gave by different gold; by default such questions are reported and not compared.
    options
        See :class:`~graphkit.plugins.compare.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A run is unknown or compared with itself, the runs are of different datasets, or a measure can't be compared:
        different versions scored it, or the graph neither holds it for both runs nor computes it.
    """
    source = _graph_source(store, first, second, measures, engine, options)
    return compare(source, strict=strict, **options)


def _graph_source(
    store: Store,
    first: str,
    second: str,
    measures: Sequence[str | Measure],
    engine: Literal["cypher"] | None,
    options: PairingOptions,
) -> ComparisonSource:
    """Return two runs in the graph as a comparison sees them; see :func:`compare_runs`."""
    check_choices(options)
    dataset, sides = _sides(store, first, second)
    every = [run for side in sides for run in side]
    ids = sorted(question_ids(store, dataset))
    answers = {run: list(read_questions(store, "read/answers", ids, {"run": run})) for run in every}
    # Of runs that are stored in part, those that all hold.
    questions = set[str].intersection(*({str(row["question"]) for row in rows} for rows in answers.values()))
    stale = invalid_questions(store, dataset)
    failed = {
        run: {str(row["question"]) for row in rows if row["missing"] or row["failed"]} & questions - stale.keys()
        for run, rows in answers.items()
    }
    stored = stored_runs(store, dataset, failed, questions, measures, engine)
    by, cluster, failed_as = options.get("by"), options.get("cluster"), options.get("failed_as", "worst")
    symmetric = options.get("symmetric", False)
    one, two = (
        _compared_run(store, name, [stored[run] for run in side], failed_as, baseline=name == first and not symmetric)
        for name, side in zip((first, second), sides, strict=True)
    )
    return ComparisonSource(
        one,
        two,
        len(questions),
        dict.fromkeys(one.values, questions),
        dataset=dataset,
        members={} if by is None else {name: some & questions for name, some in _members(store, dataset, by).items()},
        clusters=None if cluster is None else _clusters(store, dataset, questions, cluster),
        stale=stale.keys(),
        warnings=(
            *_warnings(store, dataset, answers, stale, stored, () if symmetric else sides[0], failed_as),
            *unlogged_warning(two, failed_as),
        ),
        categories={str(row["question"]): str(row["category"]) for row in answers[sides[1][0]] if row["category"]},
        edges=partial(_edges, store, first, second) if len(every) == len(sides) else None,
        commands=(command_text("failures", sides[0][0]), command_text("failures", sides[1][0])),
    )


def _compared_run(
    store: Store, name: str, runs: Sequence[StoredRun], failed_as: FailedAs, *, baseline: bool
) -> ComparedRun:
    whole, (run, repeated) = pooled_run(runs, failed_as, baseline=baseline), (runs[0].run, len(runs) > 1)
    failed = dict[str, str | None].fromkeys(whole.failed)
    return ComparedRun(
        name,
        whole.values,
        RunFacts(failed),
        gold=whole.gold,
        unlogged=whole.unlogged,
        strict=whole.strict,
        untyped={one for one in whole.values if whole.relations.never and compares_relations(one)},
        most_failed=max(len(one.failed) for one in runs),
        sentence=partial(_sentence, name, runs) if repeated else None,
        repetitions={one.run: one.values for one in runs} if repeated else {},
        reasons=partial(_unscored, store, run),
        read_facts=None if repeated else partial(_facts, store, run, failed),
        usage=partial(_usage, store, [one.run for one in runs]),
        explain=lambda repetition, question: why(repetition or name, question, store=store),
    )


def _unscored(store: Store, run: str, measure: str) -> Counter[str]:
    """Return why questions have no stored score by a measure, the most frequent reason first, without failures."""
    rows = store.read(cypher("read/unscored"), {"run": run, "measure": measure})
    found, *_ = count_reasons(str(row["reason"]) for row in rows)
    return Counter(dict(found.most_common()))


def _facts(store: Store, run: str, failed: Mapping[str, str | None], measures: Iterable[str]) -> RunFacts:
    """Return the facts about a run in the graph, whose usage is read from its file: the graph stores none.

    The reasons are those of stored scores; a measure that was computed for the comparison has none.
    """
    unscored = {name: _unscored(store, run, name) for name in measures}
    try:
        file, _ = run_source(store, run)
    except InputError as error:
        return RunFacts(failed, listed(unscored), unknown=error.what)
    usage = summarised(figures_of(answer) for _, answer in records_of(file, Problems("skip")))
    return RunFacts(failed, listed(unscored), usage)


def _usage(store: Store, runs: Iterable[str]) -> RunUsage:
    sources = [run_source(store, run) for run in runs]
    return RunUsage.of_files((file, Dataset(folder)) for file, folder in sources)


def runs_of(store: Store, name: str) -> list[str]:
    """Return the run of a name, or the runs that repeat the system of that name.

    Raises
    ------
    InputError
        There is neither.
    """
    known = [str(row["id"]) for row in store.read(cypher("read/runs"))]
    if name not in known and (repeated := repetitions_by_name(known).get(name)):
        return repeated
    require_run(store, name)
    return [name]


def _sides(store: Store, first: str, second: str) -> tuple[str, tuple[list[str], list[str]]]:
    """Return the dataset of two runs or systems, and the runs of each."""
    sides = runs_of(store, first), runs_of(store, second)
    refuse_itself(first, second)
    of_run = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    datasets = {of_run[run]: run for side in reversed(sides) for run in reversed(side)}
    if len(datasets) > 1:
        (one, run), (two, other) = [*datasets.items()][:2]
        raise InputError(
            f"the runs answer different questions: {other} is of the dataset {two!r}, {run} of {one!r}",
            remedy="Compare runs over the same dataset.",
        )
    return next(iter(datasets)), sides


def _sentence(name: str, runs: Sequence[StoredRun], measure: str | None) -> str:
    """Return that a system stands for its repetitions, with the spread of a measure."""
    columns = [] if measure is None else [[*run.values[measure].values()] for run in runs if run.values.get(measure)]
    means = [math.fsum(one) / len(one) for one in columns]
    return repeated_in_words(name, len(runs), means, measure, sum(len(run.failed) for run in runs))


def _warnings(
    store: Store,
    dataset: str,
    answers: Mapping[str, Sequence[Mapping[str, Any]]],
    stale: Mapping[str, str],
    stored: Mapping[str, StoredRun],
    first: Container[str],
    failed_as: FailedAs,
) -> Iterator[str]:
    """Yield warnings: missing records and failures of either run, relations, stale gold, changes of the dataset."""
    for run, rows in answers.items():
        missing, failed = (sum(bool(row[kind]) for row in rows) for kind in ("missing", "failed"))
        if run not in first:  # what a baseline lacks is listed by name
            yield from unanswered_warning(run, missing, failed, len(rows), failed_as)
        yield from relations_warning(run, stored[run].relations)
    partial = partial_runs(store)
    for run in answers:
        if run in partial:
            yield f"{partial[run]}: only questions that both runs store are compared, which aren't all or a fair choice"
    if stale:
        yield f"the gold of {counted(len(stale), 'question')} is stale: not compared"
    for row in store.read(cypher("read/datasets")):
        with contextlib.suppress(InputError, OSError):  # the folder may be gone, or on another machine
            if row["name"] == dataset and row["digest"] != dataset_digest(Dataset(str(row["folder"]))):
                yield (
                    f"{row['folder']} has changed since it was loaded: both runs are scored by what the graph holds "
                    "(`graphkit load` brings it up to date)"
                )


def _members(store: Store, dataset: str, by: By) -> dict[str, set[str]]:
    """Return the questions of each group, in the order of the groups' names."""
    rows = read_questions(store, "read/question_groups", sorted(question_ids(store, dataset)), {"dataset": dataset})
    if by not in LABELS:
        commits = CommitGraph()
        commits.places = known_places(store, dataset)
        return Slices.of_cases(by, (_asked(row, commits) for row in rows)).members()
    members: dict[str, set[str]] = {}
    for row in rows:
        members.setdefault(str(row[by] or NO_LABEL), set()).add(str(row["question"]))
    return dict(sorted(members.items()))


def _asked(row: Mapping[str, Any], commits: CommitGraph) -> Case:
    """Return the case of a question in the graph with what its slices follow from."""
    paths = []
    for path in row["paths"]:
        parts = zip(*(path[name] for name in ("sources", "targets", "relations", "optional")), strict=True)
        steps = [StepStruct(one, other, relation or None, free) for one, other, relation, free in parts]
        paths.append(GoldPathStruct(id=path["id"], group=path["group"], steps=steps, ordered=path["ordered"]))
    relevant = dict.fromkeys(row["relevant_ids"] or (), 1.0)
    # The pins of the stack, too: the question's own come first.
    pins = dict([*row["stack_pins"], *row["pins"]])
    return Case(
        QuestionStruct(row["question"], "", session=row["session"], commits=pins, paths=paths, relevant=relevant),
        None,
        commits,
    )


def _clusters(store: Store, dataset: str, questions: Iterable[str], by: ClusterBy) -> QuestionClusters:
    """Return the clusters of questions by what the graph holds of their gold."""
    found = read_questions(store, "read/question_groups", sorted(questions), {"dataset": dataset})
    rows = {str(row["question"]): row for row in found}
    if by in ("repo", "repo-set"):
        repos = {one: {*_names(row["repositories"]), *_names(row["relevant"])} for one, row in rows.items()}
        return QuestionClusters.by_repositories(by, repos)
    return QuestionClusters.by_label(by, {one: None if not row[by] else str(row[by]) for one, row in rows.items()})


def _names(value: Any) -> list[str]:
    return [str(name) for name in value or ()]


def _edges(
    store: Store, first: str, second: str, questions: Sequence[str]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the gold edges of each question that only the second and that only the first run traversed, each once."""

    def only(run: str, other: str, question: str) -> tuple[str, ...]:
        rows = failures(store, run, "found-and-lost", question=question, other=other)
        return tuple(dict.fromkeys(f"{row['source']} -{row['relation'] or ''}-> {row['target']}" for row in rows))

    return {one: (only(second, first, one), only(first, second, one)) for one in questions}
