"""``graphkit import --on``: a folder of logs is read by workers, and run and report are those of one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.imports.importer import import_log, paths_of
from tests.helpers.cli import QUESTIONS, Row, inside, tiny
from tests.helpers.datasets import write_jsonl


def twelve_logs(folder: Path) -> Path:
    """Write a dataset, and twelve logs: the first answer to a question counts, and log 10 comes after log 9."""
    tiny(folder / "data", QUESTIONS, ())
    for number in range(12):
        question = "q1" if number in (2, 9) else "q2" if number == 10 else f"unknown{number}"
        rows: list[Row] = [
            {
                "run": "r",
                "question_id": question,
                "answer": f"from log {number}",
                "retrieved": ["a:m.py#x"],
                f"extra{number % 3}": 1,
            },
            {"run": "r", "question_id": "nobody", "answer": "of no question"},
        ]
        write_jsonl(folder / "logs" / f"log-{number}.jsonl", rows)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset, and twelve logs."""
    return twelve_logs(tmp_path)


def test_a_folder_of_logs_is_one_run(folder: Path) -> None:
    """The run and every line of the report are the same; the records come in the natural order of the files."""
    known = ("import", "graphkit", "logs", "--dataset", "data")
    one = inside(*known, "-o", "data/runs/mine.jsonl", cwd=folder, code=0)
    first = (folder / "data" / "runs" / "mine.jsonl").read_bytes()
    two = inside(*known, "-o", "data/runs/mine.jsonl", "--force", "--on", "processes=2", cwd=folder, code=0)
    assert (folder / "data" / "runs" / "mine.jsonl").read_bytes() == first
    assert one.out == two.out
    rows = [json.loads(line) for line in first.splitlines()]
    assert [row["answer"] for row in rows] == ["from log 2", "from log 10"]


def test_a_pattern_names_logs(folder: Path) -> None:
    """A pattern has its files in natural order; one without a file is refused."""
    names = [path.name for path in paths_of(folder / "logs" / "log-1*.jsonl")]
    assert names == ["log-1.jsonl", "log-10.jsonl", "log-11.jsonl"]
    with pytest.raises(InputError, match="there is no log of this name"):
        paths_of(str(folder / "logs" / "no-*.jsonl"))


def test_a_bad_log_is_named_as_it_was_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a worker is that of one process, with the file's name as the user wrote it."""
    monkeypatch.chdir(folder)
    (folder / "logs" / "log-9.jsonl").write_text('{"question_id": "q1"\n')
    said = []
    for executor in (None, "processes=2"):
        with pytest.raises(InputError) as refused:
            import_log("logs", "graphkit", "data", out="out.jsonl", executor=executor)
        said.append(str(refused.value))
        assert not Path("out.jsonl").exists()
    assert said[0] == said[1]
    assert "logs/log-9.jsonl" in said[0]
    assert str(folder) not in said[0]
