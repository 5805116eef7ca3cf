"""A small run to be graded, and a server that judges it by a script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphkit.files.grades_beside import SCORES, file_beside
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.judging.verdict_files import VERDICTS, read_verdicts
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.scores import Score
from tests.helpers.api import Api, Reply, Script, message
from tests.helpers.cli import Row, tiny

#: q1 and q2 are answered, q3 failed, and q4 has no record.
ASKED: tuple[Row, ...] = (
    {
        "id": "q1",
        "question": "Which service calls Billing?",
        "gold_answer": "Orders calls Billing.",
        "category": "calls",
    },
    {"id": "q2", "question": "Which table does Orders write?", "gold_answer": "Orders writes the table payments."},
    {"id": "q3", "question": "Who reads payments?", "gold_answer": "Reports reads payments."},
    {"id": "q4", "question": "Who calls Orders?", "gold_answer": "Shop calls Orders."},
)
GIVEN: tuple[Row, ...] = (
    {
        "run": "r",
        "question_id": "q1",
        "answer": "Orders calls Billing [orders/api.py].",
        "retrieved": [{"id": "orders/api.py", "text": "def pay(): Orders calls Billing.", "source": "orders/api.py"}],
        "cost": 0.01,
    },
    {
        "run": "r",
        "question_id": "q2",
        "answer": "Orders writes the table users.",
        "retrieved": [{"id": "orders/db.py", "text": "Orders writes the table payments.", "source": "orders/db.py"}],
        "cost": 0.01,
    },
    {"run": "r", "question_id": "q3", "error": "timed out"},
)

RIGHT = json.dumps({"reasoning": "It says so.", "grade": "fully_correct", "failure": None, "confidence": 0.9})
WRONG = json.dumps({"reasoning": "It doesn't.", "grade": "wrong", "failure": "hallucination", "confidence": 0.7})


def to_grade(folder: Path, answers: Iterable[Row] = GIVEN, questions: Iterable[Row] = ASKED) -> Path:
    """Write the dataset with its run, and return the run's file."""
    return tiny(folder / "data", questions, answers)


def many(folder: Path, count: int) -> Path:
    """Write a run of so many answered questions, and return its file."""
    names = [f"q{number}" for number in range(count)]
    questions = [
        {"id": name, "question": f"What of {name}?", "gold_answer": f"{name} calls Billing."} for name in names
    ]
    answers = [
        {
            "run": "r",
            "question_id": name,
            "answer": f"{name} calls Billing.",
            "retrieved": [{"id": f"a/{name}.py", "text": f"Here {name} calls Billing."}],
        }
        for name in names
    ]
    return to_grade(folder, answers, questions)


def shown(body: Mapping[str, Any]) -> str:
    """Return all that a request shows the model after the system's words."""
    contents = [turn["content"] for turn in body["messages"]]
    return "\n".join(
        content if isinstance(content, str) else "\n".join(block["text"] for block in content) for content in contents
    )


def judging(grades: Mapping[str, Reply | str], otherwise: Reply | str = RIGHT) -> Script:
    """Return a script that replies to a request by the first of these words that it shows: a text, or a whole reply."""

    def script(api: Api, body: dict[str, Any]) -> Reply:
        text = shown(body)
        said = next((reply for words, reply in grades.items() if words in text), otherwise)
        return message(said, 100, 20) if isinstance(said, str) else said

    return script


def verdict_on(body: Mapping[str, Any]) -> str:
    """Return a verdict of the form that is asked for, of claims or by the rubric: all that is said is supported."""
    if "claims" not in body["output_config"]["format"]["schema"]["properties"]:
        return RIGHT
    evidence = [{"chunk": "c1", "quote": "calls Billing.", "alone": True}]
    claim = {"text": "It calls Billing.", "sentence": "s1", "hedged": False, "support": "DIRECT", "evidence": evidence}
    gold = {"text": "It calls Billing.", "chunks": ["c1"], "stated": True}
    return json.dumps(
        {"claims": [{**claim, "together": False, "edge": None, "gold": "SUPPORTED"}], "gold_claims": [gold]}
    )


def asks(api: Api) -> list[dict[str, Any]]:
    """Return the messages that a server was asked."""
    return [one for one in api.requests if one["path"].startswith("/v1/messages") and "batches" not in one["path"]]


def scores_beside(run: Path, judge: str, model: str | None = None) -> dict[tuple[str, str], Score]:
    """Return a judge's scores beside a run, by question and measure."""
    found = read_scores([file_beside(run, judge, f"{SCORES}.jsonl", model)], Problems())
    return {(score.question, score.measure): score for score in found}


def verdicts_beside(run: Path, judge: str, model: str | None = None) -> dict[tuple[str, str], Verdict]:
    """Return a judge's verdicts beside a run, by question and grader."""
    file = file_beside(run, judge, f"{VERDICTS}.jsonl", model)
    found = read_verdicts([file], Problems()) if file.exists() else []
    return {(verdict.question, verdict.grader): verdict for verdict in found}
