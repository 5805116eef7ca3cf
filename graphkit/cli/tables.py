"""Tables for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from graphkit.cli.base import console, print_line
from graphkit.errors import one_line
from graphkit.records.words import short_shas


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
