"""Failures of verdicts in words, and the rows of those that files suffice for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from graphkit.analysis.explain import edge_in_words
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, contained
from graphkit.plugins.judging.verdicts import AnswerClaim, Verdict
from graphkit.records.words import counted

#: The grader whose verdicts say which criteria hold.
CRITERIA = "criteria"


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


def _missing(row: Mapping[str, Any]) -> str:
    text = f"the answer lacks a claim of the gold answer: {row['claim']}"
    if row["source"] is None:
        return text
    walked = {True: ", which was not traversed", False: ", which was traversed", None: ""}[row["missed"]]
    return f"{text}; it goes with {edge_in_words(row)}{walked}"


def _false(row: Mapping[str, Any]) -> str:
    contradicted = row["gold"] == "CONTRADICTED"
    why = "the gold answer contradicts" if contradicted else "neither the gold answer nor anything retrieved supports"
    edge = "" if row["source"] is None else f"; it rests on an edge outside gold, {edge_in_words(row)}"
    return f"{why} the claim{_sentence_of(row)}: {row['claim']}{edge}"


def _counted_claims(row: Mapping[str, Any]) -> str:
    between = f"from {row['from_repo']} to {row['to_repo']}" if "from_repo" in row else f"of {row['relation']}"
    lacks = f"the answers lack {row['missed']} of {counted(row['required'], 'claim')} that go with an edge {between}"
    unwalked = f" ({row['unwalked']} with one that was not traversed)" if row["unwalked"] else ""
    wrong = f"{counted(row['wrong'], 'contradicted claim')} on a wrong edge {between}" if row["wrong"] else ""
    parts = [lacks + unwalked if row["required"] else "", wrong]
    return f"{', and '.join(filter(None, parts))}, in {counted(row['questions'], 'question')}"


def _relevance_lost(row: Mapping[str, Any]) -> str:
    edge = f", {edge_in_words(row)}" if row["source"] is not None else ""
    path = f" of path {row['path']}" if row["path"] > 1 else ""
    why = "its best chunk is less relevant than that of the hop before"
    if row["better"] is not None:
        why = f"{row['better']} leads nearer to an answer"
    return f"relevance falls at hop {row['hop']}{path}{edge}: {why}"


def _broken_criterion(row: Mapping[str, Any]) -> str:
    about = "" if row["about"] == "text" else f"{row['about']} "
    of = f"{about}{row['criterion']}" + (f" (weight {row['weight']})" if row["weight"] != 1 else "")
    if row["rule"] == "must":
        return f"the answer lacks what it must have, {of}: {row['reason']}"
    by = row["reason"] if row["retrieved"] is None else f"it retrieved {row['retrieved']}"
    if row["source"] is not None:
        by = f"it traversed {edge_in_words(row)}"
    return f"the answer has what it must not, {of}: {by}"


#: What makes a sentence of a row, by the named query.
SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "claims-by-boundary": _counted_claims,
    "claims-by-relation": _counted_claims,
    "missing-claims": _missing,
    "false-claims": _false,
    "unsupported-claims": _unsupported,
    "bad-citations": _bad_citation,
    "claims-off-gold": _off_gold,
    "failed-verdicts": _failed_verdict,
    "relevance-lost": _relevance_lost,
    "broken-criteria": _broken_criterion,
}


def missing_claims(case: Case, verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the claims of the gold answer that an answer doesn't state, a row for each edge of a claim.

    An edge that gold lost since the answer was judged doesn't count.
    """
    for verdict in verdicts:
        for claim in verdict.gold_claims:
            if not claim.stated:
                edges: list[Edge] = [(one.source, one.relation, one.target) for one in claim.edges]
                walked = contained(edges, case.walked, untyped=True)
                there: list[Edge | None] = [edge for edge in sorted(edges, key=_edge_order) if edge in case.gold_edges]
                for edge in there or [None]:
                    yield {
                        "judge": verdict.judge,
                        "model": verdict.model,
                        "claim": claim.text,
                        "chunks": list(claim.chunks),
                        **_edge_row(edge),
                        "named_in": None if edge is None else claim.named_in,
                        "missed": None if edge is None or not case.walk_logged else edge not in walked,
                    }


