"""A graph that version 10 wrote: it is refused with the command that migrates it, and nothing given is lost."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.content import graph_content, in_older_form
from graphkit.graph.digests import content_digest, run_digest
from graphkit.graph.queries import schema_statements
from graphkit.graph.score_nodes import gradings, held_values
from graphkit.plugins.judging.verdict_nodes import judgings
from graphkit.plugins.sandbox.execution_nodes import executed
from graphkit.plugins.upkeep.removal import remove_dataset
from graphkit.plugins.upkeep.schema_migration import migrate
from tests.helpers import ROOT, forked
from tests.helpers.cli import Graph, inside, tiny
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.engines import EngineSettings
from tests.helpers.loading import contents

#: Written by the commit before version 11: a dataset with its run, scores of a person, a verdict and an execution.
FORMER = Path(__file__).with_name("version_10")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The dataset that the graph was loaded from."""
    return shutil.copytree(FORMER / "shop", tmp_path / "shop")


def value(of: object, folder: Path) -> object:
    """Return a property as the database holds it."""
    if isinstance(of, Mapping):
        return datetime.fromisoformat(of["datetime"])
    return of.replace("FOLDER", str(folder)) if isinstance(of, str) else of


def restored(store: Store, folder: Path) -> None:
    """Write the graph as version 10 left it, with its files in a folder."""
    for number, line in enumerate((FORMER / "graph.jsonl").read_text().splitlines()):
        [(kind, one)] = json.loads(line).items()
        properties = {name: value(held, folder) for name, held in one["properties"].items()}
        if kind == "node":
            labels = ":".join(one["labels"])
            store.write(f"CREATE (n:{labels}) SET n = $p, n.place = $place", {"p": properties, "place": number})
        else:
            ends = {"source": one["source"], "target": one["target"], "p": properties}
            store.write(
                f"MATCH (a {{place: $source}}), (b {{place: $target}}) CREATE (a)-[r:{one['type']}]->(b) SET r = $p",
                ends,
            )
    store.write("MATCH (n) REMOVE n.place")


def given(store: Store) -> dict[str, Any]:
    """Return what no file could give again, with the answers that it is linked to."""
    return {
        name: sorted(map(str, store.read(query)))
        for name, query in {
            "scores": "MATCH (a:Answer)-[:SCORED]->(s:Score) WHERE s.measure <> 'RightAnswer' "
            "RETURN a.question, s.measure, s.value, s.grader",
            "verdicts": "MATCH (a:Answer)-[:JUDGED]->(v:Verdict) RETURN a.question, v.judge",
            "claims": "MATCH (a:Answer)-[:CLAIMS]->(c:Claim)-->(k:Chunk) RETURN a.question, c.text, k.id",
            "executions": "MATCH (a:Answer)-[:EXECUTED]->(e:Execution) RETURN a.question, e.status",
        }.items()
    }


def whole(store: Store) -> None:
    """Check that the migrated graph holds all, in this form, and counts it as current."""
    assert in_older_form(store) == []
    assert held_values(store, "r", "Style")[0] == {"q1": 0.5, "q2": 0.5}
    assert held_values(store, "r", "EdgeRecall")[0] == {"q1": 0.5, "q2": 1.0}
    assert all(one.complete and one.current for one in gradings(store, "r").values())
    assert judgings(store, "r")["me"].current
    done = executed(store, "r")
    assert done is not None
    assert done.current


def test_older_graph_is_refused_with_the_command(empty_store: Store, shop: Path) -> None:
    """A run in an older form isn't read, and the message and the status name what migrates it."""
    restored(empty_store, shop.parent)
    assert graph_content(empty_store).older == ["the dataset shop", "the run r"]
    with pytest.raises(InputError, match="graphkit db migrate"):
        graphkit.failures(empty_store, "r", "missed-edges")


def test_migration_keeps_what_was_given(empty_store: Store, shop: Path) -> None:
    """Dataset and run are loaded again; scores, verdicts and executions stay, linked and current."""
    restored(empty_store, shop.parent)
    before = given(empty_store)
    assert [len(rows) for rows in before.values()] == [6, 1, 1, 1]
    found = migrate(empty_store)
    assert (found.datasets, found.runs, found.left) == (["shop"], ["r"], [])
    assert given(empty_store) == before
    whole(empty_store)
    held = contents(empty_store)
    assert migrate(empty_store).datasets == []
    graphkit.evaluate(shop / "runs" / "r.jsonl", store=empty_store, measures=["EdgeRecall", "EdgePrecision"])
    # Scores of former versions say neither what counts nor which answers are right; the evaluation does.
    apart = contents(empty_store) - held + (held - contents(empty_store))
    assert apart
    assert all('"Score"' in one or '"SCORED"' in one for one in apart)
    assert given(empty_store) == before


