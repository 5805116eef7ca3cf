"""Calls of W&B Weave, a line each, as its interface streams them and its pages export them.

Source: wandb/weave, ``weave/trace_server/trace_server_interface.py`` (``CallSchema``) and ``weave/trace/op.py`` (the
kind of an op). The calls are read as OpenInference's spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.openinference import ASKED
from graphkit.plugins.logs.payloads import (
    QUESTION_IDS,
    TASK_IDS,
    count_unread,
    each_unwrapped,
    holds,
    nothing_known,
    plain_key,
)
from graphkit.plugins.logs.traced_functions import (
    LACKS,
    OTHER,
    TracedFunctionConventions,
    count_around,
    kind_of,
    observed,
    replied,
)
from graphkit.plugins.logs.traces import read_traces
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.words import shortened

_KINDS = {"llm": "LLM", "search": "RETRIEVER", "tool": "TOOL", "agent": "AGENT"}

#: The keys of a call that are read, or that say nothing of a question.
_KNOWN = (
    *("id", "project_id", "op_name", "display_name", "trace_id", "parent_id", "thread_id", "turn_id", "started_at"),
    *("ended_at", "exception", "attributes", "inputs", "output", "summary", "wb_user_id", "wb_run_id", "wb_run_step"),
    *("wb_run_step_end", "deleted_at", "storage_size_bytes", "total_storage_size_bytes", "func_name"),
)


class WeaveReader(Reader):
    """Reads calls, of which those of one trace may lie anywhere in a file."""

    name = "weave"
    priority = 116
    beside = ("weave", "requests", "status_counts")
    title = "W&B Weave: calls, as calls/stream_query and the export of traces write them"
    lacks = (
        *LACKS,
        "What a function did is known if its op states a kind, if a model asked for it, if it returned a model's reply "
        "or documents, or if its name says that it searches; other functions are steps of the program.",
        "A question's id is read from the attributes and the inputs of a call; else the question is known by its text.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_call)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        for where, value in values:
            for one in each_unwrapped(value, _is_call, ReadOptions(), where):
                if one.payload is None:
                    raise nothing_known(value, where)
                unread.update(one.rest)
                around = {"question_id": one.question} if one.question not in (None, one.payload["id"]) else {}
                calls.append((one.answer.where or where, one.payload, around))
        asked = {call.name for _, one, _ in calls for call in replied(one.get("output"))[1]}
        parents = {identifier(one.get("parent_id")) for _, one, _ in calls}
        for _, call, _ in calls:
            count_around(call.get("attributes"), options, unread, "attributes.", "weave", "kind")
        spans = (
            (where, _span(one, around, asked, one["id"] in parents, options, unread)) for where, one, around in calls
        )
        return read_traces(spans, options, unread, TracedFunctionConventions())


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not {"op_name", "trace_id", "started_at"} <= value.keys():
        return False
    return isinstance(value.get("id"), str) and isinstance(value.get("inputs"), dict)


def _span(
    call: dict[str, Any],
    around: dict[str, Any],
    asked: set[Any],
    is_parent: bool,
    options: ReadOptions,
    unread: Counter[str],
) -> dict[str, Any]:
    """Return a call as a span, with the question's id that stands around it."""
    unread.update(shortened(key) for key, value in call.items() if key not in _KNOWN and value)
    name = _name(call)
    given = {key: value for key, value in call["inputs"].items() if key != "self"}
    attributes, output, summary = object_of(call.get("attributes")), call.get("output"), object_of(call.get("summary"))
    kind = _kind(name, attributes, output, asked)
    if kind == OTHER and not is_parent and call.get("parent_id") and isinstance(output, list | dict) and output:
        unread[f"output of {shortened(name)}"] += 1
    found = observed(kind, name, given, output)
    usage = object_of(summary.get("usage"))
    used = {model: counts for model, counts in usage.items() if isinstance(counts, dict)}
    count_unread(usage, used, unread, "summary.usage.")
    if kind == "LLM":
        _add_usage(found, used, object_of(summary.get("weave")))
    else:
        kept(used)  # the sums of its calls
    if kind in (OTHER, "AGENT"):
        count_around(given, options, unread, "inputs.", "example", *ASKED)
    named = around | {key: value for key, value in attributes.items() if key not in ("weave", "kind")}
    for held in (object_of(given.get("example")), given):
        named |= {key: value for key, value in held.items() if plain_key(str(key)) in (*QUESTION_IDS, *TASK_IDS)}
    exception = text(call.get("exception"))
    said = exception.strip().splitlines()[-1] if exception and exception.strip() else exception
    return {
        "name": name,
        "trace_id": call["trace_id"],
        "span_id": call["id"],
        "parent_id": call.get("parent_id"),
        "start_time": call["started_at"],
        "end_time": call.get("ended_at"),
        "status": {"code": "ERROR" if exception is not None else "OK", "message": said},
        "attributes": {**found, "metadata": named},
    }


def _name(call: dict[str, Any]) -> str:
    """Return the name of a call's op, without the project and the version: ``weave:///team/shop/op/NAME:digest``."""
    own = text(call["op_name"]) or "unnamed"
    return own.rpartition("/")[2].partition(":")[0] if own.startswith("weave:") else own


def _kind(name: str, attributes: dict[str, Any], output: Any, asked: set[Any]) -> str:
    stated = object_of(attributes.get("weave")).get("kind", attributes.get("kind"))
    if isinstance(stated, str) and stated in _KINDS:
        return _KINDS[stated]
    return kind_of(name, output, asked)


def _add_usage(found: dict[str, Any], used: dict[str, Any], own: dict[str, Any]) -> None:
    """Add the tokens, the model and the costs that Weave keeps of a call of a model."""
    if len(used) == 1:
        model, counts = next(iter(used.items()))
        found.setdefault("llm.model_name", model)
        found["llm.token_count.prompt"] = counts.get("prompt_tokens", counts.get("input_tokens"))
        found["llm.token_count.completion"] = counts.get("completion_tokens", counts.get("output_tokens"))
    costs = [object_of(one) for one in object_of(own.get("costs")).values()]
    for part in ("prompt", "completion"):
        if len(costs) == 1 and (cost := number(costs[0].get(f"{part}_tokens_total_cost"))) is not None:
            found[f"llm.cost.{part}"] = cost
