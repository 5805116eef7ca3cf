"""Sessions of Claude Code: the files below ``~/.claude/projects``, and what ``--output-format stream-json`` prints."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.atif import SUBAGENT, SUBAGENT_COSTS
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, Conversation, added, refuse_unnamed, thread_of
from graphkit.plugins.logs.model_messages import Message, parse_message, tokens_of
from graphkit.plugins.logs.payloads import QUESTION_IDS, Wrapped, each_unwrapped, holds, texts
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, Values
from graphkit.records.words import shortened

#: The types of lines that are read, and of those that say nothing of a question.
_READ = ("user", "assistant", "system", "result")
_BESIDE = (
    *("attachment", "summary", "file-history-snapshot", "queue-operation", "last-prompt", "progress", "stream_event"),
    *("custom-title", "ai-title", "agent-name", "agent-color", "tag", "mode", "permission-mode", "pr-link"),
    *("rate_limit_event", "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion"),
)

#: Texts that Claude Code writes for the user: commands, reminders, and that the user interrupted.
_NOT_SAID = re.compile(r"\s*(?:<[a-z]+(?:-[a-z]+)+>|\[Request interrupted by user|Caveat: The messages below)")
_AGENTS = ("Agent", "Task")

#: The number of working folders that are kept of a session.
MOST_FOLDERS = 100

ENDED = "the session ended with {!r}"


@dataclass(slots=True)
class _ClaudeSession:
    """The lines of a session, with what stands around them."""

    wrapped: Wrapped
    lines: list[dict[str, Any]] = field(default_factory=list)


class ClaudeCodeReader(Reader):
    """Reads sessions, of which a file may hold several."""

    name = "claude-code"
    priority = 128
    beside = (
        *("operation", "promptId", "permissionMode", "promptSource", "userType", "entrypoint", "gitBranch"),
        *("isSidechain", "attachment", "cwd", "stop_reason", "server_tool_use", "service_tier"),
        *("cache_creation", "speed", "numFiles", "file", "originalFile", "structuredPatch"),
        *("sourceToolAssistantUUID", "lastPrompt", "leafUuid", "agentId", "attributionAgent", "subtype"),
        *("claude_code_version", "duration_api_ms", "ttft_ms", "ttft_stream_ms", "time_to_request_ms"),
        *("num_turns", "modelUsage", "terminal_reason", "fast_mode_state", "stdout", "stderr", "interrupted"),
        *("isImage", "noOutputExpected", "inference_geo", "iterations", "snapshot", "description"),
    )
    title = "Claude Code: session files (~/.claude/projects/**/*.jsonl), and the output of --output-format stream-json"
    lacks = (
        *LACKS,
        "Grep and Glob name what they found if they list files; matching lines are plain text.",
        "Costs are logged by stream-json alone. A subagent's session lies in another file, except in stream-json.",
        "A session knows no question's id: it is known by the prompt, which stream-json lacks, or by the file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_line(value) or holds(value, _is_session, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        sessions: dict[tuple[str | None, str | None], _ClaudeSession] = {}
        for where, value in values:
            if _is_line(value):
                question, session, _ = thread_of(value, QUESTION_IDS, options.question_key)
                if session is None:
                    continue  # a snapshot or a title
                key = (question, session)
                if key not in sessions:
                    sessions[key] = _ClaudeSession(Wrapped(LoggedAnswer(where, question), None))
                sessions[key].lines.append(value)
                continue
            for one in each_unwrapped(value, _is_session, options, where, lists=True):
                lines = [line for line in one.payload or () if _is_line(line)]
                yield _answer(_ClaudeSession(one, lines), unread)
        first = next((found.wrapped.answer.where for found in sessions.values()), "")
        refuse_unnamed((question for question, _ in sessions), options.question_key, first)
        for found in sessions.values():
            yield _answer(found, unread)


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    kind = value["type"]
    if kind in ("summary", "file-history-snapshot"):
        return bool(value.keys() & {"leafUuid", "snapshot"})
    if not isinstance(value.get("sessionId", value.get("session_id")), str):
        return False
    if kind in ("user", "assistant"):
        return isinstance(value.get("message"), dict)
    return kind in (*_READ, *_BESIDE) or "uuid" in value


def _is_session(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_line, value[:5]))


def _answer(session: _ClaudeSession, unread: Counter[str]) -> LoggedAnswer:
    answer = session.wrapped.logged(unread)
    if not session.lines:
        return answer
    lines = _in_order(session.lines, unread)
    alone = all(_of_subagent(line) for line in lines if line["type"] in ("user", "assistant"))
    read = _ClaudeReading(dialogue=Conversation())
    for line in lines:
        if line["type"] in ("user", "assistant"):
            _add(line, read, _of_subagent(line) and not alone)
        elif line["type"] == "result":
            read.end = line
        elif line["type"] == "system" and (folder := _folder(line)) is not None:
            read.folders[folder] = None
    _conclude(answer, read)
    return answer


@dataclass(slots=True)
class _ClaudeReading:
    """The content of a session's lines."""

    dialogue: Conversation
    end: dict[str, Any] = field(default_factory=dict)
    #: The last line of each reply by its id: it is written in several lines, each with the tokens so far.
    used: dict[str, Message] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    #: The times of the question and of the last reply, and the replies of which a call was placed.
    begun: int | None = None
    done: int | None = None
    placed: set[str] = field(default_factory=set)
    subagents: bool = False
    #: The calls of subagents by their ids, until one of their lines comes.
    called: set[str] = field(default_factory=set)
    failure: str | None = None


