"""A real model behind a real server: GRAPHKIT_CHAT_URL names its address, and GRAPHKIT_CHAT_MODEL the model."""

from __future__ import annotations

import asyncio
import json

import pytest

from graphkit.plugins.judging.llm.chat_completions import SERVICES, ChatModel
from graphkit.plugins.judging.llm.requests import Reply
from tests.helpers.engines import ENVIRONMENT
from tests.helpers.models import asked

FORM = {
    "type": "object",
    "properties": {"right": {"type": "boolean"}, "grade": {"enum": ["wrong", "right"], "type": "string"}},
    "required": ["right", "grade"],
    "additionalProperties": False,
}


@pytest.mark.slow("a real model takes seconds")
@pytest.mark.skipif("GRAPHKIT_CHAT_URL" not in ENVIRONMENT, reason="GRAPHKIT_CHAT_URL names no server")
def test_form_of_a_real_model() -> None:
    """A real server keeps to the form, by the schema or plainer; it counts tokens, and reports a cut reply as such."""
    model_name = ENVIRONMENT.get("GRAPHKIT_CHAT_MODEL", "smollm2")
    notes: list[str] = []

    async def work() -> list[Reply]:
        async with ChatModel(SERVICES["vllm"], ENVIRONMENT["GRAPHKIT_CHAT_URL"], notify=notes.append) as model:
            whole = await model.ask(asked("Is 2 + 2 = 4? Answer as JSON.", model_name, schema=FORM, max_tokens=64))
            cut = await model.ask(asked("Count to a thousand in words.", model_name, max_tokens=4))
            return [whole, cut]

    whole, cut = asyncio.run(work())
    verdict = json.loads(whole.text)
    assert set(verdict) == {"right", "grade"}
    assert isinstance(verdict["right"], bool)
    assert whole.usage is not None
    assert cut.usage is not None
    assert whole.usage.prompt_tokens > 5
    assert 0 < whole.usage.output_tokens <= 64
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 4)
    assert len(notes) <= 2
