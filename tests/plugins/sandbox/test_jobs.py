"""From a test to its job, and from what came out to how the test went: through a real Python."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphkit.plugins.sandbox.executions import CodeTestResult
from graphkit.plugins.sandbox.jobs import KINDS, CallReply, inputs_of, job_of, read_reply, result_of
from graphkit.plugins.sandbox.languages import PYTHON
from graphkit.plugins.sandbox.returned_values import SetValue, UnusableResultError
from graphkit.records.structs import CodeTestStruct
from tests.plugins.sandbox.running import in_python

CODE = """
class Refused(ValueError): pass

def f(what=0):
    if what == 'raise': raise Refused('no')
    if what == 'read': open('/nothing/x')
    if what == 'memory': return [0] * 10 ** 15
    if what == 'large': return 'x' * 10 ** 6
    if what == 'set': return {1, 2}
    return what
"""


def ran(test: CodeTestStruct, code: str = CODE, entry_point: str | None = "f") -> CodeTestResult:
    """Run a test in a real Python, and judge what came of it."""
    inputs = inputs_of(test, entry_point)
    found = in_python(**job_of(test, code, {}, entry_point, 100_000), inputs=inputs[0] if inputs else None)
    reply = {name: found[name] for name in found.keys() - {"stdout", "stderr", "code", "left"}}
    request = "run" if entry_point is None else "load" if reply["kind"] == "syntax_error" else "call"
    return result_of(test, read_reply(json.dumps({**reply, "id": "1"}).encode(), "1", request), entry_point, PYTHON)


@pytest.mark.parametrize(
    ("test", "status", "message"),
    [
        ({"expected": 1, "inputs": [1]}, "success", None),
        ({"expected": 0}, "success", None),
        ({"expected": [2, 1], "inputs": ["set"]}, "success", None),
        ({"expected": 2, "inputs": {"what": 1}}, "test_failure", "2 is expected, and it returned 1"),
        ({"raises": "Refused", "inputs": ["raise"]}, "success", None),
        ({"raises": "ValueError", "inputs": ["raise"]}, "success", None),
        (
            {"raises": "KeyError", "inputs": ["raise"]},
            "test_failure",
            "KeyError is expected, and it raised Refused: no",
        ),
        ({"raises": "KeyError"}, "test_failure", "KeyError is expected, and nothing was raised"),
        ({"raises": "FileNotFoundError", "inputs": ["read"]}, "success", None),
        (
            {"expected": 1, "inputs": ["read"]},
            "refused",
            "FileNotFoundError: [Errno 2] No such file or directory: '/nothing/x'",
        ),
        ({"expected": 1, "inputs": ["memory"]}, "memory", "MemoryError"),
        ({"expected": 1, "inputs": ["large"]}, "test_failure", "the result has more than 100000 bytes"),
    ],
)
def test_functions(test: dict[str, Any], status: str, message: str | None) -> None:
    """Each way a test of a function can end has its status and its message."""
    found = ran(CodeTestStruct(name="t", **test))
    assert (found.status, found.message) == (status, message)


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("print(int(input()) + 1)", "success", None),
        ("print(1)", "test_failure", "'5' is expected, and it printed '1\\n'"),
        ("print(", "syntax_error", "SyntaxError: '(' was never closed"),
        ("1 / 0", "runtime_error", "ZeroDivisionError: division by zero"),
    ],
)
def test_programs(code: str, status: str, message: str | None) -> None:
    """The output of a program is compared as text."""
    found = ran(CodeTestStruct(name="t", inputs="4", expected="5"), code, None)
    assert (found.status, found.message) == (status, message)
    assert found.line == (None if status in ("success", "test_failure") else 1)


def test_a_missing_entry_point() -> None:
    """Code without the function that is asked for has failed when it ran."""
    found = ran(CodeTestStruct(name="t", expected=1), "g = 1")
    assert (found.status, found.message) == ("runtime_error", "the code defines no f")


def test_what_decides_stays_outside() -> None:
    """Nothing of what is expected is in the job, nor the assertion, nor the arguments before the code has run."""
    test = CodeTestStruct(name="name-8c1", inputs=["input-7d2"], expected={"secret-5f2": 1}, tolerance=0.125)
    asserting = CodeTestStruct(name="name-8c1", inputs=["input-7d2"], assertion="result == 'secret-5f2'")
    text = json.dumps([job_of(one, "code", {}, "f", 1) for one in (test, asserting)])
    assert not any(secret in text for secret in ("name-8c1", "secret-5f2", "0.125", "input-7d2"))


RAISED = {"kind": "raised", "message": "m", "line": 1, "exception": ["ValueError"]}
RETURNED = {"kind": "returned", "value": 1}


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        ("call", []),
        ("call", {}),
        ("call", {"kind": ["returned"], "value": 1}),
        ("call", {"kind": {}}),
        ("call", {"kind": "success"}),
        ("call", {"kind": "assertion_held", "value": 1}),
        ("call", {"kind": "held", "message": ""}),
        ("call", {"kind": "loaded"}),
        ("call", {"kind": "ended"}),
        ("load", RETURNED),
        ("load", {"kind": "ended"}),
        ("end", RETURNED),
        ("end", {"kind": "ended", "value": 1}),
        ("operate", {"kind": "no_entry_point", "message": "m"}),
        ("call", {"kind": "returned"}),
        ("call", {**RETURNED, "exception": ["ValueError"]}),
        ("call", {"kind": "no_entry_point", "message": "m", "exception": ["ValueError"]}),
        ("call", {"kind": "memory", "message": "m", "line": 1, "exception": ["ValueError"]}),
        ("call", {**RAISED, "value": 1}),
        ("call", {**RAISED, "message": 1}),
        ("call", {**RAISED, "line": "1"}),
        ("call", {**RAISED, "line": True}),
        ("call", {**RAISED, "exception": "ValueError"}),
        ("call", {**RAISED, "exception": [1]}),
        ("call", {**RAISED, "error": {"error": [1]}}),
        ("call", {"kind": "returned", "value": {"x": 1}}),
        ("call", {**RETURNED, "id": "2"}),
        ("call", {**RETURNED, "id": None}),
        ("call", {**RETURNED, "attempts": 3}),
        ("call", '{"id": "1", "kind": "returned", "value": 1, "attempts": []} {}'),
    ],
)
def test_what_is_no_reply(request_: str, reply: Any) -> None:
    """A kind that doesn't fit what was asked, a field of another kind and another number are refused."""
    if isinstance(reply, dict) and reply:
        reply = {"id": "1", "attempts": [], **reply}
    with pytest.raises(UnusableResultError):
        read_reply((reply if isinstance(reply, str) else json.dumps(reply)).encode(), "1", request_)


