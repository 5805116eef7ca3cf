"""Coroutines that ordinary code runs: Ctrl-C ends them at any moment, whichever thread receives it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from graphkit.shards import event_loop
from tests.helpers import ROOT
from tests.helpers.engines import clean_environment

#: The usual time of these processes is under two seconds.
SECONDS = 60


def outcome(script: str) -> str:
    """Run a script that interrupts itself, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=clean_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


INTERRUPTED_ELSEWHERE = """
import asyncio, os, signal, threading, time
from graphkit.shards import event_loop
def call():
    time.sleep(0.3)  # the loop waits by now
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # not the main thread
    time.sleep(3600)

async def work():
    await event_loop.call_in_thread(call)

async def notebook():
    event_loop.run(work())

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    {run}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("run", ["event_loop.run(work())", "asyncio.new_event_loop().run_until_complete(notebook())"])
def test_interrupt_that_another_thread_receives(run: str) -> None:
    """A signal that does not interrupt the main thread's wait ends it all the same; nobody waits for the function.

    Such a signal was noticed when the time-out of the question ended: `graphkit run` seemed to hang after Ctrl-C.
    """
    said = outcome(INTERRUPTED_ELSEWHERE.format(run=run))
    assert said == "interrupted"


def test_result_and_exception() -> None:
    """The value and the exception of the work come back, and the wake-up file of signals is what it was."""

    async def fine() -> int:
        return await event_loop.call_in_thread(lambda: 3)

    async def broken() -> int:
        return await event_loop.call_in_thread(int, "x")

    assert event_loop.run(fine()) == 3
    with pytest.raises(ValueError, match="invalid literal"):
        event_loop.run(broken())
    assert signal.set_wakeup_fd(-1) == -1


def test_in_a_running_loop() -> None:
    """If a loop runs already, as in a notebook, the work runs in another thread."""

    async def one() -> int:
        await asyncio.sleep(0)
        return 1

    async def notebook() -> int:
        return event_loop.run(one())

    assert asyncio.run(notebook()) == 1
