"""The job of one test, which goes into the sandbox, and the test's result, from the replies that come out.

The expected value and the assertion stay outside, so the code can't know what to return. No reply says whether a test
passed: this module decides that, by comparing the returned value or by the verdict of an assertion, which runs in a
process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graphkit.plugins.sandbox.executions import CodeTestResult, ExecutionStatus
from graphkit.plugins.sandbox.languages import Language
from graphkit.plugins.sandbox.returned_values import UnusableResultError, decoded, parsed
from graphkit.plugins.sandbox.value_equality import equal, same_output
from graphkit.plugins.sandbox.value_texts import shown
from graphkit.records.structs import CodeTestStruct
from graphkit.records.words import shortened

_LONGEST_TEXT = 2_000
_MOST_NAMES = 100
_MOST_ATTEMPTS = 5

#: The status of a test by the kind of its reply, unless a comparison decides.
_STATUS: Mapping[str, ExecutionStatus] = {
    "raised": "runtime_error",
    "refused": "refused",
    "memory": "memory",
    "syntax_error": "syntax_error",
    "no_entry_point": "runtime_error",
    "too_large": "test_failure",
}

#: The status of a test by the verdict of its assertion.
_OF_VERDICT: Mapping[str, ExecutionStatus] = {"held": "success", "failed": "test_failure", "unproven": "unproven"}

_ENDING = {"raised", "refused", "memory"}

#: The possible kinds of reply by request.
KINDS: Mapping[str, frozenset[str]] = {
    "load": frozenset({"loaded", "syntax_error", *_ENDING}),
    "run": frozenset({"returned", "syntax_error", "too_large", *_ENDING}),
    "call": frozenset({"returned", "no_entry_point", "too_large", *_ENDING}),
    "operate": frozenset({"returned", "missing", "too_large", *_ENDING}),
    "end": frozenset({"ended"}),
}

_RAISED = {"message", "line", "exception"}

#: The required and the optional fields of each kind, besides ``id``, ``kind`` and ``attempts``.
_FIELDS: Mapping[str, tuple[set[str], set[str]]] = {
    "loaded": (set(), set()),
    "returned": ({"value"}, set()),
    "raised": (_RAISED, {"error"}),
    "refused": (_RAISED, {"error"}),
    "memory": ({"message", "line"}, set()),
    "syntax_error": ({"message", "line"}, set()),
    "no_entry_point": ({"message"}, set()),
    "too_large": ({"message"}, set()),
    "missing": (set(), set()),
    "ended": (set(), set()),
}


def job_of(
    test: CodeTestStruct, code: str, files: Mapping[str, str], entry_point: str | None, limit: int
) -> dict[str, Any]:
    """Return the job of one test, in the form of ``inside/python_tests.py``; ``files`` are the stand-ins."""
    return {
        "files": dict(files),
        "code": code,
        "entry_point": entry_point,
        "stdin": test.inputs if isinstance(test.inputs, str) else None,
        "holds": test.assertion is not None,
        "limit": limit,
    }


def inputs_of(test: CodeTestStruct, entry_point: str | None) -> tuple[Any] | None:
    """Return the arguments of the entry point, as one value in a tuple; None if it isn't called."""
    arguments = test.inputs if isinstance(test.inputs, list | dict) else None
    calls = entry_point is not None and (test.assertion is None or arguments is not None)
    return (arguments,) if calls else None


@dataclass(frozen=True, slots=True)
class CallReply:
    """One reply, checked and decoded; its content may be a lie."""

    kind: str
    value: Any = None
    message: str | None = None
    line: int | None = None
    exception: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    written: Any = None  # the encoded value or error, for an assertion
    called: bool = True  # whether it replies to a call of the entry point, or to the run of a program


def read_reply(data: bytes, number: str, request: str) -> CallReply:
    """Read the reply to the request with a number; ``request`` is a key of :data:`KINDS`.

    Raise an UnusableResultError if the data isn't such a reply.
    """
    found = parsed(data)
    if not isinstance(found, dict) or found.get("id") != number:
        raise UnusableResultError("a result came out that nothing had asked for")
    kind = found.get("kind")
    if not isinstance(kind, str) or kind not in KINDS[request]:
        raise UnusableResultError(f"the kind of the result doesn't fit what was asked, which is to {request}")
    needed, possible = _FIELDS[kind]
    if not needed <= found.keys() - {"id", "kind", "attempts"} <= needed | possible or "attempts" not in found:
        raise UnusableResultError(f"the result has other fields than one of the kind {kind}")
    message, line = found.get("message"), found.get("line")
    if not isinstance(message, str | None) or isinstance(line, bool) or not isinstance(line, int | None):
        raise UnusableResultError("the result has a message or a line that isn't one")
    value, error = decoded(found.get("value")), found.get("error")
    if error is not None:
        decoded(error)
    return CallReply(
        kind=kind,
        value=value,
        message=None if message is None else storable(message),
        line=line if line is not None and 1 <= line < 2**31 else None,
        exception=_texts(found.get("exception"), _MOST_NAMES),
        attempts=_texts(found["attempts"], _MOST_ATTEMPTS),
        written=found.get("value") if error is None else error,
        called=request in ("call", "run"),
    )


