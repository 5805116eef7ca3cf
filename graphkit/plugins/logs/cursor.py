"""Sessions of Cursor: what ``cursor-agent --output-format stream-json`` prints, and its transcripts.

Sources: Cursor's page of its output formats; harbor's converter (``agents/installed/cursor_cli.py``) and agentstudio's
schema of the tools (``CURSOR_CLI_TOOLS_SCHEMA.md``), which were made from what it printed. Transcripts are
``agent-transcripts/*/*.jsonl`` below ``~/.cursor/projects``; they have calls without results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.agent_sessions import ABORTED, ENDED, AgentSession, chunks
from graphkit.plugins.logs.conversations import Conversation, refuse_unnamed, thread_of
from graphkit.plugins.logs.model_messages import Call, Message, Result, parse_message
from graphkit.plugins.logs.payloads import QUESTION_IDS, Wrapped, count_unread, each_unwrapped, holds, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS, Trail
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, Values
from graphkit.records.words import shortened

WITHOUT_RESULTS = "a transcript has no results of tools: whether a call failed, and what a search found, isn't known"

#: Lines of the connection.
_BESIDE = ("connection", "retry", "system")

#: The keys of a thought, and of a question to the user.
_THOUGHT = ("type", "subtype", "text", "timestamp_ms", "session_id", "model_call_id", "query_type", "query", "response")

#: Around what the user typed, beside what Cursor adds to it.
_TYPED = ("<user_query>", "</user_query>")
_SEARCHED = re.compile(r'<search_result path="([^"]{1,4096})"')
_SUFFIX = "ToolCall"

#: The results of a tool beside its success and its failure.
_NO_RESULTS = ("isBackground",)


class CursorReader(Reader):
    """Reads sessions, of which a file may hold several."""

    name = "cursor"
    priority = 129
    beside = (
        *("apiKeySource", "permissionMode", "duration_api_ms", "totalLines", "totalChars", "isEmpty", "exceededLimit"),
        *("fileSize", "readRange", "model_call_id", "executionTime", "interleavedOutput", "toolCallId", "subtype"),
    )
    title = "Cursor: the output of cursor-agent --output-format stream-json, and agent transcripts"
    lacks = (
        *LACKS,
        "Costs aren't logged. A transcript has no results of tools, no model, tokens and times.",
        "A session knows no question's id: it is known by the prompt, or by the file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_line(value) or holds(value, _is_session, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        sessions: dict[tuple[str | None, str | None], _CursorSession] = {}
        for where, value in values:
            if _is_line(value) or _is_beside(value):
                question, name, _ = thread_of(value, QUESTION_IDS, options.question_key)
                session = sessions.setdefault(
                    (question, name), _CursorSession(Wrapped(LoggedAnswer(where, question), []))
                )
                session.lines.append(value)
                continue
            for one in each_unwrapped(value, _is_session, options, where, lists=True):
                lines = [line for line in one.payload or () if _is_line(line) or _is_beside(line)]
                yield _answer(_CursorSession(one, lines), unread)
        first = next((found.wrapped.answer.where for found in sessions.values()), "")
        refuse_unnamed((question for question, _ in sessions), options.question_key, first)
        for found in sessions.values():
            yield _answer(found, unread)


@dataclass(slots=True)
class _CursorSession:
    """The lines of a session, with what stands around them."""

    wrapped: Wrapped
    lines: list[dict[str, Any]] = field(default_factory=list)


def _is_line(value: Any) -> bool:
    return _is_transcript(value) or _is_streamed(value)


def _is_transcript(value: Any) -> bool:
    """Return whether a value is a line of a transcript: a role with a message that has only blocks."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "turn_ended":
        return isinstance(value.get("status"), str)
    message = value.get("message")
    roles = value.get("role") in ("user", "assistant") and "type" not in value
    return roles and isinstance(message, dict) and "role" not in message and isinstance(message.get("content"), list)


def _is_streamed(value: Any) -> bool:
    """Return whether a value is a line that the command prints. Claude Code's are alike, but have a ``uuid``."""
    if not isinstance(value, dict) or not isinstance(value.get("session_id"), str) or "uuid" in value:
        return False
    kind = value.get("type")
    if kind == "tool_call":
        return isinstance(value.get("tool_call"), dict)
    if kind in ("user", "assistant"):
        message = value.get("message")
        return isinstance(message, dict) and "id" not in message and "parent_tool_use_id" not in value
    if kind == "system":
        return value.get("subtype") == "init" and "permissionMode" in value and "tools" not in value
    if kind == "result":
        return "result" in value and not value.keys() & {"num_turns", "total_cost_usd"}
    return kind == "interaction_query" or (kind == "thinking" and isinstance(value.get("subtype"), str))


