"""One search has one ranking, and one table of figures, in whichever format it was logged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import ReadOptions
from tests.helpers.datasets import find_data
from tests.plugins.logs.shared_logs import names
from tests.plugins.logs.test_spans import otlp, span

PREAMBLE = "Here are some facts extracted from the provided text:\n\n"

#: The search: two triples, best first.
TRIPLES = (("A", "CALLS", "B"), ("C", "CALLS", "A"))
SCORES = (0.9, 0.5)
LINES = [" -> ".join(triple) for triple in TRIPLES]
MAPS = [dict(zip(("source", "relation", "target"), triple, strict=True)) for triple in TRIPLES]
DRAWN = [f"0000000{number}-0000-4000-8000-000000000000" for number in range(2)]
FILES = ("f.md", "g.md")
HEADED = [f"{PREAMBLE}{line}\n\nText of {file}." for line, file in zip(LINES, FILES, strict=True)]

Log = tuple[str, Any]


def llama_nodes(ids: Iterable[str], texts: Iterable[str], **more: Any) -> list[dict[str, Any]]:
    """Return nodes of LlamaIndex with their scores."""
    return [
        {"node": {"id_": one, "text": text, "class_name": "TextNode", **more}, "score": score}
        for one, text, score in zip(ids, texts, SCORES, strict=True)
    ]


def attributes(documents: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the attributes of a retrieval that found documents."""
    found = {
        f"retrieval.documents.{place}.document.{name}": value
        for place, document in enumerate(documents)
        for name, value in document.items()
    }
    return {"metadata": '{"question_id": "q"}', **found}


def openinference(documents: list[dict[str, Any]]) -> list[Log]:
    """Return documents as OpenInference's spans have them, by the SDK and in OTLP."""
    flat = {"openinference.span.kind": "RETRIEVER", **attributes(documents)}
    kinds = {str: "stringValue", float: "doubleValue"}
    pairs = [{"key": name, "value": {kinds[type(value)]: value}} for name, value in flat.items()]
    return [
        ("openinference", span(1, None, "RETRIEVER", attributes=attributes(documents))),
        ("openinference", otlp(pairs, "0" * 31 + "1", "0" * 15 + "1")),
    ]


def llama_index(nodes: list[dict[str, Any]]) -> list[Log]:
    """Return nodes as a retriever's list and as the Response of an engine."""
    response = {"response": "Yes.", "source_nodes": nodes, "metadata": {}}
    return [
        ("llama-index", {"question_id": "q", "nodes": nodes}),
        ("llama-index", {"question_id": "q", **response}),
    ]


def langchain(documents: list[dict[str, Any]]) -> list[Log]:
    """Return documents as a chain's output, as an event, as a run and as OpenLLMetry's spans."""
    retrieved = {"event": "on_retriever_end", "run_id": "r", "data": {"output": documents}, "metadata": {}}
    run = {"id": "r", "run_type": "retriever", "inputs": {"query": "?"}, "outputs": {"documents": documents}}
    step = span(1, None, "")
    step["attributes"] = {
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.association.properties.question_id": "q",
        "traceloop.entity.output": json.dumps({"documents": documents}),
    }
    return [
        ("langchain", {"question_id": "q", "context": documents, "answer": "Yes."}),
        ("langchain", {"question_id": "q", "event": retrieved}),
        ("langchain", {"question_id": "q", "run": run}),
        ("otel", step),
    ]


def documents(texts: Iterable[str], **metadata: Iterable[Any]) -> list[dict[str, Any]]:
    """Return documents of LangChain."""
    keys = list(metadata)
    values = zip(*metadata.values(), strict=True) if keys else [()] * len(TRIPLES)
    return [
        {"page_content": text, "metadata": dict(zip(keys, one, strict=True))}
        for text, one in zip(texts, values, strict=True)
    ]


def neo4j(*items: dict[str, Any]) -> list[Log]:
    """Return items as neo4j-graphrag's retrievers and its RAG return them."""
    result = {"items": [{"content": "text", "metadata": one} for one in items], "metadata": {}}
    return [
        ("neo4j-graphrag", {"question_id": "q", "result": result}),
        ("neo4j-graphrag", {"question_id": "q", "answer": "Yes.", "retriever_result": result}),
    ]


LISTS = [[one] for one in MAPS]

