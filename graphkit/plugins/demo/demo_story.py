"""The story of a run in a few findings, as ``graphkit demo`` tells it: who won, where it breaks, what fell with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.evaluation_findings import outcome_findings
from graphkit.analysis.findings import Brief, BriefLine
from graphkit.analysis.standings import leading
from graphkit.errors import one_line
from graphkit.plugins.compare.comparison_findings import comparison_table
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.plugins.compare.verdict_notes import with_counts
from graphkit.scoring.results import Evaluation

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WrongTurn:
    """Where a run left a gold path: the gold edge, the edge that it took instead, and a claim that rests on it."""

    question: str
    expected: str
    taken: str | None = None
    claim: str | None = None

    def findings(self) -> Iterator[BriefLine]:
        """Yield the failure as an edge, and the claim that fell with it."""
        yield BriefLine("failure", f"{self.question}: gold goes {self.expected}", 98)
        if self.taken is not None:
            yield BriefLine("", f"the run went {self.taken}", 96)
        if self.claim is not None:
            yield BriefLine("claim", f"{self.claim} It rests on that edge, so it falls with it.", 97)


def scores_brief(first: Evaluation, second: Evaluation, measures: Sequence[str]) -> Brief:
    """Return which of two runs won and by how much, and where the second breaks."""
    compared, best = compare_results(first, second, measures=measures), leading([first, second])
    pair = compared.pair if best is None else best.verdict
    won = with_counts(pair, second.run, compared.with_failed)
    breaks = [one for one in outcome_findings([second]) if one.level == "where"]
    return Brief("", comparison_table(compared), (BriefLine("won", won, 99), *breaks))


def wrong_turn(turns: Iterable[Row], claims: Iterable[Row]) -> WrongTurn | None:
    """Return the first wrong turn with a claim that rests on the edge taken, else the first wrong turn.

    ``turns`` and ``claims`` are rows of the queries wrong-turns and claims-off-gold.
    """
    resting = {(row["question"], row["source"], row["relation"], row["target"]): row["claim"] for row in claims}
    # A step that was taken in another order was taken: nothing was walked instead of it.
    rows = [row for row in turns if not row["elsewhere"]]
    for row in rows:
        claim = resting.get((row["question"], row["node"], row["went_by"], row["went_to"]))
        if claim is not None:
            return _turn(row, str(claim))
    return _turn(rows[0], None) if rows else None


def _turn(row: Row, claim: str | None) -> WrongTurn:
    expected = f"{row['node']} -{row['expected_by'] or ''}-> {row['expected']}"
    taken = f"-{row['went_by'] or ''}-> {row['went_to']} instead" if row["went_to"] else None
    return WrongTurn(
        str(row["question"]), one_line(expected), taken and one_line(taken), claim and one_line(f'"{claim}"')
    )
