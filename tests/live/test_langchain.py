"""Logs of langchain-core for a retriever whose documents have edges: outputs, events and run trees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.live.small_graph import (
    ANSWER,
    EDGES,
    QUESTION,
    TEXTS,
    imported,
    library,
    record,
    retrieved,
    vector,
    walked,
    with_ends,
)

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def chain() -> Any:
    """A chain of a vector store's retriever and a model, over the two texts with the edges that each tells of."""
    library("langchain_core")
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough
    from langchain_core.vectorstores import InMemoryVectorStore

    class Words(Embeddings):  # type: ignore[misc, unused-ignore]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return vector(text)

    store = InMemoryVectorStore(Words())
    for (file, text), edges in zip(TEXTS.items(), (EDGES[:2], EDGES[2:]), strict=True):
        triples = [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in edges]
        store.add_texts([text], metadatas=[{"id": file, "triples": triples}])
    asked = ChatPromptTemplate.from_template("{context}\n{question}")
    model = asked | FakeListChatModel(responses=[ANSWER]) | StrOutputParser()
    retriever = store.as_retriever(search_kwargs={"k": 2})
    return {"context": retriever, "question": RunnablePassthrough()} | RunnablePassthrough.assign(answer=model)


def plain(value: Any) -> Any:
    """Return an object of the library's as its users write it."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


def check(found: Any, files: list[str], unread: set[str]) -> None:
    """Hold a record against the order of the documents, and the edges of each."""
    one = record(found)
    assert files == ["people.md", "places.md"]
    assert retrieved(one) == with_ends(files, one)
    assert walked(one) == list(EDGES)
    assert one["answer"] == ANSWER
    assert found.figures["edges"] == {"forward": 3, "reversed": 0, "other": 0, "unknown": 0}
    assert found.figures["ids"]["known"] == found.figures["ids"]["all"]
    assert {name.rpartition(".")[2] for name in found.figures["unread"]} <= unread


def test_outputs(chain: Any, tmp_path: Path) -> None:
    """The output of a chain, as it returns it: the documents in their order, and the edges of each."""
    output = chain.invoke(QUESTION)
    files = [document.metadata["id"] for document in output["context"]]
    check(imported(tmp_path, "langchain", {"question_id": "q", "output": output}, default=plain), files, set())


def test_events(chain: Any, tmp_path: Path) -> None:
    """The events of a chain, of which the question's id is in the metadata."""

    async def events() -> list[Any]:
        config = {"metadata": {"question_id": "q"}}
        return [event async for event in chain.astream_events(QUESTION, config, version="v2")]

    logged = asyncio.run(events())
    ends = [event["data"]["output"] for event in logged if event["event"] == "on_retriever_end"]
    files = [document.metadata["id"] for document in ends[0]]
    # Events of steps that say nothing of the search.
    beside = {"data", "name", "input", "output", "question", "chunk_position"}
    check(imported(tmp_path, "langchain", *logged, default=plain), files, beside)


def test_run_trees(chain: Any, tmp_path: Path) -> None:
    """The run tree that a collector has: nested, with the times of its root."""
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

    collector = RunCollectorCallbackHandler()
    output = chain.invoke(QUESTION, {"callbacks": [collector], "metadata": {"question_id": "q"}})
    (run,) = collector.traced_runs
    files = [document.metadata["id"] for document in output["context"]]
    found = imported(tmp_path, "langchain", run, default=plain)
    check(found, files, {"events", "question"})
    taken = (run.end_time - run.start_time).total_seconds() * 1000
    assert record(found)["latency_ms"] == pytest.approx(taken, abs=0.01)


@pytest.mark.parametrize("direct", [False, True])
def test_cypher_chain(direct: bool, tmp_path: Path) -> None:
    """The rows of the Cypher chain, in its steps or in the place of its answer, are edges by the names of columns."""
    chains = library("langchain_neo4j")
    from langchain_core.language_models import FakeListChatModel

    class Graph(chains.Neo4jGraph):  # type: ignore[misc, name-defined, unused-ignore]
        """Answers every query with the edges, without a database."""

        def __init__(self) -> None:
            self.schema, self._enhanced_schema = "(:Thing)", False
            parts = ("node_props", "rel_props", "relationships", "metadata")
            self.structured_schema: dict[str, Any] = {part: {} for part in parts}

        def __del__(self) -> None:
            pass

        def query(self, query: str, params: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
            return [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in EDGES]

    asked = "MATCH (a)-[r]->(b) RETURN a.name AS source, type(r) AS relation, b.name AS target"
    model = FakeListChatModel(responses=[asked, ANSWER])
    options = {"return_intermediate_steps": True, "return_direct": direct, "allow_dangerous_requests": True}
    output = chains.GraphCypherQAChain.from_llm(model, graph=Graph(), **options).invoke({"query": QUESTION})
    one = record(imported(tmp_path, "langchain", {"question_id": "q", "output": output}, default=plain))
    assert walked(one) == list(EDGES)
    assert retrieved(one) == ["Ann", "Acme", "Zed", "Bern"]
    assert one.get("answer") == (None if direct else ANSWER)
