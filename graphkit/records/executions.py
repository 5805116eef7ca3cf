"""What became of the code of an answer when it was run on the question's tests."""

from __future__ import annotations

from typing import Literal

from pydantic.types import StrictStr

from graphkit.records.fields import Amount, Count, Name, Record, RunName

#: How the run of a test ended. ``no_code`` is said of an answer that holds no code at all.
ExecutionStatus = Literal[
    "success", "test_failure", "runtime_error", "syntax_error", "timeout", "memory", "refused", "no_code"
]

#: What kept the code from the machine: ``none`` where the user had asked for no sandbox.
Mechanism = Literal["bubblewrap", "landlock", "none"]


class CodeTestResult(Record):
    """How one test went.

    Attributes
    ----------
    status
        ``refused`` where the code ended by something that the sandbox doesn't allow.
    message, line
        What went wrong, and at which line of the code, counted from 1.
    duration_ms
        Of the test alone, without starting the sandbox.
    expected, returned
        As texts, shortened; of a test by an assertion ``expected`` is the assertion.
    printed
        The beginning of what the code printed, on both streams.
    attempts
        What the code tried that the sandbox doesn't allow, such as ``open /etc/passwd``; as far as it is known.
    """

    name: Name
    status: ExecutionStatus
    message: StrictStr | None = None
    line: Count | None = None
    duration_ms: Amount | None = None
    expected: StrictStr | None = None
    returned: StrictStr | None = None
    printed: StrictStr | None = None
    attempts: tuple[StrictStr, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the test went well."""
        return self.status == "success"


class Execution(Record):
    """How the code of one answer went through the tests of its question: one line of an executions file.

    Attributes
    ----------
    status
        ``success`` where every test went well, else the status of the first one that didn't.
    language, entry_point
        Of the question.
    mechanism
        The sandbox that the code ran in; None where nothing was run.
    code
        What was run, of the answer; None where there is none.
    tests
        Each test of the question, in its order.
    duration_ms
        Of all tests together.
    answer_hash
        The SHA-256 of the answer, by which an execution of another one is told.
    """

    run: RunName
    question: Name
    status: ExecutionStatus
    language: Name
    mechanism: Mechanism | None = None
    entry_point: StrictStr | None = None
    code: StrictStr | None = None
    tests: tuple[CodeTestResult, ...] = ()
    duration_ms: Amount | None = None
    answer_hash: StrictStr

    @property
    def passed(self) -> int:
        """How many tests went well."""
        return sum(test.passed for test in self.tests)

    @property
    def failing(self) -> CodeTestResult | None:
        """The first test that didn't go well."""
        return next((test for test in self.tests if not test.passed), None)
