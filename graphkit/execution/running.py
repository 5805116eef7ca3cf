"""The tests of questions run on the code of answers: each in a process of its own, and compared from outside."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from graphkit.execution.exchanges import Code, exchange
from graphkit.execution.extraction import extract
from graphkit.execution.jobs import failed_test, forged, judged, storable
from graphkit.execution.languages import LANGUAGES, language_named
from graphkit.execution.limits import MIB
from graphkit.execution.sandbox import Sandbox
from graphkit.execution.workers import Ended
from graphkit.records.executions import CodeTestResult, Execution, ExecutionStatus
from graphkit.records.structs import CodeTestStruct, QuestionStruct
from graphkit.records.verdicts import answer_hash

#: What a program that dies for want of memory says, by the language's own words.
_OUT_OF_MEMORY = "heap out of memory"


def programs() -> list[Path]:
    """Return the programs of this machine that run languages besides Python."""
    found = [language.program() for language in LANGUAGES if not language.forked]
    return [program for program in found if program is not None]


@dataclass(frozen=True, slots=True)
class Unexecuted:
    """Why the code of an answer wasn't run, although there are tests: that says nothing of the code."""

    reason: str


def execute_all(
    wanted: Iterable[tuple[QuestionStruct, str]],
    run: str,
    sandbox: Sandbox,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Execution | Unexecuted]:
    """Return how the code of each answer went through the tests of its question, by question.

    Parameters
    ----------
    wanted
        Questions, each with the text of an answer.
    progress
        Called with the number of its tests when an answer is done.

    Raises
    ------
    SandboxError
        The sandbox broke.
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
                found[question.id] = execution  # in its place
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
    """Return the record of an execution as it begins, and what runs one of its tests."""
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
    about = Execution(
        run=run,
        question=question.id,
        status="no_code",
        language=language.name,
        mechanism=sandbox.wall.name if code is not None else None,
        entry_point=question.entry_point,
        code=code.source if code is not None else None,
        answer_hash=answer_hash(answer),
    )

    def ran(test: CodeTestStruct) -> CodeTestResult:
        if code is None:
            return failed_test(test, "no_code", "the answer holds no code", language)
        prepared = Code(code.source, language, files, question.entry_point, argv)
        return run_test(test, prepared, sandbox)

    return about, ran


def _whole(execution: Execution, tests: list[CodeTestResult]) -> Execution:
    """Return the record of an execution with its tests."""
    failing = next((test.status for test in tests if not test.passed), "success")
    known = [test.duration_ms for test in tests if test.duration_ms is not None]
    return execution.model_copy(
        update={"status": failing, "tests": tuple(tests), "duration_ms": sum(known) if known else None}
    )


# One test ------------------------------------------------------------------------------------------------------------


def run_test(test: CodeTestStruct, code: Code, sandbox: Sandbox) -> CodeTestResult:
    """Run one test of an answer's code, and return how it went.

    Raises
    ------
    SandboxError
        The sandbox broke.
    """
    outcome = exchange(test, code, sandbox)
    ended, language = outcome.ended, code.language
    if outcome.forged is not None:
        found = forged(test, outcome.forged, language)
    elif outcome.assertion_ended is not None:
        status, message = _without_result(test, outcome.assertion_ended, sandbox)
        found = failed_test(test, status, f"the assertion: {message}", language)
    elif outcome.reply is None:
        found = failed_test(test, *_without_result(test, ended, sandbox), language)
    else:
        found = judged(test, outcome.reply, code.entry_point, language, outcome.verdict)
    told = {"duration_ms": round(ended.seconds * 1000, 3), "printed": storable(ended.printed) or None}
    return found.model_copy(update=told)


def _without_result(test: CodeTestStruct, ended: Ended, sandbox: Sandbox) -> tuple[ExecutionStatus, str]:
    """Return the status of a test that was ended, or that ended without a word."""
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
    if (
        ended.how == "memory"
        or _OUT_OF_MEMORY in ended.printed
        or (ended.how == "signal" and _was_full(ended, sandbox))
    ):
        return "memory", f"it took more than the {limits.memory // MIB} MiB of memory that it may take"
    if ended.how == "signal":
        return "runtime_error", f"it was ended by {_signal(ended.code)}"
    return "runtime_error", f"it ended without a result, with exit status {ended.code}"


def _was_full(ended: Ended, sandbox: Sandbox) -> bool:
    """Tell whether a process that died had taken about all the memory that it may take, or was killed for it."""
    return ended.code == signal.SIGKILL or ended.memory > 0.8 * sandbox.limits.memory


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
