"""``graphkit run --on``: the same runs as one process, also when a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from graphkit.plugins.embedded.locks import wait_until
from tests.helpers.api import Api, limited, message, served
from tests.helpers.cli import COMMAND, Row, environment, tiny
from tests.helpers.datasets import read_jsonl
from tests.helpers.processes import children, listed, running
from tests.helpers.systems import records, run

QUESTIONS: tuple[Row, ...] = tuple(
    {"id": f"t{number}", "question": f"Number {number}?", "gold_answer": "g"} for number in range(40)
)

#: ``killed`` kills its process at t7, the first time; all note what they were asked.
SYSTEM = """
import os, signal, time
from pathlib import Path

def counted(question):
    with open(Path(os.environ["COUNTS"], "asked"), "a") as stream:
        stream.write(question.id + "\\n")

def answered(question, context):
    counted(question)
    context.used(prompt_tokens=10, cost=0.5)
    if question.id == "t3":
        raise KeyError("no index")
    return {"answer": f"{question.id} {context.k}", "latency_ms": 1, "unknown": 1}

def killed(question):
    counted(question)
    mark = Path(os.environ["COUNTS"], "killed")
    if question.id == "t7" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"answer": question.id, "latency_ms": 1}

def slow(question):
    counted(question)
    time.sleep(0.1)
    return {"answer": question.id, "latency_ms": 1}

def asleep(question):
    counted(question)
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of forty questions beside a module with systems."""
    tiny(tmp_path / "data", QUESTIONS, ())
    (tmp_path / "worked.py").write_text(SYSTEM)
    return tmp_path


def plain(path: Path) -> list[Row]:
    """Return the records of a run without the figures that each run measures for itself."""
    measured = {"latency_ms", "failed_at"}
    return [{name: value for name, value in row.items() if name not in measured} for row in read_jsonl(path)]


def test_workers_make_the_same_run(folder: Path) -> None:
    """Records, their order, failures, costs and notes are those of one process, and a second command asks nothing."""
    system = ("--system", "worked:answered", "--k", 3)
    one = run(folder, *system, "-o", "one")
    two = run(folder, *system, "-o", "two", "--on", "processes=2")
    assert plain(folder / "one" / "answered.jsonl") == plain(folder / "two" / "answered.jsonl")
    assert (folder / "one" / "answered.made-by").read_text() == (folder / "two" / "answered.made-by").read_text()
    assert "the field 'unknown' isn't used (39 records)" in one.err
    assert "the field 'unknown' isn't used (39 records)" in two.err
    asked = (folder / "asked").read_text().split()
    assert sorted(asked) == sorted(2 * [question["id"] for question in QUESTIONS])
    again = run(folder, *system, "-o", "two", "--on", "processes=2")
    assert "40 records kept" in again.err
    assert len((folder / "asked").read_text().split()) == len(asked)


def test_a_killed_worker_costs_what_was_under_way(folder: Path) -> None:
    """Each question is answered; only those under way at the kill, at most four, are asked twice."""
    done = run(folder, "--system", "worked:killed", "--on", "processes=2", "--concurrency", 4)
    assert set(records(folder, "killed")) == {question["id"] for question in QUESTIONS}
    assert "its worker was lost" in done.err
    asked = (folder / "asked").read_text().split()
    assert asked.count("t7") == 2
    assert 41 <= len(asked) <= 44


@pytest.mark.slow("a command with workers is killed, and starts again")
@listed
def test_a_killed_command_goes_on(folder: Path) -> None:
    """After a kill -9 of the command its workers end, and the same command makes the file of an undisturbed one."""
    arguments = ("--system", "worked:slow", "--on", "processes=2", "--concurrency", 2)
    run(folder, *arguments, "-o", "calm")
    (folder / "asked").unlink()
    file = folder / "shaken" / "slow.jsonl"
    command = [*COMMAND, "run", "data", *map(str, arguments), "-o", "shaken"]
    driver = subprocess.Popen(
        command, cwd=folder, env=environment({"COUNTS": str(folder)}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert wait_until(lambda: file.exists() and file.read_bytes().count(b"\n") >= 8, 120)
    workers = children(driver.pid)
    assert len(workers) >= 2
    driver.kill()
    driver.communicate()
    assert wait_until(lambda: not any(map(running, workers)), 60)
    kept = file.read_bytes().count(b"\n")
    assert 8 <= kept < 40
    again = run(folder, *arguments, "-o", "shaken")
    assert f"{kept} records kept" in again.err
    assert file.read_bytes() == (folder / "calm" / "slow.jsonl").read_bytes()
    # Two workers had two questions each under way, whose records may have been lost.
    assert 40 <= len((folder / "asked").read_text().split()) <= 44


def test_the_baseline_shares_one_client(folder: Path) -> None:
    """Workers ask the model through the driver: a refusal for the rate holds up all, and nothing is asked twice."""
    refused: list[str] = []

    def script(api: Api, body: dict[str, object]) -> object:
        if not refused:
            refused.append("once")
            return limited(0.2)
        return message("An answer.", 10, 2)

    with served(script) as api:  # type: ignore[arg-type]
        run(folder, "--condition", "training", "--on", "processes=2", env=api.env)
        texts = [json.dumps(body["messages"]) for body in api.requests]
    assert len(texts) == 41
    assert len(set(texts)) == 40
    found = records(folder, "training")
    assert all(record["answer"] == "An answer." and record["prompt_tokens"] == 10 for record in found.values())


def test_a_worker_that_cannot_import_says_why(folder: Path) -> None:
    """A reserve that processes can't make is refused, as is one without workers."""
    refused = run(folder, "--system", "worked:answered", "--on", "processes", "--resources", "gpu=1", code=2)
    assert "processes can't reserve resources (gpu=1)" in refused.err
    alone = run(folder, "--system", "worked:answered", "--resources", "gpu=1", code=2)
    assert "--on names none" in alone.err
    wrong = run(folder, "--system", "worked:answered", "--on", "processes", "--resources", "gpu=all", code=2)
    assert "NAME=AMOUNT" in wrong.err


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ((signal.SIGINT, signal.SIGINT), {130, -signal.SIGINT}),
        ((signal.SIGTERM,), {-signal.SIGTERM}),
    ],
)
def test_an_ending_is_quiet(folder: Path, numbers: tuple[int, ...], codes: set[int]) -> None:
    """Ctrl-C, twice, and SIGTERM end workers without a traceback, a warning of semaphores or a loss that is none."""
    command = [*COMMAND, "run", "data", "--system", "worked:asleep", "--on", "processes=2"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment({"COUNTS": str(folder)}), stderr=subprocess.PIPE, start_new_session=True
    )
    assert wait_until((folder / "asked").exists, 60)
    for number in numbers:
        os.killpg(process.pid, number)
        time.sleep(0.05)
    _, said = process.communicate(timeout=60)
    assert process.returncode in codes
    for word in (b"Traceback", b"Exception", b"leaked", b"was lost"):
        assert word not in said
