"""Outputs of Haystack's pipelines and agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.agent_walk import CALLS, check, open_node, search
from tests.live.small_graph import ANSWER, EDGES, QUESTION, TEXTS, library, retrieved, walked
from tests.plugins.logs.recorded_logs import scores, town

pytestmark = pytest.mark.filterwarnings("default")

USED = {"model": "m-1", "usage": {"prompt_tokens": 10, "completion_tokens": 5}}


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    library("haystack")


def written(value: Any, **options: Any) -> Any:
    """Return a result with ``to_dict()`` of each object in it."""
    if isinstance(value, dict):
        return {name: written(one, **options) for name, one in value.items()}
    if isinstance(value, list):
        return [written(one, **options) for one in value]
    if type(value).__name__ == "Document":
        return value.to_dict(**options)
    return value.to_dict() if hasattr(value, "to_dict") else value


def test_the_result_of_an_agent(tmp_path: Path) -> None:
    """Its messages have the calls with their results, in order."""
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools import create_tool_from_function

    @component
    class Fixed:
        def __init__(self) -> None:
            self.left = list(CALLS)

        @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator, unused-ignore]
        def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> Any:
            if not self.left:
                return {"replies": [ChatMessage.from_assistant(ANSWER, meta=USED)]}
            call = ToolCall(*self.left.pop(0), id=f"c{len(self.left)}")
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call], meta=USED)]}

    tools = [create_tool_from_function(one) for one in (search, open_node)]
    agent = Agent(chat_generator=Fixed(), tools=tools, raise_on_tool_invocation_failure=False)
    result = agent.run(messages=[ChatMessage.from_user(QUESTION)])
    record = check(tmp_path, "haystack", {"question_id": "q", "result": {"agent": written(result)}})
    assert (record["prompt_tokens"], record["output_tokens"], record["model_calls"]) == (50, 25, 5)


@pytest.mark.parametrize("flat", [False, True])
def test_the_documents_of_a_pipeline(flat: bool, tmp_path: Path) -> None:
    """A retriever's documents are named by their files, and hold the triples of their metadata: 1 of 2 gold edges."""
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(content=TEXTS["people.md"], meta={"file_path": "people.md", "triples": [*map(list, EDGES[:2])]}),
            Document(content=TEXTS["places.md"], meta={"file_path": "places.md", "triples": []}),
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    result = written(pipeline.run({"retriever": {"query": "Where does Ann work"}}), flatten=flat)
    _, record = town(tmp_path, "haystack", {"question_id": "q", "result": result})
    assert set(walked(record)) == set(EDGES[:2])
    assert scores(record) == (0.5, 0.5)
    assert retrieved(record) == ["people.md", "Ann", "Acme", "Zed"]
