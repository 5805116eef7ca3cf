"""``graphkit run`` stopped, killed, cut and continued: nothing that was answered is lost or asked again."""

from __future__ import annotations

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.made import note_of_run
from graphkit.plugins.systems.runfile import RunFile
from graphkit.records.models import Answer
from tests.helpers.api import message, served
from tests.helpers.cli import COMMAND, Process, environment, inside, write_lines
from tests.helpers.datasets import read_jsonl
from tests.helpers.systems import TEN, asked, records, run


def test_interrupt_keeps_what_is_done(folder: Path) -> None:
    """Ctrl-C ends the command with 130; run again, it asks only what is left, also after a hanging question."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    env = {"COUNTS": str(folder), "WAIT_AT": "t3"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "run the same command again to continue" in err
    assert "3 answered, 0 failed, 7 missing" in out
    assert list(records(folder, "waiting")) == ["t0", "t1", "t2"]
    done = run(folder, "--system", "systems:waiting")
    assert "3 records kept from an earlier command, 7 to go" in done.err
    assert list(records(folder, "waiting")) == [question["id"] for question in TEN]
    # t3 was asked twice, for it was not answered at first; everything else once.
    assert asked(folder) == sorted([question["id"] for question in TEN] + ["t3"])


def test_killed_run_goes_on(folder: Path) -> None:
    """A record is in the file as soon as its question is answered, so also a killed run loses nothing of it."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    env = {"COUNTS": str(folder), "WAIT_AT": "t3"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    second = run(folder, "--system", "systems:waiting", code=2)
    process.kill()
    process.communicate(timeout=60)
    assert "another process is writing this run" in second.err
    assert list(records(folder, "waiting")) == ["t0", "t1", "t2"]
    run(folder, "--system", "systems:waiting")
    assert len(records(folder, "waiting")) == 10


def test_cut_last_line(folder: Path) -> None:
    """A file that was cut in its last record is resumed: that record is made anew, the one before is kept."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    run(folder, "--system", "systems:counted")
    file = folder / "data" / "runs" / "counted.jsonl"
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:4]) + whole[4][:20])
    (folder / "asked").unlink()
    done = run(folder, "--system", "systems:counted")
    assert "the last record was truncated; its question is asked again" in done.err
    assert asked(folder) == ["t4", "t5", "t6", "t7", "t8", "t9"]
    assert file.read_bytes().splitlines(keepends=True)[:4] == whole[:4]
    assert len(records(folder, "counted")) == 10


def test_last_line_without_its_end(folder: Path) -> None:
    """A last record that lacks only the end of its line is whole: it is kept, and the next one is not glued to it."""
    run(folder, "--system", "systems:counted")
    file = folder / "data" / "runs" / "counted.jsonl"
    first = file.read_bytes().splitlines()[0]
    file.write_bytes(first)
    run(folder, "--system", "systems:counted")
    assert file.read_bytes().splitlines()[0] == first
    assert asked(folder) == ["q1", "q2", "q2"]
    assert len(records(folder, "counted")) == 2


def test_damage_in_the_middle(folder: Path) -> None:
    """A broken line that isn't the last is refused with its place, and the file is left as it is."""
    file = write_lines(folder / "data" / "runs" / "plain.jsonl", ["{broken", '{"run": "plain", "question_id": "q1"}'])
    before = file.read_bytes()
    done = run(folder, "--system", "systems:plain", code=2)
    assert "plain.jsonl:1: not valid JSON" in done.err
    assert file.read_bytes() == before


def test_file_of_another_run(folder: Path) -> None:
    """A file that holds another run is neither mixed with nor replaced."""
    file = write_lines(folder / "data" / "runs" / "plain.jsonl", ['{"run": "other", "question_id": "q1"}'])
    before = file.read_bytes()
    assert "holds the run 'other'" in run(folder, "--system", "systems:plain", code=2).err
    assert file.read_bytes() == before


