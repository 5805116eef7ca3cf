"""Score a run in the graph by set-based queries, one per measure for each range of questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.knowledge import invalid_questions
from graphkit.graph.queries import cypher
from graphkit.graph.question_ranges import question_ranges, read_questions
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.matching import NOT_STATED
from graphkit.measures.owners import of_rightly_declined, text_of
from graphkit.records.commits import DEFAULT_BRANCHES, WINDOW, CommitGraph
from graphkit.records.unanswered import MISSING
from graphkit.scoring.file_scoring import evaluation_of
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.scorer import Job
from graphkit.scoring.totals import Totals

Values = dict[str, float | Unscored]


def measure_values(
    store: Store,
    dataset: str,
    run: str,
    measure: Measure,
    invalid: Mapping[str, str] | None = None,
    *,
    strict: bool = False,
) -> Values:
    """Return the value of one measure for each question of a dataset, computed by the database.

    Parameters
    ----------
    invalid
        The questions without a value and their reasons; by default those of :func:`invalid_questions`.
    strict
        Let traversed edges without a relation match no gold edge that has one.

    Raises
    ------
    ValueError
        The measure has no Cypher form (``measure.query`` is None).
    """
    stale = invalid_questions(store, dataset) if invalid is None else invalid
    values: Values = {}
    for questions in question_ranges(store, dataset):
        values |= _range_values(store, dataset, run, measure, questions, stale, strict=strict)
    return values


def relation_counts(store: Store, run: str, questions: Sequence[str]) -> RelationCounts:
    """Return how many edges of a run in the graph are compared without relation or direction, over some questions."""
    rows = read_questions(store, "read/relation_counts", questions, {"run": run})
    names = ("edges", "without", "directionless", "unversioned")
    return RelationCounts.total(RelationCounts(*(int(str(row[name])) for name in names)) for row in rows)


def score_run(store: Store, dataset: str, run: str, measures: Sequence[Measure], keep_rows: bool = True) -> Evaluation:
    """Score a run that the graph holds. The result is that of the Python engine, to 1e-9.

    Neither the database nor this process holds more than a range of questions at once, except for the ids and the rows.
    """
    invalid = invalid_questions(store, dataset)
    totals = Totals(len(measures), invalid.values())
    rows: list[Row] = []
    typed = any(measure.compares_relations for measure in measures)
    comparing = [index for index, measure in enumerate(measures) if measure.compares_edges]
    if comparing:
        valid = [one for questions in question_ranges(store, dataset) for one in questions if one not in invalid]
        counts = relation_counts(store, run, valid)
        edges = (counts.edges, counts.without) if typed else (0, 0)
        directed = typed or any(getattr(measure, "directed", False) for measure in measures)
        totals.count_relations(*edges, counts.directionless if directed else 0, counts.unversioned)
    for questions in question_ranges(store, dataset):
        columns = [_range_values(store, dataset, run, measure, questions, invalid) for measure in measures]
        answers = list(read_questions(store, "read/answers", questions, {"run": run}))
        for name in (str(one["question"]) for one in answers if one["rightly_declined"]):
            for column in columns if name not in invalid else ():
                column[name] = of_rightly_declined(column[name])
        for index, column in enumerate(columns):
            totals.add_values(index, [value for value in column.values() if not isinstance(value, Unscored)])
            totals.add_unscored(index, column.values())
        strict: dict[str, list[tuple[str, float]]] = {}
        for index in comparing if totals.edges_without_relation or totals.unversioned else ():
            found = _range_values(store, dataset, run, measures[index], questions, invalid, strict=True)
            for name, value in found.items():
                before = columns[index][name]
                if isinstance(value, float) and isinstance(before, float) and value != before:
                    totals.add_strict(index, before, value)
                    strict.setdefault(name, []).append((str(measures[index]), value))
        for answer in answers:
            name = str(answer["question"])
            totals.questions += 1
            totals.missing += bool(answer["missing"])
            totals.failed += bool(answer["failed"])
            totals.no_answer += bool(answer["missing"] or answer["failed"]) and name not in invalid
            if keep_rows:
                row = _row(name, answer, [column[name] for column in columns])
                rows.append(dataclasses.replace(row, strict=tuple(strict.get(name, ()))))
    job = Job(Path(), Path(), tuple(measures), CommitGraph(), invalid, name=run)
    return dataclasses.replace(evaluation_of(job, dataset, totals, {run}), rows=tuple(rows))


def _range_values(
    store: Store,
    dataset: str,
    run: str,
    measure: Measure,
    questions: Sequence[str],
    invalid: Mapping[str, str],
    *,
    strict: bool = False,
) -> Values:
    """Return the values of some questions; those of questions with stale gold are the reasons."""
    if measure.query is None:
        raise ValueError(f"{measure} has no Cypher form")
    parameters: dict[str, Any] = {
        "dataset": dataset,
        "run": run,
        "missing": MISSING,
        "unstated": NOT_STATED if strict else "",
        "window_ms": int(WINDOW.total_seconds() * 1000),
        "default_branches": sorted(DEFAULT_BRANCHES),
        **measure.parameters(),
        "questions": questions,
    }
    values: Values = {}
    for row in store.read(cypher(f"measures/{measure.query}"), parameters):
        name, value = str(row["question"]), row["value"]
        if name in invalid:
            values[name] = Unscored(invalid[name])
        else:
            values[name] = Unscored(str(row["reason"])) if value is None else float(str(value))
    return values


def _row(question: str, answer: Mapping[str, object], values: Sequence[float | Unscored]) -> Row:
    labels = (answer["category"], answer["difficulty"], answer["group"], answer["split"])
    return Row(
        question,
        tuple(text_of(value) if isinstance(value, Unscored) else value for value in values),
        tuple(str(label) if label else None for label in labels),
        k=None if answer["k"] is None else int(str(answer["k"])),
    )
