"""Sessions of OpenCode: what ``opencode export`` and ``opencode run --format json`` print.

Source: anomalyco/opencode, ``session/message-v2.ts`` (messages and their parts), ``cli/cmd/export.ts`` and
``cli/cmd/run.ts``. OpenCode keeps sessions in a database or in a file for each part; its export puts one together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.agent_sessions import ABORTED, AgentSession, chunks, listed_files, shell_result
from graphkit.plugins.logs.atif import SUBAGENT
from graphkit.plugins.logs.conversations import added, refuse_unnamed
from graphkit.plugins.logs.model_messages import Call, Message, Result, cut_short
from graphkit.plugins.logs.payloads import Wrapped, at, count_unread, each_unwrapped, holds, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, Values
from graphkit.records.words import shortened

#: The events that ``run`` prints: those with a part, and others.
_PARTS = ("text", "tool_use", "step_start", "step_finish", "reasoning")
_EVENTS = (*_PARTS, "error", "done")

#: The parts that say nothing of what was opened: thoughts, marks of steps, states of the files, agents that were named.
_BESIDE = ("reasoning", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction")

_OF_BESIDE = (
    *("id", "sessionID", "messageID", "type", "text", "metadata", "time", "snapshot", "reason", "cost", "tokens"),
    *("hash", "files", "name", "source", "attempt", "error", "auto"),
)

_INFO = (
    *("id", "sessionID", "role", "time", "parentID", "modelID", "providerID", "mode", "agent", "path", "summary"),
    *("cost", "tokens", "finish", "error", "model", "system", "tools", "variant", "format"),
)
_FOUND_IN = re.compile(r"^(/.{1,4096}):$", re.MULTILINE)


class OpenCodeReader(Reader):
    """Reads sessions: one a document, or the events of one or several."""

    name = "opencode"
    priority = 126
    beside = (
        *("time", "title", "mode", "agent", "providerID", "projectID", "slug", "share", "revert", "permission"),
        *(
            "messageID",
            "variant",
            "snapshot",
            "hash",
            "truncated",
            "preview",
            "loaded",
            "todos",
            "synthetic",
            "ignored",
            "summary",
        ),
    )
    title = "OpenCode: opencode export, and the output of opencode run --format json"
    lacks = (
        *LACKS,
        "Its grep and glob name the files that they found.",
        "Subagents have sessions of their own, which are exported apart.",
        "A session knows no question's id: it is known by the prompt, or by the file's name; run --format json logs no "
        "prompt and no model.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_event(value) or _is_message(value) or holds(value, _is_export)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        runs: dict[str, _OpenCodeRun] = {}
        sessions: dict[str | None, Wrapped] = {}  # of which the messages stand alone, as the server lists them
        for where, value in values:
            if _is_message(value):
                session = identifier(value["info"].get("sessionID"))
                listed = sessions.setdefault(session, Wrapped(LoggedAnswer(where), {"info": {}, "messages": []}))
                listed.payload["messages"].append(value)
                continue
            if _is_event(value):
                run = runs.setdefault(value["sessionID"], _OpenCodeRun(LoggedAnswer(where)))
                run.events.append(value)
                if options.question_key is not None and run.answer.question is None:
                    run.answer.question = identifier(at(value, options.question_key))
                continue
            for one in each_unwrapped(value, _is_export, options, where):
                yield _exported(one, unread)
        for one in sessions.values():
            yield _exported(one, unread)
        first = next((run.answer.where for run in runs.values()), "")
        refuse_unnamed((run.answer.question for run in runs.values()), options.question_key, first)
        for run in runs.values():
            yield _printed(run, unread)


@dataclass(slots=True)
class _OpenCodeRun:
    """The events of a session."""

    answer: LoggedAnswer
    events: list[dict[str, Any]] = field(default_factory=list)


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in _EVENTS or not isinstance(value.get("sessionID"), str):
        return False
    return value["type"] not in _PARTS or isinstance(value.get("part"), dict)


def _is_export(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
        return False
    messages = value.get("messages")
    return isinstance(messages, list) and (not messages or any(map(_is_message, messages[:5])))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def _exported(wrapped: Wrapped, unread: Counter[str]) -> LoggedAnswer:
    answer, export = wrapped.logged(unread), wrapped.payload
    if export is None:
        return answer
    count_unread(export, ("info", "messages", "todos", *wrapped.names), unread)
    session = AgentSession()
    session.entered(export["info"].get("directory"))
    for one in export["messages"]:
        if not _is_message(one):
            unread["messages that have no parts"] += 1
            continue
        info = one["info"]
        count_unread(info, _INFO, unread, "messages.info.")
        _add(info, one["parts"], session, unread)
    session.into(answer)
    return answer


def _printed(run: _OpenCodeRun, unread: Counter[str]) -> LoggedAnswer:
    """Return the answer of a session of which ``run`` printed the parts, those of a reply one after the other."""
    session = AgentSession()
    replies: dict[Any, list[dict[str, Any]]] = {}  # in the order in which they ended, and errors among them
    for place, event in enumerate(run.events):
        if event["type"] in _PARTS:
            reply = identifier(event["part"].get("messageID"))
            replies[reply] = replies.pop(reply, [])
            replies[reply].append(event)
        elif event["type"] == "error":
            replies[place] = [event]
    for events in replies.values():
        if events[0]["type"] == "error":
            _fail(object_of(events[0].get("error")), session)
            continue
        parts = [event["part"] for event in events]
        info = {"role": "assistant", "time": {"completed": events[-1].get("timestamp")}}
        _add(info, parts, session, unread)
    session.begun = microseconds_of(run.events[0].get("timestamp"), 1e3)
    session.into(run.answer)
    return run.answer


def _add(info: dict[str, Any], parts: list[Any], session: AgentSession, unread: Counter[str]) -> None:
    """Add a message with its parts."""
    times, error = object_of(info.get("time")), object_of(info.get("error"))
    folder = session.entered(object_of(info.get("path")).get("cwd"))
    role = text(info.get("role"))
    message = Message(role if role in ("user", "assistant") else None)
    before: list[str] = []  # a call
    for part in objects_of(parts):
        kind = text(part.get("type")) or ""
        if kind == "text":
            words = text(part.get("text"))
            if words is not None and not (info.get("summary") is True or part.get("synthetic") or part.get("ignored")):
                message.texts.append(words)
        elif kind == "tool":
            before, message.texts = [*before, *message.texts], []
            _use(part, message, folder, session)
        elif kind == "file":
            unread["files that the user attached"] += 1
        elif kind == "subtask":
            session.notes[SUBAGENT] = None
        elif kind in _BESIDE:
            kept(part)
            count_unread(part, _OF_BESIDE, unread, "messages.parts.")
        else:
            unread[f"parts of the type {shortened(kind)}"] += 1
    message.ends_in_words = message.text is not None
    message.texts = message.texts or before
    if role == "assistant":
        message.model = text(info.get("modelID"))
        ended = [one for one in (info, *objects_of(parts)) if one is info or one.get("type") == "step-finish"]
        message.cut = cut_short(*({"finish_reason": one.get("finish", one.get("reason"))} for one in ended))
        for one in ended[:1] if "tokens" in info or "cost" in info else ended[1:]:
            _add_costs(one, message, session, unread)
    session.add(message, microseconds_of(times.get("completed", times.get("created")), 1e3))
    if error:
        _fail(error, session)


def _use(part: dict[str, Any], message: Message, folder: str | None, session: AgentSession) -> None:
    """Add the call of a tool, with its result if it has ended."""
    state, name, key = object_of(part.get("state")), text(part.get("tool")) or "unnamed", part.get("callID")
    given, metadata, status = object_of(state.get("input")), object_of(state.get("metadata")), state.get("status")
    message.calls.append(Call(name, given, key, session.entered(given.get("workdir")) or folder))
    if name == "task":
        session.notes[SUBAGENT] = None
    if status == "error":
        message.results.append(Result(state.get("error"), key, True))
    elif status == "completed":
        output, code = state.get("output"), metadata.get("exit")
        failed = name == "bash" and isinstance(code, int) and code != 0
        gave = shell_result(output, code) if name == "bash" else output
        message.results.append(Result(gave, key, failed, _found(name, output)))


def _found(name: str, output: Any) -> list[LoggedChunk] | None:
    """Return the files that a search found."""
    if name == "grep" and isinstance(output, str) and (files := _FOUND_IN.findall(output)):
        return chunks(files)
    return (
        listed_files(output.split("\n\n(Results ")[0]) if name in ("glob", "grep") and isinstance(output, str) else None
    )


def _add_costs(given: dict[str, Any], message: Message, session: AgentSession, unread: Counter[str]) -> None:
    """Add the cost and the tokens of a reply, with those of the prompt that a cache had or keeps."""
    used = object_of(given.get("tokens"))
    cache = object_of(used.get("cache"))
    prompt = [whole(one) for one in (used.get("input"), cache.get("read"), cache.get("write"))]
    known = [one for one in prompt if one is not None]
    if used.get("reasoning"):
        unread["tokens.reasoning"] += 1
    message.prompt_tokens = added(message.prompt_tokens, sum(known) if known else None)
    message.output_tokens = added(message.output_tokens, whole(used.get("output")))
    session.add_usage(None, None, number(given.get("cost")))


def _fail(error: dict[str, Any], session: AgentSession) -> None:
    name = text(error.get("name"))
    if name == "MessageAbortedError":
        session.notes[ABORTED] = None
        return
    session.fail(object_of(error.get("data")).get("message") or error.get("message") or name, name)
