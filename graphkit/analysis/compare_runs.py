"""Compares two runs in the graph on the questions that both were scored on."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

from graphkit.analysis.gold_comparisons import GoldComparison
from graphkit.analysis.run_comparisons import RunComparison, worst_repetitions
from graphkit.analysis.run_facts import RunFacts, facts_in_graph, unscored_in_graph
from graphkit.analysis.run_pairs import (
    By,
    PairingOptions,
    Pairs,
    refuse_itself,
    relations_warning,
    unanswered_warning,
    unlogged_warning,
)
from graphkit.analysis.scales import scale_of
from graphkit.analysis.shared_values import strict_in_graph, values_of
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.dataset import Dataset
from graphkit.graph.digests import dataset_digest
from graphkit.graph.failures import failures
from graphkit.graph.knowledge import invalid_questions, question_ids
from graphkit.graph.known_names import partial_runs, require_run
from graphkit.graph.queries import cypher
from graphkit.graph.question_ranges import read_questions
from graphkit.measures.base import Measure
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.unanswered import MISSING, NOT_LOGGED, FailedAs
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.repeated_systems import pooled_column, repeated_in_words


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
        See :class:`~graphkit.analysis.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A run is unknown or compared with itself, the runs are of different datasets, or a measure can't be compared:
        different versions scored it, or the graph neither holds it for both runs nor computes it.
    """
    dataset, sides = _sides(store, first, second)
    every = [run for side in sides for run in side]
    held, gold, unlogged = values_of(store, dataset, every, measures, engine)
    ids = sorted(question_ids(store, dataset))
    answers = {run: list(read_questions(store, "read/answers", ids, {"run": run})) for run in every}
    stale = invalid_questions(store, dataset)
    # Of runs that are stored in part, those that all hold.
    questions = set[str].intersection(*({str(row["question"]) for row in rows} for rows in answers.values()))
    held = [
        {name: {one: value for one, value in values.items() if one in questions} for name, values in of_run.items()}
        for of_run in held
    ]
    strict_values, relations = strict_in_graph(store, dataset, every, held, stale)
    failed = [_failed(answers[run], stale) & questions for run in every]
    named = (first, second)
    stored = [StoredRun(*found) for found in zip(held, unlogged, strict_values, failed, strict=True)]
    how = options.get("failed_as", "worst")
    old, new = ([stored[every.index(run)] for run in some] for some in sides)
    one, two = pooled_run(old, how, baseline=True), pooled_run(new, how)
    before, after = one.values, two.values
    of_gold = [
        {name: _merged(gold[every.index(run)].get(name, {}) for run in some) for name in before} for some in sides
    ]
    check = GoldComparison.hold(named, (before, after), (of_gold[0], of_gold[1]), strict)
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in before}
    by, cluster = options.get("by"), options.get("cluster")
    clusters = None if cluster is None else _clusters(store, dataset, questions, cluster)
    edges_of = [RelationCounts.total(relations[every.index(run)] for run in some) for some in sides]
    pairs = Pairs(
        named,
        before,
        after,
        (one.failed, two.failed),
        scales,
        options,
        clusters,
        (one.unlogged, two.unlogged),
        (one.strict, two.strict),
        (edges_of[0], edges_of[1]),
    )
    repeated = any(len(some) > 1 for some in sides)
    compared = pairs.compared(
        check,
        _members(store, dataset, by) if by is not None else {},
        dict.fromkeys(before, questions),
        len(questions),
        dataset=dataset,
        warnings=(
            *_warnings(store, dataset, answers, stale, dict(zip(every, relations, strict=True)), sides[0], how),
            *unlogged_warning(second, two.unlogged, after, pairs.failed_as),
        ),
        stale=stale,
        edges=partial(_edges, store) if not repeated else lambda run, other, question: (),
        facts=(RunFacts(dict.fromkeys(one.failed)), RunFacts(dict.fromkeys(two.failed))),
        commands=(command_text("failures", sides[0][0]), command_text("failures", sides[1][0])),
    )
    deciding = compared.headline.measure if compared.headline is not None else None
    most = [max(len(run.failed) for run in side) for side in (old, new)]
    both = zip(named, (old, new), strict=True)
    compared = dataclasses.replace(
        compared,
        repeated={name: _sentence(name, side, deciding) for name, side in both if len(side) > 1},
        repetition_of=worst_repetitions(
            compared.losses,
            deciding,
            {run: stored[every.index(run)].values for run in sides[1]} if len(new) > 1 else {},
        ),
        most_failed=(most[0], most[1]),
    )
    second_run = sides[1][0]
    categories = {str(row["question"]): str(row["category"]) for row in answers[second_run] if row["category"]}
    compared = dataclasses.replace(compared, categories=categories)
    if not compared.lost:
        return compared
    reasons = {one.measure: unscored_in_graph(store, second_run, one.measure) for one in compared.lost}
    return dataclasses.replace(
        compared,
        lost=tuple(one._replace(reason=next(iter(reasons[one.measure]), None)) for one in compared.lost),
    )


