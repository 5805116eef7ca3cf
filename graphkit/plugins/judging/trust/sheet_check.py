"""A spot check on a sheet: which measure and scale it is about, the answers to grade, and the person's labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.errors import InputError
from graphkit.measures.registry import measure_class
from graphkit.plugins.judging.trust.label_scales import LabelScale, numbers_in, persons_scale
from graphkit.plugins.judging.trust.labels import (
    Labels,
    SheetRow,
    graded_measures,
    graded_rows,
    labels_of,
    read_sheet,
    row_of,
    rows_of,
    write_sheet,
)
from graphkit.plugins.judging.trust.spot_check import SpotCheck, check, draw
from graphkit.plugins.judging.trust.subjects import Subject
from graphkit.records.scores import Score
from graphkit.records.structs import QuestionStruct


@dataclass
class SheetCheck:
    """A person's grades of answers, beside a judge's scores by one measure."""

    subject: Subject  # the judge's scores of the run
    answers: dict[str, str | None]  # the answers of the run, by the question's id
    path: Path  # the sheet; absent as long as nobody graded anything
    #: Whether the user named the sheet: then its rows decide the measure, unless ``asked`` names one.
    named: bool = False
    asked: str | None = None  # the measure that the user asked for
    grades: range | None = None  # the whole grades of the measure, if the user gave them
    questions: Mapping[str, QuestionStruct] = field(default_factory=dict)  # those that are known, by id

    def __post_init__(self) -> None:
        """Read the sheet, and find the measure and its scale."""
        self._rows = read_sheet(self.path) if self.path.exists() else []
        self.measure = self._measure()
        self.scores: list[Score] = self.subject.by(self.measure)
        texts = (text for _, _, text in graded_rows(self._rows, self.subject.run, self.measure))
        self.scale: LabelScale = persons_scale(self.measure, self.scores, numbers_in(texts), self.grades)
        self.labels: Labels = self._labels()

    def _measure(self) -> str:
        """Return the measure asked for, else the one of the sheet, else the judge's first."""
        names = dict.fromkeys(score.measure for score in self.subject.scores)
        on_sheet = graded_measures(self._rows if self.named else [], self.subject.run, names)
        if self.asked is None and len(on_sheet) == 1:
            return self.subject.measure(on_sheet[0])
        measure = self.subject.measure(self.asked)
        if on_sheet and measure.casefold() not in (name.casefold() for name in on_sheet):
            what = f"the sheet grades {self.subject.run} by {', '.join(on_sheet)}, not by {measure}"
            raise InputError(what, where=str(self.path), remedy="Name the measure of the sheet by --measure.")
        return measure

    def _labels(self) -> Labels:
        return labels_of(self._rows, self.subject.run, self.measure, self.scale, self.answers)

    def drawn(self, size: int, seed: int) -> list[SheetRow]:
        """Return a sample of the judged answers as rows to grade."""
        sample = draw(self.scores, size, seed)
        return [row_of(one, self.questions.get(one.question), self.answers.get(one.question)) for one in sample]

    def keep(self, row: SheetRow) -> None:
        """Write a graded row to the sheet, in place of an earlier one of the same answer."""
        same = (row.run, row.question, row.measure)
        rows = [one for one in rows_of(self._rows) if (one.run, one.question, one.measure) != same]
        write_sheet(self.path, [*rows, row])
        self.reread()

    def reread(self) -> None:
        """Read the sheet again."""
        self._rows = read_sheet(self.path) if self.path.exists() else []
        self.labels = self._labels()

    def result(self, width: float) -> SpotCheck:
        """Compare judge and person; raise an InputError if the sheet has no grade by the measure."""
        if not self.labels.labels:
            runs = sorted({row["run"] for _, row in self._rows if row.get("run")} - {self.subject.run})
            other = f" The sheet grades {', '.join(runs[:5])}." if runs else ""
            what = f"no answer of {self.subject.run} is graded by {self.measure}"
            raise InputError(what, where=str(self.path), remedy=f"Fill the column grade.{other}")
        return check(self.scores, self.labels.labels, notes=self.labels.notes, scale=self.scale, width=width)

    @property
    def guessed_scale(self) -> bool:
        """Whether the scale is a guess from the grades themselves."""
        numbers = self.scale.numeric and self.scale.ordered
        return self.grades is None and numbers and measure_class(self.measure) is None
