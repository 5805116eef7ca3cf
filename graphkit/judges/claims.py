"""The grader ``claims``: each claim of the answer and of the gold answer, judged once; many measures follow."""

from __future__ import annotations

from graphkit.judges.claim_forms import MEASURES, ClaimsVerdict
from graphkit.judges.contract import Grader, Reading
from graphkit.judges.materials import Materials
from graphkit.judges.matrix import reading_of
from graphkit.judges.prompts import PARTS

#: How many questions with the same parts it takes the place of: support of the claims (Groundedness, HallucinationRate,
#: Faithfulness), support by citations (Attribution, CitationRecall, CitationPrecision), and ContextPrecision and
#: ContextRecall one each.
SEPARATE_QUESTIONS = 4


def _settled(materials: Materials) -> Reading | None:
    """Return what is known of an empty answer that there is no gold answer to either: nothing can be claimed."""
    if materials.sentences or materials.gold_answer is not None:
        return None
    return reading_of(ClaimsVerdict(claims=[], gold_claims=[]), materials)


CLAIMS = Grader("claims", ClaimsVerdict, PARTS, MEASURES, reading_of, settled=_settled)
