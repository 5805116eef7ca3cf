"""``graphkit export``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphkit.cli.base import argument, command, open_graph, option, present, print_problems, say
from graphkit.cli.options import DATASET, MEASURE, SCORES, ReadingOptions
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.files.problems import Problems
    from graphkit.plugins.exports.exported_run import ExportedRun

Target = Literal["openinference", "otel", "mlflow"]


@dataclass(frozen=True)
class TargetOptions:
    """The tool that reads the export, and where it goes."""

    to: Target = option("--to", "Write for this tool.", required=True)
    out: Path | None = option(
        "--out -o FILE", "Write annotations or events to FILE, as JSON Lines.", writes="exported scores"
    )
    tracking_uri: str | None = option(
        "--tracking-uri URI",
        "Write to this tracking store of MLflow, or into a folder.",
        envvar="MLFLOW_TRACKING_URI",
    )
    experiment: str = option("--experiment NAME", "Use this experiment of MLflow.", default="graphkit")

    def check(self) -> None:
        """Refuse an option that the tool has no use for, and require what it needs, before anything is read."""
        needed, other = ("--tracking-uri", self.out) if self.to == "mlflow" else ("--out", None)
        if other is not None:
            raise InputError("--out is for files, and MLflow has a store", remedy="Name it by --tracking-uri.")
        if (self.tracking_uri if self.to == "mlflow" else self.out) is None:
            raise InputError(
                f"the option {needed} is missing", remedy=f"graphkit export RUN --to {self.to} {needed} ..."
            )
        if self.to == "mlflow":
            from graphkit.plugins.exports.mlflow_runs import require_mlflow

            require_mlflow()


@command(graph=True)
def export(
    *,
    run: str = argument("RUN", "Export this run: its name in the graph, its file, or a results folder."),
    target: TargetOptions,
    dataset: Path | None = DATASET,
    measure: list[str] | None = MEASURE,
    scores: list[Path] | None = SCORES,
    reading: ReadingOptions,
) -> None:
    """Write the scores of a run for another tool.

    They become annotations of spans, events of telemetry, or a tracked run.
    """
    from graphkit.cli.progress import shown_progress

    target.check()
    problems = reading.problems()
    with shown_progress(f"exporting {Path(run).name}"):
        exported = _exported(run, dataset, measure or [], scores or [], problems)
    print_problems(problems)
    for note in exported.notes:
        say(f"note: {note}")
    with shown_progress(f"writing for {target.to}"):
        lines, facts = _tracked(exported, target) if target.to == "mlflow" else _written(exported, target)
    present(lines, {"run": exported.run, "to": target.to, **facts})


def _exported(
    run: str, dataset: Path | None, measures: list[str], scores: list[Path], problems: Problems
) -> ExportedRun:
    from graphkit.files.run_files import is_run_file
    from graphkit.files.score_files import read_scores
    from graphkit.plugins.exports.run_sources import export_of_file, export_of_folder, export_of_graph
    from graphkit.scoring.results_folder import holds_results

    if is_run_file(run):
        given = read_scores(scores, problems)
        return export_of_file(Path(run), dataset, measures=measures, scores=given, problems=problems)
    for name, value in (("--dataset", dataset), ("--scores", scores)):
        if value:
            remedy = "Leave it out; `graphkit load-scores` adds scores to a run in the graph."
            raise InputError(f"{name} is for a run file, and {run!r} is none", remedy=remedy)
    if holds_results(run):
        return export_of_folder(run, measures=measures)
    with open_graph(read_only=True) as store:
        return export_of_graph(store, run, measures=measures)


def _written(exported: ExportedRun, target: TargetOptions) -> tuple[list[str], dict[str, Any]]:
    """Write annotations or events to a file."""
    import time

    from graphkit import __version__
    from graphkit.plugins.exports.evaluation_events import exports_of_events
    from graphkit.plugins.exports.span_annotations import annotations_of, without_span

    assert target.out is not None
    total = len(exported.scores)
    if target.to == "openinference":
        left = without_span(exported)
        total -= sum(one.ids.span is None for one in exported.scores)
        _write_lines(target.out, annotations_of(exported))
        if left:
            say(f"note: {counted(left, 'question')} without a span in the record: no annotation is on them")
    else:
        _write_lines(target.out, exports_of_events(exported, time.time_ns(), __version__))
    unscored = sum(one.score.value is None for one in exported.scores)
    what = counted(total, "annotation" if target.to == "openinference" else "event")
    lines = [f"{exported.run}: {what} in {target.out}"]
    return lines, {"written": total, "unscored": unscored, "out": str(target.out)}


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    from graphkit.files.atomic import written

    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


def _tracked(exported: ExportedRun, target: TargetOptions) -> tuple[list[str], dict[str, Any]]:
    """Write a run to MLflow."""
    from graphkit import __version__
    from graphkit.database.settings import hide_password
    from graphkit.plugins.exports.mlflow_runs import track

    assert target.tracking_uri is not None
    found = track(exported, target.tracking_uri, target.experiment, __version__)
    line = f"{exported.run}: {counted(len(exported.scores), 'score')} in run {found.id} of {found.experiment}"
    uri = hide_password(found.uri)
    facts = {"experiment": found.experiment, "id": found.id, "uri": uri, "metrics": found.metrics}
    shown = [f"  mlflow ui --backend-store-uri {uri}"] if uri.startswith("sqlite:") else []
    return [line, *shown], facts
