"""Messages of Pydantic AI: ``result.all_messages_json()``, a list of requests and responses."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation, add_latency
from graphkit.plugins.logs.model_messages import parse_message
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.readers.json_values import identifier, number, object_of
from graphkit.readers.logged import LoggedAnswer
from graphkit.records.usage import added

_MESSAGE = (
    *("kind", "parts", "usage", "model_name", "timestamp", "run_id", "conversation_id", "state", "instructions"),
    *("model_id", "provider_name", "provider_url", "provider_details", "provider_response_id", "finish_reason"),
)
_PARTS = (
    *("system-prompt", "user-prompt", "text", "thinking", "tool-call", "tool-return", "builtin-tool-call"),
    *("builtin-tool-return", "retry-prompt"),
)


class PydanticAiReader(FrameworkReader):
    """Reads the messages of runs; output tools (``final_result``) hand in the answer."""

    name = "pydantic-ai"
    priority = 116
    beside = ("audio_seconds", "tool_name", "scope", "retry", "details")
    title = "Pydantic AI: messages of a run, as all_messages_json() writes them"
    lacks = (
        *FRAMEWORK_LACKS,
        "Latency runs from the first request to the last response.",
    )

    def is_payload(self, value: Any) -> bool:
        return isinstance(value, list) and any(map(_is_message, value[:3]))

    def is_item(self, value: Any) -> bool:
        return _is_message(value)

    def thread_of(self, item: Any) -> str | None:
        return identifier(item.get("conversation_id")) or identifier(item.get("run_id"))

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        dialogue = Conversation()
        messages = objects_of(payload)
        for message in messages:
            count_unread(message, _MESSAGE, unread, "messages.")
            for part in objects_of(message.get("parts")):
                if (kind := part.get("part_kind")) not in _PARTS:
                    unread[f"messages.parts of the kind {kind!r:.40}"] += 1
            read = parse_message(message)
            read.time = microseconds_of(message.get("timestamp"))
            dialogue.add(read)
        add_conversation(answer, dialogue)
        costs = [number(object_of(one.get("usage")).get("cost")) for one in messages if one.get("kind") == "response"]
        known = [cost for cost in costs if cost is not None]
        answer.cost = added(known) if known and len(known) == len(costs) else None
        add_latency(answer, (one.get("timestamp") for one in messages if isinstance(one.get("kind"), str)))


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("kind") in ("request", "response")
        and isinstance(value.get("parts"), list)
        and any("part_kind" in part for part in objects_of(value["parts"]))
    )
