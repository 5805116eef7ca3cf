"""What the page shows: scores from graphkit's own measures, and for each question a small record to draw from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from graphkit.analysis.config import Config
from graphkit.analysis.layers import Scorecard, score_layers
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import OnError, Report
from graphkit.files.spool import Spool
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.outcome import STAGES, outcome
from graphkit.measures.registry import DEFAULT_MEASURES, bounds_of, declared, lower_is_better, resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.records.scores import Score
from graphkit.report.question import CHUNK_TEXT, CHUNKS, detail
from graphkit.report.text import script_json, visible
from graphkit.scoring.evaluate import known_from_files
from graphkit.scoring.from_files import score_file
from graphkit.scoring.results import Evaluation, Row, Summary
from graphkit.scoring.scorer import Job

#: How much of a question is shown in the table.
LISTED_TEXT = 240

#: How many questions share a block of details: what is parsed when one of them is opened.
BLOCK = 25


@dataclass
class RunData:
    """One run: its scores, the details of its questions, and in which block each one's are."""

    details: Spool[Block]
    evaluation: Evaluation = field(init=False)
    card: Scorecard = field(init=False)
    values: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    found: list[tuple[int, int]] = field(default_factory=list)
    judged: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class ReportData:
    """The dataset and its runs, each read to its end."""

    title: str
    dataset: Dataset
    measures: tuple[Measure, ...]
    runs: list[RunData]
    config: Config
    questions: list[list[Any]] = field(default_factory=list)


def gather(
    runs: Sequence[Path],
    spools: ExitStack,
    dataset: Path | None = None,
    *,
    folders: Mapping[Path, Path] | None = None,
    title: str | None = None,
    config: Config | None = None,
    measures: Sequence[str] = (),
    scores: Sequence[Score] = (),
    on_error: OnError = "fail",
    reports: list[Report] | None = None,
) -> ReportData:
    """Score the runs, all of one dataset.

    Parameters
    ----------
    spools
        Holds the temporary files with the details, for as long as the page is written.
    dataset
        The dataset of all runs; by default each one's own.
    folders
        The dataset of a run, where it isn't the folder whose ``runs/`` holds it.
    measures
        What is shown beside the measures that every page has.
    scores
        What others gave the answers of these runs: shown as graphkit's own.
    reports
        Takes what there is to tell about each run's records.

    Raises
    ------
    InputError
        A file can't be used, the runs are of several datasets, or two of them have the same name.
    """
    chosen = config if config is not None else Config()
    computed = _measures(chosen, measures)
    data: ReportData | None = None
    dataset_report = Report(on_error)
    for file in runs:
        if not file.exists():
            raise InputError("there is no such file", where=str(file), remedy="Check the path and its spelling.")
        folder = dataset or (folders or {}).get(file)
        own = Dataset(folder) if folder is not None else Dataset.of_run(file)
        if data is not None and own.questions_file.resolve() != data.dataset.questions_file.resolve():
            raise InputError("the run is of another dataset", where=str(file), remedy="Write a page for each dataset.")
        if data is None:
            data = ReportData(title or f"graphkit: {own.name}", own, computed, [], chosen)
            known = known_from_files(own, computed, dataset_report)
        report = Report(on_error)
        report.merge(dataset_report)
        run = _scored(data, file, known, report, spools.enter_context(Spool(Block, together=1)), scores)
        if reports is not None:
            reports.append(report)
        if any(one.evaluation.run == run.evaluation.run for one in data.runs):
            raise InputError(f"another file holds the run {run.evaluation.run!r}, too", where=str(file))
        data.runs.append(run)
    if data is None:
        raise InputError("no run was named")
    return data


def _scored(
    data: ReportData,
    file: Path,
    known: tuple[CommitGraph, dict[str, str]],
    report: Report,
    details: Spool[Block],
    scores: Sequence[Score],
) -> RunData:
    """Score a run, and put aside what there is to show of each question, in one pass over the files."""
    commits, invalid = known
    rows: list[Row] = []
    run = RunData(details)
    shown = _Details(data, run)
    job = Job(data.dataset.questions_file, file, data.measures, commits, invalid, keep_rows=True, describe=_describe)
    result = score_file(job, dataset=data.dataset.name, report=report, sink=rows.extend, descriptions=shown.take)
    shown.finish()
    result = dataclasses.replace(result, rows=tuple(rows)).with_scores(scores)
    run.card = score_layers(result, data.config)
    run.values = {row.question: row.values for row in result.rows}
    run.evaluation = dataclasses.replace(result, rows=(), given=())
    return run


