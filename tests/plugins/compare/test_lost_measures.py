"""A measure that the baseline was scored by and the candidate never: nothing shows that it isn't worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cli import Graph, inside, write_lines
from tests.helpers.suites import one_fast

#: So many questions show a regression of several measures.
QUESTIONS = 12


def record(run: str, number: int, **changes: Any) -> dict[str, Any]:
    """Return a record with a right walk, a ranking, a cost and a latency."""
    walk = [["web:a", "CALLS", f"api:b{number}"], [f"api:b{number}", "READS", "db:c"]]
    found = {"run": run, "question_id": f"q{number:02}", "answer": "x", "traversal": walk, "retrieved": ["api:b"]}
    return {**found, "cost": 0.01, "latency_ms": 5, **changes}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A dataset with a baseline, and candidates that each stopped logging something."""
    questions = []
    for number in range(QUESTIONS):
        steps = [
            {"source": "web:a", "relation": "CALLS", "target": f"api:b{number}"},
            {"source": f"api:b{number}", "relation": "READS", "target": "db:c"},
        ]
        questions.append({"id": f"q{number:02}", "question": "?", "paths": [{"steps": steps}], "relevant": ["api:b"]})
    write_lines(tmp_path / "d" / "questions.jsonl", questions)
    changed: dict[str, dict[str, Any]] = {
        "base": {},
        "same": {},
        "unordered": {"ordered": False},
        "unranked": {"retrieved": None},
        "costless": {"cost": None},
        "crashed": {"error": "timeout", "traversal": None, "retrieved": None},
    }
    for run, changes in changed.items():
        write_lines(tmp_path / "d" / "runs" / f"{run}.jsonl", [record(run, one, **changes) for one in range(QUESTIONS)])
    return tmp_path


CASES = [
    ("unordered", "PathPrefix", "the traversal is a set of edges: its order isn't known", ()),
    ("unranked", "RR", "the record has no retrieved chunks", ()),
    ("costless", "cost", "none of its records states it", ("--cost",)),
]


@pytest.mark.parametrize(("run", "measure", "why", "more"), CASES)
@one_fast("gate", [("--fail-on-regression",), ("--fail-on-drop", "0.5")], "six commands for each measure and gate", 0)
def test_a_lost_measure_fails(
    run: str, measure: str, why: str, more: tuple[str, ...], gate: tuple[str, ...], world: Path
) -> None:
    """Both gates name the measure and fail, the comment and JSON with them, unless the measure is allowed."""
    asked = ("compare", "d/runs/base.jsonl", f"d/runs/{run}.jsonl", "-m", "EdgeRecall", *more)
    asked += () if measure == "cost" else ("-m", measure)
    lost = f"{measure} is lost: base was scored on {QUESTIONS} questions, {run} on none ({why}"
    done = inside(*asked, *gate, cwd=world, code=1)
    assert f"{run}: {lost}" in done.err
    assert lost in inside(*asked, cwd=world, code=0).err  # a warning, without a gate
    comment = inside(*asked, *gate, "--format", "github", cwd=world, code=1).out
    assert f"- `{gate[0].removeprefix('--')} {measure}`: `{run}`: {measure} is lost: " in comment
    found = inside(*asked, *gate, "--json", cwd=world, code=1).object()
    assert [(one["measure"], one["scored"]) for one in found["lost"]] == [(measure, QUESTIONS)]
    assert [one["passed"] for one in found["gates"] if one["measure"] == measure] == [False]
    inside(*asked, *gate, "--allow-lost", measure, cwd=world, code=0)


