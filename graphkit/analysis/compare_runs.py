"""Compares two runs in the graph on the questions that both were scored on."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack

from graphkit.analysis.gold_comparisons import GoldComparison
from graphkit.analysis.run_comparisons import RunComparison
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
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters


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
    dataset = _common_dataset(store, first, second)
    (before, after), gold, unlogged = values_of(store, dataset, (first, second), measures, engine)
    check = GoldComparison.hold((first, second), (before, after), gold, strict)
    ids = sorted(question_ids(store, dataset))
    answers = {run: list(read_questions(store, "read/answers", ids, {"run": run})) for run in (first, second)}
    stale = invalid_questions(store, dataset)
    asked = [{str(row["question"]) for row in rows} for rows in answers.values()]
    questions = asked[0] & asked[1]  # of runs that are stored in part, those that both hold
    failed = _failed(answers[first], stale) & questions, _failed(answers[second], stale) & questions
    before, after = (
        {name: {one: value for one, value in values.items() if one in questions} for name, values in of_run.items()}
        for of_run in (before, after)
    )
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in before}
    by, cluster = options.get("by"), options.get("cluster")
    clusters = None if cluster is None else _clusters(store, questions, cluster)
    strict_values, relations = strict_in_graph(store, dataset, (first, second), (before, after), stale)
    runs = first, second
    pairs = Pairs(runs, before, after, failed, scales, options, clusters, unlogged, strict_values, relations)
    compared = pairs.compared(
        check,
        _members(store, dataset, by) if by is not None else {},
        dict.fromkeys(before, questions),
        len(questions),
        dataset=dataset,
        warnings=(
            *_warnings(store, dataset, answers, stale, pairs),
            *unlogged_warning(second, unlogged[1], after, pairs.failed_as),
        ),
        stale=stale,
        edges=partial(_edges, store),
        facts=(RunFacts(dict.fromkeys(failed[0])), RunFacts(dict.fromkeys(failed[1]))),
        commands=(command_text("failures", first), command_text("failures", second)),
    )
    categories = {str(row["question"]): str(row["category"]) for row in answers[second] if row["category"]}
    compared = dataclasses.replace(compared, categories=categories)
    if not compared.lost:
        return compared
    reasons = {one.measure: unscored_in_graph(store, second, one.measure) for one in compared.lost}
    return dataclasses.replace(
        compared,
        lost=tuple(one._replace(reason=next(iter(reasons[one.measure]), None)) for one in compared.lost),
    )


def with_facts(store: Store, compared: RunComparison) -> RunComparison:
    """Return a comparison of runs in the graph with why questions have no value, and with what the runs took."""
    known = [one.measure for one in compared.overall], [one.measure for one in compared.lost]
    measures = [*known[0], *known[1], *compared.unscored]
    first, second = (
        facts_in_graph(store, run, dict.fromkeys(measures), facts.failed)
        for run, facts in zip((compared.first, compared.second), compared.facts, strict=True)
    )
    return dataclasses.replace(compared, facts=(first, second))


def _failed(answers: Iterable[Mapping[str, Any]], stale: Container[str]) -> set[str]:
    """Return the questions with valid gold that a run failed on, or has no record for."""
    return {
        str(row["question"]) for row in answers if (row["missing"] or row["failed"]) and row["question"] not in stale
    }


def _common_dataset(store: Store, first: str, second: str) -> str:
    require_run(store, first)
    require_run(store, second)
    refuse_itself(first, second)
    datasets = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    if datasets[first] != datasets[second]:
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {datasets[first]!r}, "
            f"{second} of {datasets[second]!r}",
            remedy="Compare runs over the same dataset.",
        )
    return datasets[first]


def _warnings(
    store: Store,
    dataset: str,
    answers: Mapping[str, Sequence[Mapping[str, Any]]],
    stale: Mapping[str, str],
    pairs: Pairs,
) -> Iterator[str]:
    """Yield warnings: missing records and failures of either run, relations, stale gold, changes of the dataset."""
    for (run, rows), relations in zip(answers.items(), pairs.relations, strict=True):
        missing, failed = (sum(bool(row[kind]) for row in rows) for kind in ("missing", "failed"))
        if run != pairs.runs[0]:  # what a baseline lacks is listed by name
            yield from unanswered_warning(run, missing, failed, len(rows), pairs.failed_as)
        yield from relations_warning(run, relations)
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
    for row in read_questions(store, "read/question_groups", sorted(question_ids(store, dataset))):
        value: Any = row[{"repo": "repositories", "relation": "relations"}.get(by, by)]
        for name in (value or [None]) if isinstance(value, list) else [value]:
            members.setdefault(str(name) if name else NO_LABEL, set()).add(str(row["question"]))
    return dict(sorted(members.items()))


def _clusters(store: Store, questions: Iterable[str], by: ClusterBy) -> QuestionClusters:
    """Return the clusters of questions by what the graph holds of their gold."""
    rows = {str(row["question"]): row for row in read_questions(store, "read/question_groups", sorted(questions))}
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
