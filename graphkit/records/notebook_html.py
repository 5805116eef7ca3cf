"""What a notebook shows of a result: the verdict first, then a table, perhaps with bars. Every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from graphkit.errors import one_line
from graphkit.records.words import shown

#: The rows that a table shows at most, and the characters of a cell.
ROWS, ROOM = 60, 200

#: The size of a bar, and the room beside its scale, in pixels.
_WIDTH, _HEIGHT, _MARGIN = 132, 14, 3


class Drawn(str):
    """HTML that needs no escaping, since this module made it."""


def escaped(text: object, room: int = ROOM) -> Drawn:
    r"""Return text as HTML on one line: nothing in it is markup, controls a terminal, or turns its direction.

    >>> escaped("<b>\x1b & more")
    '&lt;b&gt;\\u001b &amp; more'
    """
    plain = one_line(str(text))
    return Drawn(html.escape(plain if len(plain) <= room else f"{plain[: room - 3]}..."))


def block(
    verdict: str,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
    notes: Iterable[str] = (),
) -> str:
    """Return the verdict, a table and notes; a cell is text, a number with four decimals, or something drawn."""
    parts = [f"<p><strong>{escaped(verdict, 4 * ROOM)}</strong></p>"]
    if rows:
        head = "".join(f"<th style='text-align:left'>{escaped(column)}</th>" for column in columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:ROWS])
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(rows) > ROWS:
        parts.append(f"<p>{len(rows) - ROWS} more rows</p>")
    parts += [f"<p><small>{escaped(note, 4 * ROOM)}</small></p>" for note in notes]
    return f"<div class='graphkit'>{''.join(parts)}</div>"


def _cell(value: object) -> str:
    if isinstance(value, Drawn):
        return f"<td>{value}</td>"
    if isinstance(value, float) or value is None:
        return f"<td style='text-align:right'>{shown(value)}</td>"
    if isinstance(value, list | tuple):
        return f"<td style='text-align:left'>{'<br>'.join(map(escaped, value))}</td>"
    side = "right" if isinstance(value, int) and not isinstance(value, bool) else "left"
    return f"<td style='text-align:{side}'>{escaped(value)}</td>"


def bar(
    value: float | None,
    interval: tuple[float, float] | None = None,
    target: float | None = None,
    span: tuple[float, float] = (0.0, 1.0),
) -> Drawn:
    """Return a bar from 0 to a value on a scale, with the interval as a line over it and the target as a tick.

    Nothing is drawn without a value, or of one outside the scale. What the bar shows is also its label.
    """
    low, high = span
    if value is None or not low <= value <= high or low >= high:
        return Drawn("")

    def x(at: float) -> str:
        return f"{_MARGIN + (_WIDTH - 2 * _MARGIN) * (min(max(at, low), high) - low) / (high - low):.1f}"

    zero, end = sorted((float(x(0.0)), float(x(value))))
    parts = [f"<rect x='{zero:.1f}' y='3' width='{end - zero:.1f}' height='8' fill='#5b8cc9'/>"]
    label = shown(value)
    if interval is not None:
        parts.append(_line(x(interval[0]), "7", x(interval[1]), "7", "currentColor"))
        parts += [_line(x(at), "4", x(at), "10", "currentColor") for at in interval]
        label += f", 95% interval {interval[0]:.4f} to {interval[1]:.4f}"
    if target is not None:
        parts.append(_line(x(target), "0", x(target), str(_HEIGHT), "#c0392b"))
        label += f", target {target:g}"
    size = f"width='{_WIDTH}' height='{_HEIGHT}'"
    return Drawn(f"<svg {size} role='img' aria-label='{label}'><title>{label}</title>{''.join(parts)}</svg>")


def _line(x1: str, y1: str, x2: str, y2: str, colour: str) -> str:
    return f"<line x1='{x1}' y1='{y1}' x2='{x2}' y2='{y2}' stroke='{colour}' stroke-width='1.5'/>"