#: The triples are the items themselves.
ALONE: list[Log] = [
    *llama_index(llama_nodes(DRAWN, LINES)),
    *openinference([{"id": i, "content": t, "score": s} for i, t, s in zip(DRAWN, LINES, SCORES, strict=True)]),
    *langchain(documents(LINES)),
    *langchain(documents(["x", "y"], triples=LISTS)),
    *neo4j(*({"triples": one} for one in LISTS)),
    ("neo4j-graphrag", {"question_id": "q", "result": {"records": MAPS, "metadata": {}}}),
    ("langchain", {"question_id": "q", "query": "?", "result": "B", "intermediate_steps": [{"context": MAPS}]}),
    *llama_index(llama_nodes(DRAWN[:1] * 2, [str([one]) for one in MAPS])),
]
#: The texts of named chunks begin with them.
AT_HEAD: list[Log] = [
    *llama_index(llama_nodes(FILES, HEADED)),
    *openinference([{"id": i, "content": t, "score": s} for i, t, s in zip(FILES, HEADED, SCORES, strict=True)]),
    *langchain(documents(HEADED, id=FILES)),
]
#: They stand beside named items: in metadata, or in a table of their own.
ENTITIES = [{"entity_name": name, "entity": name, "id": name} for name in FILES]
LIGHTRAG = [{"src_id": source, "tgt_id": target} for source, _, target in TRIPLES]
GRAPHRAG = [{"id": source, "source": source, "target": target} for source, _, target in TRIPLES]
BESIDE: list[Log] = [
    *langchain(documents(["x", "y"], id=FILES, triples=LISTS)),
    *neo4j(*({"id": name, "triples": one} for name, one in zip(FILES, LISTS, strict=True))),
    *openinference(
        [{"id": name, "metadata": json.dumps({"triples": one})} for name, one in zip(FILES, LISTS, strict=True)]
    ),
    (
        "neo4j-graphrag",
        {
            "question_id": "q",
            "result": {"records": [{"id": n, "edges": e} for n, e in zip(FILES, LISTS, strict=True)], "metadata": {}},
        },
    ),
    ("lightrag", {"question_id": "q", "data": {"entities": ENTITIES, "relationships": LIGHTRAG, "chunks": []}}),
    ("graphrag", {"question_id": "q", "result": ["Yes.", {"entities": ENTITIES, "relationships": GRAPHRAG}]}),
]


def ranking(log: Log) -> list[str] | None:
    """Return the names of what one answer retrieved."""
    name, value = log
    (answer,) = reader_of(name).read([("log:1", value)], ReadOptions(), Counter())
    assert answer.traversal is not None
    assert {edge.source + edge.target for path in answer.traversal for edge in path} == {"AB", "CA"}
    return names(answer)


@pytest.mark.parametrize("log", ALONE)
def test_a_triple_is_both_of_its_ends(log: Log) -> None:
    """An item that is a triple ranks its source, then its target; A, which is met again, keeps its first rank."""
    assert ranking(log) == ["A", "B", "C"]


@pytest.mark.parametrize("log", AT_HEAD)
def test_triples_at_the_head_of_a_text(log: Log) -> None:
    """The ends rank at the place of the chunk, before its name, and its text is what follows the triples."""
    assert ranking(log) == ["A", "B", "f.md", "C", "g.md"]
    (answer,) = reader_of(log[0]).read([("log:1", log[1])], ReadOptions(), Counter())
    texts = {chunk.name: chunk.text for chunk in answer.retrieved or ()}
    assert texts == {"A": None, "B": None, "f.md": "Text of f.md.", "C": None, "g.md": "Text of g.md."}


@pytest.mark.parametrize("log", BESIDE)
def test_triples_beside_what_was_ranked(log: Log) -> None:
    """Nothing ranks them, so that their ends follow all items, and no item loses its rank."""
    assert ranking(log) == ["f.md", "g.md", "A", "B", "C"]


def test_triples_in_the_metadata_of_llama_index() -> None:
    """A node of LlamaIndex may hold triples in its metadata as well."""
    nodes = llama_nodes(FILES, ["x", "y"])
    for one, triples in zip(nodes, LISTS, strict=True):
        one["node"]["metadata"] = {"triples": triples}
    assert [ranking(log) for log in llama_index(nodes)] == [["f.md", "g.md", "A", "B", "C"]] * 2


def test_the_chunk_of_a_triple_was_not_ranked() -> None:
    """The node of a triple names the chunk that it was extracted from, which no span tells: it follows all items."""
    relationships = [{"1": {"node_id": file}} for file in FILES]
    nodes = llama_nodes(DRAWN, LINES)
    for one, its in zip(nodes, relationships, strict=True):
        one["node"]["relationships"] = its
    assert [ranking(log) for log in llama_index(nodes)] == [["A", "B", "C", "f.md", "g.md"]] * 2


@pytest.mark.parametrize("texts", [LINES, HEADED], ids=["alone", "at the head"])
def test_scores_rank_before_places(texts: list[str]) -> None:
    """LlamaIndex's nodes rank by their scores where each has one, as a Response and as spans, whatever their order."""
    nodes = llama_nodes(DRAWN, texts)
    given = [{"id": i, "content": t, "score": s} for i, t, s in zip(DRAWN, texts, SCORES, strict=True)]
    logs = [*llama_index(nodes[::-1]), *openinference(given[::-1])]
    assert [(ranking(log) or [])[:2] for log in logs] == [["A", "B"]] * 4
    # A node without a score has no place among scores: all keep their places.
    del given[0]["score"]
    nodes[0]["score"] = None
    logs = [*llama_index(nodes[::-1]), *openinference(given[::-1])]
    assert [(ranking(log) or [])[:2] for log in logs] == [["C", "A"]] * 4


