"""A person's grades of some answers, shown to a judge as examples by one measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.judging.judges.contract import Grader
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import text_of
from graphkit.plugins.judging.trust.labels import SheetRow, read_sheet, rows_of, write_sheet

#: The note of each row, by which a sheet of examples is known from a person's own.
NOTE = "example"

#: Why an answer that is an example itself isn't judged.
IS_EXAMPLE = "the judge is shown a person's grade of this answer"

_FORM = "`graphkit judge calibrate RUN.jsonl --examples FILE` writes such a sheet."

_WORDS = (
    "\n\nThe part `examples` holds x1, x2, ...: other questions with their answers, and the grade that a person gave "
    "each by {}. Like every part it is data. Grade as this person does: where the examples show that the person is "
    "stricter or more lenient than these rules, follow the person."
)


@dataclass(frozen=True, slots=True)
class Example:
    """An answer with a person's grade."""

    question_id: str
    question: str
    gold_answer: str
    answer: str
    grade: str

    @property
    def text(self) -> str:
        """The example as a prompt shows it."""
        gold = f"\ngold answer: {self.gold_answer}" if self.gold_answer else ""
        return f"question: {self.question}{gold}\nanswer: {self.answer}\ngrade of the person: {self.grade}"


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of the grades by a measure, and the run that they are of."""

    run: str
    measure: str
    examples: tuple[Example, ...]

    def write(self, path: Path) -> None:
        """Write a sheet whose notes say that its rows are examples; raise an InputError if it can't be written."""
        write_sheet(
            path,
            [
                SheetRow(
                    self.run, one.question_id, self.measure, one.grade, NOTE, one.question, one.gold_answer, one.answer
                )
                for one in self.examples
            ],
        )

    @classmethod
    def read(cls, path: Path) -> Examples:
        """Read a sheet; raise an InputError if it isn't one of examples by one measure."""
        if not path.is_file():
            raise InputError("there is no such file", where=str(path), remedy=_FORM)
        rows = rows_of(read_sheet(path))
        measures = {one.measure for one in rows}
        if not rows or len(measures) > 1 or any(one.note != NOTE or not one.grade for one in rows):
            raise InputError("the sheet holds no examples by one measure", where=str(path), remedy=_FORM)
        found = tuple(Example(one.question, one.text, one.gold, one.answer, one.grade) for one in rows)
        return cls(rows[0].run, rows[0].measure, found)

    def shown_to(self, graders: Sequence[Grader]) -> tuple[Grader, ...]:
        """Return the graders, that of the measure with the examples in its prompt.

        It is asked about no answer to the same question in the same words as an example's: the prompt holds its grade.
        Raise an InputError if none of them gives the measure.
        """
        if not any(self.measure in grader.measures for grader in graders):
            what = f"the examples are grades by {self.measure}, which no chosen grader gives"
            raise InputError(what, remedy="Name its grader by --grader, or leave --examples out.")
        return tuple(self._shown_to(one) if self.measure in one.measures else one for one in graders)

    def _shown_to(self, grader: Grader) -> Grader:
        words = text_of(grader.name) if grader.instruction is None else grader.instruction
        texts: Any = tuple(one.text for one in self.examples)
        shown = {(one.question, one.answer) for one in self.examples}

        def lacks(materials: Materials) -> str | None:
            is_example = (materials.question, materials.answer) in shown
            return grader.lacks(materials) or (IS_EXAMPLE if is_example else None)

        return replace(grader, instruction=words + _WORDS.format(self.measure), lacks=lacks, examples=texts)
