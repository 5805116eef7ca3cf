"""What the logs of coding agents state of a session: its conversation, folders, models, times, costs and failures."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.conversations import Conversation, added
from graphkit.plugins.logs.model_messages import Message, Result
from graphkit.plugins.logs.tool_calls import WITHOUT_RESULT
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk
from graphkit.records.usage import added as summed

ABORTED = "the session was aborted"
ENDED = "the session ended with {!r}"

_MATCH = re.compile(r"(\S{1,4096}?):\d{1,9}[:-]")
_NOTHING_FOUND = re.compile(r"No (?:files|matches)(?: were)?(?: found| matched the pattern)?\.?")


@dataclass(slots=True)
class AgentSession:
    """The content of a session.

    Attributes
    ----------
    waiting
        The calls by their ids, and whether the result of each is still to come.
    """

    dialogue: Conversation = field(default_factory=Conversation)
    folders: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    waiting: dict[str, bool] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    begun: int | None = None
    done: int | None = None
    latency_ms: float | None = None
    model_calls: int = 0
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    costs: list[float] = field(default_factory=list)
    failure: str | None = None
    failure_type: str | None = None

    def entered(self, folder: Any) -> str | None:
        """Note a folder in which the agent worked, and return it if it is absolute."""
        given = text(folder)
        if given is None or not given.startswith("/"):
            return None
        self.folders[posixpath.normpath(given)] = None
        return posixpath.normpath(given)

    def add(self, message: Message, time: int | None = None) -> None:
        """Add a message with the tokens of its reply; the time runs from the first question to the last reply."""
        message.time = time
        self.add_usage(message.prompt_tokens, message.output_tokens)
        if message.role == "user" and message.text is not None and self.begun is None:
            self.begun = time
        elif message.role == "assistant":
            self.model_calls += 1
            self.failure = self.failure_type = None
            self.done = self.done if time is None else time
            if message.model is not None:
                self.models[message.model] = None
        for call in message.calls:
            if (key := identifier(call.id)) is not None:
                self.waiting[key] = True
        for result in message.results:
            if (key := identifier(result.call)) is not None:
                self.waiting[key] = False
        self.dialogue.add(message)

    def add_usage(self, prompt: int | None, output: int | None, cost: float | None = None) -> None:
        """Add the tokens and the cost of replies, where these stand apart from them."""
        self.prompt_tokens, self.output_tokens = added(self.prompt_tokens, prompt), added(self.output_tokens, output)
        self.costs += [cost] if cost is not None else []

    def began(self, call: Any) -> bool:
        """Return whether a call with this id was added."""
        return (identifier(call) or "") in self.waiting

    def fail(self, said: Any, kind: Any = None) -> None:
        """Note that a reply failed; the session failed if no other one follows."""
        self.failure, self.failure_type = text(said) or "the session failed", text(kind) or "api_error"
        self.dialogue.add(Message(error=self.failure))

    def into(self, answer: LoggedAnswer) -> None:
        """Add the session to an answer. Calls whose result never came were cancelled, or killed."""
        if missing := [key for key, waits in self.waiting.items() if waits]:
            self.dialogue.add(Message(results=[Result(None, key, True) for key in missing]))
            self.notes[WITHOUT_RESULT] = None
        dialogue = self.dialogue
        dialogue.into(answer, tools=self.model_calls > 0)
        answer.folders = list(dict.fromkeys([*answer.folders, *self.folders]))
        answer.answer = answer.answer or dialogue.answer
        answer.notes += [*dialogue.notes, *self.notes]
        if self.failure is not None:
            answer.answer, answer.error, answer.error_type = None, self.failure, self.failure_type
        answer.model = next(iter(self.models)) if len(self.models) == 1 else None
        answer.model_calls = self.model_calls or None
        answer.prompt_tokens, answer.output_tokens = self.prompt_tokens, self.output_tokens
        answer.cost = summed(self.costs) if self.costs else None
        if answer.latency_ms is None and self.latency_ms is not None:
            answer.latency_ms = self.latency_ms
        elif answer.latency_ms is None and self.begun is not None and self.done is not None and self.done >= self.begun:
            answer.latency_ms = (self.done - self.begun) / 1000


def as_inner(message: Message) -> Message:
    """Return a message of a subagent: what it opened counts, but it neither asks nor answers."""
    message.role, message.texts, message.model = None, [], None
    return message


def shell_result(output: Any, code: Any) -> str | None:
    """Return what a shell printed, with the exit code that its agent logs beside it."""
    printed = text(output)
    return (
        printed
        if not isinstance(code, int) or isinstance(code, bool)
        else f"Exit code: {code}\nOutput:\n{printed or ''}"
    )


def listed_files(output: Any, folder: str | None = None) -> list[LoggedChunk] | None:
    """Return the files of a list, a line each, or those whose lines a search prints; None if a line is anything else.

    >>> [one.name for one in listed_files("./a/b.py\\n./c.py") or ()]
    ['./a/b.py', './c.py']
    >>> [one.name for one in listed_files("/w/a.py:1:def f\\n/w/a.py:9:f()") or ()]
    ['/w/a.py']
    >>> listed_files("No files found"), listed_files("a.py has 3 lines")
    ([], None)
    """
    lines = [line.strip() for line in (text(output) or "").splitlines() if line.strip()]
    if len(lines) == 1 and _NOTHING_FOUND.fullmatch(lines[0]):
        return []
    matches = [_MATCH.match(line) for line in lines]
    names = [match[1] for match in matches if match] if all(matches) else lines
    if not names or any("/" not in name or any(map(str.isspace, name)) for name in names):
        return None
    return chunks(names, folder)


def chunks(names: Iterable[str], folder: str | None = None) -> list[LoggedChunk]:
    """Return found files, each once; a relative name lies in the folder, if that is known."""
    return [LoggedChunk(name) for name in dict.fromkeys(posixpath.join(folder or "", name) for name in names)]
