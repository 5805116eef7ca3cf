"""Checks of a question's code tests that need no knowledge of their language."""

from __future__ import annotations

from collections.abc import Iterator

from graphkit.records.structs import CodeTestStruct, QuestionStruct


def wrong_tests(question: QuestionStruct) -> list[str]:
    """Return one sentence for each mistake in the tests of a question."""
    found = []
    seen: set[str] = set()
    for test in question.test_cases:
        if test.name in seen:
            found.append(f'two tests are named "{test.name}"')
        seen.add(test.name)
        found += [f'the test "{test.name}" {what}' for what in _wrong(test, question.entry_point)]
    return found


def _wrong(test: CodeTestStruct, entry_point: str | None) -> Iterator[str]:
    given = [name for name in ("expected", "raises", "assertion") if getattr(test, name) is not None]
    if not given:
        yield (
            "has no expected result: give one of expected, raises and assertion"
            " (for a function that returns nothing, assert: result is None)"
        )
    elif len(given) > 1:
        yield f"has several expected results, {' and '.join(given)}: give one of them"
    if entry_point is None:
        if isinstance(test.inputs, list | dict):
            yield "has arguments, but the question has no entry_point to call with them"
        if test.expected is not None and not isinstance(test.expected, str):
            yield "expects a value of a program, which prints text: name an entry_point, or expect a string"
    elif isinstance(test.inputs, str):
        yield "has a string for the standard input, but the question has an entry_point: give its arguments"
