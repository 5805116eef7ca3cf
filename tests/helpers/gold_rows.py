"""Rows of public gold, read as questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphkit.files.problems import Problems
from graphkit.plugins.gold.conversion import gold_questions
from graphkit.plugins.gold.formats import gold_format
from graphkit.records.models import Question

Row = dict[str, Any]


def read(name: str, folder: Path, *rows: Row | str) -> tuple[list[Question], Problems]:
    """Return the questions of some rows, and the problems."""
    path = folder / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    problems = Problems()
    return list(gold_questions(gold_format(name), [path], problems)), problems


def one(name: str, folder: Path, row: Row | str) -> tuple[Question, Problems]:
    """Return the question of a usable row."""
    questions, problems = read(name, folder, row)
    assert problems.skipped == []
    return questions[0], problems


def mistake(name: str, folder: Path, row: Row | str) -> str:
    """Return the message about an unusable row."""
    questions, problems = read(name, folder, row)
    assert questions == []
    return str(problems.skipped[0])


def edges(question: Question) -> list[list[tuple[str, str | None, str]]]:
    """Return the steps of each gold path."""
    return [[(step.source, step.relation, step.target) for step in path.steps] for path in question.paths]


def unused(problems: Problems) -> set[str]:
    """Return the fields that are reported as unused."""
    return {name for _, name in problems.ignored_fields}
