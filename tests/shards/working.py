"""What the tests let workers do: functions of a module, since a worker imports what it runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from graphkit.errors import InputError


def doubled(number: int) -> int:
    """Return twice a number."""
    return 2 * number


def killed_once(given: tuple[int, Path]) -> int:
    """Kill this worker the first time, which a file remembers; then return the number."""
    number, mark = given
    if number == 3 and not mark.exists():
        mark.write_text("killed")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def always_killed(number: int) -> int:
    """Kill this worker each time."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def refusing(number: int) -> int:
    """Refuse the number 2."""
    if number == 2:
        raise InputError("two is refused", where="numbers:2", remedy="Leave it out.")
    return number


def written(number: int, path: Path) -> None:
    """Write a number as a part."""
    path.write_text(f"part {number}\n")


def counted(given: tuple[int, Path], path: Path) -> None:
    """Write a number as a part, and leave a mark of each call."""
    number, marks = given
    with (marks / str(number)).open("a") as stream:
        stream.write("x")
    path.write_text(f"part {number}\n")


def slowly(given: tuple[int, Path], path: Path) -> None:
    """Do the same in a tenth of a second."""
    time.sleep(0.1)
    counted(given, path)
