"""What a command started has ended when it ends: no process is left in its group."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from graphkit.scoring.file_scoring import SMALL
from tests.helpers.cli import COMMAND, environment
from tests.helpers.datasets import write_jsonl
from tests.helpers.processes import in_group
from tests.helpers.suites import one_fast

#: The options by which the work is done in a pool of processes, and in those of an executor.
PLACES = {
    "pool": ("--no-store",),
    "executor": ("--no-store", "--on", "processes=2", "--out", "results"),
}

QUESTIONS = 400


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is large enough for worker processes, and one whose last record has no question."""
    folder = tmp_path_factory.mktemp("world")
    write_jsonl(
        folder / "questions.jsonl", [{"id": f"q{one}", "question": "?", "relevant": ["a"]} for one in range(QUESTIONS)]
    )
    said = "x" * (11 * SMALL // 10 // QUESTIONS)
    records = [{"run": "r", "question_id": f"q{one}", "retrieved": ["a"], "answer": said} for one in range(QUESTIONS)]
    write_jsonl(folder / "runs" / "right.jsonl", records)
    write_jsonl(folder / "runs" / "wrong.jsonl", [*records[:-1], {**records[-1], "question_id": ""}])
    return folder


def started(world: Path, home: Path, run: str, place: str) -> subprocess.Popen[str]:
    """Start an evaluation in a group of its own."""
    arguments = ["evaluate", str(world / "runs" / f"{run}.jsonl"), "--dataset", str(world), "-m", "RR", *PLACES[place]]
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=home,
        # An import that Ctrl-C cuts short leaves its file to the collector: Python's words, which no user turns on.
        env=environment({"GRAPHKIT_HOME": str(home / "home"), "PYTHONWARNINGS": "ignore::ResourceWarning"}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def assert_ends(command: subprocess.Popen[str], code: int) -> None:
    """Check the exit code of a command, and that nothing is left the moment after."""
    assert command.stderr is not None
    with command.stderr as stderr:
        said = stderr.read()
    command.wait(120)
    left = in_group(command.pid)
    assert (command.returncode, left) == (code, []), said
    assert "Traceback" not in said


@one_fast("place", PLACES, "a command with workers of each kind", 0)
@one_fast(("run", "code"), [("right", 0), ("wrong", 2)], "a command with workers of each kind", 0)
def test_an_evaluation_leaves_no_process(world: Path, tmp_path: Path, run: str, code: int, place: str) -> None:
    """After the end and after an error no process is left, whatever the workers are."""
    assert_ends(started(world, tmp_path, run, place), code)


@pytest.mark.slow("a command with workers is interrupted")
@pytest.mark.parametrize("place", PLACES)
def test_an_interrupted_evaluation_leaves_no_process(world: Path, tmp_path: Path, place: str) -> None:
    """After Ctrl-C, which a terminal sends to the whole group, no process is left."""
    command = started(world, tmp_path, "right", place)
    while len(in_group(command.pid)) < 2:
        assert command.poll() is None
        time.sleep(0.001)
    time.sleep(0.1)
    os.killpg(command.pid, signal.SIGINT)
    assert_ends(command, 130)


@pytest.mark.slow("a command with workers is killed")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_killed_command(world: Path, tmp_path: Path, number: signal.Signals, place: str) -> None:
    """Workers of a command that is killed end within a second, so that whoever reads its streams needn't wait."""
    command = started(world, tmp_path, "right", place)
    while len(in_group(command.pid)) < 3:
        assert command.poll() is None
        time.sleep(0.001)
    os.kill(command.pid, number)
    command.communicate(timeout=60)  # the end of its standard error, which workers have, too
    for _ in range(100):
        if not in_group(command.pid):
            break
        time.sleep(0.1)
    assert in_group(command.pid) == []


@pytest.mark.slow("a command with workers is interrupted")
def test_workers_ignore_an_interrupt_that_their_command_ignores(world: Path, tmp_path: Path) -> None:
    """A script's command in the background ignores Ctrl-C, and so do its workers."""
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        command = started(world, tmp_path, "right", "pool")
    finally:
        signal.signal(signal.SIGINT, ignored)
    while len(in_group(command.pid)) < 3:
        assert command.poll() is None
        time.sleep(0.001)
    os.killpg(command.pid, signal.SIGINT)
    assert_ends(command, 0)
