"""The history on the page: a small chart of one measure for each system, drawn as SVG without a script."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from graphkit.plugins.history.evaluation_history import Entry
from graphkit.records.words import counted
from graphkit.report.data import ReportData
from graphkit.report.rendering import environment


@dataclass(frozen=True, slots=True)
class Point:
    """An evaluation at its place in percent; ``before`` is the number of the comparable point before it.

    ``other`` says whether it doesn't compare with the latest.
    """

    x: float
    y: float
    value: float
    words: str
    before: int | None
    other: bool


@dataclass(frozen=True, slots=True)
class HistoryChart:
    """The evaluations of a system by one measure, with the lowest and the highest value of the scale."""

    system: str
    measure: str
    low: float
    high: float
    points: tuple[Point, ...]

    @property
    def words(self) -> str:
        """How many evaluations there are, and since when."""
        return f"{counted(len(self.points), 'evaluation')} since {self.points[0].words[:10]}"


def history_section(entries: Sequence[Entry], data: ReportData) -> Markup:
    """Return the section of a page that draws evaluations; it is empty without a chart."""
    text = Path(__file__).with_name("history.html").read_text(encoding="utf-8")
    charts = history_charts(entries, data.runs[0].evaluation.measures)
    return Markup(environment().from_string(text).render(history=charts))  # noqa: S704 - the template escapes


def history_charts(entries: Sequence[Entry], measures: Collection[str]) -> list[HistoryChart]:
    """Return a chart for each system with at least two evaluations, by the first of the page's measures that they have.

    Parameters
    ----------
    entries
        The evaluations, the earliest first.
    """
    return [
        chart for system in dict.fromkeys(one.system for one in entries) for chart in _of(system, entries, measures)
    ]


def _of(system: str, entries: Sequence[Entry], measures: Collection[str]) -> Iterator[HistoryChart]:
    own = [one for one in entries if one.system == system]
    measure = next((name for name in measures if name in own[-1].values), None)
    if measure is None:
        return
    own = [one for one in own if measure in one.values]
    if len(own) < 2:
        return
    values = [one.values[measure] for one in own]
    low, high = min(0.0, *values), max(1.0, *values)
    last: dict[tuple[object, ...], int] = {}
    points = []
    for number, (one, value) in enumerate(zip(own, values, strict=True)):
        at = round(100 * number / (len(own) - 1), 2), round(100 * (high - value) / (high - low), 2)
        commit = f", commit {one.commit[:12]}" if one.commit else ""
        words = f"{one.at[:16].replace('T', ' ')} UTC: {value:.4f}, {one.run}{commit}, gold {one.gold_hash}"
        points.append(Point(*at, value, words, last.get(one.basis), one.basis != own[-1].basis))
        last[one.basis] = number
    yield HistoryChart(system, measure, low, high, tuple(points))
