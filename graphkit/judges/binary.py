"""The grader ``binary``: correct, faithful, relevant and complete, each yes or no with its reason."""

from __future__ import annotations

from graphkit.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.judges.forms import NEITHER, NO_GOLD_ANSWER, Bit, VerdictForm, Words, unscored_if_unseen
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS


class Mark(VerdictForm):
    """Yes or no, with the reason."""

    reason: Words
    value: Bit


class BinaryVerdict(VerdictForm):
    """Four marks; null where there is nothing to compare with."""

    correctness: Mark | None
    faithfulness: Mark
    relevance: Mark
    completeness: Mark | None


def _read(verdict: BinaryVerdict, materials: Materials) -> Reading:
    no_gold = NO_GOLD_ANSWER if materials.gold_answer is None else None
    neither = NEITHER if no_gold and not materials.facts else None
    return Reading(
        [
            _finding("Correct", verdict.correctness, no_gold),
            unscored_if_unseen(_finding("Faithful", verdict.faithfulness), materials),
            _finding("Relevant", verdict.relevance),
            _finding("Complete", verdict.completeness, neither),
        ]
    )


def _finding(measure: str, mark: Mark | None, lack: str | None = None) -> Finding:
    """Return what a mark is worth; where there is nothing to compare with, nothing, whatever was said."""
    if lack is not None:
        return Finding(measure, None, lack)
    if mark is None:
        raise UnusableVerdictError(f"there is no mark for {measure}, and there is something to compare with")
    return Finding(measure, float(mark.value), explanation=mark.reason)


BINARY = Grader("binary", BinaryVerdict, PARTS, ("Correct", "Faithful", "Relevant", "Complete"), _read)
