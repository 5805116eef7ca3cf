"""A run scored in shards is stored as one process stores it: whole, or the questions of a rule."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.graph.content import graph_content
from graphkit.graph.known_names import run_source
from graphkit.graph.reservations import unfinished_loads
from graphkit.plugins.embedded.locks import wait_until
from graphkit.plugins.upkeep.schema_migration import migrate
from graphkit.scoring import evaluate_shards
from tests.helpers import ROOT
from tests.helpers.datasets import STOREFRONT, generate
from tests.helpers.engines import EngineSettings
from tests.helpers.loading import contents
from tests.helpers.sharded import RUN, but_for_files, cut, dataset_of, emptied, in_six_shards, lines_of, run_in
from tests.helpers.suites import one_fast
from tests.scoring.shard_measures import Slow

pytest.importorskip("pyarrow")

MEASURES = ("EdgeRecall", "PathPrefix", "Coherence", "nDCG@10", "OffPin")
RULES = ((), ("failures",), ("sample=7", "EdgeRecall<0.5"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated dataset in whole files, with commits and compatibility."""
    return generate(tmp_path_factory.mktemp("source"), 5, questions=60)


def scored(store: Store | None, dataset: Path | str, run: Path | str, **more: Any) -> graphkit.Evaluation:
    """Evaluate a run."""
    options = {"measures": MEASURES, "outcomes": True, "problems": Problems("skip"), **more}
    return graphkit.evaluate(run, dataset, store=store, **options)


@one_fast("keep", RULES, "the storefront is scored and loaded twice for each rule", 1)
def test_the_same_graph_as_one_process(store: Store, tmp_path: Path, keep: tuple[str, ...]) -> None:
    """The same files scored in shards give the same graph to the last property, and the same result."""
    shop = shutil.copytree(STOREFRONT, tmp_path / "shop")
    run = shop / "runs" / "storefront-graph.jsonl"
    alone = graphkit.evaluate(run, store=store, keep=keep)
    expected = contents(store)
    found = graphkit.evaluate(run, store=emptied(store), keep=keep, out=tmp_path / "out")
    assert contents(store) == expected
    assert found.as_json() == alone.as_json()
    assert (found.kept is not None) == bool(keep)


@one_fast("keep", RULES, "a run is scored and loaded twice for each rule", 0)
def test_shards_are_stored_as_whole_files(store: Store, source: Path, tmp_path: Path, keep: tuple[str, ...]) -> None:
    """Shards in another order, some compressed, with repeats on either side, a broken record and one of no question,
    are stored as their lines in whole files; also by workers, without a results folder.
    """
    draw = random.Random(11)
    questions, answers = lines_of(source)
    answers = draw.sample(answers[3:], len(answers) - 3)
    answers += ['{"broken"', answers[4], json.dumps({"run": RUN, "question_id": "stranger"})]
    questions += [questions[2].replace("?", "!"), '{"id": 5, "question": []}']
    whole = dataset_of(tmp_path / "whole", source, [questions], [answers])
    parted = dataset_of(tmp_path / "parted", source, cut(draw, questions, 5), cut(draw, answers, 4))
    options = {"keep": keep, "on_error": "skip"}
    alone = scored(store, whole, run_in(whole), **options)
    expected = but_for_files(store)
    where: dict[str, Any] = {"executor": "processes=2"} if keep == RULES[1] else {"out": tmp_path / "out"}
    found = scored(emptied(store), parted, run_in(parted), **where, **options)
    assert but_for_files(store) == expected
    assert found.kept == alone.kept
    assert found.as_json() == alone.as_json()


def test_ids_in_another_spelling(store: Store, tmp_path: Path) -> None:
    """Records are stored as they are scored: with the gold's spelling of ids, and with triples that only the whole run
    explains.
    """
    composed, decomposed = "web:caf\u00e9.py", "web:cafe\u0301.py"
    edges = [[composed, "CALLS", "api:b.py"], ["web:c.py", "CALLS", "api:d.py"]]
    questions = [
        {"id": f"q{number}", "question": "What?", "paths": [{"steps": [dict(zip(NAMES, edge, strict=True))]}]}
        for number, edge in enumerate(edges)
    ]
    traversals: list[Any] = [[[decomposed, "CALLS", "api:b.py"]], ["web:c.py", "CALLS", "api:d.py"]]
    answers = [{"run": RUN, "question_id": f"q{at}", "traversal": one} for at, one in enumerate(traversals)]
    lines = [*map(json.dumps, questions)], [*map(json.dumps, answers)]
    whole = dataset_of(tmp_path / "whole", tmp_path, [lines[0]], [lines[1]])
    parted = dataset_of(tmp_path / "parted", tmp_path, [lines[0][:1], lines[0][1:]], [lines[1][:1], lines[1][1:]])
    assert scored(store, whole, run_in(whole)).measures["EdgeRecall"].mean == 1.0
    expected = but_for_files(store)
    assert store.read("MATCH (a:Artifact) RETURN count(a) AS count") == [{"count": 4}]
    scored(emptied(store), parted, run_in(parted), out=tmp_path / "out")
    assert but_for_files(store) == expected


