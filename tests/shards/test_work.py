"""Work on shards: its order, its bounds, workers and drivers that die, and parts that are reused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.shards.executors import opened_executor
from graphkit.shards.locations import Location
from graphkit.shards.work import ATTEMPTS, LostWorkError, ShardTask, finished_parts, in_order, key_of
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


def test_a_shard_that_kills_each_worker_ends_the_work(two: Executor) -> None:
    """A task is given up after a number of attempts, and the error names its shard."""
    said: list[str] = []
    with pytest.raises(LostWorkError, match="shard 0: the worker of this shard was lost at each of"):
        list(in_order(two, working.always_killed, numbered(1), say=said.append))
    assert len(said) == ATTEMPTS - 1


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
