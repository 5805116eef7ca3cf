"""Conversations of OpenHands: the events of its SDK (1.x), those of version 0, and the histories of its benchmarks."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, Conversation, added, refuse_unnamed, thread_of
from graphkit.plugins.logs.model_messages import Call, Message, Result, parse_message, tokens_of
from graphkit.plugins.logs.payloads import (
    QUESTION_IDS,
    Wrapped,
    at,
    count_unread,
    each_unwrapped,
    holds,
    json_within,
    texts,
)
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import shortened

#: The kinds of events that are read, and those that say nothing of a question.
_KINDS = (
    *("MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"),
    *("ConversationErrorEvent", "ConversationStateUpdateEvent"),
)
_KINDS_BESIDE = (
    *(
        "SystemPromptEvent",
        "PauseEvent",
        "InterruptEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
        "LLMCompletionLogEvent",
    ),
    *("Condensation", "CondensationRequest", "CondensationSummaryEvent", "HookExecutionEvent", "SecurityAnalysisEvent"),
)

#: The actions of version 0 that call nothing.
_NO_CALLS = ("system", "recall", "change_agent_state", "null", "condensation", "condensation_request", "pause", "start")
#: The names of its tools by their actions, and what its observations say of other things than a call.
_TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell", "call_tool_mcp": "mcp"}
_STATES = ("agent_state_changed", "recall", "null", "user_rejected")
_ARGUMENTS = ("path", "command", "code", "url", "content", "final_thought", "name", "arguments")

#: The key of a benchmark's record that holds the events, and those that are read beside it.
_HISTORY = "history"
_RECORD = (
    *(_HISTORY, "instance_id", "instruction", "metadata", "test_result", "metrics", "error", "attempt", "instance"),
)

ONE_EVENT = "it is a single event of a conversation"
_ALL_EVENTS = (
    "Put the events of each conversation into one file, in the order of their names: cat events/event-*.json > q1.jsonl"
)


class OpenHandsReader(Reader):
    """Reads conversations: an event a value, lists of events, and records with a history."""

    name = "openhands"
    priority = 124
    beside = (
        *("system_prompt", "tools", "wait_for_response", "security_risk", "blocking", "is_static", "hidden"),
        *("confirmation_state", "pid", "username", "hostname", "py_interpreter_path", "full_output_save_dir"),
        *("impl_source", "cache_prompt", "origin", "prev_exist", "summary", "action_id", "critic_result"),
    )
    title = "OpenHands: events of a conversation (SDK 1.x and version 0), and records of its benchmarks with a history"
    lacks = (
        *LACKS,
        "Tokens, costs and the model are logged by events on the state of a conversation, or a benchmark's metrics. A "
        "cost of 0 counts as unknown, since models without a known price have it.",
        "Events name no question: it is known by the user's message, by what stands around the events, or by the "
        "file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return _is_event(value) or holds(value, _is_payload, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        threads: dict[str | None, tuple[Wrapped, list[dict[str, Any]]]] = {}
        for where, value in values:
            if _is_event(value):
                question = thread_of(value, QUESTION_IDS, options.question_key)[0]
                _, events = threads.setdefault(question, (Wrapped(LoggedAnswer(where, question), None), []))
                events.append(value)
                continue
            for one in each_unwrapped(value, _is_payload, options, where, lists=True):
                yield _of_wrapped(one, unread)
        first = next((wrapped.answer.where for wrapped, _ in threads.values()), "")
        refuse_unnamed(threads, options.question_key, first)
        for wrapped, events in threads.values():
            if len(events) == 1 and len(threads) == 1:
                raise UnreadableLogError(ONE_EVENT, where=wrapped.answer.where or None, remedy=_ALL_EVENTS)
            answer = wrapped.logged(unread)
            _fill(answer, events, unread)
            yield answer


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("source"), str):
        return False
    kind = value.get("kind")
    if isinstance(kind, str) and isinstance(value.get("timestamp"), str):
        return kind in (*_KINDS, *_KINDS_BESIDE) or (kind.endswith("Event") and "parent_id" in value)
    if isinstance(value.get("action"), str) and isinstance(value.get("args"), dict):
        return True
    return isinstance(value.get("observation"), str) and ("content" in value or "extras" in value)


def _is_events(value: Any) -> bool:
    """Return whether a value is a list of events, or of pairs of an action and what came of it."""
    if not isinstance(value, list):
        return False
    first = (part for one in value[:5] for part in (one if isinstance(one, list) else [one])[:2])
    return any(map(_is_event, first))


def _is_payload(value: Any) -> bool:
    return _is_events(value) or (isinstance(value, dict) and _is_events(value.get(_HISTORY)))


def _of_wrapped(wrapped: Wrapped, unread: Counter[str]) -> LoggedAnswer:
    answer = wrapped.logged(unread)
    payload = wrapped.payload
    if payload is None:
        return answer
    record = payload if isinstance(payload, dict) else {}
    history = record[_HISTORY] if record else payload
    if record:
        count_unread(record, (*_RECORD, *wrapped.names), unread)
    parts = [part for one in history for part in (one if isinstance(one, list) else [one])]
    events = [part for part in parts if _is_event(part)]
    if len(parts) > len(events):
        unread[f"{_HISTORY}: other values than events"] += len(parts) - len(events)
    _fill(answer, events, unread)
    _metrics(answer, [object_of(record.get("metrics"))])
    answer.model = (
        answer.model or text(at(record, "metadata.llm_config.model")) or text(at(record, "metadata.llm.model"))
    )
    return answer


@dataclass(slots=True)
class _OpenHandsEvents:
    """The content of a conversation's events."""

    dialogue: Conversation = field(default_factory=Conversation)
    folder: str | None = None
    folders: dict[str, None] = field(default_factory=dict)
    #: The replies of the model by their ids, and those with a call of the terminal.
    replies: set[str] = field(default_factory=set)
    in_terminal: set[str] = field(default_factory=set)
    #: Whether one reply ran several commands: each may have had a terminal of its own.
    several: bool = False
    begun: int | None = None
    done: int | None = None
    metrics: list[dict[str, Any]] = field(default_factory=list)
    failure: tuple[str, str] | None = None
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, event: dict[str, Any], message: Message) -> None:
        """Add the message of an event."""
        message.time = microseconds_of(event.get("timestamp"))
        message.reply = text(event.get("llm_response_id")) or text(at(event, "tool_call_metadata.model_response.id"))
        self.dialogue.add(message)


