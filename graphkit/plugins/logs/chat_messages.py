"""Conversations with tools in the forms of models' interfaces: the traversal consists of what the tools opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, Conversation, conversation, refuse_unnamed, thread_of
from graphkit.plugins.logs.model_messages import (
    CUT,
    is_conversation,
    is_message,
    parse_message,
    plain_message,
    reply,
    tokens_of,
)
from graphkit.plugins.logs.payloads import Wrapped, count_unread, each_unwrapped, holds
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.doubts import NOTHING

_USED = ("messages", "usage", "model", "tools", "functions", "cost", "total_cost_usd", "input", "output")

#: What Goose's exports have beside the conversation.
_GOOSE = (
    *("id", "working_dir", "name", "user_set_name", "session_type", "created_at", "updated_at", "extension_data"),
    *("total_tokens", "input_tokens", "output_tokens", "accumulated_total_tokens", "accumulated_input_tokens"),
    *("accumulated_output_tokens", "message_count", "model_config", "provider_name"),
)

#: The places of a request with its messages, and of the response.
_REQUESTS = ("request", "inputs", "input", "body", "params")
_REPLIES = ("response", "completion", "output", "result", "reply", "raw_response", "message")

LAST_CALL = "only the last call of the model has its tokens: they have no sum"


class MessagesReader(Reader):
    """Reads conversations: one per value, or one per file with a message per value."""

    name = "messages"
    priority = 30
    title = (
        "Messages with tool calls, and replies, as OpenAI, Anthropic, Gemini, Bedrock, LangChain, Pydantic AI and "
        "Goose (goose session export --format json) have them"
    )
    lacks = (
        *LACKS,
        "The finds of a search are read from results that are JSON or name their sources, not from plain text.",
        "Without a call or a list of the tools, it is unknown whether there was anything to open.",
        "Times and costs are known only if they were written beside the messages.",
    )

    def recognises(self, value: Any) -> bool:
        return is_message(value) or _begins_goose(value) or holds(value, _is_payload, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        threads: dict[tuple[str | None, str | None], Wrapped] = {}  # by question and session, of a message a line
        held: Wrapped | None = None  # a conversation, until the next one shows whether it continues this one
        for where, value in values:
            if _begins_goose(value):
                _add_goose(threads.setdefault((None, None), Wrapped(LoggedAnswer(where), [])).answer, value)
                continue
            if is_message(value):
                question, session, message = thread_of(value, named=options.question_key)
                thread = threads.setdefault((question, session), Wrapped(LoggedAnswer(where, question), []))
                thread.payload.append(message)
                continue
            for one in each_unwrapped(value, _is_payload, options, where, lists=True):
                if one.payload is None:
                    _add_status(one.answer, value)
                same = held is not None and held.question == one.question and held.question is not None
                if same and held is not None and _continue(held, one):
                    continue
                if held is not None:
                    yield _answer(held, unread)
                held = one
        if held is not None:
            yield _answer(held, unread)
        first = next((thread.answer.where for thread in threads.values()), "")
        refuse_unnamed((question for question, _ in threads), options.question_key, first)
        for thread in threads.values():
            yield _answer(thread, unread)


def _begins_goose(value: Any) -> bool:
    """Return whether a value is the first line of a session file of Goose, whose messages follow."""
    return isinstance(value, dict) and {"working_dir", "message_count"} <= value.keys() and "conversation" not in value


def _add_goose(answer: LoggedAnswer, given: dict[str, Any]) -> None:
    """Add what Goose keeps of a session beside its messages."""
    if (folder := text(given.get("working_dir"))) is not None and folder.startswith("/"):
        answer.folders.append(folder)
    answer.prompt_tokens = whole(given.get("accumulated_input_tokens", given.get("input_tokens")))
    answer.output_tokens = whole(given.get("accumulated_output_tokens", given.get("output_tokens")))


def _add_status(answer: LoggedAnswer, value: Any) -> None:
    """Add the error of a line of a batch whose request was answered with an HTTP status of an error."""
    response = object_of(object_of(value).get("response"))
    status = number(response.get("status_code"))
    if answer.error is None and status is not None and status >= HTTPStatus.BAD_REQUEST:
        error = object_of(response.get("body")).get("error")
        said = text(error) or text(object_of(error).get("message"))
        answer.error = said or f"the request was answered with the status {status:.0f}"
        answer.error_type = text(object_of(error).get("type")) or f"HTTP {status:.0f}"
        answer.notes = [note for note in answer.notes if note != NOTHING]


def _is_payload(value: Any) -> bool:
    return is_conversation(value) or (isinstance(value, dict) and bool(_exchange(value)[0]))


def _exchange(value: dict[str, Any]) -> tuple[list[str], str | None, str | None]:
    """Return the places of the messages of an object: its own lists, those of a request in it, and a reply.

    An object with several conversations is a table of them.
    """
    if reply(value) is not None:
        return [""], None, ""
    replied = next((key for key in _REPLIES if reply(value.get(key)) is not None), None)
    lists = _lists(value)
    if lists:
        return lists, None, replied
    request = next((key for key in _REQUESTS if isinstance(value.get(key), dict) and _lists(value[key])), None)
    if request is not None and replied is not None:
        return _lists(value[request]), request, replied
    return ([""], None, replied) if replied is not None else ([], None, None)


def _lists(value: dict[str, Any]) -> list[str]:
    lists = [key for key, one in value.items() if is_conversation(one)]
    if "messages" in lists:
        return ["messages"]
    return sorted(lists) if len(lists) == 1 or set(lists) <= {"input", "output"} else []


def _continue(former: Wrapped, later: Wrapped) -> bool:
    """Add the messages of a later part of the same conversation, as graphs stream them, to the former part.

    It repeats the earlier messages and continues, or its first message is a model's or a tool's.
    """
    known, given = _messages(former.payload), _messages(later.payload)
    if not known or not given:
        return False
    if given[: len(known)] == known:
        former.payload = later.payload
        return True
    repeats = any(plain_message(one) == plain_message(given[0]) for one in known)
    if repeats or parse_message(given[0]).role not in ("assistant", "tool"):
        return False
    former.payload = [*known, *given]
    return True


def _messages(payload: Any) -> list[Any] | None:
    """Return the messages of a conversation that has nothing beside them but one key."""
    if isinstance(payload, dict):
        payload = payload.get("messages") if payload.keys() == {"messages"} else None
    return payload if isinstance(payload, list) else None


def _answer(wrapped: Wrapped, unread: Counter[str]) -> LoggedAnswer:
    answer = wrapped.logged(unread)
    payload = wrapped.payload
    if payload is None:
        return answer
    around: dict[str, Any] = {}
    gave: dict[str, Any] = {}
    if isinstance(payload, dict):
        keys, request, replied = _exchange(payload)
        around = payload if request is None else payload[request]
        gave = (reply(payload if replied == "" else payload[replied]) or {}) if replied is not None else {}
        if replied != "":
            own = _GOOSE if "working_dir" in payload else ()
            count_unread(payload, (*_USED, *own, *keys, request or "", replied or "", *wrapped.names), unread)
            if own:
                _add_goose(answer, payload)
                if answer.taken.get("question id") == "id":  # that of the session
                    answer.question = None
                    del answer.taken["question id"]
        payload = [message for key in keys if key for message in around[key]] + gave.get("messages", [])
    dialogue = conversation(payload, unread)
    dialogue.into(answer, tools=bool(around.get("tools") or around.get("functions")))
    known = answer.answer is not None
    answer.answer = answer.answer if known else dialogue.answer
    answer.notes += [note for note in dialogue.notes if not (known and note == ENDS_WITH_CALL)]
    if gave.get("cut") and CUT not in answer.notes:
        answer.notes.append(CUT)
    if gave and dialogue.model_calls > 1:
        gave = {key: one for key, one in gave.items() if key != "usage"}
        answer.notes.append(LAST_CALL)
    _costs(answer, dialogue, {**around, **gave})
    return answer


def _costs(answer: LoggedAnswer, dialogue: Conversation, around: dict[str, Any]) -> None:
    """Add tokens, costs and model: those of the whole are believed before the sum of its messages."""
    prompt, output = tokens_of(around.get("usage"))
    if answer.prompt_tokens is None:
        answer.prompt_tokens = dialogue.prompt_tokens if prompt is None else prompt
    if answer.output_tokens is None:
        answer.output_tokens = dialogue.output_tokens if output is None else output
    answer.cost = number(around.get("cost", around.get("total_cost_usd")))
    answer.model_calls = dialogue.model_calls or None
    model = text(around.get("model")) or text(object_of(around.get("model_config")).get("model_name"))
    answer.model = model or (dialogue.models[0] if len(dialogue.models) == 1 else None)
