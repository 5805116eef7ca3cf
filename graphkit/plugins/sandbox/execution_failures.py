"""Failures of executed code in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphkit.records.words import counted

#: The outcome of a failed test, by its status.
_ENDED = {
    "test_failure": "{test!r} failed",
    "unproven": "{test!r} proves nothing",
    "runtime_error": "{test!r} ended in an error",
    "syntax_error": "it isn't valid {language}",
    "timeout": "{test!r} took too long",
    "memory": "{test!r} took too much memory",
    "refused": "{test!r} tried something that the sandbox refuses",
}


def _failed_execution(row: Mapping[str, Any]) -> str:
    if row["status"] == "no_code":
        return f"should have given code ({row['language']}), but gave none"
    returned = f", got {row['returned']}" if row["returned"] is not None else ""
    values = f"expected {row['expected']}{returned}" if row["expected"] is not None else ""
    line = f" at line {row['line']}" if row["line"] else ""
    why = f": {row['message'] or values}" if row["message"] or values else ""
    ended = _ENDED[row["status"]].format(**row)
    return f"its code passed {row['passed']} of {counted(row['total'], 'test')}; {ended}{line}{why}"


def _forbidden(row: Mapping[str, Any]) -> str:
    tests = ", ".join(map(repr, row["tests"]))
    some = "test" if len(row["tests"]) == 1 else "tests"
    return f"its code tried something that the sandbox forbids: {row['attempt']}, in the {some} {tests}"


#: What makes a sentence of a row, by the named query.
SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "failed-executions": _failed_execution,
    "forbidden-attempts": _forbidden,
}
