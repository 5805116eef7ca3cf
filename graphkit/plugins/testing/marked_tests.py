"""The tests of a function with the mark ``graphkit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.testing.question_tests import SuiteTest, suite_tests
from graphkit.plugins.testing.suite_options import marked_suite


def marked_tests(
    collector: pytest.Module | pytest.Class, name: str, function: FunctionType, marks: list[pytest.Mark]
) -> list[SuiteTest]:
    """Return the tests of a marked function; its body runs after each passed test of a question.

    Raises
    ------
    InputError
        The function or its mark can't be used.
    """
    if len(marks) > 1:
        raise InputError("the function has two marks", remedy="Write a function for each system.")
    own = [mark for mark in function.pytestmark if mark.name != marks[0].name]  # type: ignore[attr-defined]
    if any(mark.name == "parametrize" for mark in own):
        raise InputError(
            "the mark graphkit can't be combined with parametrize", remedy="Write a function for each case."
        )
    body, suite = _body(collector, name, function), marked_suite(collector.config, marks[0])
    line = function.__code__.co_firstlineno - 1
    tests = [*suite_tests(suite, collector, question=name, threshold=name, line=line, body=body)]
    for test in tests:
        test.own_markers.extend([*own, *marks])
        test.keywords.update({mark.name: mark for mark in [*own, *marks]})
    return tests


def _body(collector: pytest.Module | pytest.Class, name: str, function: FunctionType) -> Callable[[], Any]:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise InputError("a function with the mark graphkit can't be async or a generator")
    method = isinstance(collector, pytest.Class)
    taken = [*inspect.signature(function).parameters][1 if method else 0 :]
    if taken:
        what = f"a function with the mark graphkit takes no arguments, and this one takes {', '.join(taken)}"
        raise InputError(what, remedy="Its fixtures can't reach the system, which is asked before the tests run.")
    if isinstance(collector, pytest.Class):
        return lambda: getattr(collector.obj(), name)()
    return function
