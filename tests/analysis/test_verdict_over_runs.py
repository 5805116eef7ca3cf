"""The verdict over several runs is one sentence in every output, with the reason where the interval excludes 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphkit
from graphkit.plugins.agents.workspace import Workspace
from graphkit.report import PageOptions, write_report
from tests.helpers.cli import inside, write_lines
from tests.helpers.pages import Page

COUNT = 12


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Twelve questions of one edge, of which the runs walk 12, 6 and 5.

    a beats b on six and loses on none: the p-value of the signs is 2 / 2^6 = .031, and the interval excludes 0; after
    correction over the three pairs of runs it is .094. By RR b wins the other six, with the same p-value: over both
    measures it is 1 - (1 - 2 / 2^6)^2 = .062.
    """
    edge = ("web:a", "CALLS", "api:b")
    names = [f"q{number:02}" for number in range(COUNT)]
    write_lines(
        tmp_path / "d" / "questions.jsonl",
        [{"id": one, "question": "?", "paths": [[edge]], "relevant": ["web:a"]} for one in names],
    )
    for run, right in (("a", 12), ("b", 6), ("c", 5)):
        walks = [[edge] if number < right else [("web:a", "CALLS", "api:z")] for number in range(COUNT)]
        rows = [{"run": run, "question_id": one, "traversal": walk} for one, walk in zip(names, walks, strict=True)]
        for number, row in enumerate(rows):
            row["retrieved"] = ["web:x" if run == "a" and number < 6 else "web:a"]
        write_lines(tmp_path / "d" / "runs" / f"{run}.jsonl", rows)
    return tmp_path


@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c")])
def test_each_output_of_an_evaluation(names: tuple[str, ...], world: Path) -> None:
    """Terminal, --full, --json, Markdown, JSON and JUnit have the same sentence, of two runs and of three."""
    three = len(names) == 3
    asked = ("evaluate", *(f"d/runs/{one}.jsonl" for one in names), "--no-store", "-m", "EdgeRecall")
    found = inside(*asked, "--json", cwd=world, code=0)
    verdicts = [json.loads(line)["verdict"] for line in found.out.splitlines()]
    assert all(one == verdicts[0] for one in verdicts)
    claim = "a and b don't clearly differ" if three else "a beats b"
    sentence, reason = verdicts[0]["sentence"], verdicts[0]["reason"]
    assert sentence.startswith(f"{claim}: EdgeRecall 1.00 to 0.50")
    assert (verdicts[0]["winner"], verdicts[0]["measure"]) == (None if three else "a", "EdgeRecall")
    assert sentence.endswith(", of 3 runs") is three
    over = "unclear after correction over 1 measure that differs and 3 pairs of runs (p 0.09), "
    over += "though the interval excludes 0"
    assert reason == (over if three else None)
    out = [word for ending in ("md", "json", "xml", "summary.json") for word in ("-o", f"r.{ending}")]
    brief = " ".join(inside(*asked, *out, cwd=world, code=0).out.split())
    full = inside(*asked, "--full", cwd=world, code=0).out
    for text in (brief, full, (world / "r.md").read_text().replace("\\", ""), (world / "r.xml").read_text()):
        plain = text.replace("&apos;", "'")
        assert sentence in plain
        assert ((reason or over).removeprefix("unclear ") in plain) is three
    for ending in ("json", "summary.json"):
        assert json.loads((world / f"r.{ending}").read_text())["verdict"] == verdicts[0]


def test_one_run_has_no_verdict_over_runs(world: Path) -> None:
    """Nothing is added for one run."""
    asked = ("evaluate", "d/runs/a.jsonl", "--no-store", "-m", "EdgeRecall", "-o", "r.json")
    assert "verdict" not in inside(*asked, "--json", cwd=world, code=0).object()
    assert [*json.loads((world / "r.json").read_text())] == ["runs", "made"]


def test_page_notebook_and_mcp_say_why(world: Path) -> None:
    """The verdict of page and board, and the reply to an agent, say why the difference is unclear."""
    files = [world / "d" / "runs" / f"{one}.jsonl" for one in "abc"]
    page = Page(write_report(files, world / "r.html", PageOptions()).read_text("utf-8"))
    why = "nclear after correction over"
    assert why in " ".join(page.text.split())
    assert why in graphkit.board([graphkit.evaluate(one, measures=["EdgeRecall"]) for one in files]).verdict
    reply = Workspace(world / "d", None).compare("runs/b.jsonl", "runs/a.jsonl", measures=["EdgeRecall", "RR"])
    head = json.loads(reply.splitlines()[0])
    assert "unclear after correction over 2 measures that differ" in head["unclear"]
