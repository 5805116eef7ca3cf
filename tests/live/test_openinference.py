"""Spans of OpenInference's instrumentations of LlamaIndex and LangChain, and the messages of their exporter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog, import_log
from graphkit.plugins.listen.receiver import TraceReceiver
from tests.live.small_graph import (
    ANSWER,
    EDGES,
    IDS,
    NAMES,
    QUESTION,
    TEXTS,
    imported,
    library,
    record,
    retrieved,
    walked,
    with_ends,
)
from tests.live.test_langchain import chain
from tests.live.test_llama_index import searched

pytestmark = pytest.mark.filterwarnings("default")

__all__ = ["chain", "searched"]


class Traced:
    """The spans that were written while it is open, as the SDK writes them and as its exporter sends them."""

    def __init__(self, receiver: TraceReceiver) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self.receiver = receiver
        self._memory = InMemorySpanExporter()
        self.provider = TracerProvider()
        for exporter in (self._memory, OTLPSpanExporter(endpoint=f"{receiver.endpoint}/v1/traces")):
            self.provider.add_span_processor(SimpleSpanProcessor(exporter))

    def imported(self, folder: Path) -> list[ImportedLog]:
        """Import both forms of what was traced."""
        spans = [json.loads(span.to_json()) for span in self._memory.get_finished_spans()]
        log = imported(folder, "openinference", *spans)
        sent = import_log(self.receiver.spool, "openinference", folder / "town", ids=IDS, run="live")
        return [log, sent]


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Traced]:
    """A provider of tracers whose spans are kept and sent over loopback."""
    library("opentelemetry.sdk")
    library("opentelemetry.exporter.otlp.proto.http")
    refused: list[str] = []
    with TraceReceiver(tmp_path / "live.spans", 0, refused.append) as receiver:
        yield Traced(receiver)
    assert refused == []


@pytest.mark.parametrize("include_text", [True, False])
def test_llama_index(traced: Traced, searched: Any, include_text: bool, tmp_path: Path) -> None:
    """The edges are in the texts of the documents; where they are all of a text, its ends were retrieved."""
    instrumentation = library("openinference.instrumentation.llama_index").LlamaIndexInstrumentor()
    instrumentation.instrument(tracer_provider=traced.provider)
    try:
        with library("openinference.instrumentation").using_metadata({"question_id": "q"}):
            searched(include_text)
    finally:
        instrumentation.uninstrument()
    for found in traced.imported(tmp_path):
        one = record(found)
        assert set(walked(one)) == set(EDGES)
        names = set(retrieved(one))
        assert set(TEXTS) <= names if include_text else names == set(NAMES)
        assert found.figures["ids"]["known"] == found.figures["ids"]["all"]
        assert one["latency_ms"] > 0


def test_langchain(traced: Traced, chain: Any, tmp_path: Path) -> None:
    """Documents are named by their metadata, with their edges; the model's call is counted once."""
    instrumentation = library("openinference.instrumentation.langchain").LangChainInstrumentor()
    instrumentation.instrument(tracer_provider=traced.provider)
    try:
        with library("openinference.instrumentation").using_metadata({"question_id": "q"}):
            chain.invoke(QUESTION)
    finally:
        instrumentation.uninstrument()
    for found in traced.imported(tmp_path):
        one = record(found)
        assert (walked(one), retrieved(one)) == (list(EDGES), with_ends(TEXTS, one))
        assert (one["answer"], one["model_calls"]) == (ANSWER, 1)


def test_tools_of_an_agent(traced: Traced, tmp_path: Path) -> None:
    """The spans of an agent's tools in LangGraph show the opened files, with the model's arguments."""
    agent = agent_that_reads(["Ann", "Acme"])
    instrumentation = library("openinference.instrumentation.langchain").LangChainInstrumentor()
    instrumentation.instrument(tracer_provider=traced.provider)
    try:
        with library("openinference.instrumentation").using_metadata({"question_id": "q"}):
            agent.invoke({"messages": [("user", QUESTION)]})
    finally:
        instrumentation.uninstrument()
    for found in traced.imported(tmp_path):
        one = record(found)
        assert (walked(one), one["answer"]) == ([EDGES[0]], ANSWER)


def agent_that_reads(nodes: list[str]) -> Any:
    """Return an agent whose model reads one node after the other, and answers."""
    library("langgraph")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    @tool  # type: ignore[untyped-decorator, unused-ignore]
    def read_node(node: str) -> str:
        """Read a node."""
        return f"all about {node}"

    class Model(GenericFakeChatModel):  # type: ignore[misc, unused-ignore]
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    def call(number: int, node: str) -> Any:
        return AIMessage("", tool_calls=[{"name": "read_node", "args": {"node": node}, "id": f"c{number}"}])

    said = [*(call(number, node) for number, node in enumerate(nodes)), AIMessage(ANSWER)]
    return create_react_agent(Model(messages=iter(said)), [read_node])
