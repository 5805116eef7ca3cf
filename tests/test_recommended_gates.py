"""The gates that graphkit recommends: retrieving everything passes none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphkit.plugins.gold.datasets.new_dataset import _GATES
from tests.helpers import ROOT
from tests.helpers.cli import inside, write_lines

#: What graphkit shows to its users: pages, the action, the skill, and the gates that `init` prints.
SHOWN = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "action.yml",
        ROOT / "skills" / "graphkit" / "SKILL.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
} | {"init": "\n".join(f"graphkit evaluate DATASET {gate}" for gate in _GATES.values())}

#: The measures that retrieving everything makes 1, and those beside which a bound on them holds.
BESIDE = {"EdgeRecall": ("EdgePrecision", "EdgeF1"), "FileRecall": ("FilePrecision",)}

#: A bound on the command line, or in the mark of pytest.
BOUND = re.compile(r"""--(?:graphkit-)?fail-under (\w+(?:@\d+)?)=[\d.]+|fail_under=\{"(\w+)": [\d.]+""")


def bounded(line: str) -> set[str]:
    """Return the measures whose lower bounds a line shows."""
    return {option or marked for option, marked in BOUND.findall(line)}


@pytest.mark.parametrize("page", sorted(SHOWN))
def test_no_bound_on_recall_stands_alone(page: str) -> None:
    """A line that bounds a recall bounds the precision, too, unless it says why the recall alone won't do."""
    for line in SHOWN[page].splitlines():
        if page == "docs/decisions.md" or "alone" in line:
            continue
        shown = bounded(line)
        for recall, beside in BESIDE.items():
            assert recall not in shown or shown.intersection(beside), line


@pytest.mark.parametrize(
    "page",
    ["README.md", "action.yml", "docs/ci.md", "docs/evaluating.md", "docs/first-gate.md", "docs/pytest.md", "SKILL.md"],
)
def test_the_reason_stands_beside_the_gate(page: str) -> None:
    """Each page that recommends a gate says that walking every edge passes one on recall alone."""
    text = next(text for name, text in SHOWN.items() if name.endswith(page))
    assert "EdgeF1" in text
    assert re.search(r"alone\W+(is|would be) passed by (a walk over|walking) every edge", text)


def test_a_walk_over_every_edge_fails(tmp_path: Path) -> None:
    """Ten paths of two edges each: walking all twenty has a recall of 1, and fails each gate that is recommended."""
    paths = [[["web:p", "CALLS", f"api:h{n}"], [f"api:h{n}", "READS", f"db:t{n}"]] for n in range(10)]
    questions = [
        {
            "id": f"q{n}",
            "question": "?",
            "paths": [{"steps": [dict(zip(("source", "relation", "target"), step, strict=True)) for step in path]}],
        }
        for n, path in enumerate(paths)
    ]
    write_lines(tmp_path / "d" / "questions.jsonl", questions)
    every = [step for path in paths for step in path]
    for run, walks in (("every", [every] * 10), ("right", paths)):
        records = [
            {"run": run, "question_id": f"q{n}", "answer": "x", "traversal": walk} for n, walk in enumerate(walks)
        ]
        write_lines(tmp_path / "d" / "runs" / f"{run}.jsonl", records)
    gates = {
        match[0].replace("--graphkit-", "--")
        for text in SHOWN.values()
        for match in re.finditer(r"--fail-under Edge\w+=[\d.]+\d", text)
    }
    assert gates == {"--fail-under EdgeF1=0.7"}
    for gate in gates:
        # 2 of 20 walked edges are gold: the precision is .1, and F1 is 2 * 1 * .1 / 1.1 = .18.
        asked = ("evaluate", "--no-store", *gate.split())
        assert "EdgeF1 is 0.1818, under 0.7" in inside(*asked, "d/runs/every.jsonl", cwd=tmp_path, code=1).err
        inside(*asked, "d/runs/right.jsonl", cwd=tmp_path, code=0)
    recall = ("evaluate", "--no-store", "--fail-under", "EdgeRecall=0.8", "d/runs/every.jsonl")
    inside(*recall, cwd=tmp_path, code=0)  # which is why no page recommends it
