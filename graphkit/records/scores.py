"""Scores: the record that measures, judges, executions, people and other tools produce for an answer."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Protocol

from pydantic import AliasChoices, BeforeValidator, Field, StrictInt, WithJsonSchema, model_validator
from pydantic.types import StrictBool, StrictFloat, StrictStr

from graphkit.records.aliases import WIDEST
from graphkit.records.fields import Amount, Count, Name, Record, RunName, Share

#: The grader of measures, also of those that a user adds.
GRAPHKIT = "graphkit"

#: The grader of executed code.
EXECUTION = "execution"

#: The grader of a person; with a name it is ``person:NAME``.
PERSON = "person"

#: How the grader of several judges begins, such as ``jury(a,b)``.
JURY = "jury"

#: The measure of a person's right and wrong, and the reason of a note without a grade.
PERSON_GRADE = "PersonGrade"
NOTED = "noted, not graded"

#: The measure of four grades; these with their values, best first; the labels of failures, and that of any other one.
RUBRIC_GRADE = "RubricGrade"
GRADES = {"fully_correct": 1.0, "partially_correct": 0.5, "unsupported": 0.0, "wrong": 0.0}
FAILURES = ("hallucination", "missing_evidence", "retrieval_miss", "wrong_chunk", "reasoning_error", "scope_confusion")
GRADING_ERROR = "grading_error"

#: The largest score.
LARGEST = WIDEST

#: The names of a score's value. Without any of them, a ``grade`` that is a number is the value.
VALUES = ("value", "score", "correct")


def _number(value: object) -> float | None:
    """Return a value as a number, or raise one sentence about any other value."""
    if value is None:
        return None
    if isinstance(value, bool | int | float) and abs(value) <= LARGEST:  # NaN and Infinity fail the comparison
        return float(value)
    raise ValueError(f"must be a number of at most {LARGEST:g}, true or false, or null without a score")


Value = Annotated[StrictBool | StrictFloat | None, BeforeValidator(_number)]


class Score(Record):
    """The score of an answer by one measure; null with a ``reason`` if there is none.

    Attributes
    ----------
    grade, label, explanation
        The grade in a word (such as ``"partially_correct"``), the failure in a word, and the explanation. A ``grade``
        that is a number, true or false is another name of ``value``.
    confidence
        The grader's own confidence, from 0 to 1.
    grader, version
        The source, such as ``"graphkit"`` or the name of a model, and its version.
    cost, prompt_tokens, output_tokens
        The cost of the score, in any currency, and its tokens.
    category, difficulty, group
        Properties of the question, if the file has them.
    gold_hash
        The hash of the question's gold at that time (:mod:`graphkit.records.gold`), if known.
    computed
        The measure as it was computed, if the question's own cut-off applied: ``Recall@1`` of a ``Recall@5``.
    answer_hash
        The SHA-256 of the scored answer, if known: the score is out of date if the answer has changed.
    strict_value
        In a run that logs some relations, the value at gates, where an edge without one matches nothing, if it differs.
    untyped
        Whether the run never logs the relations that the measure compares, so that a gate on it fails.
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
    answer_hash: StrictStr | None = None
    computed: StrictStr | None = None
    strict_value: Annotated[StrictFloat | None, BeforeValidator(_number)] = None
    untyped: StrictBool | None = None

    @model_validator(mode="before")
    @classmethod
    def _grade_or_value(cls, given: Any) -> Any:
        """Use a grade that isn't a string as the value. Beside a value, keep its text, so that neither is lost."""
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
        """Whether a judge gave it: the grader has a name, and isn't a measure, an execution or a person."""
        return self.grader not in (None, GRAPHKIT, EXECUTION) and not self.by_person

    @property
    def by_person(self) -> bool:
        """Whether a person gave it."""
        return (self.grader or "").partition(":")[0] == PERSON

    @property
    def given_by(self) -> str:
        """The grader with its version, in words."""
        version = "" if self.version is None else f" {self.version}"
        return f"{self.grader or 'nobody named'}{version}"


class AboutAnswer(Protocol):
    """A statement about an answer of a run; ``answer_hash`` shows whether it is about the present answer."""

    @property
    def run(self) -> str:
        """The run."""

    @property
    def question(self) -> str:
        """The question that the answer is to."""

    @property
    def answer_hash(self) -> str | None:
        """The :func:`answer_hash` of the answer; None if it isn't known."""


def answer_hash(answer: str) -> str:
    """Return the SHA-256 of an answer, which shows whether a record about it is out of date."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