def test_no_reply_says_that_a_test_passed() -> None:
    """No kind of reply decides a test inside: only a returned or raised value can be right."""
    from graphkit.plugins.sandbox.jobs import _STATUS

    every = {kind for kinds in KINDS.values() for kind in kinds}
    assert every - _STATUS.keys() == {"returned", "loaded", "missing", "ended"}
    assert "success" not in _STATUS.values()
    for kind in ("loaded", "missing", "ended"):
        for test in ({"expected": 1}, {"raises": "ValueError"}):
            assert result_of(CodeTestStruct(name="t", **test), CallReply(kind), "f", PYTHON).status == "test_failure"


def test_forged_texts() -> None:
    """Texts are bounded and can be written; a line that can't be one is none."""
    data = {**RAISED, "id": "1", "message": "\ud800" + "x" * 10**5, "line": -1, "attempts": ["a\udfff"] * 50}
    found = read_reply(json.dumps(data).encode(), "1", "call")
    assert found.line is None
    assert found.message is not None
    assert len(found.message.encode()) < 3000
    assert found.attempts == ("a\\udfff",) * 5


def test_an_entangled_result_fails() -> None:
    """A result that takes too long to compare has failed, with that reason."""
    value = SetValue([SetValue([SetValue([float(n)]) for n in range(150)]) for _ in range(150)])
    test = CodeTestStruct(name="t", expected=[[[n] for n in range(150)]] * 149 + [[[0.5]] * 150])
    found = result_of(test, CallReply("returned", value), "f", PYTHON)
    assert found.status == "test_failure"
