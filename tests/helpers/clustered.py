"""Two runs over questions of seven repositories, whose edge recalls are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.helpers.cli import Row, write_lines

#: The edge recall of each question of each repository, of both runs.
FIRST: Mapping[str, Sequence[float]] = {
    "a": [0.0, 0.5, 1.0],
    "b": [0.25, 0.25],
    "c": [1.0],
    "d": [0.0, 0.0, 0.5, 0.5],
    "e": [0.75, 0.5],
    "f": [0.0],
    "g": [0.25, 1.0, 0.0],
}
SECOND: Mapping[str, Sequence[float]] = {
    "a": [0.5, 1.0, 1.0],
    "b": [0.75, 0.0],
    "c": [0.5],
    "d": [0.5, 0.0, 1.0, 0.75],
    "e": [0.75, 0.75],
    "f": [1.0],
    "g": [0.5, 0.75, 0.25],
}


def edges(repo: str) -> list[list[str]]:
    """Return four gold edges of a repository."""
    return [[f"{repo}:m.py#x{step}", "CALLS", f"{repo}:m.py#x{step + 1}"] for step in range(4)]


def clustered_runs(folder: Path) -> tuple[Path, Path]:
    """Write a dataset whose questions have four gold edges in one repository, and two runs that walk some of them.

    The category of a question is its repository, and its group that of the first three or the last four.
    """
    names = [(repo, number) for repo, recalls in FIRST.items() for number in range(len(recalls))]
    questions: list[Row] = [
        {
            "id": f"{repo}{number}",
            "question": "?",
            "category": repo,
            "group": "early" if repo < "d" else "late",
            "paths": [edges(repo)],
        }
        for repo, number in names
    ]
    write_lines(folder / "questions.jsonl", questions)
    files = []
    for run, values in (("one", FIRST), ("two", SECOND)):
        rows: list[Row] = [
            {
                "run": run,
                "question_id": f"{repo}{number}",
                "traversal": edges(repo)[: round(4 * values[repo][number])],
            }
            for repo, number in names
        ]
        files.append(write_lines(folder / "runs" / f"{run}.jsonl", rows))
    return files[0], files[1]
