"""A dataset of questions without an answer and with a principal, and runs that go wrong on each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers.datasets import write_jsonl

#: How many questions there are of each kind.
COUNT = 6


def limited(folder: Path) -> Path:
    """Write the dataset and two runs.

    One answers what has no answer, declines what has one, and walks through ``hr``; the other does nothing.
    """
    questions: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for number in range(COUNT):
        page, view, table = f"web:p{number}.ts", f"api:v{number}.py", f"db:t{number}.sql"
        own, absent = [page, "CALLS", view], [page, "WRITES", table]
        through = [[page, "CALLS", f"hr:h{number}.py"], [f"hr:h{number}.py", "READS", table]]
        around = [own, [view, "READS", table]]
        alternatives = [{"group": "g", "steps": steps} for steps in (through, around)]
        none = {"answerable": False, "why_not": "false premise", "absent": [absent]}
        asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("none", none, {"answer": "By a job.", "traversal": [own, absent]}),
            ("declined", {"paths": [{"steps": [own]}]}, {"answer": "?", "abstained": True, "traversal": []}),
            ("through", {"principal": "web-team", "paths": alternatives}, {"answer": "So.", "traversal": through}),
        ]
        for kind, question, record in asked:
            name = f"{kind}-{number}"
            questions.append({"id": name, "question": f"How does {page} write {table}?", **question})
            records.append({"run": "limited", "question_id": name, "retrieved": [], **record})
    write_jsonl(folder / "limited" / "questions.jsonl", questions)
    rule = {"principal": "web-team", "allow": ["web:*", "api:*", "db:*"]}
    write_jsonl(folder / "limited" / "access.jsonl", [rule])
    write_jsonl(folder / "limited" / "runs" / "limited.jsonl", records)
    silent = [{"run": "silent", "question_id": one["id"], "retrieved": [], "traversal": []} for one in questions]
    write_jsonl(folder / "limited" / "runs" / "silent.jsonl", silent)
    return folder / "limited"
