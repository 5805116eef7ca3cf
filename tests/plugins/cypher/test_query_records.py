"""Records with queries and what came of them, on the way through models and shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.records.models import Answer, Question
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl

MEASURES = [word for name in ("Executable", "ResultAccuracy", "PSJS", "EdgeRecall") for word in ("-m", name)]
STEPS = [["a", "R", "b"]]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "?", "gold_cypher": ["RETURN 'it\\'s'", "RETURN 2"], "paths": [{"steps": STEPS}]},
    {"id": "q2", "question": "?", "gold_cypher": ["RETURN 1"], "stale": "the gold query finds nothing in the graph"},
    {"id": "q3", "question": "?", "gold_cypher": ["RETURN 3"], "paths": [{"steps": STEPS}]},
]
QUERY: dict[str, Any] = {
    "cypher": "MATCH (n {id: $id})\n// a comment\nRETURN n",
    "parameters": {"id": "é", "list": [1, None, {"a": True}]},
    "columns": ["n"],
    "rows": [[{"id": "é"}], {"n": 1.5}],
    "error": "a warning",
}
COMPARED: dict[str, Any] = {
    "executable": True,
    "same": False,
    "nodes": ["a", "c"],
    "gold_nodes": ["a", "b"],
    "reason": "none",
    "cause": "R was asked the other way round; turned, the result is right",
    "cause_kind": "direction turned",
}
#: By hand: q1 runs, isn't gold's, has 1 of 3 nodes and no edge; q2 is stale; q3 didn't run.
ANSWERS: list[dict[str, Any]] = [
    {"question_id": "q1", "traversal": [], "queries": [QUERY], "compared_result": COMPARED},
    {"question_id": "q2", "traversal": [], "queries": [QUERY], "compared_result": COMPARED},
    {"question_id": "q3", "traversal": [], "queries": [], "compared_result": {"executable": False, "reason": "none"}},
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three records."""
    write_jsonl(tmp_path / "data" / "questions.jsonl", QUESTIONS)
    return write_jsonl(tmp_path / "data" / "runs" / "r.jsonl", [{"run": "r", **row} for row in ANSWERS])


def test_models_lose_nothing() -> None:
    """A record read and written again states the same, with every field of a query."""
    for row in ANSWERS:
        read = Answer.model_validate({"run": "r", **row})
        again = json.loads(read.model_dump_json(exclude_unset=True))
        assert (again["queries"], again["compared_result"]) == (row["queries"], row["compared_result"])
        assert Answer.model_validate(again) == read
    for row in QUESTIONS:
        asked = Question.model_validate(row)
        assert Question.model_validate_json(asked.model_dump_json()) == asked
        assert (asked.gold_cypher, asked.stale) == (tuple(row["gold_cypher"]), row.get("stale"))


def test_scores_of_shards_are_the_same(run: Path, tmp_path: Path) -> None:
    """Workers read queries and outcomes as one process does; a stale question isn't scored."""
    words = ("evaluate", run, "--no-store", *MEASURES)
    inside(*words, "-o", tmp_path / "one.jsonl", cwd=tmp_path, code=0)
    inside(*words, "-o", tmp_path / "two.jsonl", "--on", "processes=2", cwd=tmp_path, code=0)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    found: dict[str, list[float | None]] = {}
    for row in read_jsonl(tmp_path / "one.jsonl"):
        found.setdefault(row["question"], []).append(row["value"])
    assert found == {"q1": [1.0, 0.0, pytest.approx(1 / 3), 0.0], "q2": [None] * 4, "q3": [0.0] * 4}
