"""Graders of the retrieved chunks without a gold answer: ``context_relevance`` and ``facts_in_context``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field
from pydantic.types import StrictInt

from graphkit.measures.completeness import NO_FACTS
from graphkit.measures.unscored import NO_CHUNK, NO_RETRIEVAL
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, each_once, occurs
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.walks import first_fall, hop_of_chunks
from graphkit.plugins.judging.verdicts import RelevanceFall
from graphkit.records.words import counted, shortened

#: The highest relevance of a chunk, on the scale of UMBRELA (Upadhyay et al. 2024).
HIGHEST = 3


# context_relevance: each chunk from 0 to 3 ---------------------------------------------------------------------------


class ChunkRelevance(VerdictForm):
    """The relevance of a chunk to the question."""

    chunk: Words
    reason: Words
    relevance: Annotated[StrictInt, Field(ge=0, le=HIGHEST)]


class ContextRelevanceVerdict(VerdictForm):
    """Each chunk once."""

    chunks: list[ChunkRelevance]


def _relevance_unasked(materials: Materials) -> Reading | None:
    if materials.chunks:
        return None
    reason = materials.unseen if materials.incomplete else NO_CHUNK
    return Reading([Finding("ContextRelevance", None, reason)])


def _read_relevance(verdict: ContextRelevanceVerdict, materials: Materials) -> Reading:
    by_key = materials.chunk_by_key
    each_once([one.chunk for one in verdict.chunks], list(by_key), "chunk")
    grades = {one.chunk: one for one in verdict.chunks}
    hops = hop_of_chunks(materials.case) if materials.case is not None else {}
    content = [
        {
            "chunk": chunk.id,
            "rank": _ranks(materials)[chunk.id],
            "hop": hops.get(chunk.id),
            "relevance": grades[key].relevance,
            "reason": grades[key].reason,
        }
        for key, chunk in by_key.items()
    ]
    fall = _fall(materials, {by_key[key].id: one.relevance for key, one in grades.items()}, hops)
    total = sum(one.relevance for one in verdict.chunks)
    relevant = sum(one.relevance > 1 for one in verdict.chunks)
    explanation = f"{relevant} of {counted(len(by_key), 'chunk')} answer at least a part of the question"
    if fall is not None:
        explanation += f"; relevance falls at hop {fall.hop}"
    finding = Finding("ContextRelevance", total / (HIGHEST * len(by_key)), explanation=explanation)
    if materials.incomplete:  # a mean of some chunks isn't that of all, whichever way it lies
        finding = Finding("ContextRelevance", None, materials.unseen, explanation=explanation)
    return Reading([finding], content={"chunks": content}, fall=fall)


def _fall(materials: Materials, relevance: Mapping[str, int], hops: Mapping[str, int]) -> RelevanceFall | None:
    """Return the first hop whose best chunk is less relevant than that of the hop before, with the edge to it."""
    best: dict[int, float] = {}
    for chunk, hop in hops.items():
        if chunk in relevance:
            best[hop] = max(relevance[chunk], best.get(hop, 0))
    fallen = first_fall(best)
    if fallen is None:
        return None
    there = {chunk for chunk, hop in hops.items() if hop == fallen and relevance.get(chunk) == best[hop]}
    for leg in (leg for legs in materials.legs for leg in legs):
        if leg.position == fallen and leg.end in there:
            source, relation, target = leg.edge
            return RelevanceFall(path=leg.path, hop=fallen, source=source, relation=relation, target=target)
    return RelevanceFall(hop=fallen)


CONTEXT_RELEVANCE = Grader(
    "context_relevance",
    ContextRelevanceVerdict,
    ("question", "context"),
    ("ContextRelevance",),
    _read_relevance,
    unasked=_relevance_unasked,
)


# facts_in_context: which chunks support each fact --------------------------------------------------------------------


class FactEvidence(VerdictForm):
    """A quote from a chunk that supports a fact, alone or only together with others."""

    chunk: Words
    quote: Words
    alone: bool


class FactSupport(VerdictForm):
    """The chunks that support a fact; ``together`` if they do so only together."""

    fact: Words
    evidence: list[FactEvidence]
    together: bool


class FactsInContextVerdict(VerdictForm):
    """Each fact once."""

    facts: list[FactSupport]


#: The ranks up to which facts are counted, and all chunks.
CUTOFFS = (1, 5, 10, 20)
_FACT_MEASURES = {"FactsInContext": None, **{f"FactsInContext@{k}": k for k in CUTOFFS}}


def _facts_unasked(materials: Materials) -> Reading | None:
    if materials.chunks:
        return None
    if not materials.chunks_logged:
        return Reading([Finding(name, None, NO_RETRIEVAL) for name in _FACT_MEASURES])
    return Reading(_facts_by_rank(materials, {}))


def _read_facts(verdict: FactsInContextVerdict, materials: Materials) -> Reading:
    keys = [f"f{number}" for number in range(1, len(materials.facts) + 1)]
    each_once([one.fact for one in verdict.facts], keys, "fact")
    named = {piece.chunk for one in verdict.facts for piece in one.evidence}
    if unknown := sorted(named - materials.chunk_by_key.keys()):
        raise UnusableVerdictError(f"there is no {shortened(', '.join(unknown))}: name the chunks that are shown")
    ranks, notes = dict[str, int](), list[str]()
    for one in sorted(verdict.facts, key=lambda said: keys.index(said.fact)):
        rank = _supported_at(one, materials, notes)
        if rank is not None:
            ranks[one.fact] = rank
    hops = hop_of_chunks(materials.case) if materials.case is not None else {}
    by_rank = {rank: chunk for chunk, rank in _ranks(materials).items()}
    content = [
        {
            "fact": fact,
            "rank": ranks.get(key),
            "chunk": (chunk := by_rank.get(ranks.get(key, 0))),
            "hop": hops.get(chunk or ""),
        }
        for key, fact in zip(keys, materials.facts, strict=True)
    ]
    places = [f"{key} {_place(ranks.get(key), row['hop'])}" for key, row in zip(keys, content, strict=True)]
    findings = _facts_by_rank(materials, ranks, "; ".join(places))
    return Reading(findings, notes=tuple(notes), content={"facts": content})


def _place(rank: int | None, hop: object) -> str:
    at = f" (hop {hop})" if hop is not None else ""
    return f"at rank {rank}{at}" if rank is not None else "nowhere"


def _supported_at(one: FactSupport, materials: Materials, notes: list[str]) -> int | None:
    """Return the first rank at which the chunks so far support a fact; quotes that don't occur count for nothing."""
    by_key, ranks = materials.chunk_by_key, _ranks(materials)
    found = [
        (piece, ranks[by_key[piece.chunk].id])
        for piece in one.evidence
        if occurs(piece.quote, by_key[piece.chunk].text)
    ]
    for piece in one.evidence:
        if not occurs(piece.quote, by_key[piece.chunk].text):
            notes.append(f"{one.fact}: {by_key[piece.chunk].id} has no words {shortened(piece.quote)!r}")
    at = [rank for piece, rank in found if piece.alone]
    # Of quotes that suffice together only, one that doesn't occur leaves the others without their sense.
    if one.together and one.evidence and len(found) == len(one.evidence):
        at.append(max(rank for _, rank in found))
    return min(at, default=None)


def _facts_by_rank(materials: Materials, ranks: Mapping[str, int], explanation: str | None = None) -> list[Finding]:
    """Return the share of supported facts by rank; unknown if a chunk that wasn't shown could have raised it."""
    total = len(materials.facts)
    unseen = [rank for chunk, rank in _ranks(materials).items() if chunk in {*materials.left_out}]
    findings = []
    for name, k in _FACT_MEASURES.items():
        value = _within(ranks.values(), k) / total
        if value < 1 and _within(unseen, k):
            findings.append(Finding(name, None, materials.unseen, explanation=explanation))
        else:
            findings.append(Finding(name, value, explanation=explanation))
    return findings


def _within(ranks: Iterable[int], k: int | None) -> int:
    return sum(k is None or rank <= k for rank in ranks)


def _ranks(materials: Materials) -> Mapping[str, int]:
    """Return the first rank of each retrieved chunk."""
    return materials.case.ranks if materials.case is not None else {}


FACTS_IN_CONTEXT = Grader(
    "facts_in_context",
    FactsInContextVerdict,
    ("question", "facts", "context"),
    tuple(_FACT_MEASURES),
    _read_facts,
    lacks=lambda materials: None if materials.facts else NO_FACTS,
    unasked=_facts_unasked,
)