@dataclass(frozen=True, slots=True)
class AssertionVerdict:
    """The outcome of an assertion.

    ``unproven`` says that nothing can decide it. ``own`` is the word of the answer's code by which it holds, if that
    alone decides.
    """

    kind: Literal["held", "failed", "unproven"]
    message: str
    own: str | None = None


def _texts(found: Any, most: int) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise UnusableResultError("the result has a list that isn't one of texts")
    return tuple(storable(text) for text in found[:most])


def storable(text: str) -> str:
    """Return a text shortened and escaped, so that UTF-8 can hold it."""
    return text[:_LONGEST_TEXT].encode(errors="backslashreplace").decode()


def result_of(
    test: CodeTestStruct,
    reply: CallReply,
    entry_point: str | None,
    language: Language,
    verdict: AssertionVerdict | None = None,
    trust_own_methods: bool = False,
) -> CodeTestResult:
    """Return the result of a test from the last reply; the caller adds its duration.

    A test that only the answer's own word decides hasn't passed, unless ``trust_own_methods``.
    """
    status, message = _status(test, reply, entry_point, language, verdict)
    own = verdict.own if verdict is not None and status == "success" else None
    if own is not None and not trust_own_methods:
        status, message = "unproven", own
    return CodeTestResult(
        decided_by=own,
        name=test.name,
        status=status,
        message=message,
        line=reply.line if status != "success" else None,
        expected=expected_text(test, language),
        returned=shown(reply.value, language.name) if reply.kind == "returned" else None,
        attempts=reply.attempts,
    )


def forged_result(test: CodeTestStruct, why: str, language: Language) -> CodeTestResult:
    """Return the result of a test whose code wrote to the channel of replies."""
    found = failed_test(test, "refused", f"it wrote to the channel of results: {why}", language)
    return found.model_copy(update={"attempts": ("forge a result",)})


def failed_test(test: CodeTestStruct, status: ExecutionStatus, message: str, language: Language) -> CodeTestResult:
    """Return the result of a test that gave no reply."""
    return CodeTestResult(name=test.name, status=status, message=message, expected=expected_text(test, language))


def expected_text(test: CodeTestStruct, language: Language) -> str | None:
    """Return the text of the outcome that a test expects."""
    if test.expected is not None:
        return shown(test.expected, language.name)
    return test.assertion or test.raises


def _status(
    test: CodeTestStruct,
    reply: CallReply,
    entry_point: str | None,
    language: Language,
    verdict: AssertionVerdict | None,
) -> tuple[ExecutionStatus, str | None]:
    if test.raises is not None and reply.kind in ("returned", "raised", "refused"):
        if reply.kind == "returned":
            return "test_failure", f"{test.raises} is expected, and nothing was raised"
        if reply.called and test.raises in reply.exception:
            return "success", None
        if not reply.called:
            return _STATUS[reply.kind], f"the code raised before the function was called: {reply.message}"
        if reply.kind == "raised":
            return "test_failure", f"{test.raises} is expected, and it raised {reply.message}"
    if verdict is not None:
        return _OF_VERDICT[verdict.kind], verdict.message or None
    if reply.kind in _STATUS:
        return _STATUS[reply.kind], reply.message
    return _compared(test, reply, entry_point, language)


def _compared(
    test: CodeTestStruct, reply: CallReply, entry_point: str | None, language: Language
) -> tuple[ExecutionStatus, str | None]:
    if reply.kind != "returned" or test.expected is None:
        return "test_failure", "nothing came out that could be compared"
    try:
        if entry_point is None and isinstance(test.expected, str) and isinstance(reply.value, str):
            same = same_output(test.expected, reply.value)
        else:
            same = equal(test.expected, reply.value, test.tolerance)
    except UnusableResultError as error:
        return "test_failure", str(error)
    if same:
        return "success", None
    what = "printed" if entry_point is None else "returned"
    expected, found = shortened(expected_text(test, language) or ""), shortened(shown(reply.value, language.name))
    return "test_failure", f"{expected} is expected, and it {what} {found}"