def _edge_order(edge: Edge) -> tuple[str, str, str]:
    """Return the sort key of an edge, as the query orders: one without a relation comes first."""
    return edge[0], edge[1] or "", edge[2]


def false_claims(case: Case, verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the claims that the gold answer contradicts, or that nothing supports.

    Each names the edge that it rests on if gold doesn't hold it.
    """
    for verdict in verdicts:
        for claim in verdict.claims:
            if claim.gold == "CONTRADICTED" or (claim.gold == "NOT_MENTIONED" and claim.support == "UNSUPPORTED"):
                yield {
                    "judge": verdict.judge,
                    "model": verdict.model,
                    "sentence": claim.sentence,
                    "claim": claim.text,
                    "gold": claim.gold,
                    "support": claim.support,
                    **_edge_row(_wrong_edge(case, claim)),
                }


def _wrong_edge(case: Case, claim: AnswerClaim) -> Edge | None:
    """Return the traversed edge that a claim rests on if gold doesn't hold it."""
    if claim.edge is None or not case.gold_edges:
        return None
    edge = (claim.edge.source, claim.edge.relation, claim.edge.target)
    return None if contained([edge], case.gold_edges, untyped=True) else edge


@dataclass
class _ClaimCount:
    """The counts of a row of ``claims-by-boundary`` or ``claims-by-relation``."""

    missed: int = 0
    required: int = 0
    unwalked: int = 0
    wrong: int = 0
    questions: set[str] = field(default_factory=set)


def _claim_counts(
    names: tuple[str, ...],
    names_of: Callable[[Case, Edge], tuple[str, ...] | None],
    answers: Iterable[tuple[Case, Sequence[Verdict]]],
) -> list[dict[str, Any]]:
    """Return the rows of a query that counts claims by the edges that they go with or rest on, as Cypher does.

    ``names_of`` returns what an edge counts for, by the names of the columns; None if for nothing.
    """
    rows: dict[tuple[str | None, ...], _ClaimCount] = defaultdict(_ClaimCount)
    for case, verdicts in answers:
        question = case.question.id
        for verdict in verdicts:
            for claim in verdict.gold_claims:
                edges = {(one.source, one.relation, one.target) for one in claim.edges} & set(case.gold_edges)
                lost = edges - contained(edges, case.walked, untyped=True) if case.walk_logged else set()
                lost_names = {names_of(case, edge) for edge in lost}
                for found in filter(None, {names_of(case, edge) for edge in edges}):
                    row = rows[verdict.judge, verdict.model, *found]
                    row.required += 1
                    row.missed += not claim.stated
                    row.unwalked += not claim.stated and found in lost_names
                    row.questions |= set() if claim.stated else {question}
            for one in verdict.claims:
                wrong = _wrong_edge(case, one) if one.gold == "CONTRADICTED" else None
                if wrong is not None and (its := names_of(case, wrong)) is not None:
                    row = rows[verdict.judge, verdict.model, *its]
                    row.wrong += 1
                    row.questions.add(question)
    ordered = sorted(rows.items(), key=lambda item: (-item[1].missed, -item[1].wrong, [one or "" for one in item[0]]))
    return [
        {
            **dict(zip(("judge", "model", *names), key, strict=True)),
            "missed": row.missed,
            "required": row.required,
            "share": math.floor(100 * row.missed / row.required + 0.5) / 100 if row.required else None,
            "unwalked": row.unwalked,
            "wrong": row.wrong,
            "questions": len(row.questions),
        }
        for key, row in ordered
        if row.missed or row.wrong
    ]


def _boundary(case: Case, edge: Edge) -> tuple[str, ...] | None:
    ends = case.places.repo(edge[0]), case.places.repo(edge[2])
    return ends if case.places.crosses(edge[0], edge[2]) else None  # type: ignore[return-value]


def _relation(_: Case, edge: Edge) -> tuple[str, ...]:
    return (edge[1] or "(no relation)",)


def _edge_row(edge: Sequence[str | None] | None) -> dict[str, str | None]:
    return dict(zip(("source", "relation", "target"), edge or (None, None, None), strict=True))


def unsupported_claims(case: Case, verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the unsupported claims of an answer."""
    for verdict in verdicts:
        yield from (_claim_row(case, verdict, one) for one in verdict.claims if one.support == "UNSUPPORTED")


def relevance_lost(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the first hops of an answer at which relevance falls, in the order of judges and graders."""
    for verdict in sorted(verdicts, key=lambda one: (one.judge, one.model or "", one.grader)):
        if verdict.fall is not None:
            yield {
                "judge": verdict.judge,
                "model": verdict.model,
                "grader": verdict.grader,
                **verdict.fall.model_dump(),
            }


def broken_criteria(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the criteria of its question that an answer broke, without the judge; none of another grader's verdict.

    A failed verdict holds those that the record alone breaks. Earlier versions kept only a criterion's words, with what
    came of it.
    """
    rows = (verdict.verdict or {}).get("criteria", ()) if verdict.grader == CRITERIA else ()
    found = []
    for one in (row for row in rows if row["holds"] is False):
        words = str(one["criterion"]).partition(": ")
        found.append(
            {
                "rule": one.get("kind", words[0].replace(" ", "_")),
                "about": one.get("about", "text"),
                "criterion": one.get("name", words[2]),
                "weight": one["weight"],
                "reason": one["reason"],
                **_edge_row(one.get("edge")),
                "retrieved": one.get("retrieved"),
                "repo": one.get("repo"),
            }
        )
    return found


def _broken_rows(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    for verdict in verdicts:
        yield from ({"judge": verdict.judge, "model": verdict.model, **row} for row in broken_criteria(verdict))


def _claim_row(case: Case, verdict: Verdict, claim: AnswerClaim) -> dict[str, Any]:
    """Return the row of an unsupported claim; of the chunks that its judge named, those that the answer retrieved."""
    commits = {chunk.id: chunk.commit for chunk in reversed(case.chunks)}
    named = {piece.chunk for piece in claim.evidence if piece.chunk in commits}
    edge = claim.edge
    return {
        "judge": verdict.judge,
        "model": verdict.model,
        "sentence": claim.sentence,
        "claim": claim.text,
        "gold": claim.gold,
        "mismatch": claim.mismatch,
        "named": sorted(f"{one} at {commits[one]}" if commits[one] else one for one in named),
        "edge": None if edge is None else f"{edge.source} -{edge.relation or ''}-> {edge.target}",
        "cited": [verdict.citations[place].text for place in sorted({*claim.cited})],
    }


#: What gives the rows of a query for one answer.
ROWS: Mapping[str, Callable[[Case, Sequence[Verdict]], Iterator[dict[str, Any]]]] = {
    "missing-claims": missing_claims,
    "false-claims": false_claims,
    "unsupported-claims": unsupported_claims,
    "relevance-lost": lambda _, verdicts: relevance_lost(verdicts),
    "broken-criteria": lambda _, verdicts: _broken_rows(verdicts),
}

#: What gives the rows of a query that counts over answers.
COUNTS: Mapping[str, Callable[[Iterable[tuple[Case, Sequence[Verdict]]]], list[dict[str, Any]]]] = {
    "claims-by-boundary": partial(_claim_counts, ("from_repo", "to_repo"), _boundary),
    "claims-by-relation": partial(_claim_counts, ("relation",), _relation),
}
