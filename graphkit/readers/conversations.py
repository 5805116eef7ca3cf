"""Conversations with a model: the messages of each side, and the tools that it used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphkit.readers.accounting import without
from graphkit.readers.logged import UnreadableLogError
from graphkit.readers.model_messages import KNOWN, Message, parse_message, plain_message, unread_blocks
from graphkit.readers.payloads import QUESTION_IDS, TASK_IDS, at, count_unread, identifier, plain_key
from graphkit.readers.tagged_calls import has_tagged_calls, with_tagged_calls
from graphkit.readers.tool_calls import Trail
from graphkit.records.words import shortened

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
    _questions: int = 0
    #: The last of text, call, and text with a call behind it in one message.
    _last: str = ""

    def add(self, message: Message) -> None:
        """Add a message."""
        for call in message.calls:
            self.trail.called(call.name, call.arguments, call.id, call.folder)
        for result in message.results:
            self.trail.returned(result.content, result.call, result.failed, result.found)
        self.trail.submitted = message.submission or self.trail.submitted
        words = message.text
        if message.role == "assistant":
            self.model_calls += 1
            self.prompt_tokens = added(self.prompt_tokens, message.prompt_tokens)
            self.output_tokens = added(self.output_tokens, message.output_tokens)
            if message.model is not None and message.model not in self.models:
                self.models.append(message.model)
            if words is not None:
                self.answer, self._last = words, "text"
        elif message.role == "user" and words is not None:
            self._questions += 1
            self.question = self.question or words
        if message.calls and not (words is not None and message.ends_in_words):
            self._last = "call" if words is None else "text and call"

    def close(self) -> None:
        """Decide whether the last text is the answer, after the last message."""
        if self.trail.submitted is not None:
            self.answer = self.trail.submitted
        elif self.answer is not None and (self._last == "call" or (self._last != "text" and not self.trail.handed_in)):
            self.answer, self.thought = None, self.answer
            self.notes.append(ENDS_WITH_CALL)
        if self._questions > 1:
            self.notes.append(MANY_QUESTIONS)


def conversation(messages: Iterable[Any], unread: Counter[str], prefix: str = "messages.") -> Conversation:
    """Return the content of a conversation."""
    found = Conversation()
    messages = list(messages)
    tagged = has_tagged_calls(messages)
    for value in messages:
        if isinstance(value, dict):
            plain = plain_message(value)
            count_unread(plain, KNOWN, unread, prefix)
            if kinds := unread_blocks(plain):
                unread.update(f"{prefix}content of the type {shortened(kind)}" for kind in kinds)
                found.trail.unread_part()
            message = parse_message(value)
            found.add(with_tagged_calls(message) if tagged else message)
        else:
            unread[f"{prefix}({type(value).__name__})"] += 1
    found.close()
    return found


def thread_of(
    value: dict[str, Any], keys: Iterable[str] = (*QUESTION_IDS, *TASK_IDS), named: str | None = None
) -> tuple[str | None, str | None, dict[str, Any]]:
    """Return the question and the session in the line of a message, and the rest of the line.

    Parameters
    ----------
    keys
        Those of the question's id.
    named
        The key that the user names instead, as ``metadata.ticket``.
    """
    if named is not None:
        keys = ()
    names = {plain_key(name): name for name in value.keys()}  # noqa: SIM118 - no field is taken by its name
    key = next((names[name] for name in keys if name in names), None)
    rest = without(value, (key, "session_id", "sessionId"))
    session = identifier(value.get("session_id", value.get("sessionId")))
    if named is not None:
        return identifier(at(value, named)), session, rest
    return None if key is None else identifier(value[key]), session, rest


def refuse_unnamed(questions: Iterable[str | None], named: str | None, where: str) -> None:
    """Refuse messages, a line each, none of which has a question's id at the key that the user names."""
    found = list(questions)
    if named is not None and found and not any(found):
        what = f"no message has a question's id at {named!r}"
        remedy = "Correct --question-key; a key within another is written with a dot, such as metadata.question_id."
        raise UnreadableLogError(what, where=where or None, remedy=remedy)


def added(first: int | None, second: int | None) -> int | None:
    """Return the sum of two counts of which some may be unknown; None if neither is known.

    >>> added(1, None), added(1, 2), added(None, None)
    (1, 3, None)
    """
    return second if first is None else first if second is None else first + second
