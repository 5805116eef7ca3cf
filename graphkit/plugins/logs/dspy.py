"""DSPy: the trajectory of a ReAct prediction, and the history of a language model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation
from graphkit.plugins.logs.model_messages import Call, Message, Result, cut_short, tokens_of
from graphkit.plugins.logs.payloads import Wrapped, count_unread, json_within, objects_of
from graphkit.plugins.logs.reprs import printed
from graphkit.readers.accounting import without
from graphkit.readers.json_values import number, object_of, text
from graphkit.readers.logged import LoggedAnswer
from graphkit.records.usage import added

_STEP = re.compile(r"(thought|tool_name|tool_args|observation)_(\d{1,4})")
#: A field in a prompt or a reply of the adapter for chats.
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*$", re.MULTILINE)
#: A passage of a list in a prompt.
_PASSAGE = re.compile(r"^\[\d+\] «(.*)»$")
_FAILED = "Execution error in"
_FINISH = "finish"

_ENTRY = (
    *("prompt", "messages", "kwargs", "response", "outputs", "usage", "cost", "timestamp", "uuid", "model"),
    *("response_model", "model_type"),
)
_ANSWERS = ("answer", "response", "output")
_THOUGHTS = ("reasoning", "rationale", "trajectory")

DROPPED = "the trajectory was shortened to fit: what its first calls opened isn't known"
CONTEXT = (
    "a prompt holds its context as text alone: what was retrieved is unknown; log the prediction of the retriever, or "
    "let a tool return ids"
)
ADAPTER = "replies of another adapter than those for chats and JSON aren't read: what was opened isn't known"


class DspyReader(FrameworkReader):
    """Reads predictions of ReAct (``toDict()``), and the history of a model, whose replies ask for the tools."""

    name = "dspy"
    priority = 122
    beside = ("messages",)
    title = "DSPy: ReAct trajectories of predictions, and the history of a language model"
    lacks = (
        *FRAMEWORK_LACKS,
        "A prediction has no question, tokens and model; a history has them, and begins a new answer with each new "
        "question.",
        "Latency isn't logged: entries of a history have the time at which they ended.",
        "A tool `finish` hands in nothing: the answer is a field of the prediction.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, list):
            return any(map(self.is_item, value[:3]))
        return _trajectory(value) is not None

    def is_item(self, value: Any) -> bool:
        return isinstance(value, dict) and {"messages", "outputs", "kwargs"} <= value.keys() and "uuid" in value

    def thread_of(self, item: Any) -> str | None:
        return _asked(item)

    def answers(self, wrapped: Wrapped, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        questions = {_asked(one) for one in wrapped.payload} if isinstance(wrapped.payload, list) else {None}
        if wrapped.question is not None or len(questions - {None}) < 2:
            yield from super().answers(wrapped, unread)
            return
        runs: list[list[Any]] = []
        for entry in wrapped.payload:
            asked = _asked(entry)
            if not runs or (asked is not None and asked != _asked(runs[-1][0])):
                runs.append([])
            runs[-1].append(entry)
        for run in runs:
            one = replace(wrapped, payload=run, answer=replace(wrapped.answer, notes=[], taken={}))
            yield from super().answers(one, unread)

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        if isinstance(payload, list):
            _add_history(answer, objects_of(payload), unread)
        else:
            _add_prediction(answer, payload, unread)


# Predictions ---------------------------------------------------------------------------------------------------------


def _trajectory(value: Any) -> dict[str, Any] | None:
    """Return the trajectory of a prediction, or of the value itself."""
    for held in (object_of(value).get("trajectory"), value):
        if isinstance(held, dict) and any(
            key.startswith("tool_name_") and _STEP.fullmatch(key) for key in {*held.keys()}
        ):
            return held
    return None


def _add_prediction(answer: LoggedAnswer, payload: dict[str, Any], unread: Counter[str]) -> None:
    trajectory = _trajectory(payload) or {}
    rest = without(payload, _THOUGHTS) if trajectory is not payload else {}
    read = Conversation()
    places = sorted({int(found[2]) for key in {*trajectory.keys()} if (found := _STEP.fullmatch(key))})
    for place in places:
        name, gave = trajectory.get(f"tool_name_{place}"), trajectory.get(f"observation_{place}")
        trajectory.get(f"thought_{place}")
        _add_call(read, name, trajectory.get(f"tool_args_{place}"), gave)
    read.close()
    given = next((key for key in _ANSWERS if key in rest), None)
    if given is None and answer.answer is None and len(rest) == 1:
        (given,) = rest.keys()
    if answer.answer is None and given is not None:
        answer.answer = content_text(rest[given])
    count_unread(rest, (given,) if given else (), unread)
    add_conversation(answer, read)
    if places and places[0] > 0:
        answer.notes.append(DROPPED)
        answer.unknown_calls += 1


def _add_call(read: Conversation, name: Any, arguments: Any, gave: Any) -> None:
    if name == _FINISH or name is None:
        return
    read.trail.called(name, arguments)
    read.trail.returned(gave, failed=isinstance(gave, str) and gave.startswith(_FAILED))


# Histories -----------------------------------------------------------------------------------------------------------


def _asked(entry: Any) -> str | None:
    """Return the question of an entry: a field of the last prompt, or all of it if it has none."""
    fields = _prompt(entry)
    return next((fields[key] for key in ("question", "query", "user_input") if key in fields), None)


def _prompt(entry: Any) -> dict[str, str]:
    messages = objects_of(object_of(entry).get("messages"))
    words = content_text(messages[-1].get("content")) if messages else text(object_of(entry).get("prompt"))
    return _fields(words or "")


def _fields(words: str) -> dict[str, str]:
    """Return the fields of a prompt or a reply, each at its first place.

    >>> _fields("[[ ## answer ## ]]\\nBern\\n\\n[[ ## completed ## ]]")
    {'answer': 'Bern', 'completed': ''}
    """
    parts = _HEADER.split(words)
    found: dict[str, str] = {}
    for name, held in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(name, held.strip())
    return found


def _reply(entry: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a model's reply; None if it is in no known form."""
    outputs = entry.get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs else None
    if isinstance(first, dict) and first.get("tool_calls"):
        return None
    words = text(first.get("text")) if isinstance(first, dict) else text(first)
    if words is None:
        return {}
    held = json_within(words)
    return held if isinstance(held, dict) else _fields(words) or None