def _fill(answer: LoggedAnswer, events: list[dict[str, Any]], unread: Counter[str]) -> None:
    """Add the content of events to an answer."""
    read = _OpenHandsEvents()
    for event in events:
        time = microseconds_of(event.get("timestamp"))
        read.done = time if time is not None else read.done
        kind = text(event.get("kind"))
        if kind in _FOLLOWED:
            _FOLLOWED[kind](event, read)
        elif kind is None:
            _former(event, read, unread)
        elif kind not in _KINDS_BESIDE:
            unread[f"events of the kind {shortened(kind)}"] += 1
        if read.begun is None and read.dialogue.question is not None:
            read.begun = time
    dialogue = read.dialogue
    dialogue.into(answer, tools=dialogue.model_calls > 0)
    answer.folders = list(dict.fromkeys([*answer.folders, *read.folders]))
    known = answer.answer is not None
    answer.answer = answer.answer if known else dialogue.answer
    answer.notes += [note for note in dialogue.notes if not (known and note == ENDS_WITH_CALL)]
    answer.notes += read.notes
    if answer.answer is None and answer.error is None and read.failure is not None:
        answer.error_type, answer.error = read.failure
    answer.model_calls = len(read.replies) or None
    if answer.latency_ms is None and read.begun is not None and read.done is not None and read.done > read.begun:
        answer.latency_ms = (read.done - read.begun) / 1000
    _metrics(answer, read.metrics)


def _metrics(answer: LoggedAnswer, metrics: list[dict[str, Any]]) -> None:
    """Add the sums of tokens and costs of the models that a conversation used, if it logs any."""
    used = [one for one in metrics if one.get("accumulated_token_usage") or one.get("accumulated_cost")]
    for one in used:
        prompt, output = tokens_of(one.get("accumulated_token_usage"))
        answer.prompt_tokens = added(answer.prompt_tokens, prompt)
        answer.output_tokens = added(answer.output_tokens, output)
        if (cost := number(one.get("accumulated_cost"))) and cost > 0:
            answer.cost = (answer.cost or 0.0) + cost
    names = {name for one in used if (name := text(one.get("model_name"))) not in (None, "default")}
    if len(names) == 1:
        answer.model = next(iter(names))


# The SDK -------------------------------------------------------------------------------------------------------------


