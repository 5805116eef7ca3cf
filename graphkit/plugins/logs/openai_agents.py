"""The OpenAI Agents SDK: items of a run, a run's state, and the traces that its processors export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import Conversation, added
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation, add_latency
from graphkit.plugins.logs.model_messages import (
    KNOWN,
    Call,
    Message,
    Result,
    is_conversation,
    is_message,
    parse_message,
    tokens_of,
)
from graphkit.plugins.logs.payloads import Wrapped, count_unread, each_unwrapped, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.readers.json_values import identifier, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, ReadOptions, Values

#: The keys of a run's items: those of its state, and those under which users log the others.
_ITEMS = ("generated_items", "new_items", "items", "input_list", "to_input_list", "input_items")
#: What is read of a state, and what of it repeats the items.
_STATE = (
    *("$schemaVersion", "original_input", "context", "final_output", "session_items", "model_responses"),
    *("last_model_response", "current_agent", "current_turn", "max_turns", "tool_use_tracker"),
    *("generated_session_item_indexes", "no_active_agent_run", "auto_previous_response_id"),
    *("current_turn_persisted_item_count", "input"),
)
_TRACED = ("trace", "trace.span")
_TRACE = ("object", "id", "workflow_name", "group_id", "metadata")

#: How the result of a call begins whose tool failed, unless a user gives another function for errors.
_FAILED = "An error occurred while running the tool"

NO_WORDS = (
    "the trace holds no words of question and answer, as spans of responses don't: log the items of the result too "
    "(result.to_input_list())"
)


class OpenaiAgentsReader(FrameworkReader):
    """Reads items (input lists and new items), states of runs, and traces with a span per value or in a list."""

    name = "openai-agents"
    priority = 115
    beside = (
        *("workflow_name", "model_config", "requests", "turn", "agent_name", "tools", "output_type"),
        *("model_responses", "current_agent", "request_usage_entries", "tool_invocations", "context_meta"),
        *("tool_use_tracker", "agent", "description", "tool_origin", "session_items", "last_model_response"),
    )
    title = "OpenAI Agents SDK: items (to_input_list(), new_items), RunState.to_json(), and exported traces"
    lacks = (
        *FRAMEWORK_LACKS,
        "Items have no times; tokens are in a state or a trace.",
        "A trace has no words of responses, and no calls of tools that ran where the model does.",
        "A question's id is read from around the items, or from the metadata of a trace.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, dict):
            return _items_in(value) is not None
        return isinstance(value, list) and any(_is_traced(one) or _is_run_item(one) for one in value[:3])

    def recognises(self, value: Any) -> bool:
        return _is_traced(value) or super().recognises(value)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        spans: dict[str | None, list[dict[str, Any]]] = {}
        places: dict[str | None, str] = {}
        for where, value in values:
            if _is_traced(value):
                key = _trace_of(value)
                places.setdefault(key, where)
                spans.setdefault(key, []).append(value)
                continue
            for wrapped in self.each(value, options, where):
                for one in self._traces(wrapped, options):
                    yield from self.answers(one, unread)
        for key, traced in spans.items():
            for wrapped in self.each(_gathered(traced), options, places[key]):
                yield from self.answers(wrapped, unread)

    def _traces(self, wrapped: Wrapped, options: ReadOptions) -> Iterator[Wrapped]:
        """Yield each trace in a list apart, with the question that its metadata name; anything else as it is."""
        held = wrapped.payload.get("spans") if isinstance(wrapped.payload, dict) else wrapped.payload
        traced = [one for one in held if _is_traced(one)] if isinstance(held, list) else []
        if not traced or wrapped.question is not None:
            yield wrapped
            return
        traces: dict[str | None, list[dict[str, Any]]] = {}
        for one in traced:
            traces.setdefault(_trace_of(one), []).append(one)
        for spans in traces.values():
            yield from self.each(_gathered(spans), options, wrapped.answer.where)

    def each(self, value: Any, options: ReadOptions, where: str) -> Iterator[Wrapped]:
        # A list of items that nothing marks as the SDK's is read if the user names the format.
        return each_unwrapped(
            value, lambda one: self.is_payload(one) or is_conversation(one), options, where, lists=True
        )

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        key = _items_in(payload) if isinstance(payload, dict) else None
        around = object_of(payload)
        items = payload if key is None else payload[key]
        if any(map(_is_traced, items)):
            _add_trace(answer, objects_of(items), unread)
            return
        if around:
            count_unread(around, (key or "", *_STATE), unread)
        answer.answer = answer.answer or content_text(around.get("final_output"))
        asked = around.get("original_input", around.get("input"))
        given = asked if isinstance(asked, list) else [{"role": "user", "content": asked}] if text(asked) else []
        read = Conversation()
        for message in _messages([*given, *items], unread):
            read.add(message)
        usage = object_of(object_of(around.get("context")).get("usage"))
        answer.prompt_tokens, answer.output_tokens = tokens_of(usage)
        # Items don't say which of them one response held.
        answer.model_calls, read.model_calls = whole(usage.get("requests")), 0
        add_conversation(answer, read)


def _is_run_item(value: Any) -> bool:
    """Return whether a value is an item of a run, around the item of the model."""
    return isinstance(value, dict) and isinstance(value.get("raw_item"), dict) and isinstance(value.get("type"), str)


def _items_in(value: dict[str, Any]) -> str | None:
    """Return the key of a run's items, or of a trace's spans, in an object."""
    for key in (*_ITEMS, "spans"):
        items = value.get(key)
        known = _is_traced if key == "spans" else lambda one: _is_run_item(one) or is_message(one)
        if isinstance(items, list) and any(map(known, items[:3])):
            return key
    return None


def _messages(items: Iterable[Any], unread: Counter[str]) -> Iterator[Message]:
    for item in items:
        value = item["raw_item"] if _is_run_item(item) else item
        if not isinstance(value, dict):
            unread[f"items.({type(value).__name__})"] += 1
            continue
        count_unread(value, (*KNOWN, "provider_data"), unread, "items.")
        message = parse_message(value)
        for result in message.results:
            result.failed = result.failed or (text(result.content) or "").startswith(_FAILED)
        yield message


# Traces --------------------------------------------------------------------------------------------------------------


def _is_traced(value: Any) -> bool:
    """Return whether a value is a trace or a span as processors export them."""
    return (
        isinstance(value, dict)
        and value.get("object") in _TRACED
        and bool(value.keys() & {"span_data", "workflow_name"})
    )


def _trace_of(value: dict[str, Any]) -> str | None:
    return identifier(value.get("id" if value["object"] == "trace" else "trace_id"))


def _gathered(traced: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a trace with its spans as one object, whose metadata name the question."""
    trace = next((one for one in traced if one["object"] == "trace"), {})
    return {"metadata": object_of(trace.get("metadata")), "spans": traced}


