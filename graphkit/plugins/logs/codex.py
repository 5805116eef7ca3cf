"""Sessions of Codex: ``rollout-*.jsonl`` below ``~/.codex/sessions``, and what ``codex exec --json`` prints."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.conversations import Conversation, added
from graphkit.plugins.logs.model_messages import Call, Message, Result, parse_message, tokens_of
from graphkit.plugins.logs.payloads import Wrapped, at, each_unwrapped, holds, json_within
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import identifier, object_of, text
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.words import shortened

#: The types of lines that are read, and of those that say nothing of a question.
_ROLLOUT = ("session_meta", "response_item", "event_msg", "turn_context", "token_usage_record")
_ROLLOUT_BESIDE = ("compacted", "world_state", "ghost_snapshot", "inter_agent_communication")
_STREAM = ("thread.started", "item.started", "item.completed", "turn.completed", "turn.failed", "error")
_STREAM_BESIDE = ("turn.started", "item.updated")

#: The items of a response that are read, and those that are thoughts, searches of the web, or notes of Codex.
_ITEMS = ("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")
_ITEMS_BESIDE = ("reasoning", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction")
_STREAM_ITEMS_BESIDE = ("reasoning", "todo_list")

#: Texts that Codex writes for the user: the environment, instructions of a repository, and that a turn was aborted.
_NOT_SAID = re.compile(r"\s*(?:<[a-zA-Z]+(?:_[a-zA-Z]+)*>|# AGENTS\.md instructions)")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Delete|Add) File: (.{1,4096})$", re.MULTILINE)

ABORTED = "a turn was aborted"


class CodexReader(Reader):
    """Reads sessions, of which a file may hold several, one after the other."""

    name = "codex"
    priority = 127
    beside = (
        *("account_scoped", "runtime_workspace_roots", "originator", "cli_version", "source"),
        *("thread_source", "model_provider", "base_instructions", "history_mode", "context_window", "git"),
        *("turn_attribution", "root_turn_id", "model_context_window", "collaboration_mode_kind"),
        *("approval_policy", "approvals_reviewer", "permission_profile", "collaboration_mode"),
        *("multi_agent_version", "realtime_active", "summary", "sandbox_policy", "thread_settings"),
        *("process_id", "parsed_cmd", "last_token_usage", "last_usage_includes_reasoning", "rate_limits"),
        *("last_agent_message", "time_to_first_token_ms"),
    )
    title = "Codex: session files (rollout-*.jsonl), and the output of codex exec --json"
    lacks = (
        *LACKS,
        "What a search found isn't known: Codex searches with a shell.",
        "Costs aren't logged. Subagents have session files of their own.",
        "A session knows no question's id: it is known by the prompt, or by the file's name; exec --json logs no "
        "prompt, no model and no times.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_line(value) or holds(value, _is_session, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        held: _CodexSession | None = None
        for where, value in values:
            if not _is_line(value):
                for one in each_unwrapped(value, _is_session, options, where, lists=True):
                    session = _CodexSession(one)
                    session.lines += [line for line in one.payload or () if _is_line(line)]
                    yield _answer(session, unread)
                continue
            if held is None or held.ends_before(value):
                if held is not None:
                    yield _answer(held, unread)
                held = _CodexSession(Wrapped(LoggedAnswer(where), None))
            held.lines.append(value)
            if options.question_key is not None and held.wrapped.answer.question is None:
                held.wrapped.answer.question = identifier(at(value, options.question_key))
        if held is not None:
            yield _answer(held, unread)


@dataclass(slots=True)
class _CodexSession:
    """The lines of a session, with what stands around them."""

    wrapped: Wrapped
    lines: list[dict[str, Any]] = field(default_factory=list)

    def ends_before(self, line: dict[str, Any]) -> bool:
        """Return whether a line begins another session; that of a fork repeats the beginning of the former one."""
        if line["type"] == "thread.started":
            return True
        if line["type"] != "session_meta":
            return False
        own, later = (object_of(one.get("payload")) for one in (self.lines[0], line))
        return text(later.get("id")) not in (own.get("id"), own.get("forked_from_id"))


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    kind = value["type"]
    if isinstance(value.get("payload"), dict) and isinstance(value.get("timestamp"), str):
        return True
    if kind in ("item.completed", "item.started", "item.updated"):
        return isinstance(value.get("item"), dict)
    return (kind in (*_STREAM, *_STREAM_BESIDE)) and ("." in kind or "message" in value)


def _is_session(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_line, value[:5]))


@dataclass(slots=True)
class _CodexReading:
    """The content of a session's lines."""

    prompts: set[str]
    dialogue: Conversation = field(default_factory=Conversation)
    folder: str | None = None
    folders: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    model_calls: int = 0
    tokens: tuple[int | None, int | None] = (None, None)
    begun: int | None = None
    done: int | None = None
    failure: str | None = None
    #: The items that began and haven't ended, by their ids.
    begun_items: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def _answer(session: _CodexSession, unread: Counter[str]) -> LoggedAnswer:
    answer = session.wrapped.logged(unread)
    if not session.lines:
        return answer
    read = _CodexReading({prompt for line in session.lines for prompt in _prompts(line)})
    for line in session.lines:
        if line["type"] in _ROLLOUT and "payload" in line:
            _follow(line, line["payload"], read, unread)
        elif line["type"] in _STREAM:
            _stream(line, read, unread)
        elif line["type"] not in (*_ROLLOUT_BESIDE, *_STREAM_BESIDE):
            unread[f"lines of the type {shortened(line['type'])}"] += 1
    dialogue = read.dialogue
    for item in read.begun_items.values():  # that never ended
        if item.get("type") in ("command_execution", "mcp_tool_call"):
            shell = {"command": item.get("command")}
            name, given = item.get("tool", "shell"), item.get("arguments", shell)
            dialogue.add(Message(calls=[Call(name, given, item.get("id"), "")]))
    dialogue.into(answer, tools=dialogue.model_calls > 0)
    answer.folders = list(dict.fromkeys([*answer.folders, *read.folders]))
    answer.answer = answer.answer or dialogue.answer
    answer.notes += [*dialogue.notes, *read.notes]
    if answer.answer is None and read.failure is not None:
        answer.error, answer.error_type = read.failure, "api_error"
    answer.model = next(iter(read.models)) if len(read.models) == 1 else None
    answer.model_calls = read.model_calls or None
    answer.prompt_tokens, answer.output_tokens = read.tokens
    if answer.latency_ms is None and read.begun is not None and read.done is not None and read.done >= read.begun:
        answer.latency_ms = (read.done - read.begun) / 1000
    return answer