NAMES = ("source", "relation", "target")


def test_many_questions_need_no_rows(
    store: Store, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is too large for its rows in memory is stored by the same rule: its rows are streamed."""
    run = run_in(source)
    scored(store, source, run, keep="failures")
    expected = contents(store)
    monkeypatch.setattr(evaluate_shards, "ROWS", 10)
    found = scored(emptied(store), source, run, keep="failures", out=tmp_path / "out")
    assert found.rows == ()
    assert contents(store) == expected


def test_what_is_there_is_not_loaded_again(store: Store, source: Path, tmp_path: Path) -> None:
    """The same shards again write neither questions nor answers; a whole run stays whole; a changed shard is loaded."""
    dataset, wrote = in_six_shards(source, tmp_path), []

    def progress(kind: str, count: int) -> None:
        wrote.append(kind)

    options = {"out": tmp_path / "out", "progress": progress}
    scored(store, dataset, run_in(dataset), **options)
    assert {"questions", "answers"} <= set(wrote)
    held = contents(store)
    wrote.clear()
    kept = scored(store, dataset, run_in(dataset), keep="failures", **options)
    assert not {"questions", "answers"} & set(wrote)
    assert any("stays whole" in warning for warning in kept.warnings)
    assert contents(store) == held
    shard = dataset / "runs" / RUN / "0.jsonl"
    shard.write_text(shard.read_text().rpartition("{")[0])
    scored(store, dataset, run_in(dataset), **options)
    assert "answers" in wrote
    assert sum(contents(store).values()) < sum(held.values())


def test_a_shard_that_grows_is_refused(store: Store, source: Path, tmp_path: Path) -> None:
    """A shard that has grown since the command looked at it is an error: its new records would never be noticed."""
    dataset = in_six_shards(source, tmp_path)
    shard = dataset / "runs" / RUN / "2.jsonl"

    def grow(kind: str, count: int) -> None:
        if kind == "questions":
            shard.write_text(shard.read_text() + "\n")

    with pytest.raises(InputError, match=r"2\.jsonl: the file has changed since it was cut"):
        scored(store, dataset, run_in(dataset), out=tmp_path / "out", progress=grow)
    assert store.read("MATCH (r:Run) RETURN r.id AS id") == []
    assert scored(store, dataset, run_in(dataset), out=tmp_path / "out").questions == 60


def test_another_run_of_this_name(store: Store, source: Path, tmp_path: Path) -> None:
    """A run in shards is refused before it is scored if the graph holds another one of its name, or replaces it."""
    whole, other = run_in(source), run_in(in_six_shards(source, tmp_path))
    scored(store, source, whole, measures=["RR"])
    held, out = contents(store), tmp_path / "out"
    with pytest.raises(InputError, match=f"the graph holds another run '{RUN}', from {whole}"):
        scored(store, source, other, measures=["RR"], out=out)
    assert not out.exists()
    assert contents(store) == held
    scored(store, source, other, measures=["RR"], out=out, replace=True)
    assert store.read("MATCH (r:Run) RETURN r.origin AS origin, r.file AS file") == [
        {"origin": str(other), "file": None}
    ]


def test_fields_of_the_dataset(store: Store, source: Path, tmp_path: Path) -> None:
    """Strict loading accepts the own fields that ``dataset.json`` lists, in every shard; others are refused with their
    place, before anything is scored.
    """
    questions, answers = lines_of(source)
    questions[45] = json.dumps({**json.loads(questions[45]), "scenario": "rush hour"})
    dataset = dataset_of(tmp_path, source, [questions[:40], questions[40:]], [answers])
    strict: dict[str, Any] = {"problems": None, "strict": True, "out": tmp_path / "out"}
    with pytest.raises(InputError, match=r"questions/1\.jsonl\.gz:6: the field 'scenario' isn't known"):
        scored(store, dataset, run_in(dataset), **strict)
    assert store.read("MATCH (q:Question) RETURN q.id AS id") == []
    (dataset / "dataset.json").write_text('{"extra_fields": ["scenario"]}')
    assert scored(store, dataset, run_in(dataset), **strict).questions == 60
    assert len(store.read("MATCH (q:Question) RETURN q.id AS id")) == 60


@pytest.mark.slow("a run is loaded twice, and its files are another library's")
def test_behind_a_url(store: Store, source: Path, tmp_path: Path) -> None:
    """A dataset and a run behind a URL are stored as those of this machine; what needs their files says where they are.

    A migration leaves them, with the command that loads them again.
    """
    fsspec = pytest.importorskip("fsspec")
    dataset = in_six_shards(source, tmp_path)
    scored(store, dataset, run_in(dataset), keep="sample=9", out=tmp_path / "out")
    expected = but_for_files(store)
    memory = fsspec.filesystem("memory")
    memory.put(str(dataset), "/shelf/data", recursive=True)
    try:
        url = "memory://shelf/data"
        scored(emptied(store), url, f"{url}/runs/{RUN}", keep="sample=9", out=tmp_path / "out")
        assert but_for_files(store) == expected
        assert "the graph stores 9 of 60 questions" in graph_content(store).partial[1]
        with pytest.raises(InputError, match=f"was loaded from {url}/runs/{RUN}"):
            run_source(store, RUN)
        store.write("MATCH (n) WHERE n:Run OR n:Dataset SET n.schema = '1'")
        of_dataset, of_run = migrate(store).left
        assert f"{url} can't be read" in of_dataset
        assert "graphkit evaluate" in of_dataset
        assert "comes first" in of_run
    finally:
        memory.rm("/shelf", recursive=True)


KILLED = """
import os, signal, sys
import graphkit
from tests.scoring.shard_measures import Slow
def progress(kind, count):
    if kind == sys.argv[5]:
        os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    run, dataset, out, seen = sys.argv[1:5]
    with graphkit.open_store() as store:
        graphkit.evaluate(
            run, dataset, measures=[Slow(seen)], store=store, out=out, keep="sample=30", executor="processes=1",
            progress=progress,
        )
"""


@pytest.mark.slow("a command with a worker is killed, and starts again")
@pytest.mark.parametrize("kind", ["questions kept", "answers", "scores"])
def test_a_killed_command_is_completed(
    store: Store, engine_settings: EngineSettings, source: Path, tmp_path: Path, kind: str
) -> None:
    """After a kill -9 on the way into the graph, the same command scores nothing again, and stores what is missing."""
    dataset, seen, script = in_six_shards(source, tmp_path), tmp_path / "seen", tmp_path / "driver.py"
    seen.mkdir()
    script.write_text(KILLED)
    command = [sys.executable, str(script), str(run_in(dataset)), str(dataset), str(tmp_path / "out"), str(seen)]
    path = f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"
    env = {**engine_settings.env, "PYTHONPATH": path}
    done = subprocess.run([*command, kind], env=env, capture_output=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert unfinished_loads(store)
    before = {file.name: file.read_text() for file in seen.iterdir()}
    assert len(before) == 60
    done = subprocess.run([*command, "nothing"], env=env, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert {file.name: file.read_text() for file in seen.iterdir()} == before
    assert not unfinished_loads(store)
    assert not list(tmp_path.glob(".out.*"))
    completed = contents(store)
    scored(emptied(store), dataset, run_in(dataset), measures=[Slow(str(seen))], keep="sample=30", out=tmp_path / "new")
    assert contents(store) == completed


HOLDING = """
import sys, graphkit
from tests.scoring.shard_measures import Slow
if __name__ == "__main__":
    run, dataset, out, seen = sys.argv[1:]
    graphkit.evaluate(run, dataset, measures=[Slow(seen)], out=out)
"""


@pytest.mark.slow("two commands start, and one is killed")
def test_two_commands_on_one_folder(source: Path, tmp_path: Path) -> None:
    """While a command writes a results folder, another one is refused at once, and changes nothing; after its end, or
    its death, the folder is free.
    """
    seen, out, script = tmp_path / "seen", tmp_path / "out", tmp_path / "driver.py"
    seen.mkdir()
    script.write_text(HOLDING)
    arguments = [str(run_in(source)), str(source), str(out), str(seen)]
    path = f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"
    command, env = [sys.executable, str(script), *arguments], {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, env=env) as driver:
        try:
            assert wait_until(lambda: any(seen.iterdir()), 120)
            with pytest.raises(InputError, match="another command is writing this results folder"):
                scored(None, source, run_in(source), out=out)
            assert driver.wait(120) == 0
        finally:
            driver.kill()
    results = graphkit.read_results(out)
    assert results.measures == [str(Slow(str(seen)))]
    assert len(list(results.rows())) == 60
    for file in seen.iterdir():
        file.unlink()
    with subprocess.Popen(command, env=env) as driver:
        assert wait_until(lambda: any(seen.iterdir()), 120)
        driver.kill()
    scored(None, source, run_in(source), out=out, measures=["RR"])
    assert graphkit.read_results(out).measures == ["RR"]
    assert not list(tmp_path.glob(".out.*"))
