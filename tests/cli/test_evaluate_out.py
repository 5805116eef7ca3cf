"""``graphkit evaluate --out``: a line a question and measure, in a file that is whole or as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from graphkit.scoring.export import summaries_last
from tests.helpers.cli import ANSWERS, Process, Row, environment, inside, tiny, write_lines


def test_out_has_a_line_a_question_and_measure(tmp_path: Path) -> None:
    """Each line is a value, or null with the reason, in the order of the questions and measures."""
    out = tmp_path / "results.jsonl"
    inside(
        *("evaluate", "--no-store", "-m", "EdgeRecall", "-m", "BoundaryRecall", "--out", out, tiny(tmp_path)),
        cwd=tmp_path,
        code=0,
    )
    lines: list[Row] = [json.loads(line) for line in out.read_text().splitlines()]
    assert {name for line in lines for name in line} >= {"run", "question", "measure", "value", "reason"}
    assert {line["run"] for line in lines} == {"r"}
    assert [(line["question"], line["measure"], line["value"]) for line in lines] == [
        ("q1", "EdgeRecall", 0.5),
        ("q1", "BoundaryRecall", 0.0),
        ("q2", "EdgeRecall", 1.0),
        ("q2", "BoundaryRecall", None),
    ]
    assert [line["reason"] is None for line in lines] == [True, True, True, False]


def test_out_of_several_runs(tmp_path: Path) -> None:
    """The lines of every run stand in one file."""
    run, out = tiny(tmp_path), tmp_path / "results.jsonl"
    other = write_lines(tmp_path / "runs" / "s.jsonl", [{**answer, "run": "s"} for answer in ANSWERS])
    inside("evaluate", "--no-store", "-m", "EdgeRecall", "-o", out, run, other, cwd=tmp_path, code=0)
    assert [json.loads(line)["run"] for line in out.read_text().splitlines()] == ["r", "r", "s", "s"]


def test_out_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """When a run can't be scored, the file of an earlier evaluation is left as it was, and nothing beside it."""
    out = tmp_path / "results.jsonl"
    out.write_text("before")
    run = tiny(tmp_path / "data", answers=[*ANSWERS, "{"])
    inside("evaluate", "--no-store", "--out", out, run, cwd=tmp_path, code=2)
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "results.jsonl"]


def test_several_files_appear_together(tmp_path: Path) -> None:
    """A command that dies before its last output is whole leaves all others as they were, and the next sweeps its own.

    It waits for a reader of a pipe, its last output but the summary, when the rest is whole; then it is killed.
    """
    names = ("junit.xml", "rows.jsonl", "all.summary.json")
    run, pipe = tiny(tmp_path / "data"), tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for name in names:
        (tmp_path / name).write_text("")
    command = [
        *(sys.executable, "-m", "graphkit", "evaluate", "--no-store", "-m", "EdgeRecall", str(run)),
        *("-o", "all.summary.json", "-o", "rows.jsonl", "-o", "pipe.csv", "--junit", "junit.xml"),
    ]
    killed = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while sum(file.stat().st_size > 0 for file in tmp_path.glob(".*.*")) < 2:
        assert killed.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    assert [(tmp_path / name).read_text() for name in names] == ["", "", ""]
    pipe.unlink()
    inside(*command[3:], cwd=tmp_path, code=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "data", "pipe.csv"])
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2
    # Files take their places in the order of writing: who sees a new summary sees the new rows.
    assert summaries_last(map(Path, ("all.summary.json", "rows.jsonl"))) == [
        Path("rows.jsonl"),
        Path("all.summary.json"),
    ]


def test_an_error_leaves_all_files(tmp_path: Path) -> None:
    """If one output can't be written, none is replaced."""
    rows, full = tmp_path / "rows.jsonl", tmp_path / "full.csv"
    rows.write_text("")
    full.symlink_to("/dev/full")
    run = tiny(tmp_path / "data")
    inside("evaluate", "--no-store", "-o", rows, "-o", full, run, cwd=tmp_path, code=2)
    assert rows.read_text() == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "full.csv", "rows.jsonl"]


def test_out_through_a_link(tmp_path: Path) -> None:
    """A link stays a link: the file that it leads to is written."""
    (tmp_path / "kept").mkdir()
    link, target = tmp_path / "link.jsonl", tmp_path / "kept" / "results.jsonl"
    link.symlink_to(target)
    inside("evaluate", "--no-store", "-m", "EdgeRecall", "--out", link, tiny(tmp_path), cwd=tmp_path, code=0)
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) == 2


def test_out_into_a_pipe(tmp_path: Path) -> None:
    """A pipe is written, never replaced by a file."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        inside("evaluate", "--no-store", "-m", "EdgeRecall", "--out", pipe, tiny(tmp_path), cwd=tmp_path, code=0)
        assert reader.stdout is not None
        assert [json.loads(line)["question"] for line in reader.stdout] == ["q1", "q2"]
    assert pipe.is_fifo()


def test_out_honours_the_mask_of_the_user(process: Process, tmp_path: Path) -> None:
    """The file is as readable to others as the user lets new files be."""
    out = tmp_path / "results.jsonl"
    process(
        *("evaluate", "--no-store", "-m", "EdgeRecall", "--out", out, tiny(tmp_path)),
        cwd=tmp_path,
        code=0,
        preexec=lambda: void(os.umask(0o077)),
    )
    assert out.stat().st_mode & 0o777 == 0o600


def void(_: object) -> None:
    """Return nothing."""
