"""Talks with the process of an answer's code and, where a test has an assertion, with the process of that.

The process of the code is asked one thing at a time, each by a number that is drawn anew and is in the reply: to load
the code, to call the entry point, to do what the assertion asks for, and to end. The assertion's process has never seen
the code of the answer; what passes between both passes through here, as data that is checked.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphkit.execution.jobs import CallReply, JobVerdict, inputs_of, job_of, read_reply, storable
from graphkit.execution.languages import Language
from graphkit.execution.returned_values import UnusableResultError, parsed
from graphkit.execution.sandbox import Sandbox
from graphkit.execution.workers import Ended, ForgedError, StoppedError, WorkerSession
from graphkit.records.structs import CodeTestStruct

#: How many things an assertion may ask of the code.
_MOST_QUESTIONS = 100_000


@dataclass(frozen=True, slots=True)
class Code:
    """The code of an answer, with what belongs to it whatever the test.

    Attributes
    ----------
    files
        The stand-ins, laid out.
    argv
        The program that runs it, with its options; empty where a warm interpreter does.
    """

    source: str
    language: Language
    files: Mapping[str, str]
    entry_point: str | None
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExchangeOutcome:
    """What came of a test.

    Attributes
    ----------
    reply
        The last that the code's process replied to; None where it ended without.
    verdict
        Of the assertion, where one was evaluated.
    forged
        Why something that came out wasn't a reply to what was asked.
    ended, assertion_ended
        How the code's process ended and, where it ended before its verdict, that of the assertion.
    """

    ended: Ended
    reply: CallReply | None = None
    verdict: JobVerdict | None = None
    forged: str | None = None
    assertion_ended: Ended | None = None


def exchange(test: CodeTestStruct, code: Code, sandbox: Sandbox) -> ExchangeOutcome:
    """Run one test, and return what came of it.

    Raises
    ------
    SandboxError
        The sandbox broke.
    """
    job = job_of(test, code.source, code.files, code.entry_point, sandbox.limits.result // 2)
    stdin = job["stdin"] if code.argv else None
    verdict, assertion_ended = None, None
    with sandbox.session(test.timeout, code.language.script(), code.argv, stdin) as session:
        answer = _Answer(session)
        try:
            reply = answer.ran(job, inputs_of(test, code.entry_point))
            if test.assertion is not None and reply.kind in ("loaded", "returned"):
                verdict = _verdict(test, code, sandbox, answer, reply)
            answer.ask({"do": "end"}, "end")
            ended = session.finish()
        except StoppedError:  # it ends by itself, or by its limits
            return ExchangeOutcome(session.stop(kill=False))
        except (ForgedError, UnusableResultError) as error:
            return ExchangeOutcome(session.stop(), forged=str(error))
        except _OverError as error:
            return ExchangeOutcome(session.stop(), error.reply)
        except _AssertionEndedError as error:
            ended, assertion_ended = session.stop(), error.ended
    if ended.how != "exited" or ended.code:
        return ExchangeOutcome(ended)
    return ExchangeOutcome(ended, replace(reply, attempts=answer.attempts), verdict, None, assertion_ended)


class _OverError(Exception):
    """The code can't be asked for more."""

    def __init__(self, reply: CallReply) -> None:
        super().__init__(reply.kind)
        self.reply = reply


class _AssertionEndedError(Exception):
    """The process of an assertion ended before its verdict."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.how)
        self.ended = ended


class _Answer:
    """The process of an answer's code."""

    def __init__(self, session: WorkerSession) -> None:
        self.session = session
        self.attempts: tuple[str, ...] = ()

    def ask(self, request: Mapping[str, Any], what: str) -> CallReply:
        """Send a request under a new number, and return the reply to it."""
        number = secrets.token_hex(16)
        line = json.dumps({"id": number, **request}).encode()
        reply = read_reply(self.session.ask(line), number, what)
        self.attempts = reply.attempts or self.attempts
        return reply

    def ran(self, job: Mapping[str, Any], inputs: tuple[Any] | None) -> CallReply:
        """Load the code and, where that went well and there are inputs, call its entry point."""
        reply = self.ask(job, "load" if job["entry_point"] is not None else "run")
        if reply.kind != "loaded" or inputs is None:
            return reply
        return self.ask({"do": "call", "inputs": inputs[0]}, "call")

    def operate(self, asked: Mapping[str, Any]) -> bytes:
        """Do what an assertion asks for, and return what it is told."""
        fields = {name: asked[name] for name in ("operation", "arguments", "named")}
        reply = self.ask({"do": "operate", **fields}, "operate")
        if reply.kind == "memory":
            raise _OverError(reply)
        written = {"value" if reply.kind == "returned" else "error": reply.written}
        if reply.written is None and reply.kind != "returned":
            written = {}
        return json.dumps({"kind": reply.kind, "message": reply.message, **written}).encode()


def _verdict(test: CodeTestStruct, code: Code, sandbox: Sandbox, answer: _Answer, reply: CallReply) -> JobVerdict:
    """Evaluate an assertion in a process of its own, which asks that of the code for what it needs."""
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
    with sandbox.session(test.timeout, code.language.script(judges=True), code.argv, judges=True) as session:
        line = _told(session, session.ask, json.dumps(job).encode())
        for _ in range(_MOST_QUESTIONS):
            said = parsed(line)
            if said["kind"] != "ask":
                return JobVerdict(said["kind"] == "held", storable(str(said["message"])))
            line = _told(session, session.tell, answer.operate(said))
    return JobVerdict(False, f"the assertion asks the code for more than {_MOST_QUESTIONS} things")


def _told(session: WorkerSession, say: Callable[[bytes], bytes], line: bytes) -> bytes:
    """Say a line to the process of an assertion, and return the line that comes in reply."""
    try:
        return say(line)
    except StoppedError:
        raise _AssertionEndedError(session.stop(kill=False)) from None
    except ForgedError:
        raise _AssertionEndedError(session.stop()) from None
