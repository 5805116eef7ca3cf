"""Proves a wall: runs every attempt to get out behind it, and looks from outside at what got through."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from graphkit.errors import GateError
from graphkit.plugins.sandbox.attempts import FINISHED, THROUGH, Attempt, attempts
from graphkit.plugins.sandbox.forgeries import forgeries
from graphkit.plugins.sandbox.hosts import host_files
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.running import programs
from graphkit.plugins.sandbox.sandbox import Sandbox
from graphkit.plugins.sandbox.snippets import snippet
from graphkit.plugins.sandbox.walls import Wall
from graphkit.plugins.sandbox.witness import Witness, descendants
from graphkit.plugins.sandbox.workers import Ended, SandboxError
from graphkit.records.words import counted

#: How far a test may run over its time limit on a busy machine, in seconds.
_SLACK = 5.0

#: How long the processes of a test may take to vanish, in seconds.
_VANISHING = 2.0


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt."""

    name: str
    what: str
    escaped: bool  # whether the attempt or the witness reports that something got through, or neither can know
    signs: tuple[str, ...]  # all signs of an escape, or how the attempt ended if there are none
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "attempt": self.name,
            "what": self.what,
            "escaped": self.escaped,
            "said": list(self.signs),
            "seconds": round(self.seconds, 3),
        }


def require_held(results: Sequence[AttemptResult], wall: Wall) -> None:
    """Raise a GateError if an attempt got out."""
    if escaped := sum(one.escaped for one in results):
        held = "without a sandbox" if wall.name == "none" else f"of the sandbox by {wall.name}"
        raise GateError(
            f"{escaped} of {counted(len(results), 'attempt')} got out {held}",
            remedy="Run no code of answers like this that you haven't read.",
        )


def prove(wall: Wall, chosen: Sequence[Attempt] | None = None) -> Iterator[AttemptResult]:
    """Run attempts (by default all) behind a wall, one after the other in one interpreter, and yield their results.

    Raise a SandboxError if the wall can't be built on this machine.
    """
    limits, files = SandboxLimits(), host_files()
    with Witness(wall.name, files, limits) as witness, closing(Sandbox(wall, (), files, limits, 1)) as sandbox:
        _check_clean(sandbox)  # the wall stands, and the first attempt finds nothing left
        for attempt in attempts() if chosen is None else chosen:
            yield _attempt_result(attempt, sandbox, witness)


def prove_results(wall: Wall) -> Iterator[AttemptResult]:
    """Run answers that forge results, or use too much memory, behind a wall, and yield the results.

    Raise a SandboxError if the wall can't be built on this machine.
    """
    with closing(Sandbox(wall, (), host_files(programs()), SandboxLimits(), 1)) as sandbox:
        for forgery in forgeries():
            started = time.monotonic()
            try:
                result = forgery.run(sandbox)
            except SandboxError as error:  # without a wall it may break its own runner, and gains nothing by that
                escaped, signs = False, str(error)
            else:
                if result is None:  # this machine has no program for its language
                    continue
                escaped, signs = forgery.succeeded(result), f"{result.status}: {result.message or 'it passed'}"
            name = f"{forgery.aim}, {forgery.language.name}: {forgery.name}"
            yield AttemptResult(name, forgery.what, escaped, (signs,), time.monotonic() - started)


def _attempt_result(attempt: Attempt, sandbox: Sandbox, witness: Witness) -> AttemptResult:
    before = descendants(os.getpid())
    given = {**witness.given, "seconds": attempt.seconds}
    started = time.monotonic()
    try:
        ended = sandbox.run(attempt.source, "attempt", [given], attempt.seconds)
        found = [*_claims(attempt, ended), *witness.signs(ended), *_left_processes(before, witness)]
        how = f"ended by {ended.how}" + (f" {ended.code}" if ended.how == "signal" else "")
    except SandboxError as error:
        found, how = [str(error)], ""
    seconds = time.monotonic() - started
    if seconds > attempt.seconds + _SLACK:
        found.append(f"ran {seconds:.0f} s; the limit is {attempt.seconds:.0f} s")
    try:
        _check_clean(sandbox)
    except SandboxError as error:
        found.append(f"the next test: {error}")
    return AttemptResult(attempt.name, attempt.what, bool(found), tuple(found or [how]), seconds)


def _claims(attempt: Attempt, ended: Ended) -> list[str]:
    """Return what an attempt says that it managed, and what is odd about its end."""
    lines = ended.printed.splitlines()
    # The part after the tab is never shown: without a wall the attempt may have read anything on the machine.
    claims = [line.removeprefix(THROUGH).partition("\t")[0] for line in lines if line.startswith(THROUGH)]
    if ended.how not in attempt.ends:
        claims.append(f"ended by {ended.how} {ended.code}")
    elif ended.how == "exited" and FINISHED not in ended.printed and not claims:
        claims.append(f"didn't try everything: {ended.result.decode(errors='replace')[-300:]}")
    return claims


def _left_processes(before: set[int], witness: Witness) -> list[str]:
    """Return a complaint about processes that a test left running."""
    deadline = time.monotonic() + _VANISHING
    while left := descendants(os.getpid()) - before - {witness.given["bystander"]}:
        if time.monotonic() > deadline:
            return [f"{len(left)} processes were left"]
        time.sleep(0.02)
    return []


def _check_clean(sandbox: Sandbox) -> None:
    """Run a test that must find everything as if it were the first; raise a SandboxError if it doesn't."""
    ended = sandbox.run(snippet("next_test"), "next", [], 30.0)
    if ended.how != "exited" or "nothing is left" not in ended.printed:
        raise SandboxError(ended.result.decode(errors="replace")[-500:] or f"ended by {ended.how} {ended.code}")
