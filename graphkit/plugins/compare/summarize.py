"""``graphkit summarize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, present, print_problems
from graphkit.cli.options import ReadingOptions
from graphkit.cli.tables import print_table
from graphkit.records.words import shown

if TYPE_CHECKING:
    from graphkit.plugins.compare.summaries import ScoreSummary


@command()
def summarize(
    *, files: list[Path] = argument("FILE...", "Read these scores (.jsonl, .csv, .parquet)."), reading: ReadingOptions
) -> None:
    """Summarise files of scores by run and measure.

    Whoever gave the scores, groups of questions are summarised, too.
    """
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.compare.summaries import summarize

    problems = reading.problems()
    with shown_progress("reading scores"):
        summaries = summarize(files, problems)
    print_problems(problems)
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
    columns = ("questions", "measure", "run", "mean", "median", "accuracy", "scored")
    present(lambda: print_table(None, columns, rows), *map(dataclasses.asdict, summaries))


def _scored(summary: ScoreSummary) -> str:
    """Return how many questions were scored, and the figures with failures as the worst value."""
    from graphkit.scoring.measure_summaries import STRICT

    counts = f"{summary.scored}/{summary.total}"
    if summary.untyped:
        counts += "; never logged relations"
    if summary.strict is not None:
        counts += f"; {shown(summary.strict)} with {STRICT}"
    if not summary.failures:
        return counts
    mean = "no worst value" if summary.with_failed is None else shown(summary.with_failed)
    accuracy = "" if summary.accuracy_with_failed is None else f", accuracy {summary.accuracy_with_failed:.1%}"
    return f"{counts}; {mean}{accuracy} with {summary.failures} as the worst"
