"""Sessions of GitHub Copilot CLI: ``events.jsonl`` below ``~/.copilot/session-state``, and ``--output-format json``.

Source: github/copilot-sdk, ``nodejs/src/generated/session-events.ts``, which has the type of each event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.agent_sessions import ABORTED, ENDED, AgentSession, as_inner, listed_files, shell_result
from graphkit.plugins.logs.atif import SUBAGENT_COSTS
from graphkit.plugins.logs.model_messages import Call, Message, Result, cut_short
from graphkit.plugins.logs.payloads import Wrapped, at, count_unread, each_unwrapped, holds, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import identifier, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.words import shortened

#: How the types of events begin.
_KINDS = (
    *("session", "user", "assistant", "tool", "subagent", "system", "hook", "permission", "model", "skill", "mcp"),
    *("user_input", "elicitation", "sampling", "external_tool", "command", "commands", "capabilities", "tool_search"),
    *("exit_plan_mode", "auto_mode_switch", "pending_messages", "session_limits_exhausted", "factory", "mcp_app"),
)

#: The events that are read. Of others, those that begin so say nothing of what was opened.
_READ = (
    *("session.start", "session.resume", "session.error", "session.shutdown", "abort"),
    *("user.message", "assistant.message", "assistant.usage", "tool.execution_start", "tool.execution_complete"),
)
_BESIDE = (
    *("session.", "assistant.", "hook.", "permission.", "system.", "subagent.", "user_input.", "elicitation."),
    *("tool.execution_p", "tool.user_requested", "command", "capabilities.", "pending_messages.", "tool_search."),
    *("exit_plan_mode.", "auto_mode_switch.", "mcp.", "model.", "skill.", "session_limits_exhausted.", "result"),
)

#: The keys around the data of an event.
_EVENT = ("type", "data", "id", "parentId", "timestamp", "ephemeral", "agentId")

_SHELLS = ("bash", "powershell", "shell", "local_shell")
_EXIT = re.compile(r"\n?<[^<>\n]{0,99}\b(?:exited|completed) with exit code (-?\d{1,9})>\s{0,9}$")


class CopilotReader(Reader):
    """Reads sessions, of which a file may hold several, one after the other."""

    name = "copilot"
    priority = 125
    beside = (
        *("messageId", "interactionId", "producer", "copilotVersion", "startTime", "transformedContent", "agentMode"),
        *("reasoningText", "reasoningOpaque", "encryptedContent", "toolTelemetry", "detailedContent", "mcpServerName"),
        *("toolTitle", "intentionSummary", "apiCallId", "phase", "selectedModel", "reasoningEffort", "branch"),
        *("gitRoot", "repository", "repositoryHost", "hostType", "headCommit", "baseCommit", "alreadyInUse"),
        *("remoteSteerable",),
    )
    title = "GitHub Copilot CLI: session files (events.jsonl), and the output of --output-format json"
    lacks = (
        *LACKS,
        "What glob and grep found is known if they list files or lines of files.",
        "Costs aren't logged, and the tokens of prompts only when a session is shut down.",
        "A session knows no question's id: it is known by the prompt, or by the file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_event(value) or holds(value, _is_session, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        held: Wrapped | None = None
        for where, value in values:
            if not _is_event(value) and not _is_beside(value):
                for one in each_unwrapped(value, _is_session, options, where, lists=True):
                    yield _answer(one, unread)
                continue
            if held is None or (value["type"] == "session.start" and held.payload):
                if held is not None:
                    yield _answer(held, unread)
                held = Wrapped(LoggedAnswer(where), [])
            held.payload.append(value)
            if options.question_key is not None and held.answer.question is None:
                held.answer.question = identifier(at(value, options.question_key))
        if held is not None:
            yield _answer(held, unread)


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    kind = value["type"]
    if kind == "result":
        return "exitCode" in value and isinstance(value.get("sessionId"), str)
    known = kind == "abort" or ("." in kind and kind.partition(".")[0] in _KINDS)
    return known and isinstance(value.get("data"), dict) and isinstance(value.get("timestamp"), str) and "id" in value


def _is_beside(value: Any) -> bool:
    """Return whether a value may be a further event of a session."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("data"), dict)


def _is_session(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_event, value[:5]))