def _measures(config: Config, more: Sequence[str]) -> tuple[Measure, ...]:
    """Return what is computed: the defaults, what the layers weigh, the two of commits, and what was asked for."""
    return resolve_measures([*DEFAULT_MEASURES, *config.measures(), "Incoherent", "OffPin", *more])


# Details -------------------------------------------------------------------------------------------------------------


class Block(Struct):
    """The details of some questions, as the JSON that stands in the page, and the number of the block in its run."""

    number: int
    json: str


class _Details:
    """Takes what there is to show of one question after the other, and puts it aside in blocks."""

    def __init__(self, data: ReportData, run: RunData) -> None:
        self._data = data
        self._run = run
        self._block: list[str] = []
        self._count = 0

    def take(self, place: int, description: _Description) -> None:
        """Take what :func:`_describe` returned of the question at a place."""
        listed, shown, flags, share, judged = description
        if place >= len(self._data.questions) or not self._data.questions[place]:
            _put(self._data.questions, place, listed, [])
        run = self._run
        _put(run.blocks, place, self._count, -1)
        _put(run.flags, place, flags, 0)
        _put(run.found, place, share, (0, 0))
        _put(run.judged, place, judged, ("undecided", "undecided", STAGES[-1]))
        self._block.append(f'"{place}":{shown}')
        if len(self._block) == BLOCK:
            self.finish()

    def finish(self) -> None:
        """Put what was taken aside."""
        if self._block:
            self._run.details.put(Block(self._count, "{" + ",".join(self._block) + "}"))
            self._block, self._count = [], self._count + 1


#: A row of the table, the JSON of what is shown when it is opened, its bits, its edges, and how it was judged.
_Description = tuple[list[Any], str, int, tuple[int, int], tuple[str, str, str]]


def _describe(case: Case, values: Sequence[float | str], invalid: str | None) -> _Description:
    """Return what there is to show of a question: in the table, when it is opened, its bits, edges and outcome."""
    question: Any = case.question
    shown, flags, share = detail(case, values, invalid)
    judged = _judged(case, invalid, shown)
    listed = [
        visible(question.id),
        visible(question.question, LISTED_TEXT),
        visible(question.category or ""),
        question.difficulty or "",
    ]
    return listed, script_json(shown), flags, share, judged  # text is what travels best between processes


def _judged(case: Case, invalid: str | None, shown: dict[str, Any]) -> tuple[str, str, str]:
    """Return how the answer and the path of a question are judged, and the stage that it ended at."""
    judged = outcome(case, invalid)
    stage = judged.stage
    shown["stage"] = [stage.name, visible(stage.reason, CHUNK_TEXT), [visible(one) for one in stage.missing[:CHUNKS]]]
    shown["undecided"] = visible(judged.undecided, CHUNK_TEXT)
    return _word(judged.answer), _word(judged.path), stage.name


def _word(judged: bool | None) -> str:
    return "undecided" if judged is None else "right" if judged else "wrong"


def _put(items: list[Any], place: int, value: Any, empty: Any) -> None:
    while len(items) <= place:
        items.append(empty)
    items[place] = value


# Summary -------------------------------------------------------------------------------------------------------------


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
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": [_values(data, run, name) for name in names],
                "means": [_mean(run, name) for name in names],
                "blocks": run.blocks,
                "flags": run.flags,
                "found": run.found,
                "answers": [answer for answer, _, _ in run.judged],
                "paths": [path for _, path, _ in run.judged],
                "stages": [STAGES.index(stage) for _, _, stage in run.judged],
            }
            for run in data.runs
        ],
    }


def _measure_names(data: ReportData) -> list[str]:
    """Return every measure that some run has a value by: what was computed first, then what others gave."""
    return list(dict.fromkeys(name for run in data.runs for name in run.evaluation.measures))


def _definition(name: str) -> str:
    measure = declared(name)
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
        cells_of = [{"value": one.mean, "scored": one.scored, "total": one.total, "state": ""} for one in summaries]
        rows.append({"name": visible(name), "kind": "component", "lower": lower_is_better(name), "cells": cells_of})
    return rows


def _layer_cell(layer: Any) -> dict[str, Any]:
    return {"value": layer.score, "coverage": layer.coverage}


def _component_cell(one: Any) -> dict[str, Any]:
    state = "severe" if one.severe else {True: "met", False: "missed", None: ""}[one.met]
    return {"value": one.mean, "scored": one.scored, "total": one.total, "state": state}
