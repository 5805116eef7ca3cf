"""What the tests let workers do: functions of a module, since a worker imports what it runs."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, TypeVar

from graphkit.errors import InputError
from graphkit.records.models import Question
from graphkit.shards.executors import workers_of
from graphkit.shards.inputs import Shard, shard_lines

T = TypeVar("T")


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


def noted(given: tuple[int, Path]) -> int:
    """Note the number in a file, and kill this worker at the first time of 5, 30, 55 and 80."""
    number, folder = given
    with (folder / "noted").open("a") as stream:
        stream.write(f"{number}\n")
    time.sleep(0.02)
    if number % 25 == 5:
        killing(folder / f"killed at {number}", int)
    return number


def killing(mark: Path, function: Callable[..., T], *given: Any) -> T:
    """Kill this worker the first time, which a file remembers; then call a function."""
    if not mark.exists():
        mark.write_text("killed")
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*given)


class KillsOnce(Executor):
    """An executor of which the worker of the third task is killed once."""

    def __init__(self, executor: Executor, mark: Path) -> None:
        self.workers = workers_of(executor)
        self._executor = executor
        self._mark = mark
        self._submitted = 0

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a task by the executor."""
        self._submitted += 1
        if self._submitted == 3:
            return self._executor.submit(killing, self._mark, fn, *args)
        return self._executor.submit(fn, *args)


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


def alone(inside: Path) -> bool:
    """Return whether no other task was inside the same place meanwhile."""
    try:
        inside.mkdir()
    except FileExistsError:
        return False
    time.sleep(0.05)
    inside.rmdir()
    return True


def names(given: tuple[Shard, Path], path: Path) -> None:
    """Write the ids of a shard as a part, and leave a mark; the first call for part-2 kills this worker."""
    shard, marks = given
    mark = marks / shard.location.name
    begun = mark.exists()
    with mark.open("a") as stream:
        stream.write("x")
    if shard.location.name == "part-2.jsonl" and not begun:
        os.kill(os.getpid(), signal.SIGKILL)
    path.write_text(" ".join(json.loads(line)["id"] for _, line in shard_lines(shard)))


def refused(number: int, path: Path) -> None:
    """Refuse to make a part."""
    raise InputError("nobody asked for this part")


def divided(number: int) -> float:
    """Divide by zero."""
    return number / 0


def sleeping(given: tuple[int, Path]) -> None:
    """Sleep so many seconds, after writing down this process; refuse 2 as soon as another one sleeps."""
    seconds, mark = given
    if seconds == 2:
        while not mark.exists() or not mark.read_text():
            time.sleep(0.01)
        refusing(seconds)
    mark.write_text(str(os.getpid()))
    time.sleep(seconds)


def answering(mark: Path, question: Question) -> dict[str, object]:
    """Answer a question; kill this worker at q7 the first time, which a file remembers."""
    if question.id == "q7" and not mark.exists():
        mark.write_text("killed")
        os.kill(os.getpid(), signal.SIGKILL)
    return {"answer": f"{question.id} calls Billing.", "latency_ms": 1}


def lock(_: Any) -> Any:
    """Return what can't be pickled."""
    return threading.Lock()


def refusing_to_pickle(_: Any) -> None:
    """Raise an error that reads like one of pickling."""
    raise TypeError("cannot pickle this")
