"""Simulated judges of known strengths, readiness for ties and preference of the first place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy

from graphkit.plugins.judging.pairwise.comparisons import AnswerComparison

WINNERS = ("first", "second", "tie")


def chances(first: float, second: float, place: float, ties: float) -> Any:
    """Return the chances that the answer shown first wins, that the second does, and of a tie."""
    odds = numpy.exp([first + place / 2, second - place / 2, (first + second) / 2 + ties])
    return odds / odds.sum()


def simulated(
    strengths: Mapping[str, float],
    questions: int,
    random: Any,
    *,
    place: float = 0.0,
    ties: float = -20.0,
    trials: int = 1,
    spread: float = 0.0,
    criteria: Sequence[str] = ("c",),
) -> list[AnswerComparison]:
    """Return what a judge says: on each question the later of two runs is better by a draw of the given spread."""
    found = []
    for number in range(questions):
        for one, two in combinations(strengths, 2):
            gain = spread * random.standard_normal()
            for criterion in criteria:
                for first, second, sign in ((one, two, -1), (two, one, 1)):
                    odds = chances(strengths[first] + sign * gain / 2, strengths[second] - sign * gain / 2, place, ties)
                    for trial in range(1, trials + 1):
                        winner = WINNERS[random.choice(3, p=odds)]
                        found.append(compared(f"q{number}", first, second, winner, trial=trial, criterion=criterion))
    return found


def compared(question: str, first: str, second: str, winner: str | None, **more: Any) -> AnswerComparison:
    """Return a comparison of two answers; without a winner, a failed one."""
    given: dict[str, Any] = {"question": question, "first": first, "second": second, "winner": winner}
    given |= {"criterion": "c", "grader": "j", "version": "v", "shown_hash": "h", "first_length": 9, "second_length": 9}
    if winner is None and "unanswered" not in more:
        given |= {"failure": "unreadable", "reason": "no JSON"}
    return AnswerComparison(**given | more)
