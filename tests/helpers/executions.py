"""Executions for tests: a few by hand, and plausible ones of the answers of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.records.models import Answer
from graphkit.records.scores import answer_hash
from tests.helpers.datasets import read_jsonl
from tests.helpers.made import made


def result(name: str = "adds", status: str = "success", **fields: Any) -> CodeTestResult:
    """Return how a test went."""
    return made(CodeTestResult, {"name": name, "status": status, **fields})


def execution(question: str, *tests: CodeTestResult, run: str = "r", answer: str = "x", **fields: Any) -> Execution:
    """Return what became of the code of an answer; its status is that of the first test that didn't go well."""
    status = next((test.status for test in tests if not test.passed), "success")
    known = {"run": run, "question": question, "status": status, "language": "python", "mechanism": "bubblewrap"}
    return made(Execution, {**known, "tests": tests, "answer_hash": answer_hash(answer), **fields})


def plausible(run_file: Path) -> Iterator[Execution]:
    """Yield an execution of each answer of a run: a test for each of the first chunks, of which every third fails."""
    answers = {answer.question_id: answer for answer in map(Answer.model_validate, read_jsonl(run_file))}
    for answer in answers.values():
        if answer.error is None:
            tests = [
                result(chunk.id, "runtime_error" if place % 3 == 2 else "success", attempts=("fork",) * (place % 2))
                for place, chunk in enumerate((answer.retrieved or ())[:5])
            ]
            yield execution(answer.question_id, *tests, run=answer.run, answer=answer.answer or "")
