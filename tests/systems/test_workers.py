"""``graphkit run --on``: the same runs as one process, also when a worker is killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.api import Api, limited, message, served
from tests.helpers.cli import Row, tiny
from tests.helpers.datasets import read_jsonl
from tests.helpers.systems import records, run

QUESTIONS: tuple[Row, ...] = tuple(
    {"id": f"t{number}", "question": f"Number {number}?", "gold_answer": "g"} for number in range(40)
)

#: ``killed`` kills its process at t7, the first time; all count what they were asked.
SYSTEM = """
import os, signal
from pathlib import Path

def counted(question):
    with open(Path(os.environ["COUNTS"], "asked"), "a") as stream:
        stream.write(question.id + "\\n")

def answered(question, context):
    counted(question)
    context.used(prompt_tokens=10, cost=0.5)
    if question.id == "t3":
        raise KeyError("no index")
    return {"answer": f"{question.id} {context.k}", "latency_ms": 1, "unknown": 1}

def killed(question):
    counted(question)
    mark = Path(os.environ["COUNTS"], "killed")
    if question.id == "t7" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"answer": question.id, "latency_ms": 1}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of forty questions beside a module with systems."""
    tiny(tmp_path / "data", QUESTIONS, ())
    (tmp_path / "worked.py").write_text(SYSTEM)
    return tmp_path


def plain(path: Path) -> list[Row]:
    """Return the records of a run without the figures that each run measures for itself."""
    measured = {"latency_ms", "failed_at"}
    return [{name: value for name, value in row.items() if name not in measured} for row in read_jsonl(path)]


def test_workers_make_the_same_run(folder: Path) -> None:
    """Records, their order, failures, costs and notes are those of one process, and a second command asks nothing."""
    system = ("--system", "worked:answered", "--k", 3)
    one = run(folder, *system, "-o", "one")
    two = run(folder, *system, "-o", "two", "--on", "processes=2")
    assert plain(folder / "one" / "answered.jsonl") == plain(folder / "two" / "answered.jsonl")
    assert (folder / "one" / "answered.made-by").read_text() == (folder / "two" / "answered.made-by").read_text()
    assert "the field 'unknown' isn't used (39 records)" in one.err
    assert "the field 'unknown' isn't used (39 records)" in two.err
    asked = (folder / "asked").read_text().split()
    assert sorted(asked) == sorted(2 * [question["id"] for question in QUESTIONS])
    again = run(folder, *system, "-o", "two", "--on", "processes=2")
    assert "40 records kept" in again.err
    assert len((folder / "asked").read_text().split()) == len(asked)


def test_a_killed_worker_costs_what_was_under_way(folder: Path) -> None:
    """Each question is answered; only those under way at the kill, at most four, are asked twice."""
    done = run(folder, "--system", "worked:killed", "--on", "processes=2", "--concurrency", 4)
    assert set(records(folder, "killed")) == {question["id"] for question in QUESTIONS}
    assert "its worker was lost" in done.err
    asked = (folder / "asked").read_text().split()
    assert asked.count("t7") == 2
    assert 41 <= len(asked) <= 44


def test_the_baseline_shares_one_client(folder: Path) -> None:
    """Workers ask the model through the driver: a refusal for the rate holds up all, and nothing is asked twice."""
    refused: list[str] = []

    def script(api: Api, body: dict[str, object]) -> object:
        if not refused:
            refused.append("once")
            return limited(0.2)
        return message("An answer.", 10, 2)

    with served(script) as api:  # type: ignore[arg-type]
        run(folder, "--condition", "training", "--on", "processes=2", env=api.env)
        texts = [json.dumps(body["messages"]) for body in api.requests]
    assert len(texts) == 41
    assert len(set(texts)) == 40
    found = records(folder, "training")
    assert all(record["answer"] == "An answer." and record["prompt_tokens"] == 10 for record in found.values())


def test_a_worker_that_cannot_import_says_why(folder: Path) -> None:
    """A reserve that processes can't make is refused, as is one without workers."""
    refused = run(folder, "--system", "worked:answered", "--on", "processes", "--resources", "gpu=1", code=2)
    assert "processes can't reserve resources (gpu=1)" in refused.err
    alone = run(folder, "--system", "worked:answered", "--resources", "gpu=1", code=2)
    assert "--on names none" in alone.err
    wrong = run(folder, "--system", "worked:answered", "--on", "processes", "--resources", "gpu=all", code=2)
    assert "NAME=AMOUNT" in wrong.err
