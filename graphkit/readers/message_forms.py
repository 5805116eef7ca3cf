"""The forms in which interfaces of models, and frameworks around them, write a message, brought into one.

The one is that of chat completions, whose content may be blocks of the types ``text``, ``tool_use`` and
``tool_result``.
"""

from __future__ import annotations

import json
from typing import Any

#: Who speaks, by ``role`` or ``type``.
ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}


def plain_message(value: Any) -> Any:
    """Return a message in the one form; anything else as it is.

    >>> plain_message({"lc": 1, "id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "Who?"}})
    {'type': 'human', 'content': 'Who?'}
    >>> plain_message({"type": "ai", "data": {"content": "Ann"}})
    {'type': 'ai', 'content': 'Ann'}
    >>> plain_message({"role": "model", "parts": [{"text": "Ann"}]})
    {'role': 'model', 'content': [{'type': 'text', 'text': 'Ann'}]}
    >>> plain_message({"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]})
    {'role': 'assistant', 'content': [{'type': 'tool_use', 'name': 'f', 'input': {}, 'id': 't'}]}
    """
    if not isinstance(value, dict):
        return value
    kwargs, data, message, parts = (value.get(key) for key in ("kwargs", "data", "message", "parts"))
    names, content = value.get("id"), value.get("content")
    if value.get("lc") == 1 and isinstance(kwargs, dict):  # LangChain's dumpd
        name = label(names[-1]) if isinstance(names, list) and names else ""
        return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **kwargs}
    if isinstance(data, dict) and "content" in data and label(value.get("type")) in ROLES:  # its messages_to_dict
        return {"type": value["type"], **data}
    if isinstance(message, dict) and "content" in message and label(value.get("type")) in ROLES:  # agents' transcripts
        return message
    if isinstance(parts, list) and label(value.get("kind")) in ("request", "response"):  # Pydantic AI
        blocks = [_block_of_part(part) for part in parts if isinstance(part, dict)]
        role = "user" if value["kind"] == "request" else "assistant"
        return {"role": role, "content": [block for block in blocks if block], **_kept(value, "usage", "model_name")}
    if isinstance(parts, list) and label(value.get("role")) in ROLES and content is None:  # Gemini
        rest = {key: one for key, one in value.items() if key != "parts"}
        return {**rest, "content": [_block(part) for part in parts]}
    if isinstance(content, list) and any(isinstance(one, dict) and one.keys() & _CONVERSE for one in content):
        return {**value, "content": [_block(one) for one in content]}
    return value


#: Of Amazon Bedrock's Converse and of Gemini.
_CONVERSE = frozenset(("toolUse", "toolResult", "functionCall", "functionResponse", "function_call"))


def _block(part: Any) -> Any:
    """Return a block of a content whose kind is its key."""
    if not isinstance(part, dict):
        return part
    for key in ("toolUse", "functionCall", "function_call"):
        call = part.get(key)
        if isinstance(call, dict):
            name = call.get("toolUseId", call.get("id")) or named_call(call.get("name"))
            given = call.get("input", call.get("args"))
            return {"type": "tool_use", "name": call.get("name"), "input": given, "id": name}
    for key in ("toolResult", "functionResponse", "function_response"):
        gave = part.get(key)
        if isinstance(gave, dict):
            name = gave.get("toolUseId", gave.get("id")) or named_call(gave.get("name"))
            content = gave.get("content", gave.get("response"))
            if isinstance(content, list):
                content = [_text_of_json(one) for one in content]
            return {
                "type": "tool_result",
                "tool_use_id": name,
                "content": content,
                "is_error": gave.get("status") == "error",
            }
    return {"type": "text", "text": part["text"]} if isinstance(part.get("text"), str) else part


def _text_of_json(block: Any) -> Any:
    if isinstance(block, dict) and block.keys() == {"json"}:
        return {"type": "text", "text": json.dumps(block["json"])}
    return {"type": "text", **block} if isinstance(block, dict) and "text" in block else block


def _block_of_part(part: dict[str, Any]) -> dict[str, Any] | None:
    """Return a block of a part of Pydantic AI's messages; a system's prompt and thoughts are skipped."""
    kind, content = part.get("part_kind"), part.get("content")
    if kind in ("user-prompt", "text"):
        return {"type": "text", "text": content} if isinstance(content, str) else None
    if kind == "tool-call":
        return {
            "type": "tool_use",
            "name": part.get("tool_name"),
            "input": part.get("args"),
            "id": part.get("tool_call_id"),
        }
    if kind in ("tool-return", "retry-prompt") and part.get("tool_call_id"):
        failed = kind == "retry-prompt"
        return {"type": "tool_result", "tool_use_id": part["tool_call_id"], "content": content, "is_error": failed}
    return None


def _kept(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key.removesuffix("_name"): value[key] for key in keys if key in value}


def reply(value: Any) -> dict[str, Any] | None:
    """Return the messages, tokens and model of what a model's interface answered, or None where it is no answer.

    It may lie in an envelope of a batch.

    >>> reply({"choices": [{"message": {"role": "assistant", "content": "Ann"}}], "model": "m"})["messages"]
    [{'role': 'assistant', 'content': 'Ann'}]
    """
    if not isinstance(value, dict):
        return None
    choices, output = value.get("choices"), value.get("output")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return {**value, "messages": [message]} if isinstance(message, dict) and "role" in message else None
    if value.get("type") == "message" and value.get("role") == "assistant" and "content" in value:
        return {**_kept(value, "usage", "model"), "messages": [_without(value, "usage", "model")]}
    if value.get("object") == "response" and isinstance(output, list):
        return {**value, "messages": output}
    if isinstance(output, dict) and isinstance(output.get("message"), dict) and "stopReason" in value:
        return {**value, "messages": [output["message"]]}
    inner = value.get("body") if "status_code" in value else value.get("message") if "type" in value else None
    return reply(inner)


def _without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key not in keys}


def label(value: Any) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def named_call(name: Any) -> str:
    """Return what stands for the id of a call where a format has none: the tool's name, whose last call is meant."""
    return f"function {name}"
