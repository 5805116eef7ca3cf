"""``graphkit report``."""

from __future__ import annotations

from pathlib import Path

from graphkit.analysis.layers import load_config
from graphkit.cli.base import as_json, open_graph, print_json, print_line, tell
from graphkit.cli.options import on_error_value
from graphkit.files.jsonl import is_file_name
from graphkit.files.problems import Report
from graphkit.graph.failures import run_source
from graphkit.report import write_report


def report_command(
    runs: list[str],
    *,
    dataset: Path | None,
    out: Path,
    title: str | None,
    config: Path | None,
    measures: list[str],
    on_error: str,
) -> None:
    """Write the page, and tell where it is."""
    reports: list[Report] = []
    scoring, skip = load_config(config), on_error_value(on_error)
    files, folders = _files(runs)
    write_report(
        files,
        out,
        dataset,
        folders=folders,
        title=title,
        config=scoring,
        measures=measures,
        on_error=skip,
        reports=reports,
    )
    for report in reports:
        tell(report)
    if as_json():
        print_json({"report": str(out), "bytes": out.stat().st_size})
    else:
        print_line(str(out))


def _files(runs: list[str]) -> tuple[list[Path], dict[Path, Path]]:
    """Return the file of each run, and the dataset of those that are named; only for a name the graph is opened."""
    named = [run for run in runs if not is_file_name(run) and not Path(run).is_file()]
    if not named:
        return [Path(run) for run in runs], {}
    with open_graph(read_only=True) as store:
        known = {run: run_source(store, run) for run in named}
    return [known[run][0] if run in known else Path(run) for run in runs], dict(known.values())