def test_run_of_another_system_is_not_resumed(folder: Path) -> None:
    """A run that another callable, or the baseline with another model, has begun is neither mixed nor replaced."""
    run(folder, "--system", "mine=systems:plain")
    done = run(folder, "--system", "mine=systems:typed", code=2)
    assert "the run was made by systems:plain, not by systems:typed" in done.err
    assert records(folder, "mine")["q1"]["answer"] == "about Who calls z?"
    with served(lambda api, body: message("x")) as api:
        run(folder, "--condition", "training", env=api.env)
        done = run(folder, "--condition", "training", "--model", "another", env=api.env, code=2)
        assert "not by another, prompt" in done.err
        assert len(api.requests) == 2


def test_run_without_an_answer_leaves_no_file(folder: Path) -> None:
    """A command that is stopped before its first answer leaves no empty file, which would be no run."""
    env = {"COUNTS": str(folder), "WAIT_AT": "q1"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert list((folder / "data" / "runs").iterdir()) == []


def test_failed_are_retried_on_demand(folder: Path) -> None:
    """Failed questions stay failed in the next command, and are asked again with --retry-failed."""
    run(folder, "--system", "systems:counted", env={"BREAK": "q1"})
    run(folder, "--system", "systems:counted")
    assert records(folder, "counted")["q1"]["error"] == "broken"
    assert asked(folder) == ["q1", "q2"]
    run(folder, "--system", "systems:counted", "--retry-failed")
    assert records(folder, "counted")["q1"]["answer"] == "answer of q1"
    assert list(records(folder, "counted")) == ["q1", "q2"]
    assert asked(folder) == ["q1", "q1", "q2"]


def test_a_red_gate_says_how_to_ask_again(folder: Path) -> None:
    """One failed question of two is 0 in the mean of .5: the messages say what makes the gates green, and it does."""
    run(folder, "--system", "systems:counted", env={"BREAK": "q1"})
    file = folder / "data" / "runs" / "counted.jsonl"
    (folder / "ours.py").write_text(
        "import graphkit\n\nclass Answered(graphkit.Measure):\n    lowest, highest = 0.0, 1.0\n\n"
        "    def value(self, case):\n        return 1.0\n"
    )
    measured = ("evaluate", file, "--no-store", "-m", "ours:Answered")
    bounds = ("--fail-under", "ours:Answered=1", "--max-failed", "0")
    told = inside(*measured, *bounds, cwd=folder, code=1).err
    again = "`graphkit run DATASET --system NAME=MODULE:CALLABLE --retry-failed`"
    assert f"ask the others again by {again}" in told
    accepted = f"1 question failed or missing, 0 allowed; ask again by {again}, or accept it by "
    assert f"{accepted}--max-failed 1" in told
    inside(*measured, "--max-failed", "1", cwd=folder, code=0)
    run(folder, "--system", "systems:counted", "--retry-failed")
    inside(*measured, *bounds, cwd=folder, code=0)


def test_disk_fills(process: Process, folder: Path) -> None:
    """If a record can't be written the command ends with a sentence; the whole records before it are kept."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    done = process(
        "run",
        "data",
        "--system",
        "systems:large",
        "--concurrency",
        1,
        cwd=folder,
        code=2,
        preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    # A record takes a little more than 3,000 bytes: three fit into 10,000, and a part of the fourth is taken back.
    assert "the record of question 't3' can't be written" in done.err
    assert "What was written before is kept (3 records)." in done.err
    assert list(records(folder, "large")) == ["t0", "t1", "t2"]
    run(folder, "--system", "systems:large")
    assert list(records(folder, "large")) == [question["id"] for question in TEN]


def test_a_note_that_cannot_be_written(tmp_path: Path) -> None:
    """A record that is written is kept if the note beside it can't be: the error names the note."""
    path = tmp_path / "mine.jsonl"
    note_of_run(path).symlink_to(tmp_path / "gone" / "note")
    with pytest.raises(InputError, match="ran-at: the file can't be written: No such"), RunFile(path, "r") as file:
        file.append(Answer(run="r", question_id="q1"))
    assert [one["question_id"] for one in read_jsonl(path)] == ["q1"]


def test_sample_then_the_rest(folder: Path) -> None:
    """A sample is a beginning: without --sample the same command asks only the questions that it left out."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    run(folder, "--system", "systems:counted", "--sample", 4)
    run(folder, "--system", "systems:counted")
    assert asked(folder) == [question["id"] for question in TEN]
    assert list(records(folder, "counted")) == [question["id"] for question in TEN]
