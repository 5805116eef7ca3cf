"""Systems for ``graphkit run``, those that behave and those that don't, and what their runs leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.helpers.cli import Done, Row, inside
from tests.helpers.datasets import read_jsonl

SYSTEMS = """
import asyncio, dataclasses, os, sys, time
from pathlib import Path

def plain(question):
    return f"about {question.question}"

def full(question, context):
    context.used(prompt_tokens=100, output_tokens=10, cost=0.25)
    return {
        "answer": f"{question.id} {context.run} {context.k} {sorted(context.commits.items())}",
        "chunks": [{"id": "a:m.py#x", "score": 0.5}, "b:n.py#z"],
        "traversal": [["a:m.py#x", "CALLS", "a:m.py#y"]],
        "run": "another", "question_id": "another",
    }

async def later(question):
    await asyncio.sleep(0)
    return {"answer": "later", "latency_ms": 7.5, "model_calls": 3, "prompt_tokens": 5, "output_tokens": 1, "cost": 2}

@dataclasses.dataclass
class Found:
    answer: str
    retrieved: list

def typed(question):
    return Found("typed", ["a:m.py#x"])

def mapped(question):
    assert "id" in question and "ident" not in question and question.get("ident", 3) == 3
    return f"{question['id']} asks {question['question']} of {question.get('category')}"

def misnamed(question):
    return question["ident"]

def miscounting(question, context):
    figures = {"q1": {"cost": float("nan")}, "q2": {"prompt_tokens": 1.5}, "q3": {"output_tokens": 2**63}}
    context.used(**figures[question.id])
    return "fine"

def seen(question):
    return repr(question)

def printing(question):
    print("noise on standard output")
    return "quiet"

def raising(question):
    if question.id == "q1":
        raise KeyError("no index\\nfor this")
    return "fine"

def always(question):
    raise ValueError("broken as a whole")

def leaving(question):
    sys.exit(3)

def hanging(question):
    if question.id == "q1":
        time.sleep(3600)
    return "fine"

async def hanging_async(question):
    if question.id == "q1":
        await asyncio.sleep(3600)
    return "fine"

async def blocking(question):
    if question.id == "q1":
        time.sleep(3600)
    return "fine"

def wrong(question):
    return 42

def nothing(question):
    return None

def lone(question):
    return "half \\ud800"

def no_number(question):
    return {"answer": "x", "cost": float("nan")}

def million(question):
    return {"answer": "x", "retrieved": [f"c{number}" for number in range(1_000_000)]}

def long(question):
    return "x" * (20 << 20)

def flaky(question):
    seen = Path(os.environ["COUNTS"], question.id)
    tries = int(seen.read_text()) if seen.exists() else 0
    seen.write_text(str(tries + 1))
    if tries < 2:
        raise ConnectionError("not yet")
    return "at last"

def counted(question):
    with open(Path(os.environ["COUNTS"], "asked"), "a") as stream:
        stream.write(question.id + "\\n")
    if question.id in os.environ.get("BREAK", "").split(","):
        raise ValueError("broken")
    return "answer of " + question.id

def waiting(question):
    counted(question)
    if question.id == os.environ.get("WAIT_AT"):
        Path(os.environ["COUNTS"], "waiting").touch()
        time.sleep(3600)
    return "answer of " + question.id

def large(question):
    return question.id + "x" * 3000

class Kind:
    pass

value = 3
"""

#: Ten questions: four easy, four medium, two hard.
TEN = tuple(
    {"id": f"t{number}", "question": f"Number {number}?", "gold_answer": "g", "difficulty": difficulty}
    for number, difficulty in enumerate(["easy"] * 4 + ["medium"] * 4 + ["hard"] * 2)
)


def run(folder: Path, *arguments: object, env: Mapping[str, str] | None = None, code: int | None = 0) -> Done:
    """Run systems over the dataset of the folder."""
    return inside("run", "data", *arguments, cwd=folder, env={"COUNTS": str(folder), **(env or {})}, code=code)


def records(folder: Path, name: str) -> dict[str, Row]:
    """Return the records of a run by question."""
    found = read_jsonl(folder / "data" / "runs" / f"{name}.jsonl")
    by_question = {record["question_id"]: record for record in found}
    assert len(by_question) == len(found)
    return by_question


def asked(folder: Path) -> list[str]:
    """Return which questions a counting system was asked, sorted."""
    return sorted((folder / "asked").read_text().split())
