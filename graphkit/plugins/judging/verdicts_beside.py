"""Verdicts of judges as a kind of records that lie beside a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.files.problems import Problems
from graphkit.graph.answered import Kind
from graphkit.graph.beside import KindBeside
from graphkit.measures.case import Case
from graphkit.measures.outcome import Decision, grade_of
from graphkit.plugins.judging.model_families import judges_of, self_evaluations
from graphkit.plugins.judging.verdict_failures import COUNTS, ROWS, SENTENCES
from graphkit.plugins.judging.verdict_files import clashing, read_verdicts
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.scores import GRADES, RUBRIC_GRADE, Score
from graphkit.records.usage import Spread


class VerdictsBeside(KindBeside[Verdict]):
    """The verdicts of judges: ``RUN.grades/JUDGE.verdicts.jsonl``."""

    record = Verdict
    kind = Kind("verdict", "on", "graded")
    letter = "j"
    counted_as = "judged"
    failures = (*ROWS,)
    counts = COUNTS
    sentences = SENTENCES

    def read(self, files: Iterable[Path], problems: Problems) -> list[Verdict]:
        """Return the verdicts of some files, at most one of a judge's model on an answer by a grader."""
        return read_verdicts(files, problems)

    def clashing(self, files: Sequence[Path]) -> list[Path]:
        """Return the files of several models of one judge on the same answers."""
        return clashing(files)

    def author(self, record: Verdict) -> str:
        """Return the judge, and its model."""
        return f"{record.judge}\0{record.model or ''}"

    def decision(self, record: Verdict) -> Decision:
        """Return what a verdict says about the whole answer; nothing unless it grades by the rubric."""
        value = GRADES.get(record.grade) if record.grader == "rubric" and record.grade is not None else None
        return grade_of(RUBRIC_GRADE, value, record.judge)

    def check(self, store: Store, records: Sequence[Verdict]) -> None:
        """Check that the graph can hold verdicts."""
        from graphkit.plugins.judging.verdict_nodes import check_verdicts

        check_verdicts(store, records)

    def load(self, store: Store, records: Sequence[Verdict]) -> dict[str, int]:
        """Store verdicts claim by claim, instead of earlier ones of the same judges on the same runs."""
        from graphkit.plugins.judging.verdict_nodes import load_verdicts

        return load_verdicts(store, records)

    def rows(self, failures: str, case: Case, records: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
        """Return the missing, false or unsupported claims of an answer, or the hops at which its relevance falls."""
        return ROWS[failures](case, records)

    def claims(self, records: Sequence[Verdict]) -> list[dict[str, Any]]:
        """Return the claims of an answer, each with the traversed edge that it rests on."""
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
            for verdict in records
            for claim in verdict.claims
        ]

    def warnings(
        self, scores: Sequence[Score], records: Iterable[Verdict], answered_by: str | None = None
    ) -> tuple[str, ...]:
        """Warn of judges of the family of the answering model; verdicts may name it if ``answered_by`` doesn't."""
        given = list(records)
        judges = [*(one.model or one.judge for one in given), *judges_of(scores)]
        return self_evaluations(judges, [answered_by] if answered_by else [one.answered_by for one in given])

    def stranger(self, record: Verdict) -> str:
        """Return the message on a verdict whose question isn't in the dataset."""
        whose = f"the verdict of {record.judge} by {record.grader}"
        return f"{whose} is on {record.question!r}, which isn't in the dataset"

    def shown(self, records: Sequence[Verdict]) -> list[dict[str, Any]]:
        """Return the verdicts on one answer, claim by claim."""
        from graphkit.plugins.judging.verdict_view import judged

        return [judged(one) for one in records]

    def overview(
        self, records: Mapping[str, Sequence[Verdict]], cost: Spread | None, link: Callable[[str], Any]
    ) -> list[dict[str, Any]]:
        """Return the judges, with their models, graders, failures and cost."""
        from graphkit.plugins.judging.verdict_view import judges

        return judges(records, cost)


#: The kind, as the entry point names it.
VERDICTS_BESIDE = VerdictsBeside()
