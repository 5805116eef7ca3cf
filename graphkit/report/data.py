"""What the page shows: scores from graphkit's own measures, and for each question a small record to draw from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from graphkit.analysis.layers import Config, Scorecard, score_layers
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.decoding import LeanAnswer
from graphkit.files.problems import OnError, Report
from graphkit.files.reading import RecordReader
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.outcome import STAGES, verdict
from graphkit.measures.registry import DEFAULT_MEASURES, lower_is_better, resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.report.question import CHUNK_TEXT, CHUNKS, detail
from graphkit.report.text import visible
from graphkit.scoring.evaluate import evaluate
from graphkit.scoring.results import Evaluation

#: How much of a question is shown in the table.
LISTED_TEXT = 240

#: How many questions share a block of details: what is parsed when one of them is opened.
BLOCK = 25


@dataclass
class RunData:
    """One run: its scores, and the place of each question's details."""

    evaluation: Evaluation
    card: Scorecard
    file: Path
    commits: CommitGraph
    values: dict[str, tuple[float | str, ...]]
    blocks: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    found: list[tuple[int, int]] = field(default_factory=list)
    judged: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class ReportData:
    """The dataset and its runs, as far as they are known before the details are read."""

    title: str
    dataset: Dataset
    measures: tuple[Measure, ...]
    runs: list[RunData]
    config: Config
    questions: list[list[Any]] = field(default_factory=list)


def gather(
    runs: Sequence[Path],
    dataset: Path | None = None,
    *,
    folders: Mapping[Path, Path] | None = None,
    title: str | None = None,
    config: Config | None = None,
    measures: Sequence[str] = (),
    on_error: OnError = "fail",
    reports: list[Report] | None = None,
) -> ReportData:
    """Score the runs, all of one dataset.

    Parameters
    ----------
    dataset
        The dataset of all runs; by default each one's own.
    folders
        The dataset of a run, where it isn't the folder whose ``runs/`` holds it.
    measures
        What is shown beside the measures that every page has.
    reports
        Takes what there is to tell about each run's records.

    Raises
    ------
    InputError
        A file can't be used, the runs are of several datasets, or two of them have the same name.
    """
    chosen = config if config is not None else Config()
    computed = _measures(chosen, measures)
    source: Dataset | None = None
    found: list[RunData] = []
    for file in runs:
        if not file.exists():
            raise InputError("there is no such file", where=str(file), remedy="Check the path and its spelling.")
        folder = dataset or (folders or {}).get(file)
        own = Dataset(folder) if folder is not None else Dataset.of_run(file)
        if source is not None and own.questions_file.resolve() != source.questions_file.resolve():
            raise InputError("the run is of another dataset", where=str(file), remedy="Write a page for each dataset.")
        source = own
        report = Report(on_error)
        result = evaluate(file, source, measures=computed, report=report)
        if reports is not None:
            reports.append(report)
        if any(one.evaluation.run == result.run for one in found):
            raise InputError(f"another file holds the run {result.run!r}, too", where=str(file))
        values = {row.question: row.values for row in result.rows}
        card = score_layers(result, chosen)
        commits = found[0].commits if found else source.commit_graph(Report("skip"))
        found.append(RunData(dataclasses.replace(result, rows=()), card, file, commits, values))
    if source is None:
        raise InputError("no run was named")
    return ReportData(title or f"graphkit: {source.name}", source, computed, found, chosen)


def _measures(config: Config, more: Sequence[str]) -> tuple[Measure, ...]:
    """Return what is computed: the defaults, what the layers weigh, the two of commits, and what was asked for."""
    return resolve_measures([*DEFAULT_MEASURES, *config.measures(), "Incoherent", "OffPin", *more])


# Details -------------------------------------------------------------------------------------------------------------