@one_fast(
    ("run", "measure"),
    [("unordered", "PathPrefix"), ("unranked", "RR")],
    "eleven commands for each measure and gate",
    0,
)
@one_fast(
    "gate", [("--fail-on-regression",), ("--fail-on-drop", "0.5")], "eleven commands for each measure and gate", 0
)
def test_the_only_measure_is_lost(run: str, measure: str, gate: tuple[str, ...], world: Path) -> None:
    """The gate fails in each output; if the loss is allowed, it passes. Each output says that nothing is compared."""
    asked = ("compare", "d/runs/base.jsonl", f"d/runs/{run}.jsonl", "-m", measure, *gate)
    lost, nothing = f"{measure} is lost: base was scored on {QUESTIONS} questions", "nothing was compared"
    for allowed in ((), ("--allow-lost", measure)):
        code = 0 if allowed else 1
        for more in ((), ("--full",), ("--cost",), ("--format", "github"), ("--json",)):
            done = inside(*asked, *allowed, *more, cwd=world, code=code)
            shown = done.out + done.err
            assert lost in shown, more
            assert f"base and {run} can't be compared" in shown.replace("`", ""), more
        found = done.object()
        assert [(one["measure"], one["passed"]) for one in found["gates"][:2]] == [
            (measure, code == 0),
            (None, code == 0),
        ]
        assert nothing in found["gates"][1]["what"]
        assert (found["with_failed"], found["verdict"]["winner"]) == ([], None)
    # Without a gate there is nothing to fail, and the command that is named can be run.
    done = inside(*asked[: -len(gate)], cwd=world, code=0)
    assert lost in done.err
    assert f"graphkit failures d/runs/{run}.jsonl" in done.out


def test_what_is_no_loss(world: Path) -> None:
    """The same run loses nothing; a run that fails throughout fails by its failures, not by lost measures."""
    asked = ("compare", "d/runs/base.jsonl", "d/runs/same.jsonl", "--fail-on-regression", "--cost")
    assert inside(*asked, "--json", cwd=world, code=0).object()["lost"] == []
    crashed = ("compare", "d/runs/base.jsonl", "d/runs/crashed.jsonl", "-m", "EdgeRecall", "--fail-on-drop", "0.1")
    # Twelve right walks, and twelve failures that count as 0: 0 - 1 = -1.
    found = inside(*crashed, "--json", cwd=world, code=1).object()
    assert [one["delta"] for one in found["with_failed"]] == [-1.0]
    assert found["lost"] == []
    done = inside(*crashed, "--failed-as", "unscored", cwd=world, code=2)
    assert "no question was scored in both runs" in done.err
    assert "`graphkit failures d/runs/crashed.jsonl` shows why." in done.err
    inside("failures", "d/runs/crashed.jsonl", cwd=world, code=0)
    # A baseline without the order, and a candidate with it, loses nothing.
    turned = ("compare", "d/runs/unordered.jsonl", "d/runs/base.jsonl", "--fail-on-regression", "--json")
    assert inside(*turned, cwd=world, code=0).object()["lost"] == []


@pytest.mark.parametrize(("silent", "code"), [(2, 0), (3, 1)])
@one_fast(("figure", "field"), [("cost", "cost"), ("latency", "latency_ms")], "seven commands for each figure", 0)
def test_a_figure_that_some_records_leave_out(silent: int, code: int, figure: str, field: str, world: Path) -> None:
    """Of twelve questions, ten with a cost are five sixths, more than four fifths; nine are three quarters, fewer."""
    rows = [record("partly", one, **({field: None} if one < silent else {})) for one in range(QUESTIONS)]
    write_lines(world / "d" / "runs" / "partly.jsonl", rows)
    asked = ("compare", "d/runs/base.jsonl", "d/runs/partly.jsonl", "-m", "EdgeRecall", "--cost")
    gated = (*asked, "--fail-on-drop", "0.1")
    said = f"{figure}: partly states none for {silent} of {QUESTIONS} questions that base states it for (q00, q01"
    for more in ((), ("--full",), ("--format", "github")):
        done = inside(*gated, *more, cwd=world, code=code)
        assert said.partition(": ")[2].partition("(")[0] in " ".join(done.out.split()), more
        assert (f"{said}" in done.err) is bool(code), more
    found = inside(*gated, "--json", cwd=world, code=code).object()
    [outcome] = [one for one in found["gates"] if one["measure"] == figure]
    assert (outcome["passed"], outcome["value"]) == (not code, 1 - silent / QUESTIONS)
    assert outcome["name"] == f"min-scored {figure}=0.8"  # the share is a bound of its own, and no drop
    assert [len(one["silent"]) for one in found["cost"]["figures"] if one["figure"] == figure] == [silent]
    inside(*asked, cwd=world, code=0)
    inside(*gated, "--allow-lost", figure, cwd=world, code=0)
    # A failed question isn't silent.
    crashed = [{**one, "error": "timeout"} if one[field] is None else one for one in rows]
    write_lines(world / "d" / "runs" / "partly.jsonl", crashed)
    found = inside(*gated, "--max-failed", "3", "--json", cwd=world).object()
    assert not any(one["silent"] for one in found["cost"]["figures"])


