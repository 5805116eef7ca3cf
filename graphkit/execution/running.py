"""Runs the tests of questions on the code of answers: each in its own process, and compared from outside."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from graphkit.execution.exchanges import Code, exchange
from graphkit.execution.extraction import extract
from graphkit.execution.jobs import failed_test, forged_result, result_of, storable
from graphkit.execution.languages import LANGUAGES, language_named
from graphkit.execution.limits import MIB
from graphkit.execution.sandbox import Sandbox
from graphkit.execution.workers import Ended
from graphkit.records.executions import CodeTestResult, Execution, ExecutionStatus
from graphkit.records.structs import CodeTestStruct, QuestionStruct
from graphkit.records.verdicts import answer_hash

#: The message of a program that dies for lack of memory.
_OUT_OF_MEMORY = "heap out of memory"


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
) -> dict[str, Execution | Unexecuted]:
    """Run the tests of each question on the code of its answer, and return the outcomes by question.

    Raise a SandboxError if the sandbox broke.

    Parameters
    ----------
    wanted
        Questions, each with the text of an answer.
    progress
        A function to call with the number of tests when those of an answer are done.
    """
    found: dict[str, Execution | Unexecuted] = {}
    with ThreadPoolExecutor(sandbox.jobs) as pool:
        under_way: list[tuple[Execution, list[Future[CodeTestResult]]]] = []
        try:
            for question, answer in wanted:
                prepared = _prepared(question, answer, run, sandbox)
                if isinstance(prepared, Unexecuted):
                    found[question.id] = prepared
                    continue
                execution, run_test = prepared
                found[question.id] = execution  # keep the order of the questions
                under_way.append((execution, [pool.submit(run_test, test) for test in question.test_cases]))
            for execution, futures in under_way:
                found[execution.question] = _whole(execution, [future.result() for future in futures])
                progress(len(futures))
        finally:
            pool.shutdown(cancel_futures=True)
    return found


def _prepared(
    question: QuestionStruct, answer: str, run: str, sandbox: Sandbox
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
        code=code.source if code is not None else None,
        answer_hash=answer_hash(answer),
    )

    def run_one(test: CodeTestStruct) -> CodeTestResult:
        if code is None:
            return failed_test(test, "no_code", "the answer holds no code", language)
        prepared = Code(code.source, language, files, question.entry_point, argv)
        return run_test(test, prepared, sandbox)

    return execution, run_one


def _whole(execution: Execution, tests: list[CodeTestResult]) -> Execution:
    """Return the record of an execution with its tests."""
    failing = next((test.status for test in tests if not test.passed), "success")
    known = [test.duration_ms for test in tests if test.duration_ms is not None]
    return execution.model_copy(
        update={"status": failing, "tests": tuple(tests), "duration_ms": sum(known) if known else None}
    )


# One test ------------------------------------------------------------------------------------------------------------


def run_test(test: CodeTestStruct, code: Code, sandbox: Sandbox) -> CodeTestResult:
    """Run one test of an answer's code, and return its result; raise a SandboxError if the sandbox broke."""
    outcome = exchange(test, code, sandbox)
    ended, language = outcome.ended, code.language
    if outcome.forged is not None:
        found = forged_result(test, outcome.forged, language)
    elif outcome.assertion_ended is not None:
        status, message = _without_result(test, outcome.assertion_ended, sandbox)
        found = failed_test(test, status, f"the assertion: {message}", language)
    elif outcome.reply is None:
        found = failed_test(test, *_without_result(test, ended, sandbox), language)
    else:
        found = result_of(test, outcome.reply, code.entry_point, language, outcome.verdict)
    measured = {"duration_ms": round(ended.seconds * 1000, 3), "printed": storable(ended.printed) or None}
    return found.model_copy(update=measured)


def _without_result(test: CodeTestStruct, ended: Ended, sandbox: Sandbox) -> tuple[ExecutionStatus, str]:
    """Return the status and the message of a test that ended without a result."""
    limits = sandbox.limits
    if ended.how == "timeout" or (ended.how == "signal" and ended.code == signal.SIGXCPU):
        return "timeout", f"it didn't end within {test.timeout:g} seconds"
    if ended.how == "stopped":
        return "runtime_error", "it was ended, since it wrote what nothing had asked for"
    if ended.how == "disk":
        return "refused", f"it wrote more than {limits.disk // MIB} MiB, or more than {limits.files} files"
    if ended.how == "threads":
        return "refused", f"it started more than {limits.threads} threads"
    if ended.how == "printed":
        return "refused", f"it printed more than {limits.printed // MIB} MiB"
    # A process that dies with most of its memory in use, or is killed, has probably run out of memory.
    died_full = ended.how == "signal" and (ended.code == signal.SIGKILL or ended.memory > 0.8 * limits.memory)
    if ended.how == "memory" or _OUT_OF_MEMORY in ended.printed or died_full:
        return "memory", f"it took more than the {limits.memory // MIB} MiB of memory that it may take"
    if ended.how == "signal":
        return "runtime_error", f"it was ended by {_signal(ended.code)}"
    return "runtime_error", f"it ended without a result, with exit status {ended.code}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
