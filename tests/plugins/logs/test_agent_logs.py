"""The logs of agent frameworks score as records that were made by hand from the same opened nodes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import import_log
from graphkit.measures.base import Unscored
from graphkit.records.models import Answer, Question
from tests.helpers.cases import score

#: What each agent opened, in its order, by the ends of the edges that it followed. n2 goes two steps, and all of them
#: are the gold paths of their questions.
NEO4J = "langchain-neo4j:langchain_neo4j"
GRAPHRAG = "neo4j-graphrag:neo4j_graphrag"
VECTOR = f"{NEO4J}/vectorstores/neo4j_vector.py#Neo4jVector"
BY_HAND = {
    "n1": [(f"{VECTOR}.create_new_index", f"{GRAPHRAG}/indexes.py#create_vector_index")],
    "n2": [
        (f"{VECTOR}.similarity_search_with_score", f"{VECTOR}.similarity_search_with_score_by_vector"),
        (f"{VECTOR}.similarity_search_with_score_by_vector", f"{GRAPHRAG}/neo4j_queries.py#get_search_query"),
    ],
    "n3": [(f"{NEO4J}/graphs/neo4j_graph.py#Neo4jGraph.query", f"{GRAPHRAG}/schema.py#_value_sanitize")],
    "n4": [
        (
            f"{NEO4J}/chains/graph_qa/cypher.py#GraphCypherQAChain._call",
            f"{GRAPHRAG}/retrievers/text2cypher.py#extract_cypher",
        )
    ],
}

LOGS = {
    "openai_agents_input_list": "openai-agents",
    "openai_agents_new_items": "openai-agents",
    "pydantic_ai_messages": "pydantic-ai",
    "smolagents_memory": "smolagents",
    "adk_events": "google-adk",
    "autogen_messages": "autogen",
    "haystack_agent": "haystack",
    "dspy_react": "dspy",
}


def recalls(logs: Path, records: list[dict[str, Any]]) -> dict[str, float | Unscored]:
    """Return the EdgeRecall of each record, by its question."""
    lines = (logs / "questions.jsonl").read_text("utf-8").splitlines()
    questions = {one["id"]: Question.model_validate(one) for one in map(json.loads, lines)}
    return {
        one["question_id"]: score("EdgeRecall", questions[one["question_id"]], Answer.model_validate(one))
        for one in records
    }


@pytest.mark.parametrize("name", LOGS)
def test_each_log_scores_as_records_made_by_hand(real_logs: Path, name: str) -> None:
    """Recognised by itself, each log has the walks that were written down by hand: all gold edges, 1.0."""
    log, table = real_logs / "agents" / f"{name}.jsonl.gz", real_logs / "ids.jsonl.gz"
    found = import_log(log, dataset=real_logs, ids=table, run="agent")
    assert any(f"recognised as {LOGS[name]}" in line for line in found.summary)
    walks = {
        one["question_id"]: [(step["source"], step["target"]) for step in one["traversal"]] for one in found.records
    }
    assert walks == BY_HAND
    by_hand = [
        {
            "run": "hand",
            "question_id": question,
            "traversal": [{"source": source, "relation": "CALLS", "target": target} for source, target in edges],
        }
        for question, edges in BY_HAND.items()
    ]
    assert recalls(real_logs, found.records) == recalls(real_logs, by_hand) == dict.fromkeys(BY_HAND, 1.0)


def test_the_documents_of_a_retriever_hold_these_gold_edges(real_logs: Path) -> None:
    """The recall of the triples in the documents, joined with gold by the names alone: .5625 over eight questions."""
    table = real_logs / "ids.jsonl.gz"
    found = import_log(real_logs / "agents" / "haystack_retriever.jsonl.gz", dataset=real_logs, ids=table, run="h")
    with gzip.open(table, "rt") as lines:
        ids = {one["name"]: one["id"] for one in map(json.loads, lines)}
    with gzip.open(real_logs / "agents" / "haystack_retriever.jsonl.gz", "rt") as lines:
        logged = {one["question_id"]: one["result"]["retriever"]["documents"] for one in map(json.loads, lines)}
    expected = {}
    for one in map(json.loads, (real_logs / "questions.jsonl").read_text("utf-8").splitlines()):
        gold = {(step["source"], step["target"]) for path in one["paths"] for step in path["steps"]}
        held = {(ids[a], ids[b]) for document in logged[one["id"]] for a, _, b in document["triples"]}
        expected[one["id"]] = len(gold & held) / len(gold)
    scored = recalls(real_logs, found.records)
    assert scored == expected
    assert sum(expected.values()) / len(expected) == 0.5625


def test_the_facts_of_graphiti_hold_these_gold_edges(real_logs: Path) -> None:
    """Its facts are `A calls B` and `A inherits B`, whose ends are joined with gold by the names alone: .9375."""
    table = real_logs / "ids.jsonl.gz"
    log = real_logs / "agents" / "graphiti_search.jsonl.gz"
    found = import_log(log, dataset=real_logs, ids=table, run="g")
    with gzip.open(table, "rt") as lines:
        ids = {one["name"]: one["id"] for one in map(json.loads, lines)}
    with gzip.open(log, "rt") as lines:
        facts = {
            one["question_id"]: [edge["fact"].split() for edge in one["results"]] for one in map(json.loads, lines)
        }
    expected = {}
    for one in map(json.loads, (real_logs / "questions.jsonl").read_text("utf-8").splitlines()):
        gold = {(step["source"], step["target"]) for path in one["paths"] for step in path["steps"]}
        held = {(ids[words[0]], ids[words[-1]]) for words in facts[one["id"]]}
        expected[one["id"]] = len(gold & held) / len(gold)
    assert recalls(real_logs, found.records) == expected
    assert sum(expected.values()) / len(expected) == 0.9375
