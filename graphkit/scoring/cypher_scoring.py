"""Score a run in the graph by one set-based query per measure, over all questions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.knowledge import invalid_questions
from graphkit.graph.queries import cypher
from graphkit.measures.base import Measure, Unscored
from graphkit.records.commits import DEFAULT_BRANCHES, WINDOW
from graphkit.records.unanswered import MISSING
from graphkit.scoring.results import Evaluation, Row, Totals


def measure_values(
    store: Store, dataset: str, run: str, measure: Measure, invalid: Mapping[str, str] | None = None
) -> dict[str, float | Unscored]:
    """Return the value of one measure for each question of a dataset, computed by the database.

    Parameters
    ----------
    invalid
        The questions without a value and their reasons; by default those of :func:`invalid_questions`.

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
    totals = Totals(len(measures), invalid.values())
    questions = store.read(cypher("read/answers"), {"dataset": dataset, "run": run})
    for index, column in enumerate(columns):
        values = [column[str(question["question"])] for question in questions]
        totals.add_values(index, [value for value in values if not isinstance(value, Unscored)])
        totals.add_unscored(index, values)
    rows = []
    for question in questions:
        name = str(question["question"])
        totals.questions += 1
        totals.missing += bool(question["missing"])
        totals.failed += bool(question["failed"])
        totals.no_answer += bool(question["missing"] or question["failed"]) and name not in invalid
        if keep_rows:
            own = (column[name] for column in columns)
            labels = (question["category"], question["difficulty"], question["group"])
            rows.append(
                Row(
                    name,
                    tuple(value.reason if isinstance(value, Unscored) else value for value in own),
                    tuple(str(label) if label else None for label in labels),
                )
            )
    return Evaluation(
        run=run,
        dataset=dataset,
        questions=totals.questions,
        failed=totals.failed,
        missing=totals.missing,
        unanswered=totals.no_answer,
        invalid=invalid,
        measures=totals.summaries([str(measure) for measure in measures]),
        rows=tuple(rows),
        unscored=totals.unscored([str(measure) for measure in measures]),
    )
