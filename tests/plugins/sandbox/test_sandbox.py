"""The choice of the sandbox if some don't work, and its end together with graphkit."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.plugins.sandbox.walls import Wall
from graphkit.plugins.sandbox.witness import descendants
from graphkit.plugins.sandbox.workers import Ended
from tests.helpers.cli import COMMAND, Process, environment
from tests.helpers.sandboxes import WALL_NAMES

RESTRICTED = (sys.executable, str(Path(__file__).parent / "restricted.py"))
_SUBREAPER = 36


def run(sandbox: Sandbox, body: str, seconds: float = 10.0) -> Ended:
    """Run a test with one function of such a body."""
    return sandbox.run(f"def test():\n    {body}\n", "test", [], seconds)


# The choice --------------------------------------------------------------------------------------------------------


def test_without_bubblewrap_the_second_is_chosen(
    landlock: Wall, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If no program bwrap is found, Landlock is chosen, and why is reported."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_sandbox(jobs=1) as sandbox:
        assert sandbox.wall.name == "landlock"
        assert sandbox.description == (
            "sandbox: landlock (bubblewrap doesn't work here: bubblewrap isn't installed (no program bwrap))"
        )
        assert run(sandbox, "return 7").how == "exited"


def test_in_a_container_the_second_is_chosen(process: Process, landlock: Wall, tmp_path: Path) -> None:
    """If no namespace can be made, as in containers, Landlock is chosen by itself, says so, and holds."""
    command = (*RESTRICTED, *COMMAND)
    found = process("sandbox", "check", "--json", cwd=tmp_path, command=command, code=0).object()
    assert found["mechanism"] == "landlock"
    assert list(found["passed_over"]) == ["bubblewrap"]
    assert found["passed_over"]["bubblewrap"]
    assert found["escaped"] == 0


def test_where_none_works_it_is_refused(process: Process, tmp_path: Path) -> None:
    """Without namespaces and without Landlock nothing is run: exit code 2, both reasons, and what to do."""
    command = (*RESTRICTED, "--without", "landlock_create_ruleset", *COMMAND)
    done = process("sandbox", "check", cwd=tmp_path, command=command, code=2)
    assert "no sandbox works on this machine (bubblewrap: " in done.err
    assert "; landlock: " in done.err
    assert "apt-get install bubblewrap" in done.err
    assert done.out == ""


def test_a_wall_with_a_hole_is_not_chosen(landlock: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall is tried, not believed: one whose filter lets processes be made is passed over for its hole."""
    from graphkit.plugins.sandbox import seccomp

    monkeypatch.setattr(seccomp, "REFUSED", {**seccomp.REFUSED, "network": ()})
    seccomp.program.cache_clear()
    try:
        with pytest.raises(InputError, match="a socket can be made"), open_sandbox(jobs=1, walls=[landlock]):
            pass
    finally:
        seccomp.program.cache_clear()


def test_without_any_it_says_so() -> None:
    """Without a sandbox on request, the output says so."""
    with open_sandbox(jobs=1, unsafe=True) as sandbox:
        assert sandbox.wall.name == "none"
        assert sandbox.description == "no sandbox: the code of the answers has all your permissions"


# Interpreters ------------------------------------------------------------------------------------------------------


def test_an_interpreter_outlives_the_thread_that_first_needed_it(wall: Wall) -> None:
    """A test that runs while the thread that ran the first one has ended isn't lost."""
    with open_sandbox(jobs=1, walls=[wall]) as sandbox:
        first = threading.Thread(target=run, args=(sandbox, "return 1"))
        first.start()
        first.join()
        assert run(sandbox, "import time; time.sleep(0.5); return 2").how == "exited"


@pytest.mark.parametrize("wall", [*WALL_NAMES, "none"], indirect=True)
def test_names_that_the_cleaning_might_use(wall: Wall) -> None:
    """Folders of a test that bear the names under which the cleaning moves things up break nothing."""
    body = "import os; [os.makedirs(f'{up}.{n}/x/y') for n in range(9) for up in ('', 'd/')]"
    with open_sandbox(jobs=1, walls=[wall], unsafe=wall.name == "none") as sandbox:
        assert run(sandbox, body).how == "exited"
        left = run(sandbox, "import os; raise ValueError(os.listdir('.'))")
        assert b"ValueError: []" in left.result


def test_a_test_is_random_in_the_same_way_each_time(wall: Wall) -> None:
    """The random numbers of a test are those of seed 0, whatever ran before: the first is 0.844 to three places."""
    with open_sandbox(jobs=1, walls=[wall]) as sandbox:
        for _ in range(2):
            assert b"ValueError: 0.844" in run(sandbox, "import random; raise ValueError(random.random())").result


# The end -----------------------------------------------------------------------------------------------------------

_HOLDS = """
import sys
from graphkit.plugins.sandbox.sandbox import open_sandbox
from graphkit.plugins.sandbox.walls import NO_WALL, WALLS
[wall] = [one for one in (*WALLS, NO_WALL) if one.name == sys.argv[1]]
with open_sandbox(jobs=1, walls=[wall], unsafe=wall.name == "none") as sandbox:
    sandbox.run("def test(): open('made', 'w').write('x')", "test", [], 10)
    print("runs", flush=True)
    sandbox.run("def test():\\n    open('made', 'w').write('x')\\n    while True: pass", "test", [], 60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
@pytest.mark.parametrize("wall", [*WALL_NAMES, "none"], indirect=True)
def test_nothing_outlives_graphkit(wall: Wall, how: signal.Signals, tmp_path: Path) -> None:
    """Killed or interrupted amid an endless test, graphkit soon leaves no process and no folder."""
    # What loses its parent becomes ours, and is counted.
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before = descendants(os.getpid())
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _HOLDS, wall.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment({"TMPDIR": str(tmp_path)}),
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"runs\n"
        time.sleep(0.3)  # the endless test runs by now
        started = descendants(os.getpid()) - before
        assert len(started) >= 3  # graphkit, the interpreter and the test
        process.send_signal(how)
        deadline = time.monotonic() + 10.0
        process.communicate(timeout=60)
        while time.monotonic() < deadline and ((descendants(os.getpid()) - before) or any(tmp_path.iterdir())):
            time.sleep(0.02)
        assert descendants(os.getpid()) - before == set()
        assert list(tmp_path.iterdir()) == []
    finally:
        ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)
