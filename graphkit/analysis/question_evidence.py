"""What is known of one question of a run, from the graph or from files alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.file_failures import RunOnFiles
from graphkit.database.store import Store
from graphkit.graph.failures import failures
from graphkit.graph.known_names import kept_in_words, require_question, require_run
from graphkit.graph.queries import cypher
from graphkit.measures.case import Case
from graphkit.records.verdicts import Verdict

Row = Mapping[str, Any]

#: The kinds of failures that an explanation reads.
_KINDS = ("failed-questions", "stale-gold", "wrong-turns", "missed-edges", "incoherent-pairs")


@dataclass(frozen=True)
class QuestionEvidence:
    """One question of a run: the rows of failures by kind, the claims with their edges, and what was retrieved.

    Attributes
    ----------
    claims
        Rows with claim, support and the traversed edge that it rests on, in the order of judge and position.
    graded
        Whether each judge who graded the answer by the rubric calls it fully correct.
    relevant, ranking
        The relevant ids, most relevant first, and the retrieved ones, each once, best first.
    chunks_logged, walk_logged
        Whether the record logs retrieved chunks and a traversal.
    kept
        A sentence on a run that the graph stores in part; None for a whole one.
    """

    run: str
    question: str
    failures: Mapping[str, Sequence[Row]]
    claims: Sequence[Row]
    graded: Sequence[bool]
    relevant: Sequence[str]
    ranking: Sequence[str]
    chunks_logged: bool
    walk_logged: bool
    kept: str | None = None


def evidence_in_graph(store: Store, run: str, question: str) -> QuestionEvidence:
    """Return what the graph knows of a question; raise InputError if run or question is unknown."""
    run_known = require_run(store, run)
    require_question(store, question, str(run_known["dataset"]))
    asked = {"run": run, "question": question}
    rows = _rows(lambda kind: failures(store, run, kind, question=question))
    [known] = store.read(cypher("read/question_evidence"), asked)
    facts: dict[str, Any] = {**known}
    answered = not (rows["failed-questions"] or rows["stale-gold"])
    return QuestionEvidence(
        run=run,
        question=question,
        failures=rows,
        claims=store.read(cypher("read/question_claims"), asked) if answered else (),
        graded=[bool(row["right"]) for row in store.read(cypher("read/question_grades"), asked)] if answered else (),
        relevant=facts["relevant"] or (),
        ranking=[*dict.fromkeys(facts["ranking"] or ())],
        chunks_logged=facts["chunks_logged"],
        walk_logged=facts["walk_logged"],
        kept=kept_in_words(run_known),
    )


def evidence_on_files(run: RunOnFiles, question: str) -> QuestionEvidence:
    """Return what the files know of a question; raise InputError if it is unknown."""
    run.require_question(question)
    case, scored = run.cases[question], run.answered(question) is not None
    verdicts = sorted(run.verdicts.get(question, ()), key=lambda one: one.judge) if scored else []
    graded = [one.grade == "fully_correct" for one in verdicts if one.grader == "rubric" and one.grade is not None]
    return QuestionEvidence(
        run=run.run,
        question=question,
        failures=_rows(lambda kind: run.failures(kind, question=question)),
        claims=[row for one in verdicts for row in _claims(one)],
        graded=graded,
        relevant=_relevant(case),
        ranking=[*case.ranks],
        chunks_logged=case.chunks_logged,
        walk_logged=case.walk_logged,
    )


def _rows(read: Callable[[str], Sequence[Row]]) -> dict[str, Sequence[Row]]:
    return {kind: read(kind) for kind in _KINDS}


def _relevant(case: Case) -> list[str]:
    gains = {node: gain for node, gain in case.question.relevant.items() if gain > 0}
    return sorted(gains, key=lambda node: (-gains[node], node))


def _claims(verdict: Verdict) -> list[Row]:
    return [
        {
            "judge": verdict.judge,
            "claim": claim.text,
            "support": claim.support,
            "source": claim.edge and claim.edge.source,
            "relation": claim.edge and claim.edge.relation,
            "target": claim.edge and claim.edge.target,
            "in_gold": claim.edge and claim.edge.in_gold,
        }
        for claim in verdict.claims
    ]
