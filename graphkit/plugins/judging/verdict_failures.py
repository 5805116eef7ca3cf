"""Failures of verdicts in words, and the rows of those that files suffice for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from graphkit.analysis.explain import edge_in_words
from graphkit.measures.case import Case
from graphkit.plugins.judging.verdicts import AnswerClaim, Verdict
from graphkit.records.words import counted


def _failed_verdict(row: Mapping[str, Any]) -> str:
    tries = f" after {counted(row['attempts'], 'try', 'tries')}" if row["attempts"] > 1 else ""
    return f"{row['judge']} gave no verdict by {row['grader']}{tries}: {row['failure']}, {row['reason'] or 'no reason'}"


def _sentence_of(row: Mapping[str, Any]) -> str:
    return f" in sentence {row['sentence']}" if row["sentence"] else ""


def _unsupported(row: Mapping[str, Any]) -> str:
    why = f" ({row['mismatch']})" if row["mismatch"] else ""
    named = f", although {row['judge']} named {', '.join(row['named'])}" if row["named"] else ""
    return f"nothing retrieved supports the claim{_sentence_of(row)}: {row['claim']}{why}{named}"


def _bad_citation(row: Mapping[str, Any]) -> str:
    at = f", at the claim: {row['claims'][0]}" if row["claims"] else ""
    return f"the citation {row['citation']} is wrong: {row['reason'] or 'no reason given'}{at}"


def _off_gold(row: Mapping[str, Any]) -> str:
    return f"the claim{_sentence_of(row)} rests on an edge outside gold, {edge_in_words(row)}: {row['claim']}"


#: What makes a sentence of a row, by the named query.
SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "unsupported-claims": _unsupported,
    "bad-citations": _bad_citation,
    "claims-off-gold": _off_gold,
    "failed-verdicts": _failed_verdict,
}


def unsupported_claims(case: Case, verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the unsupported claims of an answer."""
    for verdict in verdicts:
        yield from (_claim_row(case, verdict, one) for one in verdict.claims if one.support == "UNSUPPORTED")


def _claim_row(case: Case, verdict: Verdict, claim: AnswerClaim) -> dict[str, Any]:
    """Return the row of an unsupported claim; of the chunks that its judge named, those that the answer retrieved."""
    commits = {chunk.id: chunk.commit for chunk in reversed(case.chunks)}
    named = {piece.chunk for piece in claim.evidence if piece.chunk in commits}
    edge = claim.edge
    return {
        "judge": verdict.judge,
        "sentence": claim.sentence,
        "claim": claim.text,
        "gold": claim.gold,
        "mismatch": claim.mismatch,
        "named": sorted(f"{one} at {commits[one]}" if commits[one] else one for one in named),
        "edge": None if edge is None else f"{edge.source} -{edge.relation or ''}-> {edge.target}",
        "cited": [verdict.citations[place].text for place in sorted({*claim.cited})],
    }
