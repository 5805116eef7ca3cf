"""Events of Google's Agent Development Kit: those that a runner yields, and those of a session."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation, add_latency
from graphkit.plugins.logs.model_messages import Call, Message, Result, cut_short
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.readers.accounting import renamed
from graphkit.readers.json_values import identifier, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer

#: The keys of a session beside its events, and those of an event that are read or say nothing of a question.
_SESSION = ("events", "id", "app_name", "user_id", "state", "last_update_time")
_EVENT = (
    *("content", "author", "invocation_id", "id", "timestamp", "actions", "partial", "turn_complete", "model_version"),
    *("usage_metadata", "error_code", "error_message", "finish_reason", "long_running_tool_ids", "node_info", "branch"),
)
_PARTS = (
    *("text", "function_call", "function_response", "thought", "thought_signature", "executable_code"),
    "code_execution_result",
)

CODE = "the model ran code, which isn't read: what it opened isn't known"

NO_QUESTION_TIME = "Latency is known of a session, whose first event is the question, and not of a runner's events."

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class GoogleAdkReader(FrameworkReader):
    """Reads events in a list, in a session, or one per value; their keys may be in camel case."""

    name = "google-adk"
    priority = 118
    beside = ("actions", "node_info", "nodeInfo", "name")
    title = "Google ADK: events of a runner or a session, as model_dump() writes them"
    lacks = (*FRAMEWORK_LACKS, NO_QUESTION_TIME)

    def is_payload(self, value: Any) -> bool:
        events = value.get("events") if isinstance(value, dict) else value
        return isinstance(events, list) and any(map(self.is_item, events[:3]))

    def is_item(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and isinstance(value.get("author"), str)
            and bool(value.keys() & {"invocation_id", "invocationId"})
            and bool(value.keys() & {"content", "actions", "errorCode", "error_code"})
        )

    def thread_of(self, item: Any) -> str | None:
        return identifier(_plain(item).get("invocation_id"))

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        if isinstance(payload, dict):
            count_unread(_plain(payload), _SESSION, unread)
            payload = payload.get("events")
        events = [_plain(one) for one in objects_of(payload) if one.get("partial") is not True]
        read = Conversation()
        for event in events:
            count_unread(event, _EVENT, unread, "events.")
            for part in objects_of(object_of(event.get("content")).get("parts")):
                count_unread(_plain(part), _PARTS, unread, "events.content.parts.")
            read.add(_message(event))
            if answer.error is None and (code := text(event.get("error_code"))) is not None:
                answer.error, answer.error_type = text(event.get("error_message")) or code, code
        asked = [event for event in events if event.get("usage_metadata")]
        answer.model_calls = len(asked) or None
        add_conversation(answer, read)
        if any(call.name == "executable_code" for call in read.trail.calls):
            answer.notes.append(CODE)
        if events and events[0].get("author") == "user":
            add_latency(answer, (event.get("timestamp") for event in events))


def _plain(value: Any) -> dict[str, Any]:
    """Return an object by its keys in snake case."""
    return renamed(object_of(value), lambda key: _CAPITAL.sub("_", key).lower())


def _message(event: dict[str, Any]) -> Message:
    """Return the message of an event: words of the user or an agent, calls, or the responses of functions."""
    message = Message("user" if event.get("author") == "user" else "assistant", model=text(event.get("model_version")))
    after = False
    for part in map(_plain, objects_of(object_of(event.get("content")).get("parts"))):
        call, gave = object_of(part.get("function_call")), object_of(part.get("function_response"))
        if call:
            message.calls.append(Call(call.get("name"), call.get("args"), call.get("id")))
            after = False
        elif gave:
            response = gave.get("response")
            failed = isinstance(response, dict) and bool(response.get("error"))
            held = response["result"] if isinstance(response, dict) and response.keys() == {"result"} else response
            message.results.append(Result(held, gave.get("id"), failed))
        elif part.get("executable_code"):
            message.calls.append(Call("executable_code", None))
            after = False
        elif (words := text(part.get("text"))) is not None and part.get("thought") is not True:
            message.texts.append(words)
            after = bool(message.calls)
    message.ends_in_words = after
    if message.results and not message.texts and not message.calls:
        message.role = "tool"
    usage = _plain(event.get("usage_metadata"))
    message.cut = cut_short(event)
    message.time = microseconds_of(event.get("timestamp"))
    message.prompt_tokens = whole(usage.get("prompt_token_count"))
    message.output_tokens = whole(usage.get("candidates_token_count"))
    return message
