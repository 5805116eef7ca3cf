"""Scorecards at the terminal: severe alerts first, then the layers against their targets, then the diagnosis."""

from __future__ import annotations

from collections.abc import Sequence

from graphkit.analysis.layers import NOT_GRADED, NOT_JUDGED, LayerComponent, Scorecard
from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.measures.outcome import stage_counts, two_by_two
from graphkit.records.words import shown
from graphkit.scoring.results import Evaluation


def print_scorecard(card: Scorecard) -> None:
    """Print the layers of one run; alerts come first."""
    if card.unscored:
        print_line(f"NOT SCORED {card.run}: {card.unscored}")
    if not card.judged:
        print_line(f"SEVERE {card.run}: {NOT_JUDGED}")
    if card.following:
        following = ", ".join(f"{alert.measure} is {alert.in_words}" for alert in card.following_alerts)
        print_line(f"SEVERE {card.run}: {card.unknown}, from which follows: {following}")
    for alert in card.own_alerts:
        print_line(f"SEVERE {card.run}: {alert.measure} is {alert.in_words}")
    rows = []
    for layer in card.layers:
        rows.append([layer.name, shown(layer.score), f"{layer.coverage:.0%}", "", "", "", ""])
        for component in layer.components:
            rows.append(
                [
                    "  " + component.measure,
                    shown(component.held),
                    "",
                    f"{component.weight:g}",
                    _target(component),
                    _state(component),
                    component.counts,
                ]
            )
    overall = shown(card.overall) + (" (partial)" if card.partial else "")
    rows.append(["overall", overall, "", "", "", "", ""])
    print_table(f"Layers of {card.run}", ("layer", "score", "coverage", "weight", "target", "", "scored"), rows)
    for layer_name in card.ungraded:
        print_line(f"{layer_name}: {NOT_GRADED}")
        print_line()
    for finding in card.findings:
        worst = f"; most at {', '.join(finding.questions)}" if finding.questions else ""
        print_line(f"{finding.layer}: {finding.weakness} ({finding.measure} {finding.mean:.4f}){worst}")
        print_line(f"  remedy: {finding.remedy}")
    if card.findings:
        print_line("")


def print_outcomes(result: Evaluation) -> None:
    """Print how many answers and paths are right, which right answers are luck, and where questions ended."""
    outcomes = result.outcomes()
    cells = two_by_two(outcomes)
    counts = cells.counts
    rows = [["right answer", counts["sound"], counts["luck"]], ["wrong answer", counts["misread"], counts["lost"]]]
    print_table(f"Answers and paths of {result.run}", ("", "right path", "wrong path"), rows)
    if cells.luck:
        print_line(f"right answers by a wrong path, so luck: {named(cells.luck)}")
    stages = ", ".join(f"{name} {count}" for name, count in stage_counts(outcomes).items() if count)
    print_line(f"{counts['undecided']} of {len(outcomes)} are undecided; where questions ended: {stages}")
    print_line()


def named(questions: Sequence[str], most: int = 8) -> str:
    """Return questions as text; only the first few of many."""
    more = f" and {len(questions) - most} more" if len(questions) > most else ""
    return ", ".join(questions[:most]) + more


def _target(component: LayerComponent) -> str:
    return "" if component.target is None else f"{component.target:g}"


def _state(component: LayerComponent) -> str:
    if component.severe:
        return "severe"
    return {True: "met", False: "missed", None: ""}[component.met]
