"""Datasets over a git repository whose files move, and the migrations of their gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphkit.files.dataset import Dataset
from graphkit.files.git import open_repository
from graphkit.plugins.gold.migration import Migration, migration
from tests.graph.test_git_history import git
from tests.helpers.cli import Done, Row, inside, write_lines

#: Forty lines, of which the functions are two.
CODE = "def login(user):\n    return user\n\n\ndef logout(user):\n    return None\n" + "".join(
    f"# line {number}\n" for number in range(34)
)


class Clone:
    """A git repository for a test."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        git(folder, "init", "-q", "-b", "main")

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def move(self, old: str, new: str) -> None:
        """Rename a file."""
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        git(self.folder, "mv", old, new)

    def commit(self) -> str:
        """Commit everything, and return the sha."""
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", "x")
        return git(self.folder, "rev-parse", "HEAD")


def data(tmp_path: Path, *questions: Row, **files: list[Row]) -> Path:
    """Write a dataset."""
    for name, rows in files.items():
        write_lines(tmp_path / "data" / f"{name}.jsonl", rows)
    return write_lines(tmp_path / "data" / "questions.jsonl", questions).parent


def question(pin: str, *names: str, **more: Any) -> Row:
    """Return a question at a commit of web, whose gold is a path over some ids."""
    return {"id": "q1", "question": "Who?", "paths": [list(names)], "commits": {"web": pin}, **more}


def found(folder: Path, clone: Clone, to: str = "HEAD") -> Migration:
    """Return the migration of the gold that names web."""
    with open_repository(clone.folder) as repository:
        return migration(Dataset(folder), {"web": (str(clone.folder), repository)}, {"web": to})


def proposed(one: Migration) -> list[tuple[str, str, str, bool]]:
    """Return the proposals: old, new, why, and whether each is certain."""
    return [(change.old, each.new, each.why, each.certain) for change in one.changes for each in change.candidates]


def migrate(tmp_path: Path, *options: object, code: int = 0) -> Done:
    """Run the command without a terminal."""
    return inside("gold", "migrate", "data", "--repo", "web=web", *options, cwd=tmp_path, code=code)


def rows(folder: Path) -> list[Row]:
    """Return the questions as they are written."""
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
