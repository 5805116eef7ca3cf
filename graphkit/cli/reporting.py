"""``graphkit report``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import as_json, print_json, print_line, tell
from graphkit.cli.options import on_error_value
from graphkit.report import write_report
from graphkit.scoring import load_config
from graphkit.sources.report import Report


def report_command(
    runs: list[Path], *, dataset: Path | None, out: Path, title: str | None, config: Path | None, on_error: str
) -> None:
    """Write the page, and tell where it is."""
    reports: list[Report] = []
    scoring, skip = load_config(config), on_error_value(on_error)
    write_report(runs, out, dataset, title=title, config=scoring, on_error=skip, reports=reports)
    for report in reports:
        tell(report)
    if as_json():
        print_json({"report": str(out), "bytes": out.stat().st_size})
    else:
        print_line(str(out))
