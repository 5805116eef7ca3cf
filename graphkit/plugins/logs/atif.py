"""The Agent Trajectory Interchange Format, v1.0 to v1.8: one JSON document is one trajectory of an agent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import MANY_QUESTIONS, Conversation
from graphkit.plugins.logs.model_messages import Call, Message, Result
from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, objects_of
from graphkit.plugins.logs.times import microseconds_of
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, Values

#: How deep trajectories of agents that agents called may lie within each other.
DEPTH = 8

COPIED = "steps that were copied from an earlier trajectory are skipped"
CONTINUED = "the trajectory goes on in another file: what was done there isn't in this record"
SUBAGENT = "the trajectory of a subagent lies in another file: what it did isn't in this record"
SUBAGENT_COSTS = (
    "a subagent's steps are part of the traversal; its tokens and cost are counted only if the totals hold them"
)
MODELS = "several models were asked: the agent's own is named"
BACKWARDS = "the times of the steps run backwards: the latency is unknown"

_ROOT = (
    *("schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics", "notes"),
    *("continued_trajectory_ref", "subagent_trajectories", "extra"),  # unused parts of `extra` are counted apart
)
_STEP = (
    *("step_id", "timestamp", "source", "message", "tool_calls", "observation", "metrics", "model_name"),
    *("llm_call_count", "is_copied_context", "reasoning_content", "reasoning_effort"),
)
_METRICS = ("prompt_tokens", "completion_tokens", "cost_usd")

#: An id that a machine made up for a session is no question's.
_MADE_UP = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


_ROLES = {"user": "user", "agent": "assistant"}


@dataclass(slots=True)
class _Trajectory:
    """The content of a trajectory's steps, with those of its subagents."""

    dialogue: Conversation = field(default_factory=Conversation)
    #: The times of the steps in microseconds, and the place of the first that counts.
    times: list[int] = field(default_factory=list)
    begin: int | None = None
    models: dict[str, None] = field(default_factory=dict)
    model_calls: int = 0
    cost: float | None = None
    notes: dict[str, None] = field(default_factory=dict)


