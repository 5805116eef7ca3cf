"""Messages in the dialects of models' interfaces and of the frameworks around them, parsed into one type.

Chat completions (``tool_calls`` and messages of the role ``tool``, formerly ``function_call``), responses (items of the
types ``function_call`` and ``function_call_output``), blocks of the types ``tool_use`` and ``tool_result`` within a
content, and what Gemini, Amazon Bedrock, LangChain, Pydantic AI, OpenTelemetry and Goose write for the same. Goose's
form is that of block/goose, ``conversation/message.rs`` and ``conversation/tool_result_serde.rs``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.payloads import objects_of
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import object_of, text, whole
from graphkit.readers.logged import LoggedChunk

#: Who speaks, by ``role`` or ``type``.
ROLES = {
    **{"user": "user", "human": "user", "system": "system", "developer": "system"},
    **dict.fromkeys(("assistant", "ai", "model", "gemini", "AIMessageChunk"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}

_CALL_ITEMS = ("function_call", "custom_tool_call")
_RESULT_ITEMS = ("function_call_output", "custom_tool_call_output")
#: Items that hold a call and its result, which ran where the model does.
_RAN_ITEMS = ("mcp_call", "file_search_call")
_CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call")
_TEXT_BLOCKS = (None, "text", "input_text", "output_text")
#: The further blocks of a content that are read, or that say nothing of what tools gave: thoughts, pictures, marks.
_RESULT_BLOCKS = ("tool_result", "function_call_output", "custom_tool_call_output")
_OTHER_BLOCKS = (
    *("thinking", "redacted_thinking", "reasoning", "refusal", "image", "image_url", "input_image"),
    *("input_audio", "document", "step-start", "compaction"),
    *("toolConfirmationRequest", "actionRequired", "systemNotification", "redactedThinking"),
)
#: The keys of a call and of a result in the parts of Gemini and of Amazon Bedrock's Converse.
_CALL_PARTS = ("toolUse", "functionCall", "function_call")
_RESULT_PARTS = ("toolResult", "functionResponse", "function_response")

#: The parts of Vercel's messages for a model, and the kinds of what a tool gave there.
_MODEL_PARTS = ("tool-call", "tool-result")
_MODEL_OUTPUTS = ("text", "json", "error-text", "error-json", "content", "execution-denied")

#: The blocks in which Goose has calls and results.
_GOOSE_CALLS = ("toolRequest", "frontendToolRequest")
_GOOSE_RESULT = "toolResponse"

#: What Pydantic AI says of a call that gave nothing.
_FAILED_OUTCOMES = ("failed", "denied", "retried")

#: The keys of the reason for which a reply ended, and the reasons that are a limit of tokens.
_REASONS = ("finish_reason", "finish_reasons", "finishReason", "stop_reason", "stopReason", "done_reason")
_LIMITS = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"))

CUT = "a reply of the model ended at its limit of tokens: it isn't whole"

#: The keys of a message that are read, or that say nothing of a question.
KNOWN = (
    *("role", "type", "content", "tool_calls", "function_call", "tool_call_id", "name", "id", "call_id", "arguments"),
    *("output", "input", "status", "model", "usage", "usage_metadata", "is_error", "error", "function", "stop_reason"),
    *("source", "summary", "encrypted_content", "additional_kwargs", "response_metadata", "artifact", "example"),
    *("queries", "results", "server_label", "approval_request_id", "stop_sequence", "stop_details", "phase", "created"),
    *(*_REASONS, "incomplete_details"),
)


@dataclass(slots=True)
class Call:
    """A call of a tool that a model asks for."""

    name: Any
    arguments: Any
    id: Any = None
    #: The folder in which a shell runs it, if the log says so: absolute, or empty for that of the agent.
    folder: str | None = None


@dataclass(slots=True)
class Result:
    """The result of a call, by the call's id."""

    content: Any
    call: Any = None
    failed: bool = False
    #: The things that a search found, if the log names them beside the content.
    found: list[LoggedChunk] | None = None


