"""Progress on standard error: as bars in a terminal, and as lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphkit.cli.terminal import console, say
from graphkit.records.progress import RESTS_AT_FORK

if TYPE_CHECKING:
    from rich import progress as bars

#: How often progress is printed without a terminal, in seconds.
LINE_EVERY = 10.0

#: How often a display is drawn, in seconds.
REFRESHED_EVERY = 0.1


class _Clock:
    """Calls a function every so many seconds until it returns False, in a thread that rests while this process forks.

    So scoring may fork its workers: spawned ones would import everything again.
    """

    def __init__(self, seconds: float, tick: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._due = time.monotonic() + seconds
        self._ticks = True
        self.go_on()
        _clocks.append(self)

    def go_on(self) -> None:
        """Begin, or go on after :meth:`rest`."""
        self._resting = threading.Event()
        self._thread = threading.Thread(target=self._run, name=RESTS_AT_FORK, daemon=True)
        self._thread.start()

    def rest(self) -> None:
        """End the thread."""
        self._resting.set()
        self._thread.join()

    def end(self) -> None:
        """End the thread for good."""
        _clocks.remove(self)
        self.rest()

    def _run(self) -> None:
        while self._ticks and not self._resting.wait(self._due - time.monotonic()):
            self._ticks = self._tick()
            self._due = time.monotonic() + self._seconds


#: The clocks that go.
_clocks: list[_Clock] = []


def _rest() -> None:
    for clock in _clocks:
        clock.rest()


def _go_on() -> None:
    for clock in _clocks:
        clock.go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_rest, after_in_parent=_go_on, after_in_child=_clocks.clear)


class _Shown:
    """What is going on, as lines of a display in the terminal; without a terminal, as a line if it takes long."""

    repeats = False  # whether there are further lines without a terminal

    def __init__(self, title: str, display: bars.Progress | None) -> None:
        for outer in _shown[-1:]:
            outer.hide(True)
        self._title = title
        self._display = display
        self._task = display.add_task(title, total=None, done="") if display is not None else None
        self._totals: dict[str, int] = {}
        self._done: Counter[str] = Counter()
        self._clock = _Clock(LINE_EVERY, self._say) if display is None else None
        _shown.append(self)

    def __call__(self, kind: str, count: int) -> None:
        self._done[kind] += count
        self._update()

    def expect(self, kind: str, more: int) -> None:
        """Show from now on how many of a kind there will be with those that are done: one run may follow another."""
        self._totals[kind] = self._done[kind] + more
        self._update()

    def close(self) -> None:
        """Show it no longer."""
        _shown.remove(self)
        if self._clock is not None:
            self._clock.end()
        if self._display is not None and self._task is not None:
            self._display.remove_task(self._task)
            for outer in _shown[-1:]:
                outer.hide(False)

    def hide(self, hidden: bool) -> None:
        """Hide the line while something within is going on, so that there is one line at a time."""
        if self._display is not None and self._task is not None:
            self._display.update(self._task, visible=not hidden)

    def __str__(self) -> str:
        return ", ".join([f"{count:,}{self._of(kind)}" for kind, count in self._done.items()][-2:])

    def _of(self, kind: str) -> str:
        noun, one = kind.split(" "), self._totals.get(kind, self._done[kind]) == 1
        total = f" of {self._totals[kind]:,}" if kind in self._totals else ""
        return " ".join([total, noun[0].removesuffix("s") if one else noun[0], *noun[1:]])

    def _update(self) -> None:
        if self._display is not None and self._task is not None:
            self._display.update(self._task, done=str(self))

    def _say(self) -> bool:
        say(f"{self._title} ... {self}".rstrip())
        return self.repeats


#: What is going on, the outermost first.
_shown: list[_Shown] = []

#: The display of the terminal while something is going on: there is one, whatever calls what.
_display: bars.Progress | None = None


@contextmanager
def shown_progress(title: str) -> Iterator[_Shown]:
    """Show what is going on, such as "loading storefront", with what is done; nothing may be printed meanwhile.

    Without a terminal, a line tells what takes longer than some seconds, and further ones if ``repeats`` is set.
    """
    global _display
    outermost = _display is None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    if outermost:
        _display = _new_display()
        _display.start()
        clock = _Clock(REFRESHED_EVERY, _refreshed)
    shown = _Shown(title, _display)
    try:
        yield shown
    finally:
        shown.close()
        if outermost and _display is not None:
            clock.end()
            _display.stop()
            _display = None


def _refreshed() -> bool:
    if _display is not None:
        _display.refresh()
    return True


def _new_display() -> bars.Progress:
    from rich import progress as bars

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.TextColumn("{task.fields[done]}", markup=False),
        bars.TimeElapsedColumn(),
    )
    shown_on = console(stderr=True)
    return bars.Progress(*columns, console=shown_on, transient=True, redirect_stdout=False, auto_refresh=False)
