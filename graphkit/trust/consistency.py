"""Whether a judge says the same when it is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.agreement import alpha
from graphkit.analysis.estimates import Estimate, proportion
from graphkit.records.scores import Score
from graphkit.trust.label_scales import scale_of
from graphkit.trust.rejudge_contract import Regrade, by_measure

#: How many gradings are compared where nobody says otherwise.
REPEAT = 3

AGAIN = "no answer was graded twice"


@dataclass(frozen=True, slots=True)
class Consistency:
    """How alike several gradings of the same answers are by one measure.

    Attributes
    ----------
    stable
        The share of answers, among those that were graded at least twice, whose grade was the same each time.
    alpha
        Krippendorff's: ordinal where grades have an order, of numbers that of intervals.
    flips
        The questions whose grade changed with their grades in the order of the gradings, None where there was none;
        those that changed most come first.
    unscored
        How often a grading had no value for an answer.
    """

    measure: str
    gradings: int
    stable: Estimate
    alpha: Estimate
    flips: tuple[tuple[str, tuple[str | None, ...]], ...]
    unscored: int

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "measure": self.measure,
            "gradings": self.gradings,
            "stable": self.stable.as_json(),
            "alpha": self.alpha.as_json(),
            "flips": {question: list(grades) for question, grades in self.flips},
            "unscored": self.unscored,
        }


async def consistency(
    regrade: Regrade, repeat: int = REPEAT, questions: Sequence[str] | None = None
) -> list[Consistency]:
    """Have the same answers graded several times, one after the other, and compare."""
    return compare_gradings([await regrade(questions, variant="same") for _ in range(repeat)])


def compare_gradings(gradings: Sequence[Sequence[Score]]) -> list[Consistency]:
    """Compare gradings of the same answers by each measure that they have."""
    tables = [by_measure(grading) for grading in gradings]
    return [_compared(measure, tables) for measure in dict.fromkeys(name for table in tables for name in table)]


def _compared(measure: str, tables: Sequence[dict[str, dict[str, Score]]]) -> Consistency:
    rows = [table.get(measure, {}) for table in tables]
    scale = scale_of(measure, [score for row in rows for score in row.values()])
    questions = list(dict.fromkeys(question for row in rows for question in row))
    given = {
        question: tuple(scale.label_of(row[question]) if question in row else None for row in rows)
        for question in questions
    }
    known = {question: [grade for grade in grades if grade is not None] for question, grades in given.items()}
    twice = [question for question in questions if len(known[question]) > 1]
    flips = [question for question in twice if len(set(known[question])) > 1]
    spread = {question: [scale.value(grade) for grade in known[question]] for question in flips}
    flips.sort(key=lambda question: (min(spread[question]) - max(spread[question]), question))
    if scale.labels:
        metric = "ordinal" if scale.ordered else "nominal"
        alike = alpha([given[question] for question in questions], metric, scale.categories)  # type: ignore[arg-type]
    else:
        numbers = [[None if grade is None else float(grade) for grade in given[question]] for question in questions]
        alike = alpha(numbers, "interval")
    return Consistency(
        measure,
        len(rows),
        proportion(len(twice) - len(flips), len(twice), AGAIN),
        alike,
        tuple((question, given[question]) for question in flips),
        sum(grade is None for grades in given.values() for grade in grades),
    )
