"""The claims of an answer against those of the gold answer: the measures of RAGChecker, and the gold edges of a claim.

All follows from the claims that the grader ``claims`` keeps. A claim of the answer is right if the gold answer supports
it, else false. A chunk supports a claim by a quote that occurs in it, alone or with others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.owners import NO_GOLD_CLAIMS
from graphkit.measures.seen import names_in_text
from graphkit.measures.text import named, words_of
from graphkit.measures.unscored import NO_CHUNK
from graphkit.plugins.judging.judges.contract import Finding
from graphkit.plugins.judging.judges.forms import NO_GOLD_ANSWER, unscored
from graphkit.plugins.judging.judges.materials import Materials, ShownChunk
from graphkit.plugins.judging.verdicts import AnswerClaim, GoldClaim, GoldEdge, NamedIn
from graphkit.records.words import counted

RELEVANT, IRRELEVANT = "NoiseSensitivity", "NoiseSensitivity(chunks='irrelevant')"

#: The measures that compare the claims of the answer with the gold answer, and those that need its claims as well.
_OF_CLAIMS, _OF_BOTH = ("ClaimPrecision", "Fabrication", "SelfKnowledge"), ("ClaimF1", RELEVANT, IRRELEVANT)
#: The measures that the claims of the gold answer decide.
_OF_GOLD = ("ClaimRecall", "ContextUtilization", "ChunkPrecision")
AGAINST_GOLD = (
    *("ClaimPrecision", "ClaimRecall", "ClaimF1", "ContextUtilization", RELEVANT, IRRELEVANT),
    *("Fabrication", "SelfKnowledge", "ChunkPrecision"),
)

NO_CLAIMS = "the answer makes no claim"
NOTHING_TO_USE = "no chunk supports a claim of the gold answer"


def against_gold(claims: Sequence[AnswerClaim], gold: Sequence[GoldClaim], materials: Materials) -> list[Finding]:
    """Return the findings of all measures in ``AGAINST_GOLD``, each with its reason if it has no value."""
    if materials.gold_answer is None:
        return [*unscored(AGAINST_GOLD, NO_GOLD_ANSWER)]
    relevant = frozenset(chunk for one in gold for chunk in one.chunks)
    unclear = sum(one.gold is None for one in claims)
    lack = f"the judge doesn't say of {counted(unclear, 'claim')} whether the gold answer supports it"
    if unclear:
        findings = [*unscored(_OF_CLAIMS, lack)]
    else:
        findings = [*_answer_findings(claims, materials)] if claims else [*unscored(_OF_CLAIMS, NO_CLAIMS)]
    if not gold:
        findings += unscored((*_OF_BOTH, *_OF_GOLD), NO_GOLD_CLAIMS)
    else:
        findings += _gold_findings(gold, relevant, materials)
        findings += unscored(_OF_BOTH, lack) if unclear else (_f1(claims, gold), *_noise(claims, relevant, materials))
    return sorted(findings, key=lambda one: AGAINST_GOLD.index(one.measure))


def _answer_findings(claims: Sequence[AnswerClaim], materials: Materials) -> Iterable[Finding]:
    right = _right(claims)
    of = counted(len(claims), "claim")
    yield Finding("ClaimPrecision", right / len(claims), explanation=f"{right} of {of} right")
    for measure, is_right in (("Fabrication", False), ("SelfKnowledge", True)):
        found = sum(one.support == "UNSUPPORTED" for one in claims if (one.gold == "SUPPORTED") is is_right)
        explanation = f"{found} of {of} {'right' if is_right else 'false'} and unsupported"
        if found and materials.incomplete:
            yield Finding(measure, None, materials.unseen)
        else:
            yield Finding(measure, found / len(claims), explanation=explanation)


def _right(claims: Sequence[AnswerClaim]) -> int:
    return sum(one.gold == "SUPPORTED" for one in claims)


def _f1(claims: Sequence[AnswerClaim], gold: Sequence[GoldClaim]) -> Finding:
    """Return the harmonic mean; an answer without claims has no precision, and 0 here, as EdgeF1 has."""
    right, stated = _right(claims), sum(one.stated for one in gold)
    explanation = f"{right} of {counted(len(claims), 'claim')} right, {stated} of {len(gold)} of the gold answer stated"
    if not right or not stated:
        return Finding("ClaimF1", 0.0, explanation=explanation)
    precision, recall = right / len(claims), stated / len(gold)
    return Finding("ClaimF1", 2 * precision * recall / (precision + recall), explanation=explanation)


def _gold_findings(gold: Sequence[GoldClaim], relevant: frozenset[str], materials: Materials) -> Iterable[Finding]:
    """Yield the findings that the claims of the gold answer decide."""
    stated = sum(one.stated for one in gold)
    of = counted(len(gold), "claim")
    yield Finding("ClaimRecall", stated / len(gold), explanation=f"{stated} of {of} of the gold answer stated")
    usable = [one for one in gold if one.chunks]
    used = sum(one.stated for one in usable)
    if materials.incomplete and len(usable) < len(gold):
        yield Finding("ContextUtilization", None, materials.unseen)
    elif not usable:
        yield Finding("ContextUtilization", None, NOTHING_TO_USE)
    else:
        explanation = f"{used} of {counted(len(usable), 'claim')} that a chunk supports stated"
        yield Finding("ContextUtilization", used / len(usable), explanation=explanation)
    chunks = {chunk.id for chunk in materials.chunks}
    if materials.incomplete or not chunks:
        yield Finding("ChunkPrecision", None, materials.unseen if materials.incomplete else NO_CHUNK)
    else:
        explanation = f"{len(relevant)} of {counted(len(chunks), 'chunk')} relevant"
        yield Finding("ChunkPrecision", len(relevant) / len(chunks), explanation=explanation)


def _noise(claims: Sequence[AnswerClaim], relevant: frozenset[str], materials: Materials) -> Iterable[Finding]:
    """Return the sensitivity to relevant and to irrelevant chunks; a false claim counts for the relevant ones first."""
    if not claims:
        return unscored((RELEVANT, IRRELEVANT), NO_CLAIMS)
    false = [{piece.chunk for piece in one.evidence if piece.occurs} for one in claims if one.gold != "SUPPORTED"]
    by_relevant = sum(not chunks.isdisjoint(relevant) for chunks in false)
    if materials.incomplete and by_relevant < len(false):
        return unscored((RELEVANT, IRRELEVANT), materials.unseen)
    if not materials.chunks and not materials.incomplete:
        return unscored((RELEVANT, IRRELEVANT), NO_CHUNK)
    by_others = sum(map(bool, false)) - by_relevant
    of = counted(len(claims), "claim")
    return [
        Finding(measure, count / len(claims), explanation=f"{count} of {of} false, by {kind} chunks")
        for measure, count, kind in ((RELEVANT, by_relevant, "relevant"), (IRRELEVANT, by_others, "irrelevant"))
    ]


def edges_named(
    text: str, chunks: Iterable[ShownChunk], case: Case | None
) -> tuple[tuple[GoldEdge, ...], NamedIn | None]:
    """Return the gold edges that a claim goes with, and whether its own text or a chunk that supports it names them.

    A text names an edge if it names both of its ends, as :class:`~graphkit.measures.seen.UsedShare` finds names. The
    chunks, each with its id, are read only if the claim names no edge. All gold paths count, alternatives and optional
    steps included.
    """
    if case is None or not case.gold_edges:
        return (), None
    gold = sorted(case.gold_edges, key=lambda edge: (edge[0], edge[1] or "", edge[2]))
    if found := _named_edges(text, gold, case):
        return found, "claim"
    by_chunks = {edge for one in chunks for edge in _named_edges(f"{one.id}\n{one.text}", gold, case)}
    found = tuple(one for edge in gold if (one := _edge(edge)) in by_chunks)
    return found, "chunk" if found else None


def _named_edges(text: str, gold: Iterable[Edge], case: Case) -> tuple[GoldEdge, ...]:
    words = words_of(text)
    there: dict[str, bool] = {}

    def is_named(node: str) -> bool:
        if node not in there:
            there[node] = any(named(name, text, words) for name in names_in_text(node, case.places))
        return there[node]

    return tuple(_edge(edge) for edge in gold if is_named(edge[0]) and is_named(edge[2]))


def _edge(edge: Edge) -> GoldEdge:
    return GoldEdge(source=edge[0], relation=edge[1], target=edge[2])
