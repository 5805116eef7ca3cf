"""``graphkit evaluate`` with the graph: what it keeps there, and what the graph computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, inside, tiny, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.datasets import SHOP_QUESTIONS

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
    assert sum(one["total"] for one in each) == SHOP_QUESTIONS
    assert sum(one["mean"] * one["scored"] for one in each) / overall["scored"] == pytest.approx(overall["mean"])
    summary = json.loads((tmp_path / "s.summary.json").read_text())["runs"][0]
    assert summary["groups"]["difficulty"] == groups[1]
    assert set(summary["groups"]) == {"category", "difficulty", "group"}
    assert "values" not in summary
    shown = graphkit(
        "evaluate", "--full", "--no-store", "-m", "EdgeRecall", "--by", "difficulty", run, cwd=tmp_path
    ).out
    assert ["measure", "easy", "(15)", "hard", "(8)", "medium", "(16)"] in [line.split() for line in shown.splitlines()]
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
        assert cypher["measures"][name].pop("interval") == pytest.approx(one.pop("interval"), abs=1e-9), name
        assert cypher["measures"][name] == pytest.approx(one, abs=1e-12), name
    for name in ("run", "dataset", "questions", "failed", "missing"):
        assert cypher[name] == python[name]
    lines = [sorted(map(key, out.read_text().splitlines())) for out in outs]
    assert [line[:2] for line in lines[0]] == [line[:2] for line in lines[1]]
    assert len(lines[0]) == SHOP_QUESTIONS * len(python["measures"])
    for one, two in zip(*lines, strict=True):
        assert two[2] == pytest.approx(one[2], abs=1e-12), one


def key(line: str) -> tuple[str, str, float | None]:
    """Return question, measure and value of a line of --out."""
    row = json.loads(line)
    return row["question"], row["measure"], row["value"]


NO_GOLD = "note: the question has neither gold paths nor relevant ids: most measures can't score it (2 records, the"


@pytest.mark.parametrize("spelling", ["id", "query_id"])
def test_questions_without_gold_are_reported(spelling: str, graph: Graph, tmp_path: Path) -> None:
    """Each evaluation says once how many questions nothing can be scored against, with and without a database."""
    questions = [{spelling: f"bare-{spelling}-{number}", "question": "?"} for number in range(2)]
    questions.append({**QUESTIONS[0], "id": f"bare-{spelling}-2"})
    answers = [{"run": f"bare-{spelling}", "question_id": f"bare-{spelling}-{number}"} for number in range(3)]
    run = tiny(tmp_path / f"bare-{spelling}", questions, answers)
    for options in (["--no-store"], [], [], ["--engine", "cypher"]):
        done = inside("evaluate", "-m", "EdgeRecall", *options, run, cwd=tmp_path, env=graph.env, code=0)
        assert done.err.count("neither gold paths nor relevant ids") == 1, options
        assert f"{NO_GOLD} first: {run.parent.parent / 'questions.jsonl'} bare-{spelling}-0)" in done.err


def test_two_files_of_one_name_are_refused(graph: Graph, tmp_path: Path) -> None:
    """Two files with one run name are refused before anything is kept, with both named; one file twice isn't two."""
    questions = [{**one, "id": f"twice-{one['id']}"} for one in QUESTIONS]
    answers = [{**one, "run": "twice", "question_id": f"twice-{one['question_id']}"} for one in ANSWERS]
    first = tiny(tmp_path, questions, answers)
    second = write_lines(first.with_name("second.jsonl"), answers[1:])
    for store in ((), ("--no-store",)):
        done = inside("evaluate", first, second, *store, cwd=tmp_path, env=graph.env, code=2)
        assert f"two files hold a run 'twice': {first} and {second}" in done.err
        assert "--run NAME" in done.err
    assert graph.store.read("MATCH (r:Run {id: 'twice'}) RETURN r.id AS id") == []
    inside("evaluate", first, first, "--no-store", cwd=tmp_path, code=0)


