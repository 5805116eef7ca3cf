"""Steps of smolagents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.measures.base import Unscored
from graphkit.plugins.logs.smolagents import CODE
from tests.live.agent_walk import CALLS, check, open_node, search
from tests.live.small_graph import ANSWER, QUESTION, library
from tests.plugins.logs.recorded_logs import scores, town

pytestmark = pytest.mark.filterwarnings("default")


def model(*replies: tuple[str | None, list[tuple[str, dict[str, str]]]]) -> Any:
    """Return a model that gives these texts and calls."""
    from smolagents import ChatMessage, Model
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
    from smolagents.monitoring import TokenUsage

    left = list(replies)

    class Fixed(Model):  # type: ignore[misc, unused-ignore]
        def generate(self, messages: Any, **_: Any) -> ChatMessage:
            text, asked = left.pop(0)
            calls = [
                ChatMessageToolCall(
                    id=f"c{len(left)}",
                    type="function",
                    function=ChatMessageToolCallFunction(name=name, arguments=given),
                )
                for name, given in asked
            ]
            used = TokenUsage(10, 5)
            return ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=calls or None, token_usage=used)

    return Fixed(model_id="fixed")


@pytest.mark.parametrize("steps", ["full", "succinct"])
def test_the_memory_of_an_agent_that_calls_tools(steps: str, tmp_path: Path) -> None:
    """Each call is a step, and the last hands in the answer."""
    library("smolagents")
    from smolagents import ToolCallingAgent, tool

    replies: list[tuple[str | None, list[tuple[str, dict[str, str]]]]] = [(None, [call]) for call in CALLS]
    fixed = model(*replies, (None, [("final_answer", {"answer": ANSWER})]))
    agent = ToolCallingAgent(tools=[tool(search), tool(open_node)], model=fixed, verbosity_level=0)
    agent.run(QUESTION)
    held = agent.memory.get_full_steps() if steps == "full" else agent.memory.get_succinct_steps()
    record = check(tmp_path, "smolagents", {"question_id": "q", "steps": json.loads(json.dumps(held, default=str))})
    assert (record["prompt_tokens"], record["output_tokens"], record["model_calls"]) == (50, 25, 5)


def test_the_result_of_an_agent_that_writes_code(tmp_path: Path) -> None:
    """The answer is known; what its code called isn't, and isn't scored."""
    library("smolagents")
    from smolagents import CodeAgent, tool

    fixed = model(("<code>\nprint(open_node('Ann'))\n</code>", []), (f"<code>\nfinal_answer({ANSWER!r})\n</code>", []))
    agent = CodeAgent(tools=[tool(search), tool(open_node)], model=fixed, verbosity_level=0)
    result = agent.run(QUESTION, return_full_result=True).dict()
    found, record = town(
        tmp_path, "smolagents", {"question_id": "q", "result": json.loads(json.dumps(result, default=str))}
    )
    assert record["answer"] == ANSWER
    assert "traversal" not in record
    assert isinstance(scores(record)[0], Unscored)
    assert any(CODE in line for line in found.summary)
