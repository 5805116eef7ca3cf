"""Executions as files: written and read alike, and each mistake reported with its line and record."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.grades_beside import graded_files, grades_folder, holds
from graphkit.files.problems import Problems
from graphkit.plugins.sandbox.execution_files import EXECUTIONS, read_executions, write_executions
from tests.helpers.executions import execution, result


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Executions with odd text, attempts and without code come back as they were, packed files too."""
    failed = result("adds", "test_failure", message="x\u2028y =1+1", line=3, expected="'\N{CRAB}'", returned="None")
    curious = result("reads", "refused", attempts=("open /etc/passwd",), printed="\x1b[31m", duration_ms=0.5)
    executions = [
        execution("q1", failed, curious, result(), code="def f():\n\treturn '\N{CRAB}'", duration_ms=12.5),
        execution("q2", status="no_code", language="javascript", mechanism=None),
    ]
    path = tmp_path / "execution.executions.jsonl"
    write_executions(path, executions)
    packed = tmp_path / "packed.executions.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_executions([path], Problems()) == executions == read_executions([packed], Problems())
    assert (executions[0].passed, executions[0].failing) == (1, failed)


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"status": "fine"}, "status"),
        ({"mechanism": "prayer"}, "mechanism"),
        ({"answer_hash": None}, "answer_hash"),
        ({"duration_ms": -1}, "duration_ms"),
        ({"tests": [{"name": "adds"}]}, "tests.0.status"),
    ],
)
def test_a_bad_execution_is_reported(tmp_path: Path, fields: dict[str, object], reported: str) -> None:
    """An execution that can't be used is reported with file, line, question and what is wrong; the rest can be kept."""
    good = execution("q1").model_dump(mode="json")
    path = tmp_path / "e.executions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (good, {**good, "question": "q2", **fields})))
    with pytest.raises(InputError, match="can't be used") as caught:
        read_executions([path], Problems())
    assert f"{path}:2: record 'q2': " in str(caught.value)
    assert reported in str(caught.value)
    assert [one.question for one in read_executions([path], Problems("skip"))] == ["q1"]


def test_a_second_execution_is_reported(tmp_path: Path) -> None:
    """The code of an answer is executed once; that of another run's answer to the question is another one."""
    path = tmp_path / "e.executions.jsonl"
    write_executions(path, [execution("q1"), execution("q2"), execution("q1", run="s"), execution("q1")])
    with pytest.raises(InputError, match="r already has an execution for this question") as caught:
        read_executions([path], Problems())
    assert f"{path}:4: record 'q1'" in str(caught.value)


def test_executions_lie_beside_the_run(tmp_path: Path) -> None:
    """They are found and recognised by their ending among the other files beside the run."""
    run = tmp_path / "bm25.jsonl"
    folder = grades_folder(run)
    folder.mkdir()
    for name in ("execution.scores.jsonl", "execution.executions.jsonl.zst", "execution.executions.jsonl.bak"):
        (folder / name).touch()
    assert [path.name for path in graded_files(run, EXECUTIONS)] == ["execution.executions.jsonl.zst"]
    assert [path.name for path in sorted(folder.iterdir()) if holds(path, EXECUTIONS)] == [
        "execution.executions.jsonl.zst"
    ]
