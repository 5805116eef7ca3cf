"""What the graph holds of runs that are compared: scores, or values that are computed there now."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Literal, NamedTuple

from graphkit.analysis.config import BY_TEXT, COMPARED
from graphkit.database.store import Store
from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.graph.knowledge import invalid_questions, question_ids
from graphkit.graph.queries import cypher
from graphkit.graph.score_nodes import Grading, gradings, held_values
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.registry import known_measure, resolve_measures
from graphkit.records.scores import GRAPHKIT
from graphkit.records.unanswered import MISSING, NOT_LOGGED, FailedAs, is_unlogged
from graphkit.scoring.cypher_scoring import measure_values, relation_counts
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.repeated_systems import pooled_column


class StoredRun(NamedTuple):
    """A run in the graph; see :class:`~graphkit.plugins.compare.compared_runs.ComparedRun`."""

    run: str
    values: dict[str, dict[str, float]]
    unlogged: dict[str, set[str]]
    strict: dict[str, dict[str, float]]
    failed: set[str]
    gold: dict[str, dict[str, str | None]]
    relations: RelationCounts

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
    gold: dict[str, dict[str, str | None]] = {name: {} for name in runs[0].values}
    for run in runs:
        for name, known in gold.items():
            known |= run.gold.get(name, {})
    relations = RelationCounts.total(run.relations for run in runs)
    found = StoredRun("", {}, {}, {}, set.intersection(*(run.failed for run in runs)), gold, relations)
    for name in runs[0].values:
        both = zip(*(run.columns(name) for run in runs), strict=True)
        lenient, counts = (pooled_column(name, column, failed_as, baseline=baseline) for column in both)
        found.values[name] = {one: value for one, value in lenient.items() if isinstance(value, float)}
        found.unlogged[name] = {one for one, value in lenient.items() if value == NOT_LOGGED}
        found.strict[name] = {
            one: value for one, value in counts.items() if isinstance(value, float) and value != lenient[one]
        }
    return found


def stored_runs(
    store: Store,
    dataset: str,
    failed: Mapping[str, set[str]],
    questions: Container[str],
    measures: Sequence[str | Measure],
    engine: Literal["cypher"] | None = None,
) -> dict[str, StoredRun]:
    """Return what the graph holds of some runs by each measure, for some questions.

    Scores in the graph are used, whoever gave them. A built-in measure that isn't stored for all runs, or is outdated
    by a change of the dataset or of commits, is computed in the graph for all; with ``engine="cypher"`` every one is.

    Parameters
    ----------
    failed
        The questions that each run failed on or has no record for, by the name of the run.

    Raises
    ------
    InputError
        Different versions scored a measure, or the graph neither holds it for all runs nor computes it.
    """
    held = {run: gradings(store, run) for run in failed}
    invalid = invalid_questions(store, dataset)
    found = {run: StoredRun(run, {}, {}, {}, some, {}, RelationCounts()) for run, some in failed.items()}
    by_text = [name for name in BY_TEXT if engine is None and all(name in of_run for of_run in held.values())]
    for measure in measures or [*COMPARED, *by_text]:
        own = _own(measure)
        name = str(own or measure)
        computed = engine == "cypher" or not _all_hold(name, held)
        if computed and (own is None or own.query is None):
            raise _incomparable(name, held, engine)
        for run, one in found.items():
            if computed:
                column = measure_values(store, dataset, run, own, invalid)  # type: ignore[arg-type]
                values = {question: value for question, value in column.items() if isinstance(value, float)}
                reasons = {question: value.reason for question, value in column.items() if isinstance(value, Unscored)}
            else:
                values, one.gold[name] = held_values(store, run, name)
                rows = store.read(cypher("read/unscored"), {"run": run, "measure": name})
                reasons = {str(row["question"]): str(row["reason"]) for row in rows}
            one.values[name] = {question: value for question, value in values.items() if question in questions}
            one.unlogged[name] = {question for question, reason in reasons.items() if is_unlogged(reason)}
    valid = sorted({*question_ids(store, dataset)} - invalid.keys())
    return {run: _with_relations(store, dataset, one, valid, invalid) for run, one in found.items()}


def _with_relations(
    store: Store, dataset: str, one: StoredRun, valid: Sequence[str], invalid: Mapping[str, str]
) -> StoredRun:
    """Return a run with its edges without a relation, and the values that differ where these match nothing."""
    typed = [own for name in one.values if (own := known_measure(name)) is not None and own.compares_relations]
    counts = relation_counts(store, one.run, valid) if typed else RelationCounts()
    for measure in typed if counts.stricter else ():
        column = measure_values(store, dataset, one.run, measure, invalid, strict=True)
        held = one.values[str(measure)]
        one.strict[str(measure)] = {
            question: value
            for question, value in column.items()
            if isinstance(value, float) and held.get(question, value) != value
        }
    return one._replace(relations=counts)


def _own(measure: str | Measure) -> Measure | None:
    """Return a measure of graphkit, with its cut-off; None if others give it."""
    try:
        return resolve_measures([measure])[0]
    except MeasureError:
        return None


def _all_hold(name: str, held: Mapping[str, Mapping[str, Grading]]) -> bool:
    """Return whether all runs have current scores by a measure; raise an InputError if their versions differ."""
    every = {run: of_run[name] for run, of_run in held.items() if name in of_run and of_run[name].complete}
    if len(every) < len(held):
        return False
    first = next(iter(every))
    for run, one in every.items():
        if one.given_by != every[first].given_by:
            raise InputError(
                f"the scores by {name} are of different versions: {first} was scored by {every[first].given_by}, "
                f"{run} by {one.given_by}",
                remedy=_ANEW if GRAPHKIT in (one.grader, every[first].grader) else "Score both by the same version.",
            )
    return all(one.current for one in every.values())


_ANEW = "Score both runs again: `graphkit evaluate RUN.jsonl` stores the scores."


def _incomparable(name: str, held: Mapping[str, Mapping[str, Grading]], engine: str | None) -> InputError:
    """Return the error on why two runs can't be compared by a measure."""
    if engine == "cypher":
        remedy = "Without --engine cypher, its stored scores are read, if there are any."
        return InputError(f"not computed in the graph: {name}", remedy=remedy)
    for run, of_run in held.items():
        known = [measure for measure, grading in of_run.items() if grading.complete]
        if name not in known:
            return InputError(
                f"{run} has no scores by {name}",
                remedy=f"{did_you_mean(name, known)}`graphkit evaluate RUN.jsonl -m {name}` computes built-in measures "
                "and yours, and `graphkit load-scores` loads scores that others gave. "
                f"It has: {', '.join(known) or 'none'}.",
            )
    return InputError(
        f"the dataset, or the history of a repository, has changed since a run was scored by {name}", remedy=_ANEW
    )
