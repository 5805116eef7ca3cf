"""Traffic of the Model Context Protocol: the JSON-RPC messages between a client and its servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.call_values import found_in
from graphkit.plugins.logs.conversations import refuse_unnamed, thread_of
from graphkit.plugins.logs.payloads import QUESTION_IDS, Wrapped, each_unwrapped, holds, json_within, objects_of
from graphkit.plugins.logs.tool_calls import LACKS, Trail
from graphkit.readers.json_values import identifier, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import counted, shortened

#: The methods of calls, and those of other messages that say nothing of a question.
CALL, RESOURCE = "tools/call", "resources/read"
_BESIDE = (
    *("initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "prompts/get"),
    *("resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel", "roots/list"),
)
_NOTIFICATIONS = "notifications/"

#: The keys of the result of a call, and of a resource that was read.
_CALL_RESULT = ("content", "structuredContent", "isError")
_RESOURCE_RESULT = "contents"

#: How many messages behind a response its call may stand.
SWAPPED = 3

ONE_WAY = "no result of a call is logged: what the calls found isn't known; log what the servers send, too"
_LOG_BOTH = (
    "Log both directions, a message a line in the order of their times: of a server on stdio what goes into its "
    "standard input, too; or log the calls and results in the client."
)


class McpReader(Reader):
    """Reads messages, bare or each within an object, and lists of them."""

    name = "mcp"
    priority = 126
    beside = ("direction", "mimeType", "capabilities", "clientInfo", "serverInfo", "protocolVersion", "tools")
    title = "MCP: JSON-RPC messages of tools/call and resources/read with their results, bare or within objects"
    lacks = (
        *LACKS,
        "The finds of a search are read from structured content, from JSON, or from resources, not from plain text.",
        "Only what went over MCP is logged: neither what an agent read with tools of its own, nor the question and "
        "the answer, models, tokens, cost and latency. Without a call the traversal is unknown.",
        "A message names no question: its id is read from around the messages, or from the file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return _message_in(value) is not None or holds(value, _is_traffic, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        threads: dict[tuple[str | None, str | None], _Traffic] = {}
        for where, value in values:
            batch = [one for one in (value if isinstance(value, list) else [value]) if _message_in(one) is not None]
            for one in batch:
                key = thread_of(one, QUESTION_IDS, options.question_key)[:2]
                if key not in threads:
                    threads[key] = _Traffic(Wrapped(LoggedAnswer(where, key[0]), None))
                threads[key].messages.append(one)
            if batch:
                continue
            for wrapped in each_unwrapped(value, _is_traffic, options, where, lists=True):
                yield _answer(_Traffic(wrapped, objects_of(wrapped.payload)), unread)
        first = next((thread.wrapped.answer.where for thread in threads.values()), "")
        refuse_unnamed((question for question, _ in threads), options.question_key, first)
        for thread in threads.values():
            yield _answer(thread, unread)


@dataclass(slots=True)
class _Traffic:
    """The messages about one question, with what stands around them."""

    wrapped: Wrapped
    messages: list[dict[str, Any]] = field(default_factory=list)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    return isinstance(value.get("method"), str) or ("id" in value and bool(value.keys() & {"result", "error"}))


def _message_in(value: Any) -> dict[str, Any] | None:
    """Return the message that an object is or holds, also as the text of its JSON."""
    if _is_message(value):
        message: dict[str, Any] = value
        return message
    for key, one in dict.items(value) if isinstance(value, dict) and len(value) <= 20 else ():
        if isinstance(one, str) and "jsonrpc" not in one[:1000]:
            continue
        inner = json_within(one)
        if isinstance(inner, dict) and _is_message(inner):
            value.get(key)
            return inner
    return None


def _is_traffic(value: Any) -> bool:
    return isinstance(value, list) and any(_message_in(one) is not None for one in value[:5])


def _answer(traffic: _Traffic, unread: Counter[str]) -> LoggedAnswer:
    answer = traffic.wrapped.logged(unread)
    trail = Trail()
    asked: dict[str, str] = {}  # the methods of the requests that wait for a response, by their ids
    counts: Counter[str] = Counter()
    for message in _in_order([_message_in(held) for held in traffic.messages]):
        if message is None:
            unread["objects without a message"] += 1
        elif isinstance(message.get("method"), str):
            _request(message, trail, asked, unread)
        else:
            counts[_response(message, trail, asked)] += 1
    if traffic.messages and counts["lost"] and not trail.calls:
        raise UnreadableLogError(
            f"it holds {counted(counts['lost'], 'result')} of calls, and none of the calls",
            where=answer.where or None,
            remedy=_LOG_BOTH,
        )
    if counts["lost"]:
        unread["results of calls that aren't logged"] += counts["lost"]
    trail.into(answer, tools=False)
    if trail.calls and not counts["matched"]:
        answer.notes.append(ONE_WAY)
    return answer


def _in_order(messages: Sequence[dict[str, Any] | None]) -> Iterator[dict[str, Any] | None]:
    """Yield messages, a call before its response: two writers of one log may swap them, such as a ``tee`` each way."""
    asked, taken = set[str](), set[int]()
    for place, message in enumerate(messages):
        if place in taken:
            continue
        name = None if message is None else identifier(message.get("id"))
        if message is None or name is None:
            pass
        elif "method" in message:
            asked.add(name)
        elif name in asked:
            asked.discard(name)
        else:
            near = range(place + 1, min(place + 1 + SWAPPED, len(messages)))
            call = next((at for at in near if at not in taken and _is_call(messages[at], name)), None)
            if call is not None:
                taken.add(call)
                yield messages[call]
        yield message


def _is_call(message: dict[str, Any] | None, name: str) -> bool:
    return message is not None and message.get("method") in (CALL, RESOURCE) and identifier(message.get("id")) == name


def _request(message: dict[str, Any], trail: Trail, asked: dict[str, str], unread: Counter[str]) -> None:
    """Add a call; of other requests and of notifications those are counted that may say something."""
    method, params = message["method"], object_of(message.get("params"))
    name = identifier(message.get("id"))
    if method in (CALL, RESOURCE) and name is not None:
        given = params.get("arguments") if method == CALL else {"uri": params.get("uri")}
        trail.called(params.get("name") if method == CALL else RESOURCE, given, name)
        asked[name] = method
    elif method not in _BESIDE and not method.startswith(_NOTIFICATIONS):
        unread[f"messages of the method {shortened(method)}"] += 1


def _response(message: dict[str, Any], trail: Trail, asked: dict[str, str]) -> str:
    """Add the response to a call, and return whether its call was found.

    Both sides count their requests from the same numbers, so a response has to look like one to the call.
    """
    name = identifier(message.get("id")) or ""
    result = object_of(message.get("result"))
    of_call = bool(result.keys() & {*_CALL_RESULT}) and "role" not in result
    if "error" in message:
        if asked.pop(name, None) is None:
            return "other"
        error = object_of(message["error"])
        trail.returned(text(error.get("message")) or "", name, failed=True)
        return "matched"
    if of_call and isinstance(result.get("content", []), list):
        if asked.pop(name, None) is None:
            return "lost"
        content, structured = result.get("content"), result.get("structuredContent")
        found: list[LoggedChunk] | None = None if structured is None else found_in(structured)
        trail.returned(structured if content is None else content, name, result.get("isError") is True, found)
        return "matched"
    if isinstance(result.get(_RESOURCE_RESULT), list):
        if asked.pop(name, None) is None:
            return "lost"
        parts = (text(one.get("text")) for one in objects_of(result[_RESOURCE_RESULT]))
        trail.returned("\n".join(part for part in parts if part is not None), name)
        return "matched"
    return "other"
