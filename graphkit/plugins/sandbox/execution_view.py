"""Executions of answers' code as the page shows them: the failing test, and the code with its line numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from graphkit.plugins.sandbox.executions import CodeTestResult, Execution, ExecutionStatus
from graphkit.report.escaping import listing, optional_text, visible, visible_text

#: Words for the status of an execution, in the order in which the page lists them.
WORDS: dict[ExecutionStatus, str] = {
    "success": "all tests passed",
    "test_failure": "test failed",
    "unproven": "unproven, only by the answer's own word",
    "runtime_error": "runtime error",
    "syntax_error": "syntax error",
    "timeout": "timed out",
    "memory": "out of memory",
    "refused": "refused by the sandbox",
    "no_code": "no code in the answer",
}

#: Characters that are shown of a text: in the failing test, and in the list of the others or in a line of code.
TEXT = 1000
BRIEF = 200

#: Lines of code that are shown: from the first one, and on each side of the failing one.
LINES = 200
AROUND = 10

#: Parts of a long record that are listed; the rest is counted.
TESTS = 50
ATTEMPTS = 20
FEW_ATTEMPTS = 3

#: Questions that are named for each status.
NAMED = 5

#: The line ends of an interpreter.
_LINE_END = re.compile(r"\r\n|\r|\n")


def executed(execution: Execution) -> dict[str, Any]:
    """Return one execution as the page's script reads it: the first failing test in full, the others in brief."""
    # Without code, no test says more than the status.
    tests = execution.tests if execution.status != "no_code" else ()
    failing = execution.failing if tests else None
    others = [test for test in tests if test is not failing]
    code, lines = _code(execution.code, failing.line if failing is not None else None)
    return {
        "status": execution.status,
        "passed": execution.passed,
        "total": len(execution.tests),
        "language": visible(execution.language, BRIEF),
        "entry_point": optional_text(execution.entry_point, BRIEF),
        "mechanism": execution.mechanism,
        "duration": execution.duration_ms,
        "failing": None if failing is None else _whole(failing),
        "others": [_short(test) for test in others[:TESTS]],
        "more_tests": max(len(others) - TESTS, 0),
        "more_failing": sum(not test.passed for test in others[TESTS:]),
        "code": code,
        "lines": lines,
        "more_lines": lines - sum(len(piece["lines"]) for piece in code),
    }


def overview(executions: Mapping[str, Execution]) -> dict[str, Any] | None:
    """Return how many of a run's answers passed their tests, and how the others ended; None without executions."""
    if not executions:
        return None
    of_status: dict[str, list[str]] = {}
    for question, execution in executions.items():
        of_status.setdefault(execution.status, []).append(question)
    mechanisms = Counter(one.mechanism for one in executions.values() if one.mechanism is not None)
    return {
        "answers": len(executions),
        "passed": len(of_status.get("success", ())),
        "tests": sum(len(execution.tests) for execution in executions.values()),
        "tests_passed": sum(execution.passed for execution in executions.values()),
        "unsafe": mechanisms.pop("none", 0),
        "sandboxes": sorted(mechanisms.items()),
        "statuses": [
            {
                "words": words,
                "count": len(of_status[status]),
                "questions": of_status[status][:NAMED] if status != "success" else [],
                "more": max(len(of_status[status]) - NAMED, 0) if status != "success" else 0,
            }
            for status, words in WORDS.items()
            if status in of_status
        ],
    }


def _whole(test: CodeTestResult) -> dict[str, Any]:
    return {
        **_short(test, TEXT, ATTEMPTS),
        "line": test.line,
        "expected": optional_text(test.expected, TEXT),
        "returned": optional_text(test.returned, TEXT),
        "printed": optional_text(test.printed, TEXT),
    }


def _short(test: CodeTestResult, room: int = BRIEF, attempts: int = FEW_ATTEMPTS) -> dict[str, Any]:
    return {
        "name": visible(test.name, BRIEF),
        "status": test.status,
        "message": optional_text(test.message, room),
        # A test that failed by it has it as its message.
        "decided_by": optional_text(test.decided_by if test.passed else None, room),
        "duration": test.duration_ms,
        **listing("attempts", test.attempts, attempts, lambda attempt: visible(attempt, BRIEF)),
    }


def _code(code: str | None, failing: int | None) -> tuple[list[dict[str, Any]], int]:
    """Return the pieces of code to show, each with the number of its first line, and the number of all lines."""
    lines = _LINE_END.split(code) if code else []
    if lines and not lines[-1]:
        del lines[-1]
    spans = [(1, min(LINES, len(lines)))] if lines else []
    if failing is not None and LINES < failing <= len(lines):
        spans.append((max(LINES + 1, failing - AROUND), min(len(lines), failing + AROUND)))
    pieces = [
        {"first": first, "lines": [visible_text(line, BRIEF) for line in lines[first - 1 : last]]}
        for first, last in spans
    ]
    return pieces, len(lines)
