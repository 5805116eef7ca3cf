"""Measures whether a judge repeats its verdicts when it is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.estimates import Estimate, as_plain, fields_of
from graphkit.plugins.judging.trust.agreement import alpha
from graphkit.plugins.judging.trust.label_scales import scale_of
from graphkit.plugins.judging.trust.rejudge_contract import Rejudge, by_measure
from graphkit.plugins.judging.trust.sample_estimates import proportion
from graphkit.records.scores import Score

#: The default number of gradings.
REPEAT = 3

AGAIN = "no answer was graded twice"


@dataclass(frozen=True, slots=True)
class Consistency:
    """The agreement of several gradings of the same answers by one measure."""

    measure: str
    gradings: int
    stable: Estimate  # the share of the answers with at least two grades whose grades are equal
    alpha: Estimate  # Krippendorff's alpha: ordinal for ordered grades, interval for numbers
    #: The questions whose grade changed, with their grades in order and None for a missing one; the largest change
    #: comes first.
    flips: tuple[tuple[str, tuple[str | None, ...]], ...]
    unscored: int  # the number of missing values

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {**fields_of(self), "flips": as_plain(dict(self.flips))}


async def consistency(rejudge: Rejudge, repeat: int = REPEAT) -> list[Consistency]:
    """Grade the same answers several times, one after the other, and compare."""
    return compare_repeats([await rejudge(None, variant="same") for _ in range(repeat)])


def compare_repeats(gradings: Sequence[Sequence[Score]]) -> list[Consistency]:
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
