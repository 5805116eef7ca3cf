"""What an evaluation gives back: the summary of each measure, and where asked for the value of each question."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from graphkit.errors import InputError
from graphkit.measures.registry import bounds_of
from graphkit.records.bounds import exact_parts
from graphkit.records.usage import Spread, Tally
from graphkit.records.words import shown

if TYPE_CHECKING:
    import pandas

    from graphkit.measures.outcome import Verdict
    from graphkit.records.models import Measurement


Label = Literal["category", "difficulty", "group"]

#: What questions are summarised by, in the order of a row's labels.
LABELS: tuple[Label, ...] = ("category", "difficulty", "group")
NO_LABEL = "(none)"


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over the questions of a run: the mean over the scored ones (None where none was), and the counts.

    ``lowest`` and ``highest`` are the means that the unscored questions would still allow, each of them worth the
    lowest or the highest value of the measure; the mean itself where all were scored, None where there is no bound.
    """

    mean: float | None
    scored: int
    total: int
    lowest: float | None = None
    highest: float | None = None

    @classmethod
    def of(cls, measure: str, values: Sequence[float], scored: int, total: int) -> Summary:
        """Return the summary of a measure whose values, or parts of them, add up to the sum of so many scored ones."""

        def mean(bound: float | None) -> float | None:
            if scored >= total:
                return math.fsum(values) / scored if scored else None
            return None if bound is None else math.fsum([*values, bound * (total - scored)]) / total

        lowest, highest = bounds_of(measure)
        return cls(math.fsum(values) / scored if scored else None, scored, total, mean(lowest), mean(highest))


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one question, in the order of the measures: a number, or the reason why there is none.

    ``labels`` are its category, difficulty and group. ``verdict`` is how it went, where that was asked for.
    """

    question: str
    values: tuple[float | str, ...]
    labels: tuple[str | None, ...] = (None, None, None)
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Evaluation:
    """The scores of one run.

    Attributes
    ----------
    questions
        How many questions the dataset holds: each counts, also those that the run failed on or has no record for.
    failed, missing
        How many records carry an error, and how many questions have no record.
    invalid
        The questions that aren't scored for their gold is stale, and why.
    efficiency
        Latency, model calls, tokens and cost over the records, as far as they say.
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
    invalid: Mapping[str, str] = field(default_factory=dict, repr=False)
    efficiency: Mapping[str, Spread] = field(default_factory=dict, repr=False)

    def known_efficiency(self) -> dict[str, Spread]:
        """Return the figures of efficiency that some record knows."""
        return {name: one for name, one in self.efficiency.items() if one.total is not None}

    def verdicts(self) -> list[Verdict]:
        """Return how each question went, where that was asked for."""
        return [row.verdict for row in self.rows if row.verdict is not None]

    def verdicts_as_json(self) -> dict[str, Any]:
        """Return the questions by right or wrong answer and path, and how many ended at each stage."""
        from graphkit.measures.outcome import stage_counts, two_by_two

        verdicts = self.verdicts()
        if not verdicts:
            return {}
        return {"two_by_two": dataclasses.asdict(two_by_two(verdicts)), "stages": stage_counts(verdicts)}

    def grouped(self, by: Label) -> dict[str, dict[str, Summary]]:
        """Return the summary of each measure within each category, difficulty or group, sorted by its name.

        Questions without one are summarised as ``"(none)"``; nothing where no question has one, or without rows.
        """
        place = LABELS.index(by)
        members: dict[str, list[Row]] = {}
        for row in self.rows:
            members.setdefault(row.labels[place] or NO_LABEL, []).append(row)
        if set(members) <= {NO_LABEL}:
            return {}
        return {name: _summaries(tuple(self.measures), rows) for name, rows in sorted(members.items())}

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit evaluate --json`` prints."""
        return {
            "run": self.run,
            "dataset": self.dataset,
            "questions": self.questions,
            "failed": self.failed,
            "missing": self.missing,
            "invalid": len(self.invalid),
            "measures": _as_json(self.measures),
            "efficiency": {name: dataclasses.asdict(one) for name, one in self.known_efficiency().items()},
        }

    def groups_as_json(self) -> dict[str, Any]:
        """Return the summaries by category, difficulty and group, as far as questions have one."""
        found = {by: self.grouped(by) for by in LABELS}
        return {by: {name: _as_json(one) for name, one in groups.items()} for by, groups in found.items() if groups}

    def records(self) -> Iterator[Measurement]:
        """Yield one measurement a question and measure, value or reason."""
        names = tuple(self.measures)
        for row in self.rows:
            yield from measurements(self.run, names, row)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with a row a question and a column a measure; not scored is NaN.

        Raises
        ------
        InputError
            pandas isn't installed.
        """
        try:
            import pandas
        except ImportError:
            remedy = "pip install 'graphkit[pandas]', or use records()."
            raise InputError("a table needs pandas", remedy=remedy) from None
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


def _as_json(measures: Mapping[str, Summary]) -> dict[str, Any]:
    return {name: dataclasses.asdict(one) for name, one in measures.items()}


def _summaries(names: Sequence[str], rows: Sequence[Row]) -> dict[str, Summary]:
    found = {}
    for place, name in enumerate(names):
        values = [value for row in rows if not isinstance(value := row.values[place], str)]
        found[name] = Summary.of(name, values, len(values), len(rows))
    return found


def measurements(run: str, names: Sequence[str], row: Row) -> Iterator[Measurement]:
    """Yield the measurement of each measure for one question."""
    from graphkit.records.models import Measurement

    for name, value in zip(names, row.values, strict=True):
        reason = value if isinstance(value, str) else None
        number = None if isinstance(value, str) else value
        yield Measurement(run=run, question=row.question, measure=name, value=number, reason=reason)


class Totals:
    """Running sums of each measure: what the means are made of.

    The sums are kept exactly, in parts, so that a mean doesn't depend on how a run was cut into batches.
    """

    def __init__(self, count: int) -> None:
        self.parts: list[list[float]] = [[] for _ in range(count)]
        self.scored = [0] * count
        self.questions = self.failed = self.missing = 0
        self.efficiency = Tally()

    def take(self, index: int, values: Sequence[float]) -> None:
        """Add the values of some scored questions, by the measure of that index."""
        self.parts[index] = exact_parts([*values, *self.parts[index]])
        self.scored[index] += len(values)

    def add(self, other: Totals) -> None:
        """Add the sums of another part of the run."""
        self.parts = [exact_parts(one + two) for one, two in zip(self.parts, other.parts, strict=True)]
        self.scored = [one + two for one, two in zip(self.scored, other.scored, strict=True)]
        self.questions += other.questions
        self.failed += other.failed
        self.missing += other.missing
        self.efficiency.merge(other.efficiency)

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Return the summary of each measure."""
        return {
            name: Summary.of(name, parts, scored, self.questions)
            for name, parts, scored in zip(names, self.parts, self.scored, strict=True)
        }
