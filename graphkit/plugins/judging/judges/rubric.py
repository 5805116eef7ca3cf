"""The grader ``rubric``: one of four grades, with a failure label and the judge's confidence."""

from __future__ import annotations

from typing import Literal

from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading
from graphkit.plugins.judging.judges.forms import Unit, VerdictForm, Words, needs_gold_or_facts, unscored_if_unseen
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS
from graphkit.records.scores import FAILURES, GRADES, GRADING_ERROR
from graphkit.records.words import shortened


class RubricVerdict(VerdictForm):
    """The grade of an answer; ``failure`` is one of the failures, or null with ``fully_correct``."""

    reasoning: Words
    grade: Literal["fully_correct", "partially_correct", "unsupported", "wrong"]
    failure: str | None
    confidence: Unit


def _read(verdict: RubricVerdict, materials: Materials) -> Reading:
    label, notes = None, []
    if verdict.grade != "fully_correct":
        label = verdict.failure if verdict.failure in FAILURES else GRADING_ERROR
        if label == GRADING_ERROR:
            notes.append(f"the failure {shortened(str(verdict.failure))!r} is none of {', '.join(FAILURES)}")
    elif verdict.failure is not None:
        notes.append(f"fully_correct with the failure {shortened(verdict.failure)!r}: the failure isn't counted")
    finding = Finding(
        "RubricGrade",
        GRADES[verdict.grade],
        grade=verdict.grade,
        label=label,
        explanation=verdict.reasoning,
        confidence=verdict.confidence,
    )
    if verdict.grade == "unsupported":
        finding = unscored_if_unseen(finding, materials)
    return Reading([finding], notes=tuple(notes))


RUBRIC = Grader("rubric", RubricVerdict, PARTS, ("RubricGrade",), _read, lacks=needs_gold_or_facts)
