"""The reader of the logs of Microsoft's GraphRAG."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.plugins.logs.graphrag import GraphragReader
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError
from tests.helpers.datasets import SharedLog

ENTITIES = [
    {"id": "5", "entity": "ANN", "description": "A person", "in_context": True},
    {"id": "6", "entity": "ACME", "description": "A company", "in_context": True},
]
RELATIONSHIPS = [
    {"id": "1", "source": "ANN", "target": "ACME", "description": "ANN WORKS_AT ACME", "in_context": True},
    {"id": "2", "source": "BOB", "target": "ANN", "description": "they met", "in_context": True},
]
SOURCES = [{"id": "7", "text": "Ann works at Acme."}]
TABLES: dict[str, Any] = {"entities": ENTITIES, "relationships": RELATIONSHIPS, "sources": SOURCES}
EDGES = [LoggedEdge("ANN", None, "ACME"), LoggedEdge("BOB", None, "ANN")]


def read(value: Any, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return what the one result of a value says."""
    assert GraphragReader().recognises(value)
    (logged,) = GraphragReader().read([("log:1", value)], ReadOptions(), Counter() if unread is None else unread)
    return logged


def doubts(logged: LoggedAnswer) -> list[str]:
    """Return the notes of an answer but the one on texts that have numbers."""
    return [note for note in logged.notes if "--parquet" not in note]


def names(logged: LoggedAnswer) -> list[str] | None:
    """Return the names of what was retrieved."""
    return None if logged.retrieved is None else [chunk.name for chunk in logged.retrieved]


def result(context: Any, response: Any = "At Acme.") -> dict[str, Any]:
    """Return a SearchResult in what a user wraps around it."""
    return {"question_id": "q1", "result": {"response": response, "context_data": context}}


def test_a_search_result() -> None:
    """Tables, answer, time, calls and tokens are read; what isn't read of them is counted."""
    unread: Counter[str] = Counter()
    value = result(TABLES | {"conversation history": [{"turn": "user", "content": "Hi"}], "claims": []})
    value["result"] |= {
        "context_text": "...",
        "completion_time": 0.25,
        "llm_calls": 2,
        "prompt_tokens": 30,
        "output_tokens": 4,
    }
    logged = read(value, unread)
    assert (logged.question, logged.answer, logged.error) == ("q1", "At Acme.", None)
    # BOB is the end of an edge and no entity: nothing ranks it, so it follows.
    assert names(logged) == ["ANN", "ACME", "Sources (7)", "BOB"]
    assert logged.retrieved is not None
    assert [chunk.text for chunk in logged.retrieved] == ["A person", "A company", "Ann works at Acme.", None]
    # A set of directed edges without types, as one path.
    assert (logged.traversal, logged.ordered) == ([EDGES], False)
    assert (logged.latency_ms, logged.model_calls, logged.prompt_tokens, logged.output_tokens) == (250, 2, 30, 4)
    assert logged.citations == []
    assert doubts(logged) == []
    assert unread == {"context_text": 1, "context_data.conversation history": 1}


@pytest.mark.parametrize(
    "value",
    [
        ["At Acme.", TABLES],
        {"question_id": "q1", "out": ["At Acme.", TABLES]},
        {"question_id": "q1", "response": "At Acme.", "context": TABLES},
        {"question_id": "q1", "response": "At Acme.", "context_data": json.dumps(TABLES)},
    ],
)
def test_what_the_api_returns(value: Any) -> None:
    """A (response, context) tuple is a list in JSON, or under names of the user's; it has no tokens and times."""
    logged = read(value)
    assert (logged.answer, names(logged), logged.traversal) == (
        "At Acme.",
        ["ANN", "ACME", "Sources (7)", "BOB"],
        [EDGES],
    )
    assert (logged.latency_ms, logged.prompt_tokens) == (None, None)


def test_the_tables_alone() -> None:
    """A user who kept the context alone has no answer, which isn't an empty one."""
    logged = read({"question_id": "q1", "seconds": 0.5, "tables": TABLES})
    assert (logged.answer, logged.error, logged.citations, logged.latency_ms) == (None, None, None, 500)
    assert logged.traversal == [EDGES]
    # Two of them in a list are no (response, context).
    two = {"searches": [{"question_id": "q1", **TABLES}, {"question_id": "q2", **TABLES}]}
    assert [one.question for one in GraphragReader().read([("log:1", two)], ReadOptions(), Counter())] == ["q1", "q2"]


