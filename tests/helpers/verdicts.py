"""Verdicts for tests: a few by hand, and plausible ones over the answers of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphkit.plugins.judging.verdicts import (
    AnswerClaim,
    Citation,
    Evidence,
    GoldClaim,
    GoldEdge,
    RelevanceFall,
    TraversedEdge,
    Verdict,
)
from graphkit.records.ids import Places
from graphkit.records.models import Answer, Question
from tests.helpers.datasets import read_jsonl
from tests.helpers.made import made


def claim(
    text: str = "x calls y",
    *,
    support: str = "DIRECT",
    evidence: list[tuple[Any, ...]] | None = None,
    edge: tuple[str, str | None, str] | None = None,
    in_gold: bool | None = None,
    **fields: Any,
) -> AnswerClaim:
    """Return a claim; a piece of evidence is chunk, quote, and whether the quote occurs (it does)."""
    pieces = [Evidence(chunk=chunk, quote=quote, occurs=not rest or rest[0]) for chunk, quote, *rest in evidence or []]
    walked = None if edge is None else TraversedEdge(source=edge[0], relation=edge[1], target=edge[2], in_gold=in_gold)
    return made(AnswerClaim, {"text": text, "support": support, "evidence": pieces, "edge": walked, **fields})


def verdict(question: str, *, grader: str = "claims", judge: str = "lexical", run: str = "r", **fields: Any) -> Verdict:
    """Return a verdict on the answer of a run to a question."""
    known = {"run": run, "question": question, "grader": grader, "judge": judge, "prompt_hash": "0", **fields}
    return made(Verdict, known)


def plausible(run_file: Path, judge: str = "lexical") -> Iterator[Verdict]:
    """Yield verdicts on the answers of a run: a claim for each of the first chunks, every third one unsupported.

    Claims rest on the walked edges in turn, each cites its chunk, and every fifth question's verdict has failed. The
    gold answer contradicts the second one. It makes two claims: one that the answer lacks goes with the first two steps
    of gold, one that it states with the others. Relevance falls at the second edge of a walk that has one. Every fifth
    answer breaks two of its criteria.
    """
    seen: set[str] = set()
    questions = map(Question.model_validate, read_jsonl(run_file.parent.parent / "questions.jsonl"))
    gold = {one.id: [step for path in one.paths for step in path.steps] for one in questions}
    for number, record in enumerate(read_jsonl(run_file)):
        answer = Answer.model_validate(record)
        if answer.error is not None or answer.question_id in seen:
            continue
        seen.add(answer.question_id)
        if number % 5 == 4:
            yield verdict(
                answer.question_id, run=answer.run, judge=judge, failure="unreadable", reason="no JSON", attempts=2
            )
            continue
        chunks = (answer.retrieved or ())[:4]
        steps = [(step.source, step.relation, step.target) for step in answer.traversal or ()]
        claims = [
            claim(
                f"{answer.question_id} claims {place}",
                support="UNSUPPORTED" if place % 3 == 2 else "DIRECT",
                evidence=[(chunk.id, (chunk.text or chunk.id)[:40], place % 3 != 2)],
                edge=steps[place % len(steps)] if steps else None,
                mismatch="the quote doesn't occur in the chunk" if place % 3 == 2 else None,
                gold="CONTRADICTED" if place == 1 else "NOT_MENTIONED",
                sentence=place + 1,
                cited=[place],
            )
            for place, chunk in enumerate(chunks)
        ]
        citations = [
            Citation(
                text=f"[{Places().file(chunk.id)}]",
                target=Places().file(chunk.id) or chunk.id,
                chunks=(chunk.id,),
                correct=place % 3 != 2,
                reason=None if place % 3 != 2 else "claim not supported by the cited source",
            )
            for place, chunk in enumerate(chunks)
        ]
        golden = [
            GoldEdge(source=one.source, relation=one.relation, target=one.target) for one in gold[answer.question_id]
        ]
        gold_claims = [
            made(GoldClaim, {"text": f"gold {place}", "stated": place > 0, "edges": some, "named_in": "claim"})
            for place, some in enumerate((golden[:2], golden[2:]))
        ]
        found: dict[str, Any] = {"claims": claims, "gold_claims": gold_claims, "citations": citations}
        yield verdict(answer.question_id, run=answer.run, judge=judge, cost=0.001, **found)
        yield verdict(
            answer.question_id,
            run=answer.run,
            judge=judge,
            grader="rubric",
            verdict={"grade": "fully_correct", "reasoning": "it names every step"},
            grade="fully_correct",
            confidence=0.9,
            cost=0.002,
            fall=falling(steps, number),
        )
        if number % 5 == 0:
            broken = broken_criteria(steps[0] if steps else None)
            yield verdict(answer.question_id, run=answer.run, judge=judge, grader="criteria", verdict=broken)


def broken_criteria(edge: tuple[str, str | None, str] | None) -> dict[str, Any]:
    """Return a verdict on three criteria, of which a wanted text is lacking, and an unwanted edge was walked."""
    text = {"criterion": "must: name it", "weight": 2, "holds": False, "reason": "it is absent"}
    at = {"edge": edge and list(edge), "retrieved": None, "repo": edge and Places().repo(edge[0])}
    name = {"criterion": "must not: repository x", "weight": 1, "holds": edge is None, "reason": "found"}
    return {
        "criteria": [
            {**text, "kind": "must", "about": "text", "name": "name it"},
            {**name, "kind": "must_not", "about": "repository", "name": "x", **at},
            {"criterion": "must: be short", "weight": 1, "holds": True, "reason": "it is"},
        ]
    }


def falling(steps: Sequence[tuple[str, str | None, str]], number: int) -> RelevanceFall | None:
    """Return a fall at the second edge of a walk, with an edge that leads nearer at every other number."""
    if len(steps) < 2:
        return None
    source, relation, target = steps[1]
    better = f"{source} -CALLS-> x" if number % 2 else None
    return RelevanceFall(path=1, hop=2, source=source, relation=relation, target=target, better=better)
