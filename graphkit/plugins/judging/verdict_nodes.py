"""Verdicts of judges in the graph, claim by claim, linked to the chunks that they cite.

    (:Answer)-[:CLAIMS]->(:Claim)-[:SUPPORTED_BY {quote, occurs, alone}]->(:Chunk)
    (:Answer)-[:CITES]->(:Citation)-[:POINTS_TO]->(:Chunk)        (:Claim)-[:CITES]->(:Citation)
    (:Answer)-[:JUDGED]->(:Verdict)

A ``(:Run)-[:JUDGED_BY]->(:Judging {judge, complete})`` stands for all verdicts of a judge on a run. It is incomplete
from before the first of them is deleted until after the last one is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.answered import Kind, refuse_outdated, refuse_unknown
from graphkit.graph.given_parts import clear_verdicts, reservation_of_verdicts, verdict_key
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.right_answers import decide
from graphkit.graph.rows import Rows, fields_of
from graphkit.graph.writing import batched
from graphkit.plugins.judging.verdict_failures import broken_criteria
from graphkit.plugins.judging.verdicts import GoldClaim, Verdict

#: Its words in messages.
VERDICT = Kind("verdict", "on", "graded")

#: Questions whose verdicts one transaction writes: each may have tens of claims, with their evidence.
QUESTIONS = 100

#: The fields of a verdict that its node keeps; the grader's own form stays in the file.
_KEPT = (
    *("run", "question", "grader", "judge", "model", "prompt_hash", "failure", "reason"),
    *("grade", "label", "explanation", "confidence", "stop_reason", "attempts"),
    *("prompt_tokens", "output_tokens", "cost", "cached"),
)


_KEPT_OF_CLAIM = ("text", "sentence", "support", "gold", "cited_support", "mismatch")
_KEPT_OF_CITATION = ("text", "target", "correct", "needed", "reason")


@dataclass(frozen=True, slots=True)
class Judging:
    """All verdicts of a judge on a run: whether all are there, and whether the dataset is unchanged since."""

    judge: str
    verdicts: int
    complete: bool = True
    current: bool = True


def keep_verdicts(store: Store, run: str, judge: str, verdicts: Iterable[Verdict]) -> int:
    """Replace all verdicts of a judge on a run in the graph, by any grader, and return how many were stored.

    Evidence is linked if the answer retrieved its chunk.

    There is at most one verdict per question, model and grader.

    Raise InputError if the graph doesn't hold the run any more, as after a renaming.
    """
    by_question: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_question.setdefault(verdict.question, []).append(verdict)
    stored = sum(map(len, by_question.values()))
    mark = {"run": run, "judge": judge}
    with reserved(store, reservation_of_verdicts(run, judge)) as held:
        require_run(store, run)
        store.write(cypher("load/judgings"), mark)
        clear_verdicts(store, run, judge)
        for batch in batched(by_question.items(), QUESTIONS):
            _write(store, run, [_question_row(run, judge, question, some) for question, some in batch])
            held.beat()
        decide(store, run)
        held.complete("load/judgings_complete", {**mark, "verdicts": stored})
    return stored


def judgings(store: Store, run: str) -> dict[str, Judging]:
    """Return the judgings of a run by judge, incomplete ones included."""
    return {
        str(row["judge"]): Judging(**row)  # type: ignore[arg-type]
        for row in store.read(cypher("read/judgings"), {"run": run})
    }


def load_verdicts(store: Store, verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Store recorded verdicts on runs in the graph, and return how many on each run.

    They replace earlier verdicts on the same run by the same judge. All records are checked before any is written.

    Raises
    ------
    InputError
        See :func:`check_verdicts`.
    """
    check_verdicts(store, verdicts)
    return {
        run: sum(keep_verdicts(store, run, judge, some) for judge, some in judges.items())
        for run, judges in _by_judge(verdicts).items()
    }


def check_verdicts(store: Store, verdicts: Iterable[Verdict]) -> None:
    """Check that the graph can hold these verdicts.

    Raise InputError if a run or question isn't in the graph, or a verdict is on an answer that the graph doesn't hold.
    """
    for run, judges in _by_judge(verdicts).items():
        refuse_unknown(store, run, chain.from_iterable(judges.values()), VERDICT)
        for judge, some in judges.items():
            refuse_outdated(store, run, some, VERDICT, by=judge)


def _by_judge(verdicts: Iterable[Verdict]) -> dict[str, dict[str, list[Verdict]]]:
    """Return verdicts by run and judge."""
    given: dict[str, dict[str, list[Verdict]]] = {}
    for verdict in verdicts:
        given.setdefault(verdict.run, {}).setdefault(verdict.judge, []).append(verdict)
    return given


