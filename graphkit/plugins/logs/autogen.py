"""Messages and events of AutoGen's agents: results of tasks, and the states of agents."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from graphkit.plugins.logs.call_values import content_text, found_in
from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation, add_latency
from graphkit.plugins.logs.model_messages import Call, Message, Result, tokens_of
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.readers.json_values import object_of, text
from graphkit.readers.logged import LoggedAnswer, UnreadableLogError

#: The types by what they are.
_WORDS = ("TextMessage", "MultiModalMessage", "UserMessage", "ToolCallSummaryMessage", "StructuredMessage")
_CALLS = ("ToolCallRequestEvent", "AssistantMessage")
_RESULTS = ("ToolCallExecutionEvent", "FunctionExecutionResultMessage")
_MEMORY = "MemoryQueryEvent"
_CODE = ("CodeGenerationEvent", "CodeExecutionEvent")
#: Thoughts, what was asked of people, and who speaks next.
_SILENT = (
    *("ThoughtEvent", "StopMessage", "HandoffMessage", "UserInputRequestedEvent", "SelectSpeakerEvent"),
    *("ModelClientStreamingChunkEvent", "SystemMessage", "SelectorEvent"),
)
_TYPES = (*_WORDS, *_CALLS, *_RESULTS, _MEMORY, *_CODE, *_SILENT)
_MESSAGE = (
    *("id", "source", "models_usage", "metadata", "created_at", "content", "type", "tool_calls", "results", "thought"),
    *("format_string",),
)
_STATE = ("messages", "stop_reason", "type", "version", "llm_context")

#: Why a team stopped, with the word that an agent said.
_MENTIONED = re.compile(r"Text '(.{1,99})' mentioned")

CODE = "an agent ran code, which isn't read: what it opened isn't known"


class AutogenReader(FrameworkReader):
    """Reads lists of messages and events, results of tasks, and states of a single agent."""

    name = "autogen"
    priority = 119
    beside = ("name",)
    title = "AutoGen: messages and events of a TaskResult, and the state of an agent"
    lacks = (
        *FRAMEWORK_LACKS,
        "Models aren't named.",
        "The state of an agent has neither times nor tokens.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, dict):
            return _is_team(value) or _messages_in(value) is not None
        return _is_list(value)

    def is_item(self, value: Any) -> bool:
        return _is_list([value])

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        stopped = None
        if isinstance(payload, dict):
            if _is_team(payload):
                raise UnreadableLogError(
                    "the state of a team holds the context of each agent, and not the order of what they did",
                    where=answer.where or None,
                    remedy="Write the result of the team: result.model_dump(mode='json') of TaskResult.",
                )
            count_unread(payload, _STATE, unread)
            stopped = _MENTIONED.fullmatch(text(payload.get("stop_reason")) or "")
            payload = _messages_in(payload)
        messages = objects_of(payload)
        read, notes = Conversation(stop_word=stopped[1] if stopped else None), dict[str, None]()
        for one in messages:
            count_unread(one, _MESSAGE, unread, "messages.")
            _add(read, one, notes, unread)
        answer.model_calls = sum(bool(one.get("models_usage")) for one in messages) or None
        add_conversation(answer, read)
        answer.notes += notes
        add_latency(answer, (one.get("created_at") for one in messages))


def _kind(message: Any) -> str:
    """Return the type of a message; that of a structured one names its content in brackets."""
    kind = message.get("type") if isinstance(message, dict) else None
    return kind.partition("[")[0] if isinstance(kind, str) else ""


def _is_list(value: Any) -> bool:
    """Return whether a value is a list of messages: results alone have no source."""
    return isinstance(value, list) and any(
        _kind(one) in _TYPES and ("source" in one or _kind(one) in _RESULTS) for one in value[:3]
    )


def _messages_in(value: dict[str, Any]) -> list[Any] | None:
    for held in (value, object_of(value.get("llm_context"))):
        if _is_list(held.get("messages")):
            found: list[Any] = held["messages"]
            return found
    return None


def _is_team(value: dict[str, Any]) -> bool:
    return value.get("type") == "TeamState" and isinstance(value.get("agent_states"), dict)


def _add(read: Conversation, one: dict[str, Any], notes: dict[str, None], unread: Counter[str]) -> None:
    """Add a message or an event to the conversation."""
    kind, content = _kind(one), one.get("content")
    message = Message("user" if one.get("source") == "user" else "assistant")
    message.time = microseconds_of(one.get("created_at"))
    message.prompt_tokens, message.output_tokens = tokens_of(one.get("models_usage"))
    if kind in _CALLS and isinstance(content, list):
        message.role = "assistant"
        message.calls = [Call(call.get("name"), call.get("arguments"), call.get("id")) for call in objects_of(content)]
    elif kind in _RESULTS:
        message.role = "tool"
        message.results = [
            Result(gave.get("content"), gave.get("call_id"), gave.get("is_error") is True)
            for gave in objects_of(content)
        ]
    elif kind in _WORDS or kind in _CALLS:
        parts = [part for part in content if isinstance(part, str)] if isinstance(content, list) else [content]
        message.texts = [words for part in parts if (words := text(part) or (part and content_text(part)))]
    elif kind == _MEMORY:
        found = [chunk for held in objects_of(content) for chunk in found_in([object_of(held.get("metadata"))]) or ()]
        read.add(Message(found=found))
        return
    elif kind in _CODE:
        if kind == _CODE[0]:
            read.add(Message(calls=[Call("code", None)]))
        notes[CODE] = None
        return
    else:
        if kind not in _SILENT:
            unread[f"messages of the type {kind or one.get('type')!r:.60}"] += 1
        return
    read.add(message)
