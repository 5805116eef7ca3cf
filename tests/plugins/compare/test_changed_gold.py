"""Comparisons with a baseline that was asked other questions, or scored by other gold."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.compare.gold_renames import record_renames, recorded_renames
from tests.helpers.cli import Done, inside, write_lines

#: Ten questions, each with a path of two edges in one file each.
IDS = [f"q{number}" for number in range(10)]

Question = dict[str, Any]


def gold(question: str, *, steps: int = 2, folder: str = "src", **more: Any) -> Question:
    """Return a question whose path has so many edges from a to b to c."""
    names = [f"web:{folder}/{question}{letter}.py" for letter in "abc"]
    edges = [{"source": one, "relation": "CALLS", "target": two} for one, two in zip(names, names[1:], strict=False)]
    return {"id": question, "question": "?", "paths": [{"steps": edges[:steps]}], **more}


def answer(run: str, question: str, steps: int = 2, folder: str = "src") -> dict[str, Any]:
    """Return a record that walks the first edges of the gold path."""
    [path] = gold(question, steps=steps, folder=folder)["paths"]
    return {"run": run, "question_id": question, "traversal": path["steps"]}


def dataset(folder: Path, questions: list[Question], held: str = "src") -> Path:
    """Write a dataset whose graph holds the artifacts of all questions under one folder."""
    names = [f"web:{held}/{question}{letter}.py" for question in [*IDS, "n0", "n1"] for letter in "abc"]
    write_lines(folder / "questions.jsonl", questions)
    write_lines(folder / "artifacts.jsonl", [{"id": name} for name in names])
    return folder


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., Done]:
    """Return a function that compares a baseline which is right with another run, each over its own questions."""

    def compare(
        later: list[Question], candidate: list[Mapping[str, Any]], *more: object, code: int, held: str = "src"
    ) -> Done:
        old = dataset(tmp_path / "old", [gold(one) for one in IDS])
        new = dataset(tmp_path / "new", later, held)
        write_lines(old / "runs/base.jsonl", [answer("base", one) for one in IDS])
        write_lines(new / "runs/mine.jsonl", [dict(one) for one in candidate])
        asked = ("compare", old / "runs/base.jsonl", new / "runs/mine.jsonl", "-m", "EdgeRecall", "--json")
        return inside(*asked, "--baseline-dataset", old, "--fail-on-drop", "0", *more, cwd=tmp_path, code=code)

    return compare


def test_new_questions_do_not_decide(compared: Callable[..., Done]) -> None:
    """The run loses an edge of q0 (1 to .5, so -.05 over ten) and is right on two new questions, which stand apart."""
    later = [gold(one) for one in [*IDS, "n0", "n1"]]
    run = [answer("mine", one, 1 if one == "q0" else 2) for one in [*IDS, "n0", "n1"]]
    found = compared(later, run, code=1).object()
    [result] = found["with_failed"]
    assert (result["questions"], result["delta"]) == (10, pytest.approx(-0.05))
    assert found["apart"] == {"EdgeRecall": {"mean": 1.0, "questions": 2}}
    assert found["gold_change"]["added"] == ["n0", "n1"]


def test_removed_gold_that_the_run_misses(compared: Callable[..., Done]) -> None:
    """The second edge of q0 isn't walked, and no longer gold: that of the baseline decides, unless told otherwise."""
    later = [gold(one, steps=1 if one in ("q0", "q1") else 2) for one in IDS]
    run = [answer("mine", one, 1 if one == "q0" else 2) for one in IDS]
    done = compared(later, run, code=1)
    gates = {gate["gate"]: gate for gate in done.object()["gates"]}
    assert (gates["gold"]["passed"], gates["fail-on-drop"]["passed"]) == (False, False)
    assert gates["fail-on-drop"]["value"] == pytest.approx(0.05)
    assert "gold that mine misses was removed: q0;" in gates["gold"]["what"]
    [zero, one] = done.object()["gold_change"]["changed"]
    edge = "web:src/q0b.py -CALLS-> web:src/q0c.py"
    assert (zero["removed"], zero["missed"], zero["added"]) == ([edge], [edge], [])
    assert (one["question"], one["missed"]) == ("q1", [])
    meant = compared(later, run, "--gold-changed", code=0).object()
    assert [gate["passed"] for gate in meant["gates"]] == [True, True, True]
    # By the new gold both are right on q0 and q1.
    assert [one["delta"] for one in meant["with_failed"]] == [0.0]


