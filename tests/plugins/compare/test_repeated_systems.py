"""Gates and comparisons of a system with repetitions: the mean over them decides, and no repetition may keep silent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.scoring.repeated_systems import pooled_column, repeated_systems
from tests.helpers.cli import Done, inside, write_lines
from tests.plugins.compare.test_changed_gold import IDS, answer, dataset, gold


def repetition(name: str, right: Iterable[int], failed: Iterable[int] = ()) -> list[dict[str, Any]]:
    """Return records that walk the whole path of some of the ten questions, and half of it of the others."""
    right, failed = {*right}, {*failed}
    return [
        {"run": name, "question_id": question, "error": "timeout"}
        if number in failed
        else answer(name, question, 2 if number in right else 1)
        for number, question in enumerate(IDS)
    ]


#: Two repetitions are right throughout, one on half of the questions: means 1, 1 and .75, so .9167 over all.
UNEVEN = {"mine@1": range(10), "mine@2": range(10), "mine@3": range(5)}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A dataset of ten questions: base is right in all of three repetitions, mine in two."""
    dataset(tmp_path, [gold(one) for one in IDS])
    for number in (1, 2, 3):
        write_lines(tmp_path / f"runs/base@{number}.jsonl", repetition(f"base@{number}", range(10)))
    for name, right in UNEVEN.items():
        write_lines(tmp_path / f"runs/{name}.jsonl", repetition(name, right))
    return tmp_path


def evaluated(place: Path, *more: object, code: int = 0, runs: Iterable[str] = UNEVEN) -> Done:
    """Evaluate the repetitions by EdgeRecall, without a database."""
    files = [f"runs/{name}.jsonl" for name in runs]
    return inside("evaluate", *files, "--no-store", "-m", "EdgeRecall", *more, cwd=place, code=code)


def test_a_gate_holds_the_mean_over_repetitions(place: Path) -> None:
    """The mean is (1 + 1 + .75) / 3 = .9167: a bound of .9 passes although one repetition has .75, and .92 fails."""
    [gate] = json.loads(evaluated(place, "--fail-under", "EdgeRecall=0.9", "--json").out.splitlines()[0])["gates"]
    assert (gate["run"], gate["value"], gate["n"]) == ("mine", pytest.approx(2.75 / 3), 10)
    assert "the mean of 3 repetitions (0.7500 to 1.0000)" in gate["what"]
    assert "mine: EdgeRecall is 0.9167, under 0.92" in evaluated(place, "--fail-under", "EdgeRecall=0.92", code=1).err


def test_a_repetition_that_isnt_there_is_named(place: Path) -> None:
    """With @1 and @3 alone, the gate names @2, whose job may have died before its first record; with @2 it doesn't."""
    more = ("--fail-under", "EdgeRecall=0.95", "--json")
    done = evaluated(place, *more, runs=("mine@1", "mine@3"), code=1)
    assert "; there is no mine@2" in done.err
    assert "there is no" not in evaluated(place, *more, code=1).err
    (place / "runs/mine@2.jsonl").unlink()
    compared = inside("compare", "runs/base@1.jsonl", "runs/mine@*.jsonl", "-m", "EdgeRecall", cwd=place, code=0)
    assert "there is no mine@2" in compared.out


def test_scores_that_a_repetition_lacks(place: Path) -> None:
    """Given scores of two of three repetitions: the gate fails, and names the third."""
    rows = [{"run": run, "question_id": one, "measure": "Mine", "value": 1} for run in [*UNEVEN][:2] for one in IDS]
    file = write_lines(place / "given.jsonl", rows)
    done = evaluated(place, "--scores", file, "--fail-under", "Mine=0.9", code=1)
    assert "error: gate failed: mine: Mine has no score in mine@3\n" in done.err


def test_each_repetition_on_request(place: Path) -> None:
    """With --per-repetition the third one fails alone."""
    red = evaluated(place, "--fail-under", "EdgeRecall=0.9", "--per-repetition", code=1)
    assert "gate failed: mine@3: EdgeRecall is 0.7500, under 0.9\n" in red.err


def test_a_question_is_held_by_its_mean(place: Path) -> None:
    """A question that one of three repetitions has half of has 2.5 / 3 = .8333."""
    evaluated(place, "--fail-question", "EdgeRecall=0.83")
    red = evaluated(place, "--fail-question", "EdgeRecall=0.84", code=1)
    assert "EdgeRecall breaks the bound on 5 of 10 questions: q5: 0.8333, under 0.84" in red.err
    assert "graphkit why runs/mine@3.jsonl q5" in red.out


