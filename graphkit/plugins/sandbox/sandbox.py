"""A sandbox: warm interpreters behind the first wall that passes a trial on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from graphkit.errors import InputError
from graphkit.files.leftovers import held_folder
from graphkit.plugins.sandbox.hosts import host_files
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.snippets import snippet
from graphkit.plugins.sandbox.walls import NO_WALL, WALLS, Wall
from graphkit.plugins.sandbox.workers import Ended, ForgedError, SandboxError, StoppedError, Worker, WorkerSession

#: The time limit of a trial, in seconds.
_TRIAL_SECONDS = 20.0

#: The remedy if no wall works.
REMEDY = (
    "Install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap), or libseccomp (libseccomp2) on a Linux "
    "whose kernel has Landlock (5.13 or newer); `graphkit sandbox check` tries them. --unsafe-no-sandbox runs the code "
    "with all your own permissions."
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A wall that was tried on this machine, and why it failed; None if it holds."""

    wall: Wall
    failure: str | None


@dataclass(eq=False)
class Sandbox:
    """Warm interpreters behind a wall. Up to ``jobs`` threads may run tests at the same time."""

    wall: Wall
    trials: Sequence[Trial]
    files: Sequence[Path]
    limits: SandboxLimits
    jobs: int

    def __post_init__(self) -> None:
        """Prepare the interpreters; each starts on first use."""
        # A wall may end with the thread that built it, so one thread lasts as long as the sandbox.
        self._builder = ThreadPoolExecutor(1)
        # The code of an answer and an assertion never run in copies of the same interpreter.
        self._idle: dict[bool, SimpleQueue[Worker | None]] = {False: SimpleQueue(), True: SimpleQueue()}
        for queue in self._idle.values():
            for _ in range(self.jobs):
                queue.put(None)

    @contextmanager
    def session(
        self,
        seconds: float,
        script: str,
        argv: Sequence[str] = (),
        stdin: str | None = None,
        *,
        assertion: bool = False,
    ) -> Iterator[WorkerSession]:
        """Start a test, yield its session, and end it afterwards; replace an interpreter that is lost.

        Raise a SandboxError if the sandbox broke, so the test has no result.

        ``script`` is a Python module in ``inside/``, or a script there for the program that ``argv`` names.
        ``assertion`` runs an assertion rather than the code of an answer.
        """
        idle = self._idle[assertion]
        worker = idle.get()
        try:
            if worker is None or not worker.alive:
                if worker is not None:
                    worker.close()
                worker = None
                worker = self._builder.submit(Worker, self.wall, self.files, self.limits).result()
            session = worker.start(seconds, argv, script, stdin)
            try:
                yield session
            finally:
                session.close()
        finally:
            idle.put(worker)

    def run(self, code: str, function: str, inputs: Sequence[Any], seconds: float) -> Ended:
        """Call a function of some Python code, and return how that ended.

        Raise a SandboxError if the sandbox broke, so the call has no result.
        """
        with self.session(seconds, "python_tests") as session:
            return call_function(session, code, function, inputs, self.limits.result // 2)

    def close(self) -> None:
        """End every interpreter."""
        for queue in self._idle.values():
            for _ in range(self.jobs):
                worker = queue.get()
                if worker is not None:
                    worker.close()
        self._builder.shutdown()

    @property
    def description(self) -> str:
        """The wall, and why the preferred ones don't work here, in one sentence."""
        if self.wall.name == "none":
            return "no sandbox: the code of the answers has all your permissions"
        passed_over = "; ".join(
            f"{one.wall.name} doesn't work here: {one.failure}" for one in self.trials if one.failure
        )
        return f"sandbox: {self.wall.name}" + (f" ({passed_over})" if passed_over else "")


@contextmanager
def open_sandbox(
    *,
    jobs: int | None = None,
    limits: SandboxLimits | None = None,
    programs: Iterable[Path] = (),
    unsafe: bool = False,
    walls: Sequence[Wall] = WALLS,
) -> Iterator[Sandbox]:
    """Open the best sandbox that works on this machine, and end everything in it afterwards.

    Raise an InputError if no wall holds on this machine, and ``unsafe`` is false.

    ``jobs`` tests run at the same time, by default as many as there are processors. ``programs`` are interpreters of
    further languages. ``unsafe`` uses no wall.
    """
    chosen_limits = limits or SandboxLimits()
    files = host_files(programs)
    trials: list[Trial] = []
    wall: Wall | None = NO_WALL if unsafe else None
    for each in () if unsafe else walls:
        trials.append(Trial(each, failure_of(each, files, chosen_limits)))
        if trials[-1].failure is None:
            wall = each
            break
    if wall is None:
        tried = "; ".join(f"{one.wall.name}: {one.failure}" for one in trials)
        raise InputError(f"no sandbox works on this machine ({tried})", remedy=REMEDY)
    sandbox = Sandbox(wall, trials, files, chosen_limits, jobs or len(os.sched_getaffinity(0)))
    try:
        yield sandbox
    finally:
        sandbox.close()


def call_function(session: WorkerSession, code: str, function: str, inputs: Sequence[Any], limit: int) -> Ended:
    """Call a function of some code in a session, and return how that ended."""
    job: dict[str, Any] = {
        "files": {},
        "code": code,
        "entry_point": function,
        "stdin": None,
        "holds": False,
        "limit": limit,
    }
    try:
        session.ask(json.dumps({"id": 0, **job}).encode())
        session.ask(json.dumps({"id": 1, "do": "call", "inputs": list(inputs)}).encode())
        return session.finish()
    except StoppedError:
        return session.stop(kill=False)
    except ForgedError:
        return session.stop()


def failure_of(wall: Wall, files: Sequence[Path], limits: SandboxLimits) -> str | None:
    """Run code that tries to get out of a wall, and return why it doesn't hold; None if it holds."""
    try:
        with held_folder() as folder:
            witness, outside = folder / "witness", folder / "outside"
            witness.write_text("secret")
            worker = Worker(wall, files, limits)
            try:
                session = worker.start(_TRIAL_SECONDS, (), "python_tests")
                ended = call_function(session, snippet("trial"), "holes", [str(witness), str(outside)], 1000)
            finally:
                worker.close()
    except SandboxError as error:
        return str(error).removeprefix(f"{wall.name}: ")
    except OSError as error:
        return str(error)
    if ended.how == "exited" and b'"returned"' in ended.result:
        return None
    result = ended.result.decode(errors="replace") or ended.printed
    return f"a trial ended by {ended.how} {ended.code}: {result[:300]}"