@pytest.mark.parametrize(
    "table",
    [
        {"id": ["1", "2"], "source": ["ANN", "BOB"], "target": ["ACME", "ANN"]},
        {"id": {"0": "1", "1": "2"}, "source": {"0": "ANN", "1": "BOB"}, "target": {"0": "ACME", "1": "ANN"}},
        {"0": {"id": "1", "source": "ANN", "target": "ACME"}, "1": {"id": "2", "source": "BOB", "target": "ANN"}},
        {"columns": ["id", "source", "target"], "index": [0, 1], "data": [["1", "ANN", "ACME"], ["2", "BOB", "ANN"]]},
        '{"id":{"0":"1","1":"2"},"source":{"0":"ANN","1":"BOB"},"target":{"0":"ACME","1":"ANN"}}',
    ],
    ids=["list", "dict", "index", "split", "to_json"],
)
def test_the_forms_of_a_table(table: Any) -> None:
    """Each of pandas' forms is the same two edges."""
    assert read(result({"entities": ENTITIES, "relationships": table})).traversal == [EDGES]


@pytest.mark.parametrize(
    "context",
    [
        {"entities": "    id entity\n0    5    ANN\n..  ...   ...", "relationships": []},
        "{'entities':     id entity\n0  5  ANN}",
    ],
)
def test_printed_tables_are_refused(context: Any) -> None:
    """A table printed by pandas lacks names and rows and would mislead, so the message says how to write it."""
    with pytest.raises(
        UnreadableLogError, match=r"log:1: context_data.* was printed(.|\n)*to_dict\(orient=\"records\"\)"
    ):
        read(result(context))


def test_only_what_was_in_the_context_was_used() -> None:
    """With candidates asked for, the tables hold rows that the model never saw, in no order."""
    context = {
        "entities": [*ENTITIES, {"id": "8", "entity": "BOB", "in_context": False}],
        "relationships": [RELATIONSHIPS[0], RELATIONSHIPS[1] | {"in_context": False}],
        "sources": [SOURCES[0] | {"in_context": "True"}, {"id": "9", "text": "?", "in_context": "False"}],
    }
    logged = read(result(context, "Bob [Data: Entities (8)]"))
    assert (names(logged), logged.traversal) == (["ANN", "ACME", "Sources (7)"], [EDGES[:1]])
    assert logged.citations == ["BOB"]
    assert [note[:40] for note in doubts(logged)] == ["entities that weren't in the context are"]


def test_two_relations_of_a_pair_are_two_edges() -> None:
    """Rows of other numbers are other edges, though without a type they look the same; a repeated row is one."""
    context = {
        "entities": ENTITIES,
        "relationships": [RELATIONSHIPS[0], RELATIONSHIPS[0] | {"id": "3"}, RELATIONSHIPS[0]],
    }
    assert read(result(context)).traversal == [[EDGES[0], EDGES[0]]]


def test_a_description_names_the_relation(tmp_path: Path) -> None:
    """If two ends have several relations, a row takes those that its description names, whatever the names hold.

    Gold is calls -RAISES-> errors. Two rows name one relation each; one names both; one names none, and a name that
    holds the word "calls" isn't a relation: 2, 2, 1 and 1 distinct edges, of which one is gold's.
    """
    steps = [{"source": "calls", "relation": "RAISES", "target": "errors"}]
    questions = [{"id": f"q{number}", "question": "?", "paths": [{"steps": steps}]} for number in range(4)]
    graph = [{"source": "calls", "relation": relation, "target": "errors"} for relation in ("CALLS", "RAISES", "USES")]
    for name, rows in (("questions", questions), ("edges", graph)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    def searched(number: int, *descriptions: str) -> dict[str, Any]:
        rows = [
            {"id": str(row), "source": "CALLS", "target": "ERRORS", "description": said}
            for row, said in enumerate(descriptions)
        ]
        context = {"entities": [{"id": "1", "entity": "CALLS"}], "relationships": rows}
        return {"question_id": f"q{number}", "result": {"response": "x", "context_data": context}}

    log = [
        searched(0, "calls CALLS errors", "calls RAISES errors"),
        searched(1, "calls calls errors, and raises it"),
        searched(2, "calls RAISES errors"),
        searched(3, "calls knows errors"),
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in log), "utf-8")
    run = tmp_path / "run.jsonl"
    assert graphkit.import_log(tmp_path / "log.jsonl", "graphrag", tmp_path, out=run).figures["related"] == 5
    found = graphkit.evaluate(run, tmp_path, measures=["EdgePrecision"], keep_rows=True)
    # An edge without a relation is compared by its ends alone, so that of q3 is gold's, too.
    assert [row.values for row in found.rows] == [(0.5,), (0.5,), (1.0,), (1.0,)]


