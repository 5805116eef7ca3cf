"""Graders that ask for scores directly: ``binary``, ``graded``, ``relevance`` and ``scale``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.types import StrictInt

from graphkit.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.judges.forms import NEITHER, NO_GOLD_ANSWER, Bit, Unit, VerdictForm, Words, needs_gold, unscored_if_unseen
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS

# binary: correct, faithful, relevant and complete, each yes or no ----------------------------------------------------


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


def _read_binary(verdict: BinaryVerdict, materials: Materials) -> Reading:
    no_gold = NO_GOLD_ANSWER if materials.gold_answer is None else None
    neither = NEITHER if no_gold and not materials.facts else None
    return Reading(
        [
            _mark_finding("Correct", verdict.correctness, no_gold),
            unscored_if_unseen(_mark_finding("Faithful", verdict.faithfulness), materials),
            _mark_finding("Relevant", verdict.relevance),
            _mark_finding("Complete", verdict.completeness, neither),
        ]
    )


def _mark_finding(measure: str, mark: Mark | None, lack: str | None = None) -> Finding:
    """Return the value of a mark; a mark with nothing to compare with has none, whatever the judge returned."""
    if lack is not None:
        return Finding(measure, None, lack)
    if mark is None:
        raise UnusableVerdictError(f"there is no mark for {measure}, and there is something to compare with")
    return Finding(measure, float(mark.value), explanation=mark.reason)


BINARY = Grader("binary", BinaryVerdict, PARTS, ("Correct", "Faithful", "Relevant", "Complete"), _read_binary)


# graded and relevance: scores from 0 to 1 ----------------------------------------------------------------------------


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


def _read_graded(verdict: GradedVerdict, materials: Materials) -> Reading:
    return Reading(
        [
            unscored_if_unseen(_score_finding("Faithfulness", verdict.faithfulness), materials),
            _score_finding("AnswerRelevance", verdict.answer_relevance),
            _against_gold("ContextPrecision", verdict.context_precision, materials),
            _against_gold("ContextRecall", verdict.context_recall, materials),
        ]
    )


def _score_finding(measure: str, verdict: ReasonedScore) -> Finding:
    return Finding(measure, verdict.score, explanation=verdict.reason)


def _against_gold(measure: str, verdict: ReasonedScore | None, materials: Materials) -> Finding:
    if materials.gold_answer is None:
        return Finding(measure, None, NO_GOLD_ANSWER)
    if verdict is None:
        raise UnusableVerdictError(f"there is no score for {measure}, and there is a gold answer")
    return unscored_if_unseen(_score_finding(measure, verdict), materials)


GRADED = Grader(
    "graded",
    GradedVerdict,
    PARTS,
    ("Faithfulness", "AnswerRelevance", "ContextPrecision", "ContextRecall"),
    _read_graded,
)

#: Replaces ``graded`` beside ``claims``, from which the other three measures follow.
RELEVANCE = Grader(
    "relevance",
    RelevanceVerdict,
    PARTS[:5],
    ("AnswerRelevance",),
    lambda verdict, _: Reading([_score_finding("AnswerRelevance", verdict.answer_relevance)]),
)


# scale: a whole number from 0 to 10 against the gold answer ----------------------------------------------------------


class ScaleVerdict(VerdictForm):
    """A score from 0 to 10."""

    reasoning: Words
    score: Annotated[StrictInt, Field(ge=0, le=10)]


SCALE = Grader(
    "scale",
    ScaleVerdict,
    PARTS[:5],
    ("ScaleGrade",),
    lambda verdict, _: Reading([Finding("ScaleGrade", float(verdict.score), explanation=verdict.reasoning)]),
    lacks=needs_gold,
)
