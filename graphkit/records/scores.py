"""What an answer is worth, and who says so: the one record that measures, judges, executions, people and tools give."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, StrictInt
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.records.fields import Amount, Count, Name, Record

#: Who gives the scores of graphkit's own measures, and of those that a user adds.
GRAPHKIT = "graphkit"

#: Squares and cubes of larger values are beyond the range of floating point.
LARGEST = 1e100


def _number(value: object) -> float | None:
    """Return a value as a number; one sentence says what is wrong with any other."""
    if value is None:
        return None
    if isinstance(value, bool | int | float) and abs(value) <= LARGEST:  # NaN and Infinity fail the comparison
        return float(value)
    raise ValueError(f"must be a number of at most {LARGEST:g}, or true or false; null where there is no score")


Value = Annotated[StrictBool | StrictFloat | None, BeforeValidator(_number)]


class Score(Record):
    """The value that a run's answer to a question has by a measure; null with a ``reason`` where there is none.

    Attributes
    ----------
    label, explanation
        What the value means in a word (such as a failure label), and why it was given.
    grader, version
        Who gave it, such as ``"graphkit"`` or the name of a model, and in which version.
    cost, prompt_tokens, output_tokens
        What giving it took, in any currency.
    category, difficulty, group
        Of the question, where the file says so.
    """

    run: Name = Field(validation_alias=AliasChoices("run", "run_id", "system", "model", "condition"))
    question: Name = Field(validation_alias=AliasChoices("question", "question_id", "query_id", "id"))
    measure: Name = Field(default="score", validation_alias=AliasChoices("measure", "metric", "name"))
    value: Value = Field(validation_alias=AliasChoices("value", "score", "grade", "correct"))
    reason: StrictStr | None = None
    label: StrictStr | None = None
    explanation: StrictStr | None = None
    grader: StrictStr | None = None
    version: StrictStr | StrictInt | None = None
    cost: Amount | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    category: StrictStr | None = None
    difficulty: StrictStr | None = None
    group: StrictStr | None = None

    @property
    def number(self) -> float | None:
        """The value as a number."""
        return None if self.value is None else float(self.value)

    @property
    def given_by(self) -> str:
        """Who gave it, with the version, in words."""
        version = "" if self.version is None else f" {self.version}"
        return f"{self.grader or 'nobody named'}{version}"
