"""Retrieved ids that are finer or coarser than the gold's are counted and said where none is equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import graphkit
from graphkit.scoring.further_measures import RECORDS
from tests.helpers.datasets import write_jsonl

#: In each question no id is equal; the lines of x:c.py#f aren't known.
QUESTIONS = [
    {"id": "q1", "question": "?", "relevant": ["x:a.py", "x:b.py#f"]},
    {"id": "q2", "question": "?", "relevant": ["x:c.py:10-20", "x:c.py#f"]},
    {"id": "q3", "question": "?", "relevant": ["x:d.py"]},
]
RETRIEVED = [["x:a.py#g", "x:a.py#h", "x:b.py", "x:b.py#other"], ["x:c.py:1-15", "y:c.py:1-15"], ["x:d.py", "x:d.py#f"]]


def evaluated(folder: Path, *measures: str, **options: Any) -> graphkit.Evaluation:
    """Return the result of the run by some measures."""
    answers = [{"run": "r", "question_id": f"q{place}", "retrieved": ids} for place, ids in enumerate(RETRIEVED, 1)]
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    write_jsonl(folder / "runs/r.jsonl", answers)
    return graphkit.evaluate(folder / "runs/r.jsonl", measures=list(measures), **options)


def test_the_note_counts_each_granularity(tmp_path: Path) -> None:
    """Two ids are finer, one is coarser and one overlaps; a question with an equal id isn't looked at."""
    words = "no equal id, but 1 coarser, 2 finer, 1 overlapping (x:a.py#g)"
    for options in (dict[str, str](), {"executor": "processes=2"}):
        [note] = evaluated(tmp_path, "RR", **options).warnings
        assert note == f"{words}; -m \"nDCG(match='containment')@10\" counts these"


def test_no_note_without_need(tmp_path: Path) -> None:
    """Who counts containment, compares files or doesn't rank is told nothing."""
    for measures in (["RR", "RR(match='containment')"], ["RR(level='file')"], ["CrossRepoRecall"]):
        assert evaluated(tmp_path, *measures).warnings == (), measures


def test_lines_come_from_the_artifacts_of_the_dataset(tmp_path: Path) -> None:
    """A symbol overlaps the lines at which artifacts.jsonl has it."""
    write_jsonl(tmp_path / "artifacts.jsonl", [{"id": "x:c.py#f", "line": 3, "end_line": 4}])
    result = evaluated(tmp_path, "Recall(match='containment')@5", "SpanRecall@5")
    # Lines 1 to 15 overlap both relevant places; of their 2 + 11 lines they have 2 and 6.
    assert result.question("q2").values == {"Recall(match='containment')@5": 1.0, "SpanRecall@5": 8 / 13}


def test_the_first_records_are_looked_at(tmp_path: Path) -> None:
    """Of 1,001 answers with a finer id the first 1,000 are counted, on processes as well."""
    names = [f"q{place}" for place in range(RECORDS + 1)]
    write_jsonl(tmp_path / "questions.jsonl", [{"id": name, "question": "?", "relevant": ["x:a.py"]} for name in names])
    answers = [{"run": "r", "question_id": name, "retrieved": ["x:a.py#g"]} for name in names]
    write_jsonl(tmp_path / "runs/r.jsonl", answers)
    for executor in (None, "processes=2"):
        warnings = graphkit.evaluate(tmp_path / "runs/r.jsonl", measures=["RR"], executor=executor).warnings
        assert warnings[0].startswith("in the first 1,000 records no equal id, but 1000 finer (x:a.py#g); -m ")
