"""The cost of grading beside that of its run: a share if both are known, and never 0 for an unknown cost."""

from __future__ import annotations

import pytest

from graphkit.plugins.judging.judge_cost import judge_cost
from graphkit.records.usage import Figures, summarised
from tests.helpers.verdicts import verdict

#: Two answers that cost 1 and 3, and one that failed and cost 4: 8 in all, known of 2 answered questions.
RUN = summarised(
    [
        Figures(None, None, None, None, 1.0),
        Figures(None, None, None, None, 3.0),
        Figures(None, None, None, None, 4.0, "timeout"),
    ]
)["cost"]
#: A run of which nobody knows what it cost.
FREE = summarised([Figures(1.0, None, None, None, None)])["cost"]


def test_the_share_of_grading() -> None:
    """Verdicts of 0.5, 0.5 and a cached 1 are 2 of 8, a quarter; 1 of them was paid now. A free judge is 0%."""
    verdicts = [
        verdict("q1", cost=0.5, prompt_tokens=10, output_tokens=2),
        verdict("q2", cost=0.5, attempts=2),
        verdict("q2", grader="binary", cost=1.0, cached=True),
    ]
    found = judge_cost(verdicts, RUN)
    assert (found.cost, found.spent, found.share, found.unknown) == (2.0, 1.0, 0.25, 0)
    assert (found.verdicts, found.cached, found.attempts, found.prompt_tokens, found.output_tokens) == (3, 1, 4, 10, 2)
    assert str(found) == (
        "grading: 3 verdicts for 2.00 (1 verdict paid for earlier); "
        "the run cost 8.00 (known for 2 answers), so grading is 25.0% of that"
    )
    assert judge_cost([verdict("q1", cost=0.0)], RUN).share == 0.0
    broken = judge_cost([verdict("q1"), verdict("q2", failure="no_reply", reason="it raised")], None)
    assert broken.failed == 1
    assert str(broken).startswith("grading: 2 verdicts, 1 of them failed, at an unknown cost; ")


@pytest.mark.parametrize(
    ("costs", "run", "cost", "spent", "reported"),
    [
        ([None], RUN, None, None, "grading: 1 verdict at an unknown cost; the run cost 8.00"),
        ([], None, 0.0, 0.0, "grading: 0 verdicts for 0.0000"),
        ([0.5, None], RUN, 0.5, None, "for 0.5000, the cost of 1 is unknown; the run cost 8.00"),
        ([0.5] * 3, RUN, 1.5, 1.5, "for 1.50; the run cost 8.00 (known for 2 answers)"),
        ([0.5], FREE, 0.5, 0.5, "for 0.5000; the cost of the run is unknown"),
        ([0.5], None, 0.5, 0.5, "for 0.5000; the cost of the run is unknown"),
        ([0.5], summarised([Figures(1.0, None, None, None, 0.0)])["cost"], 0.5, 0.5, "the run cost 0.0000"),
    ],
)
def test_what_is_not_known_is_not_nothing(
    costs: list[float | None], run: object, cost: float | None, spent: float | None, reported: str
) -> None:
    """If a verdict's cost or that of an answer isn't known there is no share, and the line says so."""
    found = judge_cost([verdict(f"q{place}", cost=one) for place, one in enumerate(costs)], run)  # type: ignore[arg-type]
    assert (found.cost, found.spent, found.share) == (cost, spent, None)
    assert reported in str(found)
    assert "%" not in str(found)