def _add_trace(answer: LoggedAnswer, traced: list[dict[str, Any]], unread: Counter[str]) -> None:
    spans = sorted(
        (one for one in traced if _is_traced(one) and "span_data" in one),
        key=lambda one: microseconds_of(one.get("started_at")) or 0,
    )
    read, usages = Conversation(), dict[str, list[dict[str, Any]]]()
    for span in spans:
        data = object_of(span.get("span_data"))
        kind = text(data.get("type")) or ""
        for message in _of_span(span, data, kind, asked=read.question is not None):
            read.add(message)
        inner = object_of(data.get("data"))
        kind = text(inner.get("sdk_span_type")) or kind
        if usage := object_of(data.get("usage")) or object_of(inner.get("usage")):
            usages.setdefault(kind, []).append(usage)
    read.prompt_tokens = read.output_tokens = None
    # A turn repeats the tokens of its response, and a task those of its turns.
    for usage in next((usages[kind] for kind in ("generation", "response", "turn", "task") if kind in usages), []):
        prompt, output = tokens_of(usage)
        read.prompt_tokens, read.output_tokens = added(read.prompt_tokens, prompt), added(read.output_tokens, output)
    kinds = Counter(text(object_of(one.get("span_data")).get("type")) for one in spans)
    read.model_calls = kinds["generation"] + kinds["response"] or len(usages.get("turn", ()))
    add_conversation(answer, read)
    if answer.answer is answer.question_text is None:
        answer.notes.append(NO_WORDS)
    ends = [microseconds_of(one.get("ended_at")) for one in spans]
    known = [end for end in ends if end is not None]
    if spans and known:
        add_latency(answer, (spans[0].get("started_at"), max(known)))


def _of_span(span: dict[str, Any], data: dict[str, Any], kind: str, asked: bool) -> Iterator[Message]:
    """Yield the messages of a span: the call of a tool with its result, or what a model was asked and answered.

    Each model is asked the whole conversation again: once is enough.
    """
    if kind == "function":
        call = Call(data.get("name"), data.get("input"), span.get("id"))
        failed = span.get("error") is not None
        yield Message(calls=[call], results=[Result(data.get("output"), span.get("id"), failed)])
    elif kind == "generation":
        given = [] if asked else [parse_message(one) for one in objects_of(data.get("input"))]
        yield from (Message("user", one.texts) for one in given if one.role == "user")
        answered = [parse_message(one) for one in objects_of(data.get("output"))]
        # Spans of functions have the calls: here they are only what the words come before.
        yield from (Message("assistant", one.texts, model=text(data.get("model"))) for one in answered if not one.calls)
