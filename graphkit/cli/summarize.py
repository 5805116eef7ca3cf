"""``graphkit summarize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import as_json, print_json, print_problems, with_json
from graphkit.cli.options import ON_ERROR, OnErrorOption, StrictOption, on_error_value

if TYPE_CHECKING:
    from graphkit.analysis.summaries import ScoreSummary


@with_json
def summarize(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of scores (.jsonl, .csv, .parquet).")],
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Summarise files of scores, whoever gave them, by run, measure and group."""
    import dataclasses

    from graphkit.analysis.summaries import summarize
    from graphkit.cli.tables import print_table
    from graphkit.files.problems import Problems
    from graphkit.records.words import shown

    problems = Problems(on_error_value(on_error), strict=strict)
    summaries = summarize(files, problems)
    print_problems(problems)
    if as_json():
        for summary in summaries:
            print_json(dataclasses.asdict(summary))
        return
    rows = [
        [
            summary.group or "all",
            summary.measure,
            summary.run,
            shown(summary.mean),
            shown(summary.median),
            "–" if summary.accuracy is None else f"{summary.accuracy:.1%}",
            _scored(summary),
        ]
        for summary in summaries
    ]
    print_table(None, ("questions", "measure", "run", "mean", "median", "accuracy", "scored"), rows)


def _scored(summary: ScoreSummary) -> str:
    """Return how many questions were scored, and what the figures are where failures count as the worst value."""
    from graphkit.records.words import shown

    counts = f"{summary.scored}/{summary.total}"
    if not summary.failures:
        return counts
    mean = "no worst value" if summary.with_failed is None else shown(summary.with_failed)
    accuracy = "" if summary.accuracy_with_failed is None else f", accuracy {summary.accuracy_with_failed:.1%}"
    return f"{counts}; {mean}{accuracy} with {summary.failures} as the worst"
