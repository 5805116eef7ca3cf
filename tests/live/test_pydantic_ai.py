"""Messages of pydantic-ai."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.agent_walk import CALLS, check, open_node, search
from tests.live.small_graph import ANSWER, QUESTION, library

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("typed", [False, True])
def test_the_messages_of_a_run(typed: bool, tmp_path: Path) -> None:
    """An agent that answers in words, or by an output type, walks as its tools were called."""
    library("pydantic_ai")
    from pydantic import BaseModel
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    class Place(BaseModel):
        answer: str

    left = list(CALLS)

    def reply(_: Any, info: AgentInfo) -> ModelResponse:
        if left:
            return ModelResponse(parts=[TextPart("I look."), ToolCallPart(*left.pop(0))])
        last = ToolCallPart(info.output_tools[0].name, {"answer": ANSWER}) if typed else TextPart(ANSWER)
        return ModelResponse(parts=[last])

    def opened(node: str) -> list[list[str]]:
        """Open a node."""
        try:
            return open_node(node)
        except ValueError as error:
            raise ModelRetry(str(error)) from None

    agent: Any = Agent(FunctionModel(reply), output_type=Place if typed else str)
    agent.tool_plain(search)
    agent.tool_plain(name="open_node")(opened)
    messages = json.loads(agent.run_sync(QUESTION).all_messages_json())
    record = check(tmp_path, "pydantic-ai", {"question_id": "q", "messages": messages})
    assert record["model_calls"] == 5
    assert record["prompt_tokens"] > record["output_tokens"] > 0