MEASURES = ("EdgeRecall", "EdgePrecision", "Recall@20", "nDCG@10", "RR", "FileRecall")


@pytest.fixture(scope="module")
def logs_dataset(real_logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the dataset of the real logs, whose questions expect the files of their relevant ids."""
    logs, folder = real_logs, tmp_path_factory.mktemp("logs") / "logs"
    (folder / "runs").mkdir(parents=True)
    for name in ("artifacts.jsonl.gz", "edges.jsonl.gz", "commits.jsonl", "compatibility.jsonl"):
        (folder / name).symlink_to(logs / name)
    questions = [json.loads(line) for line in (logs / "questions.jsonl").read_text("utf-8").splitlines()]
    for question in questions:
        question["expected_files"] = sorted({name.split("#")[0].replace(":", "/", 1) for name in question["relevant"]})
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions), "utf-8")
    return folder


def figures(dataset: Path, log: str, only: frozenset[str] = frozenset(), **options: Any) -> list[str]:
    """Return the measures of a log as a row: each mean to four digits, with how many questions were scored."""
    logs = find_data("logs")
    assert logs is not None
    run = dataset / "runs" / f"{log.replace('/', '-').split('.')[0]}.jsonl"
    graphkit.import_log(logs / log, "auto", dataset, ids=logs / "ids.jsonl.gz", out=run, replace=True, **options)
    if only:
        lines = [line for line in run.read_text("utf-8").splitlines() if json.loads(line)["question_id"] in only]
        run.write_text("\n".join(lines) + "\n", "utf-8")
    found = graphkit.evaluate(run, dataset, measures=MEASURES).measures
    return [f"{one.mean:.4f} {one.scored}" if one.mean is not None else "-" for one in map(found.__getitem__, MEASURES)]


@pytest.mark.parametrize(
    "log",
    ["vector_context_with_text.jsonl.gz", "query_engine.jsonl.gz", "openinference_spans.jsonl.gz", "otlp.json.gz"],
)
def test_one_table_of_a_search_by_llama_index(log: str, logs_dataset: Path) -> None:
    """Nodes, the Response and the spans of one search give the figures that its Response always gave."""
    expected = ["0.6875 8", "0.1036 8", "0.7083 8", "0.5289 8", "0.4948 8", "0.7500 8"]
    assert figures(logs_dataset, f"llama-index/{log}") == expected


@pytest.mark.parametrize(
    "log", ["langchain/openinference_spans.jsonl.gz", "neo4j-graphrag/vector_cypher_formatter.jsonl.gz"]
)
def test_one_table_of_a_search_in_neo4j(log: str, logs_dataset: Path) -> None:
    """LangChain and neo4j-graphrag ran one query over one index: the chain's output, its spans and items are equal."""
    assert figures(logs_dataset, log) == figures(logs_dataset, "langchain/chain_output.jsonl.gz")


def test_one_table_of_the_events(logs_dataset: Path) -> None:
    """The events hold n1, n2 and n3: of these the chain's output has the same figures."""
    only = frozenset(("n1", "n2", "n3"))
    output = figures(logs_dataset, "langchain/chain_output.jsonl.gz", only)
    assert figures(logs_dataset, "langchain/astream_events_v2.jsonl.gz") == output


def test_one_table_of_lightrag_and_of_graphrag(logs_dataset: Path) -> None:
    """n1 of a search as its data, and as the text or the tuple that the other function returned of it."""
    only = frozenset(("n1",))
    for data, other in (
        ("lightrag/query_data_mix.jsonl.gz", "lightrag/only_need_context.txt"),
        ("ms-graphrag/local_search.jsonl.gz", "ms-graphrag/api_local_search_n1.json"),
    ):
        assert figures(logs_dataset, other, question="n1") == figures(logs_dataset, data, only)


def test_two_relations_of_a_pair_in_the_real_log(logs_dataset: Path) -> None:
    """By hand: n1's ten rows are ten edges, n6's nine are nine, with one of gold in each; a pair of each has two."""
    figures(logs_dataset, "ms-graphrag/local_search.jsonl.gz")
    run = logs_dataset / "runs" / "ms-graphrag-local_search.jsonl"
    rows = graphkit.evaluate(run, logs_dataset, measures=["EdgePrecision"], keep_rows=True).rows
    found = {row.question: row.values[0] for row in rows}
    assert found["n1"] == pytest.approx(1 / 10)
    assert found["n6"] == pytest.approx(1 / 9)
