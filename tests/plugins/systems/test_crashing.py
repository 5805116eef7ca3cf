"""The system that crashes on its worst third: its run file is what ``graphkit run`` keeps."""

from __future__ import annotations

from pathlib import Path

import graphkit
from tests.helpers import ROOT
from tests.helpers.cli import inside
from tests.helpers.crashing import crashing_run
from tests.helpers.datasets import read_jsonl

#: storefront-graph fails on sf-01 and sf-08, and has EdgeRecall 0 on eleven more, of which ten make a third of the 35
#: questions with gold.
WORST = {f"sf-{number:02d}" for number in (1, 4, 8, 12, 15, 16, 17, 21, 25, 27, 35, 37)}


def test_the_crashing_system_fails_on_its_worst_third(tmp_path: Path) -> None:
    """Twelve records hold an error, and the others score as those of the honest run do."""
    file = crashing_run(tmp_path)
    records = {record["question_id"]: record for record in read_jsonl(file)}
    assert {question for question, record in records.items() if "error" in record} == WORST
    values, honest = (_edge_recall(path) for path in (file, file.with_name("storefront-graph.jsonl")))
    assert list(values) == list(honest) == list(records)
    assert {question: values[question] for question in values.keys() - WORST} == {
        question: honest[question] for question in honest.keys() - WORST
    }


def _edge_recall(run: Path) -> dict[str, float | str]:
    return {row.question: row.values[0] for row in graphkit.evaluate(run, measures=["EdgeRecall"]).rows}


def test_the_command_line_keeps_the_same_run(tmp_path: Path) -> None:
    """``graphkit run`` with the same system writes the same records but for times."""
    library = read_jsonl(crashing_run(tmp_path))
    system = "storefront-graph-crashing=tests.helpers.crashing:answer"
    inside(
        *("run", tmp_path / "storefront", "--system", system, "-o", tmp_path / "out"),
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        code=0,
    )
    command = read_jsonl(tmp_path / "out" / "storefront-graph-crashing.jsonl")
    times = ("latency_ms", "failed_at")
    assert [{key: value for key, value in record.items() if key not in times} for record in command] == [
        {key: value for key, value in record.items() if key not in times} for record in library
    ]
