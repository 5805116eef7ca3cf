"""The grader ``claims``: a judge lists the claims of the answer and of the gold answer once; all measures follow.

Each statement of the judge is checked against the texts. A quote counts if it occurs in the chunk that it names, an
edge if it was traversed, a key if it exists. The measures are functions of the claims that are left; no further call
is needed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from graphkit.measures.owners import NO_GOLD_CLAIMS
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.judging.judges.citations import FoundCitation
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading
from graphkit.plugins.judging.judges.forms import NO_GOLD_ANSWER, VerdictForm, Words, occurs, plain, unscored
from graphkit.plugins.judging.judges.gold_claims import AGAINST_GOLD, NO_CLAIMS, against_gold, edges_named
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS
from graphkit.plugins.judging.verdicts import (
    AnswerClaim,
    Citation,
    Evidence,
    GoldClaim,
    GoldSupport,
    Support,
    TraversedEdge,
)
from graphkit.records.words import counted, shortened

#: The measures that follow from the claims.
MEASURES = (
    "Groundedness",
    "HallucinationRate",
    "Faithfulness",
    "Attribution",
    "CitationRecall",
    "CitationPrecision",
    "ContextPrecision",
    "ContextRecall",
    *AGAINST_GOLD,
)

#: How many separate prompts over the same parts it replaces: support of the claims (Groundedness, HallucinationRate,
#: Faithfulness), support by citations (Attribution, CitationRecall, CitationPrecision), and ContextPrecision and
#: ContextRecall one each.
SEPARATE_QUESTIONS = 4

NOT_RETRIEVED = "not in the retrieved context"
NOT_SUPPORTED = "claim not supported by the cited source"
NOT_SHOWN = "its source wasn't shown to the judge"
NO_CLAIM_AT_IT = "no claim stands at it"

NO_CITATIONS = "the answer has no citations"
NO_CITED_CLAIMS = "no citation stands at a claim"


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


@dataclass(frozen=True)
class _Claim:
    """A claim that isn't hedged, with its statements checked, and the chunks that support it."""

    record: AnswerClaim
    alone: frozenset[str]  # those that support it without any other
    joint: frozenset[str]  # those that support it only together; empty if one of them doesn't count
    parts: frozenset[str]  # those that support it with each other or with the traversed edge, on the same condition

    def supported_by(self, chunks: Collection[str]) -> bool:
        """Return whether these chunks support the claim: one of them alone, or all of the joint set."""
        return not self.alone.isdisjoint(chunks) or (bool(self.joint) and self.joint.issubset(chunks))


def reading_of(verdict: ClaimsVerdict, materials: Materials) -> Reading:
    """Return the findings of a verdict on the claims, with the checked claims and citations."""
    notes: list[str] = []
    places = _places(materials)
    listed = {(one.sentence, plain(one.text).casefold()): one for one in reversed(verdict.claims) if not one.hedged}
    claims = [_checked(one, materials, places, notes) for one in reversed(listed.values())]
    statements = sum(not one.hedged for one in verdict.claims)
    if statements > len(claims):
        notes.append(f"{counted(statements - len(claims), 'claim')} listed again in the same sentence, counted once")
    if hedged := sum(one.hedged for one in verdict.claims):
        notes.append(f"{counted(hedged, 'hedged statement')} not counted as claims")
    silent = {one.key for one in materials.sentences} - {one.sentence for one in verdict.claims}
    if silent:
        notes.append(f"no claim of {counted(len(silent), 'sentence')} of {len(materials.sentences)}")
    gold_claims = {plain(one.text).casefold(): one for one in reversed(verdict.gold_claims)}
    listed_gold = [*reversed(gold_claims.values())]
    gold = [_checked_gold(one, materials, notes) for one in listed_gold]
    records = [_gold_claim(one, keys, materials, notes) for one, keys in zip(listed_gold, gold, strict=True)]
    citations = [_citation(number, found, claims, materials) for number, found in enumerate(materials.citations)]
    # Citations are about a sentence; all other measures count a claim that several sentences make once.
    distinct = [*{plain(one.record.text).casefold(): one for one in reversed(claims)}.values()][::-1]
    if len(distinct) < len(claims):
        again = counted(len(claims) - len(distinct), "claim")
        notes.append(f"{again} made again in another sentence, counted once but for citations")
    findings = [
        *_support_findings(distinct, materials),
        *_citation_findings(claims, citations, materials),
        *_context_findings(gold, materials),
        *against_gold([claim.record for claim in distinct], records, materials),
    ]
    kept = tuple(claim.record for claim in claims)
    return Reading(findings, kept, tuple(records), tuple(citations), tuple(notes))