@dataclass(slots=True)
class Message:
    """A message of any dialect.

    Attributes
    ----------
    role
        ``user``, ``assistant``, ``tool`` or ``system``; None for an item that is a call or a result alone.
    texts
        The words of the message, a block each: neither calls nor results, nor thoughts. Words before a call of a tool
        are skipped if others follow the call.
    ends_in_words
        Whether words follow the last call.
    submission
        The answer that the last message of mini-swe-agent hands in.
    found
        What the message names as found, apart from the results of calls.
    reply
        The id of the model's reply, of which the message may be a part.
    time
        The time in microseconds.
    error
        What the model's interface said instead of a reply.
    cut
        Whether the reply ended at its limit of tokens.
    """

    role: str | None = None
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    ends_in_words: bool = False
    submission: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    found: list[LoggedChunk] = field(default_factory=list)
    reply: str | None = None
    time: int | None = None
    error: str | None = None
    cut: bool = False

    @property
    def text(self) -> str | None:
        """The words of the message, or None if it has none."""
        words = "\n".join(self.texts)
        return words if words.strip() else None


def parse_message(value: Any) -> Message:
    """Return a message of any dialect; an empty one for anything else.

    >>> parse_message({"role": "assistant", "content": "Ann", "tool_calls": [{"id": "c", "function": {"name": "f"}}]})
    ... # doctest: +ELLIPSIS
    Message(role='assistant', texts=['Ann'], calls=[Call(name='f', arguments=None, id='c', folder=None)], ...)
    """
    fields = plain_message(value)
    if not isinstance(fields, dict):
        return Message()
    kind, content = fields.get("type"), fields.get("content")
    if kind in _CALL_ITEMS:
        call = Call(fields.get("name"), fields.get("arguments", fields.get("input")), fields.get("call_id"))
        return Message(calls=[call])
    if kind in _RESULT_ITEMS:
        return Message(results=[Result(fields.get("output"), fields.get("call_id"))])
    if kind in _RAN_ITEMS:
        name, given = fields.get("name", "file_search"), fields.get("arguments", {"queries": fields.get("queries")})
        gave = fields.get("output", fields.get("results"))
        failed = fields.get("error") is not None
        return Message(calls=[Call(name, given, fields.get("id"))], results=[Result(gave, fields.get("id"), failed)])
    message = Message(ROLES.get(_label(fields.get("role")) or _label(kind)))
    if message.role == "assistant":
        _read_assistant(message, fields)
    elif message.role == "tool":
        call_id, error = fields.get("tool_call_id"), fields.get("error")
        if call_id is None and fields.get("role") == "function":
            call_id = _named_call(fields.get("name"))
        content = content or error.get("message") if isinstance(error, dict) else content
        message.results.append(Result(content, call_id, error is not None or fields.get("status") == "error"))
    elif fields.get("role") == "exit":
        extra = object_of(fields.get("extra"))  # has a submission only if the agent didn't run into a limit
        message.submission = text(extra.get("submission") if extra.keys() & {"exit_status", "submission"} else content)
    if message.role in ("user", "assistant"):
        kept([block for block in objects_of(content) if block.get("type") in _OTHER_BLOCKS])
        message.results += _results(content)
        message.texts = _texts(content)
    return message


def _read_assistant(message: Message, fields: dict[str, Any]) -> None:
    """Add the calls, the model and the tokens of a model's message, and whether it ends in words."""
    content = fields.get("content")
    further, metadata = (object_of(fields.get(key)) for key in ("additional_kwargs", "response_metadata"))
    calls = objects_of(fields.get("tool_calls")) or objects_of(further.get("tool_calls"))
    for one in calls:
        call = object_of(one.get("tool_call")) or one
        function = call.get("function")
        held = function if isinstance(function, dict) else call
        name = function if isinstance(function, str) else held.get("name")
        message.calls.append(Call(name, held.get("arguments", call.get("args")), call.get("id")))
    former = fields.get("function_call") or further.get("function_call")
    if isinstance(former, dict):
        message.calls.append(Call(former.get("name"), former.get("arguments"), _named_call(former.get("name"))))
    for block in () if calls else objects_of(content):
        if block.get("type") in _CALL_BLOCKS:
            given = next((block[key] for key in ("input", "args", "arguments") if key in block), None)
            message.calls.append(Call(block.get("name"), given, block.get("id")))
    message.ends_in_words = _after_calls(content) is not content
    message.cut = cut_short(fields, further, metadata)
    message.model = text(fields.get("model")) or text(metadata.get("model_name")) or text(metadata.get("model"))
    used = (fields.get("usage"), fields.get("usage_metadata"), metadata.get("token_usage"), metadata.get("usage"))
    message.prompt_tokens, message.output_tokens = tokens_of(next(filter(None, used), None))


