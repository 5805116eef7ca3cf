"""Decisions in the graph: whether each answer of a run is right, as a score by the measure ``RightAnswer``.

Its grader is who or what says so: grades of the whole answer, else what the text of the answer decides by gold. The
latter stays beside it (``by_text``, ``text``), so that grades can come and go. It has no grading, and is in no mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched
from graphkit.measures.outcome import NOT_EVALUATED, OF_WHOLE_ANSWER, RIGHT_ANSWER, Decision, decided, grade_of
from graphkit.records.scores import EXECUTION, GRADES

#: Questions whose decisions one transaction replaces.
QUESTIONS = 1000


def grades_of_answers(store: Store, run: str, without: Collection[str] = ()) -> dict[str, list[Decision]]:
    """Return what the graph's scores, verdicts and executions say about the whole answers of a run, by question.

    Scores by the measures ``without`` are left aside.
    """
    grades: dict[str, list[Decision]] = {}
    for row in store.read(cypher("read/grades"), {"run": run, **of_whole_answers(without)}):
        grades.setdefault(str(row["question"]), []).append(decision_of(row))
    return grades


def of_whole_answers(without: Collection[str] = ()) -> dict[str, object]:
    """Return the parameters of the queries that read grades of whole answers."""
    wanted = [name for name in OF_WHOLE_ANSWER if name not in without]
    return {"measures": wanted, "best": next(iter(GRADES)), "execution": EXECUTION}


def decision_of(row: Mapping[str, object]) -> Decision:
    """Return what a row of such a query says about an answer."""
    grader = None if row["grader"] is None else str(row["grader"])
    return grade_of(str(row["measure"]), float(bool(row["right"])), grader)


def decision_row(question: str, by_text: Decision, decision: Decision) -> dict[str, Any]:
    """Return the row of the score that states a decision."""
    return {
        "question": question,
        "measure": RIGHT_ANSWER,
        "value": None if decision.right is None else float(decision.right),
        "grader" if decision.right is not None else "reason": decision.by,
        "by_text": by_text.right,
        "text": by_text.by,
    }


def decide(store: Store, run: str) -> None:
    """Decide again which answers of a run are right, after its grades have changed."""
    grades = grades_of_answers(store, run)
    held: dict[str, Mapping[str, object]] = {
        str(row["question"]): row for row in store.read(cypher("read/decisions"), {"run": run, "measure": RIGHT_ANSWER})
    }
    rows = []
    for question in dict.fromkeys([*held, *grades]):
        was = held.get(question)
        by_text = Decision(None, NOT_EVALUATED)
        if was is not None and was["text"] is not None:
            by_text = Decision(None if was["by_text"] is None else bool(was["by_text"]), str(was["text"]))
        decision = decided(by_text, grades.get(question, ()))
        if was is None or (was["right"], was["by"]) != (decision.right, decision.by):
            rows.append({"question": question, "scores": [decision_row(question, by_text, decision)]})
    for batch in batched(rows, QUESTIONS):
        questions = [row["question"] for row in batch]
        clear = {"run": run, "measure": RIGHT_ANSWER, "questions": questions}
        store.write_many(
            [(cypher("load/clear_decisions"), clear), (cypher("load/scores"), {"run": run, "rows": batch})]
        )
