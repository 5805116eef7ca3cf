"""Tables for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.analysis.explain import short_shas
from graphkit.cli.base import console, print_line
from graphkit.errors import one_line
from graphkit.records.usage import Spread
from graphkit.records.words import counted, shown
from graphkit.scoring.results import FAILURES_UNSCORED, Evaluation, Label, scored_in_words


def cell(value: Any) -> str:
    """Return a value as the text of a table's cell."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if value != int(value) else f"{value:.1f}"
    if isinstance(value, list | tuple):
        return "\n".join(cell(item) for item in value) or "–"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {cell(item)}" for name, item in value.items())
    return short_shas(one_line(str(value)))


def print_table(
    title: str | None, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str | None = None
) -> None:
    """Print rows on standard output: as a table if it fits the terminal, else each row as a block.

    Without a terminal the table is as wide as necessary, so no value is broken over lines.
    """
    columns = [one_line(column) for column in columns]
    cells = [[cell(value) for value in row] for row in rows]
    widths = [_widest([column, *(row[index] for row in cells)]) for index, column in enumerate(columns)]
    if sys.stdout.isatty() and sum(widths) + 3 * len(widths) > console().width:
        _print_blocks(title, columns, cells, caption)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if title:
        print_line(title)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float | None) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    console(width=sum(widths) + 4 * len(widths) + 2).print(table)
    if caption:
        print_line(caption)
        print_line()


def _widest(texts: Sequence[str]) -> int:
    return max(len(line) for text in texts for line in (text.splitlines() or [""]))


def _print_blocks(
    title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str | None
) -> None:
    if title:
        print_line(title)
    name = max(map(len, columns))
    for row in rows:
        print_line()
        for column, value in zip(columns, row, strict=True):
            for number, line in enumerate(value.splitlines() or [""]):
                print_line(f"  {column if number == 0 else '':<{name}}  {line}")
    for line in ("", caption, "") if caption else ("",):
        print_line(line)


def print_scoreboard(results: Sequence[Evaluation]) -> None:
    """Print the mean of each measure for each run, and how many questions it was scored on."""
    names = list(dict.fromkeys(name for result in results for name in result.measures))
    columns = ["measure"]
    for result in results:
        columns += [result.run, "scored"]
    rows = []
    for name in names:
        row: list[str] = [name]
        for result in results:
            summary = result.measures.get(name)
            row += [shown(summary.mean), scored_in_words(summary, result.failed_as)] if summary else ["–", "–"]
        rows.append(row)
    print_table(None, columns, rows)
    for result in results:
        invalid = f", {len(result.invalid)} invalid (stale gold, not scored)" if result.invalid else ""
        questions = counted(result.questions, "question")
        print_line(f"{result.run}: {questions}, {result.failed} failed, {result.missing} missing{invalid}")
        if result.failed_as == "unscored":
            print_line(f"{result.run}: {FAILURES_UNSCORED}")
        for line in result.reasons():
            print_line(f"{result.run}: {line}")
    print_line()
    print_efficiency({result.run: (result.known_efficiency(), result.questions) for result in results})


def print_efficiency(runs: Mapping[str, tuple[Mapping[str, Spread], int]]) -> None:
    """Print the known latency, calls, tokens and cost of each run, given with its number of questions."""
    rows = [
        [run, name, spread.mean, spread.median, spread.p95, spread.total, f"{spread.known}/{questions}"]
        for run, (figures, questions) in runs.items()
        for name, spread in figures.items()
    ]
    if rows:
        print_table(None, ("run", "figure", "mean", "median", "p95", "total", "known"), rows)


def print_groups(results: Sequence[Evaluation], by: Label) -> None:
    """Print the mean of each measure within each group of questions, for each run."""
    for result in results:
        groups = result.grouped(by)
        if not groups:
            print_line(f"{result.run}: no question has a {by}")
            print_line()
            continue
        sizes = {
            name: max((summary.total for summary in measures.values()), default=0) for name, measures in groups.items()
        }
        columns = ["measure", *(f"{name} ({size})" for name, size in sizes.items())]
        rows = [[name, *(shown(measures[name].mean) for measures in groups.values())] for name in result.measures]
        print_table(f"{result.run} by {by}, with the number of questions", columns, rows)
