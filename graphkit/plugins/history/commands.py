"""``graphkit history``, and ``--history`` of ``graphkit report`` and ``view``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, open_graph, option, present, print_line, say
from graphkit.cli.options import CONFIG, MEASURE
from graphkit.cli.tables import print_gates, print_table
from graphkit.errors import InputError
from graphkit.records.option_values import Drop
from graphkit.records.option_values import drop as read_drop
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.history.evaluation_history import Entry
    from graphkit.report.data import Section

#: How many measures the table shows, unless some are chosen.
SHOWN = 3


@dataclass(frozen=True)
class HistoryGateOptions:
    """The gate of the latest evaluation."""

    drop: list[Drop] = option(
        "--fail-on-drop [MEASURE=]VALUE",
        "Fail if the latest mean is worse than the median of the last ones by more than VALUE; may be repeated.",
        default=[],
        parser=read_drop("--fail-on-drop"),
    )
    last: int = option("--last N", "Take the median of the last N comparable evaluations.", default=10, min=1)


@dataclass(frozen=True)
class HistoryOptions:
    """The history on the page."""

    history: list[Path] | None = option(
        "--history RESULTS", "Draw the evaluations in these results over time; may be repeated."
    )

    def section(self) -> Section:
        """Return the section that draws them, which is empty without any."""
        from functools import partial

        from graphkit.plugins.history.evaluation_history import read_history
        from graphkit.plugins.history.history_view import history_section

        return partial(history_section, read_history(self.history or ()))


@command(graph=True)
def history(
    places: list[Path] | None = argument(
        "RESULTS...",
        "Read these results: .json files, folders, and folders of both.  [default: the graph]",
        default=None,
    ),
    run: list[str] | None = option("--run NAME", "Show this run or system; may be repeated."),
    measure: list[str] | None = MEASURE,
    *,
    gate: HistoryGateOptions,
    config: Path | None = CONFIG,
) -> None:
    """List evaluations by time, with what changed.

    Each is compared with the last comparable one, and the latest may be held to a median.
    """
    from graphkit.analysis.gate_outcomes import hold
    from graphkit.plugins.history.evaluation_history import fail_on_drop

    if gate.drop and not places:
        what = "the graph holds the latest evaluation of each run only, and no gate is held there"
        raise InputError(what, where="--fail-on-drop", remedy="Name the results of evaluations: RESULTS...")
    entries = _entries(places or (), run or (), config)
    if (undated := sum(one.dated_by_file for one in entries)) > 0:
        say(f"note: {counted(undated, 'evaluation')} of an earlier graphkit: the time is that of the file")
    if later := sum(one.at > datetime.now(UTC).isoformat() for one in entries):
        say(f"note: {counted(later, 'evaluation')} dated in the future; the latest by its date is the one that is held")
    known = list(dict.fromkeys(name for one in entries for name in one.values))
    if unknown := [name for name in measure or () if name not in known]:
        raise InputError(f"no evaluation has the measure {unknown[0]!r}", remedy=f"There are: {', '.join(known)}.")
    gates = fail_on_drop(entries, gate.drop, gate.last) if gate.drop else []

    def show() -> None:
        _print_history(entries, measure or known[:SHOWN])
        print_gates(gates)

    present(show, *(one.as_json() for one in entries), *({"gate": one.as_json()} for one in gates))
    hold(gates)


def _entries(places: Sequence[Path], runs: Sequence[str], config: Path | None) -> list[Entry]:
    """Return the evaluations at some places, or without any those of the graph."""
    from graphkit.analysis.config import load_config
    from graphkit.plugins.history.evaluation_history import history_in_graph, read_history

    if places:
        return read_history(places, runs, load_config(config))
    with open_graph(read_only=True) as store:
        return history_in_graph(store, runs, load_config(config))


def _print_history(entries: Sequence[Entry], measures: Sequence[str]) -> None:
    from graphkit.plugins.history.evaluation_history import sparkline

    def cell(value: float | None, change: float | None = None) -> str:
        return "" if value is None else f"{value:.4f}" + ("" if change is None else f" ({change:+.4f})")

    columns = ["evaluated (UTC)", "run", "overall", *measures, "failed", "gold", "commit", "graphkit"]
    rows = [
        [
            one.at[:16].replace("T", " "),
            one.run,
            cell(one.layers.get("overall")),
            *(cell(one.values.get(name), one.changes.get(name)) for name in measures),
            one.failed + one.missing,
            (one.gold_hash or "")[:8],
            (one.commit or "")[:8],
            one.graphkit or "",
        ]
        for one in entries
    ]
    print_table(None, columns, rows, counted(len(entries), "evaluation"), least=("graphkit", "commit", "gold"))
    for system in dict.fromkeys(one.system for one in entries):
        own = [one for one in entries if one.system == system]
        for name in measures if len(own) > 1 else ():
            print_line(f"{system}  {name}  {sparkline([one.values.get(name) for one in own])}")