def _prompts(line: dict[str, Any]) -> Iterator[str]:
    """Yield what an event says that the user said."""
    event = object_of(line.get("payload")) if line["type"] == "event_msg" else {}
    if event.get("type") == "user_message" and (words := text(event.get("message"))) is not None:
        yield words
    item = object_of(event.get("item"))
    if item.get("type") == "UserMessage":
        yield from parse_message({"role": "user", "content": item.get("content")}).texts


# Session files -------------------------------------------------------------------------------------------------------


def _follow(line: dict[str, Any], payload: dict[str, Any], read: _CodexReading, unread: Counter[str]) -> None:
    kind = line["type"]
    if kind in ("session_meta", "turn_context"):
        folder = text(payload.get("cwd"))
        if folder is not None and folder.startswith("/"):
            read.folder = posixpath.normpath(folder)
            read.folders[read.folder] = None
        if (model := text(payload.get("model"))) is not None:
            read.models[model] = None
    elif kind == "token_usage_record":
        read.model_calls += 1
    elif kind == "event_msg":
        event = payload.get("type")
        if event == "token_count" and (total := object_of(payload.get("info")).get("total_token_usage")):
            read.tokens = tokens_of(total)
        elif event == "turn_aborted":
            read.notes[ABORTED] = None
        elif event == "error":
            _fail(payload.get("message"), read)
        elif event == "task_complete":
            read.done = microseconds_of(line.get("timestamp")) or read.done
    else:
        _item(line, payload, read, unread)


def _fail(words: Any, read: _CodexReading) -> None:
    read.failure = text(words)
    read.dialogue.add(Message(error=read.failure))


