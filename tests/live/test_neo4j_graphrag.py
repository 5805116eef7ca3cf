"""Logs of the retrievers of neo4j-graphrag over a real Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import neo4j
import pytest

import graphkit
from tests.helpers.engines import Neo4jServer
from tests.live.small_graph import (
    ANSWER,
    EDGES,
    NAMES,
    SIZE,
    imported,
    library,
    record,
    retrieved,
    vector,
    walked,
    with_ends,
)

pytestmark = pytest.mark.filterwarnings("default")

INDEX = "live_things"
WORDS = "live_words"

#: Each node that was found, with its edges as a list, and as the lines that the library's own examples join.
EDGES_OF = (
    "OPTIONAL MATCH (node)-[r]->(m) RETURN node.name AS name, score, collect([node.name, type(r), m.name]) AS edges"
)
LINES_OF = (
    "MATCH (node)-[r]->(m) WITH node, score, collect(r) AS found RETURN score, reduce(lines = '=== kg_rels ===', r IN "
    "found | lines + '\\n' + startNode(r).name + ' - ' + type(r) + '(now) -> ' + endNode(r).name) AS info"
)

#: From Ann against the edge to Zed, and on to Acme and Bern along theirs.
WALK = (
    "MATCH p = (:Thing {name: 'Zed'})-[:KNOWS]->(ann:Thing {name: 'Ann'})-[:WORKS_AT]->(:Thing)-[:IN]->(:Thing) "
    "RETURN p, ann.name AS id, score"
)
WALKED = [EDGES[1], EDGES[0], EDGES[2]]


@pytest.fixture
def driver(request: pytest.FixtureRequest) -> Iterator[neo4j.Driver]:
    """The driver of a server that holds the graph, with a vector index over its names."""
    library("neo4j_graphrag")
    server: Neo4jServer = request.getfixturevalue("neo4j_server")  # only now, for it takes long to start
    settings = server.settings
    password = None if settings.password is None else (settings.username, settings.password)
    assert settings.uri is not None
    with neo4j.GraphDatabase.driver(settings.uri, auth=password) as opened:
        opened.execute_query("MATCH (n) DETACH DELETE n")
        for name in NAMES:
            opened.execute_query("CREATE (:Thing {name: $name, v: $v})", name=name, v=vector(name))
        for source, relation, target in EDGES:
            made = f"MATCH (a:Thing {{name: $source}}), (b:Thing {{name: $target}}) CREATE (a)-[:{relation}]->(b)"
            opened.execute_query(made, source=source, target=target)  # type: ignore[arg-type, unused-ignore]
        from neo4j_graphrag.indexes import create_vector_index, drop_index_if_exists

        drop_index_if_exists(opened, INDEX)
        create_vector_index(opened, INDEX, "Thing", "v", SIZE, "cosine")
        opened.execute_query("CALL db.awaitIndexes()")
        yield opened
        drop_index_if_exists(opened, INDEX)
        opened.execute_query("MATCH (n) DETACH DELETE n")


def _model(said: str = ANSWER, tools: Sequence[str] = ()) -> Any:
    """Return a model that always says the same, and calls these tools with the vector of Ann."""
    from neo4j_graphrag.llm import LLMInterface, LLMResponse
    from neo4j_graphrag.llm.types import ToolCall, ToolCallResponse

    given = {"query_vector": vector("Ann"), "top_k": 2}

    class Model(LLMInterface):  # type: ignore[misc, unused-ignore]
        def invoke(self, *_: Any, **__: Any) -> Any:
            return LLMResponse(content=said)

        async def ainvoke(self, *_: Any, **__: Any) -> Any:
            return self.invoke()

        def invoke_with_tools(self, *_: Any, **__: Any) -> Any:
            return ToolCallResponse(tool_calls=[ToolCall(name=one, arguments=given) for one in tools], content=None)

    return Model(model_name="same")


def _line(result: Any) -> dict[str, Any]:
    return {"question_id": "q", "result": json.loads(result.model_dump_json())}


def test_vector_cypher(driver: neo4j.Driver, tmp_path: Path) -> None:
    """A path keeps its order and directions by graphkit's formatter and recorder, in a search and in a RAG's result."""
    from neo4j_graphrag.generation import GraphRAG
    from neo4j_graphrag.retrievers import VectorCypherRetriever

    retriever = VectorCypherRetriever(
        driver, INDEX, WALK, embedder=None, result_formatter=graphkit.neo4j_graphrag_formatter
    )
    log = tmp_path / "searches.jsonl"
    graphkit.record_searches(retriever, log)
    with graphkit.answering("q"):
        found = retriever.search(query_vector=vector("Ann"), top_k=1)
        given = {"query_vector": vector("Ann"), "top_k": 1}
    answered = GraphRAG(retriever, _model())
    with graphkit.answering("q"):
        whole = answered.search("", retriever_config=given, return_context=True)
    recorded = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len(recorded) == 2
    # The embedding of the question stands in a result, and is left out of what is recorded.
    unread = {"metadata.query_vector"}
    logged = (
        (_line(found), unread),
        (_line(whole), {f"retriever_result.{name}" for name in unread}),
        (recorded[0], unread - {"metadata.query_vector"}),
    )
    for line, others in logged:
        result = imported(tmp_path, "neo4j-graphrag", line)
        one = record(result)
        assert walked(one) == WALKED
        assert retrieved(one) == with_ends(["Ann"], one)
        assert "ordered" not in one
        assert result.figures["edges"] == {"forward": 3, "reversed": 0, "other": 0, "unknown": 0}
        assert others <= set(result.figures["unread"])
        assert {name.rpartition(".")[2] for name in result.figures["unread"]} <= {"query_vector", "elementId", "score"}
    assert record(imported(tmp_path, "neo4j-graphrag", _line(whole)))["answer"] == ANSWER


def test_the_default_formatter(driver: neo4j.Driver, tmp_path: Path) -> None:
    """The text of a path has its ends alone: it is refused, and its ranking read where that is enough."""
    from neo4j_graphrag.retrievers import VectorCypherRetriever

    found = VectorCypherRetriever(driver, INDEX, WALK).search(query_vector=vector("Ann"), top_k=1)
    with pytest.raises(graphkit.InputError, match="1 of 1 paths were cut"):
        imported(tmp_path, "neo4j-graphrag", _line(found))
    one = record(imported(tmp_path, "neo4j-graphrag", _line(found), chunks_only=True))
    assert retrieved(one) == ["Ann"]
    assert "traversal" not in one


def test_vector(driver: neo4j.Driver, tmp_path: Path) -> None:
    """A plain search is a ranking: the nodes in the order of the index, and no walk."""
    from neo4j_graphrag.retrievers import VectorRetriever

    found = VectorRetriever(driver, INDEX, return_properties=["name"]).search(query_vector=vector("Ann"), top_k=4)
    scores = [item.metadata["score"] for item in found.items]
    one = record(imported(tmp_path, "neo4j-graphrag", _line(found)))
    assert [chunk["score"] for chunk in one["retrieved"]] == scores == sorted(scores, reverse=True)
    assert retrieved(one)[0] == "Ann"
    assert set(retrieved(one)) == set(NAMES)
    assert "traversal" not in one


def test_hybrid(driver: neo4j.Driver, tmp_path: Path) -> None:
    """A hybrid search is a ranking as a plain one is, with either ranker; its query may return edges."""
    from neo4j_graphrag.indexes import create_fulltext_index, drop_index_if_exists
    from neo4j_graphrag.retrievers import HybridCypherRetriever, HybridRetriever

    create_fulltext_index(driver, WORDS, "Thing", ["name"], fail_if_exists=False)
    driver.execute_query("CALL db.awaitIndexes()")
    given: dict[str, Any] = {"query_text": "Ann", "query_vector": vector("Ann"), "top_k": 3}
    retriever = HybridRetriever(driver, INDEX, WORDS, return_properties=["name"])
    for more in ({}, {"ranker": "linear", "alpha": 0.5}):
        one = record(imported(tmp_path, "neo4j-graphrag", _line(retriever.search(**given, **more))))
        assert (retrieved(one)[0], len(retrieved(one)), "traversal" in one) == ("Ann", 3, False)
    found = HybridCypherRetriever(driver, INDEX, WORDS, EDGES_OF).search(**given)
    one = record(imported(tmp_path, "neo4j-graphrag", _line(found)))
    # Each of the three that were found has at most one edge that goes out of it, and Bern has none.
    assert (retrieved(one)[0], walked(one)[0], set(walked(one)) <= set(EDGES)) == ("Ann", EDGES[0], True)
    drop_index_if_exists(driver, WORDS)


def test_joined_lines(driver: neo4j.Driver, tmp_path: Path) -> None:
    """Edges that a query joined into lines of text are edges again."""
    from neo4j_graphrag.retrievers import VectorCypherRetriever

    found = VectorCypherRetriever(driver, INDEX, LINES_OF).search(query_vector=vector("Ann"), top_k=4)
    assert set(walked(record(imported(tmp_path, "neo4j-graphrag", _line(found))))) == set(EDGES)


def test_tools(driver: neo4j.Driver, tmp_path: Path) -> None:
    """Items that tools retrieved are read as without tools, also in the result of a RAG."""
    from neo4j_graphrag.generation import GraphRAG
    from neo4j_graphrag.retrievers import ToolsRetriever, VectorCypherRetriever, VectorRetriever

    plain = VectorRetriever(driver, INDEX, return_properties=["name"]).convert_to_tool("plain", "Names")
    edges = VectorCypherRetriever(driver, INDEX, EDGES_OF).convert_to_tool("edges", "Edges")
    model = _model(tools=("plain", "edges"))
    retriever = ToolsRetriever(driver, model, [plain, edges])
    one = record(imported(tmp_path, "neo4j-graphrag", _line(retriever.search(query_text="Who?"))))
    assert (retrieved(one)[0], walked(one)[0]) == ("Ann", EDGES[0])
    assert set(retrieved(one)) <= set(NAMES)
    whole = GraphRAG(retriever, model).search("Who?", return_context=True)
    answered = record(imported(tmp_path, "neo4j-graphrag", _line(whole)))
    assert (walked(answered), answered["answer"]) == (walked(one), ANSWER)


@pytest.mark.parametrize("returned", ["a, r, b", "a.name, type(r), b.name"])
def test_text2cypher(driver: neo4j.Driver, tmp_path: Path, returned: str) -> None:
    """The rows of a query that a model wrote: its nodes and relationships, or their names and types."""
    from neo4j_graphrag.retrievers import Text2CypherRetriever

    asked = f"MATCH (a:Thing)-[r]->(b) RETURN {returned}"
    found = Text2CypherRetriever(driver, _model(asked), neo4j_schema="-").search(query_text="Who?")
    one = record(imported(tmp_path, "neo4j-graphrag", _line(found)))
    assert set(walked(one)) == set(EDGES)
    assert set(retrieved(one)) == set(NAMES)


def test_objects_as_text(driver: neo4j.Driver, tmp_path: Path) -> None:
    """str() and repr() of a result are read as its fields are."""
    from neo4j_graphrag.retrievers import VectorCypherRetriever

    retriever, given = VectorCypherRetriever(driver, INDEX, EDGES_OF), {"query_vector": vector("Ann"), "top_k": 4}
    found, raw = retriever.search(**given), retriever.get_search_results(**given)
    expected = record(imported(tmp_path, "neo4j-graphrag", _line(found)))
    for text in (str(found), repr(found), str(raw), repr(raw), found.model_dump_json()):
        assert record(imported(tmp_path, "neo4j-graphrag", {"question_id": "q", "result": text})) == expected
