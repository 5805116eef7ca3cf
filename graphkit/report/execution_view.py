"""What became of the code of the answers, as the page shows it: the test that failed, and the code with its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.errors import InputError
from graphkit.records.executions import CodeTestResult, Execution, ExecutionStatus
from graphkit.report.escaping import visible, visible_text

#: How an execution ended, in words, in the order in which they are listed.
WORDS: dict[ExecutionStatus, str] = {
    "success": "all tests passed",
    "test_failure": "test failed",
    "runtime_error": "runtime error",
    "syntax_error": "syntax error",
    "timeout": "timed out",
    "memory": "out of memory",
    "refused": "refused by the sandbox",
    "no_code": "no code in the answer",
}

#: How much of a text is shown: of one of the test shown whole, of one in the list of the others, and of a line.
TEXT = 1000
BRIEF = 200

#: How much of long code is shown: lines from its first one, and on each side of the failing one.
LINES = 200
AROUND = 10

#: How much of a long record is listed; the rest is counted.
TESTS = 50
ATTEMPTS = 20
FEW_ATTEMPTS = 3

#: How many questions are named whose code ended in one way.
NAMED = 5

#: What an interpreter ends a line at.
_LINE_END = re.compile(r"\r\n|\r|\n")


def executions_on(run: str, executions: Iterable[Execution], questions: Iterable[str]) -> dict[str, Execution]:
    """Return the executions of one run by question.

    Raises
    ------
    InputError
        One is of a question that the dataset doesn't hold, or an answer has two.
    """
    known = set(questions)
    found: dict[str, Execution] = {}
    for execution in executions:
        if execution.run != run:
            continue
        question = execution.question
        if question not in known:
            what = f"the execution of {question!r} is of a question that isn't in the dataset"
            raise InputError(what, remedy="Correct its id, or leave it out.")
        if question in found:
            what = f"the answer of {run} to {question!r} has a second execution"
            raise InputError(what, remedy="Leave one of them out.")
        found[question] = execution
    return found


def executed(execution: Execution) -> dict[str, Any]:
    """Return one execution as the page's script reads it: its first failing test whole, the others in short."""
    # Where there was no code no test has more to say.
    tests = execution.tests if execution.status != "no_code" else ()
    failing = execution.failing if tests else None
    others = [test for test in tests if test is not failing]
    code, lines = _code(execution.code, failing.line if failing is not None else None)
    return {
        "status": execution.status,
        "passed": execution.passed,
        "total": len(execution.tests),
        "language": visible(execution.language, BRIEF),
        "entry_point": _text(execution.entry_point, BRIEF),
        "mechanism": execution.mechanism,
        "duration": execution.duration_ms,
        "failing": None if failing is None else _whole(failing),
        "others": [_short(test) for test in others[:TESTS]],
        "more_tests": max(len(others) - TESTS, 0),
        "more_failing": sum(not test.passed for test in others[TESTS:]),
        "code": code,
        "lines": lines,
        "more_lines": lines - sum(len(some) for _, some in code),
    }


def overview(executions: Mapping[str, Execution]) -> dict[str, Any] | None:
    """Return how the answers of a run went through the tests of their questions, or None where none did."""
    if not executions:
        return None
    of_status: dict[str, list[str]] = {}
    mechanisms: dict[str, int] = {}
    for question, execution in executions.items():
        of_status.setdefault(execution.status, []).append(question)
        if execution.mechanism is not None:
            mechanisms[execution.mechanism] = mechanisms.get(execution.mechanism, 0) + 1
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
        "expected": _text(test.expected, TEXT),
        "returned": _text(test.returned, TEXT),
        "printed": _text(test.printed, TEXT),
    }


def _short(test: CodeTestResult, room: int = BRIEF, attempts: int = FEW_ATTEMPTS) -> dict[str, Any]:
    return {
        "name": visible(test.name, BRIEF),
        "status": test.status,
        "message": _text(test.message, room),
        "duration": test.duration_ms,
        "attempts": [visible(attempt, BRIEF) for attempt in test.attempts[:attempts]],
        "more_attempts": max(len(test.attempts) - attempts, 0),
    }


def _text(text: str | None, room: int) -> str | None:
    return None if text is None else visible_text(text, room)


def _code(code: str | None, failing: int | None) -> tuple[list[list[Any]], int]:
    """Return pieces of code, each the number of its first line and its lines, and how many lines there are in all."""
    lines = _LINE_END.split(code) if code else []
    if lines and not lines[-1]:
        del lines[-1]
    spans = [(1, min(LINES, len(lines)))] if lines else []
    if failing is not None and LINES < failing <= len(lines):
        spans.append((max(LINES + 1, failing - AROUND), min(len(lines), failing + AROUND)))
    pieces = [[first, [visible_text(line, BRIEF) for line in lines[first - 1 : last]]] for first, last in spans]
    return pieces, len(lines)
