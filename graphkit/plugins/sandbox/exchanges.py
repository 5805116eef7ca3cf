"""The exchange of requests and replies with the process of an answer's code, and with that of an assertion.

The process of the code gets one request at a time: to load the code, to call the entry point, to do an operation for
the assertion, or to end. Each request has a new random number, which the reply must repeat. The process of the
assertion never sees the code. All data between both passes through here, and is checked.
"""

from __future__ import annotations

import json
import secrets
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphkit.plugins.sandbox.executions import CodeTestResult, ExecutionStatus
from graphkit.plugins.sandbox.jobs import (
    AssertionVerdict,
    CallReply,
    failed_test,
    forged_result,
    inputs_of,
    job_of,
    read_reply,
    result_of,
    storable,
)
from graphkit.plugins.sandbox.languages import Language
from graphkit.plugins.sandbox.limits import MIB, SandboxLimits
from graphkit.plugins.sandbox.returned_values import UnusableResultError, parsed
from graphkit.plugins.sandbox.sandbox import Sandbox
from graphkit.plugins.sandbox.workers import Ended, ForgedError, StoppedError, WorkerSession
from graphkit.records.structs import CodeTestStruct

#: The message of a program that dies for lack of memory.
_OUT_OF_MEMORY = "heap out of memory"

#: The most operations that an assertion may ask for.
_MOST_OPERATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Code:
    """The code of an answer, with its settings for all tests."""

    source: str
    language: Language
    files: Mapping[str, str]  # the stand-ins: relative path to source
    entry_point: str | None
    argv: tuple[str, ...]  # the program that runs it, with its options; empty if a warm interpreter does


def run_test(test: CodeTestStruct, code: Code, sandbox: Sandbox, *, trust_own_methods: bool = False) -> CodeTestResult:
    """Run one test of an answer's code, and return its result; raise a SandboxError if the sandbox broke.

    A test that nothing but methods of the answer's own decides passes only if they are trusted.
    """
    language, entry_point, limits = code.language, code.entry_point, sandbox.limits
    job = job_of(test, code.source, code.files, entry_point, limits.result // 2)
    stdin = job["stdin"] if code.argv else None
    verdict = None

    def without_result(ended: Ended, prefix: str = "") -> CodeTestResult:
        status, message = _without_result(test, ended, limits)
        return failed_test(test, status, prefix + message, language)

    with sandbox.session(test.timeout, language.script(), code.argv, stdin) as session:
        answer = _AnswerProcess(session)
        try:
            reply = answer.run(job, inputs_of(test, entry_point))
            if test.assertion is not None and reply.kind in ("loaded", "returned"):
                verdict = _verdict(test, code, sandbox, answer, reply)
            answer.ask({"do": "end"}, "end")
            ended = session.finish()
            if ended.how == "exited" and not ended.code:
                reply = replace(reply, attempts=answer.attempts)
                found = result_of(test, reply, entry_point, language, verdict, trust_own_methods)
            else:
                found = without_result(ended)
        except StoppedError:  # it ended by itself, or at a limit
            ended = session.stop(kill=False)
            found = without_result(ended)
        except (ForgedError, UnusableResultError) as error:
            ended = session.stop()
            found = forged_result(test, str(error), language)
        except _NoMemoryError as error:
            ended = session.stop()
            found = result_of(test, error.reply, entry_point, language)
        except _AssertionEndedError as error:
            ended = session.stop()
            waited = ended.how == "stopped"  # rather than end by itself
            found = without_result(error.ended, "the assertion: ") if waited else without_result(ended)
    measured = {"duration_ms": round(ended.seconds * 1000, 3), "printed": storable(ended.printed) or None}
    return found.model_copy(update=measured)


def _without_result(test: CodeTestStruct, ended: Ended, limits: SandboxLimits) -> tuple[ExecutionStatus, str]:
    """Return the status and the message of a test that ended without a result."""
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


class _NoMemoryError(Exception):
    """The code ran out of memory during an operation, and can do no more."""

    def __init__(self, reply: CallReply) -> None:
        self.reply = reply


class _AssertionEndedError(Exception):
    """The process of an assertion ended before its verdict."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended


@dataclass
class _AnswerProcess:
    """The process of an answer's code."""

    session: WorkerSession
    attempts: tuple[str, ...] = ()

    def ask(self, request: Mapping[str, Any], what: str) -> CallReply:
        """Send a request under a new number, and return the reply."""
        number = secrets.token_hex(16)
        line = json.dumps({"id": number, **request}).encode()
        reply = read_reply(self.session.ask(line), number, what)
        self.attempts = reply.attempts or self.attempts
        return reply

    def run(self, job: Mapping[str, Any], inputs: tuple[Any] | None) -> CallReply:
        """Load the code and, if that succeeded and there are inputs, call its entry point."""
        reply = self.ask(job, "load" if job["entry_point"] is not None else "run")
        if reply.kind != "loaded" or inputs is None:
            return reply
        return self.ask({"do": "call", "inputs": inputs[0]}, "call")

    def operate(self, asked: Mapping[str, Any]) -> bytes:
        """Do an operation for an assertion, and return the line with its result."""
        fields = {name: asked[name] for name in ("operation", "arguments", "named")}
        reply = self.ask({"do": "operate", **fields}, "operate")
        if reply.kind == "memory":
            raise _NoMemoryError(reply)
        result = {"kind": reply.kind, "message": reply.message}
        if reply.kind == "returned":
            result["value"] = reply.written
        elif reply.written is not None:
            result["error"] = reply.written
        return json.dumps(result).encode()


def _verdict(
    test: CodeTestStruct, code: Code, sandbox: Sandbox, answer: _AnswerProcess, reply: CallReply
) -> AssertionVerdict:
    """Evaluate an assertion in its own process, which asks the code for operations."""
    job: dict[str, Any] = {
        "id": 0,
        "files": dict(code.files),
        "assertion": test.assertion,
        "entry_point": code.entry_point,
        "program": code.entry_point is None,
        "limit": sandbox.limits.result // 2,
    }
    if reply.kind == "returned":
        job["result"] = reply.written
    script = code.language.script(assertion=True)
    argv = (code.argv[0], *code.language.asserter_flags, *code.argv[1:]) if code.argv else ()
    with sandbox.session(test.timeout, script, argv, assertion=True) as session:
        line = _exchanged(session, session.ask, json.dumps(job).encode())
        for _ in range(_MOST_OPERATIONS):
            request = parsed(line)
            if request["kind"] != "ask":
                own = request.get("own")
                return AssertionVerdict(request["kind"], storable(str(request["message"])), own and storable(str(own)))
            line = _exchanged(session, session.respond, answer.operate(request))
    return AssertionVerdict("failed", f"the assertion asks the code for more than {_MOST_OPERATIONS} things")


def _exchanged(session: WorkerSession, send: Callable[[bytes], bytes], line: bytes) -> bytes:
    """Send a line to the process of an assertion, and return the line that it sends next."""
    try:
        return send(line)
    except StoppedError:
        raise _AssertionEndedError(session.stop(kill=False)) from None
    except ForgedError:
        raise _AssertionEndedError(session.stop()) from None