CSV_TABLES = {
    "entities": 'id,entity,description,in_context\n5,ANN,"A person, she",True\n6,ACME,A company,True\n',
    "relationships": ",id,source,target,in_context\n0,1,ANN,ACME,True\n1,2,BOB,ANN,True\n",
    "sources": 'id,text\n7,"Ann works\nat Acme."\n',
}


def test_tables_as_csv() -> None:
    """A table of to_csv is read completely, with or without the index; a row that was cut is refused."""
    logged = read(result(CSV_TABLES))
    assert (names(logged), logged.traversal) == (["ANN", "ACME", "Sources (7)", "BOB"], [EDGES])
    assert logged.retrieved is not None
    assert [chunk.text for chunk in logged.retrieved[:3]] == ["A person, she", "A company", "Ann works\nat Acme."]
    for table in ("id,source,target\n1,ANN", "id,source,target\n1,ANN,ACME,x", 'id,source,target\n1,"ANN,ACME'):
        with pytest.raises(UnreadableLogError, match=r"context_data\.relationships is a table that was printed"):
            list(GraphragReader().read([("log:1", result({"relationships": table}))], ReadOptions(), Counter()))


CONTEXT_TEXT = (
    "-----Reports-----\nid|title|content\n3|T|Ann | Acme\n\n"
    "-----Entities-----\nid|entity|description|number of relationships\n5|ANN|A person\nshe|2\n6|ACME|A company|1\n\n"
    "-----Relationships-----\nid|source|target|description|weight\n1|ANN|ACME|works|1.0\n2|BOB|ANN|met | knows|1.0\n\n"
    "-----Sources-----\nid|text\n7|Ann works\n\nat Acme.\n"
)


@pytest.mark.parametrize(
    "value",
    [
        {"response": "At Acme.", "context_text": CONTEXT_TEXT, "completion_time": 0.5},
        {"response": "At Acme.", "context_data": "", "context_text": CONTEXT_TEXT},
        {"response": "At Acme.", "context_data": CONTEXT_TEXT},
        {"response": "At Acme.", "context": [CONTEXT_TEXT[: CONTEXT_TEXT.index("-----Rel")], CONTEXT_TEXT[-200:]]},
    ],
)
def test_the_context_as_text(value: dict[str, Any]) -> None:
    """If the tables weren't kept, the text that the model saw has them; that | may cut a name is reported."""
    unread: Counter[str] = Counter()
    logged = read({"question_id": "q1", "result": value}, unread)
    assert (names(logged), logged.traversal) == (["ANN", "ACME", "Sources (7)", "BOB"], [EDGES])
    assert logged.retrieved is not None
    assert logged.retrieved[2].text == "Ann works\n\nat Acme."
    assert (logged.answer, unread["context_text"]) == ("At Acme.", 0)
    assert "where a name that holds | is cut" in " ".join(logged.notes)


def test_what_the_command_prints() -> None:
    """graphrag query prints the answer alone, which cites rows; a stream may be kept in its pieces."""
    for printed in ("SUCCESS: Local Search Response:\nAt Acme [Data: Sources (7)].", "At Acme [Data: Sources (7)]."):
        logged = read(printed)
        assert (logged.answer, logged.retrieved, logged.traversal) == ("At Acme [Data: Sources (7)].", None, None)
        assert [note[:15] for note in logged.notes] == ["an answer alone"]
    assert read(result(TABLES, ["At ", "Acme."])).answer == "At Acme."


def test_a_search_of_several_indexes() -> None:
    """It cuts names at a hyphen, which can't be seen in them."""
    rows = [{**row, "index_name": "one", "index_id": "1"} for row in ENTITIES]
    assert "cuts each name at its first hyphen" in doubts(read(result({**TABLES, "entities": rows})))[0]


@pytest.fixture(params=["2", "1", "3"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The Parquet files of an index, in the layout of each version; two texts have the same words."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    prefix = "create_final_" if request.param == "1" else ""
    folder = tmp_path / {"1": "output/20260102/artifacts", "2": "output", "3": "."}[request.param]
    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, rows: list[dict[str, Any]]) -> None:
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"{prefix}{name}.parquet")

    write("documents", [{"id": "d1", "title": "people.md"}, {"id": "d2", "title": "places.md"}])
    texts = [("Acme is in Bern.", "d2"), ("Ann works at Acme.", "d1"), ("Twice.", "d1"), ("Twice.", "d2")]
    document = (lambda one: {"document_id": one}) if request.param == "3" else (lambda one: {"document_ids": [one]})
    # The numbers of people begin at 1 in version 2, and those that a search tells are the places from 0.
    write("text_units", [{"human_readable_id": n, "text": t} | document(d) for n, (t, d) in enumerate(texts, 1)])
    write("entities", [{"human_readable_id": 9, "title": "BOB"}])
    write("relationships", [{"human_readable_id": 4, "source": "BOB", "target": "ACME"}])
    return tmp_path