def test_removed_gold_that_the_run_walks_is_only_stated(compared: Callable[..., Done]) -> None:
    """Everything is walked as before: the gate passes, and says what was removed."""
    later = [gold(one, steps=1 if one == "q0" else 2) for one in IDS]
    done = compared(later, [answer("mine", one) for one in IDS], code=0)
    [told] = [gate["what"] for gate in done.object()["gates"] if gate["gate"] == "gold"]
    assert told == (
        "gold differs from the baseline's: 1 question with other gold (q0); both runs are scored by the baseline's gold"
    )


def test_a_removed_question_is_missed_as_a_whole(compared: Callable[..., Done]) -> None:
    """Nobody asked the run q9, which the baseline solved."""
    left = [one for one in IDS if one != "q9"]
    done = compared([gold(one) for one in left], [answer("mine", one) for one in left], code=1)
    assert "gold that mine misses was removed: q9" in done.err
    compared([gold(one) for one in left], [answer("mine", one) for one in left], "--gold-changed", code=0)


@pytest.mark.parametrize("changed", [{"optional": True}, {"relation": None}])
def test_weaker_steps_are_removed_gold(compared: Callable[..., Done], changed: dict[str, Any]) -> None:
    """A required step that became optional, or lost its relation, asks for less."""
    later = [gold(one) for one in IDS]
    later[0]["paths"][0]["steps"][1] |= changed
    compared(later, [answer("mine", one, 1 if one == "q0" else 2) for one in IDS], code=1)
    done = compared(later, [answer("mine", one) for one in IDS], code=0)
    assert [one["question"] for one in done.object()["gold_change"]["changed"]] == ["q0"]


def test_gold_of_a_side_is_named_with_it(tmp_path: Path) -> None:
    """Gold at v1 became gold at v2: the run, which walks the edge at v2 alone, misses what was removed."""
    edge, later = ("web:a.py", "CALLS", "api:b.py"), tmp_path / "new"
    commits = [{"repo": "api", "sha": sha * 40, "tags": [f"v{sha}"]} for sha in "12"]
    sides = {"old": ("v1", "v2"), "new": ("v2", "v2")}
    for name, tags in sides.items():
        paths = [{"commits": {"api": tag}, "steps": [list(edge)]} for tag in tags]
        write_lines(tmp_path / name / "questions.jsonl", [{"id": "q", "question": "?", "paths": paths}])
        write_lines(tmp_path / name / "commits.jsonl", commits)
        step = dict(zip(("source", "relation", "target"), edge, strict=True)) | {"target_commit": "2" * 40}
        write_lines(tmp_path / name / "runs/r.jsonl", [{"run": name, "question_id": "q", "traversal": [step]}])
    asked = ("compare", tmp_path / "old/runs/r.jsonl", later / "runs/r.jsonl", "-m", "EdgeRecall", "--json")
    done = inside(*asked, "--baseline-dataset", tmp_path / "old", "--fail-on-drop", "0", cwd=tmp_path, code=1)
    [change] = done.object()["gold_change"]["changed"]
    text = "web:a.py -CALLS-> api:b.py at api v1"
    assert (change["removed"], change["added"], change["missed"]) == ([text], [], [text])


def test_the_order_of_steps_is_gold(compared: Callable[..., Done]) -> None:
    """q0 is walked backwards and its gold was turned round, q1 became two paths: both are scored as they were."""
    later, run = [gold(one) for one in IDS], [answer("mine", one) for one in IDS]
    for steps in (later[0]["paths"][0]["steps"], run[0]["traversal"]):
        steps.reverse()
    later[1]["paths"] = [{"steps": [step]} for step in later[1]["paths"][0]["steps"]]
    found = compared(later, run, "-m", "PathPrefix", code=1).object()
    [zero, one] = found["gold_change"]["changed"]
    edges = ["web:src/q0a.py -CALLS-> web:src/q0b.py", "web:src/q0b.py -CALLS-> web:src/q0c.py"]
    assert (zero["removed"], zero["added"]) == ([f"path {', '.join(edges)}"], [f"path {', '.join(edges[::-1])}"])
    assert (one["question"], len(one["added"])) == ("q1", 2)
    [prefix] = [one for one in found["with_failed"] if one["measure"] == "PathPrefix"]
    # Of q0 the first step alone is walked in its order, 1 of 2: a loss of .5 in one of ten questions.
    assert prefix["delta"] == pytest.approx(-0.05)