def test_migration_loads_seeds(empty_store: Store, tmp_path: Path) -> None:
    """A run of a version without seeds has those of its file afterwards, as if it were loaded now."""
    run = tiny(tmp_path / "shop")
    [first, *others] = read_jsonl(run)
    write_jsonl(run, [{**first, "seeds": ["api:linked.py", {"id": "api:linked.py", "score": 0.5}]}, *others])
    graphkit.evaluate(run, store=empty_store)
    expected = contents(empty_store)
    former = run_digest(content_digest(run), ["q1", "q2"], "10")
    empty_store.write("MATCH (r:Run) SET r.schema = '10', r.digest = $of, r.schema_digest = $of", {"of": former})
    empty_store.write("MATCH (a:Answer)-[s:SEEDED]->() REMOVE a.seeds_logged DELETE s")
    assert contents(empty_store) != expected
    assert migrate(empty_store).runs == ["r"]
    assert contents(empty_store) == expected


#: The uniqueness of version 14 and before: of ids in the whole database, and of keys joined from several values.
FORMER_SCHEMA = (
    "CREATE CONSTRAINT artifact_id IF NOT EXISTS FOR (a:Artifact) REQUIRE a.id IS UNIQUE",
    "CREATE CONSTRAINT question_id IF NOT EXISTS FOR (q:Question) REQUIRE q.id IS UNIQUE",
    "CREATE CONSTRAINT answer_key IF NOT EXISTS FOR (a:Answer) REQUIRE a.key IS UNIQUE",
    "CREATE CONSTRAINT grading_key IF NOT EXISTS FOR (g:Grading) REQUIRE g.key IS UNIQUE",
    "CREATE INDEX answer_run_question IF NOT EXISTS FOR (a:Answer) ON (a.run, a.question)",
)


def test_older_ids_are_not_mixed_with_new_ones(empty_store: Store, shop: Path) -> None:
    """A dataset of the same ids is loaded beside an older one, which stays; migrated, nothing of its form is left."""
    present = (
        *(("CONSTRAINT", name) for name in ("artifact_of_dataset", "question_of_dataset", "answer_of_run")),
        *(("INDEX", name) for name in ("artifact_by_id", "question_by_id")),
    )
    empty_store.schema([f"DROP {kind} {name} IF EXISTS" for kind, name in present])
    empty_store.schema(FORMER_SCHEMA)
    restored(empty_store, shop.parent)
    empty_store.schema(schema_statements())
    before = given(empty_store)
    gold = "MATCH (a)-[g:GOLD]->(b) WHERE g.dataset IS NULL RETURN count(g) AS n"
    older = empty_store.read(gold)
    assert older[0]["n"]
    other = shutil.copytree(shop, shop.parent / "other")
    shutil.rmtree(other / "runs")
    graphkit.load(empty_store, other)
    # Its questions change and go: the older dataset's gold under the same ids stays.
    rows = [json.loads(line) for line in (other / "questions.jsonl").read_text().splitlines()]
    (other / "questions.jsonl").write_text(json.dumps({**rows[0], "question": "Changed?"}) + "\n")
    graphkit.load(empty_store, other)
    assert empty_store.read(gold) == older
    assert (given(empty_store), in_older_form(empty_store)) == (before, ["the dataset shop", "the run r"])
    remove_dataset(empty_store, "other")
    assert empty_store.read(gold) == older
    migrate(empty_store)
    assert given(empty_store) == before
    whole(empty_store)
    for label in ("Artifact", "Chunk", "GoldPath"):
        assert empty_store.read(f"MATCH (n:{label}) WHERE n.dataset IS NULL RETURN count(n) AS n") == [{"n": 0}]
    assert empty_store.read(gold) == [{"n": 0}]
    assert empty_store.read("MATCH (n:Answer|Grading|Judging) WHERE n.key IS NOT NULL RETURN count(n) AS n") == [
        {"n": 0}
    ]
    migrated = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(shop / "runs" / "r.jsonl", store=empty_store, measures=["EdgeRecall"])
    # But for what was given, which no file has, the graph is what a load writes.
    structure = (
        "Artifact",
        "Chunk",
        "Question",
        "GoldPath",
        "Answer",
        "RetrievedPath",
        "GOLD",
        "EDGE",
        "TRAVERSED",
        "OF",
        "HAS",
    )
    for kind in structure:
        mark = f'"{kind}"'
        assert {one for one in migrated if mark in one} == {one for one in contents(empty_store) if mark in one}, kind


