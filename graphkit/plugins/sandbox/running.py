"""Runs the tests of questions on the code of answers: each in its own process, and compared from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from graphkit.plugins.sandbox.exchanges import Code, run_test
from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.plugins.sandbox.extraction import extract
from graphkit.plugins.sandbox.jobs import failed_test
from graphkit.plugins.sandbox.languages import LANGUAGES, language_named
from graphkit.plugins.sandbox.sandbox import Sandbox
from graphkit.records.scores import answer_hash
from graphkit.records.structs import CodeTestStruct, QuestionStruct


def programs() -> list[Path]:
    """Return the programs on this machine that run languages other than Python."""
    found = [language.program() for language in LANGUAGES if not language.forked]
    return [program for program in found if program is not None]


@dataclass(frozen=True, slots=True)
class Unexecuted:
    """The reason why an answer's code wasn't run although there are tests; it says nothing about the code."""

    reason: str


def execute_all(
    wanted: Iterable[tuple[QuestionStruct, str]],
    run: str,
    sandbox: Sandbox,
    progress: Callable[[int], None] = lambda _: None,
    *,
    trust_own_methods: bool = False,
) -> dict[str, Execution | Unexecuted]:
    """Run the tests of each question on the code of its answer, and return the outcomes by question.

    Raise a SandboxError if the sandbox broke.

    ``wanted`` are questions, each with the text of an answer. ``trust_own_methods`` passes tests, too, that nothing
    but methods of the answer's own decides. ``progress`` is called with the number of tests
    when those of an answer are done.
    """
    found: dict[str, Execution | Unexecuted] = {}
    with ThreadPoolExecutor(sandbox.jobs) as pool:
        under_way: list[tuple[Execution, list[Future[CodeTestResult]]]] = []
        try:
            for question, answer in wanted:
                prepared = _prepared(question, answer, run, sandbox, trust_own_methods)
                if isinstance(prepared, Unexecuted):
                    found[question.id] = prepared
                    continue
                execution, run_one = prepared
                found[question.id] = execution  # keep the order of the questions
                under_way.append((execution, [pool.submit(run_one, test) for test in question.test_cases]))
            for execution, futures in under_way:
                found[execution.question] = _whole(execution, [future.result() for future in futures])
                progress(len(futures))
        finally:
            pool.shutdown(cancel_futures=True)
    return found


def _prepared(
    question: QuestionStruct, answer: str, run: str, sandbox: Sandbox, trust_own_methods: bool
) -> tuple[Execution, Callable[[CodeTestStruct], CodeTestResult]] | Unexecuted:
    """Return the record of an execution without tests, and a function that runs one test."""
    language = language_named(question.code_language)
    if language is None:
        known = ", ".join(one.name for one in LANGUAGES)
        return Unexecuted(f"code in {question.code_language} isn't run; there are {known}")
    argv = language.argv(sandbox.limits.memory)
    if argv is None:
        return Unexecuted(f"{language.name} isn't run here: this machine has no program for it")
    try:
        files = language.layout(question.repository_context)
    except ValueError as error:
        return Unexecuted(f"repository_context: {error}")
    code = extract(answer, language, question.entry_point)
    execution = Execution(
        run=run,
        question=question.id,
        status="no_code",
        language=language.name,
        mechanism=sandbox.wall.name if code is not None else None,
        entry_point=question.entry_point,
        code=code,
        answer_hash=answer_hash(answer),
    )

    def run_one(test: CodeTestStruct) -> CodeTestResult:
        if code is None:
            return failed_test(test, "no_code", "the answer holds no code", language)
        whole = Code(code, language, files, question.entry_point, argv)
        return run_test(test, whole, sandbox, trust_own_methods=trust_own_methods)

    return execution, run_one


def _whole(execution: Execution, tests: list[CodeTestResult]) -> Execution:
    """Return the record of an execution with its tests."""
    failing = next((test.status for test in tests if not test.passed), "success")
    known = [test.duration_ms for test in tests if test.duration_ms is not None]
    return execution.model_copy(
        update={"status": failing, "tests": tuple(tests), "duration_ms": math.fsum(known) if known else None}
    )


# One test ------------------------------------------------------------------------------------------------------------