# Checking the verdict ------------------------------------------------------------------------------------------------


def _places(materials: Materials) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the citations of each sentence.

    A citation that begins a sentence belongs to the sentence before if that one ends on the same line.
    """
    sentences, answer = materials.sentences, materials.answer
    starts = [one.start for one in sentences]
    lead = list(starts)  # up to where a sentence holds nothing but citations
    at: list[list[int]] = [[] for _ in sentences]
    for number, found in enumerate(materials.citations):
        if found.whole:
            for listed in at:
                listed.append(number)
            continue
        index = bisect_right(starts, found.start) - 1
        if index < 0:
            continue
        if index and found.start - lead[index] <= 8 and not answer[lead[index] : found.start].strip():
            lead[index] = max(lead[index], found.end)
            if "\n" not in answer[sentences[index - 1].end : found.start]:
                index -= 1
        at[index].append(number)
    return {one.key: tuple(numbers) for one, numbers in zip(sentences, at, strict=True)}


def _checked(
    verdict: ClaimVerdict, materials: Materials, places: dict[str, tuple[int, ...]], notes: list[str]
) -> _Claim:
    wrong: list[str] = []
    if verdict.sentence not in places:
        wrong.append(f"there is no sentence {shortened(verdict.sentence)}")
    evidence: list[Evidence] = []
    broken = False
    for one in verdict.evidence:
        chunk = materials.chunk_by_key.get(one.chunk)
        if chunk is None:
            wrong.append(f"there is no chunk {shortened(one.chunk)}")
            broken = broken or not one.alone
            continue
        there = occurs(one.quote, chunk.text)
        evidence.append(Evidence(chunk=chunk.id, quote=one.quote, occurs=there, alone=one.alone))
        if not there:
            wrong.append(f"the quote {shortened(one.quote)!r} doesn't occur in {chunk.id}")
            broken = broken or not one.alone
    edge = None
    if verdict.edge is not None:
        traversed = materials.edge_by_key.get(verdict.edge)
        if traversed is None:
            wrong.append(f"there is no edge {shortened(verdict.edge)}")
        else:
            edge = TraversedEdge(
                source=traversed.source, relation=traversed.relation, target=traversed.target, in_gold=traversed.in_gold
            )
    if verdict.support == "UNSUPPORTED" and evidence:
        notes.append(f"{shortened(verdict.text)!r} is called unsupported: the evidence that stands there isn't counted")
        evidence = []
    valid = [one for one in evidence if one.occurs]
    parts = frozenset[str]() if broken else frozenset(one.chunk for one in valid if not one.alone)
    mismatch = "; ".join(wrong) or None
    if mismatch is not None:
        notes.append(f"{shortened(verdict.text)!r}: {mismatch}")
    cited = places.get(verdict.sentence, ())
    record = AnswerClaim(
        text=verdict.text,
        sentence=int(verdict.sentence[1:]) if verdict.sentence in places else None,
        support=_support(verdict, evidence, edge),
        evidence=tuple(evidence),
        edge=edge,
        gold=verdict.gold if materials.gold_answer is not None else None,
        cited=cited,
        mismatch=mismatch,
    )
    alone = frozenset(one.chunk for one in valid if one.alone)
    joint = parts if verdict.together else frozenset[str]()
    claim = _Claim(record, alone, joint, parts if edge is not None else joint)
    if not cited:
        return claim
    supported = claim.supported_by(_means(cited, materials.citations))
    return replace(claim, record=record.model_copy(update={"cited_support": supported}))


def _support(verdict: ClaimVerdict, evidence: Iterable[Evidence], edge: TraversedEdge | None) -> Support:
    """Return the support that remains: none without a quote that occurs or an edge that was traversed."""
    if verdict.support != "UNSUPPORTED" and (edge is not None or any(one.occurs for one in evidence)):
        return verdict.support
    return "INFERRED" if edge is not None else "UNSUPPORTED"


def _checked_gold(verdict: GoldClaimVerdict, materials: Materials, notes: list[str]) -> frozenset[str]:
    """Return the keys of the chunks that support a claim of the gold answer."""
    there = frozenset(verdict.chunks) & materials.chunk_by_key.keys()
    if strange := sorted(set(verdict.chunks) - there):
        notes.append(f"{shortened(verdict.text)!r}: there is no chunk {shortened(', '.join(strange))}")
    return there


def _gold_claim(verdict: GoldClaimVerdict, keys: frozenset[str], materials: Materials, notes: list[str]) -> GoldClaim:
    """Return a claim of the gold answer as it is kept; an empty answer states nothing."""
    if verdict.stated and not materials.sentences:
        notes.append(f"{shortened(verdict.text)!r} is called stated, but the answer is empty: it isn't counted")
    chunks = [chunk for chunk in materials.chunks if chunk.key in keys]
    edges, named_in = edges_named(verdict.text, chunks, materials.case)
    return GoldClaim(
        text=verdict.text,
        chunks=tuple(dict.fromkeys(chunk.id for chunk in chunks)),
        stated=verdict.stated and bool(materials.sentences),
        edges=edges,
        named_in=named_in,
    )


# Claims and citations ------------------------------------------------------------------------------------------------


def _means(numbers: Iterable[int], citations: Sequence[FoundCitation]) -> set[str]:
    return {chunk for number in numbers for chunk in citations[number].chunks}


def _citation(number: int, found: FoundCitation, claims: Sequence[_Claim], materials: Materials) -> Citation:
    """Return a citation with whether it is correct, and whether a claim needs it."""
    at = [claim for claim in claims if number in claim.record.cited]
    correct, reason = _correct(found, at, materials)
    needed = None if correct is None else any(_needs(claim, number, materials.citations) for claim in at)
    return Citation(
        text=found.text, target=found.target, chunks=found.chunks, correct=correct, needed=needed, reason=reason
    )


def _correct(found: FoundCitation, at: Sequence[_Claim], materials: Materials) -> tuple[bool | None, str | None]:
    if not found.chunks:
        return (False, NOT_RETRIEVED) if materials.chunks_logged else (None, NO_RETRIEVAL)
    # A quote that suffices only together with the traversed edge is evidence: the reader of the citation finds it.
    if any(not (claim.alone | claim.parts).isdisjoint(found.chunks) for claim in at):
        return True, None
    if not at:
        return None, NO_CLAIM_AT_IT
    if not set(materials.left_out).isdisjoint(found.chunks):
        return None, NOT_SHOWN
    return False, NOT_SUPPORTED


def _needs(claim: _Claim, number: int, citations: Sequence[FoundCitation]) -> bool:
    """Return whether a citation supports a claim alone, or the claim's citations don't support it without this one."""
    if claim.supported_by(citations[number].chunks):
        return True
    others = _means((other for other in claim.record.cited if other != number), citations)
    return claim.supported_by(_means(claim.record.cited, citations)) and not claim.supported_by(others)


# Measures ------------------------------------------------------------------------------------------------------------


def _support_findings(claims: Sequence[_Claim], materials: Materials) -> Sequence[Finding]:
    measures = ("Groundedness", "HallucinationRate", "Faithfulness")
    if not claims:
        return unscored(measures, NO_CLAIMS)
    supported = sum(claim.record.support != "UNSUPPORTED" for claim in claims)
    if supported < len(claims) and materials.incomplete:
        return unscored(measures, materials.unseen)
    explanation = f"{supported} of {counted(len(claims), 'claim')} supported"
    share = supported / len(claims)
    return [
        Finding("Groundedness", share, explanation=explanation),
        Finding("HallucinationRate", (len(claims) - supported) / len(claims), explanation=explanation),
        Finding("Faithfulness", share, explanation=explanation),
    ]


def _citation_findings(claims: Sequence[_Claim], citations: Sequence[Citation], materials: Materials) -> list[Finding]:
    recall = _citation_recall(claims, materials)
    judged = [one for one in citations if one.correct is not None]
    why = NO_CITED_CLAIMS if citations else NO_CITATIONS
    unseen = any(one.reason in (NOT_SHOWN, NO_RETRIEVAL) for one in citations)
    if unseen or not judged:
        attribution, precision = unscored(("Attribution", "CitationPrecision"), materials.unseen if unseen else why)
        return [attribution, recall, precision]
    correct, needed = sum(one.correct is True for one in judged), sum(one.needed is True for one in judged)
    of = counted(len(judged), "citation")
    return [
        Finding("Attribution", correct / len(judged), explanation=f"{correct} of {of} correct"),
        recall,
        Finding("CitationPrecision", needed / len(judged), explanation=f"{needed} of {of} needed"),
    ]


def _citation_recall(claims: Sequence[_Claim], materials: Materials) -> Finding:
    if not claims:
        return Finding("CitationRecall", None, NO_CLAIMS)
    left_out, supported = set(materials.left_out), 0
    for claim in claims:
        means = _means(claim.record.cited, materials.citations)
        if claim.supported_by(means):
            supported += 1
        elif not left_out.isdisjoint(means) or (claim.record.cited and not materials.chunks_logged):
            return Finding("CitationRecall", None, materials.unseen)
    explanation = f"{supported} of {counted(len(claims), 'claim')} supported by their citations"
    return Finding("CitationRecall", supported / len(claims), explanation=explanation)


def _context_findings(gold: Sequence[frozenset[str]], materials: Materials) -> Sequence[Finding]:
    """Return how well the chunks serve the gold answer; a chunk is relevant if it supports one of its claims."""
    why = NO_GOLD_ANSWER if materials.gold_answer is None else None if gold else NO_GOLD_CLAIMS
    if why is not None:
        return unscored(("ContextPrecision", "ContextRecall"), why)
    relevant = frozenset[str]().union(*gold)
    precisions, found = [], 0
    for rank, chunk in enumerate(materials.chunks, 1):
        if chunk.key in relevant:
            found += 1
            precisions.append(found / rank)
    supported = sum(map(bool, gold))
    explanation = f"{supported} of {counted(len(gold), 'claim')} of the gold answer supported by a chunk"
    ranks = f"{found} of {counted(len(materials.chunks), 'chunk')} relevant"
    precision = Finding(
        "ContextPrecision", math.fsum(precisions) / len(precisions) if precisions else 0.0, explanation=ranks
    )
    recall = Finding("ContextRecall", supported / len(gold), explanation=explanation)
    if materials.incomplete:
        precision = Finding("ContextPrecision", None, materials.unseen)
        if supported < len(gold):
            recall = Finding("ContextRecall", None, materials.unseen)
    return [precision, recall]


def _unasked(materials: Materials) -> Reading | None:
    """Return the reading of an empty answer without a gold answer: nothing can be claimed."""
    if materials.sentences or materials.gold_answer is not None:
        return None
    return reading_of(ClaimsVerdict(claims=[], gold_claims=[]), materials)


CLAIMS = Grader("claims", ClaimsVerdict, PARTS, MEASURES, reading_of, unasked=_unasked)
