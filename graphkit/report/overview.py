"""What the page shows before a question is opened: the scoreboard, the table of questions and the distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphkit.analysis.layers import Layer
from graphkit.measures.outcome import STAGES
from graphkit.measures.registry import bounds_of, known_measure, lower_is_better
from graphkit.report.data import ReportData, RunData
from graphkit.report.escaping import visible
from graphkit.report.execution_view import WORDS
from graphkit.scoring.results import Summary, scored_in_words


def summary(data: ReportData) -> dict[str, Any]:
    """Return what the page needs before a question is opened."""
    names = _measure_names(data)
    return {
        "measures": [
            {
                "name": visible(name),
                "definition": _definition(name),
                "lower": lower_is_better(name),
                "range": _range(name, [value for run in data.runs for value in _numbers(run, name)]),
            }
            for name in names
        ],
        "questions": data.questions,
        "stages": STAGES,
        **({"statuses": [*WORDS.items()]} if any(run.executions for run in data.runs) else {}),
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": [_values(data, run, name) for name in names],
                "means": [_mean(run, name) for name in names],
                "blocks": run.blocks,
                "flags": run.flags,
                "found": run.edges_found,
                "answers": [answer for answer, _, _ in run.judged],
                "paths": [path for _, path, _ in run.judged],
                "stages": [STAGES.index(stage) for _, _, stage in run.judged],
                **_executed(data, run),
            }
            for run in data.runs
        ],
    }


def _executed(data: ReportData, run: RunData) -> dict[str, Any]:
    """Return how the code of each answer ended, and how many of how many tests it passed, where any was executed."""
    if not run.executions:
        return {}
    by_name = {visible(question): execution for question, execution in run.executions.items()}
    found = [by_name.get(question[0]) if question else None for question in data.questions]
    statuses = [*WORDS]
    return {
        "executed": [None if one is None else statuses.index(one.status) for one in found],
        "passed": [None if one is None else (one.passed, len(one.tests)) for one in found],
    }


def _measure_names(data: ReportData) -> list[str]:
    """Return every measure that some run has a value by: what was computed first, then what others gave."""
    return list(dict.fromkeys(name for run in data.runs for name in run.evaluation.measures))


def _definition(name: str) -> str:
    measure = known_measure(name)
    return measure.definition if measure is not None else "given by others"


def _mean(run: RunData, name: str) -> float | None:
    summary = run.evaluation.measures.get(name)
    return summary.mean if summary is not None else None


def _numbers(run: RunData, name: str) -> list[float]:
    if name not in run.evaluation.measures:
        return []
    place = list(run.evaluation.measures).index(name)
    return [value for row in run.values.values() if not isinstance(value := row[place], str)]


def _range(name: str, values: Sequence[float]) -> list[float]:
    """Return between which numbers the distribution is drawn: the measure's bounds, else what its values reach."""
    lowest, highest = bounds_of(name)
    low = lowest if lowest is not None else min(values, default=0.0)
    high = highest if highest is not None else max(values, default=low)
    return [round(low, 4), round(high if high > low else low + 1, 4)]


def _values(data: ReportData, run: RunData, name: str) -> list[float | None]:
    """Return the value of each question by a measure, or None where there is none."""
    if name not in run.evaluation.measures:
        return [None] * len(data.questions)
    place = list(run.evaluation.measures).index(name)
    numbers = {
        visible(question): round(value, 4)
        for question, values in run.values.items()
        if not isinstance(value := values[place], str)
    }
    return [numbers.get(question[0]) if question else None for question in data.questions]


def scoreboard(data: ReportData) -> list[dict[str, Any]]:
    """Return the rows of the scoreboard: a layer, its components, and last the measures that no layer weighs."""
    rows: list[dict[str, Any]] = []
    weighed: set[str] = set()
    for number, layer in enumerate(data.runs[0].card.layers):
        cells = [run.card.layers[number] for run in data.runs]
        rows.append({"name": layer.name, "kind": "layer", "cells": [_layer_cell(cell) for cell in cells]})
        for place, component in enumerate(layer.components):
            weighed.add(component.measure)
            rows.append(
                {
                    "name": component.measure,
                    "kind": "component",
                    "weight": component.weight,
                    "target": component.target,
                    "lower": lower_is_better(component.measure),
                    "cells": [_component_cell(cell.components[place]) for cell in cells],
                }
            )
    others = [name for name in _measure_names(data) if name not in weighed]
    if others:
        rows.append({"name": "other measures", "kind": "layer", "cells": [{} for _ in data.runs]})
    for name in others:
        summaries = [
            run.evaluation.measures.get(name) or Summary(None, 0, run.evaluation.questions) for run in data.runs
        ]
        cells_of = [
            {"value": each.mean, "counts": scored_in_words(each, run.evaluation.failed_as), "state": ""}
            for each, run in zip(summaries, data.runs, strict=True)
        ]
        rows.append({"name": visible(name), "kind": "component", "lower": lower_is_better(name), "cells": cells_of})
    return rows


def _layer_cell(layer: Layer) -> dict[str, Any]:
    return {"value": layer.score, "coverage": layer.coverage}


def _component_cell(component: Any) -> dict[str, Any]:
    state = "severe" if component.severe else {True: "met", False: "missed", None: ""}[component.met]
    return {"value": component.held, "counts": component.counts, "state": state}
