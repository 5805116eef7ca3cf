"""Samples for the tests of records: the other names of fields, minimal records, and their schemas."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from graphkit.records.fields import Record
from graphkit.records.models import (
    Answer,
    Artifact,
    Chunk,
    CodeTest,
    Compatibility,
    Edge,
    ExpectedToolCall,
    GraphQuery,
    Question,
    Seed,
    ToolCall,
    TraversalStep,
)
from graphkit.records.schemas import json_schema
from tests.helpers.made import made

ASKED: dict[str, Any] = {"id": "q1", "question": "?"}
RAN: dict[str, Any] = {"run": "r", "question_id": "q1"}


def question(**fields: Any) -> Question:
    """Return a question with these fields."""
    return made(Question, {**ASKED, **fields})


def answer(**fields: Any) -> Answer:
    """Return a run's record with these fields."""
    return made(Answer, {**RAN, **fields})


#: Every name that stands for a field, by record and field.
ALIASES = [
    (Question, "id", ("question_id", "query_id"), "q"),
    (Question, "question", ("query", "user_input"), "what?"),
    (Question, "group", ("domain",), "g"),
    (Question, "session", ("session_id", "conversation_id", "thread_id"), "s"),
    (Question, "gold_answer", ("ground_truth", "answer", "reference"), "yes"),
    (Question, "expected_output", ("answer_span",), "yes"),
    (Question, "paths", ("gold_paths",), [{"steps": [{"source": "a", "target": "b"}]}]),
    (Question, "relevant", ("relevant_ids", "qrels"), {"a": 1.0}),
    (Question, "facts", ("required_facts", "components", "required_components"), ["x"]),
    (Question, "min_sources", ("minimum_sources",), 2),
    (Question, "test_cases", ("tests",), [{"name": "t", "expected": 1}]),
    (Question, "entry_point", ("function_name",), "f"),
    (Question, "expected_tool_calls", ("expected_tools", "reference_tool_calls"), ["read"]),
    (ExpectedToolCall, "name", ("tool_name", "function_name"), "read"),
    (ExpectedToolCall, "arguments", ("args", "input_parameters"), {"path": "a.py"}),
    (Question, "seeds", ("gold_seeds",), ["a"]),
    (CodeTest, "expected", ("expected_output", "output"), 1),
    (CodeTest, "raises", ("expected_exception", "exception"), "ValueError"),
    (CodeTest, "assertion", ("assert",), "f() == 1"),
    (CodeTest, "timeout", ("timeout_s",), 2.0),
    (Answer, "run", ("run_id",), "r"),
    (Answer, "question_id", ("query_id", "id"), "q"),
    (Answer, "retrieved", ("chunks", "retrieved_chunks"), ["a"]),
    (Answer, "traversal", ("retrieved_paths",), [["a", "b"]]),
    (Answer, "answer", ("response",), "yes"),
    (Answer, "abstained", ("declined",), True),
    (Answer, "latency_ms", ("latency",), 1.5),
    (Answer, "prompt_tokens", ("input_tokens",), 3),
    (Answer, "output_tokens", ("completion_tokens",), 3),
    (Answer, "tool_calls", ("tools_called",), ["read"]),
    (Answer, "seeds", ("linked_entities", "topic_entities", "topic_entity"), ["a"]),
    (Seed, "id", ("node_id", "entity"), "a"),
    (GraphQuery, "cypher", ("query", "statement"), "MATCH (n) RETURN n"),
    (GraphQuery, "parameters", ("params",), {"id": "a"}),
    (ToolCall, "name", ("tool_name", "function_name"), "read"),
    (ToolCall, "arguments", ("args", "input_parameters"), {"path": "a.py"}),
    (ToolCall, "result", ("output",), "text"),
    (Chunk, "id", ("chunk_id", "doc_id", "node_id"), "a"),
    (Chunk, "repo", ("repository",), "x"),
    (Chunk, "path", ("file", "file_path"), "p"),
    (Chunk, "commit", ("sha",), "c"),
    (Chunk, "text", ("content", "page_content"), "t"),
    (TraversalStep, "relation", ("type", "label"), "R"),
    (Compatibility, "at", ("deployed_at", "time"), "2025-01-01T00:00:00Z"),
    (Edge, "relation", ("type", "label"), "R"),
]
MINIMAL: dict[type[Record], dict[str, Any]] = {
    Question: ASKED,
    Answer: RAN,
    CodeTest: {"name": "t"},
    ExpectedToolCall: {"name": "t"},
    ToolCall: {"name": "t"},
    GraphQuery: {"cypher": "RETURN 1"},
    Chunk: {"id": "a"},
    Seed: {"id": "a"},
    TraversalStep: {"source": "a", "target": "b"},
    Compatibility: {"id": "s", "commits": {}},
    Artifact: {"id": "a"},
    Edge: {"source": "a", "relation": "R", "target": "b"},
}
STEPS = [{"source": "x:a", "relation": "R", "target": "x:b"}, {"source": "x:b", "relation": "S", "target": "x:c"}]
TRIPLES = [["x:a", "R", "x:b"], ["x:b", "S", "x:c"]]


@cache
def validator(model: type[Record]) -> Draft202012Validator:
    """Return a validator with the printed schema of a record."""
    return Draft202012Validator(json_schema(model))
