"""The default output of commands: as many findings as there is room for, each on its line, and the summary last."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphkit.cli.base import option, print_drawn, say
from graphkit.cli.tables import GAP, table_lines
from graphkit.cli.terminal import cells, console, folded, folded_command, masked, width_of
from graphkit.errors import GraphkitError, one_line
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.analysis.findings import Brief, BriefLine, BriefTable

FULL = option("--full", "Print everything, not only the findings.")

#: So many runs are columns; more are rows, of which so many are shown.
ACROSS, DOWN = 4, 10

#: How many lines a finding may take in a narrow terminal, and how many the notes on standard error.
TALL, NOTES = 3, 6

#: The colours of the words that a line begins with, and of verdicts in tables: the words say the same without them.
STYLES = {
    **dict.fromkeys(("gate", "severe", "invalid", "error"), "bold red"),
    **dict.fromkeys(("worse", "failed", "unlogged", "failure", "claim"), "red"),
    **dict.fromkeys(("weak", "mend", "where", "warning", "luck", "stale"), "yellow"),
    **dict.fromkeys(("better", "won"), "green"),
    "next": "cyan",
}

#: The room for the word that a line begins with.
LABEL = 10


def say_briefly(messages: Sequence[str]) -> int:
    """Print notes on standard error, as many as there is room for; return how many lines they took."""
    width, taken = width_of(sys.stderr), 0
    for place, message in enumerate(messages):
        lines = len(folded(one_line(masked(message)), width))
        if taken + lines > NOTES - (place + 1 < len(messages)):
            say(f"note: {counted(len(messages) - place, 'more note')}: --full")
            return taken + 1
        say(message)
        taken += lines
    return taken


def lines_of_error(error: GraphkitError | None) -> int:
    """Return how many lines an error takes on standard error."""
    if error is None:
        return 0
    return sum(len(folded(line, width_of(sys.stderr))) for line in f"error: {masked(str(error))}".split("\n"))


def print_brief(brief: Brief, taken: int = 0) -> int:
    """Print a brief, and return how many lines are printed by now, of which ``taken`` were before.

    It leaves out findings where that would be more than ``LINES``.
    """
    from graphkit.analysis.findings import LINES

    width = width_of(sys.stdout)
    above = _table(brief.table, width) if brief.table is not None else []
    margin = max([LABEL, *(len(finding.level) + 2 for finding in brief.findings)])
    below = []
    for command in brief.commands:
        lines = folded_command(one_line(masked(command)), width and width - margin)
        if width is None or max(map(cells, lines)) <= width - margin:  # a path too long for the terminal isn't shown
            below += _labelled("next", lines, margin)
    summary = folded(one_line(masked(brief.summary)), width, shorten=True) if brief.summary else []
    room = LINES - taken - len(above) - len(below) - len(summary)
    drawn = [_labelled(one.level, _text(one.text, width and width - margin), margin) for one in brief.findings]
    kept = _fitting(brief.findings, drawn, room)
    more = len(drawn) - len(kept)
    rest = _labelled("", [f"{counted(more, 'more finding')}: --full"], margin) if more else []
    lines = [*above, *(line for place in kept for line in drawn[place]), *rest, *below, *summary]
    print_drawn(lines)
    return taken + len(lines)


def _fitting(findings: Sequence[BriefLine], drawn: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the findings to print, in order: all if they fit, else those of the greatest weight."""
    if sum(map(len, drawn)) <= room:
        return [*range(len(findings))]
    kept, left = list[int](), room - 1
    for place in sorted(range(len(findings)), key=lambda one: -findings[one].weight):
        if len(drawn[place]) <= left:
            kept.append(place)
            left -= len(drawn[place])
    return sorted(kept)


def _text(text: str, width: int | None) -> list[str]:
    """Return a finding as lines; the end of one that is too long for a narrow terminal is cut off."""
    lines = folded(one_line(masked(text)), width, 0, shorten=True)
    if len(lines) <= TALL:
        return lines
    last = folded(f"{lines[TALL - 1]} ...", width, 0)
    return [*lines[: TALL - 1], last[0] if len(last) == 1 else f"{lines[TALL - 1].rpartition(' ')[0]} ..."]


def _labelled(label: str, lines: Sequence[str], margin: int) -> list[str]:
    """Return lines with a word before the first, in its colour."""
    from rich.text import Text

    made = console()
    with made.capture() as captured:
        made.print(Text(f"{label:<{margin}}", style=STYLES.get(label, "bold" if label else "")), end="")
    return [f"{captured.get()}{lines[0]}".rstrip(), *(f"{'':<{margin}}{line}" for line in lines[1:])]


def _table(table: BriefTable, width: int | None) -> list[str]:
    """Return the lines of a table; runs that don't fit as columns become rows."""
    columns, rows = list(table.columns), [list(row) for row in table.rows]
    least = table.least
    if not _fits(columns, rows, width):
        short = shortened_names(table.runs)
        columns = [short.get(column, column) for column in columns]
        least = tuple(short.get(column, column) for column in least)
    rest = 0
    if table.across and (len(columns) - 1 > ACROSS or not _fits(columns, rows, width)):
        turned = [list(row) for row in zip(*([list(table.columns), *rows]), strict=True)]
        columns, rows = ["run", *turned[0][1:]], turned[1 : DOWN + 1]
        rest = len(turned) - 1 - len(rows)
    styles = {text: STYLES[level] for text, level in table.levels}
    lines = table_lines(columns, rows, least, edges=False, styles=styles, aligned=True)
    return [*lines, *([f"{counted(rest, 'more run')}: --full"] if rest else [])]


def _fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> bool:
    widths = [max(cells(text) for text in column) for column in zip(columns, *rows, strict=True)]
    return width is None or sum(widths) + GAP * (len(widths) - 1) + 2 <= width


def shortened_names(names: Sequence[str]) -> dict[str, str]:
    """Return names without the beginning that all share, which ends at a sign.

    >>> shortened_names(["shop-bm25", "shop-graph"])
    {'shop-bm25': '…-bm25', 'shop-graph': '…-graph'}
    """
    alike = [chars[0] for chars in itertools.takewhile(lambda chars: len({*chars}) == 1, zip(*names, strict=False))]
    while alike and alike[-1].isalnum():
        alike.pop()
    common = "".join(alike[:-1])
    return {name: f"…{name[len(common) :]}" for name in names} if len(common) > 1 and len(names) > 1 else {}
