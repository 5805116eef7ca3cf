"""Queries that a real model writes over a real Neo4j, as four libraries log them.

GRAPHKIT_CHAT_URL names the model's address, and GRAPHKIT_CHAT_MODEL the model. GRAPHKIT_RECORD names a folder in which
the logs are kept: those of tests/plugins/cypher/recorded were recorded so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphkit.database.store import Store
from tests.helpers.datasets import write_jsonl
from tests.helpers.engines import ENVIRONMENT, Neo4jServer
from tests.live.small_graph import library
from tests.plugins.cypher.graphs import fill
from tests.plugins.cypher.query_logs import (
    ARTIFACTS,
    EDGES,
    EXAMPLES,
    QUESTIONS,
    SCHEMA,
    STRUCTURED,
    check_log,
)

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.slow("a real model takes seconds"),
    pytest.mark.skipif("GRAPHKIT_CHAT_URL" not in ENVIRONMENT, reason="GRAPHKIT_CHAT_URL names no server"),
]

Log = list[dict[str, Any]]


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j that holds the graph."""
    found: Neo4jServer = request.getfixturevalue("neo4j_server")
    with Store.open(found.settings) as store:
        store.write("MATCH (n) DETACH DELETE n")
        fill(store, ARTIFACTS, EDGES)
        yield found
        store.write("MATCH (n) DETACH DELETE n")


@pytest.fixture
def driver(server: Neo4jServer) -> Iterator[neo4j.Driver]:
    """Its driver."""
    given = server.settings
    assert given.uri is not None
    with neo4j.GraphDatabase.driver(given.uri, auth=_account(server)) as opened:
        yield opened


def _account(server: Neo4jServer) -> tuple[str, str] | None:
    return None if server.settings.password is None else (server.settings.username, server.settings.password)


def _model() -> tuple[str, str]:
    return ENVIRONMENT["GRAPHKIT_CHAT_URL"], ENVIRONMENT.get("GRAPHKIT_CHAT_MODEL", "qwen")


def _kept(name: str, log: Log, folder: Path) -> None:
    """Keep a log if it is to be recorded, and read it."""
    if into := ENVIRONMENT.get("GRAPHKIT_RECORD"):
        write_jsonl(Path(into) / f"{name}.jsonl", log)
    check_log(folder, name, log)


def _asked(text: str) -> str:
    """Ask the model without a library."""
    openai = library("openai")
    url, name = _model()
    with openai.OpenAI(base_url=url, api_key="-", timeout=600) as client:
        said = client.chat.completions.create(
            model=name, temperature=0, max_tokens=120, messages=[{"role": "user", "content": text}]
        )
    found: str = said.choices[0].message.content
    return found


def _within_fences(text: str) -> str:
    """Return the code of an answer, as a client of a tool takes it out; an answer without fences is all code."""
    found = re.search(r"```\w*\n(.*?)(```|$)", text, re.DOTALL)
    return (found[1] if found else text).strip()


def test_text2cypher(driver: neo4j.Driver, tmp_path: Path) -> None:
    """neo4j-graphrag: what graphkit's recorder writes of Text2CypherRetriever's searches."""
    library("neo4j_graphrag")
    from neo4j_graphrag.llm import OpenAILLM
    from neo4j_graphrag.retrievers import Text2CypherRetriever

    import graphkit

    url, name = _model()
    model = OpenAILLM(name, {"temperature": 0, "max_tokens": 120}, base_url=url, api_key="-", timeout=600)
    retriever = Text2CypherRetriever(driver, model, neo4j_schema=SCHEMA, examples=EXAMPLES)
    log = tmp_path / "searches.jsonl"
    graphkit.record_searches(retriever, log)
    for key, question in QUESTIONS.items():
        with graphkit.answering(key), suppress(Exception):  # of a query that doesn't run, the recorder has the error
            retriever.search(query_text=question)
    _kept("neo4j-graphrag", [json.loads(line) for line in log.read_text("utf-8").splitlines()], tmp_path)