def cut_short(*replies: Any) -> bool:
    """Return whether a reply, or what stands beside it, says that it ended at a limit of tokens.

    >>> cut_short({"finish_reason": "length"}), cut_short({"finishReason": "MAX_TOKENS"})
    (True, True)
    >>> cut_short({"stop_reason": "end_turn"}, {}, None)
    False
    """
    given = [one for one in replies if isinstance(one, dict)]
    given += [one for held in given for key in ("choices", "candidates") for one in objects_of(held.get(key))[:1]]
    reasons = [one[key] for one in given for key in _REASONS if key in one]
    for one in given:
        if one.get("status") == "incomplete":
            reasons.append(object_of(one.get("incomplete_details")).get("reason", "length"))
    each = (reason for held in reasons for reason in (held if isinstance(held, list) else [held]))
    return any(isinstance(one, str) and one.rpartition(".")[2].lower() in _LIMITS for one in each)


def is_message(value: Any) -> bool:
    """Return whether a value is a message of a conversation, or an item of one."""
    fields = plain_message(value)
    if not isinstance(fields, dict):
        return False
    if fields.get("type") in (*_CALL_ITEMS, *_RESULT_ITEMS):
        return "call_id" in fields
    if fields.get("type") in _RAN_ITEMS:
        return "id" in fields
    held = fields.keys() & {"content", "tool_calls", "function_call"}
    return bool(held) and any(_label(fields.get(key)) in ROLES for key in ("role", "type"))


def is_conversation(value: Any) -> bool:
    """Return whether a value is a list of messages."""
    return isinstance(value, list) and any(map(is_message, value[:3]))


def tokens_of(usage: Any) -> tuple[int | None, int | None]:
    """Return the tokens of the prompt, with those that a cache had or keeps, and those of the output.

    >>> tokens_of({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5})
    (100, 5)
    >>> tokens_of({"prompt_tokens": 7, "completion_tokens": 3}), tokens_of(None)
    ((7, 3), (None, None))
    """
    if not isinstance(usage, dict):
        return None, None
    prompt = whole(usage.get("prompt_tokens", usage.get("input_tokens", usage.get("promptTokenCount"))))
    if prompt is not None:
        # Counted beside the input's tokens by the interface that has these names.
        cached = (usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens"))
        prompt += sum(whole(one) or 0 for one in cached)
    output = usage.get("completion_tokens", usage.get("output_tokens", usage.get("candidatesTokenCount")))
    return prompt, whole(output)


def reply(value: Any) -> dict[str, Any] | None:
    """Return the messages, tokens and model of the reply of a model's interface, or None if it is no reply.

    It may lie in an envelope of a batch. ``cut`` says whether it ended at its limit of tokens.

    >>> reply({"choices": [{"message": {"role": "assistant", "content": "Ann"}}], "model": "m"})["messages"]
    [{'role': 'assistant', 'content': 'Ann'}]
    """
    if not isinstance(value, dict):
        return None
    choices, candidates, output = value.get("choices"), value.get("candidates"), value.get("output")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if not isinstance(message, dict) or "role" not in message:
            return None
        return {**value, "messages": [message], "cut": cut_short(value)}
    if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict):
        message = candidates[0].get("content")
        beside = {"usage": value.get("usageMetadata"), "model": value.get("modelVersion")}
        messages = [{"role": "model", **message}] if isinstance(message, dict) else []
        return {**beside, "messages": messages, "cut": cut_short(value)}
    if value.get("type") == "message" and value.get("role") == "assistant" and "content" in value:
        beside = {key: value[key] for key in ("usage", "model") if key in value}
        message = {key: one for key, one in value.items() if key not in beside}
        return {**beside, "messages": [message], "cut": cut_short(value)}
    if value.get("object") == "response" and isinstance(output, list):
        return {**value, "messages": output, "cut": cut_short(value)}
    if isinstance(output, dict) and isinstance(output.get("message"), dict) and "stopReason" in value:
        return {**value, "messages": [output["message"]], "cut": cut_short(value)}
    return reply(value.get("body") if "status_code" in value else value.get("message") if "type" in value else None)