def test_another_file_of_a_name_asks_for_a_name_or_to_replace(graph: Graph, tmp_path: Path) -> None:
    """A file whose run name is another file's is refused, and is let in by another name, or in the other's place."""
    questions = [{**one, "id": f"named-{one['id']}"} for one in QUESTIONS]
    answers = [{**one, "run": "named", "question_id": f"named-{one['question_id']}"} for one in ANSWERS]
    first = tiny(tmp_path, questions, answers)
    second = write_lines(first.with_name("second.jsonl"), answers[1:])
    held = "MATCH (a:Answer {run: $run}) RETURN count(a) AS n"
    inside("evaluate", first, cwd=tmp_path, env=graph.env, code=0)
    refused = inside("evaluate", second, cwd=tmp_path, env=graph.env, code=2).err
    assert f"{second}: the graph holds another run 'named', from {first}" in refused
    assert "--run NAME" in refused
    assert "--replace" in refused
    done = inside("evaluate", "--json", second, "--run", "other", cwd=tmp_path, env=graph.env, code=0)
    assert done.object()["run"] == "other"
    assert [graph.store.read(held, {"run": run})[0]["n"] for run in ("named", "other")] == [2, 1]
    inside("evaluate", second, "--replace", cwd=tmp_path, env=graph.env, code=0)
    assert graph.store.read(held, {"run": "named"}) == [{"n": 1}]


def test_a_name_is_of_one_run(tmp_path: Path) -> None:
    """``--run`` names one run: of two files, of a file with two runs, and where it can't be a name it is refused."""
    run = tiny(tmp_path)
    mixed = write_lines(run.with_name("mixed.jsonl"), [ANSWERS[0], {**ANSWERS[1], "run": "s"}])
    for command in ("evaluate", "execute"):
        reported = inside(command, run, mixed, "--no-store", "--run", "n", cwd=tmp_path, code=2).err
        assert "--run names one run, and there are 2 files" in reported
    for command in ("evaluate", "grade"):
        assert "records of 2 runs: r, s" in inside(command, mixed, "--no-store", "--run", "n", cwd=tmp_path, code=2).err
        long = inside(command, run, "--no-store", "--run", "n" * 1001, cwd=tmp_path, code=2).err
        assert "the run's name: the name has 1001 characters" in long


def test_a_log_that_changed_is_evaluated_again(graph: Graph, tmp_path: Path) -> None:
    """The run of a log is its file's, though it is made anew in another place each time; another log is another run."""
    run = tiny(tmp_path, [{**one, "id": f"logged-{one['id']}"} for one in QUESTIONS], [])
    log = run.with_name("logged.json")
    for name in ("a:m.py#w", "a:m.py#x"):
        rows = [{"question_id": "logged-q2", "response": "w", "retrieved_context_ids": [name]}]
        write_lines(log, [json.dumps(rows)])
        options = ("--format", "ragas", "-d", tmp_path)
        inside("evaluate", log, *options, cwd=tmp_path, env=graph.env, code=0)
    assert graph.store.read("MATCH (r:Run {id: 'logged'}) RETURN r.origin AS origin") == [{"origin": f"the log {log}"}]
    other = write_lines(tmp_path / "elsewhere" / "logged.json", [json.dumps([{**rows[0], "response": "x"}])])
    done = inside("evaluate", other, *options, cwd=tmp_path, env=graph.env, code=2)
    assert f"the log {other}: the graph holds another run 'logged', from the log {log}" in done.err
    inside("evaluate", other, *options, "--run", "logged-too", cwd=tmp_path, env=graph.env, code=0)
    reported = inside("report", "logged", "-o", "r.html", cwd=tmp_path, env=graph.env, code=2).err
    assert f"the run 'logged' was loaded from the log {log}, which isn't the file of a run" in reported