def test_cypher_chain(server: Neo4jServer, tmp_path: Path) -> None:
    """LangChain: the outputs of GraphCypherQAChain with its intermediate steps."""
    chains, models = library("langchain_neo4j"), library("langchain_openai")
    url, name = _model()
    given, account = server.settings, _account(server) or ("", "")
    graph = chains.Neo4jGraph(given.uri, *account, refresh_schema=False)
    graph.structured_schema = STRUCTURED
    model = models.ChatOpenAI(model=name, base_url=url, api_key="-", temperature=0, max_tokens=120, timeout=600)
    options = {"return_intermediate_steps": True, "allow_dangerous_requests": True}
    chain = chains.GraphCypherQAChain.from_llm(model, graph=graph, **options)
    log: Log = []
    for key, question in QUESTIONS.items():
        try:
            log.append({"question_id": key, "output": chain.invoke({"query": question})})
        except Exception as error:
            log.append({"question_id": key, "error": str(error)})
    _kept("langchain", json.loads(json.dumps(log, default=str)), tmp_path)


def test_text_to_cypher(driver: neo4j.Driver, tmp_path: Path) -> None:
    """LlamaIndex: the nodes of TextToCypherRetriever, over a store that asks the database."""
    library("llama_index.core")
    from llama_index.core.graph_stores import SimplePropertyGraphStore
    from llama_index.core.indices.property_graph import TextToCypherRetriever
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

    class Asking(SimplePropertyGraphStore):  # type: ignore[misc, unused-ignore]
        supports_structured_queries = True

        def get_schema(self, refresh: bool = False) -> Any:
            return SCHEMA

        def get_schema_str(self, refresh: bool = False, **_: Any) -> str:
            return SCHEMA

        def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
            return [record.data() for record in driver.execute_query(query, param_map).records]  # type: ignore[arg-type, unused-ignore]

    class Served(CustomLLM):  # type: ignore[misc, unused-ignore]
        @property
        def metadata(self) -> Any:
            return LLMMetadata(context_window=4096, num_output=120, model_name=_model()[1])

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            return CompletionResponse(text=_asked(prompt))

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            yield self.complete(prompt)

    retriever = TextToCypherRetriever(Asking(), llm=Served(), include_raw_response_as_metadata=True)
    log: Log = []
    for key, question in QUESTIONS.items():
        try:
            log.append({"question_id": key, "nodes": [one.to_dict() for one in retriever.retrieve(question)]})
        except Exception as error:
            log.append({"question_id": key, "error": str(error)})
    _kept("llama-index", json.loads(json.dumps(log, default=str)), tmp_path)


def test_mcp_tool(server: Neo4jServer, tmp_path: Path) -> None:
    """MCP: the messages between a client and mcp-neo4j-cypher, whose read_neo4j_cypher runs what the model wrote."""
    library("mcp_neo4j_cypher")
    import asyncio

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = shutil.which("mcp-neo4j-cypher", path=str(Path(sys.executable).parent))
    assert command is not None
    user, password = _account(server) or ("neo4j", "none")
    assert server.settings.uri is not None
    named = {"NEO4J_URI": server.settings.uri, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}

    async def asked(key: str, question: str, log: Path) -> None:
        line = f"tee -a {log} | {command} --transport stdio | tee -a {log}"
        given = StdioServerParameters(command="sh", args=["-c", line], env={**os.environ, **named})
        text = f"{SCHEMA}\n\n{EXAMPLES[0]}\n\nReply with one Cypher query and nothing else. Question: {question} Query:"
        with Path(os.devnull).open("w") as nowhere:
            async with stdio_client(given, errlog=nowhere) as ends, ClientSession(*ends) as client:
                await client.initialize()
                await client.call_tool("read_neo4j_cypher", {"query": _within_fences(_asked(text))})

    log: Log = []
    for key, question in QUESTIONS.items():
        path = tmp_path / f"{key}.jsonl"
        asyncio.run(asked(key, question, path))
        messages = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        for one in messages:  # the texts about the server's tools are long, and not ours to keep
            if tools := one.get("result", {}).get("tools"):
                one["result"]["tools"] = [{name: tool[name] for name in ("name", "annotations")} for tool in tools]
        log += [{"question_id": key, "message": one} for one in messages]
    _kept("mcp", log, tmp_path)