def plain_message(value: Any) -> Any:
    """Return a message in the form of chat completions, whose content may be blocks; anything else as it is.

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
    kwargs, data, parts = (value.get(key) for key in ("kwargs", "data", "parts"))
    names, content, speaks = value.get("id"), value.get("content"), _label(value.get("type")) in ROLES
    if isinstance(kwargs, dict) and isinstance(names, list) and names:  # LangChain's dumpd
        name = _label(names[-1])
        return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **kwargs}
    if isinstance(data, dict) and "content" in data and speaks:  # LangChain's messages_to_dict
        return {"type": value["type"], **data}
    if isinstance(parts, list) and _label(value.get("kind")) in ("request", "response"):  # Pydantic AI
        names = ("usage", "model_name", "finish_reason")
        beside = {key.removesuffix("_name"): value[key] for key in names if key in value}
        blocks = [block for part in objects_of(parts) if (block := _block_of_pydantic_ai(part))]
        return {"role": "user" if value["kind"] == "request" else "assistant", "content": blocks, **beside}
    if isinstance(parts, list) and _label(value.get("role")) in ROLES and content is None:
        # Gemini, OpenTelemetry, Vercel's messages for a page
        rest = {key: one for key, one in value.items() if key != "parts"}
        return {**rest, "content": [block for part in parts for block in _blocks_of_part(part)]}
    if isinstance(content, list) and any(one.get("type") in _MODEL_PARTS for one in objects_of(content)):
        # Vercel's messages for a model; their results come as those of a user
        role = "user" if value.get("role") == "tool" else value.get("role")
        return {**value, "role": role, "content": [block for part in content for block in _blocks_of_part(part)]}
    if value.get("type") == "gemini":
        return _message_of_gemini_cli(value)
    if any(one.get("type") in (*_GOOSE_CALLS, _GOOSE_RESULT) for one in objects_of(content)):
        return {**value, "content": [_block_of_goose(one) for one in content or ()]}
    if any(one.keys() & {*_CALL_PARTS, *_RESULT_PARTS} for one in objects_of(content)):  # Converse
        return {**value, "content": [_block_of_part(one) for one in content or ()]}
    return value


def _message_of_gemini_cli(value: dict[str, Any]) -> dict[str, Any]:
    """Return a reply in a session of Gemini CLI, which holds the results of its calls, too."""
    blocks: list[Any] = [{"type": "text", "text": value["content"]}] if text(value.get("content")) else []
    for call in objects_of(value.get("toolCalls")):
        parts = objects_of(call.get("result"))
        gave = [object_of(part.get("functionResponse")).get("response") for part in parts]
        given = gave[0] if len(gave) == 1 else [one for one in gave if one is not None]
        output = given.get("output", given) if isinstance(given, dict) and "error" not in given else given
        blocks.append({"type": "tool_use", "name": call.get("name"), "input": call.get("args"), "id": call.get("id")})
        failed = call.get("status") not in ("success", None)
        blocks.append({"type": "tool_result", "tool_use_id": call.get("id"), "content": output, "is_error": failed})
    used, rest = object_of(value.get("tokens")), ("toolCalls", "tokens", "thoughts", "timestamp")
    usage = {"input_tokens": used.get("input"), "output_tokens": used.get("output")}
    return {**{key: one for key, one in value.items() if key not in rest}, "content": blocks, "usage": usage}


def _blocks_of_part(part: Any) -> list[Any]:
    """Return the blocks of a part; of Vercel's parts, one for a page is a call with its result."""
    kind = _label(part.get("type")) if isinstance(part, dict) else ""
    if not (kind in _MODEL_PARTS or kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part)):
        return [_block_of_part(part)]
    call, name = part.get("toolCallId"), part.get("toolName", kind.removeprefix("tool-"))
    given = part.get("input", part.get("args"))
    gave = part.get("output", part.get("result"))
    asked = {"type": "tool_use", "name": name, "input": given, "id": call}
    if kind == "tool-call":
        return [asked]
    failed = part.get("state") in ("output-error", "output-denied") or part.get("isError") is True
    if isinstance(gave, dict) and "value" in gave and _label(gave.get("type")) in _MODEL_OUTPUTS:
        failed = failed or gave["type"].startswith("error")
        gave = gave["value"]
    result = {"type": "tool_result", "tool_use_id": call, "content": gave, "is_error": failed}
    if kind == "tool-result":
        return [result]
    # What a part for a page calls by: input-streaming and input-available have no result yet.
    done = "output" in part or failed
    return [asked, {**result, "content": part.get("errorText", gave)}] if done else [asked]


