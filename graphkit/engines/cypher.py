"""Score a run in the graph: one set-based query a measure, over all questions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.commits import DEFAULT_BRANCHES, WINDOW, CommitGraph
from graphkit.graph.catalog import cypher
from graphkit.graph.connection import Store
from graphkit.measures.base import MISSING, Measure, Unscored
from graphkit.models import Commit, Compatibility
from graphkit.results import Evaluation, Row, Totals


def invalid_questions(store: Store, dataset: str) -> dict[str, str]:
    """Return the questions of a dataset that aren't scored whatever a run did, and why."""
    return {
        str(row["question"]): str(row["reason"]) for row in store.read(cypher("read/invalid"), {"dataset": dataset})
    }


def measure_values(
    store: Store, dataset: str, run: str, measure: Measure, invalid: Mapping[str, str] | None = None
) -> dict[str, float | Unscored]:
    """Return the value of one measure for each question of a dataset, computed by the database.

    Parameters
    ----------
    invalid
        What :func:`invalid_questions` says, which is asked where it isn't given: these have no value.

    Raises
    ------
    ValueError
        The measure has no Cypher form (``measure.query`` is None).
    """
    if measure.query is None:
        raise ValueError(f"{measure} has no Cypher form")
    parameters: dict[str, Any] = {
        "dataset": dataset,
        "run": run,
        "missing": MISSING,
        "window_ms": int(WINDOW.total_seconds() * 1000),
        "default_branches": sorted(DEFAULT_BRANCHES),
        **measure.parameters(),
    }
    values: dict[str, float | Unscored] = {}
    for row in store.read(cypher(f"measures/{measure.query}"), parameters):
        value = row["value"]
        values[str(row["question"])] = Unscored(str(row["reason"])) if value is None else float(str(value))
    for question, reason in (invalid_questions(store, dataset) if invalid is None else invalid).items():
        values[question] = Unscored(reason)
    return values


def score_run(store: Store, dataset: str, run: str, measures: Sequence[Measure], keep_rows: bool = True) -> Evaluation:
    """Score a run that the graph holds. The result is that of the Python engine, to 1e-9."""
    invalid = invalid_questions(store, dataset)
    columns = [measure_values(store, dataset, run, measure, invalid) for measure in measures]
    totals = Totals(len(measures))
    questions = store.read(cypher("read/answers"), {"dataset": dataset, "run": run})
    rows = []
    for question in questions:
        name = str(question["question"])
        totals.questions += 1
        totals.missing += bool(question["missing"])
        totals.failed += bool(question["failed"])
        values: list[float | str] = []
        for index, column in enumerate(columns):
            value = column[name]
            if isinstance(value, Unscored):
                values.append(value.reason)
            else:
                totals.sums[index] += value
                totals.scored[index] += 1
                values.append(value)
        if keep_rows:
            labels = (question["category"], question["difficulty"], question["group"])
            rows.append(Row(name, tuple(values), tuple(str(label) if label else None for label in labels)))
    return Evaluation(
        run=run,
        dataset=dataset,
        questions=totals.questions,
        failed=totals.failed,
        missing=totals.missing,
        invalid=invalid,
        measures=totals.summaries([str(measure) for measure in measures]),
        rows=tuple(rows),
    )


def commit_graph(store: Store, dataset: str) -> CommitGraph:
    """Return what the graph knows about commits, from every source; a dataset's own rows keep their ids."""
    commits = [
        Commit.model_validate({name: row[name] for name in ("repo", "sha", "branch", "committed_at")})
        for row in store.read(cypher("read/commits"))
    ]
    stacks = sorted(store.read(cypher("read/stacks")), key=lambda row: row["dataset"] != dataset)
    rows = [
        # Not validated again: the dataset in front of an id may make it longer than a name in a file.
        Compatibility.model_construct(
            id=row["id"] if row["dataset"] == dataset else f"{row['dataset']}/{row['id']}",
            commits=dict(row["members"]),  # type: ignore[call-overload]
            compatible=row["compatible"],
            environment=row["environment"],
        )
        for row in stacks
    ]
    return CommitGraph.build(commits, rows)
