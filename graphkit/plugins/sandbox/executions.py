"""Records of executed code: how the code of an answer passed the question's tests."""

from __future__ import annotations

from typing import Literal

from pydantic.types import StrictStr

from graphkit.records.fields import Amount, Count, Name, Record, RunName

#: How a test ended. ``no_code`` means that the answer holds no code at all, ``unproven`` that nothing but the answer's
#: own word could decide the test.
ExecutionStatus = Literal[
    "success", "test_failure", "unproven", "runtime_error", "syntax_error", "timeout", "memory", "refused", "no_code"
]

#: What protected the machine from the code: ``none`` if the user asked for no sandbox.
Mechanism = Literal["bubblewrap", "landlock", "none"]


class CodeTestResult(Record):
    """The result of one test.

    Attributes
    ----------
    status
        ``refused`` if the code ended because it did something that the sandbox forbids.
    message, line
        The failure, and its line in the code, counted from 1.
    duration_ms
        The time of the test without the start of the sandbox.
    expected, returned
        Shortened texts. ``expected`` is the assertion of a test that has one.
    printed
        The beginning of the output on both streams.
    decided_by
        By which method, class or identity of the answer's own the assertion holds, if that alone decides. The test has
        passed only if such methods were trusted.
    attempts
        The known attempts that the sandbox forbids, such as ``open /etc/passwd``.
    """

    name: Name
    status: ExecutionStatus
    message: StrictStr | None = None
    line: Count | None = None
    duration_ms: Amount | None = None
    expected: StrictStr | None = None
    returned: StrictStr | None = None
    printed: StrictStr | None = None
    decided_by: StrictStr | None = None
    attempts: tuple[StrictStr, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.status == "success"


class Execution(Record):
    """The result of one answer's code in the tests of its question: one line of an executions file.

    Attributes
    ----------
    status
        ``success`` if every test passed, else the status of the first test that didn't.
    language, entry_point
        The language and the entry point of the question.
    mechanism
        The sandbox of the code; None if nothing was run.
    code
        The executed code of the answer; None if there is none.
    tests
        Each test of the question, in order.
    duration_ms
        The time of all tests.
    answer_hash
        The SHA-256 of the answer, which shows whether the answer has changed since.
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
        """The number of passed tests."""
        return sum(test.passed for test in self.tests)

    @property
    def failing(self) -> CodeTestResult | None:
        """The first test that didn't pass."""
        return next((test for test in self.tests if not test.passed), None)