def _in_order(lines: list[dict[str, Any]], unread: Counter[str]) -> list[dict[str, Any]]:
    """Return the lines that are read, each once; those of subagents by their times, as they may stand behind others."""
    seen: set[str] = set()
    found = []
    for line in lines:
        name = text(line.get("uuid"))
        if name in seen:
            continue
        if name is not None:
            seen.add(name)
        if line["type"] in _READ:
            found.append(line)
        elif line["type"] not in _BESIDE:
            unread[f"lines of the type {shortened(line['type'])}"] += 1
        elif object_of(line.get("attachment")).get("type") == "file":
            unread["files that the user attached"] += 1
    times = [microseconds_of(line.get("timestamp")) for line in found if line["type"] in ("user", "assistant")]
    if any(map(_of_subagent, found)) and None not in times:
        return sorted(found, key=lambda line: microseconds_of(line.get("timestamp")) or 0)
    return found


def _of_subagent(line: dict[str, Any]) -> bool:
    return line.get("isSidechain") is True or text(line.get("parent_tool_use_id")) is not None


def _folder(line: dict[str, Any]) -> str | None:
    folder = text(line.get("cwd"))
    return posixpath.normpath(folder) if folder is not None and folder.startswith("/") else None


def _add(line: dict[str, Any], read: _ClaudeReading, inner: bool) -> None:
    """Add the message of a line; a subagent's neither asks nor answers."""
    message = parse_message(line["message"])
    message.prompt_tokens = message.output_tokens = None  # summed by reply
    folder = _folder(line)
    if folder is not None and len(read.folders) < MOST_FOLDERS:
        read.folders[folder] = None
    message.time = time = microseconds_of(line.get("timestamp"))
    if inner:
        read.subagents, message.role = True, None
    elif line["type"] == "user":
        if not _is_said(line, message):
            message.texts = []
        elif read.begun is None:
            read.begun = time
    else:
        _reply(line, message, read)
        read.done = time if time is not None else read.done
    # Of several calls in a reply, only the first certainly runs in the folder that the line names.
    name = text(object_of(line["message"]).get("id"))
    for call in message.calls:
        if name is not None and name not in read.placed:
            call.folder = folder
            read.placed.add(name)
        if call.name in _AGENTS and (one := identifier(call.id)) is not None:
            read.called.add(one)
    if parent := text(line.get("parent_tool_use_id")):
        read.called.discard(parent)
    gave = object_of(line.get("toolUseResult", line.get("tool_use_result")))
    if len(message.results) == 1:
        message.results[0].found = _found(gave)
    read.dialogue.add(message)


def _is_said(line: dict[str, Any], message: Message) -> bool:
    """Return whether the user said it, and not Claude Code in the user's name."""
    if line.get("isMeta") is True or line.get("isCompactSummary") is True or message.results:
        return False
    return message.text is not None and not _NOT_SAID.match(message.text)


def _reply(line: dict[str, Any], message: Message, read: _ClaudeReading) -> None:
    """Note the tokens of a reply, or that it is an error of the interface."""
    if message.model == "<synthetic>":
        message.model = None
        read.failure = message.text if line.get("isApiErrorMessage") is True else None
        message.role, message.texts, message.error = None, [], read.failure
        return
    read.failure = None
    raw = object_of(line["message"])
    name = text(raw.get("id")) or f"line {len(read.used)}"
    message.role, message.reply = "assistant", name
    if (former := read.used.get(name)) is not None:
        former.prompt_tokens = former.output_tokens = None
    message.prompt_tokens, message.output_tokens = tokens_of(raw.get("usage"))
    read.used[name] = message


def _found(gave: dict[str, Any]) -> list[LoggedChunk] | None:
    """Return the files that Grep or Glob lists; None for other tools, and for lines or counts of matches."""
    listed = texts(gave.get("filenames"))
    if listed is None or "numFiles" not in gave:
        return None
    if gave.get("mode") not in (None, "files_with_matches") and (gave.get("numLines") or gave.get("content")):
        return None
    return [LoggedChunk(name) for name in listed]


def _conclude(answer: LoggedAnswer, read: _ClaudeReading) -> None:
    """Add the calls, the answer and the costs, of which those of the end are of the whole."""
    dialogue, end = read.dialogue, read.end
    dialogue.into(answer, tools=dialogue.model_calls > 0)
    answer.folders = list(dict.fromkeys([*answer.folders, *read.folders]))[:MOST_FOLDERS]
    said = text(end.get("result"))
    ended = text(end.get("subtype"))
    if end.get("is_error") is True and said is not None:
        read.failure = said
    elif ended not in (None, "success"):
        answer.notes.append(ENDED.format(shortened(str(ended))))
    known = answer.answer is not None or said is not None
    answer.answer = answer.answer or said or dialogue.answer
    answer.notes += [note for note in dialogue.notes if not (known and note == ENDS_WITH_CALL)]
    if read.failure is not None:
        answer.answer, answer.error, answer.error_type = None, read.failure, "api_error"
    if read.subagents:
        answer.notes.append(SUBAGENT_COSTS)
    elif read.called:
        answer.notes.append(SUBAGENT)
    answer.model = dialogue.models[0] if len(dialogue.models) == 1 else None
    answer.model_calls = len(read.used) or None
    for reply in read.used.values():
        answer.prompt_tokens = added(answer.prompt_tokens, reply.prompt_tokens)
        answer.output_tokens = added(answer.output_tokens, reply.output_tokens)
    if end.get("usage"):
        answer.prompt_tokens, answer.output_tokens = tokens_of(end["usage"])
    answer.cost = number(end.get("total_cost_usd"))
    if answer.latency_ms is None:
        answer.latency_ms = number(end.get("duration_ms"))
    if answer.latency_ms is None and read.begun is not None and read.done is not None and read.done >= read.begun:
        answer.latency_ms = (read.done - read.begun) / 1000