def _is_beside(value: Any) -> bool:
    """Return whether a value may be a further line of a session, such as that a connection was lost."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("session_id"), str)


def _is_session(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_line, value[:5]))


def _answer(found: _CursorSession, unread: Counter[str]) -> LoggedAnswer:
    answer = found.wrapped.logged(unread)
    if not found.lines:
        return answer
    written = any(map(_is_transcript, found.lines))
    session = AgentSession(Conversation(Trail(each_result=not written)))
    if written:
        session.notes[WITHOUT_RESULTS] = None
    for line in found.lines:
        if _is_transcript(line):
            _transcribed(line, session)
        elif _is_streamed(line):
            _streamed(line, session, unread)
        elif line["type"] in _BESIDE:
            kept(line)
        else:
            unread[f"lines of the type {shortened(line['type'])}"] += 1
    session.into(answer)
    return answer


def _typed(message: Message) -> Message:
    """Return a message of the user without what Cursor wrote around it."""
    typed = []
    _, opens, rest = (message.text or "").partition(_TYPED[0])
    while opens:
        words, closes, rest = rest.partition(_TYPED[1])
        typed += [words.strip()] if closes else []
        _, opens, rest = rest.partition(_TYPED[0])
    message.texts = typed or message.texts
    return message


def _transcribed(line: dict[str, Any], session: AgentSession) -> None:
    if line.get("type") == "turn_ended":
        if line["status"] != "success":
            session.notes[ABORTED if line["status"] == "aborted" else ENDED.format(shortened(line["status"]))] = None
        return
    message = parse_message({"role": line["role"], "content": line["message"]["content"]})
    for call in message.calls:
        call.id = None  # no result will come
    session.add(_typed(message) if message.role == "user" else message)


def _streamed(line: dict[str, Any], session: AgentSession, unread: Counter[str]) -> None:
    kind, time = line["type"], microseconds_of(line.get("timestamp_ms"), 1e3)
    if kind == "system":
        session.entered(line.get("cwd"))
        if (model := text(line.get("model"))) is not None:
            session.models[model] = None
    elif kind in ("user", "assistant"):
        if time is not None and "model_call_id" not in line:
            return  # a piece of a reply, which follows as a whole
        message = parse_message({"role": kind, "content": line["message"].get("content")})
        session.add(_typed(message) if message.role == "user" else message, time)
    elif kind == "tool_call":
        _use(line, session)
    elif kind in ("thinking", "interaction_query"):
        kept(line)
        count_unread(line, _THOUGHT, unread)
    elif kind == "result":
        used = object_of(line.get("usage"))
        counts = [whole(used.get(key)) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens")]
        known = [one for one in counts if one is not None]
        session.add_usage(sum(known) if known else None, whole(used.get("outputTokens")))
        session.latency_ms = number(line.get("duration_ms"))
        said = line.get("result")  # all that was said, joined
        if line.get("is_error") is True:
            session.fail(said, line.get("subtype"))


def _use(line: dict[str, Any], session: AgentSession) -> None:
    """Add a call when it starts, and its result when it is completed."""
    key, folder = line.get("call_id"), next(reversed(session.folders), None)
    for name in line["tool_call"].keys():  # noqa: SIM118 - going through the fields would take them all
        if not name.endswith(_SUFFIX) and name != "function":
            continue
        held = object_of(line["tool_call"].get(name))
        if key is None and line.get("subtype") == "started":
            continue  # it comes again with its result
        message = Message()
        called, arguments = name.removesuffix(_SUFFIX), held.get("args", held.get("arguments"))
        if name == "function":
            called = text(held.get("name")) or called
        elif called == "mcp":
            called = text(object_of(arguments).get("toolName")) or called
            arguments = object_of(arguments).get("args")
        own = session.entered(object_of(arguments).get("workingDirectory"))
        kept(arguments)
        if not session.began(key):
            message.calls.append(Call(called, arguments, key, own or folder))
        if line.get("subtype") == "completed" and "result" in held:
            message.results.append(_result(name.removesuffix(_SUFFIX), held.get("result"), key))
        session.add(message)


def _result(tool: str, result: Any, key: Any) -> Result:
    """Return the result of a tool: what it gave, or why it failed."""
    held = object_of(result)
    if "success" not in held:
        reasons = [kept(given) for name, given in held.items() if name not in _NO_RESULTS]
        said = next(
            (object_of(one).get("error") or object_of(one).get("errorMessage") or one for one in reasons), result
        )
        return Result(said, key, True)
    gave = held["success"]
    given = object_of(gave)
    if tool == "mcp":
        blocks = [
            {"type": "text", **block["text"]}
            for block in objects_of(given.get("content"))
            if isinstance(block.get("text"), dict)
        ]
        return Result(blocks or given.get("content"), key, given.get("isError") is True)
    if isinstance(given.get("content"), str):
        return Result(given["content"], key)
    failed = tool == "shell" and given.get("exitCode") not in (0, None)
    return Result(gave, key, failed, _found(tool, given))


def _found(tool: str, given: dict[str, Any]) -> list[LoggedChunk] | None:
    """Return the files that a search found."""
    if tool == "glob" and isinstance(given.get("files"), list):
        return chunks((one for one in given["files"] if text(one)), text(given.get("path")))
    if tool == "semSearch" and isinstance(given.get("results"), str):
        return chunks(_SEARCHED.findall(given["results"])) if _SEARCHED.search(given["results"]) else None
    if tool != "grep" or not isinstance(given.get("workspaceResults"), dict):
        return None
    found: list[LoggedChunk] = []
    for folder, results in given["workspaceResults"].items():
        content, files = (object_of(object_of(results).get(key)) for key in ("content", "files"))
        names = [text(one.get("file")) for one in objects_of(content.get("matches"))]
        names += [text(one) for one in files.get("files") or ()] if isinstance(files.get("files"), list) else []
        found += chunks((one.removeprefix("./") for one in names if one), folder)
    return found
