"""Messages of autogen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.agent_walk import CALLS, check, open_node, search
from tests.live.small_graph import ANSWER, QUESTION, library

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("logged", ["task", "state", "team"])
def test_a_task(logged: str, tmp_path: Path) -> None:
    """The result of an agent and of a team, and the state of the agent, tell of the same calls."""
    library("autogen_agentchat")
    value = asyncio.run(_run(logged))
    record = check(tmp_path, "autogen", {"question_id": "q", "result": json.loads(json.dumps(value, default=str))})
    tokens = None if logged == "state" else 50
    assert record.get("prompt_tokens") == tokens


async def _run(logged: str) -> Any:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_core import FunctionCall
    from autogen_core.models import CreateResult, ModelInfo, RequestUsage
    from autogen_ext.models.replay import ReplayChatCompletionClient

    used = RequestUsage(prompt_tokens=10, completion_tokens=5)
    replies: list[Any] = [
        CreateResult(
            finish_reason="function_calls",
            content=[FunctionCall(id=f"c{number}", name=name, arguments=json.dumps(given))],
            usage=used,
            cached=False,
        )
        for number, (name, given) in enumerate(CALLS)
    ]
    replies.append(CreateResult(finish_reason="stop", content=ANSWER, usage=used, cached=False))
    abilities = ModelInfo(
        vision=False, function_calling=True, json_output=False, family="unknown", structured_output=False
    )
    client = ReplayChatCompletionClient(replies, model_info=abilities)
    agent = AssistantAgent("walker", client, tools=[search, open_node], reflect_on_tool_use=True, max_tool_iterations=9)
    asked = RoundRobinGroupChat([agent], max_turns=1) if logged == "team" else agent
    result = await asked.run(task=QUESTION)
    return await agent.save_state() if logged == "state" else result.model_dump(mode="json")
