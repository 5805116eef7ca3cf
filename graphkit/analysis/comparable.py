"""By what two runs can be compared: the scores that the graph holds of both, or what it can compute of them now."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graphkit.database.store import Store
from graphkit.errors import InputError, MeasureError
from graphkit.graph.scores import Grading, gradings
from graphkit.measures.base import Measure
from graphkit.measures.registry import resolve_measures
from graphkit.records.scores import GRAPHKIT
from graphkit.scoring.in_graph import measure_values

#: Compared where no measure is named: one of each question that a team asks, so that Holm's correction stays mild.
COMPARED = ("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "PathPrefix", "CrossRepoPrecision", "Coherence")
COMPARED_RANKING = ("nDCG@10", "Recall@20", "RR", "Success@5")


def computed_values(
    store: Store, dataset: str, runs: Iterable[str], measures: Sequence[str | Measure]
) -> Iterator[dict[str, dict[str, float]]]:
    """Yield the values of each run by each measure, computed in the graph."""
    chosen = resolve_measures(measures or (*COMPARED, *COMPARED_RANKING))
    text_only = [str(measure) for measure in chosen if measure.query is None]
    if text_only:
        raise InputError(
            f"not computed in the graph: {', '.join(text_only)}", remedy="Without --engine cypher, scores are read."
        )
    for run in runs:
        values = {str(one): measure_values(store, dataset, run, one) for one in chosen}
        yield {
            name: {question: value for question, value in column.items() if isinstance(value, float)}
            for name, column in values.items()
        }


def held_measures(
    store: Store, runs: tuple[str, str], measures: Sequence[str | Measure]
) -> tuple[list[str], list[str]]:
    """Return which measures are compared by the scores that the graph holds, and a warning for each that isn't.

    Raises
    ------
    InputError
        A measure that was asked for, or all of the usual ones, are missing, outdated, or by different versions.
    """
    of = {run: gradings(store, run) for run in runs}
    names = list(dict.fromkeys(_name(measure) for measure in measures or (*COMPARED, *COMPARED_RANKING)))
    usable, warnings = [], []
    for name in names:
        reason = _incomparable(name, of)
        if reason is None:
            usable.append(name)
        elif measures:
            raise reason
        else:
            warnings.append(f"{reason.what}: not compared")
    if not usable:
        known = sorted({name for held in of.values() for name in held})
        raise InputError(
            f"{runs[0]} and {runs[1]} have no scores in common",
            remedy=f"{_ANEW} The graph holds scores by: {', '.join(known) or 'nothing'}.",
        )
    return usable, warnings


_ANEW = "Score both runs anew: `graphkit evaluate RUN.jsonl` keeps the scores; or compute them now by --engine cypher."


def _name(measure: str | Measure) -> str:
    """Return the text by which the graph knows a measure: graphkit's own by their full names, others as they are."""
    try:
        return str(resolve_measures([measure])[0])
    except MeasureError:
        return str(measure)


def _incomparable(name: str, of: Mapping[str, Mapping[str, Grading]]) -> InputError | None:
    """Return why two runs can't be compared by a measure, or None where they can."""
    for run, held in of.items():
        if name not in held or not held[name].complete:
            known = ", ".join(one for one, grading in held.items() if grading.complete)
            hint = _hint(name, held)
            return InputError(
                f"{run} has no scores by {name}", remedy=f"{hint}{_ANEW} It has scores by: {known or 'nothing'}."
            )
    one, two = (held[name] for held in of.values())
    first, second = of
    if one.given_by != two.given_by:
        return InputError(
            f"the scores by {name} are of different versions: {first} was scored by {one.given_by}, "
            f"{second} by {two.given_by}",
            remedy=_ANEW if GRAPHKIT in (one.grader, two.grader) else "Grade both runs by the same version.",
        )
    if one.grader == GRAPHKIT and not (one.current and two.current):
        run = second if one.current else first
        return InputError(f"{run} was scored by {name} before its dataset changed", remedy=_ANEW)
    return None


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]}? " if close else ""
