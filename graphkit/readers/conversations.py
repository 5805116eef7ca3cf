"""Conversations with a model, in the forms that the interfaces of models share: who said what, and which tools it used.

Chat completions (``tool_calls`` and messages of the role ``tool``, formerly ``function_call``), responses (items of the
types ``function_call`` and ``function_call_output``), blocks of the types ``tool_use`` and ``tool_result`` within a
content, and the messages of frameworks that write the same with names of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphkit.readers.message_forms import ROLES, label, named_call, plain_message
from graphkit.readers.payloads import count_unread, object_of, objects_of, text, whole
from graphkit.readers.tool_calls import Trail, content_text

_CALL_ITEMS = ("function_call", "custom_tool_call")
_RESULT_ITEMS = ("function_call_output", "custom_tool_call_output")
#: Items that hold a call and what came of it, which ran where the model does.
_RAN_ITEMS = ("mcp_call", "file_search_call")
_CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call")

#: The keys of a message that are read, or that say nothing of a question.
_KNOWN = (
    *("role", "type", "content", "tool_calls", "function_call", "tool_call_id", "name", "id", "call_id", "arguments"),
    *("output", "input", "status", "model", "usage", "usage_metadata", "is_error", "error", "function", "stop_reason"),
    *("source", "summary", "encrypted_content", "additional_kwargs", "response_metadata", "artifact", "example"),
    *("queries", "results", "server_label", "approval_request_id", "stop_sequence", "stop_details", "phase"),
)

ENDS_WITH_CALL = (
    "the conversation ends with a call of a tool and hands nothing in: what was said before it was a thought, and the "
    "answer isn't known"
)
MANY_QUESTIONS = "the user speaks more than once: the first text is used as the question"


@dataclass(slots=True)
class Conversation:
    """The content of a conversation; ``thought`` is its last text if that isn't the answer."""

    trail: Trail = field(default_factory=Trail)
    question: str | None = None
    answer: str | None = None
    thought: str | None = None
    models: list[str] = field(default_factory=list)
    model_calls: int = 0
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    notes: list[str] = field(default_factory=list)


def is_message(value: Any) -> bool:
    """Return whether a value is a message of a conversation, or an item of one."""
    value = plain_message(value)
    if not isinstance(value, dict):
        return False
    if value.get("type") in (*_CALL_ITEMS, *_RESULT_ITEMS):
        return "call_id" in value
    if value.get("type") in _RAN_ITEMS:
        return "id" in value
    held = value.keys() & {"content", "tool_calls", "function_call"}
    return bool(held) and any(isinstance(value.get(key), str) and value[key] in ROLES for key in ("role", "type"))


def is_conversation(value: Any) -> bool:
    """Return whether a value is a list of messages."""
    return isinstance(value, list) and any(map(is_message, value[:3]))


def conversation(messages: Iterable[Any], unread: Counter[str], prefix: str = "messages.") -> Conversation:
    """Return what a conversation says."""
    said = Conversation()
    questions = 0
    last_call = -1
    last_text = -1
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            unread[f"{prefix}({type(message).__name__})"] += 1
            continue
        message = plain_message(message)
        count_unread(message, _KNOWN, unread, prefix)
        calls = len(said.trail.calls)
        content = message.get("content")
        role = ROLES.get(label(message.get("role")) or label(message.get("type")))
        if message.get("type") in _CALL_ITEMS:
            said.trail.called(message.get("name"), message.get("arguments", message.get("input")), message["call_id"])
        elif message.get("type") in _RESULT_ITEMS:
            said.trail.returned(message.get("output"), message.get("call_id"))
        elif message.get("type") in _RAN_ITEMS:
            named = message.get("name", "file_search")
            said.trail.called(named, message.get("arguments", {"queries": message.get("queries")}), message.get("id"))
            gave = message.get("output", message.get("results"))
            said.trail.returned(gave, message.get("id"), message.get("error") is not None)
        elif role == "assistant":
            said.model_calls += 1
            _assistant(message, content, said)
            words = _words(_after_calls(content))
            if words is not None:
                said.answer = words
                last_text = number
        elif role == "tool":
            call = message.get("tool_call_id")
            if call is None and message.get("role") == "function":
                call = named_call(message.get("name"))
            error = message.get("error")
            if isinstance(error, dict):
                content = content or error.get("message")
            said.trail.returned(content, call, error is not None or message.get("status") == "error")
        elif message.get("role") == "exit":
            said.trail.submitted = _submission(message) or said.trail.submitted
        elif role == "user":
            _results(content, said.trail)
            words = _words(content)
            if words is not None:
                questions += 1
                said.question = said.question or words
        if len(said.trail.calls) > calls and not (last_text == number and _after_calls(content) is not content):
            last_call = number
    if said.trail.submitted is not None:
        said.answer = said.trail.submitted
    elif said.answer is not None and last_call >= last_text and not (said.trail.handed_in and last_call == last_text):
        said.answer, said.thought = None, said.answer
        said.notes.append(ENDS_WITH_CALL)
    if questions > 1:
        said.notes.append(MANY_QUESTIONS)
    return said


