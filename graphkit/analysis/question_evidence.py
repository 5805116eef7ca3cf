"""What is known of one question of a run, from the graph or from files alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.file_failures import RunOnFiles
from graphkit.database.store import Store
from graphkit.graph.failures import failures
from graphkit.graph.known_names import kept_in_words, require_question, require_run
from graphkit.graph.queries import cypher
from graphkit.graph.right_answers import decision_of, of_whole_answers
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.outcome import Decision, grade_of_execution, grade_of_verdict
from graphkit.records.verdicts import Verdict

Row = Mapping[str, Any]

#: The kinds of failures that an explanation reads.
_KINDS = ("failed-questions", "stale-gold", "wrong-turns", "missed-edges", "incoherent-pairs")

#: How many questions a query reads.
_TOGETHER = 500


@dataclass(frozen=True)
class QuestionEvidence:
    """One question of a run: the rows of failures by kind, the claims with their edges, and what was retrieved.

    Attributes
    ----------
    claims
        Rows with claim, support and the traversed edge that it rests on, in the order of judge and position.
    graded
        What each grade of the whole answer says: those of judges, persons and tests.
    relevant, ranking
        The relevant ids, most relevant first, and the retrieved ones, each once, best first.
    gold_paths, gold
        The number of gold paths, and their distinct edges.
    walked
        The distinct walked edges between the two ends of a gold edge.
    expected_files, files
        The expected files, and those that the record names or retrieved.
    chunks_logged, walk_logged, files_logged
        Whether the record logs retrieved chunks, a traversal, and files.
    kept
        A sentence on a run that the graph stores in part; None for a whole one.
    """

    run: str
    question: str
    failures: Mapping[str, Sequence[Row]]
    claims: Sequence[Row]
    graded: Sequence[Decision]
    relevant: Sequence[str]
    ranking: Sequence[str]
    chunks_logged: bool
    walk_logged: bool
    gold_paths: int = 1
    gold: Sequence[Edge] = ()
    walked: Sequence[Edge] = ()
    expected_files: Sequence[str] = ()
    files: Sequence[str] = ()
    files_logged: bool = False
    kept: str | None = None


def evidence_in_graph(store: Store, run: str, question: str) -> QuestionEvidence:
    """Return what the graph knows of a question; raise InputError if run or question is unknown."""
    run_known = require_run(store, run)
    require_question(store, question, str(run_known["dataset"]))
    rows = {question: _rows(lambda kind: failures(store, run, kind, question=question))}
    [found] = _in_graph(store, run, [question], rows, kept_in_words(run_known))
    return found


def each_evidence_in_graph(store: Store, run: str, questions: Sequence[str]) -> Iterator[QuestionEvidence]:
    """Yield what the graph knows of some questions of a run that it scored, in their order.

    The failures of the whole run are read at once: a query for each question takes ten times as long.

    Raises
    ------
    InputError
        The run is unknown.
    """
    kept = kept_in_words(require_run(store, run))
    rows: dict[str, dict[str, list[Row]]] = {}
    for kind in _KINDS if questions else ():
        for row in failures(store, run, kind):
            rows.setdefault(str(row["question"]), {}).setdefault(kind, []).append(row)
    for start in range(0, len(questions), _TOGETHER):
        some = questions[start : start + _TOGETHER]
        yield from _in_graph(store, run, some, {one: _rows(rows.get(one, {}).get) for one in some}, kept)


def _in_graph(
    store: Store,
    run: str,
    questions: Sequence[str],
    rows: Mapping[str, Mapping[str, Sequence[Row]]],
    kept: str | None,
) -> Iterator[QuestionEvidence]:
    """Yield the evidence on questions whose failures are known."""
    answered = [one for one in questions if not (rows[one]["failed-questions"] or rows[one]["stale-gold"])]

    def read(name: str, some: Sequence[str], **more: object) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in store.read(cypher(name), {"run": run, "questions": some, **more}) if some else ():
            found.setdefault(str(row["question"]), []).append(row)
        return found

    facts, claims = read("read/question_evidence", questions), read("read/question_claims", answered)
    grades = read("read/question_grades", answered, **of_whole_answers())
    for question in questions:
        if question not in facts:  # the dataset has lost it since
            continue
        [known] = facts[question]
        yield QuestionEvidence(
            run=run,
            question=question,
            failures=rows[question],
            claims=claims.get(question, ()),
            graded=[decision_of(row) for row in grades.get(question, ())],
            relevant=known["relevant"] or (),
            ranking=[*dict.fromkeys(known["ranking"] or ())],
            chunks_logged=known["chunks_logged"],
            walk_logged=known["walk_logged"],
            gold_paths=known["gold_paths"],
            gold=_edges(known["gold"]),
            walked=_edges(known["walked"]),
            expected_files=known["expected_files"] or (),
            files=known["files"] or (),
            files_logged=bool(known["files_logged"]),
            kept=kept,
        )


def evidence_on_files(run: RunOnFiles, question: str) -> QuestionEvidence:
    """Return what the files know of a question; raise InputError if it is unknown."""
    run.require_question(question)
    case, scored = run.cases[question], run.answered(question) is not None
    verdicts = sorted(run.verdicts.get(question, ()), key=lambda one: one.judge) if scored else []
    ends = {frozenset((edge[0], edge[2])) for edge in case.gold_edges}
    graded = [grade_of_verdict(one) for one in verdicts]
    if scored and question in run.executions:
        graded.append(grade_of_execution(run.executions[question]))
    return QuestionEvidence(
        run=run.run,
        question=question,
        failures=_rows(lambda kind: run.failures(kind, question=question)),
        claims=[row for one in verdicts for row in _claims(one)],
        graded=[one for one in graded if one.right is not None],
        relevant=_relevant(case),
        ranking=[*case.ranks],
        chunks_logged=case.chunks_logged,
        walk_logged=case.walk_logged,
        gold_paths=len(case.gold),
        gold=[*case.gold_edges],
        walked=[edge for edge in case.walked if frozenset((edge[0], edge[2])) in ends],
        expected_files=sorted(case.expected_files),
        files=sorted(case.files) if scored else [],
        files_logged=scored and case.evidence_logged,
    )


def _rows(read: Callable[[str], Sequence[Row] | None]) -> dict[str, Sequence[Row]]:
    return {kind: read(kind) or () for kind in _KINDS}


def _edges(rows: Sequence[Sequence[str]]) -> list[Edge]:
    """Return edges of the graph, in which an edge without a relation has an empty one."""
    return [(source, relation or None, target) for source, relation, target in rows]


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
