"""A graph of files and tables, three questions about it, and what holds of each log of queries over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphkit.imports.importer import import_log
from graphkit.records.models import Answer
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl

Log = list[dict[str, Any]]

ARTIFACTS = [
    {"id": "web:cart.ts", "repo": "web", "path": "cart.ts", "kind": "File"},
    {"id": "web:login.ts", "repo": "web", "path": "login.ts", "kind": "File"},
    {"id": "api:orders.py", "repo": "api", "path": "orders.py", "kind": "File"},
    {"id": "api:users.py", "repo": "api", "path": "users.py", "kind": "File"},
    {"id": "db:orders.sql", "repo": "db", "path": "orders.sql", "kind": "Table"},
    {"id": "db:users.sql", "repo": "db", "path": "users.sql", "kind": "Table"},
]
EDGES = [
    ("web:cart.ts", "CALLS", "api:orders.py"),
    ("web:login.ts", "CALLS", "api:users.py"),
    ("api:orders.py", "WRITES", "db:orders.sql"),
    ("api:orders.py", "READS", "db:users.sql"),
    ("api:users.py", "READS", "db:users.sql"),
]
QUESTIONS = {
    "q1": "Which files does web:cart.ts call?",
    "q2": "Which files read db:users.sql?",
    "q3": "Which tables does api:orders.py write?",
}
GOLD = {
    "q1": "MATCH (:File {id: 'web:cart.ts'})-[:CALLS]->(f:File) RETURN f.id",
    "q2": "MATCH (f:File)-[:READS]->(:Table {id: 'db:users.sql'}) RETURN f.id",
    "q3": "MATCH (:File {id: 'api:orders.py'})-[:WRITES]->(t:Table) RETURN t.id",
}
SCHEMA = (
    "Node properties: File {id: STRING, repo: STRING, path: STRING}, Table {id: STRING, repo: STRING, path: STRING}. "
    "Relationships: (:File)-[:CALLS]->(:File), (:File)-[:READS]->(:Table), (:File)-[:WRITES]->(:Table)."
)
#: The same as LangChain has it.
STRUCTURED: dict[str, Any] = {
    "node_props": {
        label: [{"property": name, "type": "STRING"} for name in ("id", "repo", "path")] for label in ("File", "Table")
    },
    "rel_props": {},
    "relationships": [
        {"start": "File", "type": "CALLS", "end": "File"},
        {"start": "File", "type": "READS", "end": "Table"},
        {"start": "File", "type": "WRITES", "end": "Table"},
    ],
    "metadata": {},
}
EXAMPLES = [
    "Question: Which files does web:a.ts import? Query: MATCH (:File {id: 'web:a.ts'})-[:IMPORTS]->(f:File) RETURN f.id"
]


def dataset(folder: Path) -> Path:
    """Write the graph and its questions with their gold queries."""
    write_jsonl(folder / "artifacts.jsonl", ARTIFACTS)
    edges = [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in EDGES]
    write_jsonl(folder / "edges.jsonl", edges)
    write_jsonl(
        folder / "questions.jsonl",
        [{"id": key, "question": text, "gold_cypher": GOLD[key]} for key, text in QUESTIONS.items()],
    )
    return folder


def check_log(folder: Path, name: str, log: Log) -> list[dict[str, Any]]:
    """Import a log whose format has to be recognised, hold what every log of queries has, and return its records.

    A query stands in each record with its rows or its error. Importing the written run again loses nothing, and
    `graphkit cypher` walks each query, or says why it can't.
    """
    data, runs = dataset(folder / "data"), folder / "runs"
    first, again = runs / "first.jsonl", runs / "again.jsonl"
    found = import_log(write_jsonl(folder / "log.jsonl", log), "auto", data, out=first, run="live")
    assert any(f"recognised as {name}" in line for line in found.summary), found.summary
    import_log(first, "graphkit", data, out=again, run="live")
    records = _read(first)
    # Fields at their defaults are written out.
    assert [*map(Answer.model_validate, _read(again))] == [*map(Answer.model_validate, records)]
    assert [one["question_id"] for one in records] == [*QUESTIONS]
    for one in records:
        for query in one.get("queries") or ():
            assert query["cypher"].strip()
            assert "rows" in query or "error" in query or one.get("error")
    assert any(one.get("queries") for one in records)
    inside("cypher", data, first, "-o", folder / "walked", cwd=folder, code=0)
    for one in _read(folder / "walked" / "runs" / "first.jsonl"):
        if one.get("queries") and not one.get("error"):
            compared = one["compared_result"]
            assert "traversal" in one or compared["reason"]
            assert compared["same"] or compared["cause"]
    return records


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
