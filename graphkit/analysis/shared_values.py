"""The values by which two runs are compared: scores in the graph, or computed there now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from graphkit.analysis.config import BY_TEXT, COMPARED
from graphkit.database.store import Store
from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.graph.knowledge import invalid_questions, question_ids
from graphkit.graph.queries import cypher
from graphkit.graph.score_nodes import Grading, gradings, held_values
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.registry import known_measure, resolve_measures
from graphkit.records.scores import GRAPHKIT
from graphkit.records.unanswered import is_unlogged
from graphkit.scoring.cypher_scoring import measure_values, relation_counts
from graphkit.scoring.relation_counts import RelationCounts

Values = dict[str, dict[str, float]]
Gold = dict[str, dict[str, str | None]]
Unlogged = dict[str, set[str]]


def values_of(
    store: Store,
    dataset: str,
    runs: Sequence[str],
    measures: Sequence[str | Measure],
    engine: Literal["cypher"] | None = None,
) -> tuple[list[Values], list[Gold], list[Unlogged]]:
    """Return the values of some runs by each measure, and the gold that the stored ones were given for, if known.

    The third part are by measure the questions of each run whose record doesn't log what it needs.

    Scores in the graph are used, whoever gave them. A built-in measure that isn't stored for all runs, or is outdated
    by a change of the dataset or of commits, is computed in the graph for all; with ``engine="cypher"`` every one is.

    Raises
    ------
    InputError
        Different versions scored a measure, or the graph neither holds it for all runs nor computes it.
    """
    held = {run: gradings(store, run) for run in runs}
    invalid = invalid_questions(store, dataset)
    found: list[Values] = [{} for _ in runs]
    gold: list[Gold] = [{} for _ in runs]
    unlogged: list[Unlogged] = [{} for _ in runs]
    by_text = [name for name in BY_TEXT if engine is None and all(name in of_run for of_run in held.values())]
    for measure in measures or [*COMPARED, *by_text]:
        own = _own(measure)
        name = str(own or measure)
        computed = engine == "cypher" or not _all_hold(name, held)
        if computed and (own is None or own.query is None):
            raise _incomparable(name, held, engine)
        for values, of_run, lacking, run in zip(found, gold, unlogged, runs, strict=True):
            if computed:
                column = measure_values(store, dataset, run, own, invalid)  # type: ignore[arg-type]
                values[name] = {question: value for question, value in column.items() if isinstance(value, float)}
                reasons = {one: value.reason for one, value in column.items() if isinstance(value, Unscored)}
            else:
                values[name], of_run[name] = held_values(store, run, name)
                rows = store.read(cypher("read/unscored"), {"run": run, "measure": name})
                reasons = {str(row["question"]): str(row["reason"]) for row in rows}
            lacking[name] = {one for one, reason in reasons.items() if is_unlogged(reason)}
    return found, gold, unlogged


def strict_in_graph(
    store: Store, dataset: str, runs: Sequence[str], values: Sequence[Values], invalid: Mapping[str, str]
) -> tuple[list[Values], list[RelationCounts]]:
    """Return the values of some runs that differ under strict comparison of relations, and their edges without one."""
    typed = [own for name in values[0] if (own := known_measure(name)) is not None and own.compares_relations]
    valid = sorted({*question_ids(store, dataset)} - invalid.keys())
    found: list[Values] = [{} for _ in runs]
    counts = []
    for run, held, strict in zip(runs, values, found, strict=True):
        counts.append(relation_counts(store, run, valid) if typed else RelationCounts())
        for measure in typed if counts[-1].partly else ():
            column = measure_values(store, dataset, run, measure, invalid, strict=True)
            name = str(measure)
            strict[name] = {
                question: value
                for question, value in column.items()
                if isinstance(value, float) and held[name].get(question, value) != value
            }
    return found, counts


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
