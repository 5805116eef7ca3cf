"""Mistakes in the tests of a question."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.plugins.sandbox.questions import mistakes_in_tests
from graphkit.records.structs import CodeTestStruct, QuestionStruct


def question(*tests: CodeTestStruct, entry_point: str | None = "f", **more: Any) -> QuestionStruct:
    """Return a question with tests."""
    return QuestionStruct(id="q", question="?", test_cases=list(tests), entry_point=entry_point, **more)


def one(**test: Any) -> CodeTestStruct:
    """Return a test."""
    return CodeTestStruct(name="t", **test)


RIGHT = [
    question(),
    question(entry_point=None, repository_context={"json": ""}),
    question(one(expected=1)),
    question(one(expected=False, inputs=[1])),
    question(one(raises="ValueError", inputs={"a": 1})),
    question(one(assertion="result is None", inputs=[])),
    question(one(assertion="x = 1\nassert x")),
    question(one(expected="1\n", inputs="1"), entry_point=None),
    question(one(raises="SystemExit"), entry_point=None),
    question(one(expected=1), CodeTestStruct(name="u", expected=1), entry_point="S.f"),
    question(one(assertion="result === null"), code_language="js", entry_point="$f"),
    question(one(expected=1, inputs={"a": 1}), code_language="rust", repository_context={"json": ""}),
    question(one(expected=1), repository_context={"auth.models": ""}),
]


@pytest.mark.parametrize("asked", RIGHT)
def test_nothing_wrong(asked: QuestionStruct) -> None:
    """These have no mistakes; an unknown language can only have those that need no knowledge of it."""
    assert mistakes_in_tests(asked) == []


WRONG = [
    (question(one()), 'the test "t" has no expected result'),
    (question(one(expected=1, raises="E")), 'the test "t" has several expected results, expected and raises'),
    (question(one(expected=1), one(expected=2)), 'two tests are named "t"'),
    (question(one(raises="E", inputs=[1]), entry_point=None), "no entry_point to call"),
    (question(one(raises="E", inputs={}), entry_point=None), "no entry_point to call"),
    (question(one(expected=1), entry_point=None), "expects a value of a program"),
    (question(one(expected="1", inputs="1")), "a string for the standard input"),
    (question(one(expected=1, inputs={"a": 1}), code_language="javascript"), "arguments by name"),
    (question(one(assertion="result ==")), 'the assertion of the test "t" can\'t be read'),
    (question(one(assertion=" ")), "it is empty"),
    (question(one(assertion=" "), code_language="js"), "it is empty"),
    (question(one(expected=1), repository_context={"os": ""}), 'can\'t be laid out: "os" would replace the module os'),
    (question(one(expected=1), entry_point="f(x)"), 'the entry_point "f(x)" isn\'t the name of a function'),
    (question(one(), code_language="rust"), "has no expected result"),
]


@pytest.mark.parametrize(("asked", "what"), WRONG)
def test_wrong(asked: QuestionStruct, what: str) -> None:
    """Each defect is reported by one sentence."""
    (said,) = mistakes_in_tests(asked)
    assert what in said


def test_all_that_is_wrong() -> None:
    """Each defect is reported, not the first alone."""
    asked = question(one(), one(expected=1, assertion="("), repository_context={"a b": ""})
    assert len(mistakes_in_tests(asked)) == 5