@pytest.mark.parametrize(("k", "share"), [(1, 25 / 30), (2, 20 / 30), (3, 0.5)])
def test_pass_k_by_hand(place: Path, k: int, share: float) -> None:
    """Five questions are right in 3 of 3 repetitions, five in 2 of 3: (5 + 5 C(2, k) / C(3, k)) / 10.

    That is (5 + 5 * 2/3) / 10, (5 + 5 * 1/3) / 10 and 5 / 10.
    """
    done = evaluated(place, "--fail-under", "EdgeRecall=0.1", "--pass-k", k, "--json")
    [gate] = json.loads(done.out.splitlines()[0])["gates"]
    assert gate["value"] == pytest.approx(share)
    assert f"pass^{k}" in gate["what"]


def test_pass_k_needs_repetitions(place: Path) -> None:
    """More than there are, a single run, no bound and single runs are refused."""
    for more, said in (
        (("--fail-under", "EdgeRecall=0.1", "--pass-k", 4), "pass^4 needs 4 repetitions, and mine has 3"),
        (("--pass-k", 2), "and there is none"),
        (("--fail-over", "EdgeRecall=2", "--pass-k", 2), "of which more is better"),
        (("--fail-under", "EdgeRecall=0.1", "--pass-k", 2, "--per-repetition"), "and --per-repetition each run"),
    ):
        assert said in evaluated(place, *more, code=2).err
    alone = evaluated(place, "--fail-under", "EdgeRecall=0.1", "--pass-k", 2, code=2, runs=["mine@1"])
    assert "pass^2 is of a system that several runs repeat, and mine@1 is one run" in alone.err


def test_a_repetition_that_fails_or_keeps_silent_counts_as_worst(place: Path) -> None:
    """The third repetition fails on five questions, or logs no traversal of any: 5 * 2/3 + 5 over 10, and 2/3."""
    write_lines(place / "runs/mine@3.jsonl", repetition("mine@3", range(10), failed=range(5)))
    red = evaluated(place, "--fail-under", "EdgeRecall=0.9", code=1)
    assert "EdgeRecall is 0.8333, under 0.9; the mean of 3 repetitions (0.5000 to 1.0000; 5 answers failed" in red.err
    silent = [{"run": "mine@3", "question_id": one, "traversal": None} for one in IDS]
    write_lines(place / "runs/mine@3.jsonl", silent)
    assert "EdgeRecall is 0.6667, under 0.9" in evaluated(place, "--fail-under", "EdgeRecall=0.9", code=1).err


def test_failures_are_counted_in_each_repetition(place: Path) -> None:
    """One repetition that fails on two questions breaks a limit of one, whatever the others do."""
    write_lines(place / "runs/mine@3.jsonl", repetition("mine@3", range(10), failed=range(2)))
    assert "mine@3: 2 questions failed or missing, 1 allowed" in evaluated(place, "--max-failed", 1, code=1).err


def test_severe_is_about_the_mean(place: Path) -> None:
    """EdgeRecall is severe under .5. One repetition without any edge has 0, and the mean of 1, 1 and 0 is .67."""
    write_lines(place / "runs/mine@3.jsonl", [{"run": "mine@3", "question_id": one, "traversal": []} for one in IDS])
    runs = [f"runs/{name}.jsonl" for name in UNEVEN]
    asked = ("evaluate", *runs, "--no-store", "--fail-on-severe")
    assert "mine@3: EdgeRecall is 0.0000, severe" in inside(*asked, "--per-repetition", cwd=place, code=1).err
    assert "EdgeRecall" not in inside(*asked, "--full", cwd=place).err.partition("gate failed")[2]


def test_junit_follows_the_system(place: Path) -> None:
    """The cases of a system don't depend on the number of repetitions; each holds the mean of the question."""

    def cases(runs: Iterable[str]) -> dict[str, str]:
        evaluated(place, "--fail-under", "EdgeRecall=0.1", "--junit", "j.xml", runs=runs)
        root = ElementTree.parse(place / "j.xml").getroot()
        return {
            f"{one.get('classname')} {one.get('name')}": one.findtext("system-out", "") for one in root.iter("testcase")
        }

    three, two = cases(UNEVEN), cases(["mine@1", "mine@3"])
    assert three.keys() == two.keys()
    name = f"{place.name} q9: EdgeRecall"
    assert float(three[name]) == pytest.approx(2.5 / 3)
    assert float(two[name]) == 0.75


def test_systems_are_compared_by_question(place: Path) -> None:
    """Five questions lose a sixth each, in one repetition of three, and five lose nothing: -.0833."""
    asked = ("compare", "runs/base@*.jsonl", "runs/mine@*.jsonl", "-m", "EdgeRecall", "--json")
    found = json.loads(inside(*asked, cwd=place).out)
    [result] = found["with_failed"]
    assert (result["delta"], result["questions"], result["losses"]) == (pytest.approx(-5 / 6 / 10), 10, 5)
    assert found["repeated"]["mine"] == "mine is the mean of 3 repetitions (EdgeRecall 0.7500 to 1.0000)"
    brief = inside(*asked[:-1], "--fail-on-drop", "0.05", cwd=place, code=1)
    assert "graphkit why runs/mine@3.jsonl q5" in brief.out


