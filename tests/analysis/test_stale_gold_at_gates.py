"""Stale gold at gates: a mean without the questions whose gold went stale is another mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.cli import inside, write_lines
from tests.helpers.suites import one_fast

#: Twelve questions of two edges each; a run walks both edges for those from q9 on, and a wrong one for the others.
RIGHT = 9


def step(source: str, relation: str, target: str) -> dict[str, str]:
    """Return a step of a path."""
    return {"source": source, "relation": relation, "target": target}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A dataset in which the gold of q1 to q3 ends at a table that the graph no longer holds.

    A run with 4 right walks of 12: .33 over all questions, .44 over the nine whose gold isn't stale.
    """
    questions, edges, records = [], [], []
    for n in range(1, 13):
        path = [
            step(f"web:a{n}", "CALLS", f"api:b{n}"),
            step(f"api:b{n}", "READS", f"db:c{n}.old" if n <= 3 else f"db:c{n}"),
        ]
        questions.append({"id": f"q{n:02}", "question": "?", "paths": [{"steps": path}]})
        edges += [step(f"web:a{n}", "CALLS", f"api:b{n}"), step(f"api:b{n}", "READS", f"db:c{n}")]
        walk = path if n >= RIGHT else [step(f"web:a{n}", "CALLS", "api:other")]
        records.append({"run": "r", "question_id": f"q{n:02}", "answer": "x", "traversal": walk})
    write_lines(tmp_path / "d" / "questions.jsonl", questions)
    write_lines(tmp_path / "d" / "edges.jsonl", edges)
    write_lines(tmp_path / "d" / "runs" / "r.jsonl", records)
    worse = [{**one, "run": "s"} for one in records]
    write_lines(tmp_path / "d" / "runs" / "s.jsonl", worse)
    return tmp_path


GATE = ("-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.4")
LEFT_OUT = "3 of 12 questions left out, since their gold is stale: q01, q02, q03"


@one_fast(
    "out",
    [(), ("--out", "results"), ("--on", "processes=2", "--out", "results")],
    "commands for each kind of output",
    0,
)
def test_a_gate_fails_by_stale_gold(out: tuple[str, ...], world: Path) -> None:
    """The gate of .4 holds over the nine questions (4 of 9 right: .4444), and fails by the three others."""
    run = ("evaluate", "d/runs/r.jsonl", "--no-store", *GATE, *out)
    done = inside(*run, cwd=world, code=1)
    assert f"gate failed: r: {LEFT_OUT}; mend the gold, or accept it by --allow-stale 3" in done.err
    assert "stale     the gold of 3 of 12 questions is stale: no run is scored on them" in done.out
    assert "failed    r" not in done.out
    inside(*run, "--allow-stale", "2", cwd=world, code=1)
    held = inside(*run, "--allow-stale", "3", cwd=world, code=0)
    assert "2 gates passed" in held.out


def test_each_output_says_what_was_left_out(world: Path) -> None:
    """JSON, JUnit and Markdown hold the questions, the gate that failed, and the verdict with what it left out."""
    run = ("evaluate", "d/runs/r.jsonl", "--no-store", *GATE)
    [found] = inside(*run, "--json", "-o", "g.xml", "-o", "g.md", "-o", "g.json", cwd=world, code=1).objects()
    stale, gate = found["gates"]
    assert (found["invalid"], sorted(found["stale"])) == (3, ["q01", "q02", "q03"])
    assert (stale["gate"], stale["passed"], stale["bound"], stale["value"]) == ("fail-on-stale", False, 0, 3)
    assert (gate["gate"], gate["passed"], gate["what"]) == (
        "fail-under",
        True,
        "EdgeRecall is 0.4444; 3 of 12 questions left out (3 stale gold)",
    )
    assert LEFT_OUT in (world / "g.xml").read_text()
    assert LEFT_OUT in (world / "g.md").read_text()
    assert json.loads((world / "g.json").read_text())["runs"][0]["gates"] == found["gates"]


