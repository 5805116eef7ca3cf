"""``graphkit evaluate`` with the graph: what it keeps there, and what the graph computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, graphkit, inside, tiny

STOREFRONT = ROOT / "fixtures" / "storefront"


def test_evaluated_run_is_kept(graph: Graph, tmp_path: Path) -> None:
    """The dataset and the run are in the graph afterwards, and a second evaluation gives and keeps the same."""
    run = tiny(tmp_path)
    first = graphkit("evaluate", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, env=graph.env, code=0)
    assert first.object()["measures"]["EdgeRecall"]["mean"] == 0.75
    held = graph.counts()
    # Two questions with a gold path each of 3 edges in all; two answers with a walked edge each; 3 chunks.
    assert {kind: held[kind] for kind in ("Question", "GoldPath", "GOLD", "Run", "Answer", "Chunk", "TRAVERSED")} == {
        "Question": 2,
        "GoldPath": 2,
        "GOLD": 3,
        "Run": 1,
        "Answer": 2,
        "Chunk": 3,
        "TRAVERSED": 2,
    }
    second = graphkit("evaluate", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, env=graph.env, code=0)
    assert second.out == first.out
    assert graph.counts() == held


def test_changed_run_replaces_the_former(graph: Graph, tmp_path: Path) -> None:
    """A run of the same name and dataset is replaced as a whole."""
    questions = [{**one, "id": f"changed-{one['id']}"} for one in QUESTIONS]
    answers = [{**one, "run": "changing", "question_id": f"changed-{one['question_id']}"} for one in ANSWERS]
    for kept in (answers, answers[1:]):
        graphkit("evaluate", tiny(tmp_path, questions, kept), cwd=tmp_path, env=graph.env, code=0)
        found = graph.store.read("MATCH (a:Answer {run: 'changing'}) RETURN a.question AS question ORDER BY question")
        assert [row["question"] for row in found] == [one["question_id"] for one in kept]


def test_means_by_group(graph: Graph, tmp_path: Path) -> None:
    """The means within each difficulty add up to that over all, alike from both engines, and in the summary file."""
    run = STOREFRONT / "runs" / "storefront-graph.jsonl"
    options = ("-m", "EdgeRecall", "--by", "difficulty", "-o", "s.summary.json", run)
    found = [
        graphkit("evaluate", "--json", *engine, *options, cwd=tmp_path, env=graph.env).object()
        for engine in (("--engine", "cypher"), ("--engine", "python"))
    ]
    groups = [one["groups"]["difficulty"] for one in found]
    assert list(groups[0]) == list(groups[1]) == ["easy", "hard", "medium"]
    for name, one in groups[0].items():
        assert one["EdgeRecall"] == pytest.approx(groups[1][name]["EdgeRecall"])
    each = [one["EdgeRecall"] for one in groups[1].values()]
    overall = found[1]["measures"]["EdgeRecall"]
    assert sum(one["total"] for one in each) == 30
    assert sum(one["mean"] * one["scored"] for one in each) / overall["scored"] == pytest.approx(overall["mean"])
    summary = json.loads((tmp_path / "s.summary.json").read_text())["runs"][0]
    assert summary["groups"]["difficulty"] == groups[1]
    assert set(summary["groups"]) == {"category", "difficulty", "group"}
    assert "values" not in summary
    shown = graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--by", "difficulty", run, cwd=tmp_path).out
    assert ["measure", "easy", "(12)", "hard", "(6)", "medium", "(12)"] in [line.split() for line in shown.splitlines()]
    graphkit("evaluate", "--no-store", "--by", "colour", run, cwd=tmp_path, code=2)


def test_cypher_gives_what_python_gives(graph: Graph, tmp_path: Path) -> None:
    """Both engines print the same counts, and means that differ by no more than the order of a sum can."""
    run = STOREFRONT / "runs" / "storefront-graph.jsonl"
    outs = [tmp_path / "python.jsonl", tmp_path / "cypher.jsonl"]
    python, cypher = (
        graphkit("evaluate", "--json", "--engine", out.stem, "-o", out, run, cwd=tmp_path, env=graph.env).object()
        for out in outs
    )
    assert list(cypher["measures"]) == list(python["measures"])
    for name, one in python["measures"].items():
        assert cypher["measures"][name] == pytest.approx(one, abs=1e-12), name
    for name in ("run", "dataset", "questions", "failed", "missing"):
        assert cypher[name] == python[name]
    lines = [sorted(map(key, out.read_text().splitlines())) for out in outs]
    assert [line[:2] for line in lines[0]] == [line[:2] for line in lines[1]]
    assert len(lines[0]) == 30 * len(python["measures"])
    for one, two in zip(*lines, strict=True):
        assert two[2] == pytest.approx(one[2], abs=1e-12), one


def key(line: str) -> tuple[str, str, float | None]:
    """Return question, measure and value of a line of --out."""
    row = json.loads(line)
    return row["question"], row["measure"], row["value"]


NO_GOLD = "note: the question has neither gold paths nor relevant ids: most measures can't score it (2 records, the"


@pytest.mark.parametrize("spelling", ["id", "query_id"])
def test_questions_without_gold_are_told(spelling: str, graph: Graph, tmp_path: Path) -> None:
    """Each evaluation says once how many questions nothing can be scored against, with and without a database."""
    questions = [{spelling: f"bare-{spelling}-{number}", "question": "?"} for number in range(2)]
    questions.append({**QUESTIONS[0], "id": f"bare-{spelling}-2"})
    answers = [{"run": f"bare-{spelling}", "question_id": f"bare-{spelling}-{number}"} for number in range(3)]
    run = tiny(tmp_path / f"bare-{spelling}", questions, answers)
    for options in (["--no-store"], [], [], ["--engine", "cypher"]):
        done = inside("evaluate", "-m", "EdgeRecall", *options, run, cwd=tmp_path, env=graph.env, code=0)
        assert done.err.count("neither gold paths nor relevant ids") == 1, options
        assert f"{NO_GOLD} first: {run.parent.parent / 'questions.jsonl'} bare-{spelling}-0)" in done.err
