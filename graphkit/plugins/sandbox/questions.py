"""Finds mistakes in the tests of a question, which no code could pass."""

from __future__ import annotations

from collections.abc import Iterator

from graphkit.plugins.sandbox.languages import Language, language_named
from graphkit.records.code_tests import wrong_tests
from graphkit.records.structs import QuestionStruct


def mistakes_in_tests(question: QuestionStruct) -> list[str]:
    """Return the mistakes in the tests of a question, one sentence each.

    An unknown language is no mistake: its questions are unscored.
    """
    if not question.test_cases:
        return []
    language = language_named(question.code_language)
    return wrong_tests(question) + ([] if language is None else list(_wrong_for(language, question)))


def _wrong_for(language: Language, question: QuestionStruct) -> Iterator[str]:
    try:
        language.layout(question.repository_context)
    except ValueError as error:
        yield f"the repository_context can't be laid out: {error}"
    # A name in JavaScript may contain $, which Python's identifiers may not.
    parts = ("f" if question.entry_point is None else question.entry_point).replace("$", "_").split(".")
    if not all(part.isidentifier() for part in parts):
        yield f'the entry_point "{question.entry_point}" isn\'t the name of a function, such as place_order'
    for test in question.test_cases:
        if isinstance(test.inputs, dict) and not language.named_arguments:
            yield f'the test "{test.name}" has arguments by name, which {language.name} doesn\'t know: give a list'
        if test.assertion is not None and (wrong := language.wrong_assertion(test.assertion)):
            yield f'the assertion of the test "{test.name}" can\'t be read: {wrong}'
