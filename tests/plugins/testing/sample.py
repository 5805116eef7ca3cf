"""A project of 60 questions: a dataset, a system with known faults, and a test of it.

| questions | what the system does | their tests |
|---|---|---|
| q01 to q40 | walks both gold edges | pass |
| q41 to q50 | takes a wrong edge at the second step | fail |
| q51 to q53 | crashes | fail |
| q54 to q56 | walks the gold edges, which the knowledge graph doesn't hold: stale | are skipped |
| q57, q58 | answers; nothing is expected | are skipped |
| q59 | walks both gold edges, and gives a wrong answer | fail |
| HOSTILE | walks both gold edges | pass |
"""

from __future__ import annotations

from pathlib import Path

from tests.helpers.cli import write_lines

HOSTILE = "q60::a[b]\n\x1b[31m/../x"
NAMES = [*(f"q{number:02}" for number in range(1, 60)), HOSTILE]

SYSTEM = """
from pathlib import Path

def answer(question):
    with Path("asked.txt").open("a") as file:
        file.write(repr(question.id) + "\\n")
    number = int(question.id[1:3])
    if 51 <= number <= 53:
        raise RuntimeError(f"no connection for {question.id}")
    a, b, c = (f"web:src/{part}{number}.ts" for part in "abc")
    end = "web:src/elsewhere.ts" if 41 <= number <= 50 else c
    text = "nobody" if number == 59 else f"c{number}"
    return {"answer": text, "retrieved": [], "traversal": [[a, "CALLS", b], [b, "CALLS", end]]}
"""

TEST = """
import pytest
from system import answer

@pytest.mark.graphkit("my-dataset", system=answer{arguments})
def test_answers():
    pass
"""


def gold(number: int) -> list[tuple[str, str, str]]:
    """Return the two gold edges of a question."""
    a, b, c = (f"web:src/{part}{number}.ts" for part in "abc")
    return [(a, "CALLS", b), (b, "CALLS", c)]


def write_dataset(folder: Path) -> Path:
    """Write the dataset, and return its folder."""
    questions = []
    for name in NAMES:
        number = int(name[1:3])
        question: dict[str, object] = {"id": name, "question": f"Whom does a{number} call in the end?"}
        if number not in (57, 58):
            question["paths"] = [{"id": "p", "steps": [list(edge) for edge in gold(number)]}]
        if number <= 5:
            question["gold_answer"] = f"c{number}"
        if number == 59:
            question["expected_output"] = "c59"
        questions.append(question)
    held = [edge for name in NAMES if not 54 <= (number := int(name[1:3])) <= 56 for edge in gold(number)]
    write_lines(folder / "questions.jsonl", questions)
    nodes = dict.fromkeys(node for name in NAMES for edge in gold(int(name[1:3])) for node in (edge[0], edge[2]))
    write_lines(folder / "artifacts.jsonl", [{"id": node, "repo": "web"} for node in nodes])
    edges = [{"source": source, "relation": relation, "target": target} for source, relation, target in held]
    write_lines(folder / "edges.jsonl", edges)
    return folder


def write_project(folder: Path, arguments: str = "") -> Path:
    """Write the project, with further arguments of the mark, and return its folder."""
    write_dataset(folder / "my-dataset")
    (folder / "system.py").write_text(SYSTEM)
    (folder / "test_qa.py").write_text(TEST.format(arguments=arguments and f", {arguments}"))
    return folder


def asked(folder: Path) -> list[str]:
    """Return the ids of the questions that the system was asked, in their order by name."""
    file = folder / "asked.txt"
    return sorted(map(str, map(eval, file.read_text().splitlines()))) if file.exists() else []
