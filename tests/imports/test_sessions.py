"""Logs of several turns: a conversation becomes an answer a turn, with what the turns before it walked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import import_log
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl

LOGIN, CART = "web:login.ts", "web:cart.ts"
EDGE = {"source": LOGIN, "relation": "IMPORTS", "target": CART}
QUESTIONS = [
    {"id": "q1", "question": "Where is the login?", "session": "talk", "turn": 1, "paths": [{"steps": [EDGE]}]},
    {
        "id": "q2",
        "question": "Who uses it?",
        "session": "talk",
        "turn": 2,
        "paths": [{"steps": [EDGE], "from_turn": 1}],
    },
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A session of two questions, and the edge between the two files."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    write_jsonl(tmp_path / "edges.jsonl", [EDGE])
    return tmp_path


def read(name: str) -> list[dict[str, Any]]:
    """Return the messages of a model that opens a file, in the form of RAGAS."""
    return [
        {"type": "ai", "content": "", "tool_calls": [{"name": "read_file", "args": {"path": name}}]},
        {"type": "tool", "content": "code"},
    ]


#: A sample of several turns, in words that no question has: RAGAS 0.4, `MultiTurnSample(...).model_dump_json()`.
SAMPLE = {
    "user_input": [
        {"type": "human", "content": "Show me the login."},
        *read("login.ts"),
        *read("cart.ts"),
        {"type": "ai", "content": "In login.ts."},
        {"type": "human", "content": "And its users?"},
        *read("cart.ts"),
        {"type": "ai", "content": "The cart."},
    ],
    "reference": "cart.ts",
    "reference_tool_calls": [{"name": "read_file", "args": {"path": "cart.ts"}}],
}


def test_a_sample_of_ragas_that_is_named_by_a_session(dataset: Path) -> None:
    """The first text of the user is turn 1, the second turn 2, whose record holds the edge that turn 1 walked."""
    log = write_jsonl(dataset / "log.jsonl", [{"id": "talk", **SAMPLE}])
    first, second = import_log(log, "auto", dataset).records
    assert [(one["question_id"], one["answer"]) for one in (first, second)] == [
        ("q1", "In login.ts."),
        ("q2", "The cart."),
    ]
    assert [len(one["tool_calls"]) for one in (first, second)] == [2, 1]
    assert [(step["source"], step["target"]) for step in first["traversal"]] == [(LOGIN, CART)]
    assert second["walked_before"] == [{**EDGE, "path": 1}]
    assert "walked_before" not in first


def test_two_sessions_ask_in_the_same_words(tmp_path: Path) -> None:
    """A text that two sessions have is the question of the session whose first question was asked before it."""
    questions = [
        {"id": f"{session}{turn}", "question": text, "session": session, "turn": turn}
        for session, first in (("s", "Who calls b?"), ("t", "Who calls c?"))
        for turn, text in ((1, first), (2, "And then?"))
    ]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    samples = [
        {
            "user_input": [
                {"type": "human", "content": first},
                *read("login.ts"),
                {"type": "ai", "content": f"{name}, first"},
                {"type": "human", "content": "and then? "},
                {"type": "ai", "content": f"{name}, second"},
            ]
        }
        for name, first in (("t", "Who calls c?"), ("s", "Who calls b?"), ("nobody", "Who calls d?"))
    ]
    report = import_log(write_jsonl(tmp_path / "log.jsonl", samples), "ragas", tmp_path)
    assert [(one["question_id"], one["answer"]) for one in report.records] == [
        ("t1", "t, first"),
        ("t2", "t, second"),
        ("s1", "s, first"),
        ("s2", "s, second"),
    ]


def test_test_cases_of_deepeval_with_turns(dataset: Path) -> None:
    """Each turn of the user is a question, answered by what the assistant last said before the next one."""
    turns = [
        {"role": "user", "content": "Show me the login."},
        {"role": "assistant", "content": "Wait."},
        {
            "role": "assistant",
            "content": "In login.ts.",
            "retrievalContext": ["function login()"],
            "toolsCalled": [
                {"name": "read_file", "inputParameters": {"path": name}, "output": "code"}
                for name in ("login.ts", "cart.ts")
            ],
        },
        {"role": "user", "content": "And its users?"},
        {"role": "assistant", "content": "The cart."},
    ]
    run = {"testCases": [], "conversationalTestCases": [{"name": "talk", "metricsData": [], "turns": turns}]}
    first, second = import_log(write_jsonl(dataset / "log.json", [run]), "auto", dataset).records
    assert [(one["question_id"], one["answer"]) for one in (first, second)] == [
        ("q1", "In login.ts."),
        ("q2", "The cart."),
    ]
    assert [chunk["text"] for chunk in first["retrieved"]] == ["function login()"]
    assert [call["name"] for call in first["tool_calls"]] == ["read_file", "read_file"]
    assert "tool_calls" not in second
    assert second["walked_before"] == [{**EDGE, "path": 1}]


def test_own_records_get_what_earlier_turns_walked(dataset: Path) -> None:
    """In whatever order they stand, and only where every earlier turn logs its walk."""
    second = {"question_id": "q2", "traversal": []}
    log = write_jsonl(dataset / "log.jsonl", [second, {"question_id": "q1", "traversal": [["login.ts", "cart.ts"]]}])
    found = {one["question_id"]: one for one in import_log(log, "graphkit", dataset).records}
    assert found["q2"]["walked_before"] == [{"source": LOGIN, "target": CART, "path": 1}]
    log = write_jsonl(dataset / "log.jsonl", [second, {"question_id": "q1", "answer": "In login.ts."}])
    assert not any("walked_before" in one for one in import_log(log, "graphkit", dataset).records)
    log = write_jsonl(dataset / "log.jsonl", [second])
    assert not any("walked_before" in one for one in import_log(log, "graphkit", dataset).records)


def test_a_conversation_becomes_questions(tmp_path: Path) -> None:
    """A question a text of the user; the reference is that of the last turn, and tool calls of the whole are named."""
    rows = write_jsonl(tmp_path / "rows.jsonl", [{"id": "talk", **SAMPLE}, {"user_input": "Why?", "reference": "x"}])
    made = tmp_path / "made"
    said = inside("init", made, rows, cwd=tmp_path).err
    asked = read_jsonl(made / "questions.jsonl")
    kept = [{name: one.get(name) for name in ("id", "question", "session", "turn", "gold_answer")} for one in asked]
    assert kept[:2] == [
        {"id": "talk-1", "question": "Show me the login.", "session": "talk", "turn": 1, "gold_answer": None},
        {"id": "talk-2", "question": "And its users?", "session": "talk", "turn": 2, "gold_answer": "cart.ts"},
    ]
    assert (kept[2]["question"], kept[2]["session"]) == ("Why?", None)
    assert "the field 'reference_tool_calls of the whole conversation' isn't used" in said
