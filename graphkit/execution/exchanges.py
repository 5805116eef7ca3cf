"""The exchange of requests and replies with the process of an answer's code, and with that of an assertion.

The process of the code gets one request at a time: to load the code, to call the entry point, to do an operation for
the assertion, or to end. Each request has a new random number, which the reply must repeat. The process of the
assertion never sees the code. All data between both passes through here, and is checked.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphkit.execution.jobs import AssertionVerdict, CallReply, inputs_of, job_of, read_reply, storable
from graphkit.execution.languages import Language
from graphkit.execution.returned_values import UnusableResultError, parsed
from graphkit.execution.sandbox import Sandbox
from graphkit.execution.workers import Ended, ForgedError, StoppedError, WorkerSession
from graphkit.records.structs import CodeTestStruct

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


@dataclass(frozen=True, slots=True)
class ExchangeOutcome:
    """The outcome of a test.

    Attributes
    ----------
    ended, assertion_ended
        How the code's process ended and, if it ended before its verdict, that of the assertion.
    """

    ended: Ended
    reply: CallReply | None = None  # the reply to the last call or load; None if the process ended first
    verdict: AssertionVerdict | None = None  # the verdict of the assertion, if one was evaluated
    forged: str | None = None  # why some output wasn't a reply to a request
    assertion_ended: Ended | None = None


def exchange(test: CodeTestStruct, code: Code, sandbox: Sandbox) -> ExchangeOutcome:
    """Run one test, and return its outcome; raise a SandboxError if the sandbox broke."""
    job = job_of(test, code.source, code.files, code.entry_point, sandbox.limits.result // 2)
    stdin = job["stdin"] if code.argv else None
    verdict, assertion_ended = None, None
    with sandbox.session(test.timeout, code.language.script(), code.argv, stdin) as session:
        answer = _AnswerProcess(session)
        try:
            reply = answer.run(job, inputs_of(test, code.entry_point))
            if test.assertion is not None and reply.kind in ("loaded", "returned"):
                verdict = _verdict(test, code, sandbox, answer, reply)
            answer.ask({"do": "end"}, "end")
            ended = session.finish()
        except StoppedError:  # it ended by itself, or at a limit
            return ExchangeOutcome(session.stop(kill=False))
        except (ForgedError, UnusableResultError) as error:
            return ExchangeOutcome(session.stop(), forged=str(error))
        except _NoMemoryError as error:
            return ExchangeOutcome(session.stop(), error.reply)
        except _AssertionEndedError as error:
            ended, assertion_ended = session.stop(), error.ended
    if ended.how != "exited" or ended.code:
        return ExchangeOutcome(ended)
    return ExchangeOutcome(ended, replace(reply, attempts=answer.attempts), verdict, None, assertion_ended)


class _NoMemoryError(Exception):
    """The code ran out of memory during an operation, and can do no more."""

    def __init__(self, reply: CallReply) -> None:
        super().__init__(reply.kind)
        self.reply = reply


class _AssertionEndedError(Exception):
    """The process of an assertion ended before its verdict."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.how)
        self.ended = ended


class _AnswerProcess:
    """The process of an answer's code."""

    def __init__(self, session: WorkerSession) -> None:
        self.session = session
        self.attempts: tuple[str, ...] = ()

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
    with sandbox.session(test.timeout, script, code.argv, assertion=True) as session:
        line = _exchanged(session, session.ask, json.dumps(job).encode())
        for _ in range(_MOST_OPERATIONS):
            request = parsed(line)
            if request["kind"] != "ask":
                return AssertionVerdict(request["kind"] == "held", storable(str(request["message"])))
            line = _exchanged(session, session.respond, answer.operate(request))
    return AssertionVerdict(False, f"the assertion asks the code for more than {_MOST_OPERATIONS} things")


def _exchanged(session: WorkerSession, send: Callable[[bytes], bytes], line: bytes) -> bytes:
    """Send a line to the process of an assertion, and return the line that it sends next."""
    try:
        return send(line)
    except StoppedError:
        raise _AssertionEndedError(session.stop(kill=False)) from None
    except ForgedError:
        raise _AssertionEndedError(session.stop()) from None
