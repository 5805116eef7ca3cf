"""A person's grades of some answers, shown to a judge as examples by one measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.texts import read_text
from graphkit.plugins.judging.judges.contract import Grader
from graphkit.plugins.judging.judges.prompts import text_of

_FORM = "`graphkit judge calibrate RUN.jsonl --out FILE` writes such a file."

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
        """Write the file; raise an InputError if it can't be written."""
        with written(path) as temporary:
            temporary.write_bytes(msgspec.json.format(msgspec.json.encode(asdict(self)), indent=1) + b"\n")

    @classmethod
    def read(cls, path: Path) -> Examples:
        """Read a file; raise an InputError if it holds no examples."""
        try:
            found = msgspec.json.decode(read_text(path, _FORM), type=cls)
        except msgspec.DecodeError as error:
            raise InputError(f"these are no examples: {error}", where=str(path), remedy=_FORM) from None
        if not found.examples:
            raise InputError("the file holds no example", where=str(path), remedy=_FORM)
        return found

    def shown_to(self, graders: Sequence[Grader]) -> tuple[Grader, ...]:
        """Return the graders, that of the measure with the examples in its prompt.

        Raise an InputError if none of them gives the measure.
        """
        if not any(self.measure in grader.measures for grader in graders):
            what = f"the examples are grades by {self.measure}, which no chosen grader gives"
            raise InputError(what, remedy="Name its grader by --grader, or leave --examples out.")
        return tuple(self._shown_to(one) if self.measure in one.measures else one for one in graders)

    def _shown_to(self, grader: Grader) -> Grader:
        words = text_of(grader.name) if grader.instruction is None else grader.instruction
        texts: Any = tuple(one.text for one in self.examples)
        return replace(grader, instruction=words + _WORDS.format(self.measure), examples=texts)