def _spoken(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    message = parse_message(event.get("llm_message"))
    message.role = {"user": "user", "agent": "assistant"}.get(event["source"])
    message.calls, message.results = [], []
    _replied(event, read)
    read.add(event, message)


def _replied(event: dict[str, Any], read: _OpenHandsEvents) -> str | None:
    """Return the id of the reply that an event came of."""
    name = text(event.get("llm_response_id"))
    if name is not None:
        read.replies.add(name)
    return name


def _acted(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Add the call of a tool, with the model's own arguments."""
    reply = _replied(event, read)
    given = json_within(object_of(event.get("tool_call")).get("arguments"))
    if not isinstance(given, dict):
        given = {key: one for key, one in object_of(event.get("action")).items() if key != "kind"}
    name = text(event.get("tool_name")) or ""
    call = Call(name, given, event.get("tool_call_id"))
    if name == "terminal":
        read.several = read.several or (reply is not None and reply in read.in_terminal)
        if reply is not None:
            read.in_terminal.add(reply)
        call.folder = None if read.several else read.folder
        if given.get("is_input") in (True, "true"):
            call = Call("terminal_input", {"keys": given.get("command")}, call.id)
    words = content_text(event.get("thought"))
    read.add(event, Message("assistant", [words] if words else [], [call]))


def _observed(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Add the result of a call: what a command printed with its exit code, and the files that a search listed."""
    observation = object_of(event.get("observation"))
    shown = content_text(observation.get("content"))
    metadata = object_of(observation.get("metadata"))
    if metadata:
        code, suffix = metadata.get("exit_code"), text(metadata.get("suffix"))
        if suffix is None and isinstance(code, int) and code >= 0:
            suffix = f"\n[The command completed with exit code {code}.]"
        shown = f"{text(metadata.get('prefix')) or ''}{shown or ''}{suffix or ''}"
        _placed(metadata, read)
    listed = texts(observation.get("matches", observation.get("files")))
    failed = observation.get("is_error") is True
    found = [LoggedChunk(name) for name in listed] if listed is not None and not failed else None
    read.add(event, Message(results=[Result(shown, event.get("tool_call_id"), failed, found)]))


def _placed(metadata: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Note the folder in which a command ended."""
    folder = text(metadata.get("working_dir"))
    if folder is not None and folder.startswith("/"):
        read.folder = posixpath.normpath(folder)
        read.folders[read.folder] = None


def _refused(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Add that a call failed, or was rejected."""
    words = text(event.get("error")) or text(event.get("rejection_reason")) or ""
    read.add(event, Message(results=[Result(words, event.get("tool_call_id"), True)]))


def _broken(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Note that a conversation ended with an error; a limit leaves what was done until then."""
    code = text(event.get("code")) or "error"
    if "maxiterations" in code.lower() or "budget" in code.lower():
        read.notes[f"the conversation ended with {shortened(code)!r}"] = None
    else:
        read.failure = (shortened(code), text(event.get("detail")) or code)
        read.add(event, Message(error=read.failure[1]))


def _updated(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    """Keep the last sums of tokens and costs."""
    value = object_of(event.get("value"))
    stats = object_of(value.get("stats")) if event.get("key") == "full_state" else value
    if event.get("key") in ("stats", "full_state") and isinstance(stats.get("usage_to_metrics"), dict):
        read.metrics = [object_of(one) for one in stats["usage_to_metrics"].values()]


_FOLLOWED: dict[str, Callable[[dict[str, Any], _OpenHandsEvents], None]] = {
    "MessageEvent": _spoken,
    "ActionEvent": _acted,
    "ObservationEvent": _observed,
    "AgentErrorEvent": _refused,
    "UserRejectObservation": _refused,
    "ConversationErrorEvent": _broken,
    "ConversationStateUpdateEvent": _updated,
}


# Version 0 -----------------------------------------------------------------------------------------------------------


def _former(event: dict[str, Any], read: _OpenHandsEvents, unread: Counter[str]) -> None:
    """Add an event of version 0, in which an observation names its action by ``cause``."""
    if metrics := object_of(event.get("llm_metrics")):
        read.metrics = [metrics]
    if isinstance(event.get("action"), str):
        _former_action(event, read)
        return
    kind, extras = event["observation"], object_of(event.get("extras"))
    cause = identifier(event.get("cause"))
    if kind == "error" or cause is None or kind in _STATES:
        if cause is not None and kind in ("error", "user_rejected"):
            read.add(event, Message(results=[Result(text(event.get("content")) or "", cause, True)]))
        elif kind not in (*_STATES, "error"):
            unread[f"observations of {shortened(kind)} without an action"] += 1
        return
    shown, metadata = content_text(event.get("content")), object_of(extras.get("metadata"))
    if metadata:
        code = metadata.get("exit_code")
        suffix = f"\n[The command completed with exit code {code}.]" if isinstance(code, int) and code >= 0 else ""
        shown = f"{shown or ''}{suffix}"
        _placed(metadata, read)
    read.add(event, Message(results=[Result(shown, cause, extras.get("error") is True)]))


def _former_action(event: dict[str, Any], read: _OpenHandsEvents) -> None:
    kind, given = event["action"], object_of(event.get("args"))
    if (reply := text(at(event, "tool_call_metadata.model_response.id"))) is not None:
        read.replies.add(reply)
    if kind == "message":
        words = text(given.get("content"))
        role = {"user": "user", "agent": "assistant"}.get(event["source"])
        read.add(event, Message(role, [words] if words else []))
    elif kind not in _NO_CALLS:
        words = text(given.get("thought"))
        arguments = {key: given[key] for key in _ARGUMENTS if given.get(key) not in (None, "")}
        if kind == "finish":
            handed = text(given.get("final_thought")) or text(at(given, "outputs.content"))
            arguments = {"message": handed} if handed else {}
        name = text(at(event, "tool_call_metadata.function_name")) or _TOOLS.get(kind, kind)
        call = Call(name, arguments, event.get("id"), read.folder if kind == "run" else None)
        if kind == "run" and given.get("is_input") is True:
            call = Call("terminal_input", {"keys": given.get("command")}, event.get("id"))
        read.add(event, Message("assistant", [words] if words else [], [call]))