def _answer(wrapped: Wrapped, unread: Counter[str]) -> LoggedAnswer:
    answer = wrapped.logged(unread)
    if not wrapped.payload:
        return answer
    session = AgentSession()
    asked: dict[str, str] = {}
    for event in wrapped.payload:
        if not _is_event(event) and not _is_beside(event):
            unread["lines that are no event"] += 1
        elif event["type"] in _READ:
            _follow(event, event["data"], session, asked, unread)
        elif event["type"] == "result":
            if event["exitCode"] not in (0, None):
                session.notes[ENDED.format(f"exit code {shortened(str(event['exitCode']))}")] = None
        elif event["type"].startswith(_BESIDE):
            kept(event)
            count_unread(event, _EVENT, unread)
        else:
            unread[f"events of the type {shortened(event['type'])}"] += 1
    session.into(answer)
    return answer


def _follow(
    event: dict[str, Any], data: dict[str, Any], session: AgentSession, asked: dict[str, str], unread: Counter[str]
) -> None:
    """Add an event to its session."""
    kind, time = event["type"], microseconds_of(event.get("timestamp"))
    inner = any(text(one) is not None for one in (event.get("agentId"), data.get("parentToolCallId")))
    if inner:
        session.notes[SUBAGENT_COSTS] = None
    if kind in ("session.start", "session.resume"):
        session.entered(object_of(data.get("context")).get("cwd"))
    elif kind == "session.error":
        session.fail(data.get("message"), data.get("errorType"))
    elif kind == "abort":
        session.notes[ABORTED] = None
    elif kind == "session.shutdown":
        _total(data, session)
    elif kind == "assistant.usage":
        session.add_usage(whole(data.get("inputTokens")), None)
        session.add(Message(cut=cut_short({"finish_reason": data.get("finishReason")})))
    elif kind == "user.message":
        unread.update("files that the user attached" for _ in objects_of(data.get("attachments")))
        typed = data.get("source") in (None, "user") and data.get("isAutopilotContinuation") is not True
        words = text(data.get("content"))
        message = Message("user", [words] if words and typed else [])
        session.add(as_inner(message) if inner else message, time)
    elif kind == "assistant.message":
        _reply(data, session, asked, inner, time)
    elif kind == "tool.execution_start":
        _asked(data.get("toolName"), data, session, asked)
    else:
        session.add(Message(results=[_result(data, asked)]))


def _reply(data: dict[str, Any], session: AgentSession, asked: dict[str, str], inner: bool, time: int | None) -> None:
    words = text(data.get("content"))
    message = Message("assistant", [words] if words else [], model=text(data.get("model")))
    message.output_tokens = whole(data.get("outputTokens"))
    session.add(as_inner(message) if inner else message, time)
    for one in objects_of(data.get("toolRequests")):
        _asked(one.get("name"), one, session, asked)


def _asked(name: Any, given: dict[str, Any], session: AgentSession, asked: dict[str, str]) -> None:
    """Add a call once: a reply asks for it, and then it starts."""
    key = identifier(given.get("toolCallId"))
    if key is not None and key in asked:
        kept(given.get("arguments"))
        return
    called = text(given.get("mcpToolName")) or text(name) or "unnamed"
    if key is not None:
        asked[key] = called
    session.add(Message(calls=[Call(called, given.get("arguments"), key, next(reversed(session.folders), None))]))


def _result(data: dict[str, Any], asked: dict[str, str]) -> Result:
    key, gave, error = data.get("toolCallId"), object_of(data.get("result")), data.get("error")
    if data.get("success") is not True:
        return Result(object_of(error).get("message", error or gave.get("content")), key, True)
    content: Any = gave.get("structuredContent") or gave.get("content")
    name = asked.get(identifier(key) or "")
    if name in _SHELLS and isinstance(content, str) and (ended := _EXIT.search(content)) is not None:
        code = int(ended[1])
        return Result(shell_result(content[: ended.start()], code), key, code != 0)
    return Result(content, key, False, listed_files(content) if name in ("glob", "grep") else None)


def _total(data: dict[str, Any], session: AgentSession) -> None:
    """Replace the sums by those of the end."""
    used = [object_of(object_of(one).get("usage")) for one in object_of(data.get("modelMetrics")).values()]
    prompt = [count for one in used if (count := whole(one.get("inputTokens"))) is not None]
    output = [count for one in used if (count := whole(one.get("outputTokens"))) is not None]
    if prompt:
        session.prompt_tokens = sum(prompt)
    if output:
        session.output_tokens = sum(output)
    if (kind := text(data.get("shutdownType"))) not in (None, "routine"):
        session.notes[ENDED.format(shortened(str(data.get("errorReason") or kind)))] = None