def with_facts(store: Store, compared: RunComparison) -> RunComparison:
    """Return a comparison of runs in the graph with why questions have no value, and with what the runs took."""
    known = [one.measure for one in compared.overall], [one.measure for one in compared.lost]
    measures = [*known[0], *known[1], *compared.unscored]
    first, second = (
        facts if run in compared.repeated else facts_in_graph(store, run, dict.fromkeys(measures), facts.failed)
        for run, facts in zip((compared.first, compared.second), compared.facts, strict=True)
    )
    return dataclasses.replace(compared, facts=(first, second))


def _failed(answers: Iterable[Mapping[str, Any]], stale: Container[str]) -> set[str]:
    """Return the questions with valid gold that a run failed on, or has no record for."""
    return {
        str(row["question"]) for row in answers if (row["missing"] or row["failed"]) and row["question"] not in stale
    }


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


class StoredRun(NamedTuple):
    """The values that the graph holds for a run, in the form of :class:`~graphkit.analysis.run_pairs.Pairs`."""

    values: dict[str, dict[str, float]]
    unlogged: dict[str, set[str]]
    strict: dict[str, dict[str, float]]
    failed: set[str]

    def columns(self, measure: str) -> tuple[dict[str, float | str], dict[str, float | str]]:
        """Return the value by a measure of each question, or the reason why it has none; and as gates take relations.

        Questions without a value for other reasons aren't there.
        """
        column: dict[str, float | str] = {}
        column |= dict.fromkeys(self.unlogged.get(measure, ()), NOT_LOGGED)
        column |= dict.fromkeys(self.failed, MISSING)
        column |= self.values[measure]
        return column, {**column, **self.strict.get(measure, {})}


def pooled_run(runs: Sequence[StoredRun], failed_as: FailedAs, *, baseline: bool = False) -> StoredRun:
    """Return runs that repeat one system as one; see :func:`graphkit.scoring.repeated_systems.pooled`."""
    if len(runs) == 1:
        return runs[0]
    found = StoredRun({}, {}, {}, set.intersection(*(run.failed for run in runs)))
    for name in runs[0].values:
        both = zip(*(run.columns(name) for run in runs), strict=True)
        lenient, counts = (pooled_column(name, column, failed_as, baseline=baseline) for column in both)
        found.values[name] = {one: value for one, value in lenient.items() if isinstance(value, float)}
        found.unlogged[name] = {one for one, value in lenient.items() if value == NOT_LOGGED}
        found.strict[name] = {
            one: value for one, value in counts.items() if isinstance(value, float) and value != lenient[one]
        }
    return found


def _sentence(name: str, runs: Sequence[StoredRun], measure: str | None) -> str:
    """Return that a system stands for its repetitions, with the spread of a measure."""
    columns = [] if measure is None else [[*run.values[measure].values()] for run in runs if run.values.get(measure)]
    means = [math.fsum(one) / len(one) for one in columns]
    return repeated_in_words(name, len(runs), means, measure, sum(len(run.failed) for run in runs))


def _merged(some: Iterable[Mapping[str, str | None]]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for one in some:
        found |= one
    return found


def _warnings(
    store: Store,
    dataset: str,
    answers: Mapping[str, Sequence[Mapping[str, Any]]],
    stale: Mapping[str, str],
    relations: Mapping[str, RelationCounts],
    first: Container[str],
    failed_as: FailedAs,
) -> Iterator[str]:
    """Yield warnings: missing records and failures of either run, relations, stale gold, changes of the dataset."""
    for run, rows in answers.items():
        missing, failed = (sum(bool(row[kind]) for row in rows) for kind in ("missing", "failed"))
        if run not in first:  # what a baseline lacks is listed by name
            yield from unanswered_warning(run, missing, failed, len(rows), failed_as)
        yield from relations_warning(run, relations[run])
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
    members: dict[str, set[str]] = {}
    for row in read_questions(
        store, "read/question_groups", sorted(question_ids(store, dataset)), {"dataset": dataset}
    ):
        value: Any = row[{"repo": "repositories", "relation": "relations"}.get(by, by)]
        for name in (value or [None]) if isinstance(value, list) else [value]:
            members.setdefault(str(name) if name else NO_LABEL, set()).add(str(row["question"]))
    return dict(sorted(members.items()))


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


def _edges(store: Store, run: str, other: str, question: str) -> tuple[str, ...]:
    """Return the gold edges of a question that one run traversed and the other did not, each once."""
    rows = failures(store, run, "found-and-lost", question=question, other=other)
    return tuple(dict.fromkeys(f"{row['source']} -{row['relation'] or ''}-> {row['target']}" for row in rows))
