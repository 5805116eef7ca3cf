"""The form of a verdict on claims, and what follows from it."""

from __future__ import annotations

from graphkit.judges.forms import VerdictForm, Words
from graphkit.records.verdicts import GoldSupport, Support

#: What follows from the claims.
MEASURES = (
    "Groundedness",
    "HallucinationRate",
    "Faithfulness",
    "Attribution",
    "CitationRecall",
    "CitationPrecision",
    "ContextPrecision",
    "ContextRecall",
)

NO_CLAIMS = "the answer makes no claim"


class EvidenceVerdict(VerdictForm):
    """A chunk that supports a claim, the words that do, and whether it does without any other chunk."""

    chunk: Words
    quote: str
    alone: bool


class ClaimVerdict(VerdictForm):
    """A claim of the answer, and what it rests on."""

    text: Words
    sentence: Words
    hedged: bool
    support: Support
    evidence: list[EvidenceVerdict]
    together: bool
    edge: str | None
    gold: GoldSupport | None


class GoldClaimVerdict(VerdictForm):
    """A claim of the gold answer, the chunks that support it, and whether the answer states it."""

    text: Words
    chunks: list[str]
    stated: bool


class ClaimsVerdict(VerdictForm):
    """The claims of the answer and of the gold answer."""

    claims: list[ClaimVerdict]
    gold_claims: list[GoldClaimVerdict]
