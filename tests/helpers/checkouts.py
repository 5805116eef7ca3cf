"""A small dataset, runs of it, and git as a person who isn't anybody on this machine runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.helpers.cli import Row, environment

#: Eight questions, each of two gold edges: enough for a significant regression of one measure.
QUESTIONS: list[Row] = [
    {"id": f"q{number}", "question": "?", "paths": [[[f"a:{number}", "CALLS", "a:m"], ["a:m", "CALLS", "a:z"]]]}
    for number in range(8)
]


def run_of(edges: int, questions: int = 8) -> list[Row]:
    """Return a run that walks so many of the two edges of the first questions."""
    return [
        {"run": "mine", "question_id": one["id"], "retrieved": ["a:m"], "traversal": one["paths"][0][:edges]}
        for one in QUESTIONS[:questions]
    ]


def git(folder: Path, *arguments: str) -> str:
    """Run git, and return what it printed."""
    who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=60, env=environment()
    )
    return done.stdout.strip()
