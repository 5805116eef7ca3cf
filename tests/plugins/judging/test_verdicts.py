"""Scores with grades and verdicts with claims: the meaning of fields, and impossible values."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.schemas import json_schema
from graphkit.records.scores import Score

SCORE = {"run": "r", "question": "q", "measure": "m"}
VERDICT = {"run": "r", "question": "q", "grader": "claims", "judge": "lexical", "prompt_hash": "0"}


@pytest.mark.parametrize(
    ("fields", "value", "grade"),
    [
        ({"grade": 3}, 3.0, None),
        ({"grade": True}, 1.0, None),
        ({"grade": None}, None, None),
        ({"value": 0.5, "grade": "partially_correct"}, 0.5, "partially_correct"),
        ({"value": None, "grade": None}, None, None),
        # Two numbers: value is the value, and the other one isn't lost.
        ({"score": 0.9, "grade": True}, 0.9, "true"),
    ],
)
def test_a_grade_is_a_word_or_the_value(fields: dict[str, object], value: float | None, grade: str | None) -> None:
    """A grade that is a number, true or false is the value; a word stands beside the value."""
    score = Score.model_validate({**SCORE, **fields})
    assert (score.number, score.grade) == (value, grade)


def test_a_word_alone_is_no_value() -> None:
    """The number of a word isn't guessed."""
    with pytest.raises(ValidationError, match="value"):
        Score.model_validate({**SCORE, "grade": "wrong"})


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "high"])
def test_confidence_is_a_share(confidence: object) -> None:
    """Confidence outside 0 to 1 is refused, in scores and in verdicts."""
    with pytest.raises(ValidationError, match="confidence"):
        Score.model_validate({**SCORE, "value": 1, "confidence": confidence})
    with pytest.raises(ValidationError, match="confidence"):
        Verdict.model_validate({**VERDICT, "confidence": confidence})
    assert Score.model_validate({**SCORE, "value": 1, "confidence": 1}).confidence == 1.0


def test_a_claim_names_citations_that_are_there() -> None:
    """A claim that names a citation beyond the last one is refused, with its place."""
    claim = {"text": "x", "support": "DIRECT"}
    citations = [{"text": "[a/b.py]", "target": "a/b.py"}]
    Verdict.model_validate({**VERDICT, "claims": [{**claim, "cited": [0]}], "citations": citations})
    with pytest.raises(ValidationError, match=r"claims\.1\.cited: citation 1 doesn't exist: there are 1 citation"):
        Verdict.model_validate({**VERDICT, "claims": [claim, {**claim, "cited": [1]}], "citations": citations})


@pytest.mark.parametrize(
    ("fields", "taken"),
    [
        ({"grade": 3}, True),
        ({"grade": "wrong"}, False),
        ({"value": 0, "grade": "wrong"}, True),
        ({"correct": True, "grade": 3}, True),
        ({}, False),
    ],
)
def test_the_schema_of_a_grade(fields: dict[str, object], taken: bool) -> None:
    """The printed schema accepts a grade in the forms that the reader accepts."""
    record = {**SCORE, **fields}
    assert Draft202012Validator(json_schema(Score)).is_valid(record) == taken
    if taken:
        Score.model_validate(record)
    else:
        with pytest.raises(ValidationError):
            Score.model_validate(record)