def _item(line: dict[str, Any], item: dict[str, Any], read: _CodexReading, unread: Counter[str]) -> None:
    """Add an item of a response: a message, a call, or a result."""
    kind = text(item.get("type")) or ""
    time = microseconds_of(line.get("timestamp"))
    if kind == "local_shell_call":
        action = object_of(item.get("action"))
        given = {"command": action.get("command"), "workdir": action.get("working_directory")}
        message = Message(calls=[Call("shell", given, item.get("call_id", item.get("id")))])
    elif kind in _ITEMS:
        message = parse_message(item)
    else:
        if kind not in _ITEMS_BESIDE:
            unread[f"items of the type {shortened(kind)}"] += 1
            read.dialogue.trail.unread_part()
        return
    if message.role == "user":
        message.texts = [one for one in message.texts if one in read.prompts or not _NOT_SAID.match(one)]
        if message.texts and read.begun is None:
            read.begun = time
    elif message.role == "assistant":
        read.done = time if time is not None else read.done
    message.time = time
    for call in message.calls:
        call.arguments = _arguments(call)
        call.folder = _run_in(call.arguments, read.folder)
    read.dialogue.add(message)


def _arguments(call: Call) -> Any:
    """Return the arguments of a call; a patch, which is a text, names the files that it changes."""
    given = json_within(call.arguments)
    if isinstance(given, str) and (files := _PATCHED.findall(given)):
        return {"paths": [name.strip() for name in files], "input": given}
    return given


def _run_in(given: Any, folder: str | None) -> str | None:
    """Return the folder of a command: its own, else that of the turn."""
    own = text(object_of(given).get("workdir"))
    if own is None:
        return folder
    placed = posixpath.normpath(posixpath.join(folder or "", own))
    return placed if placed.startswith("/") else None


# exec --json ---------------------------------------------------------------------------------------------------------


def _stream(line: dict[str, Any], read: _CodexReading, unread: Counter[str]) -> None:
    kind = line["type"]
    if kind == "turn.completed":
        prompt, output = tokens_of(line.get("usage"))
        read.tokens = added(read.tokens[0], prompt), added(read.tokens[1], output)
    elif kind in ("turn.failed", "error"):
        _fail(text(object_of(line.get("error")).get("message")) or line.get("message"), read)
    elif kind == "item.started":
        read.begun_items[str(line["item"].get("id"))] = line["item"]
    elif kind == "item.completed":
        begun = read.begun_items.pop(str(line["item"].get("id")), {})
        for key in {*line["item"].keys()}:  # the item repeats what its beginning says
            begun.get(key)
        _stream_item(line["item"], read, unread)


def _stream_item(item: dict[str, Any], read: _CodexReading, unread: Counter[str]) -> None:
    kind, name = text(item.get("type")) or "", item.get("id")
    if kind == "agent_message":
        words = text(item.get("text"))
        read.dialogue.add(Message("assistant", [words] if words else []))
    elif kind == "command_execution":
        shown, code = text(item.get("aggregated_output")) or "", item.get("exit_code")
        failed = isinstance(code, int) and code != 0
        if code == 0:
            shown = f"Exit code: 0\nOutput:\n{shown}"
        call = Call("shell", {"command": item.get("command")}, name, "")
        read.dialogue.add(Message(calls=[call], results=[Result(shown, name, failed)]))
    elif kind == "mcp_tool_call":
        gave = object_of(item.get("result"))
        failed = item.get("error") is not None or item.get("status") == "failed"
        result = Result(gave.get("content", item.get("error")), name, failed)
        read.dialogue.add(Message(calls=[Call(item.get("tool"), item.get("arguments"), name)], results=[result]))
    elif kind == "file_change":
        changed = item.get("changes")
        files = [one.get("path") for one in changed if isinstance(one, dict)] if isinstance(changed, list) else []
        given = {"paths": files}
        read.dialogue.add(Message(calls=[Call("file_change", given, name)], results=[Result("", name)]))
    elif kind == "error":
        unread["errors that Codex went on after"] += 1
    elif kind not in _STREAM_ITEMS_BESIDE:
        unread[f"items of the type {shortened(kind)}"] += 1
        read.dialogue.trail.unread_part()
