"""The graders ``graded``, of four shares, and ``relevance``, of the one that the claims don't give."""

from __future__ import annotations

from graphkit.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.judges.forms import NO_GOLD_ANSWER, Unit, VerdictForm, Words, unscored_if_unseen
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS


class ReasonedScore(VerdictForm):
    """A score from 0 to 1, with the reason."""

    reason: Words
    score: Unit


class GradedVerdict(VerdictForm):
    """Four scores; null where there is no gold answer."""

    faithfulness: ReasonedScore
    answer_relevance: ReasonedScore
    context_precision: ReasonedScore | None
    context_recall: ReasonedScore | None


class RelevanceVerdict(VerdictForm):
    """One score."""

    answer_relevance: ReasonedScore


def _read(verdict: GradedVerdict, materials: Materials) -> Reading:
    return Reading(
        [
            unscored_if_unseen(_finding("Faithfulness", verdict.faithfulness), materials),
            _finding("AnswerRelevance", verdict.answer_relevance),
            unscored_if_unseen(_against_gold("ContextPrecision", verdict.context_precision, materials), materials),
            unscored_if_unseen(_against_gold("ContextRecall", verdict.context_recall, materials), materials),
        ]
    )


def _read_relevance(verdict: RelevanceVerdict, materials: Materials) -> Reading:
    return Reading([_finding("AnswerRelevance", verdict.answer_relevance)])


def _finding(measure: str, graded: ReasonedScore) -> Finding:
    return Finding(measure, graded.score, explanation=graded.reason)


def _against_gold(measure: str, graded: ReasonedScore | None, materials: Materials) -> Finding:
    if materials.gold_answer is None:
        return Finding(measure, None, NO_GOLD_ANSWER)
    if graded is None:
        raise UnusableVerdictError(f"there is no score for {measure}, and there is a gold answer")
    return _finding(measure, graded)


GRADED = Grader(
    "graded", GradedVerdict, PARTS, ("Faithfulness", "AnswerRelevance", "ContextPrecision", "ContextRecall"), _read
)

#: Takes the place of ``graded`` where the claims are judged: the other three measures follow from these.
RELEVANCE = Grader("relevance", RelevanceVerdict, PARTS[:5], ("AnswerRelevance",), _read_relevance)
