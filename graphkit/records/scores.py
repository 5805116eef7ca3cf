"""What an answer is worth, and who says so: the one record that measures, judges, executions, people and tools give."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, StrictInt, WithJsonSchema, model_validator
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.records.aliases import WIDEST
from graphkit.records.fields import Amount, Count, Name, Record, RunName, Share

#: Who gives the scores of graphkit's own measures, and of those that a user adds.
GRAPHKIT = "graphkit"

#: Who gives the scores of code that was executed.
EXECUTION = "execution"

#: The largest value of a score, as of any other number of a record.
LARGEST = WIDEST

#: The names of the value of a score; a number that is called ``grade`` is one where none of these is there.
VALUES = ("value", "score", "correct")


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
    grade, label, explanation
        What the value means in a word (such as ``"partially_correct"``), what went wrong in a word, and why it was
        given. A ``grade`` that is a number, true or false is another name of ``value``.
    confidence
        How sure the grader says that it is, from 0 to 1.
    grader, version
        Who gave it, such as ``"graphkit"`` or the name of a model, and in which version.
    cost, prompt_tokens, output_tokens
        What giving it took, in any currency.
    category, difficulty, group
        Of the question, where the file says so.
    gold_hash
        What the gold of the question was when the score was given (:mod:`graphkit.records.gold`), where that is known.
    """

    run: RunName = Field(validation_alias=AliasChoices("run", "run_id", "system", "model", "condition"))
    question: Name = Field(validation_alias=AliasChoices("question", "question_id", "query_id", "id"))
    measure: Name = Field(default="score", validation_alias=AliasChoices("measure", "metric", "name"))
    value: Value = Field(validation_alias=AliasChoices(*VALUES, "grade"))
    reason: StrictStr | None = None
    grade: Annotated[StrictStr | None, WithJsonSchema({"type": ["string", "number", "boolean", "null"]})] = None
    label: StrictStr | None = None
    explanation: StrictStr | None = None
    grader: StrictStr | None = None
    version: StrictStr | StrictInt | None = None
    confidence: Share | None = None
    cost: Amount | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    category: StrictStr | None = None
    difficulty: StrictStr | None = None
    group: StrictStr | None = None
    gold_hash: StrictStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _grade_or_value(cls, given: Any) -> Any:
        """Take a grade that is no text as the value; beside a value as its text, so that neither is lost."""
        if not isinstance(given, dict) or "grade" not in given or isinstance(given["grade"], str):
            return given
        rest = {name: one for name, one in given.items() if name != "grade"}
        grade = given["grade"]
        if not any(name in given for name in VALUES):
            return {**rest, "value": grade}
        return rest if grade is None else {**rest, "grade": json.dumps(grade)}

    @property
    def number(self) -> float | None:
        """The value as a number."""
        return None if self.value is None else float(self.value)

    @property
    def judged(self) -> bool:
        """Whether a judge gave it: who has a name, and doesn't compute it or run tests."""
        return self.grader not in (None, GRAPHKIT, EXECUTION)

    @property
    def given_by(self) -> str:
        """Who gave it, with the version, in words."""
        version = "" if self.version is None else f" {self.version}"
        return f"{self.grader or 'nobody named'}{version}"
