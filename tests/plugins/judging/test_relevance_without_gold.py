"""Relevance of a run without any gold: scores, failures and explanations, from files, workers and graph alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.explain import sentence
from graphkit.plugins.judging.verdict_view import judged
from tests.helpers.cli import Graph, inside
from tests.helpers.datasets import write_jsonl
from tests.helpers.grading import scores_beside, verdicts_beside

GRADERS = ("-g", "context_relevance", "-g", "edge_relevance", "-g", "trajectory")


def edge(source: str, relation: str, target: str) -> dict[str, Any]:
    """Return an edge, or a step."""
    return {"source": source, "relation": relation, "target": target}


def world(folder: Path) -> Path:
    """Write a dataset without gold, its graph and a run, and return the run's file.

    "Which table holds customers?": the walk goes from web:login to api:auth, as the only way, and from there to api:log
    though db:customers is a neighbour. The chunk of api:auth has a word of the question, that of api:log none.
    """
    questions = [{"id": one, "question": "Which table holds customers?"} for one in ("q1", "q2")]
    write_jsonl(folder / "questions.jsonl", questions)
    auth = [edge("api:auth", "CALLS", "api:log"), edge("api:auth", "READS", "db:customers")]
    write_jsonl(folder / "edges.jsonl", [edge("web:login", "CALLS", "api:auth"), *auth])
    chunks = [{"id": "api:auth", "text": "reads a table"}, {"id": "api:log", "text": "prints lines"}]
    walk = [edge("web:login", "CALLS", "api:auth"), auth[0]]
    answers: list[dict[str, Any]] = [
        {"run": "r", "question_id": "q1", "answer": "x", "retrieved": chunks, "traversal": walk},
        {"run": "r", "question_id": "q2", "error": "timed out"},
    ]
    return write_jsonl(folder / "runs" / "r.jsonl", answers)


def test_scores_of_a_run_without_gold(tmp_path: Path) -> None:
    """Values by hand: 1 + 0 of 3 x 2 = 1/6; one hop has another way, which is nearer: 0; the walk is the shortest: 1.

    The question that failed says so, for each measure: it counts as the worst value at a gate.
    """
    run = world(tmp_path)
    inside("grade", run, "--no-store", *GRADERS, cwd=tmp_path, code=0)
    scores = scores_beside(run, "lexical")
    found = {measure: one.value for (question, measure), one in scores.items() if question == "q1"}
    assert found == {
        "ContextRelevance": pytest.approx(1 / 6),
        "EdgeRelevance": 0.0,
        "TrajectoryAccuracy": 0.0,  # no name of a node has a word of the question
        "PathEfficiency": 1.0,
    }
    assert {one.reason for (question, _), one in scores.items() if question == "q2"} == {"failed: timed out"}
    file = run.with_name("r.grades") / "lexical.scores.jsonl"
    gated = inside("evaluate", run, "--no-store", "--scores", file, "--fail-under", "EdgeRelevance=0", cwd=tmp_path)
    assert gated.code == 0
    # (1 + 0) / 2: the failure counts as 0.
    inside("evaluate", run, "--no-store", "--scores", file, "--fail-under", "PathEfficiency=0.6", cwd=tmp_path, code=1)


def test_the_hop_is_named_everywhere(tmp_path: Path, graph: Graph) -> None:
    """Files and graph have the same rows of relevance-lost, `why` the same sentences, and the page the verdict's."""
    run = world(tmp_path)
    inside("grade", run, *GRADERS, cwd=tmp_path, env=graph.env, code=0)
    stored = graphkit.failures(graph.store, "r", "relevance-lost")
    fallen = {
        "question": "q1",
        "judge": "lexical",
        "model": None,
        "path": 1,
        "hop": 2,
        **edge("api:auth", "CALLS", "api:log"),
    }
    assert list(stored) == [
        {**fallen, "grader": "context_relevance", "better": None},
        {**fallen, "grader": "edge_relevance", "better": "api:auth -READS-> db:customers"},
    ]
    assert list(graphkit.file_failures(run, "relevance-lost")) == list(stored)
    told = [sentence("relevance-lost", row) for row in stored]
    assert told == [
        "relevance falls at hop 2, api:auth -CALLS-> api:log: its best chunk is less relevant than that of the hop "
        "before",
        "relevance falls at hop 2, api:auth -CALLS-> api:log: api:auth -READS-> db:customers leads nearer to an answer",
    ]
    by_graph, by_file = (
        inside("why", name, "q1", "--json", cwd=tmp_path, env=graph.env, code=0).object() for name in ("r", run)
    )
    assert by_graph["relevance"] == by_file["relevance"] == told
    assert "relevance" in by_file["untrusted"]
    assert "by a judge: " in inside("why", run, "q1", cwd=tmp_path, code=0).out
    assert "leads nearer" in inside("failures", run, "--kind", "relevance-lost", cwd=tmp_path, code=0).out
    shown = judged(verdicts_beside(run, "lexical")["q1", "edge_relevance"])
    assert "first at hop 2, api:auth -CALLS-> api:log" in shown["explanation"]
    assert [field["name"] for field in shown["fields"]] == ["hops"]
    assert "h1n" not in shown["fields"][0]["text"]  # ids, not keys of the prompt


def test_workers_need_no_graph(tmp_path: Path) -> None:
    """Workers give the same files as one process: the neighbours and lengths travel with the answers."""
    one, two = world(tmp_path / "one"), world(tmp_path / "two")
    inside("grade", one, "--no-store", *GRADERS, cwd=tmp_path, code=0)
    inside("grade", two, "--no-store", "--on", "processes=2", *GRADERS, cwd=tmp_path, code=0)
    for kind in ("scores", "verdicts"):
        files = [run.with_name("r.grades") / f"lexical.{kind}.jsonl" for run in (one, two)]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_the_graph_of_a_question(tmp_path: Path) -> None:
    """A question with a stack walks in the graph of that name; without one, the graphs count together."""
    run = world(tmp_path)
    (tmp_path / "edges.jsonl").rename(tmp_path / "edges-new.jsonl")
    write_jsonl(tmp_path / "edges-old.jsonl", [edge("web:login", "CALLS", "db:customers")])

    def hops(**fields: str) -> int:
        write_jsonl(tmp_path / "questions.jsonl", [{"id": "q1", "question": "Which customers?", **fields}])
        [verdict] = graphkit.grade(run, tmp_path, graders=["edge_relevance"]).verdicts
        assert verdict.verdict is not None
        return len(verdict.verdict["hops"])

    run.write_text(run.read_text().splitlines()[0])
    assert hops() == 2  # from web:login also to db:customers
    assert hops(stack="new") == 1
    assert hops(stack="old") == 1  # of the walked nodes it has web:login only, with db:customers as a neighbour


def test_the_judge_is_asked_again(tmp_path: Path) -> None:
    """Consistency and bias ask the graders of the walk with the graph, too: rules give the same grades again."""
    run = world(tmp_path)
    inside("grade", run, "--no-store", *GRADERS, cwd=tmp_path, code=0)
    for name in ("consistency", "bias"):
        done = inside("judge", name, run, "--json", cwd=tmp_path, code=0)
        found = [json.loads(line) for line in done.out.splitlines()]
        assert {one["measure"] for one in found} >= {"EdgeRelevance", "PathEfficiency"}
        figures = [one.get("stable") or one["changed"] for one in found]
        assert {(one["value"], one["n"]) for one in figures} == {(1.0 if name == "consistency" else 0.0, 1)}
