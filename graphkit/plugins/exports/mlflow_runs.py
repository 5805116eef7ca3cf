"""Scores as a run of MLflow: a metric per measure, and a table with the score of each question."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.exports.exported_run import ExportedRun

#: The file of the table, and its columns.
TABLE = "scores.json"
COLUMNS = (
    "question",
    "measure",
    "computed",
    "value",
    "label",
    "reason",
    "explanation",
    "grader",
    "trace_id",
    "span_id",
)

#: The characters that the name of a metric can't hold.
_OTHERS = re.compile(r"[^\w .:/-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """A run in a tracking store."""

    uri: str
    experiment: str
    id: str
    metrics: dict[str, float]


def require_mlflow() -> None:
    """Raise an InputError if MLflow isn't installed."""
    if find_spec("mlflow") is None:
        raise InputError("this export needs MLflow", remedy="pip install 'graphkit-eval[mlflow]'")


def track(exported: ExportedRun, tracking: str, experiment: str, version: str) -> TrackedRun:
    """Write a run with metrics and the table of scores to a tracking store.

    A measure's metric is its mean over the scored questions; without any, there is none. ``NAME.scored`` and
    ``NAME.total`` count the scored questions and all.

    Parameters
    ----------
    tracking
        The URI of a store, or a folder, in which a database and a folder of artifacts are made.

    Raises
    ------
    InputError
        MLflow isn't installed, or the store can't be used.
    """
    require_mlflow()
    # MLflow reports usage data unless this variable is set before its import.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    uri, artifacts = _store_of(tracking)
    metrics = metrics_of(exported)
    try:
        client = mlflow.MlflowClient(tracking_uri=uri)
        known = client.get_experiment_by_name(experiment)
        where = client.create_experiment(experiment, artifacts) if known is None else known.experiment_id
        tags = {"graphkit.version": version, "graphkit.run": exported.run}
        run = client.create_run(where, run_name=exported.run, tags=tags).info.run_id
        for name, value in {"dataset": exported.dataset, "gold_hash": exported.gold_hash}.items():
            if value is not None:
                client.log_param(run, name, value)
        for name, number in metrics.items():
            client.log_metric(run, name, number)
        client.log_table(run, table_of(exported), TABLE)
        client.set_terminated(run)
    except (mlflow.exceptions.MlflowException, OSError) as error:
        what = f"MLflow couldn't write the run: {str(error).splitlines()[0]}"
        raise InputError(what, where=tracking, remedy="Check the address of the store, and that it runs.") from None
    return TrackedRun(uri, experiment, run, metrics)


def _store_of(tracking: str) -> tuple[str, str | None]:
    """Return the URI of a store, and of its artifacts if graphkit chooses where they are: in a folder."""
    if "://" in tracking or tracking.startswith("databricks"):
        return tracking, None
    folder = Path(tracking).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder can't be made: {error.strerror}"
        raise InputError(what, where=tracking, remedy="Name another folder, or the address of a store.") from None
    return f"sqlite:///{folder / 'mlflow.db'}", (folder / "artifacts").as_uri()


def metrics_of(exported: ExportedRun) -> dict[str, float]:
    """Return the metrics: for each measure the mean over the scored questions, their number, and that of all."""
    metrics: dict[str, float] = {}
    names = metric_names(exported.measures)
    for measure, name in names.items():
        values = [one.score.number for one in exported.scores if one.score.measure == measure]
        scored = [value for value in values if value is not None]
        if scored:
            metrics[name] = math.fsum(scored) / len(scored)
        metrics |= {f"{name}.scored": float(len(scored)), f"{name}.total": float(len(values))}
    return metrics


def metric_names(measures: Sequence[str]) -> dict[str, str]:
    """Return the metric of each measure: its name without characters that MLflow refuses, and none twice.

    >>> metric_names(["nDCG@10", "EdgeRecall(relation=False)"])
    {'nDCG@10': 'nDCG_10', 'EdgeRecall(relation=False)': 'EdgeRecall_relation_False_'}
    """
    names, taken = {}, Counter[str]()
    for measure in measures:
        plain = _OTHERS.sub("_", measure)
        taken[plain] += 1
        names[measure] = plain if taken[plain] == 1 else f"{plain}-{taken[plain]}"
    return names


def table_of(exported: ExportedRun) -> dict[str, list[Any]]:
    """Return the columns of the table of scores; a score without a value has a reason and no number."""
    rows = [
        (
            *(one.score.question, one.score.measure, one.score.computed, one.score.number, one.label),
            *(one.score.reason, one.explanation, one.score.grader, one.ids.trace, one.ids.span),
        )
        for one in exported.scores
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
