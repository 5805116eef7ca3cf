"""Every unscored question counts as 0 on request: which means change, what says so, and what stays."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.analysis.board import board
from graphkit.analysis.config import Config
from graphkit.analysis.standings import standings
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.reason_counts import Left
from tests.helpers.cli import Row, inside, tiny, write_lines

WALK = ["a:m.py#x", "CALLS", "b:n.py#y"]
NOTE = "every unscored question counts as 0 where 0 is the worst value of the measure"


def four(folder: Path) -> Path:
    """Return a run that walks one of four questions; it logs no walk of one, fails on one, and one has no gold."""
    questions = [{"id": f"q{number}", "question": "?", "paths": [[WALK]], "category": "c"} for number in range(3)]
    answers: list[Row] = [
        {"run": "r", "question_id": "q0", "traversal": [WALK]},
        {"run": "r", "question_id": "q1", "answer": "?"},
        {"run": "r", "question_id": "q2", "error": "boom"},
        {"run": "r", "question_id": "q3", "traversal": [WALK]},
    ]
    return tiny(folder, [*questions, {"id": "q3", "question": "?", "category": "d"}], answers)


def test_every_reason_counts_as_zero(tmp_path: Path) -> None:
    """One of four walks right: 1 over the scored one, 1/4 over all; single values keep their reasons."""
    result = graphkit.evaluate(four(tmp_path), measures=["EdgeRecall"], failed_as="zero")
    summary = result.measures["EdgeRecall"]
    assert (summary.mean, summary.held("zero"), summary.zeros("zero")) == (1.0, 0.25, 3)
    assert result.sample("EdgeRecall") == [1.0, 0.0, 0.0, 0.0]
    assert result.as_json()["with_unscored"] == {"EdgeRecall": 0.25}
    assert [type(row.values[0]) for row in result.rows] == [float, str, str, str]
    # By default the failed and the unlogged one count, and nothing is said of zeros: 1 / 3.
    result = graphkit.evaluate(four(tmp_path / "again"), measures=["EdgeRecall"])
    assert result.measures["EdgeRecall"].held() == pytest.approx(1 / 3)
    assert result.measures["EdgeRecall"].held("failed") == 0.5
    assert "with_unscored" not in result.as_json()


def test_it_never_improves_a_mean() -> None:
    """Where 0 isn't the worst value failures count as that, and what was scored nowhere has no mean."""
    lower = Summary.of("HallucinationRate", [0.5], 1, 4, Left(failed=1))
    # .5 and the failed one as 1, over two; the other two stay out.
    assert (lower.held("zero"), lower.zeros("zero")) == (0.75, 0)
    nothing = Summary.of("EdgeRecall", [], 0, 4, Left(failed=1))
    assert (nothing.held("zero"), nothing.zeros("zero"), nothing.in_words("zero")) == (None, 0, "–")
    whole = Summary.of("EdgeRecall", [1.0, 0.5], 2, 2)
    assert (whole.held("zero"), whole.in_words("zero"), whole.counts("zero")) == (0.75, "0.7500", "2/2")


def test_every_output_says_so(tmp_path: Path) -> None:
    """The scoreboard, groups, Markdown, JSON, JUnit, gates and the default output show the mean over all, and why."""
    run = four(tmp_path)
    files = [tmp_path / name for name in ("r.md", "r.json", "r.xml")]
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--missing-as", "0")
    outputs = itertools.chain(*(("-o", file) for file in files))
    gate = ("--fail-under", "EdgeRecall=0.5")
    done = inside(*asked, "--full", "--by", "category", *gate, *outputs, cwd=tmp_path, code=1)
    shown = "1/4, 3 unscored as 0; 1.0000 over the 1 scored"
    assert "3 unscored as 0" in done.out
    assert f"r: {NOTE}" in done.out
    # Category c has the first three questions, one of them scored; in d nothing is.
    groups, *_ = [line.split() for line in done.out.partition("r by category")[2].splitlines() if "EdgeRecall" in line]
    assert groups[-4:] == ["0.3333", "(1/3)", "–", "(0/1)"]
    assert "EdgeRecall is 0.2500 with 3 unscored as 0; 1.0000 over the 1 scored, under 0.5" in done.err
    markdown = files[0].read_text()
    assert f"| EdgeRecall | 0.2500 ({shown}) |" in markdown
    assert NOTE in markdown
    [held] = json.loads(files[1].read_text())["runs"]
    assert (held["failed_as"], held["with_unscored"]) == ("zero", {"EdgeRecall": 0.25})
    assert held["gates"][0]["value"] == 0.25
    suite, _ = ElementTree.parse(files[2]).getroot()
    assert suite.find("properties/property[@name='failed_as']").get("value") == "zero"  # type: ignore[union-attr]
    brief = inside(*asked, cwd=tmp_path, code=0).out
    assert "these count as 0 (--missing-as 0): r EdgeRecall 3" in brief
    assert "EdgeRecall 0.25" in brief
    # Both names are of one option, so the last one decides.
    assert "count as 0" not in inside(*asked, "--failed-as", "unscored", cwd=tmp_path, code=0).out


def test_the_results_folder_keeps_it(tmp_path: Path) -> None:
    """Results in shards have the same mean and note, and are read back with them."""
    run = four(tmp_path)
    done = inside(
        *("evaluate", run, "--no-store", "-m", "EdgeRecall", "--missing-as", "0", "--full", "-o", "kept"),
        cwd=tmp_path,
        code=0,
    )
    assert "1/4, 3 unscored as 0" in done.out
    result = graphkit.read_results(tmp_path / "kept").evaluation()
    assert result.failed_as == "zero"
    assert result.measures["EdgeRecall"].held(result.failed_as) == 0.25


def test_runs_are_compared_by_the_same_zeros(tmp_path: Path) -> None:
    """A run that logs one walk is ahead by one of four, whichever questions the other leaves unscored."""
    first = four(tmp_path)
    second = first.with_name("s.jsonl")
    write_lines(second, [{"run": "s", "question_id": name, "traversal": [WALK]} for name in ("q0", "q1")])
    results = [graphkit.evaluate(run, measures=["EdgeRecall"], failed_as="zero") for run in (first, second)]
    compared = standings(results, ["EdgeRecall"]).differences[0, 1]["EdgeRecall"]
    assert (compared.first, compared.second, compared.delta) == pytest.approx((0.25, 0.5, 0.25))
    drawn = board(results, [], Config())
    [row] = (*drawn.others, *drawn.more)
    cell = row.cells[0]
    assert (cell.value, cell.whole, cell.counts) == (0.25, True, "1/4, 3 unscored as 0")
    done = inside(
        "evaluate", first, second, "--no-store", "-m", "EdgeRecall", "--missing-as", "0", cwd=tmp_path, code=0
    )
    assert "s and r don't clearly differ: EdgeRecall 0.50 to 0.25, +0.25 [" in done.out
