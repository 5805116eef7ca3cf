"""Scorecards at the terminal: severe alerts first, then the layers against their targets, then the diagnosis."""

from __future__ import annotations

from collections.abc import Sequence

from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.results import shown
from graphkit.scoring import Component, Scorecard


def print_scorecard(card: Scorecard) -> None:
    """Print the layers of one run."""
    for alert in card.alerts:
        print_line(f"SEVERE {card.run}: {alert.measure} is {shown(alert.mean)}")
    rows = []
    for layer in card.layers:
        rows.append([layer.name, shown(layer.score), f"{layer.coverage:.0%}", "", "", "", ""])
        for one in layer.components:
            rows.append(
                ["  " + one.measure, shown(one.mean), "", f"{one.weight:g}", _target(one), _state(one), _scored(one)]
            )
    overall = shown(card.overall) + (" (partial)" if card.partial else "")
    rows.append(["overall", overall, "", "", "", "", ""])
    print_table(f"Layers of {card.run}", ("layer", "score", "coverage", "weight", "target", "", "scored"), rows)
    for finding in card.findings:
        worst = f"; most at {', '.join(finding.questions)}" if finding.questions else ""
        print_line(f"{finding.layer}: {finding.weakness} ({finding.measure} {finding.mean:.4f}){worst}")
        print_line(f"  remedy: {finding.remedy}")
    if card.findings:
        print_line("")


def _target(one: Component) -> str:
    return "" if one.target is None else f"{one.target:g}"


def _state(one: Component) -> str:
    if one.severe:
        return "severe"
    return {True: "met", False: "missed", None: ""}[one.met]


def _scored(one: Component) -> str:
    return f"{one.scored}/{one.total}"


def severe_messages(cards: Sequence[Scorecard]) -> list[str]:
    """Return a sentence for each severe alert."""
    return [f"{card.run}: {one.measure} is {shown(one.mean)}, severe" for card in cards for one in card.alerts]
