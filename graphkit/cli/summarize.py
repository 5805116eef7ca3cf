"""``graphkit summarize``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from graphkit.analysis.summaries import summarize
from graphkit.cli.base import as_json, print_json, tell
from graphkit.cli.options import on_error_value
from graphkit.cli.tables import print_table
from graphkit.files.problems import Report
from graphkit.records.words import shown


def summarize_command(files: list[Path], on_error: str) -> None:
    """Summarise graded files."""
    report = Report(on_error_value(on_error))
    found = summarize(files, report)
    tell(report)
    if as_json():
        for one in found:
            print_json(dataclasses.asdict(one))
        return
    rows = [
        [
            one.group or "all",
            one.measure,
            one.run,
            shown(one.mean),
            shown(one.median),
            "–" if one.accuracy is None else f"{one.accuracy:.1%}",
            f"{one.scored}/{one.total}",
        ]
        for one in found
    ]
    print_table(None, ("questions", "measure", "run", "mean", "median", "accuracy", "scored"), rows)