@pytest.mark.parametrize("how", ["files", "folders", "scores"])
def test_a_comparison_fails_by_stale_gold(how: str, world: Path) -> None:
    """The gates of compare fail by stale gold, over files, results folders and scores, unless it is allowed."""
    runs = ["d/runs/r.jsonl", "d/runs/s.jsonl"]
    more: tuple[str, ...] = ()
    if how != "files":
        ending = "" if how == "folders" else ".jsonl"
        for name in "rs":
            out = f"{name}{ending}"
            inside("evaluate", f"d/runs/{name}.jsonl", "--no-store", "-m", "EdgeRecall", "-o", out, cwd=world, code=0)
        runs = ["r", "s"]
        more = () if how == "folders" else ("--scores", "r.jsonl", "--scores", "s.jsonl")
    asked = ("compare", *runs, *more, "-m", "EdgeRecall", "--fail-on-drop", "0.1")
    assert LEFT_OUT in inside(*asked, cwd=world, code=1).err
    inside(*asked, "--allow-stale", "3", cwd=world, code=0)
    comment = inside(*asked, "--format", "github", cwd=world, code=1).out
    assert "fail-on-stale" in comment


def test_mended_gold(world: Path) -> None:
    """With the paths mended nothing is left out, and the gate fails by the mean: 4 of 12."""
    file = world / "d" / "questions.jsonl"
    file.write_text(file.read_text().replace(".old", ""))
    done = inside("evaluate", "d/runs/r.jsonl", "--no-store", *GATE, cwd=world, code=1)
    assert "r: EdgeRecall is 0.3333, under 0.4" in done.err


def test_reasons_of_the_question_stand_beside_the_verdict(world: Path) -> None:
    """Gold that crosses no boundary is left out by reason; what the run failed on isn't among these."""
    file = world / "d" / "questions.jsonl"
    inner = {"source": "api:b12", "relation": "CALLS", "target": "api:c12"}
    lines = file.read_text().splitlines()
    lines[-1] = json.dumps({"id": "q12", "question": "?", "paths": [{"steps": [inner]}]})
    file.write_text("\n".join(lines))
    with (world / "d" / "edges.jsonl").open("a") as stream:
        stream.write(json.dumps(inner) + "\n")
    asked = ("evaluate", "d/runs/r.jsonl", "--no-store", "--allow-stale", "3", "--json")
    [found] = inside(*asked, "--fail-under", "BoundaryRecall=0.1", cwd=world, code=0).objects()
    whats = [gate["what"] for gate in found["gates"] if gate["gate"] == "fail-under"]
    # q09 to q11 of q04 to q11 are right.
    left = "4 of 12 questions left out (3 stale gold, 1 gold crosses no repository boundary)"
    assert whats == [f"BoundaryRecall is 0.3750; {left}"]


def test_stale_gold_that_counts_as_zero(world: Path) -> None:
    """By `--missing-as zero` the three count: 4 of 12 is .3333. No sentence says that they are left out."""
    done = inside("evaluate", "d/runs/r.jsonl", "--no-store", *GATE, "--missing-as", "zero", cwd=world, code=1)
    counted = "is stale, and they count as 0 where that is the worst value (--missing-as zero): q01, q02, q03"
    assert f"r: the gold of 3 of 12 questions {counted}; mend the gold" in done.err
    assert "EdgeRecall is 0.3333 with 3 unscored as 0" in done.err
    assert "left out" not in done.out + done.err
    assert "no run is scored on them" not in done.out


def test_failures_without_a_value_to_count_in(world: Path) -> None:
    """Where every question failed nothing is scored, so none counts as the worst value, as the gate says, too."""
    records = [{"run": "r", "question_id": f"q{n:02}", "error": "timeout"} for n in range(1, 13)]
    write_lines(world / "d" / "runs" / "r.jsonl", records)
    done = inside("evaluate", "d/runs/r.jsonl", "--no-store", *GATE, "--allow-stale", "3", cwd=world, code=1)
    assert "EdgeRecall was scored on no question (9 failed)" in done.err
    shown = " ".join(done.out.split())
    assert "r 12 failed, 3 of them with stale gold, which don't count; no question was scored" in shown
    assert "they count as the worst value" not in shown