class AtifReader(Reader):
    """Reads trajectories."""

    name = "atif"
    priority = 120
    title = "Agent Trajectory Interchange Format (ATIF) v1.0 to v1.8"
    lacks = (
        *LACKS,
        "The finds of a search are read from observations that are JSON, not from plain text.",
        "Latency runs from the user's step, else the first, to the last step, whose own duration is unknown.",
        "There is no field for a question's id: it is read from `extra`, from around the trajectory, or from a "
        "session_id that isn't a made-up one; else the question is known by its text.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_payload)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            for one in each_unwrapped(value, _is_payload, options, where):
                answer = one.logged(unread)
                if one.payload is not None:
                    count_unread(one.payload, (*_ROOT, *one.names), unread)
                    taken = {place.partition(" in ")[0].rpartition("extra.")[2] for place in answer.taken.values()}
                    count_unread(object_of(one.payload.get("extra")), taken, unread, "extra.")
                    _read(answer, one.payload, unread)
                yield answer


def _is_payload(value: dict[str, Any]) -> bool:
    version = value.get("schema_version")
    return isinstance(version, str) and version.upper().startswith("ATIF") and isinstance(value.get("steps"), list)


def _read(answer: LoggedAnswer, trajectory: dict[str, Any], unread: Counter[str]) -> None:
    read = _Trajectory()
    _follow(trajectory, read, unread, DEPTH)
    dialogue = read.dialogue
    agent = object_of(trajectory.get("agent"))
    dialogue.into(answer, tools=bool(agent.get("tool_definitions")))
    session = text(trajectory.get("session_id"))
    if answer.question is None and session is not None and not _MADE_UP.search(session):
        answer.question = session
        answer.taken["question id"] = "session_id"
    known = {MANY_QUESTIONS}
    if answer.answer is None:
        answer.answer = dialogue.answer
    else:
        known.update(dialogue.notes)
    read.notes |= dict.fromkeys(note for note in dialogue.notes if note not in known)
    _costs(answer, read, object_of(trajectory.get("final_metrics")))
    if len(read.models) > 1:
        read.notes[MODELS] = None
    answer.model = next(iter(read.models)) if len(read.models) == 1 else text(agent.get("model_name"))
    if text(trajectory.get("continued_trajectory_ref")):
        read.notes[CONTINUED] = None
    answer.notes += read.notes


def _follow(trajectory: dict[str, Any], read: _Trajectory, unread: Counter[str], depth: int) -> None:
    """Add the steps of a trajectory; a subagent's calls follow the call of the subagent."""
    embedded = {
        name: one
        for one in _objects(trajectory.get("subagent_trajectories"))
        if (name := text(one.get("trajectory_id"))) is not None
    }
    default = text(object_of(trajectory.get("agent")).get("model_name"))
    for step in _objects(trajectory.get("steps")):
        if step.get("is_copied_context") is True:
            read.notes[COPIED] = None
            continue
        results = _objects(object_of(step.get("observation")).get("results"))
        message = _message(step, results)
        if depth == DEPTH:
            count_unread(step, _STEP, unread, "steps.")
            _count(step, message, read, default, unread)
        else:
            message.role = None  # a subagent neither asks nor answers
        message.found = list(_sources(results))
        read.dialogue.add(message)
        # After all results of the step: a subagent's calls may have the same ids.
        for ref in (ref for result in results for ref in _objects(result.get("subagent_trajectory_ref"))):
            # Each is read once, so that trajectories that name each other end.
            inner = embedded.pop(text(ref.get("trajectory_id")) or "", None)
            if inner is None or depth == 1:
                read.notes[SUBAGENT] = None
            else:
                read.notes[SUBAGENT_COSTS] = None
                _follow(inner, read, unread, depth - 1)


def _message(step: dict[str, Any], results: list[dict[str, Any]]) -> Message:
    calls = _objects(step.get("tool_calls"))
    words = content_text(step.get("message"))
    return Message(
        _ROLES.get(text(step.get("source")) or ""),
        [words] if words else [],
        [Call(call.get("function_name"), call.get("arguments"), call.get("tool_call_id")) for call in calls],
        [
            Result(one["content"], one.get("source_call_id"), object_of(one.get("extra")).get("is_error") is True)
            for one in results
            if one.get("content") is not None
        ],
    )


def _sources(results: list[dict[str, Any]]) -> Iterator[LoggedChunk]:
    for result in results:
        extra = object_of(result.get("extra"))
        if (source := identifier(extra.get("source_doc_id"))) is not None:
            yield LoggedChunk(source, content_text(result.get("content")), number(extra.get("retrieval_score")))


def _count(
    step: dict[str, Any], message: Message, read: _Trajectory, default: str | None, unread: Counter[str]
) -> None:
    """Add the times, the calls of the model and their costs."""
    message.time = time = microseconds_of(step.get("timestamp"))
    if time is not None:
        read.times.append(time)
    if message.role == "user" and message.text and read.dialogue.question is None:
        read.begin = len(read.times) - 1 if time is not None else None
    if message.role != "assistant":
        return
    calls = whole(step.get("llm_call_count"))
    read.model_calls += 1 if calls is None else calls
    model = text(step.get("model_name")) or default
    if model is not None and calls != 0:
        read.models[model] = None
    metrics = object_of(step.get("metrics"))
    count_unread(metrics, _METRICS, unread, "steps.metrics.")
    message.prompt_tokens, message.output_tokens = (whole(metrics.get(name)) for name in _METRICS[:2])
    cost = number(metrics.get("cost_usd"))
    if cost is not None:
        read.cost = (read.cost or 0.0) + cost


def _costs(answer: LoggedAnswer, read: _Trajectory, totals: dict[str, Any]) -> None:
    """Add the costs: the trajectory's totals are believed before the sum of its steps."""
    prompt, output = whole(totals.get("total_prompt_tokens")), whole(totals.get("total_completion_tokens"))
    cost = number(totals.get("total_cost_usd"))
    answer.prompt_tokens = read.dialogue.prompt_tokens if prompt is None else prompt
    answer.output_tokens = read.dialogue.output_tokens if output is None else output
    answer.cost = read.cost if cost is None else cost
    answer.model_calls = read.model_calls
    times = read.times[read.begin or 0 :]
    if answer.latency_ms is None and len(times) > 1:
        taken = (times[-1] - times[0]) / 1000
        if taken < 0:
            read.notes[BACKWARDS] = None
        else:
            answer.latency_ms = taken


def _objects(value: Any) -> list[dict[str, Any]]:
    return objects_of(value if isinstance(value, list) else [value])  # some writers omit the list around one item
