"""Proves a wall: every attempt to get out is run behind it, and what came of it is looked at from outside."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphkit.execution.attempts import ATTEMPTS, FINISHED, THROUGH, Attempt
from graphkit.execution.forgeries import Forgery, forgeries
from graphkit.execution.hosts import host_files
from graphkit.execution.limits import SandboxLimits
from graphkit.execution.running import programs
from graphkit.execution.sandbox import Sandbox
from graphkit.execution.walls import Wall
from graphkit.execution.witness import Witness, descendants
from graphkit.execution.workers import Ended, SandboxError

#: What runs after each attempt: it must find everything as if nothing had been before.
_NEXT = """
import builtins, json, os, random, resource, signal, threading, time

def next():
    wrong = []
    for what, good in (
        ("files", os.listdir(".") == []),
        ("the random state", random.getstate() == random.Random(0).getstate()),
        ("the environment", not os.environ),
        ("a timer", signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)),
        ("a signal's handler", signal.getsignal(signal.SIGTERM) == signal.SIG_DFL),
        ("signals that are blocked", not signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        ("names", callable(print) and callable(json.dumps) and callable(time.monotonic)),
        ("threads", threading.active_count() == 1),
        ("the mask of new files", os.umask(0o22) != 0o777),
    ):
        if not good:
            wrong.append(what)
    with open("room", "wb") as file:
        file.write(bytes(1 << 20))
    if wrong:
        raise SystemError("left: " + ", ".join(wrong))
    os.write(1, b"nothing is left")
"""

#: How much longer than it may a test may have taken on a machine that is busy, in seconds.
_SLACK = 5.0

#: How long the processes of a test may take to vanish, in seconds.
_VANISHING = 2.0


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What came of an attempt.

    Attributes
    ----------
    escaped
        Whether it, or whoever looked from outside, says that something got through, or it can't be told.
    said
        Everything that speaks for an escape; else how it ended.
    """

    name: str
    what: str
    escaped: bool
    said: tuple[str, ...]
    seconds: float


def prove(
    wall: Wall, attempts: Sequence[Attempt] = ATTEMPTS, limits: SandboxLimits | None = None
) -> Iterator[AttemptResult]:
    """Run attempts behind a wall, one after the other in the same interpreter, and yield what came of each.

    Raises
    ------
    SandboxError
        The wall can't be built on this machine.
    """
    chosen = limits or SandboxLimits()
    files = host_files()
    with Witness(wall.name, files, chosen) as witness:
        sandbox = Sandbox(wall, (), files, chosen, 1)
        try:
            _follow(sandbox)  # the wall stands, and nothing is left before the first
            for attempt in attempts:
                yield _tried(attempt, sandbox, witness)
        finally:
            sandbox.close()


def prove_results(wall: Wall, limits: SandboxLimits | None = None) -> Iterator[AttemptResult]:
    """Run answers that forge results, or take too much memory, behind a wall, and yield what came of each.

    Raises
    ------
    SandboxError
        The wall can't be built on this machine.
    """
    chosen = limits or SandboxLimits()
    sandbox = Sandbox(wall, (), host_files(programs()), chosen, 1)
    try:
        for forgery in forgeries():
            yield from _forged(forgery, sandbox)
    finally:
        sandbox.close()


def _forged(forgery: Forgery, sandbox: Sandbox) -> Iterator[AttemptResult]:
    started = time.monotonic()
    try:
        result = forgery.tried(sandbox)
    except SandboxError as error:  # where no wall stands, it may break what runs it, and gains nothing by that
        escaped, said = False, str(error)
    else:
        if result is None:  # this machine has no program for its language
            return
        escaped, said = forgery.succeeded(result), f"{result.status}: {result.message or 'it passed'}"
    name = f"{forgery.aim}, {forgery.language.name}: {forgery.name}"
    yield AttemptResult(name, forgery.what, escaped, (said,), time.monotonic() - started)


def _tried(attempt: Attempt, sandbox: Sandbox, witness: Witness) -> AttemptResult:
    before = descendants(os.getpid())
    given = {**witness.given, "seconds": attempt.seconds}
    started = time.monotonic()
    try:
        ended = sandbox.run(attempt.source, "attempt", [given], attempt.seconds)
        found = [*_claimed(attempt, ended), *witness.saw(ended), *_left(before, witness)]
        how = f"ended by {ended.how}" + (f" {ended.code}" if ended.how == "signal" else "")
    except SandboxError as error:
        found, how = [str(error)], ""
    seconds = time.monotonic() - started
    if seconds > attempt.seconds + _SLACK:
        found.append(f"ran {seconds:.0f} s, and may {attempt.seconds:.0f} s")
    try:
        _follow(sandbox)
    except SandboxError as error:
        found.append(f"the next test: {error}")
    return AttemptResult(attempt.name, attempt.what, bool(found), tuple(found or [how]), seconds)


def _claimed(attempt: Attempt, ended: Ended) -> list[str]:
    """Return what an attempt says that it managed, and what is odd about its end."""
    lines = ended.printed.splitlines()
    # Only what it tried is said again: where nothing held it, it may have read anything of the machine.
    claims = [line.removeprefix(THROUGH).partition("\t")[0] for line in lines if line.startswith(THROUGH)]
    if ended.how not in attempt.ends:
        claims.append(f"ended by {ended.how} {ended.code}")
    elif ended.how == "exited" and FINISHED not in ended.printed and not claims:
        claims.append(f"didn't try everything: {ended.result.decode(errors='replace')[-300:]}")
    return claims


def _left(before: set[int], witness: Witness) -> list[str]:
    """Return a complaint about processes that weren't there before a test."""
    deadline = time.monotonic() + _VANISHING
    while left := descendants(os.getpid()) - before - {witness.given["bystander"]}:
        if time.monotonic() > deadline:
            return [f"{len(left)} processes were left"]
        time.sleep(0.02)
    return []


def _follow(sandbox: Sandbox) -> None:
    """Run a test that finds everything as if it were the first.

    Raises
    ------
    SandboxError
        It doesn't.
    """
    ended = sandbox.run(_NEXT, "next", [], 30.0)
    if ended.how != "exited" or "nothing is left" not in ended.printed:
        raise SandboxError(ended.result.decode(errors="replace")[-500:] or f"ended by {ended.how} {ended.code}")