def details(data: ReportData) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (run, block, details by the number of the question), and fill in what the table shows of each question."""
    for number, run in enumerate(data.runs):
        block: dict[str, Any] = {}
        count = 0
        for place, question, answer in _joined(data.dataset, run.file):
            case = Case(question, answer, run.commits)
            _list(data, place, question)
            invalid = run.evaluation.invalid.get(question.id)
            shown, flags, share = detail(case, run.values.get(question.id, ()), invalid)
            _put(run.blocks, place, count, -1)
            _put(run.flags, place, flags, 0)
            _put(run.found, place, share, (0, 0))
            judged = _judged(case, invalid, shown)
            _put(run.judged, place, judged, ("undecided", "undecided", STAGES[-1]))
            block[str(place)] = shown
            if len(block) == BLOCK:
                yield number, count, block
                block, count = {}, count + 1
        if block:
            yield number, count, block


def _judged(case: Case, invalid: str | None, shown: dict[str, Any]) -> tuple[str, str, str]:
    """Return how the answer and the path of a question are judged, and the stage that it ended at."""
    judged = verdict(case, invalid)
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


def _list(data: ReportData, place: int, question: Any) -> None:
    if place < len(data.questions) and data.questions[place]:
        return
    row = [
        visible(question.id),
        visible(question.question, LISTED_TEXT),
        visible(question.category or ""),
        question.difficulty or "",
    ]
    _put(data.questions, place, row, [])


def _joined(dataset: Dataset, run_file: Path) -> Iterator[tuple[int, Any, Any]]:
    """Yield (place, question, answer or None); both files are read side by side, and only the strays are kept."""
    silent = Report("skip")
    questions: dict[str, tuple[int, Any]] = {}
    answers: dict[str, Any] = {}
    seen = 0
    answered: set[str] = set()
    both = zip_longest(dataset.questions(silent), RecordReader(run_file, LeanAnswer, silent))
    for listed, recorded in both:
        if listed is not None:
            questions[listed[1].id] = (seen, listed[1])
            seen += 1
        if recorded is not None and recorded[1].question_id not in answered:
            answered.add(recorded[1].question_id)
            answers[recorded[1].question_id] = recorded[1]
        for name in {one for one in (listed and listed[1].id, recorded and recorded[1].question_id) if one}:
            if name in questions and name in answers:
                yield *questions.pop(name), answers.pop(name)
    for place, question in questions.values():
        yield place, question, None


# Summary -------------------------------------------------------------------------------------------------------------


def summary(data: ReportData) -> dict[str, Any]:
    """Return what the page needs before a question is opened; to be asked for after :func:`details`."""
    names = [str(measure) for measure in data.measures]
    return {
        "measures": [
            {
                "name": str(one),
                "definition": one.definition,
                "lower": not one.higher_is_better,
                "range": _range(one, [value for run in data.runs for value in _numbers(run, place)]),
            }
            for place, one in enumerate(data.measures)
        ],
        "questions": data.questions,
        "stages": STAGES,
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": _values(data, run, len(names)),
                "means": [run.evaluation.measures[name].mean for name in names],
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


def _numbers(run: RunData, place: int) -> list[float]:
    return [value for row in run.values.values() if not isinstance(value := row[place], str)]


def _range(measure: Measure, values: Sequence[float]) -> list[float]:
    """Return between which numbers the distribution is drawn: the measure's bounds, else what its values reach."""
    low = measure.lowest if measure.lowest is not None else min(values, default=0.0)
    high = measure.highest if measure.highest is not None else max(values, default=low)
    return [round(low, 4), round(high if high > low else low + 1, 4)]


def _values(data: ReportData, run: RunData, count: int) -> list[list[float | None]]:
    """Return one list a measure: the value of each question, or None where there is none."""
    by_name = {visible(name): values for name, values in run.values.items()}
    empty: tuple[float | str, ...] = ("",) * count
    rows = [by_name.get(question[0] if question else "", empty) for question in data.questions]
    return [[None if isinstance(row[place], str) else round(row[place], 4) for row in rows] for place in range(count)]  # type: ignore[arg-type]


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
    others = [measure for measure in data.measures if str(measure) not in weighed]
    if others:
        rows.append({"name": "other measures", "kind": "layer", "cells": [{} for _ in data.runs]})
    for measure in others:
        summaries = [run.evaluation.measures[str(measure)] for run in data.runs]
        cells_of = [{"value": one.mean, "scored": one.scored, "total": one.total, "state": ""} for one in summaries]
        lower = not measure.higher_is_better
        rows.append({"name": str(measure), "kind": "component", "lower": lower, "cells": cells_of})
    return rows


def _layer_cell(layer: Any) -> dict[str, Any]:
    return {"value": layer.score, "coverage": layer.coverage}


def _component_cell(one: Any) -> dict[str, Any]:
    state = "severe" if one.severe else {True: "met", False: "missed", None: ""}[one.met]
    return {"value": one.mean, "scored": one.scored, "total": one.total, "state": state}
