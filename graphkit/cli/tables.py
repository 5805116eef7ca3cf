"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphkit.cli.base import console, printable
from graphkit.results import Evaluation, shown


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
        return ", ".join(f"{name}: {cell(one)}" for name, one in value.items())
    return printable(str(value))


def print_table(
    title: str | None, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str | None = None
) -> None:
    """Print a table on standard output; long values fold, nothing is cut."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    numeric = {
        index
        for index in range(len(columns))
        if rows and all(isinstance(row[index], int | float | None) and not isinstance(row[index], bool) for row in rows)
    }
    table = Table(
        title=title, caption=caption, box=SIMPLE_HEAD, title_justify="left", caption_justify="left", pad_edge=False
    )
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index in numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell(value) for value in row))
    console().print(table)


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
            one = result.measures.get(name)
            row += [shown(one.mean), f"{one.scored}/{one.total}"] if one else ["–", "–"]
        rows.append(row)
    caption = "; ".join(
        f"{result.run}: {result.questions} questions, {result.failed} failed, {result.missing} missing"
        for result in results
    )
    print_table(None, columns, rows, caption)