def _add_history(answer: LoggedAnswer, entries: list[dict[str, Any]], unread: Counter[str]) -> None:
    read, unknown, costs, seen = Conversation(), 0, list[float | None](), ""
    for place, entry in enumerate(entries):
        count_unread(entry, _ENTRY, unread, "history.")
        fields, prompt = _reply(entry), _prompt(entry)
        message = Message("assistant", model=text(entry.get("model")))
        message.prompt_tokens, message.output_tokens = tokens_of(entry.get("usage"))
        message.cut = cut_short(entry.get("response"))
        costs.append(number(entry.get("cost")))
        if (asked := _asked(entry)) is not None and asked != read.question:
            read.add(Message("user", [asked]))
        if fields is None:
            unknown += 1
        elif "next_tool_name" in fields:
            name = content_text(fields["next_tool_name"])
            given = fields.get("next_tool_args")
            later, seen = seen, _walked(entries[place + 1]) if place + 1 < len(entries) else seen
            if name != _FINISH:
                message.calls = [Call(name, given, place)]
                gave = _observation(later, seen, len(read.trail.calls))
                failed = isinstance(gave, str) and gave.startswith(_FAILED)
                message.results = [Result(gave, place, failed)]
        else:
            last = next((fields[key] for key in _ANSWERS if key in fields), None)
            words = content_text(last) if last is not None else None
            message.texts = [words] if words else []
        if not read.trail.calls and prompt.keys() & {"context", "passages"} and CONTEXT not in answer.notes:
            answer.notes.append(CONTEXT)
        read.add(message)
    answer.cost = added(cost for cost in costs if cost is not None) if costs and None not in costs else None
    add_conversation(answer, read)
    if unknown:
        answer.notes.append(ADAPTER)
        answer.unknown_calls += unknown


def _walked(entry: dict[str, Any]) -> str:
    """Return the trajectory in an entry's prompt, which ends where the adapter asks for the reply."""
    messages = objects_of(entry.get("messages"))
    words = (content_text(messages[-1].get("content")) if messages else None) or ""
    _, _, after = words.partition("[[ ## trajectory ## ]]\n")
    return after.rpartition("\n\nRespond with ")[0]


def _observation(former: str, later: str, place: int) -> Any:
    """Return what a call gave: the next prompt's trajectory has it beyond the former one.

    A header within a former observation is no observation.
    """
    if not later.startswith(former.rstrip()):
        return None
    header = f"[[ ## observation_{place} ## ]]\n"
    _, found, words = later[len(former.rstrip()) :].partition(header)
    if not found:
        return None
    passages = [_PASSAGE.match(line) for line in words.strip().split("\n")]
    if all(passages):
        values = (printed(match[1]) for match in passages if match)
        return [one for one in values if one is not None]
    return words.strip()
