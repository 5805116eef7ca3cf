"""``graphkit evaluate`` in shards: what it prints, refuses and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphkit
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, inside, tiny, write_lines
from tests.helpers.datasets import STOREFRONT

pytest.importorskip("pyarrow")


def but_for(out: str, *words: str) -> list[str]:
    """Return the lines of an output that begin with none of some words."""
    return [line for line in out.splitlines() if not line.startswith(words)]


@pytest.mark.parametrize("how", [(), ("--full",), ("--json",)])
def test_a_results_folder_beside_the_usual_output(tmp_path: Path, how: tuple[str, ...]) -> None:
    """A results folder changes nothing of what is printed but the command to type next."""
    run = tiny(tmp_path)
    usual = inside("evaluate", "--no-store", run, *how, cwd=tmp_path, code=0)
    folder = inside("evaluate", "--no-store", run, "--out", tmp_path / "results", *how, cwd=tmp_path, code=0)
    assert but_for(usual.out, "next") == folder.out.splitlines()
    assert ("\nmend " in folder.out) == (not how)
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())["runs"][0]
    assert summary["measures"]["EdgeRecall"]["mean"] == 0.75
    assert json.loads((tmp_path / "results" / "manifest.json").read_text())["questions"] == 2


def test_rows_of_a_results_folder_hold_missed_edges(tmp_path: Path) -> None:
    """One of two questions misses an edge that has no relation and an oddly named end; the other misses nothing."""
    odd = 'b:n.py#"z",\u2028'
    paths = [[["a:m.py#x", "CALLS", "a:m.py#y"], {"source": "a:m.py#y", "target": odd}]]
    run = tiny(tmp_path, questions=[{**QUESTIONS[0], "paths": paths}, QUESTIONS[1]])
    inside("evaluate", "--no-store", run, "--out", tmp_path / "results", cwd=tmp_path, code=0)
    outcomes = [row.outcome for row in graphkit.read_results(tmp_path / "results").rows()]
    assert [one and (one.missed_edges, one.missed) for one in outcomes] == [(1, (("a:m.py#y", None, odd),)), (0, ())]


def test_without_directions_a_results_folder_has_the_places_to_mend(tmp_path: Path) -> None:
    """One edge is walked backwards and one isn't walked: a results folder prints the same as a single process."""
    back = [["a:m.py#y", "CALLS", "a:m.py#x"]]
    run = tiny(tmp_path, answers=[{**ANSWERS[0], "traversal": back}, ANSWERS[1]])
    arguments = ("evaluate", "--no-store", "--undirected", run)
    usual = inside(*arguments, cwd=tmp_path, code=0).out
    folder = inside(*arguments, "--out", tmp_path / "results", cwd=tmp_path, code=0).out
    assert "y -CALLS-> z: 1 question misses it and nothing else" in usual
    assert but_for(usual, "next") == but_for(folder, "next")
    rows = graphkit.read_results(tmp_path / "results").rows()
    assert [(row.outcome, row.missed) for row in rows] == [(None, (("a:m.py#y", "CALLS", "b:n.py#z"),)), (None, ())]


def test_gates_hold_for_a_results_folder(tmp_path: Path) -> None:
    """A gate fails as without the folder, which is written all the same."""
    out = tmp_path / "results"
    options = ("--no-store", "--fail-under", "EdgeRecall=0.8", "--out", out)
    done = inside("evaluate", tiny(tmp_path), *options, cwd=tmp_path, code=1)
    assert "EdgeRecall is 0.7500" in done.err
    assert (out / "manifest.json").exists()


