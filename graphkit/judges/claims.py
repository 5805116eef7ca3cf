"""The grader ``claims``: each claim of the answer and of the gold answer, judged once; many measures follow."""

from __future__ import annotations

from graphkit.judges.base import Grader, Reading
from graphkit.judges.claim_forms import MEASURES, NO_CLAIMS, ClaimsVerdict
from graphkit.judges.forms import unscored
from graphkit.judges.materials import Materials
from graphkit.judges.matrix import reading_of
from graphkit.judges.prompts import PARTS


def _settled(materials: Materials) -> Reading | None:
    return None if materials.sentences else Reading(unscored(MEASURES, NO_CLAIMS))


CLAIMS = Grader("claims", ClaimsVerdict, PARTS, MEASURES, reading_of, settled=_settled)