def test_recorded_renames_map_the_baselines_gold(compared: Callable[..., Done], tmp_path: Path) -> None:
    """All files moved from src to lib: with the renames neither run loses, and gold differs by names alone."""
    moved = {f"web:src/{one}{letter}.py": f"web:lib/{one}{letter}.py" for one in IDS for letter in "abc"}
    (tmp_path / "new").mkdir()
    record_renames(tmp_path / "new", moved)
    later = [gold(one, folder="lib", commits={"web": "2"}) for one in IDS]
    found = compared(later, [answer("mine", one, folder="lib") for one in IDS], code=0, held="lib").object()
    assert (found["gold_change"]["changed"], found["incomplete"]) == ([], [])
    assert found["gold_change"]["renamed"] == moved
    [told] = [gate["what"] for gate in found["gates"] if gate["gate"] == "gold"]
    # Three files of each of ten questions.
    assert "30 names renamed (web:src/q0a.py to web:lib/q0a.py, " in told
    assert [(one["questions"], one["delta"]) for one in found["with_failed"]] == [(10, 0.0)]
    worse = [answer("mine", one, 1 if one == "q0" else 2, folder="lib") for one in IDS]
    found = compared(later, worse, code=1, held="lib").object()
    assert [one["delta"] for one in found["with_failed"]] == [pytest.approx(-0.05)]
    # Weakened and moved at once: the removed edge is named under its new names.
    later[0] = gold("q0", steps=1, folder="lib", commits={"web": "2"})
    found = compared(later, worse, code=1, held="lib").object()
    assert found["gold_change"]["changed"][0]["missed"] == ["web:lib/q0b.py -CALLS-> web:lib/q0c.py"]
    assert [one["delta"] for one in found["with_failed"]] == [pytest.approx(-0.05)]


@pytest.mark.parametrize("wrong", ["web:src/n0c.py", "web:src/wrong.py"])
def test_a_rename_that_is_none_hides_no_loss(compared: Callable[..., Done], tmp_path: Path, wrong: str) -> None:
    """The change calls the ends of q0 and q1 what its run walks to: a file that there was before, or one for both."""
    (tmp_path / "new").mkdir()
    record_renames(tmp_path / "new", {f"web:src/{one}c.py": wrong for one in ("q0", "q1")})
    later, run = [gold(one) for one in IDS], [answer("mine", one) for one in IDS]
    for number in (0, 1):
        later[number]["paths"][0]["steps"][1]["target"] = wrong
        run[number]["traversal"] = later[number]["paths"][0]["steps"]
    found = compared(later, run, code=1).object()
    gates = {gate["gate"]: gate for gate in found["gates"]}
    assert "gold that mine misses was removed: q0, q1;" in gates["gold"]["what"]
    # Each loses one of two edges: 2 * .5 / 10.
    assert gates["fail-on-drop"]["value"] == pytest.approx(0.1)
    assert found["gold_change"]["renamed"] == {}


def test_names_that_nothing_maps_are_incomplete(compared: Callable[..., Done]) -> None:
    """q0 moved without a record: it isn't compared, by name; when all moved, nothing is left of the baseline."""
    later = [gold(one, folder="lib" if one == "q0" else "src") for one in IDS]
    run = [answer("mine", one, folder="lib" if one == "q0" else "src") for one in IDS]
    old_names = compared(later, run, code=1)  # the graph still holds the old files, so their gold is missed
    assert "gold that mine misses was removed: q0" in old_names.err
    assert "or record new names by `graphkit gold migrate`" in old_names.err
    later = [gold(one, folder="lib") for one in IDS]
    run = [answer("mine", one, folder="lib") for one in IDS]
    done = compared(later, run, code=1, held="lib")
    assert "the baseline can be scored on 0 of 10" in done.err
    assert "nothing was compared" in done.err


def test_a_run_of_the_same_name(tmp_path: Path) -> None:
    """The baseline of a run has its name: with a dataset of its own it is told apart."""
    for name in ("old", "new"):
        dataset(tmp_path / name, [gold(one) for one in IDS])
        write_lines(tmp_path / name / "runs/mine.jsonl", [answer("mine", one) for one in IDS])
    asked = ("compare", tmp_path / "old/runs/mine.jsonl", tmp_path / "new/runs/mine.jsonl", "--json")
    found = inside(*asked, "--baseline-dataset", tmp_path / "old", cwd=tmp_path, code=0).object()
    assert (found["first"], found["second"]) == ("mine (baseline)", "mine")
    assert "different questions" in inside(*asked, cwd=tmp_path, code=2).err