def test_bad_records_refuse_a_results_folder(tmp_path: Path) -> None:
    """A bad record is named with its line and leaves no manifest; skipped, it is a row of the problems."""
    run, out = tiny(tmp_path / "data", answers=[*ANSWERS, "{"]), tmp_path / "results"
    done = inside("evaluate", "--no-store", "--out", out, run, cwd=tmp_path, code=2)
    assert f"{run}:{len(ANSWERS) + 1}: not valid JSON" in done.err
    assert not (out / "manifest.json").exists()
    inside("evaluate", "--no-store", "--out", out, run, "--on-error", "skip", cwd=tmp_path, code=0)
    (problem,) = map(json.loads, (out / "problems.jsonl").read_text().splitlines())
    assert (problem["file"], problem["line"]) == (str(run), len(ANSWERS) + 1)


def test_shards_with_a_graph(graph: Graph, tmp_path: Path) -> None:
    """With a graph, ``--on`` prints what one process prints, places to mend too, and stores the same questions, with
    a results folder or without; the outputs of the graph say that the run is in part, and the folder's summary covers
    all.
    """
    run, keep = STOREFRONT / "runs" / "storefront-graph.jsonl", ("--keep", "sample=3")
    stored, outputs = [], []
    for more in ((), ("--out", "results"), ("--on", "processes=1", "--json"), ("--json",)):
        graph.store.write("MATCH (n) DETACH DELETE n")
        outputs.append(inside("evaluate", run, *keep, *more, cwd=tmp_path, env=graph.env, code=0))
        stored.append(graph.counts())
    assert stored == [stored[0]] * 4
    assert stored[0]["KEPT"] == 3
    assert outputs[0].out == outputs[1].out
    assert outputs[0].out.count("\nmend ") == 3
    assert outputs[2].object() == outputs[3].object()
    assert "the graph stores 3 of 30 questions (sample=3)" in " ".join(outputs[1].err.split())
    words = "the graph stores 3 of 30 questions of the run storefront-graph (sample=3)"
    assert words in inside("db", "status", cwd=tmp_path, env=graph.env, code=0).out
    assert json.loads((tmp_path / "results" / "manifest.json").read_text())["questions"] == 30
    assert {path.name for path in tmp_path.iterdir()} == {"results"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--no-store", "--out", "results", "--keep", "failures"), "--no-store stores nothing"),
        (("--no-store", "--on", "processes"), "writes one results folder"),
        (("--no-store", "--on", "processes", "--out", "results.csv"), "writes one results folder"),
        (("--on", "processes", "--out", "a", "--out", "b"), "writes one results folder"),
        (("--no-store", "--out", "results", "--format", "auto"), "--format can't be used"),
        (("--out", "results", "--engine", "cypher"), "--engine cypher can't be used"),
        (("--no-store", "--out", "results", "--on", "proceses"), "Did you mean processes?"),
        (("--no-store", "--out", "results", "--resources", "gpu=1"), "--on names none"),
    ],
)
def test_what_shards_refuse(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """Options that shards don't have are refused before anything is read, with what to do."""
    done = inside("evaluate", tiny(tmp_path), *options, cwd=tmp_path, code=2)
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "results").exists()


def test_folders_are_compared_by_workers_or_refused(tmp_path: Path) -> None:
    """``compare`` of results folders draws by ``--on``; a folder beside a run, and options without use, are refused."""
    run = tiny(tmp_path / "data")
    other = write_lines(tmp_path / "data" / "runs" / "s.jsonl", [{**answer, "run": "s"} for answer in ANSWERS])
    for name, file in (("a", run), ("b", other)):
        inside("evaluate", "--no-store", "--out", tmp_path / name, file, cwd=tmp_path, code=0)
    alone = inside("compare", "a", "b", "--json", cwd=tmp_path, code=0)
    assert inside("compare", "a", "b", "--json", "--on", "processes=1", cwd=tmp_path, code=0).out == alone.out
    for arguments, said in (
        (("a", "b", "--on", "proceses"), "Did you mean processes?"),
        (("a", "gone"), "a is a results folder, and 'gone' isn't"),
        (("a", "b", "--dataset", "data"), "compared without --dataset"),
        (("a", "b", "--engine", "cypher"), "compared without --engine"),
    ):
        assert said in " ".join(inside("compare", *arguments, cwd=tmp_path, code=2).err.split())
