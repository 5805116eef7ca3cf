"""Quality against what it takes: the verdict's measure of each run beside its latency, tokens and cost per question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphkit.analysis.board import BoardCell, BoardRow
from graphkit.records.bounds import beaten
from graphkit.records.usage import Spread
from graphkit.scoring.results import Evaluation

#: The figures, by the names that the page gives them.
FIGURES = ("latency", "tokens", "cost")

#: From this ratio of the largest to the smallest value on, a scale is logarithmic.
LOGARITHMIC = 10

#: The size of a plot in pixels where it is narrowest, and the room on its left and right.
WIDTH, HEIGHT, LEFT, RIGHT = 200, 96, 36, 18

#: The radius of a dot with its edge, and the room of a letter with the space behind it.
DOT, LETTER, SPACE = 5, (8, 10), 3

#: How far above and below its dot a label may stand, in the order in which places are tried.
_HEIGHTS = (0, -10, 10, -19, 19)

#: The room of a dot or a label in pixels: its centre, and half its width and height.
_Room = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """The cost of one question, for each run: None if its records don't state it.

    ``known`` counts the answered questions behind each value, and ``unit`` says what the values are.
    """

    name: str
    unit: str
    values: tuple[float | None, ...]
    known: tuple[int, ...]

    @property
    def stated(self) -> list[int]:
        """The numbers of the runs that state it."""
        return [run for run, value in enumerate(self.values) if value is not None]


@dataclass(frozen=True, slots=True)
class FigureScale:
    """A scale from ``low`` to ``high`` with its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return where a value lies in percent, from 0 to 100."""
        low, high, value = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return 100 * min(max((value - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Dot:
    """A run in a panel: its place in percent from the upper left, and its interval.

    A run is ``beaten`` if another one has at least its quality for at most its price, and one of both is better.
    """

    run: int
    x: float
    y: float
    low: float | None
    high: float | None
    beaten: bool


@dataclass(frozen=True, slots=True)
class DotLabel:
    """The letters of the runs whose dots lie at one place in percent; its centre lies ``dx`` and ``dy`` pixels away."""

    runs: tuple[int, ...]
    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class Panel:
    """The quality of all runs that state a figure, against the figure."""

    figure: Figure
    across: FigureScale
    dots: tuple[Dot, ...]
    labels: tuple[DotLabel, ...]


@dataclass(frozen=True, slots=True)
class Tradeoffs:
    """The quality of several runs, the figures that some of them state, and a panel of each that two or more state."""

    quality: BoardRow
    up: FigureScale
    figures: tuple[Figure, ...]
    panels: tuple[Panel, ...]

    @property
    def names(self) -> str:
        """The figures in words."""
        *others, last = (one.name for one in self.figures)
        return f"{', '.join(others)} and {last}" if others else last


def tradeoffs(quality: BoardRow | None, results: Sequence[Evaluation]) -> Tradeoffs | None:
    """Return quality against figures; None without a quality that all of several runs have, or without a figure."""
    figures = tuple(one for one in figures_of([one.efficiency for one in results]) if one.stated)
    if quality is None or not figures or len(results) < 2 or any(cell.value is None for cell in quality.cells):
        return None
    ends = [end for cell in quality.cells for end in (cell.value, cell.low, cell.high) if end is not None]
    up = _from_zero(max(ends)) if quality.lowest == 0 else _between(quality.lowest, quality.highest)
    panels = tuple(_panel(one, quality, up) for one in figures if len(one.stated) > 1)
    return Tradeoffs(quality, up, figures, panels)


def figures_of(runs: Sequence[Mapping[str, Spread]]) -> list[Figure]:
    """Return latency, tokens and cost of all runs, from the usage of each."""
    nothing = Spread(None, None, None, None, 0)

    def spreads(name: str) -> list[Spread]:
        return [one.get(name, nothing) for one in runs]

    latency, cost = spreads("latency_ms"), spreads("cost")
    tokens = list(zip(spreads("prompt_tokens"), spreads("output_tokens"), strict=True))
    both = tuple(None if one.mean is None or other.mean is None else one.mean + other.mean for one, other in tokens)
    return [
        Figure(FIGURES[0], "median, ms", tuple(one.median for one in latency), tuple(one.known for one in latency)),
        Figure(FIGURES[1], "mean", both, tuple(min(one.known, other.known) for one, other in tokens)),
        Figure(FIGURES[2], "mean", tuple(one.mean for one in cost), tuple(one.known for one in cost)),
    ]


def _panel(figure: Figure, quality: BoardRow, up: FigureScale) -> Panel:
    values = {run: value for run, value in enumerate(figure.values) if value is not None}
    across = _across(list(values.values()))
    dots = []
    for run, value in values.items():
        cell = quality.cells[run]
        low, high = (None if end is None else 100 - up.at(end) for end in (cell.low, cell.high))
        lost = _beaten(run, values, quality)
        dots.append(Dot(run, across.at(value), 100 - up.at(_value(cell)), low, high, lost))
    return Panel(figure, across, tuple(dots), _labels(dots))


def _value(cell: BoardCell) -> float:
    assert cell.value is not None
    return cell.value


def _beaten(run: int, values: dict[int, float], quality: BoardRow) -> bool:
    sign = -1 if quality.lower else 1
    places = {one: (sign * _value(quality.cells[one]), value) for one, value in values.items()}
    return beaten(places.pop(run), places.values())


def _labels(dots: Sequence[Dot]) -> tuple[DotLabel, ...]:
    """Return the labels of dots, where they overlap neither one another nor other dots; dots at one place share one."""
    groups: list[list[Dot]] = []
    for dot in dots:
        group = next((some for some in groups if _together(some[0], dot)), None)
        if group is None:
            groups.append([dot])
        else:
            group.append(dot)
    taken: list[_Room] = [(*_pixels(dot), DOT, DOT) for dot in dots]
    found = []
    for group in groups:
        x, y = _pixels(group[0])
        half = (len(group) * (LETTER[0] + SPACE) - SPACE) / 2
        reach = DOT + max(abs(_pixels(dot)[0] - x) for dot in group)
        places = [(side * (reach + half), dy) for dy in _HEIGHTS for side in (1, -1)]
        inside = [(dx, dy) for dx, dy in places if x + dx - half >= -LEFT and x + dx + half <= WIDTH + RIGHT]
        own = {_pixels(dot) for dot in group}
        others = [room for room in taken if room[:2] not in own]
        free = (one for one in inside if not _overlaps((x + one[0], y + one[1], half, LETTER[1] / 2), others))
        dx, dy = next(free, (inside or places)[0])
        taken.append((x + dx, y + dy, half, LETTER[1] / 2))
        found.append(DotLabel(tuple(dot.run for dot in group), group[0].x, group[0].y, dx, dy))
    return tuple(found)


def _pixels(dot: Dot) -> tuple[float, float]:
    return dot.x * WIDTH / 100, dot.y * HEIGHT / 100


def _together(first: Dot, second: Dot) -> bool:
    return all(abs(one - other) < DOT / 2 for one, other in zip(_pixels(first), _pixels(second), strict=True))


def _overlaps(room: _Room, others: Iterable[_Room]) -> bool:
    x, y, wide, tall = room
    return any(abs(x - left) < wide + w and abs(y - top) < tall + t for left, top, w, t in others)


def _across(values: Sequence[float]) -> FigureScale:
    """Return the scale of a figure: from 0, or logarithmic if the values differ much."""
    low, high = min(values), max(values)
    if low <= 0 or high / low < LOGARITHMIC:
        return _from_zero(high, 3)
    low, high = low / 1.5, high * 1.5
    decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return FigureScale(low, high, tuple(10.0**power for power in decades), logarithmic=True)


def _from_zero(high: float, most: int = 4) -> FigureScale:
    """Return a scale from 0 to a value or above it, cut into at most so many round steps.

    >>> _from_zero(0.54).ticks
    (0.0, 0.2, 0.4, 0.6)
    """
    if high <= 0:
        return FigureScale(0.0, 1.0, (0.0, 1.0))
    power = 10.0 ** math.floor(math.log10(high))
    step = next(one * power for one in (0.2, 0.25, 0.5, 1, 2, 2.5, 5) if high / (one * power) <= most)
    count = math.ceil(round(high / step, 9))
    return FigureScale(0.0, count * step, tuple(round(one * step, 12) for one in range(count + 1)))


def _between(low: float, high: float) -> FigureScale:
    return FigureScale(low, high, (low, high))
