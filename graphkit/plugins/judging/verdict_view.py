"""Verdicts of judges as the page shows them: claim by claim, with evidence, citations and traversed edges."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.plugins.judging.judge_cost import judge_cost
from graphkit.plugins.judging.verdicts import (
    AnswerClaim,
    Citation,
    Evidence,
    GoldClaim,
    GoldEdge,
    TraversedEdge,
    Verdict,
)
from graphkit.records.usage import Spread
from graphkit.report.escaping import listing, optional_text, visible, visible_text

#: Characters of a text that are shown.
TEXT = 1000

#: Parts of a long verdict that are listed; the rest is counted.
CLAIMS = 100
EVIDENCE = 10
LISTED = 50
FIELDS = 40


def judges(verdicts: Mapping[str, Sequence[Verdict]], cost: Spread | None) -> list[dict[str, Any]]:
    """Return the judges of a run, with their models and graders, their failures, and their cost beside the run's."""
    by_judge: dict[str, list[Verdict]] = {}
    for some in verdicts.values():
        for verdict in some:
            by_judge.setdefault(verdict.judge, []).append(verdict)
    return [
        {
            "name": visible(name),
            "models": sorted({visible(one.model) for one in given if one.model is not None}),
            "graders": sorted({visible(one.grader) for one in given}),
            "questions": len({one.question for one in given}),
            "failures": sorted(Counter(visible(one.failure) for one in given if one.failure is not None).items()),
            "cost": str(judge_cost(given, cost)),
        }
        for name, given in sorted(by_judge.items())
    ]


def judged(verdict: Verdict) -> dict[str, Any]:
    """Return one verdict as the page's script reads it."""
    return {
        "judge": visible(verdict.judge),
        "model": optional_text(verdict.model, TEXT),
        "grader": visible(verdict.grader),
        "failure": optional_text(verdict.failure, TEXT),
        "reason": optional_text(verdict.reason, TEXT),
        "grade": optional_text(verdict.grade, TEXT),
        "label": optional_text(verdict.label, TEXT),
        "confidence": verdict.confidence,
        "explanation": optional_text(verdict.explanation, TEXT),
        # Of a verdict with claims, the page shows the checked claims instead.
        "fields": [] if verdict.claims or verdict.gold_claims else _fields(verdict.verdict or {}),
        **listing("claims", verdict.claims, CLAIMS, _claim),
        **listing("gold_claims", verdict.gold_claims, CLAIMS, _gold_claim),
        "gold_stated": sum(one.stated for one in verdict.gold_claims),
        "citations": [_citation(one) for one in verdict.citations],
        **listing("left_out", verdict.left_out, LISTED, visible),
        "notes": [visible_text(one, TEXT) for one in verdict.notes[:LISTED]],
    }


def _claim(claim: AnswerClaim) -> dict[str, Any]:
    edge = claim.edge
    return {
        "text": visible_text(claim.text, TEXT),
        "sentence": claim.sentence,
        "support": claim.support,
        "gold": claim.gold,
        **listing("evidence", claim.evidence, EVIDENCE, _evidence),
        "edge": None if edge is None else _edge(edge),
        "cited": claim.cited,
        "cited_support": claim.cited_support,
        "mismatch": optional_text(claim.mismatch, TEXT),
    }


def _gold_claim(claim: GoldClaim) -> dict[str, Any]:
    return {
        "text": visible_text(claim.text, TEXT),
        "stated": claim.stated,
        "chunks": [visible(one) for one in claim.chunks[:EVIDENCE]],
        "edges": [_edge(one) for one in claim.edges[:EVIDENCE]],
        "named_in": claim.named_in,
    }


def _evidence(one: Evidence) -> dict[str, Any]:
    quote = visible_text(one.quote, TEXT)
    return {"chunk": visible(one.chunk), "quote": quote, "occurs": one.occurs, "alone": one.alone}


def _edge(edge: TraversedEdge | GoldEdge) -> dict[str, Any]:
    source, relation, target = (visible(name or "") for name in (edge.source, edge.relation, edge.target))
    in_gold = edge.in_gold if isinstance(edge, TraversedEdge) else True
    return {"source": source, "relation": relation, "target": target, "in_gold": in_gold}


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "text": visible_text(citation.text, TEXT),
        "target": visible(citation.target),
        "chunks": [visible(one) for one in citation.chunks[:EVIDENCE]],
        "correct": citation.correct,
        "needed": citation.needed,
        "reason": optional_text(citation.reason, TEXT),
    }


def _fields(verdict: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the fields of a verdict in the grader's own form."""
    lines = []
    for name, value in list(verdict.items())[:FIELDS]:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append({"name": visible(name, 200), "text": visible_text(text, TEXT)})
    return lines
