"""Attempts to get out of the sandbox: each behind each wall that runs here, and without one, where it must succeed."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path

import pytest

from graphkit.plugins.sandbox.attempts import Attempt, attempts
from graphkit.plugins.sandbox.executions import Mechanism
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.proof import AttemptResult, prove
from graphkit.plugins.sandbox.walls import NO_WALL, WALLS, Wall
from graphkit.plugins.sandbox.witness import Witness

NAMED: dict[Mechanism, Wall] = {wall.name: wall for wall in (*WALLS, NO_WALL)}

#: Without a wall the attempts reach this machine, so they belong to the whole suite as well.
pytestmark = pytest.mark.sandbox

#: Attempts that the machine may refuse whoever makes them, each with what tells that it does.
_REFUSED_BY_THE_MACHINE = {
    "io_uring": lambda: _setting("kernel/io_uring_disabled", "0") != "0",
    "keys of the kernel": lambda: not Path("/proc/keys").exists(),
    "calls of another kind": lambda: os.uname().machine != "x86_64",
    "privileges": lambda: os.geteuid() != 0,  # an ordinary user has none
}


def _setting(name: str, default: str) -> str:
    path = Path("/proc/sys", name)
    return path.read_text().strip() if path.exists() else default


@cache
def results(name: Mechanism) -> dict[str, AttemptResult]:
    """Return what came of every attempt, one after the other in the same interpreter."""
    return {one.name: one for one in prove(NAMED[name])}


@pytest.mark.parametrize("attempt", attempts(), ids=lambda one: one.name)
def test_no_attempt_gets_out(wall: Wall, attempt: Attempt) -> None:
    """Behind a wall neither the attempt nor whoever looks from outside says that anything got through."""
    result = results(wall.name)[attempt.name]
    assert not result.escaped, result.signs


@pytest.mark.parametrize("attempt", attempts(), ids=lambda one: one.name)
def test_attempts_are_real(attempt: Attempt) -> None:
    """Without a wall each attempt gets through, but for those whose reason says what holds them even then."""
    refused = _REFUSED_BY_THE_MACHINE.get(attempt.name)
    if refused is not None and refused():
        pytest.skip("this machine refuses it to everybody")
    result = results("none")[attempt.name]
    assert result.escaped is (attempt.held is None), (attempt.held, result.signs)


@pytest.mark.parametrize(
    ("attempt", "seen"),
    [
        ("read a file", "the secret of the file came out"),
        ("write outside", "files outside were changed"),
        ("network by TCP", "tcp: something arrived"),
        ("network by UDP", "udp: something arrived"),
        ("network by Unix sockets", "abstract: something arrived"),
        ("network by Unix sockets", "unix datagram: something arrived"),
        ("signals", "another process was killed"),
        ("other processes' limits", "another process's limits were changed"),
        ("other processes' limits", "another process's priority were changed"),
        ("secrets in the environment", "the secret of the environment came out"),
        ("shared memory and queues", "the secret of the segment came out"),
        ("shared memory and queues", "shared memory, queues or semaphores were reached, removed or left"),
        ("terminals", "something was typed or written on a terminal"),
    ],
)
def test_the_witness_sees_it(attempt: str, seen: str) -> None:
    """An escape without a wall is also seen from outside, and not only reported by the attempt."""
    assert seen in results("none")[attempt].signs


def test_a_process_that_is_about_to_end_is_seen() -> None:
    """A process ends some time after it was killed; the witness sees each of fifty at once, and no untouched one."""
    with Witness("none", [], SandboxLimits()) as witness:
        assert witness._reached_processes() == []
        for _ in range(50):
            os.kill(witness.given["bystander"], signal.SIGKILL)
            assert witness._reached_processes() == ["another process was killed"]
        assert witness._reached_processes() == []


def test_a_hole_is_seen(landlock: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall with a hole is reported: here the filter of system calls lets signals through, and nothing else."""
    from graphkit.plugins.sandbox import seccomp

    holed = {**seccomp.REFUSED, "signals": ()}
    monkeypatch.setattr(seccomp, "REFUSED", holed)
    seccomp.program.cache_clear()
    try:
        [result] = prove(landlock, [one for one in attempts() if one.name == "secrets in the environment"])
        assert not result.escaped, result.signs
        found = list(prove(landlock, [one for one in attempts() if one.name == "signals"]))
    finally:
        seccomp.program.cache_clear()
    # Landlock 6 and later keep signals within by themselves; the own process group is within.
    assert found[0].escaped
    assert "kill 0" in found[0].signs
