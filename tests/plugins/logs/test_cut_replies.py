"""Replies of models that end at a limit of tokens: a doubt of the record, in each format that says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphkit.plugins.logs.model_messages import CUT
from tests.plugins.logs.shared_logs import read

ASKED = {"role": "user", "content": "Where does Ann work?"}
SAID = {"role": "assistant", "content": "At Ac"}


def span(**attributes: Any) -> dict[str, Any]:
    """A span of the SDK's own JSON."""
    times = {"start_time": "2026-01-01T10:00:00Z", "end_time": "2026-01-01T10:00:01Z"}
    ids = {"trace_id": "0x1", "span_id": "0x2"}
    return {"name": "chat", "context": ids, "parent_id": None, **times, "attributes": attributes, "status": {}}


def replied(reason: str) -> dict[str, list[Any]]:
    """Return logs, by name and format, whose last reply ended for a reason in each interface's own words."""
    own = {"length": "max_tokens", "stop": "end_turn"}[reason]
    gemini = {"length": "MAX_TOKENS", "stop": "STOP"}[reason]
    status = {"length": "incomplete", "stop": "completed"}[reason]
    chat = {"choices": [{"message": SAID, "finish_reason": reason}]}
    response = {"object": "response", "status": status, "incomplete_details": {"reason": "max_output_tokens"}}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At Ac"}]}]
    contents = [{"role": "user", "parts": [{"text": "Where does Ann work?"}]}]
    candidate = {"content": {"role": "model", "parts": [{"text": "At Ac"}]}, "finishReason": gemini}
    converse = {"output": {"message": {"role": "assistant", "content": [{"text": "At Ac"}]}}, "stopReason": own}
    langchain = {"type": "ai", "content": "At Ac", "response_metadata": {"finish_reason": reason}}
    session = {"type": "user", "sessionId": "s", "message": ASKED}
    reply = {"id": "m", "stop_reason": own, **SAID}
    prompt = {"part_kind": "user-prompt", "content": "Where does Ann work?"}
    words = {"kind": "response", "parts": [{"part_kind": "text", "content": "At Ac"}], "finish_reason": reason}
    event = {"author": "walker", "invocation_id": "i", "finish_reason": gemini, "content": candidate["content"]}
    meta = {"model": "m", "finish_reason": reason}
    mini = {**SAID, "extra": {"actions": [], "response": chat}}
    step = {"step_number": 1, "timing": {}, "observations": "x", "model_output_message": {**SAID, "raw": chat}}
    sample = {"id": "q", "epoch": 1, "input": "x", "messages": [ASKED, SAID]}
    ended = {"choices": [{"message": SAID, "stop_reason": own}]}
    generation = {"text": "At Ac", "generation_info": {"finish_reason": reason}}
    document = {"page_content": "Ann works at Acme.", "metadata": {"id": "a"}}
    genai = {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": [reason]}
    phoenix = {"openinference.span.kind": "LLM", "output.value": json.dumps(chat)}
    of_chain = {"openinference.span.kind": "LLM", "output.value": json.dumps({"generations": [[generation]]})}
    run = {
        "id": "1",
        "trace_id": "1",
        "run_type": "llm",
        "name": "m",
        "inputs": {"input": "x"},
        "end_time": "2026-01-01T10:00:01",
    }
    observation = {"id": "o", "traceId": "t", "type": "GENERATION", "name": "chat", "startTime": "2026-01-01T10:00:00Z"}
    result = {
        "success": True,
        "score": 1,
        "provider": {"id": "m"},
        "prompt": {"raw": "x", "label": "x"},
        "testIdx": 0,
        "promptIdx": 0,
        "testCase": {},
    }
    entry = {"messages": [ASKED], "outputs": ["At Ac"], "kwargs": {}, "uuid": "u", "response": chat}
    return {
        "messages: chat": [{"messages": [ASKED], "response": chat}],
        "messages: a batch": [{"custom_id": "q", "response": {"status_code": 200, "body": chat}}],
        "messages: blocks": [{"messages": [ASKED], "response": {"type": "message", "stop_reason": own, **SAID}}],
        "messages: responses": [{"input": [ASKED], "response": {**response, "output": output}}],
        "messages: thoughts alone": [{"input": [ASKED], "response": {**response, "output": [{"type": "reasoning"}]}}],
        "messages: Gemini": [{"contents": contents, "response": {"candidates": [candidate]}}],
        "messages: Converse": [{"messages": [ASKED], "response": converse}],
        "messages: LangChain": [{"messages": [ASKED, langchain]}],
        "messages: Vercel": [{"messages": [ASKED, {**SAID, "finishReason": reason}]}],
        "claude-code": [session, {"type": "assistant", "sessionId": "s", "message": reply}],
        "pydantic-ai": [{"messages": [{"kind": "request", "parts": [prompt]}, words]}],
        "google-adk": [{"id": "s", "events": [event]}],
        "haystack": [{"llm": {"replies": [{**SAID, "content": [{"text": "At Ac"}], "meta": meta}]}}],
        "openai-agents": [{"new_items": [{**output[0], "status": status}]}],
        "mini-swe-agent": [{"trajectory_format": "mini-swe-agent-1", "messages": [ASKED, mini], "info": {}}],
        "smolagents": [{"steps": [{"task": "x"}, step]}],
        "inspect": [{**sample, "output": ended}],
        "dspy": [{"question_id": "q", "history": [entry]}],
        "otel": [span(**genai)],
        "openinference: chat": [span(**phoenix)],
        "openinference: LangChain": [span(**of_chain)],
        "langfuse": [{**observation, "output": chat}],
        "promptfoo": [{"vars": {"question": "x"}, "response": {"output": "At Ac", "finishReason": reason}, **result}],
        "langchain: a run": [{**run, "outputs": {"generations": [[generation]]}}],
        "langchain: a state": [{"messages": [{"type": "human", "content": "x"}, langchain], "documents": [document]}],
    }


@pytest.mark.parametrize("name", replied("length"))
def test_a_cut_reply_is_a_doubt(name: str) -> None:
    """The same log says so if the reply ended at the limit, and doesn't if the model had ended it."""
    reader = name.partition(":")[0]
    (cut,) = read(reader, replied("length")[name])
    (whole,) = read(reader, replied("stop")[name])
    assert CUT in cut.notes
    assert CUT not in whole.notes
    assert cut.notes.count(CUT) == 1


def test_a_reply_that_a_filter_ended_is_another_matter() -> None:
    """An incomplete response whose reason is the filter of contents wasn't cut at a limit."""
    response = {"object": "response", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    (answer,) = read(
        "messages", [{"input": [ASKED], "response": {**response, "output": [{"role": "assistant", "content": "x"}]}}]
    )
    assert CUT not in answer.notes
