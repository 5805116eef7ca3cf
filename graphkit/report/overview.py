"""The overview of a page: the scoreboard, the table of questions and the distributions."""

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
    """Return the data that the page's script needs before a question is opened."""
    names = _measure_names(data)
    values = [[_values(data, run, name) for name in names] for run in data.runs]
    return {
        "measures": [
            {
                "name": visible(name),
                "definition": getattr(known_measure(name), "definition", "given by others"),
                "lower": lower_is_better(name),
                "range": _range(name, [one for run in values for one in run[place] if one is not None]),
            }
            for place, name in enumerate(names)
        ],
        "questions": data.questions,
        "stages": STAGES,
        **({"statuses": WORDS} if any(run.executions for run in data.runs) else {}),
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": of_run,
                "means": [one.mean if (one := run.evaluation.measures.get(name)) else None for name in names],
                "questions": run.outcomes,
                **_executed(data, run),
            }
            for run, of_run in zip(data.runs, values, strict=True)
        ],
    }


def _executed(data: ReportData, run: RunData) -> dict[str, Any]:
    """Return the status and the passed tests of each question's execution, if any answer was executed."""
    if not run.executions:
        return {}
    by_name = {visible(question): execution for question, execution in run.executions.items()}
    found = [by_name.get(question["id"]) for question in data.questions]
    return {
        "executions": [one and {"status": one.status, "passed": one.passed, "total": len(one.tests)} for one in found]
    }


def _measure_names(data: ReportData) -> list[str]:
    """Return every measure for which a run has a value: the computed ones first, then those of other tools."""
    return list(dict.fromkeys(name for run in data.runs for name in run.evaluation.measures))


def _values(data: ReportData, run: RunData, name: str) -> list[float | None]:
    """Return the value of each question by a measure, or None if there is none."""
    if name not in run.evaluation.measures:
        return [None] * len(data.questions)
    place = list(run.evaluation.measures).index(name)
    numbers = {
        visible(question): round(value, 4)
        for question, values in run.values.items()
        if not isinstance(value := values[place], str)
    }
    return [numbers.get(question["id"]) for question in data.questions]


def _range(name: str, values: Sequence[float]) -> list[float]:
    """Return the range of a distribution: the measure's bounds, else the lowest and highest value."""
    lowest, highest = bounds_of(name)
    low = lowest if lowest is not None else min(values, default=0.0)
    high = highest if highest is not None else max(values, default=low)
    return [round(low, 4), round(high if high > low else low + 1, 4)]


def scoreboard(data: ReportData) -> list[dict[str, Any]]:
    """Return the rows of the scoreboard: each layer with its components, then the measures without a weight."""
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