def test_a_candidate_loses_by_a_failed_repetition_and_a_baseline_does_not_gain(place: Path) -> None:
    """A failed answer of the candidate counts as 0 in the mean of its question, one of the baseline isn't counted."""
    write_lines(place / "runs/mine@3.jsonl", repetition("mine@3", range(10), failed=[0]))
    asked = ("compare", "runs/base@*.jsonl", "runs/mine@*.jsonl", "-m", "EdgeRecall", "--json")
    [result] = json.loads(inside(*asked, cwd=place).out)["with_failed"]
    assert result["delta"] == pytest.approx(-1 / 3 / 10)
    back = (asked[0], asked[2], asked[1], *asked[3:])
    [result] = json.loads(inside(*back, cwd=place).out)["with_failed"]
    assert result["delta"] == 0


@pytest.mark.slow("a database of its own")
def test_the_graph_and_files_agree(place: Path) -> None:
    """Runs in the graph are compared by the name of their system, with the same figures as their files."""
    write_lines(place / "runs/mine@2.jsonl", repetition("mine@2", range(10), failed=[0, 7]))
    files = ("compare", "runs/base@*.jsonl", "runs/mine@*.jsonl", "-m", "EdgeRecall", "--json")
    of_files = json.loads(inside(*files, cwd=place).out)
    database = {"GRAPHKIT_DB": str(place / "db")}
    inside("evaluate", *sorted((place / "runs").glob("*.jsonl")), "-m", "EdgeRecall", cwd=place, env=database)
    asked = ("compare", "base", "mine", "-m", "EdgeRecall", "--json")
    of_graph = json.loads(inside(*asked, cwd=place, env=database).out)
    for name in ("with_failed", "groups", "failed", "repeated", "verdict"):
        assert of_graph[name] == of_files[name], name
    told = inside(*asked[:-1], "--fail-on-drop", "0.01", cwd=place, env=database, code=1)
    assert "graphkit why mine@" in told.out
    # base is right throughout: so is the repetition that it holds itself.
    own = json.loads(inside("compare", "base", "base@1", *asked[3:], cwd=place, env=database).out)
    assert [(one["delta"], one["questions"]) for one in own["with_failed"]] == [(0, 10)]


def test_a_pattern_of_other_runs_is_refused(place: Path) -> None:
    """A pattern names the repetitions of one system."""
    said = inside("compare", "runs/*.jsonl", "runs/mine@*.jsonl", cwd=place, code=2).err
    assert "runs that don't repeat one system: base@1, base@2, base@3" in said
    said = inside("compare", "runs/none@*.jsonl", "runs/mine@*.jsonl", cwd=place, code=2).err
    assert "the pattern names no run log" in said


def test_a_baseline_and_a_job_hold_repetitions(place: Path) -> None:
    """`baseline save` keeps all repetitions, and `graphkit ci` takes a pattern: five questions lose a sixth each."""
    saved = inside("baseline", "save", "runs/base@*.jsonl", "--folder", "kept", cwd=place).out
    assert "saved base (10 of 10 questions answered, 3 repetitions)" in saved
    job = ("ci", "runs/mine@*.jsonl", "--baseline", "folder:kept", "--dry-run", "--json")
    told = ("--evaluate", "--fail-under EdgeRecall=0.9 -m EdgeRecall", "--compare", "-m EdgeRecall --fail-on-drop 0.05")
    red = inside(*job, *told, cwd=place, code=1)
    gates = {gate["name"]: gate for gate in json.loads(red.out)["gates"]}
    assert gates["fail-under EdgeRecall=0.9"]["passed"]
    assert gates["fail-on-drop EdgeRecall=0.05"]["value"] == pytest.approx(5 / 6 / 10)
    assert {gate["run"] for name, gate in gates.items() if name != "max-failed"} == {"mine"}


def test_one_count_in_the_library(place: Path) -> None:
    """The one result of a system has the mean of each question, and keeps a reason where no repetition has a value."""
    results = [graphkit.evaluate(place / f"runs/{name}.jsonl", measures=["EdgeRecall"]) for name in UNEVEN]
    [system] = repeated_systems(results)
    assert system.result.held("EdgeRecall") == pytest.approx(2.75 / 3)
    columns: list[dict[str, float | str]] = [{"q": "no gold", "r": 1.0}, {"q": "no gold", "r": "failed: timeout"}]
    assert pooled_column("EdgeRecall", columns) == {"q": "no gold", "r": 0.5}
    assert pooled_column("EdgeRecall", columns, "unscored") == {"q": "no gold", "r": 1.0}
