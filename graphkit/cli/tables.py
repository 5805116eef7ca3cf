"""Tables for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import print_drawn, print_line
from graphkit.cli.terminal import cells, console, elided, folded, masked, width_of
from graphkit.errors import one_line
from graphkit.records.words import counted, short_shas

if TYPE_CHECKING:
    from graphkit.analysis.gate_outcomes import GateOutcome

#: The columns between two columns of a table.
GAP = 3

#: So many dropped columns are named.
MOST_NAMED = 4

#: A column of prose may become this narrow, so that the table fits.
PROSE = 24


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
    title: str | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    caption: str | None = None,
    *,
    least: Sequence[str] = (),
) -> None:
    """Print rows on standard output as a table that fits the terminal; without a terminal it is as wide as necessary.

    Cells of prose are broken at spaces. If that isn't enough, the least important columns are dropped, and a line
    says which: first those named by ``least``, then the last ones. The first column stays.
    """
    if title:
        print_line(title)
    print_drawn(table_lines(columns, rows, least))
    if caption:
        print_line(caption)
        print_line()


def print_gates(gates: Sequence[GateOutcome]) -> None:
    """Print the list of gates: what each checked, on how many questions, and how far a passed one is from its bound."""
    columns = ("gate", "run", "", "value", "95% interval", "n", "left out", "from the bound")
    rows = [
        [
            *(gate.name, gate.run, "passed" if gate.passed else "failed", gate.value),
            None if gate.interval is None else f"[{gate.interval[0]:.4f}, {gate.interval[1]:.4f}]",
            *(gate.n, gate.left_out, None if gate.margin is None else str(gate.margin)),
        ]
        for gate in gates
    ]
    if rows:
        print_table("Gates", columns, rows, least=("run", "left out", "95% interval"))


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    least: Sequence[str] = (),
    *,
    edges: bool = True,
    styles: Mapping[str, str] | None = None,
    aligned: bool = False,
) -> list[str]:
    """Return the lines of a table that fits the terminal of standard output, without blanks at their ends.

    Parameters
    ----------
    least
        The columns to drop first; then the last ones are.
    edges
        Whether an empty line stands above and below the table.
    styles
        The colour of a cell by its text, for a terminal that shows colours.
    aligned
        Whether texts that are numbers are aligned as numbers.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    width = width_of(sys.stdout)
    names = [masked(one_line(column)) for column in columns]
    texts = [[masked(cell(value)) for value in row] for row in rows]
    chosen, widths = fitting([[name, *(row[place] for row in texts)] for place, name in enumerate(names)], width, least)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=edges)
    for place in chosen:
        numeric = all(isinstance(row[place], int | float | None) or (aligned and _number(row[place])) for row in rows)
        justify: Any = "right" if numeric else "left"
        table.add_column(Text(names[place]), justify=justify, width=widths[place], overflow="fold")
    for row in texts:
        shown = [_cut(row[place], widths[place]) for place in chosen]
        table.add_row(*(Text(text, style=(styles or {}).get(text, "")) for text in shown))
    made = console(width=sum(widths.values()) + (GAP + 1) * len(chosen) + 2)
    made.width = max(made.width, sum(widths.values()) + GAP * len(chosen) + 2)
    with made.capture() as captured:
        made.print(table)
    lines = [line.rstrip() for line in captured.get().split("\n")[:-1]]
    if dropped := [name for place, name in enumerate(names) if place not in chosen]:
        at = -1 if edges else len(lines)
        lines[at:at] = folded(_more_columns(dropped), width)[:1]
    return lines


def fitting(
    texts: Sequence[Sequence[str]], width: int | None, least: Sequence[str] = ()
) -> tuple[list[int], dict[int, int]]:
    """Return the columns that fit, in order, and the width of each.

    ``texts`` are the cells of each column, its name first.
    """
    widest = {
        place: max(cells(line) for text in column for line in text.split("\n")) for place, column in enumerate(texts)
    }
    chosen = [*range(len(texts))]
    if width is None:
        return chosen, widest
    narrow = {place: _narrowest(column, widest[place]) for place, column in enumerate(texts)}
    order = [place for name in least for place, column in enumerate(texts) if column[0] == name]
    order += [place for place in reversed(chosen) if place not in order]
    for place in [one for one in order if one != 0]:
        if _taken(narrow, chosen) <= width:
            break
        chosen.remove(place)
    widths = {place: widest[place] for place in chosen}
    for place in sorted(chosen, key=lambda one: narrow[one] - widest[one]):  # the one that can give most comes first
        if (excess := _taken(widths, chosen) - width) > 0:
            widths[place] = max(narrow[place], widths[place] - excess)
    if (excess := _taken(widths, chosen) - width) > 0:  # the first column alone is too wide
        widths[0] = max(widths[0] - excess, 8)
    return chosen, widths


def _number(value: Any) -> bool:
    return isinstance(value, str) and (not value or value == "–" or value[-1].isdigit()) and not value[:1].isalpha()


def _more_columns(dropped: Sequence[str]) -> str:
    named = f": {', '.join(dropped)}" if len(dropped) <= MOST_NAMED else ""
    return f"{counted(len(dropped), 'more column')} in a wider terminal{named}"


def _taken(widths: Mapping[int, int], chosen: Sequence[int]) -> int:
    return sum(widths[place] for place in chosen) + GAP * (len(chosen) - 1) + 2


def _narrowest(texts: Sequence[str], widest: int) -> int:
    """Return how narrow a column may be: its longest word, but no less than prose needs."""
    longest = max((cells(word) for text in texts for word in text.split()), default=0)
    return min(widest, max(longest, PROSE))


def _cut(text: str, width: int) -> str:
    """Return the text of a cell with words that fit the column."""
    if all(cells(word) <= width for word in text.split()):
        return text
    return "\n".join(" ".join(elided(word, width) for word in line.split(" ")) for line in text.split("\n"))
