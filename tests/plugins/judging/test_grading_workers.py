"""``graphkit grade --on``: the verdicts of one process, exact spending, and workers that are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.grades_beside import grades_folder
from tests.gradings import key_of
from tests.helpers.api import Api, Reply, message, served
from tests.helpers.cli import Done, inside
from tests.helpers.grading import many, verdict_on, verdicts_beside

#: A reply to 100 tokens with 20 costs 100 * 10 / 1e6 + 20 * 100 / 1e6 = 0.003.
PRICES = "[models.m]\nprompt = 10\noutput = 100\n"


def grade(run: Path, api: Api | None, *options: object, code: int = 0) -> Done:
    """Have a server's model grade a run in two workers, by claims and by the rubric."""
    folder = run.parents[2]
    (folder / "prices.toml").write_text(PRICES)
    known = ("-j", "anthropic", "--model", "m", "--prices", "prices.toml", "--no-store", "-g", "claims", "-g", "rubric")
    return inside("grade", run, *known, *options, cwd=folder, env=api.env if api else None, code=code)


def graded(run: Path) -> dict[str, bytes]:
    """Return the files of a grading by name."""
    return {path.name: path.read_bytes() for path in grades_folder(run).iterdir() if path.suffix == ".jsonl"}


def judging(before: Callable[[int], None] = lambda number: None) -> Callable[[Api, dict[str, Any]], Reply]:
    """Return a script that gives verdicts, and first does something with the number of the request."""
    counts = Counter[str]()
    lock = threading.Lock()

    def script(api: Api, body: dict[str, Any]) -> Reply:
        with lock:
            counts["all"] += 1
            number = counts["all"]
        before(number)
        time.sleep(0.01)
        return message(verdict_on(body), 100, 20)

    return script


def kill_a_worker(number: int) -> None:
    """Kill one of the two workers at the fifteenth request."""
    if number == 15:
        os.kill(int(multiprocessing.active_children()[0].pid or 0), signal.SIGKILL)


def test_workers_give_the_same_files(tmp_path: Path) -> None:
    """Verdicts and scores are those of one process to the last byte, and each request is sent once."""
    one, two = many(tmp_path / "one", 30), many(tmp_path / "two", 30)
    with served(judging()) as api:
        grade(one, api)
        grade(two, api, "--on", "processes=2", "--cache", tmp_path / "replies.sqlite")
        assert set(Counter(map(key_of, api.requests)).values()) == {2}
        assert graded(two) == graded(one)
        again = grade(two, api, "--on", "processes=2", "--cache", tmp_path / "replies.sqlite", "--json").object()
        assert len(api.requests) == 2 * 60
    assert again["cost"]["cached"] == 60


@pytest.mark.slow("a worker is killed, and its grading repeated")
@pytest.mark.parametrize("cache", [(), ("--no-cache",)])
def test_a_killed_worker_pays_nothing_twice(tmp_path: Path, cache: tuple[str, ...]) -> None:
    """A worker is killed with -9 on the way: no request is sent again, and the files are the same, costs too."""
    calm, shaken = many(tmp_path / "calm", 30), many(tmp_path / "shaken", 30)
    with served(judging()) as api:
        grade(calm, api, "--no-cache")
    with served(judging(kill_a_worker)) as api:
        done = grade(shaken, api, "--on", "processes=2", *cache)
        assert "its worker was lost" in done.err
        assert len(api.requests) == 60
        assert max(Counter(map(key_of, api.requests)).values()) == 1
    assert graded(shaken) == graded(calm)


@pytest.mark.slow("workers start")
def test_the_limit_holds_for_all_workers(tmp_path: Path) -> None:
    """Nothing beyond --max-cost is spent, though a worker dies: what the server answered is what the verdicts cost.

    A verdict costs 0.003, and may cost (4096 * 100 + its prompt) / 1e6, over 0.4. Of 0.6, verdicts are paid until
    less is left than one may cost.
    """
    run = many(tmp_path, 60)
    with served(judging(kill_a_worker)) as api:
        grade(run, api, "--on", "processes=2", "--max-cost", 0.6, code=1)
        answered = len(api.requests)
    found = verdicts_beside(run, "anthropic", "m").values()
    paid = [one for one in found if one.failure is None]
    assert 15 < len(paid) == answered < 120
    assert {one.failure for one in found} == {None, "over_budget"}
    assert sum(one.cost or 0 for one in paid) == pytest.approx(0.003 * answered)
    assert 0.003 * (answered - 1) + 0.4 <= 0.6


def test_rules_judge_in_workers(tmp_path: Path) -> None:
    """The lexical judge gives the same files from workers; with a rubric of the user's, a model does as well."""
    one, two = many(tmp_path / "one", 12), many(tmp_path / "two", 12)
    for run, on in ((one, ()), (two, ("--on", "processes=2"))):
        inside("grade", run, "--no-store", *on, cwd=tmp_path, code=0)
    assert graded(one) == graded(two)
