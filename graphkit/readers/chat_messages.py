"""Conversations with tools, as the interfaces of models have them: what was opened is the walk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.readers.conversations import (
    ROLES,
    Conversation,
    conversation,
    is_conversation,
    is_message,
    plain_message,
    tokens_of,
)
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from graphkit.readers.payloads import Wrapped, count_unread, each_unwrapped, holds, number, text

_USED = ("messages", "usage", "model", "tools", "functions", "cost", "total_cost_usd", "input", "output")


class MessagesReader:
    """Reads conversations: one a value, or a file that is one conversation with a message a value."""

    name = "messages"
    title = "OpenAI-style messages with tool calls, and Anthropic's content blocks"
    lines = False
    lacks = (
        "What a tool opened is told by the names of its arguments (path, symbol, node, id, ...): a shell's commands "
        "aren't read, and a search opens nothing.",
        "Relations aren't logged: a step is an edge wherever the knowledge graph holds one.",
        "What a search found is taken from results that are JSON or name their sources, not from plain text.",
        "Without a call and without a list of the tools it isn't known whether there was anything to open.",
        "Times, and what a model call cost, are only known where they were written beside the messages.",
    )

    def recognises(self, value: Any) -> bool:
        """Tell whether a value is a message, or holds a list of messages."""
        return is_message(value) or holds(value, _is_payload, lists=True)

    def read(
        self, values: Iterable[tuple[str, Any]], options: ReadOptions, unread: Counter[str]
    ) -> Iterator[LoggedAnswer]:
        """Yield an answer a conversation."""
        first = ""
        bare: list[Any] = []
        held: Wrapped | None = None  # a conversation, until it is seen whether the next one is what follows of it
        for where, value in values:
            if is_message(value):
                first = first or where
                bare.append(value)
                continue
            for one in each_unwrapped(value, _is_payload, options, where, lists=True):
                if held is not None and held.question == one.question and _continue(held, one):
                    continue
                if held is not None:
                    yield _answer(held, unread)
                held = one
        if held is not None:
            yield _answer(held, unread)
        if bare:
            yield _answer(Wrapped(first, bare), unread)


def _is_payload(value: Any) -> bool:
    return is_conversation(value) or (isinstance(value, dict) and any(map(is_conversation, value.values())))


def _continue(former: Wrapped, later: Wrapped) -> bool:
    """Take the messages of a later part of the same conversation, as graphs stream them, into the former part.

    It repeats what was said and goes on, or what comes first in it is a model's or a tool's.
    """
    known, given = _messages(former.payload), _messages(later.payload)
    if not known or not given:
        return False
    if given[: len(known)] == known:
        former.payload = later.payload
        return True
    if any(plain_message(one) == plain_message(given[0]) for one in known) or not _answers(given[0]):
        return False
    former.payload = [*known, *given]
    return True


def _answers(message: Any) -> bool:
    """Tell whether something is said by a model or a tool."""
    message = plain_message(message)
    labels = (message.get(key) for key in ("role", "type")) if isinstance(message, dict) else ()
    return any(isinstance(label, str) and ROLES.get(label) in ("assistant", "tool") for label in labels)


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
    if isinstance(payload, dict):
        around = payload
        lists = [key for key, value in around.items() if is_conversation(value)]
        keys = ["messages"] if "messages" in lists else lists if set(lists) <= {"input", "output"} else lists[:1]
        payload = [message for key in sorted(keys) for message in around[key]]
        count_unread(around, (*_USED, *keys, *wrapped.names), unread)
    said = conversation(payload, unread)
    said.trail.into(answer, tools=bool(around.get("tools") or around.get("functions")))
    answer.question_text = answer.question_text or said.question
    answer.answer = answer.answer if answer.answer is not None else said.answer
    answer.notes += said.notes
    _costs(answer, said, around)
    return answer


def _costs(answer: LoggedAnswer, said: Conversation, around: dict[str, Any]) -> None:
    """Write what it took: what is said of the whole is believed before the sum of its messages."""
    prompt, output = tokens_of(around.get("usage"))
    answer.prompt_tokens = said.prompt_tokens if prompt is None else prompt
    answer.output_tokens = said.output_tokens if output is None else output
    answer.cost = number(around.get("cost", around.get("total_cost_usd")))
    answer.model_calls = said.model_calls or None
    answer.model = text(around.get("model")) or (said.models[0] if len(said.models) == 1 else None)


READER = MessagesReader()
