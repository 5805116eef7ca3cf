"""The record of a run's verdicts: what a later test run needs to decide by other thresholds, and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec

from graphkit.files.atomic import written
from graphkit.measures.outcome import Decision
from graphkit.records.unanswered import CountedAs
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.results import Evaluation, Row

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class RecordedRow(msgspec.Struct, array_like=True):
    """The values of a question by all measures, as gates on percentiles and on figures of a whole run need them."""

    question: str
    values: tuple[float | str, ...]
    failure: str | None
    strict: tuple[tuple[str, float], ...]
    grades: tuple[Decision, ...]

    @classmethod
    def of(cls, row: Row) -> RecordedRow:
        """Return what gates need of a row."""
        return cls(row.question, row.values, row.failure, row.strict, row.grades)

    def row(self) -> Row:
        """Return the row, without what no gate needs."""
        return Row(self.question, self.values, failure=self.failure, strict=self.strict, grades=self.grades)


class RecordedSummary(msgspec.Struct):
    """The figures of a run, with the values of its questions only where a gate needs them."""

    run: str
    dataset: str
    questions: int
    failed: int
    missing: int
    unanswered: int
    invalid: dict[str, str]
    measures: dict[str, Summary]
    unscored: dict[str, dict[str, int]] = {}
    relations: RelationCounts = RelationCounts()
    intervals: dict[str, tuple[float, float] | None] = {}
    rows: tuple[RecordedRow, ...] = ()

    @classmethod
    def of(cls, result: Evaluation, *, intervals: bool = False, rows: bool = False) -> RecordedSummary:
        """Return the figures of a result, with the ``intervals`` of its means and its ``rows`` on request."""
        return cls(
            result.run,
            result.dataset,
            result.questions,
            result.failed,
            result.missing,
            result.unanswered,
            dict(result.invalid),
            result.measures,
            {name: dict(reasons) for name, reasons in result.unscored.items()},
            result.relations,
            {name: result.interval(name) for name in result.measures} if intervals else {},
            tuple(
                RecordedRow(one.question, one.values, one.failure, one.strict, one.grades)
                for one in result.rows
                if rows
            ),
        )

    def evaluation(self, failed_as: CountedAs) -> Evaluation:
        """Return the result with the rows that were recorded, whose gates count failures in this way."""
        return Evaluation(
            run=self.run,
            dataset=self.dataset,
            questions=self.questions,
            failed=self.failed,
            missing=self.missing,
            unanswered=self.unanswered,
            invalid=self.invalid,
            measures=self.measures,
            unscored=self.unscored,
            relations=self.relations,
            intervals=self.intervals,
            failed_as=failed_as,
            rows=tuple(
                Row(one.question, one.values, failure=one.failure, strict=one.strict, grades=one.grades)
                for one in self.rows
            ),
        )


class RecordedVerdicts(msgspec.Struct):
    """The verdicts on a run: the outcome and the message of each question, and the figures of the run.

    ``key`` is the digest of all that they follow from.
    """

    key: str
    questions: dict[str, tuple[str, str]]
    summary: RecordedSummary

    @classmethod
    def read(cls, path: Path, key: str) -> RecordedVerdicts | None:
        """Return the verdicts in a file; None if there are none, or if they follow from something else."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError):
            return None
        return found if found.key == key else None

    def write(self, path: Path) -> None:
        """Write the verdicts; the file appears complete, or not at all.

        Raises
        ------
        InputError
            The file can't be written.
        """
        with written(path) as temporary:
            temporary.write_bytes(msgspec.json.encode(self))
