"""Clusters of which a part dies that nothing replaces: the command says so, ends with 3, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cli import COMMAND, environment
from tests.helpers.datasets import write_jsonl
from tests.helpers.engines import free_port
from tests.plugins.cluster.test_clusters import needed

pytestmark = pytest.mark.filterwarnings("default")

#: A system that answers the first question, and then keeps its worker busy.
SYSTEM = """
import pathlib, time

def system(question):
    if question.id != "q0":
        pathlib.Path("waiting").touch()
        time.sleep(600)
    return {"answer": "x"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset, and a system whose answers nobody waits for."""
    write_jsonl(tmp_path / "data" / "questions.jsonl", [{"id": f"q{one}", "question": "?"} for one in range(8)])
    (tmp_path / "slow.py").write_text(SYSTEM)
    return tmp_path


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files with a short name, since Ray's sockets lie there."""
    made = Path(tempfile.mkdtemp(prefix="gk-", dir="/tmp"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def of_session(session: int) -> dict[int, str]:
    """Return the command lines of the processes of a session that haven't ended."""
    import psutil

    found = {}
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        try:
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                found[process.pid] = " ".join(process.info["cmdline"] or [process.name()])
        except ProcessLookupError:
            continue
    return found


def until(found: Callable[[], Any], command: subprocess.Popen[str]) -> Any:
    """Wait until something is found while a command runs, and return it."""
    end = time.monotonic() + 120
    while not (there := found()):
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    return there


def importing(folder: Path) -> dict[str, str]:
    """Return the settings by which workers import the system; a library's warnings at its end are its own."""
    return {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), str(folder)]), "PYTHONWARNINGS": ""}


def started(folder: Path, temporary: Path, on: str) -> subprocess.Popen[str]:
    """Start the system on the questions, in a session of its own."""
    return subprocess.Popen(
        [*COMMAND, "run", "data", "--system", "slow:system", "-o", "new", "--on", on],
        cwd=folder,
        env=environment({"TMPDIR": str(temporary), **importing(folder)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def killed(command: subprocess.Popen[str], name: str) -> None:
    """Kill the processes of a command's session whose command line holds a text, as soon as there is one."""
    for process in until(lambda: [pid for pid, line in of_session(command.pid).items() if name in line], command):
        os.kill(process, signal.SIGKILL)


def assert_lost(command: subprocess.Popen[str], temporary: Path, sentence: str) -> None:
    """Check that a command ends with 3 and one error, without a process or a temporary file."""
    try:
        out, err = command.communicate(timeout=150)
        left = of_session(command.pid)
    finally:
        for process in of_session(command.pid):
            os.kill(process, signal.SIGKILL)
    assert command.returncode == 3, err
    assert out == ""
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, err
    assert sentence in errors[0]
    assert "Run the command again" in err
    assert "Traceback" not in err, err
    assert left == {}
    assert [*temporary.iterdir()] == []


@pytest.mark.parametrize(
    ("on", "name", "sentence"),
    [
        ("ray=2", "gcs_server", "the ray cluster is lost: its GCS is gone"),
        ("ray=2", "raylet/raylet", "the ray cluster is lost: its raylet is gone"),
    ],
)
def test_a_part_of_ray_dies(folder: Path, temporary: Path, on: str, name: str, sentence: str) -> None:
    """The GCS or the raylet of a local cluster is killed while a task runs there."""
    needed("ray")
    command = started(folder, temporary, on)
    until((folder / "waiting").exists, command)
    killed(command, name)
    assert_lost(command, temporary, sentence)


@pytest.mark.parametrize("name", ["gcs_server", "raylet/raylet"])
def test_a_part_of_ray_dies_at_the_start(folder: Path, temporary: Path, name: str) -> None:
    """The GCS or the raylet is killed as soon as it is there."""
    needed("ray")
    command = started(folder, temporary, "ray=2")
    killed(command, name)
    assert_lost(command, temporary, "the ray cluster is lost: it")


def test_workers_of_dask_die_at_the_start(folder: Path, temporary: Path) -> None:
    """The workers of a local cluster of Dask are killed as soon as they are there."""
    needed("distributed")
    command = started(folder, temporary, "dask=2")
    killed(command, "spawn_main")
    assert_lost(command, temporary, "the dask cluster is lost: it died while it started (")


def test_a_scheduler_dies(folder: Path, temporary: Path) -> None:
    """The scheduler of a running cluster of Dask is killed while a task runs there."""
    needed("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"
    dask = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    quiet["env"] = environment(importing(folder))
    scheduler = subprocess.Popen([*dask, "scheduler", "--no-dashboard", "--host", address], **quiet)
    worker = subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **quiet)
    try:
        command = started(folder, temporary, f"dask={address}")
        until((folder / "waiting").exists, command)
        scheduler.kill()
        assert_lost(command, temporary, "the dask cluster is lost: its scheduler is gone")
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.parametrize("on", ["dask=2", "ray=2"])
def test_an_interrupted_command_leaves_no_cluster(folder: Path, temporary: Path, on: str) -> None:
    """After Ctrl-C, which a terminal sends to the whole group, no process and no temporary file is left."""
    needed({"dask=2": "distributed"}.get(on, "ray"))
    command = started(folder, temporary, on)
    until((folder / "waiting").exists, command)
    os.killpg(command.pid, signal.SIGINT)
    _, err = command.communicate(timeout=150)
    left = of_session(command.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert command.returncode == 130, err
    assert (left, [*temporary.iterdir()]) == ({}, [])
    assert "Traceback" not in err, err
