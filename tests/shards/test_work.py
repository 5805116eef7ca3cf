"""Work on shards: its order, its bounds, workers and drivers that die, and parts that are reused."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.shards import work
from graphkit.shards.executors import opened_executor
from graphkit.shards.locations import Location
from graphkit.shards.work import AHEAD, ATTEMPTS, LostWorkError, ShardTask, finished_parts, in_order, key_of
from tests.shards import working


@pytest.fixture(scope="module")
def two() -> Iterator[Executor]:
    """Two processes."""
    with opened_executor("processes=2") as executor:
        yield executor


def numbered(count: int) -> list[tuple[str, int]]:
    """Return tasks that are numbers."""
    return [(f"shard {number}", number) for number in range(count)]


def test_results_come_in_order(two: Executor) -> None:
    """The results come in the order of the tasks, whichever process was first."""
    assert list(in_order(two, working.doubled, numbered(30))) == [2 * number for number in range(30)]


def test_a_killed_worker_costs_its_task_only(two: Executor, tmp_path: Path) -> None:
    """A worker that is killed with -9 is replaced, its task done again, and that is said."""
    said: list[str] = []
    tasks = [(f"shard {number}", (number, tmp_path / "mark")) for number in range(12)]
    assert list(in_order(two, working.killed_once, tasks, say=said.append)) == list(range(12))
    assert len(said) == 1
    assert said[0].startswith("shard 3: its worker was lost")


@pytest.mark.slow("workers are killed")
def test_a_shard_that_kills_each_worker_ends_the_work(two: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task is given up after a number of attempts, and the error names its shard."""
    monkeypatch.setattr(work, "LONGEST_PAUSE", 0.01)
    said: list[str] = []
    with pytest.raises(LostWorkError, match="shard 0: the worker of this shard was lost at each of"):
        list(in_order(two, working.always_killed, numbered(1), say=said.append))
    assert len(said) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("function", "argument"),
    [(working.doubled, threading.Lock()), (working.doubled, lambda: 1), (lambda number: number, 1), (working.lock, 1)],
    ids=["lock", "lambda", "function", "result"],
)
def test_what_cannot_be_pickled_fails_at_once(two: Executor, function: Callable[[Any], Any], argument: Any) -> None:
    """A task or a result that no process can receive is an error of its shard at the first attempt."""
    said: list[str] = []
    with pytest.raises(InputError, match=r"(?s)^shard 0: the work can't be sent to another process: .*top of a module"):
        list(in_order(two, function, [("shard 0", argument)], say=said.append))
    assert said == []


def test_an_error_of_the_function_about_pickling_stays_its_own(two: Executor) -> None:
    """An error that the function itself raises is raised as it is, whatever its text."""
    with pytest.raises(TypeError, match=r"^cannot pickle this"):
        list(in_order(two, working.refusing_to_pickle, numbered(1)))


def test_an_error_of_the_function_is_raised_at_its_place(two: Executor) -> None:
    """The results before an error come; the error itself comes once, as it was raised."""
    results = in_order(two, working.refusing, numbered(9))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(InputError, match="numbers:2: two is refused\n  Leave it out"):
        next(results)


def test_parts_are_reused(two: Executor, tmp_path: Path) -> None:
    """Parts come in order; a second time they come without a call; a damaged one is made again, and that is said."""
    marks, folder = tmp_path / "marks", Location.of(tmp_path / "parts")
    marks.mkdir()
    tasks = [ShardTask(key_of("counted", number), (number, marks), f"shard {number}") for number in range(12)]
    expected = [f"part {number}\n" for number in range(12)]

    def contents(say: list[str]) -> list[str]:
        return [path.read_text() for path in finished_parts(two, working.counted, tasks, folder, say=say.append)]

    said: list[str] = []
    assert contents(said) == expected
    assert contents(said) == expected
    assert said == []
    assert {mark.read_text() for mark in marks.iterdir()} == {"x"}
    damaged = next((tmp_path / "parts").glob(f"{tasks[5].key}-*"))
    damaged.write_text("part 6\n")
    assert contents(said) == expected
    assert said == [f"{damaged}: the part is damaged; it is made again"]
    assert {mark.name: mark.read_text() for mark in marks.iterdir()} == {
        **{str(number): "x" for number in range(12)},
        "5": "xx",
    }
    assert len(list((tmp_path / "parts").iterdir())) == 12


class Noting(ThreadPoolExecutor):
    """An executor of one thread that counts the tasks that it got."""

    submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(fn, *args, **kwargs)


def test_a_bounded_number_is_under_way() -> None:
    """No more tasks are begun beyond the one that is awaited than AHEAD for each worker, however many there are."""
    with Noting(1) as executor:
        results = in_order(executor, working.doubled, ((str(number), number) for number in range(1000)))
        for number in range(50):
            assert next(results) == 2 * number
            assert executor.submitted <= number + 1 + AHEAD


def test_this_process_works_task_by_task() -> None:
    """Without an executor, no task is begun before the result of the one before it was taken."""
    taken: list[int] = []

    def tasks() -> Iterator[tuple[str, int]]:
        for number in range(5):
            taken.append(number)
            yield str(number), number

    with opened_executor(None) as executor:
        results = in_order(executor, working.doubled, tasks())
        assert next(results) == 0
        assert taken == [0]
        assert list(results) == [2, 4, 6, 8]


def test_an_executor_of_the_library_stays_open() -> None:
    """An executor that a user gives is used as it is, and not shut down."""
    with ThreadPoolExecutor(2) as mine:
        with opened_executor(mine) as executor:
            assert executor is mine
        assert mine.submit(working.doubled, 4).result() == 8


def test_parts_in_memory() -> None:
    """Parts lie on any file system, and are reused there."""
    folder = Location.of("memory://parts-of-a-test/run")
    tasks = [ShardTask(key_of("memory", number), number) for number in range(3)]
    with opened_executor(None) as executor:
        for function in (working.written, working.refused):
            found = [path.read_text() for path in finished_parts(executor, function, tasks, folder)]
            assert found == ["part 0\n", "part 1\n", "part 2\n"]
    assert {file.name.partition("-")[0] for file in folder.files()} == {task.key for task in tasks}


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("proceses", "no executor is called 'proceses'\n  Did you mean processes?"),
        ("processes=0", "asks for no worker"),
        ("processes=tcp://x", "isn't a number of processes"),
    ],
)
def test_wrong_executors(on: str, message: str) -> None:
    """A name that isn't known, or asks for nothing, is an error of input."""
    with pytest.raises(InputError, match=message):
        opened_executor(on).__enter__()


@pytest.mark.parametrize("on", [None, "processes"])
def test_no_resources_here(on: str | None) -> None:
    """What can't reserve resources says so."""
    with pytest.raises(InputError, match=r"can't reserve resources \(gpu=1\)\n  .*--on ray=ADDRESS"):
        opened_executor(on, resources={"gpu": 1}).__enter__()


def test_a_bug_in_a_worker_shows_where(two: Executor) -> None:
    """An error that isn't one of input keeps its type, and the traceback of the worker as a note."""
    with pytest.raises(ZeroDivisionError) as raised:
        list(in_order(two, working.divided, numbered(1)))
    assert "in divided" in "".join(raised.value.__notes__)


def test_processes_that_still_work_are_ended(tmp_path: Path) -> None:
    """The end of the block kills what is still running: after an error nobody waits for a long task."""
    tasks = [("", (2, tmp_path / "pid")), ("", (600, tmp_path / "pid"))]
    with pytest.raises(InputError, match="two is refused"), opened_executor("processes=2") as executor:
        list(in_order(executor, working.sleeping, tasks))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