def test_the_documents_of_texts(index: Path) -> None:
    """A text is known by its words, and by its place where others have the same; citations by their numbers."""
    sources = [
        {"id": "0", "text": "Ann works at Acme."},  # version 1 numbers what a basic search found by its rank
        {"id": "3", "text": "Twice."},
        {"id": "7", "text": "New."},
    ]
    answer = "So [Data: Sources (0, 3, 7); Relationships (4); Entities (9); Reports (1)]."
    value = result({**TABLES, "sources": sources}, answer)
    (logged,) = GraphragReader().read([("log:1", value)], ReadOptions(parquet=index), Counter())
    assert names(logged) == ["ANN", "ACME", "people.md", "places.md", "Sources (7)", "BOB"]
    assert logged.citations == ["people.md", "places.md", "Sources (7)", "BOB", "ACME", "Reports (1)"]
    assert len(logged.notes) == 2  # a text without a document, and rows that aren't in the context
    printed = "So [Data: Sources (1); Relationships (4)]."
    (logged,) = GraphragReader().read([("log:1", printed)], ReadOptions(parquet=index), Counter())
    assert logged.citations == ["people.md", "BOB", "ACME"]


def test_a_folder_without_an_index(tmp_path: Path) -> None:
    """It is reported which file is missing; without the option, how to give it."""
    with pytest.raises(UnreadableLogError, match=r"no text_units\.parquet"):
        list(GraphragReader().read([("log:1", result(TABLES))], ReadOptions(parquet=tmp_path), Counter()))
    assert [note for note in read(result(TABLES)).notes if "--parquet DIR" in note]


def test_a_swallowed_failure() -> None:
    """graphrag gives an empty response where the model failed: an error, with what had been retrieved before."""
    logged = read(result(TABLES, ""))
    assert (logged.answer, logged.error_type, logged.citations) == (None, "EmptyResponse", None)
    assert logged.error is not None
    assert logged.error.startswith("the response is empty")
    assert logged.traversal == [EDGES]


def test_citations() -> None:
    """[Data: ...] cites rows by their numbers: an edge by its ends, an entity by its name; the rest keeps its table."""
    answer = (
        "Yes [Data: Relationships (1, 2, +more); Entities (5)]. So [Data: Sources (7), Reports (3)] [Data: Claims]."
    )
    logged = read(result(TABLES, answer))
    # Relationship 1: ANN and ACME; 2: BOB and ANN; entity 5 is ANN; no table holds report 3.
    assert logged.citations == ["ANN", "ACME", "BOB", "Sources (7)", "Reports (3)"]
    assert [note[:33] for note in doubts(logged)] == ["the answer cites rows that aren't"]


def test_a_global_search() -> None:
    """Reports name no nodes: nothing is reported of retrieval and walk, also where the api fills the other tables."""
    unread: Counter[str] = Counter()
    reports = {"reports": [{"id": "3", "title": "T", "content": "C", "rank": 5.0}]}
    filled = {"entities": [], "relationships": [], "claims": [], "sources": [], **reports}
    for context in (reports, filled):
        logged = read(result(context, "All [Data: Reports (3)]."), unread)
        assert (logged.retrieved, logged.traversal, logged.citations) == (None, None, ["Reports (3)"])
        assert doubts(logged) == []
    assert unread == {"context_data.reports": 2}


def test_a_map_step_that_failed() -> None:
    """A global search goes on without a batch whose call failed; that is reported."""
    value = result({"reports": []})
    value["result"]["map_responses"] = [{"response": [{"answer": "", "score": 0}], "llm_calls": 1}]
    assert [note[:24] for note in read(value).notes] == ["a call of the model fail"]


def test_a_basic_search() -> None:
    """It retrieves texts and looks at no edges, so that its walk isn't an empty one; graphrag 1 calls ids source_id."""
    logged = read(result({"sources": [{"source_id": 7, "text": "Ann works at Acme."}]}))
    assert (names(logged), logged.traversal) == (["Sources (7)"], None)


def test_a_local_search_that_found_nothing() -> None:
    """Tables that are there and empty retrieved nothing and walked nothing; entities without edges walked nothing."""
    nothing = read(result({"entities": {}, "relationships": [], "sources": []}))
    assert (nothing.retrieved, nothing.traversal) == ([], [])
    assert read(result({"entities": ENTITIES, "relationships": []})).traversal == []
    assert read(result({})).retrieved is None