def _block_of_part(part: Any) -> Any:
    """Return a block of a part of Gemini or Converse, whose kind is its key, or of OpenTelemetry."""
    if not isinstance(part, dict):
        return part
    call = next((part[key] for key in _CALL_PARTS if isinstance(part.get(key), dict)), None)
    gave = next((part[key] for key in _RESULT_PARTS if isinstance(part.get(key), dict)), None)
    if call is not None:
        name = call.get("toolUseId", call.get("id")) or _named_call(call.get("name"))
        return {"type": "tool_use", "name": call.get("name"), "input": call.get("input", call.get("args")), "id": name}
    if gave is not None:
        name = gave.get("toolUseId", gave.get("id")) or _named_call(gave.get("name"))
        content = gave.get("content", gave.get("response"))
        content = [_text_of_json(one) for one in content] if isinstance(content, list) else content
        failed = gave.get("status") == "error"
        return {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": failed}
    words = part.get("content") if part.get("type") == "text" else part.get("text")
    return {"type": "text", "text": words} if isinstance(words, str) else part


def _block_of_goose(block: Any) -> Any:
    """Return a block of Goose, whose calls and results are each a success with a value, or an error."""
    kind = _label(block.get("type")) if isinstance(block, dict) else ""
    if kind in _GOOSE_CALLS:
        call = object_of(kept(block.get("toolCall")))
        given = object_of(call.get("value")) or call
        return {"type": "tool_use", "name": given.get("name"), "input": given.get("arguments"), "id": block.get("id")}
    if kind == _GOOSE_RESULT:
        gave = object_of(block.get("toolResult")) or {"value": block.get("toolResult")}
        held = object_of(gave.get("value"))
        failed = gave.get("status") == "error" or "error" in gave or held.get("isError") is True
        content = held.get("structuredContent") or held.get("content", gave.get("value"))
        content = gave.get("error", content)
        return {"type": "tool_result", "tool_use_id": block.get("id"), "content": content, "is_error": failed}
    return block


def _text_of_json(block: Any) -> Any:
    if isinstance(block, dict) and block.keys() == {"json"}:
        return {"type": "text", "text": json.dumps(block["json"])}
    return {"type": "text", **block} if isinstance(block, dict) and "text" in block else block


def _block_of_pydantic_ai(part: dict[str, Any]) -> dict[str, Any] | None:
    """Return a block of a part of Pydantic AI's messages; the system's prompt and thoughts are skipped."""
    kind, content, call = part.get("part_kind"), part.get("content"), part.get("tool_call_id")
    if kind in ("user-prompt", "text"):
        words = [one for one in (content if isinstance(content, list) else [content]) if isinstance(one, str)]
        return {"type": "text", "text": "\n".join(words)} if words else None
    if kind in ("tool-call", "builtin-tool-call"):
        return {"type": "tool_use", "name": part.get("tool_name"), "input": part.get("args"), "id": call}
    if kind in ("tool-return", "builtin-tool-return", "retry-prompt") and call:
        failed = kind == "retry-prompt" or part.get("outcome") in _FAILED_OUTCOMES
        return {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}
    return None


def _label(value: Any) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def unread_blocks(fields: Any) -> list[str]:
    """Return the types of the blocks of a message's content that aren't read, one for each block."""
    blocks = objects_of(fields.get("content")) if isinstance(fields, dict) else []
    known = (*_TEXT_BLOCKS, *_CALL_BLOCKS, *_RESULT_BLOCKS, *_OTHER_BLOCKS)
    kinds = (one.get("type") for one in blocks if "tool_use_id" not in one)
    return [str(kind) for kind in kinds if kind not in known]


def _named_call(name: Any) -> str:
    """Return a substitute for the id of a call if a dialect has none: the tool's name, whose last call is meant."""
    return f"function {name}"


def _results(content: Any) -> list[Result]:
    """Return the results of tools that are blocks of a content."""
    return [
        Result(block.get("content"), block["tool_use_id"], block.get("is_error") is True)
        for block in objects_of(content)
        if "tool_use_id" in block
    ]


def _texts(content: Any) -> list[str]:
    """Return the words of a content, a block each."""
    blocks = _after_calls(content)
    parts = [blocks] if isinstance(blocks, str) else blocks if isinstance(blocks, list) else []
    return [words for part in parts if (words := _words(part))]


def _words(block: Any) -> str | None:
    """Return the words of a block: neither a call nor a result, nor a thought."""
    return text(block.get("text")) if isinstance(block, dict) and block.get("type") in _TEXT_BLOCKS else text(block)


def _after_calls(content: Any) -> Any:
    """Return the blocks after the last call or result of a content, if they hold words; else all of it."""
    blocks = content if isinstance(content, list) else []
    used = [
        place
        for place, one in enumerate(blocks)
        if isinstance(one, dict) and (one.get("type") in _CALL_BLOCKS or "tool_use_id" in one)
    ]
    rest = blocks[used[-1] + 1 :] if used else []
    return rest if any((_words(one) or "").strip() for one in rest) else content
