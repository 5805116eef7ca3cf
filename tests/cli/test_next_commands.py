"""What to type next after a red gate: why of the question that lost most of the measure that failed."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.cli import Row, inside, tiny, write_lines
from tests.helpers.datasets import read_jsonl

GOLD = [["a:m.py#x", "CALLS", f"a:m.py#{number}"] for number in range(4)]
QUESTIONS: list[Row] = [
    {"id": f"q{number}", "question": "?", "paths": [GOLD], "relevant": {"a:m.py#0": 1}} for number in range(4)
]


def run(folder: Path, counts: tuple[int | None, ...], name: str = "r", ranks: tuple[int, ...] = (1, 1, 1, 1)) -> Path:
    """Write a run in which each question is walked by so many of four edges; its relevant id is at a rank."""
    answers: list[Row] = []
    for question, count, rank in zip(QUESTIONS, counts, ranks, strict=True):
        retrieved = [*(f"a:m.py#n{place}" for place in range(rank - 1)), "a:m.py#0"]
        answer = {"error": "503"} if count is None else {"traversal": GOLD[:count], "retrieved": retrieved}
        answers.append({"run": name, "question_id": question["id"], **answer})
    tiny(folder, QUESTIONS, ())
    return write_lines(folder / "runs" / f"{name}.jsonl", answers)


def following(out: str) -> list[str]:
    """Return the commands of an output."""
    return [line.split(maxsplit=1)[1] for line in out.splitlines() if line.startswith("next")]


def after(folder: Path, *arguments: object, code: int = 1) -> list[str]:
    """Return what a command says to type next; without its folder."""
    return [line.replace(f"{folder}/", "") for line in following(inside(*arguments, cwd=folder, code=code).out)]


def test_the_question_that_lost_most_of_the_measure(tmp_path: Path) -> None:
    """EdgeRecall is 1, 3/4, 1/4, 1: q2 lost most of it. By RR, 1/2 of q1, it is q1, which misses an edge, too."""
    file = run(tmp_path, (4, 3, 1, 4), ranks=(1, 2, 1, 1))
    edges, ranks = ("--fail-under", "EdgeRecall=0.9"), ("--fail-under", "RR=0.9")
    asked = ("evaluate", file, "--no-store")
    assert after(tmp_path, *asked, *edges) == ["graphkit why runs/r.jsonl q2"]
    assert after(tmp_path, *asked, *ranks) == ["graphkit why runs/r.jsonl q1"]
    # With -m there is no diagnosis; the failed measure is enough.
    assert after(tmp_path, *asked, "-m", "EdgeRecall", *edges) == ["graphkit why runs/r.jsonl q2"]
    assert after(tmp_path, *asked, "-m", "RR", "-m", "EdgeRecall", *edges) == ["graphkit why runs/r.jsonl q2"]
    # A bound that is too low for fail-over is broken most by the highest value in which something is wrong: 3/4.
    assert after(tmp_path, *asked, "-m", "EdgeRecall", "--fail-over", "EdgeRecall=0.1") == [
        "graphkit why runs/r.jsonl q1"
    ]


def test_a_question_in_which_nothing_is_wrong_is_not_named(tmp_path: Path) -> None:
    """q3 alone lost RR, and why finds nothing wrong in it: its relevant id was retrieved, at rank 2. The page is left.

    Without a traversal q2 counts as 0 of EdgeRecall, but why knows no edge that it missed: q1, with 3/4, is named.
    """
    other = run(tmp_path, (4, 4, 4, 4), "s")
    file = run(tmp_path, (4, 4, 4, 4), ranks=(1, 1, 1, 2))
    assert after(tmp_path, "evaluate", file, "--no-store", "--fail-under", "RR=0.9") == ["graphkit report runs/r.jsonl"]
    assert after(tmp_path, "compare", other, file, "-m", "RR", code=0) == ["graphkit failures runs/r.jsonl"]
    answers = read_jsonl(run(tmp_path, (4, 3, 4, 4)))
    del answers[2]["traversal"]
    write_lines(file, answers)
    edges = ("--fail-under", "EdgeRecall=0.9")
    assert after(tmp_path, "evaluate", file, "--no-store", *edges) == ["graphkit why runs/r.jsonl q1"]


def test_failed_questions_come_by_their_gate(tmp_path: Path) -> None:
    """The gate on failures leads to the list of them; a mean that they make low leads to one of them."""
    file = run(tmp_path, (4, 4, None, 3))
    asked = ("evaluate", file, "--no-store", "-m", "EdgeRecall")
    assert after(tmp_path, *asked, "--max-failed", "0") == ["graphkit failures runs/r.jsonl --kind failed-questions"]
    assert after(tmp_path, *asked, "--fail-under", "EdgeRecall=0.9") == ["graphkit why runs/r.jsonl q2"]


def test_the_run_of_the_gate(tmp_path: Path) -> None:
    """Of two runs the one that failed is explained, and not the better one."""
    first, second = run(tmp_path, (4, 4, 4, 4), "good"), run(tmp_path, (4, 4, 0, 4), "bad")
    commands = after(tmp_path, "evaluate", first, second, "--no-store", "--fail-under", "EdgeRecall=0.9")
    assert commands[0] == "graphkit why runs/bad.jsonl q2"


def test_compare_names_the_loss_by_the_failed_measure(tmp_path: Path) -> None:
    """b loses 1/2 of EdgeRecall on q1 and 1/4 on q3, and 2/3 of RR on q3: the gate that failed decides."""
    first = run(tmp_path, (4, 4, 4, 4), "a")
    second = run(tmp_path, (4, 2, 4, 3), "b", ranks=(1, 1, 1, 3))
    asked = ("compare", first, second, "-m", "EdgeRecall", "-m", "RR")
    # The means fall by 3/16 = .1875 and, as RR is 1/3, 1/6 = .1667.
    assert after(tmp_path, *asked, "--fail-on-drop", "RR=0.1") == ["graphkit why runs/b.jsonl q3"]
    assert after(tmp_path, *asked, "--fail-on-drop", "EdgeRecall=0.1") == ["graphkit why runs/b.jsonl q1"]
    # Without a gate, a loss by any measure is better than none.
    assert after(tmp_path, "compare", first, second, "-m", "Success@1", "-m", "RR", code=0) == [
        "graphkit why runs/b.jsonl q3"
    ]


def test_compare_names_what_failed(tmp_path: Path) -> None:
    """A question that only the second run failed on leads to the list of failed ones, or counts as its loss."""
    first, second = run(tmp_path, (4, 4, 4, 4), "a"), run(tmp_path, (4, 3, None, 4), "b")
    asked = ("compare", first, second, "-m", "EdgeRecall")
    assert after(tmp_path, *asked, "--max-failed", "0") == ["graphkit failures runs/b.jsonl --kind failed-questions"]
    assert after(tmp_path, *asked, "--fail-on-drop", "0.1") == ["graphkit why runs/b.jsonl q2"]
