"""What an evaluation gives back: the summary of each measure, and where asked for the value of each question."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from graphkit.models import Measurement


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over the questions of a run: the mean over the scored ones (None where none was), and the counts."""

    mean: float | None
    scored: int
    total: int


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one question, in the order of the measures: a number, or the reason why there is none."""

    question: str
    values: tuple[float | str, ...]


@dataclass(frozen=True)
class Evaluation:
    """The scores of one run.

    Attributes
    ----------
    questions
        How many questions the dataset holds: each counts, also those that the run failed on or has no record for.
    failed, missing
        How many records carry an error, and how many questions have no record.
    measures
        The summary of each measure, by its text.
    rows
        The values of each question, where they were asked for.
    """

    run: str
    dataset: str
    questions: int
    failed: int
    missing: int
    measures: dict[str, Summary]
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit evaluate --json`` prints."""
        return {
            "run": self.run,
            "dataset": self.dataset,
            "questions": self.questions,
            "failed": self.failed,
            "missing": self.missing,
            "measures": {
                name: {"mean": one.mean, "scored": one.scored, "total": one.total}
                for name, one in self.measures.items()
            },
        }

    def records(self) -> Iterator[Measurement]:
        """Yield one measurement a question and measure, value or reason."""
        names = tuple(self.measures)
        for row in self.rows:
            yield from measurements(self.run, names, row)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with a row a question and a column a measure; not scored is NaN.

        Raises
        ------
        ImportError
            pandas isn't installed: ``pip install graphkit[pandas]``.
        """
        import pandas

        return pandas.DataFrame(
            [[math.nan if isinstance(value, str) else value for value in row.values] for row in self.rows],
            columns=list(self.measures),
            index=pandas.Index([row.question for row in self.rows], name="question"),
        )

    def _repr_html_(self) -> str:
        """Draw the summary as a table in a notebook."""
        cells = "".join(
            f"<tr><td>{html.escape(name)}</td><td style='text-align:right'>{shown(one.mean)}</td>"
            f"<td style='text-align:right'>{one.scored} / {one.total}</td></tr>"
            for name, one in self.measures.items()
        )
        caption = f"{html.escape(self.run)}: {self.questions} questions, {self.failed} failed, {self.missing} missing"
        return (
            f"<table><caption>{caption}</caption><thead><tr><th>measure</th><th>mean</th><th>scored</th></tr></thead>"
            f"<tbody>{cells}</tbody></table>"
        )


def shown(value: float | None) -> str:
    """Return a value as text with four decimals, or a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


def measurements(run: str, names: Sequence[str], row: Row) -> Iterator[Measurement]:
    """Yield the measurement of each measure for one question."""
    from graphkit.models import Measurement

    for name, value in zip(names, row.values, strict=True):
        reason = value if isinstance(value, str) else None
        number = None if isinstance(value, str) else value
        yield Measurement(run=run, question=row.question, measure=name, value=number, reason=reason)


class Totals:
    """Running sums of each measure: what the means are made of."""

    def __init__(self, count: int) -> None:
        self.sums = [0.0] * count
        self.scored = [0] * count
        self.questions = self.failed = self.missing = 0

    def add(self, other: Totals) -> None:
        """Add the sums of another part of the run."""
        self.sums = [one + two for one, two in zip(self.sums, other.sums, strict=True)]
        self.scored = [one + two for one, two in zip(self.scored, other.scored, strict=True)]
        self.questions += other.questions
        self.failed += other.failed
        self.missing += other.missing

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Return the summary of each measure."""
        return {
            name: Summary(total / scored if scored else None, scored, self.questions)
            for name, total, scored in zip(names, self.sums, self.scored, strict=True)
        }
