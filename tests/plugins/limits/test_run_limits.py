"""``graphkit run`` within limits: a cost, a number of calls, a time; and how many calls there would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import inside, write_lines
from tests.helpers.systems import records

SYSTEM = """
import time
from pathlib import Path

def asked(question):
    with Path("asked.txt").open("a") as stream:
        stream.write(question.id + "\\n")

def free(question):
    asked(question)
    return "x"

def priced(question):
    asked(question)
    return {"answer": "x", "cost": 0.3}

def dearer(question):
    asked(question)
    return {"answer": "x", "cost": 0.1 if question.id == "q0" else 0.4}

def failing(question):
    asked(question)
    raise ValueError("no")

def flaky(question):
    asked(question)
    if Path("asked.txt").read_text().split().count(question.id) < 3:
        raise ValueError("no")
    return {"answer": "x", "cost": 0.1}

def slow(question):
    asked(question)
    time.sleep(0.2)
    return "x"
"""


@pytest.fixture
def ten(tmp_path: Path) -> Path:
    """A working folder with ten questions q0 to q9 in ``data``."""
    (tmp_path / "limited.py").write_text(SYSTEM)
    write_lines(tmp_path / "data" / "questions.jsonl", [{"id": f"q{one}", "question": "?"} for one in range(10)])
    return tmp_path


def asked(folder: Path) -> int:
    """Return how many calls there were."""
    file = folder / "asked.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.mark.parametrize(
    "on", [(), pytest.param(("--on", "processes=2"), marks=pytest.mark.slow("it starts processes"))]
)
def test_max_calls(ten: Path, on: tuple[str, ...]) -> None:
    """Four calls leave six questions for the same command, which ends with 1 until all are asked."""
    arguments = ("run", "data", "--system", "limited:free", "--max-calls", 4, *on)
    done = inside(*arguments, cwd=ten, code=1)
    assert "stopped by --max-calls 4: 6 answers missing, the others are kept; run the same command again" in done.err
    assert (asked(ten), len(records(ten, "free"))) == (4, 4)
    inside(*arguments, cwd=ten, code=1)
    done = inside(*arguments, "--json", cwd=ten, code=0)  # two are left: the limit isn't reached
    assert (asked(ten), done.object()["missing"]) == (10, 0)


def test_each_try_is_a_call(ten: Path) -> None:
    """With a retry a failing question takes two calls, so five calls ask three questions, one of them in part."""
    arguments = ("run", "data", "--system", "limited:failing", "--retries", 1, "--concurrency", 1)
    done = inside(*arguments, "--max-calls", 5, "--json", cwd=ten, code=1)
    # q0 twice, q1 twice, q2 once: its second try is the sixth call.
    assert (ten / "asked.txt").read_text().split() == ["q0", "q0", "q1", "q1", "q2"]
    assert [*records(ten, "failing")] == ["q0", "q1"]
    assert [done.object()[name] for name in ("failed", "missing", "cut_short")] == [2, 8, 1]
    assert "8 answers missing, the others are kept; 1 question failed with tries left" in done.err


@pytest.mark.parametrize(
    "on", [(), pytest.param(("--on", "processes=2"), marks=pytest.mark.slow("it starts processes"))]
)
def test_max_cost(ten: Path, on: tuple[str, ...]) -> None:
    """At .3 a call, 1 allows three calls, however many are asked at once: a fourth would make 1.2."""
    done = inside("run", "data", "--system", "limited:priced", "--max-cost", 1, "--json", *on, cwd=ten, code=1)
    assert (asked(ten), done.object()["cost"]["so_far"]) == (3, pytest.approx(0.9))
    assert "stopped by --max-cost 1: 7 answers missing" in done.err


def test_a_call_counts_as_the_dearest_so_far(ten: Path) -> None:
    """.1 and .4 are spent of .8: another of .4 would make .9, though the mean is .25."""
    inside("run", "data", "--system", "limited:dearer", "--max-cost", 0.8, "--concurrency", 1, cwd=ten, code=1)
    assert asked(ten) == 2


def test_an_unknown_cost_is_refused(ten: Path) -> None:
    """An answer without a cost stops the run at once, and says how a cost becomes known."""
    done = inside("run", "data", "--system", "limited:free", "--max-cost", 1, cwd=ten, code=2)
    assert "the answer of free to q0 has no cost, so --max-cost can't be kept" in done.err
    assert "Give --price-in and --price-out" in done.err
    assert (asked(ten), len(records(ten, "free"))) == (1, 1)


def test_failures_without_a_cost_end(ten: Path) -> None:
    """While no cost is known, ten failed tries end a run: with a retry each, five questions fail and five are left."""
    arguments = ("run", "data", "--system", "limited:failing", "--max-cost", 1)
    done = inside(*arguments, "--retries", 1, cwd=ten, code=1)
    assert "stopped by --max-cost 1, since 10 tries failed and no cost is known: 5 answers missing" in done.err
    assert (asked(ten), len(records(ten, "failing"))) == (10, 5)
    done = inside(*arguments, cwd=ten, code=2)  # the other five, without retries
    assert "every question failed" in done.err
    assert asked(ten) == 15


def test_each_failed_try_counts_as_the_dearest(ten: Path) -> None:
    """At .1 a call, .5 allows five: q0 succeeds at the third, and q1 fails twice, although only .1 is known."""
    arguments = ("--system", "limited:flaky", "--max-cost", 0.5, "--retries", 2, "--concurrency", 1)
    done = inside("run", "data", *arguments, cwd=ten, code=1)
    assert (ten / "asked.txt").read_text().split() == ["q0"] * 3 + ["q1"] * 2
    assert "stopped by --max-cost 0.5: 9 answers missing" in done.err


@pytest.mark.parametrize(
    "on", [(), pytest.param(("--on", "processes=1"), marks=pytest.mark.slow("it starts processes"))]
)
def test_a_question_that_was_cut_short_is_asked_again(ten: Path, on: tuple[str, ...]) -> None:
    """q0 fails twice and succeeds at its third try; two calls keep nothing of it, and the same command asks anew."""
    arguments = ("run", "data", "--system", "limited:flaky", "--retries", 2, "--concurrency", 1, *on, "--json")
    done = inside(*arguments, "--max-calls", 2, cwd=ten, code=1)
    assert [done.object()[name] for name in ("answered", "failed", "missing", "cut_short")] == [0, 0, 10, 1]
    # The system counts calls over both commands, so q0 succeeds at once; q1 is left with two of its three tries.
    done = inside(*arguments, "--max-calls", 3, cwd=ten, code=1)
    assert (ten / "asked.txt").read_text().split() == ["q0"] * 3 + ["q1"] * 2
    assert [*records(ten, "flaky")] == ["q0"]
    assert [done.object()[name] for name in ("answered", "failed", "missing", "cut_short")] == [1, 0, 9, 1]


@pytest.mark.parametrize("limit", [("--max-calls", 0), ("--max-cost", 0), ("--max-time", "0s")])
def test_nothing_is_asked_within_nothing(ten: Path, limit: tuple[str, object]) -> None:
    """A limit of zero asks nothing, and leaves no file."""
    inside("run", "data", "--system", "limited:priced", *limit, cwd=ten, code=1)
    assert (asked(ten), [*(ten / "data" / "runs").glob("*")]) == (0, [])


def test_max_time(ten: Path) -> None:
    """Calls of .2 s one after the other: after .3 s no third begins."""
    inside("run", "data", "--system", "limited:slow", "--max-time", "300ms", "--concurrency", 1, cwd=ten, code=1)
    assert 1 <= asked(ten) <= 2
    assert len(records(ten, "slow")) == asked(ten)
    done = inside("run", "data", "--system", "limited:slow", "--max-time", "soon", cwd=ten, code=2)
    assert "--max-time takes a time such as 90s, 30min or 2h, not 'soon'" in done.err


def test_projection_to_the_dataset(ten: Path) -> None:
    """Two of ten questions at .3 are .6; the dataset of ten would be 3, not only what the filter picks."""
    arguments = ("--system", "limited:priced", "--where", "question in ('q0', 'q1')", "--json")
    cost = inside("run", "data", *arguments, cwd=ten).object()["cost"]
    assert [*cost.values()] == pytest.approx([0.6, 0.6, 3.0])


def test_dry_run(ten: Path) -> None:
    """Ten questions, two systems and two repetitions are 40 calls, less those kept; nothing is asked or written."""
    systems = ("--system", "limited:free", "--system", "limited:priced", "--repeat", 2)
    done = inside("run", "data", *systems, "--dry-run", "--json", cwd=ten)
    assert done.object()["calls"] == 40
    assert (asked(ten), (ten / "data" / "runs").exists()) == (0, False)
    inside("run", "data", *systems, "--max-calls", 7, cwd=ten, code=1)
    done = inside("run", "data", *systems, "--dry-run", "--retries", 1, cwd=ten)
    assert "free@1: 8 calls, 2 kept" in done.out
    assert "33 calls in all, and up to 33 more tries" in done.out
    inside("run", "data", "--system", "limited:failing", cwd=ten, code=2)
    for more, calls in (((), 0), (("--retry-failed",), 10)):
        found = inside("run", "data", "--system", "limited:failing", "--dry-run", "--json", *more, cwd=ten)
        assert found.object()["runs"]["failing"] == {"calls": calls, "kept": 10 - calls, "most_cost": None}


def test_where(ten: Path) -> None:
    """A filter picks the questions that are asked; without it the same run goes on with the others."""
    lines = [{"id": f"q{one}", "question": "?", "split": "dev" if one < 3 else "test"} for one in range(10)]
    write_lines(ten / "data" / "questions.jsonl", lines)
    arguments = ("run", "data", "--system", "limited:free", "--json")
    done = inside(*arguments, "--where", "split == 'dev'", cwd=ten)
    assert "note: over 3 of 10 questions, split == 'dev'" in done.err
    assert (done.object()["questions"], asked(ten)) == (3, 3)
    assert inside(*arguments, "--where", "split == 'dev'", "--dry-run", cwd=ten).object()["calls"] == 0
    assert inside(*arguments, cwd=ten).object()["questions"] == 10
    assert {*(ten / "asked.txt").read_text().split()[:3]} == {"q0", "q1", "q2"}  # at once, in any order
    assert asked(ten) == 10
    done = inside(*arguments, "--where", "EdgeRecall < 1", cwd=ten, code=2)
    assert "EdgeRecall is known once answers are scored" in done.err
