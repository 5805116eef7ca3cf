"""The grader ``scale``: a whole number from 0 to 10 against the gold answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.types import StrictInt

from graphkit.judges.contract import Finding, Grader, Reading
from graphkit.judges.forms import VerdictForm, Words, needs_gold
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS


class ScaleVerdict(VerdictForm):
    """A score from 0 to 10."""

    reasoning: Words
    score: Annotated[StrictInt, Field(ge=0, le=10)]


def _read(verdict: ScaleVerdict, materials: Materials) -> Reading:
    return Reading([Finding("ScaleGrade", float(verdict.score), explanation=verdict.reasoning)])


SCALE = Grader("scale", ScaleVerdict, PARTS[:5], ("ScaleGrade",), _read, lacks=needs_gold)