def test_evaluation_of_an_older_run_keeps_what_was_given(empty_store: Store, shop: Path) -> None:
    """Without a migration, too, loading the same answers again loses no verdict, given score or execution."""
    restored(empty_store, shop.parent)
    before = given(empty_store)
    graphkit.evaluate(shop / "runs" / "r.jsonl", store=empty_store, measures=["EdgeRecall", "EdgePrecision"])
    assert given(empty_store) == before


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("shop/runs/r.jsonl", ["the run r: {folder}/shop/runs/r.jsonl is gone"]),
        ("shop", ["the dataset shop: its files in {folder}/shop can't be read", "the run r: its dataset shop"]),
    ],
)
def test_what_cannot_be_read_stays(empty_store: Store, shop: Path, gone: str, left: list[str]) -> None:
    """Without its file, a run stays as it is with all that was given, and the message says what helps."""
    restored(empty_store, shop.parent)
    before = given(empty_store)
    path = shop.parent / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = migrate(empty_store)
    assert len(found.left) == len(left)
    for sentence, beginning in zip(found.left, left, strict=True):
        assert sentence.startswith(beginning.format(folder=shop.parent))
    assert given(empty_store) == before


def test_changed_files_are_not_taken_for_the_old(empty_store: Store, shop: Path) -> None:
    """Changed gold is never loaded as if the scores were by it; the message names the command that loads it."""
    restored(empty_store, shop.parent)
    questions = shop / "questions.jsonl"
    questions.write_text(questions.read_text().replace("Who calls z?", "Who calls it?"))
    before = contents(empty_store)
    found = migrate(empty_store)
    assert "graphkit load" in found.left[0]
    assert contents(empty_store) == before


#: Migrates, and kills its own process at its n-th write.
KILLED = """
import os, signal, sys
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.plugins.upkeep.schema_migration import migrate
writes = 0
def counted(then):
    def write(*given, **more):
        global writes
        writes += 1
        if writes == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        return then(*given, **more)
    return write
with Store.open(Settings.resolve()) as store:
    store.write, store.write_many = counted(store.write), counted(store.write_many)
    migrate(store)
"""


@pytest.mark.slow("about ten processes are killed")
def test_killed_migration_goes_on(empty_store: Store, shop: Path, engine_settings: EngineSettings) -> None:
    """Killed at any of the first writes, or at every fifth after them, a migration is ended by the next one."""
    restored(empty_store, shop.parent)
    before = given(empty_store)
    code, step = -signal.SIGKILL, 1
    while code:
        code = forked.program(KILLED, step, cwd=ROOT, env=engine_settings.env).wait()
        assert code in (0, -signal.SIGKILL), step
        found = migrate(empty_store)
        assert found.left == [], step
        assert given(empty_store) == before, step
        whole(empty_store)
        empty_store.write("MATCH (n) DETACH DELETE n")
        restored(empty_store, shop.parent)
        step += 1 if step < 4 else 5
    assert step > 20


def test_command_migrates(graph: Graph, shop: Path) -> None:
    """``graphkit db migrate`` says what it migrated, then that nothing is left, and what only an evaluation adds."""
    restored(graph.store, shop.parent)
    first = inside("db", "migrate", cwd=shop.parent, env=graph.env, code=0)
    assert first.out.splitlines()[:2] == ["migrated the dataset shop", "migrated the run r"]
    again = f"`graphkit evaluate {shop}/runs/r.jsonl` renews them"
    lacks = f"the scores of r lack the values that count and their paths: {again}"
    assert first.out.splitlines()[2:] == [f"note: {lacks}"]
    second = inside("db", "migrate", "--json", cwd=shop.parent, env=graph.env, code=0)
    assert second.object() == {"datasets": [], "runs": [], "left": [], "notes": [lacks]}
    inside("evaluate", f"{shop}/runs/r.jsonl", cwd=shop.parent, env=graph.env, code=0)
    third = inside("db", "migrate", cwd=shop.parent, env=graph.env, code=0)
    assert third.out == "everything is in the form of this version\n"
