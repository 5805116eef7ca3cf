"""Parts that the readers of agent frameworks share: a log becomes a conversation, by which the tools are known.

Each framework has a reader of its own, which knows its objects and turns them into messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, MANY_QUESTIONS, Conversation
from graphkit.plugins.logs.payloads import Wrapped, each_unwrapped, holds
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.accounting import without
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values

#: The things that the log of no framework says.
FRAMEWORK_LACKS = (
    *LACKS,
    "The finds of a search are read from results that are JSON or what Python prints of lists and objects, not from "
    "plain text.",
    "Without a call, it is unknown whether there was anything to open.",
)

BACKWARDS = "the times of the log run backwards: the latency is unknown"


class FrameworkReader(Reader):
    """The reader of an agent framework: finds its objects in whatever surrounds them.

    Attributes
    ----------
    lists
        Whether a list can be one of the objects.
    """

    lacks: ClassVar[tuple[str, ...]] = FRAMEWORK_LACKS
    lists: ClassVar[bool] = True

    @abstractmethod
    def is_payload(self, value: Any) -> bool:
        """Return whether a value is what the framework writes."""

    def is_item(self, value: Any) -> bool:
        """Return whether a value is one part of what :meth:`is_payload` accepts, written alone."""
        return False

    def thread_of(self, item: Any) -> str | None:
        """Return the run to which a part belongs; with the question, it joins parts that were written alone."""
        return None

    @abstractmethod
    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        """Add what the framework wrote to an answer."""

    def recognises(self, value: Any) -> bool:
        return holds(value, self.is_payload, lists=self.lists) or holds(value, self.is_item)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        threads: dict[tuple[str | None, str | None], Wrapped] = {}
        for where, value in values:
            if holds(value, self.is_item) and not holds(value, self.is_payload, lists=self.lists):
                for one in each_unwrapped(value, self.is_item, options, where):
                    key = one.question, self.thread_of(one.payload)
                    if key in threads:
                        threads[key].payload.append(one.payload)
                    else:
                        one.payload, threads[key] = [one.payload], one
                continue
            for wrapped in self.each(value, options, where):
                yield from self.answers(wrapped, unread)
        for thread in threads.values():
            yield from self.answers(thread, unread)

    def each(self, value: Any, options: ReadOptions, where: str) -> Iterator[Wrapped]:
        """Yield each object of the framework in a value."""
        return each_unwrapped(value, self.is_payload, options, where, lists=self.lists)

    def answers(self, wrapped: Wrapped, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        """Yield the answer of one of the framework's objects and its surroundings."""
        answer = wrapped.logged(unread)
        payload = wrapped.payload
        if isinstance(payload, dict):  # without what names the question, which isn't the framework's
            payload = without(payload, wrapped.names)
        if payload is not None:
            self.add(answer, payload, unread)
        yield answer


class SearchReader(FrameworkReader):
    """The reader of a library that searches a graph, and logs neither tools nor models."""

    lacks: ClassVar[tuple[str, ...]] = ()

    def answers(self, wrapped: Wrapped, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for answer in super().answers(wrapped, unread):
            if wrapped.empty:
                answer.retrieved, answer.traversal = [], []
            yield answer


def add_conversation(answer: LoggedAnswer, dialogue: Conversation, tools: bool = False) -> None:
    """Add a conversation to an answer; what stands around the framework's objects is believed before it.

    Parameters
    ----------
    tools
        Whether the log lists the tools, so that no call is a walk of nothing.
    """
    dialogue.into(answer, tools)
    notes = dialogue.notes
    if answer.answer is not None:
        notes = [note for note in notes if note != ENDS_WITH_CALL]
    answer.answer = answer.answer or dialogue.answer
    answer.notes += notes
    answer.model_calls = answer.model_calls or dialogue.model_calls or None
    if answer.prompt_tokens is answer.output_tokens is None:
        answer.prompt_tokens, answer.output_tokens = dialogue.prompt_tokens, dialogue.output_tokens
    if answer.model is None and len(dialogue.models) == 1:
        answer.model = dialogue.models[0]


def add_latency(answer: LoggedAnswer, times: Iterable[Any]) -> None:
    """Add the time from the question to the last word, unless the log gives another or several questions."""
    known = [time for time in map(microseconds_of, times) if time is not None]
    if answer.latency_ms is not None or len(known) < 2 or MANY_QUESTIONS in answer.notes:
        return
    taken = (known[-1] - known[0]) / 1000
    if taken < 0:
        answer.notes.append(BACKWARDS)
    else:
        answer.latency_ms = taken
