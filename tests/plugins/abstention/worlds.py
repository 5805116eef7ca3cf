"""Worlds of questions with and without an answer, and runs that decline."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.helpers.datasets import write_jsonl

#: The measures that both engines compute, whose values follow from the records, and all that both compute.
COUNTED = ("RightDecision", "AbstentionRecall", "AbstentionPrecision", "OverRefusal", "Coverage", "InventedEdges")
BOTH = (*COUNTED, "SelectiveRisk", "Confidence")

LOGIN = ["web:login.ts", "CALLS", "api:auth.py"]
ABSENT = ["web:login.ts", "CALLS", "db:users.sql"]

QUESTIONS: list[dict[str, Any]] = [
    {"id": "plain", "question": "Who checks the login?", "paths": [{"steps": [LOGIN]}], "gold_answers": ["auth.py"]},
    {"id": "second", "question": "What does it call?", "paths": [{"steps": [LOGIN]}], "gold_answers": ["auth.py"]},
    {"id": "no-path", "question": "How does it reach mail?", "answerable": False, "why_not": "no path"},
    {
        "id": "false-premise",
        "question": "Why does the login call the table?",
        "answerable": False,
        "why_not": "false premise",
        "absent": [ABSENT],
    },
    {"id": "unsure", "question": "Where is the cache?", "answerable": False, "why_not": "not in the set"},
    {"id": "failing", "question": "Where is the queue?", "answerable": False, "why_not": "not in the set"},
]


def record(question: str, **fields: Any) -> dict[str, Any]:
    """Return a record of the run of this world."""
    return {"run": "mixed", "question_id": question, "retrieved": [], "traversal": [], **fields}


#: One answered right, one declined although the path was walked, one declined, one answered by an invented edge, one
#: that says nothing, one that failed.
RECORDS = [
    record("plain", traversal=[LOGIN], answer="It is auth.py.", confidence=0.9),
    record("second", traversal=[LOGIN], answer="It is auth.py, perhaps.", abstained=True, confidence=0.2),
    record("no-path", answer="I don't know.", confidence=0.1),
    record("false-premise", traversal=[ABSENT, LOGIN], answer="For speed.", abstained=False, confidence=0.8),
    record("unsure"),
    record("failing", error="timeout"),
]


def small_world(folder: Path) -> Path:
    """Write the world of six questions and its run; return the file of the run."""
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    return write_jsonl(folder / "runs" / "mixed.jsonl", RECORDS)


def random_world(folder: Path, seed: int, count: int) -> Path:
    """Write a world of random questions and records; return the file of the run."""
    dice = random.Random(seed)
    nodes = [f"r{number}:f.py" for number in range(4)]

    def edge() -> list[str | None]:
        source, target = dice.sample(nodes, 2)
        return [source, dice.choice(["CALLS", "READS", None]), target]

    questions, records = [], []
    for number in range(count):
        question: dict[str, Any] = {"id": f"q{number}", "question": "?"}
        if dice.random() < 0.5:
            question |= {"answerable": False, "why_not": "no path"}
        else:
            question |= {"paths": [{"steps": [edge()]}]} | ({"answerable": True} if dice.random() < 0.3 else {})
            question |= {"gold_answers": ["f.py"]} if dice.random() < 0.7 else {}
        question["absent"] = [edge() for _ in range(dice.randrange(3))]
        questions.append(question)
        if dice.random() < 0.1:
            continue
        one: dict[str, Any] = {"run": "random", "question_id": question["id"]}
        one |= {"traversal": [edge() for _ in range(dice.randrange(4))]} if dice.random() < 0.8 else {}
        one |= {"answer": dice.choice(["I don't know.", "By f.py.", "By another.", ""])} if dice.random() < 0.7 else {}
        one |= {"abstained": dice.random() < 0.5} if dice.random() < 0.5 else {}
        one |= {"confidence": dice.choice([0, 0.25, dice.random()])} if dice.random() < 0.6 else {}
        one |= {"error": "timeout"} if dice.random() < 0.1 else {}
        records.append(one)
    write_jsonl(folder / "questions.jsonl", questions)
    return write_jsonl(folder / "runs" / "random.jsonl", records)
