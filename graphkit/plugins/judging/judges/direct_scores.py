"""Graders that ask for scores directly: ``binary``, ``graded``, ``relevance``, ``scale`` and ``abstained``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.types import StrictInt

from graphkit.measures.judged import DECLINED
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.plugins.judging.judges.forms import (
    Bit,
    Unit,
    VerdictForm,
    Words,
    needs_gold,
    needs_gold_or_facts,
    unscored,
    unscored_if_unseen,
)
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS


def _finding(measure: str, verdict: Mark | ReasonedScore | None, lack: str | None = None) -> Finding:
    """Return the value of a verdict; it has none if there is nothing to compare with, whatever the judge returned."""
    if lack is not None:
        return Finding(measure, None, lack)
    if verdict is None:
        raise UnusableVerdictError(f"there is no score for {measure}, and there is something to compare with")
    value = verdict.value if isinstance(verdict, Mark) else verdict.score
    return Finding(measure, float(value), explanation=verdict.reason)


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
    return Reading(
        [
            _finding("Correct", verdict.correctness, needs_gold(materials)),
            unscored_if_unseen(_finding("Faithful", verdict.faithfulness), materials),
            _finding("Relevant", verdict.relevance),
            _finding("Complete", verdict.completeness, needs_gold_or_facts(materials)),
        ]
    )


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
    lack = needs_gold(materials)
    return Reading(
        [
            unscored_if_unseen(_finding("Faithfulness", verdict.faithfulness), materials),
            _finding("AnswerRelevance", verdict.answer_relevance),
            unscored_if_unseen(_finding("ContextPrecision", verdict.context_precision, lack), materials),
            unscored_if_unseen(_finding("ContextRecall", verdict.context_recall, lack), materials),
        ]
    )


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
    lambda verdict, _: Reading([_finding("AnswerRelevance", verdict.answer_relevance)]),
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


# abstained: whether the answer declines, where its record doesn't say so ---------------------------------------------

STATED = "the record states abstained"
BLANK = "the answer is blank, which declines"


class DeclineVerdict(VerdictForm):
    """Whether the answer declines."""

    reason: Words
    declines: bool


def _decided_otherwise(materials: Materials) -> Reading | None:
    answer = materials.case.answer if materials.case is not None else None
    stated = STATED if answer is not None and answer.abstained is not None else None
    reason = stated or (None if materials.answer.strip() else BLANK)
    return None if reason is None else Reading(unscored([DECLINED], reason))


ABSTAINED = Grader(
    "abstained",
    DeclineVerdict,
    PARTS[:5],
    (DECLINED,),
    lambda verdict, _: Reading([Finding(DECLINED, float(verdict.declines), explanation=verdict.reason)]),
    unasked=_decided_otherwise,
)