def test_a_drift_search() -> None:
    """Its tables stand below the questions that it asked itself, and are taken together, each row once."""
    second = {"entities": [ENTITIES[1]], "relationships": [RELATIONSHIPS[1], RELATIONSHIPS[0]], "sources": SOURCES}
    logged = read(
        result({"Who is Ann?": {"entities": ENTITIES[:1], "relationships": RELATIONSHIPS[:1]}, "Where?": second})
    )
    assert (names(logged), logged.traversal) == (["ANN", "ACME", "Sources (7)", "BOB"], [EDGES])
    steps = {"nodes": [{"query": "Who is Ann?", "answer": "a"}], "edges": []}
    unread: Counter[str] = Counter()
    logged = read(result({"Who is Ann?": TABLES}, steps), unread)
    assert (logged.answer, logged.error, unread["response"]) == (None, None, 1)


def test_hostile_values() -> None:
    """Nothing of another shape than expected is read as something, and reading stays linear."""
    context = {
        "entities": [{"entity": "ANN"}, 3, {"id": None, "entity": ["x"]}, {"id": 4}],
        "relationships": [{"source": "ANN"}, {"source": {}, "target": "B"}],
    }
    unread: Counter[str] = Counter()
    logged = read(result(context, "[Data:" * 100_000 + "(" * 100_000), unread)
    assert (names(logged), logged.traversal, logged.citations) == (["ANN", "Entities (4)"], None, [])
    assert unread["context_data.relationships without an end"] == 2
    # LightRAG's tables have other columns, and others than tables are no context.
    other: Any
    for other in (
        {"response": "x", "context": "text"},
        {"entities": [{"entity_name": "A"}], "relationships": [], "chunks": []},
        {"entities": [{"name": "A"}], "relationships": [{"from": "A"}], "sources": []},
        ["a", "b"],
        [{}, {}],
    ):
        assert not GraphragReader().recognises(other)


def test_the_real_log(shared_log: SharedLog) -> None:
    """Local searches of graphrag 3.3.0: rows of n1 and n8 as they stand in the log, and the counts of all eight."""
    unread: Counter[str] = Counter()
    values = [(f"log:{line}", value) for line, value in enumerate(shared_log("ms-graphrag/local_search.jsonl.gz"), 1)]
    logged = list(GraphragReader().read(values, ReadOptions(), unread))
    assert [one.question for one in logged] == [f"n{number}" for number in range(1, 9)]
    # The lengths of the tables in the log: ten entities each, and sources; no row is repeated.
    assert [len(one.traversal[0]) for one in logged if one.traversal] == [10, 8, 11, 12, 11, 9, 9, 14]
    # And then the ends of edges that aren't among the entities, counted in the log by itself.
    unranked = [8, 5, 6, 10, 8, 5, 8, 9]
    tables = [14, 14, 16, 19, 13, 14, 12, 17]
    assert [len(one.retrieved or ()) for one in logged] == [a + b for a, b in zip(tables, unranked, strict=True)]
    vector = "LANGCHAIN_NEO4J.VECTORSTORES.NEO4J_VECTOR.NEO4JVECTOR"
    first = logged[0]
    assert first.traversal is not None
    assert first.traversal[0][0] == LoggedEdge(
        f"{vector}.CREATE_NEW_INDEX", None, "NEO4J_GRAPHRAG.INDEXES.CREATE_VECTOR_INDEX"
    )
    assert first.traversal[0][1] == LoggedEdge(vector, None, "LANGCHAIN_CORE.VECTORSTORES.BASE.VECTORSTORE")
    assert (names(first) or [])[:2] == [f"{vector}.CREATE_NEW_INDEX", vector]
    assert (first.prompt_tokens, first.output_tokens, first.model_calls) == (3183, 17, 1)
    assert first.latency_ms == pytest.approx(59.334754943847656)
    # Each answer cites relationships 1 and 2; of all contexts only that of n4 holds one of them, the second.
    assert first.citations == ["Relationships (1)", "Relationships (2)"]
    assert logged[3].citations == [
        "Relationships (1)",
        "LANGCHAIN_NEO4J.CHAINS.GRAPH_QA.CYPHER.GRAPHCYPHERQACHAIN.FROM_LLM",
        "LANGCHAIN_CORE.MESSAGES.SYSTEM.SYSTEMMESSAGE",
    ]
    assert unread["context_data.relationships.description"] == 0