def test_folders_and_scores(world: Path) -> None:
    """Results folders and score files lose a measure in the same way, also one that a folder doesn't hold at all."""
    for run in ("base", "unordered"):
        for out in (run, f"{run}.jsonl"):
            asked = ("evaluate", f"d/runs/{run}.jsonl", "--no-store", "-m", "EdgeRecall", "-m", "PathPrefix", "-o", out)
            inside(*asked, cwd=world, code=0)
    inside("evaluate", "d/runs/same.jsonl", "--no-store", "-m", "EdgeRecall", "-o", "same", cwd=world, code=0)
    files = ("--scores", "base.jsonl", "--scores", "unordered.jsonl")
    lost = f"unordered: PathPrefix is lost: base was scored on {QUESTIONS} questions"
    assert lost in inside("compare", "base", "unordered", "--fail-on-regression", cwd=world, code=1).err
    assert lost in inside("compare", "base", "unordered", *files, "--fail-on-regression", cwd=world, code=1).err
    done = inside("compare", "base", "same", "--fail-on-regression", cwd=world, code=1)
    assert "same: PathPrefix is lost" in done.err
    assert "its results don't hold this measure" in done.err
    inside("compare", "base", "same", "--fail-on-regression", "--allow-lost", "PathPrefix", cwd=world, code=0)
    # Folders without a common measure, and score files by one that is lost.
    inside("evaluate", "d/runs/unranked.jsonl", "--no-store", "-m", "RR", "-o", "ranks", cwd=world, code=0)
    done = inside("compare", "same", "ranks", "--fail-on-regression", cwd=world, code=1)
    assert "unranked: EdgeRecall is lost" in done.err
    only = ("compare", "base", "unordered", *files, "-m", "PathPrefix", "--fail-on-regression")
    assert lost in inside(*only, cwd=world, code=1).err
    inside(*only, "--allow-lost", "PathPrefix", cwd=world, code=0)


def test_runs_in_the_graph(graph: Graph, world: Path) -> None:
    """Runs in the graph lose it with the stored reason."""
    for run in ("base", "unordered"):
        inside("evaluate", f"d/runs/{run}.jsonl", cwd=world, env=graph.env, code=0)
    asked = ("compare", "base", "unordered", "--fail-on-regression")
    done = inside(*asked, cwd=world, env=graph.env, code=1)
    assert "PathPrefix is lost" in done.err
    assert "its order isn't known" in done.err
    inside(*asked, "--allow-lost", "PathPrefix", cwd=world, env=graph.env, code=0)
    only = (*asked, "-m", "PathPrefix")
    assert "its order isn't known" in inside(*only, cwd=world, env=graph.env, code=1).err
    assert "its order isn't known" in inside(*only, "--format", "github", cwd=world, env=graph.env, code=1).out
    inside(*only, "--allow-lost", "PathPrefix", cwd=world, env=graph.env, code=0)


def test_an_unknown_name_is_refused(world: Path) -> None:
    """A measure that isn't compared can't be allowed: the closest name is suggested."""
    asked = ("compare", "d/runs/base.jsonl", "d/runs/unordered.jsonl", "--fail-on-regression")
    done = inside(*asked, "--allow-lost", "PathPrefx", cwd=world, code=2)
    assert "--allow-lost names 'PathPrefx', which isn't compared" in done.err
    assert "Did you mean PathPrefix?" in done.err