def tokens_of(usage: Any) -> tuple[int | None, int | None]:
    """Return the tokens of the prompt, with those that a cache had or keeps, and those of the output.

    >>> tokens_of({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5})
    (100, 5)
    >>> tokens_of({"prompt_tokens": 7, "completion_tokens": 3}), tokens_of(None)
    ((7, 3), (None, None))
    """
    if not isinstance(usage, dict):
        return None, None
    prompt = whole(usage.get("prompt_tokens", usage.get("input_tokens")))
    if prompt is not None:
        # Counted beside the input's tokens by the interface that has these names.
        cached = (usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens"))
        prompt += sum(whole(one) or 0 for one in cached)
    return prompt, whole(usage.get("completion_tokens", usage.get("output_tokens")))


def added(first: int | None, second: int | None) -> int | None:
    """Return the sum of two counts of which some may not be known; None where neither is.

    >>> added(1, None), added(1, 2), added(None, None)
    (1, 3, None)
    """
    return second if first is None else first if second is None else first + second


def _assistant(message: dict[str, Any], content: Any, said: Conversation) -> None:
    """Take the calls, the model and the tokens of what a model said."""
    trail = said.trail
    further, told = (object_of(message.get(key)) for key in ("additional_kwargs", "response_metadata"))
    calls = objects_of(message.get("tool_calls")) or objects_of(further.get("tool_calls"))
    for call in calls:
        function = call.get("function")
        held = function if isinstance(function, dict) else call
        name = function if isinstance(function, str) else held.get("name")
        trail.called(name, held.get("arguments", call.get("args")), call.get("id"))
    former = message.get("function_call") or further.get("function_call")
    if isinstance(former, dict):
        trail.called(former.get("name"), former.get("arguments"), named_call(former.get("name")))
    for block in () if calls else objects_of(content):
        if block.get("type") in _CALL_BLOCKS:
            trail.called(block.get("name"), block.get("input", block.get("args")), block.get("id"))
    _results(content, trail)
    model = text(message.get("model")) or text(told.get("model_name")) or text(told.get("model"))
    if model is not None and model not in said.models:
        said.models.append(model)
    used = (message.get("usage"), message.get("usage_metadata"), told.get("token_usage"), told.get("usage"))
    prompt, output = tokens_of(next(filter(None, used), None))
    said.prompt_tokens = added(said.prompt_tokens, prompt)
    said.output_tokens = added(said.output_tokens, output)


def _results(content: Any, trail: Trail) -> None:
    """Take the results of tools that stand as blocks within a content."""
    for block in objects_of(content):
        if "tool_use_id" in block:
            trail.returned(block.get("content"), block["tool_use_id"], block.get("is_error") is True)


def _submission(message: dict[str, Any]) -> str | None:
    """Return what the last message of mini-swe-agent hands in, where the agent didn't run into a limit."""
    extra = object_of(message.get("extra"))
    if "exit_status" in extra or "submission" in extra:
        return text(extra.get("submission")) or None
    return text(message.get("content")) or None


def _words(content: Any) -> str | None:
    """Return what somebody says to somebody: neither calls nor results, nor what a model thinks."""
    if isinstance(content, list):
        content = [
            one
            for one in content
            if isinstance(one, str)
            or (isinstance(one, dict) and one.get("type") in (None, "text", "input_text", "output_text"))
        ]
        if not content:
            return None
    words = content_text(content) if isinstance(content, str | list) else None
    return words if words is not None and words.strip() else None


def _after_calls(content: Any) -> Any:
    """Return the blocks after the last call or result in a content, where any words are; else all of it."""
    blocks = content if isinstance(content, list) else []
    used = [
        place
        for place, one in enumerate(blocks)
        if isinstance(one, dict) and (one.get("type") in _CALL_BLOCKS or "tool_use_id" in one)
    ]
    rest = blocks[used[-1] + 1 :] if used else []
    return rest if _words(rest) is not None else content