def _write(store: Store, run: str, rows: Rows) -> None:
    """Write the verdicts on some answers in one transaction, so that each verdict is there completely or not at all."""
    by_run = {"run": run, "rows": rows}
    cited = [one for row in rows for one in row["cited"]]
    steps = [(cypher(f"load/{part}"), by_run) for part in ("verdicts", "claims", "citations")]
    steps += [(cypher("load/cited"), {"rows": cited})]
    steps += [(cypher(f"load/{part}"), by_run) for part in ("supported_by", "points_to")]
    store.write_many(steps)


def _question_row(run: str, judge: str, question: str, verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Return the row of the verdicts of a judge on one answer."""
    lists: dict[str, Rows] = {name: [] for name in ("verdicts", "claims", "citations", "cited", "evidence", "meant")}
    for verdict in verdicts:
        listed = {"notes": list(verdict.notes), "left_out": list(verdict.left_out)}
        added = {**_fall_of(verdict), **_gold_lists(verdict.gold_claims), **_broken_lists(verdict)}
        lists["verdicts"].append({**fields_of(verdict, _KEPT), **listed, **added})
        mark = {
            "run": run,
            "question": question,
            "judge": judge,
            "model": verdict.model or "",
            "grader": verdict.grader,
        }
        prefix = verdict_key(**mark)
        for position, claim in enumerate(verdict.claims):
            key, edge = f"{prefix}/{position}", claim.edge
            lists["claims"].append(
                {
                    **mark,
                    "key": key,
                    "position": position,
                    **fields_of(claim, _KEPT_OF_CLAIM),
                    # No relation is the empty text, as in the lists of the traversed and the gold paths.
                    "edge_source": edge.source if edge is not None else None,
                    "edge_relation": edge.relation or "" if edge is not None else None,
                    "edge_target": edge.target if edge is not None else None,
                    "edge_in_gold": edge.in_gold if edge is not None else None,
                }
            )
            lists["cited"] += [{"claim": key, "citation": f"{prefix}/{place}"} for place in claim.cited]
            lists["evidence"] += [
                {"claim": key, **fields_of(piece, ("chunk", "quote", "occurs", "alone"))} for piece in claim.evidence
            ]
        for position, citation in enumerate(verdict.citations):
            key = f"{prefix}/{position}"
            own = fields_of(citation, _KEPT_OF_CITATION)
            lists["citations"].append({**mark, "key": key, "position": position, **own})
            lists["meant"] += [{"citation": key, "chunk": chunk} for chunk in citation.chunks]
    return {"question": question, **lists}


def _gold_lists(claims: Sequence[GoldClaim]) -> dict[str, list[Any]]:
    """Return the claims of the gold answer as lists of a verdict's node; the edges and chunks name their claims."""
    edges = [(number, edge) for number, claim in enumerate(claims) for edge in claim.edges]
    chunks = [(number, chunk) for number, claim in enumerate(claims) for chunk in claim.chunks]
    return {
        "gold_claims": [claim.text for claim in claims],
        "gold_stated": [claim.stated for claim in claims],
        "gold_named_in": [claim.named_in or "" for claim in claims],
        "gold_chunk_claims": [number for number, _ in chunks],
        "gold_chunks": [chunk for _, chunk in chunks],
        "gold_edge_claims": [number for number, _ in edges],
        "gold_edge_sources": [edge.source for _, edge in edges],
        "gold_edge_relations": [edge.relation or "" for _, edge in edges],
        "gold_edge_targets": [edge.target for _, edge in edges],
    }


def _broken_lists(verdict: Verdict) -> dict[str, list[Any]]:
    """Return the broken criteria as lists of a verdict's node, in which an empty text is nothing; none, no list."""
    lists = {
        "broken_rules": "rule",
        "broken_about": "about",
        "broken_criteria": "criterion",
        "broken_weights": "weight",
        "broken_reasons": "reason",
        "broken_sources": "source",
        "broken_relations": "relation",
        "broken_targets": "target",
        "broken_retrieved": "retrieved",
        "broken_repos": "repo",
    }
    rows = broken_criteria(verdict)
    return {name: [row[of] or "" for row in rows] for name, of in lists.items()} if rows else {}


def _fall_of(verdict: Verdict) -> dict[str, Any]:
    """Return the first hop at which relevance falls, as properties of the verdict's node."""
    fall = verdict.fall
    if fall is None:
        return {}
    edge = {"fall_source": fall.source, "fall_relation": fall.relation, "fall_target": fall.target}
    return {"fall_path": fall.path, "fall_hop": fall.hop, **edge, "fall_better": fall.better}
