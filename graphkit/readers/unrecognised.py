"""The refusal of an unrecognised log: its keys, the nearest format, and a record that would do."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable
from typing import Any

from graphkit.readers.payloads import plain_key
from graphkit.records.words import shortened

#: The keys by which the objects of each format are known; those that anybody writes around them are missing.
KEYS: dict[str, tuple[str, ...]] = {
    "graphkit": ("run", "question_id", "retrieved", "traversal", "ordered", "evidence_files", "latency_ms"),
    "inspect": ("samples", "eval", "epoch", "messages", "events", "sample_id", "scores"),
    "atif": ("schema_version", "session_id", "agent", "steps", "step_id", "observation", "final_metrics"),
    "openinference": ("attributes", "context", "trace_id", "span_id", "parent_id", "resourceSpans"),
    "otel": ("attributes", "gen_ai.operation.name", "gen_ai.retrieval.documents", "trace_id", "span_id"),
    "graphrag": ("context_data", "entities", "relationships", "sources", "reports", "completion_time", "llm_calls"),
    "lightrag": ("entities", "relationships", "chunks", "references", "entity_name", "src_id", "tgt_id"),
    "neo4j-graphrag": ("items", "content", "metadata", "retriever_result", "records", "cypher"),
    "llama-index": ("nodes", "node", "source_nodes", "id_", "text_resource", "score", "class_name"),
    "langchain": ("page_content", "metadata", "source_documents", "intermediate_steps", "run_id", "event", "run_type"),
    "ragas": ("user_input", "retrieved_contexts", "retrieved_context_ids", "reference", "contexts", "ground_truth"),
    "claude-code": ("sessionId", "parentUuid", "isSidechain", "toolUseResult", "uuid", "session_id", "cwd"),
    "codex": ("timestamp", "payload", "session_meta", "thread_id", "item", "call_id"),
    "opencode": ("info", "parts", "sessionID", "messageID", "callID", "modelID", "part"),
    "copilot": ("type", "data", "id", "timestamp", "parentId", "toolCallId", "toolRequests"),
    "cursor": ("tool_call", "call_id", "model_call_id", "timestamp_ms", "session_id", "subtype"),
    "aider": (),
    "mlflow": ("info", "data", "spans", "trace_metadata", "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"),
    "langfuse": ("observations", "traceId", "parentObservationId", "statusMessage", "usageDetails", "costDetails"),
    "weave": ("op_name", "project_id", "trace_id", "parent_id", "started_at", "inputs", "wb_user_id"),
    "mcp": ("jsonrpc", "method", "params", "result", "structuredContent", "isError"),
    "openhands": ("kind", "source", "llm_message", "tool_call_id", "observation", "action_id", "history", "args"),
    "mini-swe-agent": ("messages", "info", "trajectory_format", "exit_status", "submission", "extra"),
    "swe-agent": ("trajectory", "history", "info", "action", "observation", "replay_config", "environment"),
    "messages": ("messages", "role", "content", "tool_calls", "tool_call_id", "parts"),
    "openai-agents": ("new_items", "items", "raw_item", "final_output", "original_input", "span_data", "workflow_name"),
    "pydantic-ai": ("parts", "part_kind", "kind", "tool_name", "tool_call_id", "model_name", "run_id"),
    "smolagents": ("steps", "step_number", "observations", "action_output", "model_output", "timing", "task"),
    "locagent": ("instance_id", "found_files", "found_modules", "found_entities", "raw_output_loc", "meta_data"),
    "google-adk": ("events", "author", "invocation_id", "content", "parts", "function_call", "function_response"),
    "autogen": ("messages", "models_usage", "source", "created_at", "type", "is_error", "stop_reason"),
    "haystack": ("documents", "blob", "sparse_embedding", "replies", "answers", "tool_call_result", "tool_name"),
    "dspy": ("trajectory", "tool_name_0", "tool_args_0", "observation_0", "outputs", "kwargs", "response_model"),
    "graphiti": ("source_node_uuid", "target_node_uuid", "fact", "episodes", "edge_reranker_scores", "valid_at"),
    "cognee": ("search_result", "dataset_name", "objects_result", "context_result", "node_attributes", "chunk_index"),
    "beir": ("query_id", "doc_id", "corpus_id", "score", "results"),
}

#: A readable record, for a dataset with a question q1.
RECORD = """\
{"run": "mine", "question_id": "q1",
 "retrieved": [{"id": "web:src/cart.ts#checkout", "score": 0.9}],
 "traversal": [{"source": "web:src/cart.ts#checkout", "relation": "CALLS", "target": "api:app/orders.py#create"}],
 "answer": "checkout calls create",
 "latency_ms": 1200}"""

#: How many keys are looked at, and shown; and how much of a text.
LOOKED_AT, SHOWN, BEGINNING = 200, 12, 60

#: How alike two keys are that may be meant as one, such as ``retreived``.
ALIKE = 0.8


def keys_of(values: Iterable[Any]) -> list[str]:
    """Return the keys of objects, the outermost first, each once."""
    found: dict[str, None] = {}
    waiting = deque(values)
    while waiting and len(found) < LOOKED_AT:
        value = waiting.popleft()
        if isinstance(value, dict):
            found.update(dict.fromkeys(str(key) for key in list(value)[:LOOKED_AT]))
            waiting.extend(list(value.values())[:LOOKED_AT])
        elif isinstance(value, list):
            waiting.extend(value[:3])  # the rows of a list are alike
    return list(found)[:LOOKED_AT]


def nearest(keys: Iterable[str]) -> tuple[str, dict[str, str]] | None:
    """Return the format whose objects share most keys with a log, and these, each with how the log spells it.

    >>> nearest(["question", "retreived", "traversal"])
    ('graphkit', {'question_id': 'question', 'retrieved': 'retreived', 'traversal': 'traversal'})
    """
    plain = {plain_key(key): key for key in keys if len(key) <= BEGINNING}
    best: tuple[float, str, dict[str, str]] = (0.0, "", {})
    for name, known in KEYS.items():
        shared, worth = {}, 0.0
        for key in known:
            if (found := plain.get(plain_key(key))) is not None:
                shared[key], worth = found, worth + 1
            elif alike := difflib.get_close_matches(plain_key(key), plain, 1, ALIKE):
                shared[key], worth = plain[alike[0]], worth + 0.5
        best = max(best, (worth, name, shared), key=lambda one: one[0])
    return (best[1], best[2]) if best[0] else None


def described(values: list[Any]) -> str:
    """Return a description of an unrecognised log: its keys, or the beginning of its text."""
    keys = keys_of(values)
    if keys:
        more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
        return f"its keys are {', '.join(repr(shortened(key)) for key in keys[:SHOWN])}{more}"
    return f"it begins with {shortened(str(values[0])[:BEGINNING])!r}" if values else "it holds no value"


def advice(values: list[Any]) -> str:
    """Return the remedy for an unrecognised log."""
    found = nearest(keys_of(values))
    near = ""
    if found is not None:
        name, shared = found
        spelled = ", ".join(
            repr(key) if plain_key(own) == plain_key(key) else f"{key!r} (here {shortened(own)!r})"
            for key, own in shared.items()
        )
        lacking = ", ".join(repr(key) for key in KEYS[name] if key not in shared)
        near = f"The nearest format is {name}, which has {spelled} too" + (f", and {lacking}. " if lacking else ". ")
    return (
        f"{near}Name the format instead of auto, read its fields by --map FIELD=EXPRESSION, or write a record such as "
        "this for each question (docs/importing.md):"
    )
