"""Comparisons in the graph: ``(:Answer)-[:COMPARED {criterion, value, ahead, behind}]->(:Answer)``.

An edge stands for all verdicts of a judge's model on two answers by one criterion. It goes with its answers: whoever
loads a run again, or removes it, has the comparisons stored again from their file, without asking a judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.writing import batched, clear
from graphkit.plugins.judging.pairwise.asked_pairs import JudgedPairs
from graphkit.plugins.judging.pairwise.comparisons import AnswerComparison
from graphkit.plugins.judging.pairwise.win_rates import HeadToHead, QuestionWin

#: Edges that one transaction writes.
EDGES = 1_000


def keep_comparisons(store: Store, judged: JudgedPairs, found: HeadToHead) -> int:
    """Replace the comparisons of these runs by a judge's model and these criteria, and return how many edges there are.

    Only answers that the graph holds are linked.
    """
    stored = 0
    about = {"judge": judged.judge, "model": judged.model or "", "differential": judged.given.differential}
    verdicts: dict[tuple[frozenset[str], str, str], list[AnswerComparison]] = {}
    for one in judged.comparisons:
        verdicts.setdefault((frozenset((one.first, one.second)), one.criterion, one.question), []).append(one)
    for first, second in found.pairs:
        pair = {"first": first, "second": second, **about}
        rows = [
            _row(question, criterion, win, some)
            for criterion in found.criteria
            for question, win in found.by_question[first, second, criterion].items()
            if (some := verdicts.get((frozenset((first, second)), criterion, question)))
        ]
        with reserved(store, f"comparisons of {judged.judge} on {first} and {second}") as held:
            clear(store, "load/clear_compared", {**pair, "criteria": [*found.criteria]})
            for batch in batched(rows, EDGES):
                store.write(cypher("load/compared"), {**pair, "version": judged.version, "rows": batch})
                held.beat()
        stored += len(rows)
    return stored


def _row(question: str, criterion: str, win: QuestionWin, verdicts: Sequence[AnswerComparison]) -> dict[str, Any]:
    return {
        "question": question,
        "criterion": criterion,
        "value": win.value,
        "ahead": win.as_first,
        "behind": win.as_second,
        "reason": win.reason,
        "comparisons": len(verdicts),
        "failed": sum(one.failure is not None for one in verdicts),
        "explanations": [one.explanation or one.reason or "" for one in verdicts],
    }