def test_other_gold_in_results_folders(tmp_path: Path) -> None:
    """Results don't hold their gold, so any difference fails a gate, unless it is meant."""
    for name, steps in (("old", 2), ("new", 1)):
        folder = dataset(tmp_path / name, [gold(one, steps=steps if one == "q0" else 2) for one in IDS])
        write_lines(folder / "runs/r.jsonl", [answer(name, one) for one in IDS])
        inside(
            "evaluate", folder / "runs/r.jsonl", "--no-store", "-m", "EdgeRecall", "--out", f"{name}-r", cwd=tmp_path
        )
    asked = ("compare", tmp_path / "old-r", tmp_path / "new-r", "--fail-on-drop", "0.5")
    done = inside(*asked, cwd=tmp_path, code=1)
    assert "gold of 1 question differs, not compared: q0; compare the run files" in done.err
    inside(*asked, "--gold-changed", cwd=tmp_path, code=0)


def test_renames_are_read_to_the_latest_name(tmp_path: Path) -> None:
    """a moved to b and b to c, so a is c now; c moved back to a ends where it began."""
    record_renames(tmp_path, {"a": "b"})
    record_renames(tmp_path, {"b": "c", "x": "y"})
    assert recorded_renames(tmp_path) == {"a": "c", "b": "c", "x": "y"}
    record_renames(tmp_path, {"c": "a"})
    assert recorded_renames(tmp_path) == {"b": "a", "c": "a", "x": "y"}
    (tmp_path / "renames.jsonl").write_text('{"old": "a"}\n')
    new = dataset(tmp_path / "new", [gold(one) for one in IDS])
    shutil.copy(tmp_path / "renames.jsonl", new)
    old = dataset(tmp_path / "old", [gold(one) for one in IDS])
    for folder, run in ((old, "base"), (new, "mine")):
        write_lines(folder / f"runs/{run}.jsonl", [answer(run, one) for one in IDS])
    asked = ("compare", old / "runs/base.jsonl", new / "runs/mine.jsonl", "--baseline-dataset", old)
    assert "renames.jsonl:1" in inside(*asked, cwd=tmp_path, code=2).err


def test_the_cases_of_a_teams_first_ci(ci_data: Path, tmp_path: Path) -> None:
    """The right results of the data's README, by hand there: .9722 to .7361, 0 wins and 7 losses, 2/128 = .0156."""
    runs, regression = ci_data / "runs", ("--fail-on-regression", "--json")

    def compare(first: str, second: Path, *more: object, code: int) -> dict[str, Any]:
        return inside("compare", runs / f"{first}.jsonl", second, *more, *regression, cwd=tmp_path, code=code).object()

    def edge_recall(found: dict[str, Any]) -> tuple[float, float, float, int, int]:
        one = next(one for one in found["with_failed"] if one["measure"] == "EdgeRecall")
        figures = (round(one[name], 4) for name in ("first", "second", "p_corrected"))
        return (*figures, one["wins"], one["losses"])

    worse = (0.9722, 0.7361, 0.0156, 0, 7)
    assert edge_recall(compare("good", runs / "worse.jsonl", code=1)) == worse
    for kind, run, base in (("grown", "grown-new", "grown-base"), ("weakened", "worse", "good")):
        folder = tmp_path / kind
        (folder / "runs").mkdir(parents=True)
        shutil.copy(ci_data / f"questions-{kind}.jsonl", folder / "questions.jsonl")
        for name in ("artifacts.jsonl", "edges.jsonl"):
            shutil.copy(ci_data / name, folder)
        later = Path(shutil.copy(runs / f"{run}.jsonl", folder / "runs"))
        assert edge_recall(compare(base, later, "--baseline-dataset", ci_data, code=1)) == worse
    part = compare("crashed-base", runs / "worse.jsonl", code=1)
    assert [gate["what"].partition(";")[0] for gate in part["gates"] if not gate["passed"]] == [
        "the baseline answered 6 of 12"
    ]
    allowed = compare("crashed-base", runs / "worse.jsonl", "--partial-baseline", code=0)
    assert edge_recall(allowed)[2:] == (0.0625, 0, 5)
    grown = compare("grown-base", tmp_path / "grown/runs/grown-new.jsonl", "--dataset", tmp_path / "grown", code=1)
    assert "the baseline answered 12 of 20" in json.dumps(grown["gates"])
