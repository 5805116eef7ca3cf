"""Loading: twice is once, what changed is replaced, what died is repaired, and two at once don't double."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph import form
from graphkit.graph.claims import claim, unfinished_loads
from graphkit.graph.datasets import load_dataset
from graphkit.graph.gradings import gradings
from graphkit.graph.queries import cypher, read_query, schema_statements
from graphkit.graph.runs import load_run
from graphkit.measures.registry import parse_measure
from graphkit.scoring import batches, from_files
from graphkit.scoring.in_graph import score_run
from tests.helpers import ROOT
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl
from tests.helpers.engines import EngineSettings

RUN = "storefront-graph"

#: What tells when something was written, not what.
VOLATILE = ("loaded_at", "folder")


@pytest.fixture
def empty_store(store: Store) -> Store:
    """Each database in turn, empty, with its constraints and indexes."""
    store.schema(schema_statements())
    return store


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A copy of the storefront dataset that a test may change."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for file in STOREFRONT.glob("*.jsonl"):
        shutil.copy(file, folder)
    shutil.copytree(STOREFRONT / "runs", folder / "runs")
    return folder


def contents(store: Store) -> Counter[str]:
    """Return every node and relationship with its properties, and how often it is there."""
    nodes = store.read("MATCH (n) RETURN labels(n) AS kind, properties(n) AS properties")
    edges = store.read(
        "MATCH (a)-[r]->(b) RETURN type(r) AS kind, properties(r) AS properties, "
        "coalesce(a.key, a.id, a.name, a.question) AS source, coalesce(b.key, b.id, b.name, b.question) AS target"
    )
    return Counter(json.dumps(_steady(row), sort_keys=True, default=str) for row in [*nodes, *edges])


def _steady(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "properties": {name: one for name, one in row["properties"].items() if name not in VOLATILE}}


def load_all(store: Store, dataset: Path, run: str = RUN) -> None:
    """Load a dataset and one of its runs."""
    graphkit.load(store, dataset)
    load_run(store, dataset.name, run, dataset / "runs" / f"{run}.jsonl")


def test_each_record_is_loaded(empty_store: Store, dataset: Path) -> None:
    """What a load says it wrote is what the files hold and what the graph holds."""
    summary = graphkit.load(empty_store, dataset)
    lines = {kind: len(read_jsonl(dataset / f"{kind}.jsonl")) for kind in ("questions", "commits", "compatibility")}
    for kind in ("artifacts", "edges"):
        lines[kind] = sum(len(read_jsonl(file)) for file in dataset.glob(f"{kind}-*.jsonl"))
    assert summary.written == lines
    steps = [step for one in read_jsonl(dataset / "questions.jsonl") for path in one["paths"] for step in path["steps"]]
    for pattern, count in {
        "(n:Question)": lines["questions"],
        "()-[n:EDGE]->()": lines["edges"],
        "()-[n:GOLD]->()": len(steps),
        "(n:Stack)": lines["compatibility"],
    }.items():
        assert empty_store.read(f"MATCH {pattern} RETURN count(n) AS count") == [{"count": count}]


def test_load_decodes_each_line_once(empty_store: Store, dataset: Path, parsed: Counter[tuple[str, int]]) -> None:
    """Checking, stale gold, foreign ids and writing share one reading of the questions and of the knowledge graphs."""
    graphkit.load(empty_store, dataset)
    files = [
        "questions.jsonl",
        *(f"{kind}-stack-{number}.jsonl" for kind in ("artifacts", "edges") for number in (1, 2)),
    ]
    lines = {(name, number + 1): 1 for name in files for number in range(len(read_jsonl(dataset / name)))}
    assert parsed == lines


def test_evaluation_decodes_a_run_once(empty_store: Store, dataset: Path, parsed: Counter[tuple[str, int]]) -> None:
    """A run is written from the records that were scored; where the graph holds just them, none are put aside."""
    graphkit.load(empty_store, dataset)
    file = dataset / "runs" / f"{RUN}.jsonl"
    lines = {(name, number): 1 for name in ("questions.jsonl", file.name) for number in range(1, 31)}
    for _ in range(2):
        parsed.clear()
        graphkit.evaluate(file, store=empty_store)
        assert parsed == lines
        assert empty_store.read("MATCH (a:Answer) RETURN count(a) AS count") == [{"count": 30}]


def test_evaluation_of_a_shuffled_run_writes_what_its_file_holds(
    empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records far from their questions, in files of many batches on two processes, are written as a load would."""
    monkeypatch.setattr(batches, "SIZE", 7)
    monkeypatch.setattr(from_files, "SMALL", 0)
    file = dataset / "runs" / f"{RUN}.jsonl"
    write_jsonl(file, read_jsonl(file)[::-1])
    load_all(empty_store, dataset)
    expected = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store, keep_rows=False)
    assert contents(empty_store) == expected


def test_loading_twice_changes_nothing(empty_store: Store, dataset: Path) -> None:
    """The second load writes nothing, and every node and relationship is as before."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert sum(summary.written.values()) == 0
    assert summary.unchanged["questions"] == 30
    assert (again.written, again.unchanged) == (0, 30)
    assert contents(empty_store) == before
    assert unfinished_loads(empty_store) == []


def test_new_form_loads_everything_anew(empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where graphkit writes in a new form, no file, question or run of the former one counts as there already."""
    load_all(empty_store, dataset)
    monkeypatch.setattr(form, "FORM", "a later one")
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert set(summary.unchanged.values()) == {0}
    assert summary.written["questions"] == 30
    assert (again.written, again.unchanged) == (30, 0)


def form_digest(folder: Path, rows: Path) -> str:
    """Return a digest of what decides what a load writes: the schema, the load queries, and what makes their rows."""
    queries = [folder / "schema.cypher", *sorted((folder / "load").glob("*.cypher"))]
    texts = [f"{path.name}\n{read_query(path).text}" for path in queries] + [rows.read_text(encoding="utf-8")]
    return blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


def test_form_is_that_of_what_is_written() -> None:
    """Whoever changes the schema, a load query or the rows decides whether databases must be loaded anew."""
    digest = form_digest(ROOT / "cypher", ROOT / "graphkit" / "graph" / "rows.py")
    assert digest == form.FORM_DIGEST, (
        "cypher/schema.cypher, cypher/load/ or graphkit/graph/rows.py have changed. If a load now writes anything else "
        "(labels, properties, keys, relationships), give FORM in graphkit/graph/form.py the next number, so that what "
        f'former versions wrote is loaded anew. In any case record there: FORM_DIGEST = "{digest}"'
    )


@pytest.mark.parametrize("changed", ["schema.cypher", "load/answers.cypher", "rows.py"])
def test_form_digest_sees_a_change(tmp_path: Path, changed: str) -> None:
    """A changed index, query or row is another digest; a comment in a query's header is none."""
    shutil.copytree(ROOT / "cypher", tmp_path, dirs_exist_ok=True)
    shutil.copy(ROOT / "graphkit" / "graph" / "rows.py", tmp_path)
    before = form_digest(tmp_path, tmp_path / "rows.py")
    header = tmp_path / "load" / "answers.cypher"
    header.write_text(header.read_text().replace("// title:", "// title: more of", 1))
    assert form_digest(tmp_path, tmp_path / "rows.py") == before
    with (tmp_path / changed).open("a") as stream:
        stream.write("more")
    assert form_digest(tmp_path, tmp_path / "rows.py") != before


def change(dataset: Path, name: str, **fields: Any) -> None:
    """Change one question of a dataset."""
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", [{**one, **(fields if one["id"] == name else {})} for one in records])


def gold_of(store: Store, question: str) -> list[tuple[object, ...]]:
    """Return the gold edges of a question, from the paths of artifacts and from the lists that measures read."""
    edges = store.read(
        "MATCH (a)-[g:GOLD {question: $id}]->(b) RETURN a.id AS source, g.relation AS relation, b.id AS target",
        {"id": question},
    )
    lists: list[dict[str, Any]] = store.read(
        "MATCH (:Question {id: $id})-[:EXPECTS]->(p:GoldPath) "
        "RETURN p.sources AS sources, p.relations AS relations, p.targets AS targets",
        {"id": question},
    )
    listed = [edge for row in lists for edge in zip(row["sources"], row["relations"], row["targets"], strict=True)]
    drawn = [(row["source"], row["relation"], row["target"]) for row in edges]
    assert Counter(drawn) == Counter(listed)
    return sorted(drawn)


def test_changed_question_replaces_its_gold_only(empty_store: Store, dataset: Path) -> None:
    """A new gold path takes the place of the old ones; every other question stays as it is."""
    load_all(empty_store, dataset)
    others = [one["id"] for one in read_jsonl(dataset / "questions.jsonl") if one["id"] != "sf-02"]
    before = {name: gold_of(empty_store, name) for name in others}
    change(dataset, "sf-02", paths=[[["web:new.ts#f", "CALLS", "api:new.py#g"]]])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["questions"] == 1
    assert summary.unchanged["questions"] == 29
    assert gold_of(empty_store, "sf-02") == [("web:new.ts#f", "CALLS", "api:new.py#g")]
    assert {name: gold_of(empty_store, name) for name in others} == before
    # Neither end was among the artifacts of the dataset.
    assert summary.created_artifacts == ["api:new.py#g", "web:new.ts#f"]


def test_unknown_gold_end_becomes_an_artifact(empty_store: Store, dataset: Path) -> None:
    """An end that the knowledge graph lacks is created from its id, once, and reported."""
    change(dataset, "sf-02", paths=[[["web:new.ts#f", "CALLS", "api:new.py#g"], ["api:new.py#g", "CALLS", "bare"]]])
    first = graphkit.load(empty_store, dataset)
    assert {"web:new.ts#f", "api:new.py#g", "bare"} <= set(first.created_artifacts)
    rows = empty_store.read(
        "MATCH (a:Artifact) WHERE a.id IN $ids RETURN a.id AS id, a.repo AS repo, a.path AS path, a.symbol AS symbol "
        "ORDER BY id",
        {"ids": ["web:new.ts#f", "bare"]},
    )
    assert rows == [
        {"id": "bare", "repo": None, "path": None, "symbol": None},
        {"id": "web:new.ts#f", "repo": "web", "path": "new.ts", "symbol": "f"},
    ]
    assert graphkit.load(empty_store, dataset).created_artifacts == []


def test_removed_question_disappears(empty_store: Store, dataset: Path) -> None:
    """A question that the file no longer holds is gone, with its gold; when it is back, all is as it was."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    whole = (dataset / "questions.jsonl").read_text()
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", records[1:])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["questions removed"] == 1
    assert empty_store.read("MATCH (q:Question) RETURN count(q) AS count") == [{"count": 29}]
    assert gold_of(empty_store, records[0]["id"]) == []
    values = score_run(empty_store, dataset.name, RUN, [parse_measure("EdgeRecall")])
    assert values.questions == 29
    (dataset / "questions.jsonl").write_text(whole)
    load_all(empty_store, dataset)
    assert contents(empty_store) == before


def test_changed_graph_is_replaced(empty_store: Store, dataset: Path) -> None:
    """The edges of a changed knowledge graph are replaced, and those of the other one stay."""
    graphkit.load(empty_store, dataset)
    edges = read_jsonl(dataset / "edges-stack-1.jsonl")
    write_jsonl(dataset / "edges-stack-1.jsonl", edges[:10])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["edges"] == 10
    rows = empty_store.read("MATCH ()-[e:EDGE]->() RETURN e.graph AS graph, count(e) AS count ORDER BY graph")
    kept = len(read_jsonl(dataset / "edges-stack-2.jsonl"))
    assert rows == [{"graph": "shop/stack-1", "count": 10}, {"graph": "shop/stack-2", "count": kept}]


def test_changed_run_is_replaced_as_a_whole(empty_store: Store, dataset: Path) -> None:
    """Nothing of a run's former records is left, and nothing of other runs is touched."""
    load_all(empty_store, dataset)
    load_all(empty_store, dataset, "storefront-bm25")
    file = dataset / "runs" / f"{RUN}.jsonl"
    records = [one for one in read_jsonl(file) if "error" not in one][:3]
    write_jsonl(file, records)
    result = load_run(empty_store, dataset.name, RUN, file)
    assert (result.written, result.unchanged) == (3, 0)
    counts = empty_store.read("MATCH (a:Answer) RETURN a.run AS run, count(a) AS count ORDER BY run")
    assert counts == [{"run": "storefront-bm25", "count": 30}, {"run": RUN, "count": 3}]
    steps = sum(len(one["traversal"]) for one in records)
    assert steps > 0
    walked = empty_store.read("MATCH ()-[t:TRAVERSED]->() RETURN t.run AS run, count(t) AS count")
    assert walked == [{"run": RUN, "count": steps}]
    values = score_run(empty_store, dataset.name, RUN, [parse_measure("EdgeRecall")])
    assert (values.questions, values.missing) == (30, 27)


# Loads that die ----------------------------------------------------------------------------------------------------


class Stop(Exception):
    """Raised by a test in the middle of a load."""


def stopping_at(kind: str) -> Any:
    """Return a progress callback that raises when the first records of a kind were written."""

    def progress(found: str, count: int) -> None:
        if found == kind:
            raise Stop

    return progress


@pytest.mark.parametrize("kind", ["commits", "edges", "questions"])
def test_interrupted_load_is_reported_and_repaired(empty_store: Store, dataset: Path, kind: str) -> None:
    """A load that died at any stage is named as unfinished, and running it again completes it."""
    with pytest.raises(Stop):
        load_dataset(empty_store, Dataset(dataset), Problems(), stopping_at(kind))
    (unfinished,) = unfinished_loads(empty_store)
    assert (unfinished.name, unfinished.interrupted) == ("dataset shop", True)
    assert "run it again" in str(unfinished)
    graphkit.load(empty_store, dataset)
    assert unfinished_loads(empty_store) == []
    repaired = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.load(empty_store, dataset)
    assert repaired == contents(empty_store)


@pytest.mark.parametrize("kind", ["edges", "questions"])
def test_interrupted_change_is_taken_back_by_loading_the_former_files(
    empty_store: Store, dataset: Path, kind: str
) -> None:
    """After a change that died half-way, loading the files as they were gives what they hold, not a mixture."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    names = ("commits.jsonl", "edges-stack-1.jsonl", "questions.jsonl")
    former = {name: (dataset / name).read_text() for name in names}
    commits = read_jsonl(dataset / "commits.jsonl")
    write_jsonl(dataset / "commits.jsonl", [{**one, "branch": "moved"} for one in commits])
    write_jsonl(dataset / "edges-stack-1.jsonl", read_jsonl(dataset / "edges-stack-1.jsonl")[:5])
    change(dataset, "sf-02", paths=[])
    with pytest.raises(Stop):
        load_dataset(empty_store, Dataset(dataset), Problems(), stopping_at(kind))
    for name, text in former.items():
        (dataset / name).write_text(text)
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", store=empty_store, keep_rows=False)
    assert contents(empty_store) == before


KILLED = """
import os, signal, sys
from pathlib import Path
import graphkit
def progress(kind, count):
    if kind == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store, progress=progress)
"""


@pytest.mark.parametrize("kind", ["edges", "answers"])
def test_killed_load_is_repaired(empty_store: Store, engine_settings: EngineSettings, dataset: Path, kind: str) -> None:
    """A process that is killed while it loads leaves a load that is told, and repaired by running again."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    command = [sys.executable, "-c", KILLED, str(file), kind]
    done = subprocess.run(command, cwd=ROOT, env=engine_settings.env, capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    (unfinished,) = unfinished_loads(empty_store)
    assert unfinished.interrupted
    assert unfinished.name == ("dataset shop" if kind == "edges" else f"run {RUN}")
    if kind == "answers":
        with pytest.raises(InputError, match="not loaded to its end"):
            graphkit.failures(empty_store, RUN, "wrong-turns")
    graphkit.evaluate(file, store=empty_store)
    assert unfinished_loads(empty_store) == []
    repaired = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store)
    assert repaired == contents(empty_store)


CLEARING = """
import os, signal, sys
from pathlib import Path
import graphkit
from graphkit.graph import gradings, runs
from graphkit.graph.queries import cypher
def clear(store, query, parameters):
    deleted = store.write(cypher(query), {**parameters, "limit": 3})[0]["deleted"]
    if deleted and query == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
runs.clear = gradings.clear = clear
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store, measures=["EdgeRecall", "RR"])
"""


@pytest.mark.parametrize("query", ["load/clear_scores", "load/clear_traversed", "load/clear_answers"])
def test_run_killed_while_it_is_replaced_is_not_whole(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path, query: str
) -> None:
    """A run that lost something to a replacement that was killed says so, and its former file brings it all back."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    before = contents(empty_store)
    former = file.read_text()
    write_jsonl(file, [{**one, "traversal": []} for one in read_jsonl(file)])
    command = [sys.executable, "-c", CLEARING, str(file), query]
    done = subprocess.run(command, cwd=ROOT, env=engine_settings.env, capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert contents(empty_store) != before
    (run,) = empty_store.read(cypher("read/runs"))
    assert (run["complete"], run["digest"], gradings(empty_store, RUN)) == (False, "", {})
    with pytest.raises(InputError, match="not loaded to its end"):
        graphkit.failures(empty_store, RUN, "wrong-turns")
    file.write_text(former)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    assert contents(empty_store) == before


def test_scores_killed_while_they_are_replaced_are_not_whole(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """The run keeps its name for the measures that weren't replaced, and none for those that died half-way."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR", "EdgeF1"])
    before = contents(empty_store)
    command = [sys.executable, "-c", CLEARING, str(file), "load/clear_scores"]
    done = subprocess.run(command, cwd=ROOT, env=engine_settings.env, capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    (run,) = empty_store.read(cypher("read/runs"))
    assert run["complete"]
    complete = {name: grading.complete for name, grading in gradings(empty_store, RUN).items()}
    assert complete == {"EdgeF1": True, "EdgeRecall": False, "RR": False}
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR", "EdgeF1"])
    assert contents(empty_store) == before


def test_load_that_died_before_it_changed_anything_is_taken_back(empty_store: Store, dataset: Path) -> None:
    """The dataset is whole, and the next evaluation says so."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store)
    before = contents(empty_store)
    with pytest.raises(Stop), claim(empty_store, "dataset shop"):
        raise Stop
    assert [load.name for load in unfinished_loads(empty_store)] == ["dataset shop"]
    graphkit.evaluate(file, store=empty_store)
    assert unfinished_loads(empty_store) == []
    assert contents(empty_store) == before


RELEASING = """
import os, signal, sys
from pathlib import Path
import graphkit
from graphkit.graph.queries import cypher
from graphkit.database.store import Store
write = Store.write
def dying(self, text, parameters=None):
    if text == cypher("load/release"):
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, text, parameters)
Store.write = dying
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store)
"""


def test_what_is_whole_is_not_told_as_interrupted(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """The last mark of a load and its release are one: no process can die between them."""
    command = [sys.executable, "-c", RELEASING, str(dataset / "runs" / f"{RUN}.jsonl")]
    done = subprocess.run(command, cwd=ROOT, env=engine_settings.env, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert unfinished_loads(empty_store) == []


def test_scores_of_a_former_file_go_with_it(empty_store: Store, dataset: Path) -> None:
    """A run that is replaced loses the scores of measures that weren't asked for again: they were of other answers."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    write_jsonl(file, [{**one, "retrieved": []} for one in read_jsonl(file)])
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    held = "MATCH (s:Score) RETURN DISTINCT s.measure AS measure"
    assert empty_store.read(held) == [{"measure": "EdgeRecall"}]
    assert list(gradings(empty_store, RUN)) == ["EdgeRecall"]


def test_run_remembers_its_file(empty_store: Store, dataset: Path) -> None:
    """The graph names the log of a run, also after it was moved."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store)
    assert empty_store.read(cypher("read/runs"))[0]["file"] == str(file.resolve())
    moved = file.rename(file.with_name("moved.jsonl"))
    graphkit.evaluate(moved, store=empty_store)
    assert empty_store.read(cypher("read/runs"))[0]["file"] == str(moved.resolve())


EVALUATING = """
import sys
from pathlib import Path
import graphkit
print("ready", flush=True)
sys.stdin.readline()
with graphkit.open_store() as store:
    print(graphkit.evaluate(Path(sys.argv[1]), store=store).measures["EdgeRecall"].mean)
"""


def test_two_processes_at_once_do_not_double(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """Two processes that load the same dataset and run at once leave what one alone leaves."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", EVALUATING, str(file)],
            cwd=ROOT,
            env=engine_settings.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0] != ""
    both = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store)
    assert both == contents(empty_store)


def test_a_load_waits_for_another_ones(empty_store: Store, dataset: Path) -> None:
    """While a living process holds a load, it isn't interrupted, and another's patience ends with a sentence."""
    with claim(empty_store, "dataset shop"):
        (unfinished,) = unfinished_loads(empty_store)
        assert not unfinished.interrupted
        with (
            pytest.raises(DatabaseError, match="another process has been loading dataset shop"),
            claim(empty_store, "dataset shop", patience=0.0),
        ):
            pass
    assert unfinished_loads(empty_store) == []


# What belongs to whom ----------------------------------------------------------------------------------------------


def test_question_of_another_dataset_is_refused(empty_store: Store, dataset: Path, tmp_path: Path) -> None:
    """A second dataset can't take over a question, and nothing of it is written."""
    graphkit.load(empty_store, dataset)
    before = contents(empty_store)
    other = tmp_path / "other"
    write_jsonl(other / "questions.jsonl", [{"id": "new", "question": "?"}, {"id": "sf-02", "question": "?"}])
    with pytest.raises(InputError, match="'sf-02' already belongs to the dataset 'shop'"):
        graphkit.load(empty_store, other)
    assert contents(empty_store) == before


def test_run_of_another_dataset_is_refused(empty_store: Store, dataset: Path, tmp_path: Path) -> None:
    """A run's name belongs to the dataset that it was first loaded for."""
    load_all(empty_store, dataset)
    other = tmp_path / "other"
    write_jsonl(other / "questions.jsonl", [{"id": "new", "question": "?", "relevant": ["a"]}])
    file = write_jsonl(other / "runs" / "r.jsonl", [{"run": RUN, "question_id": "new", "retrieved": ["a"]}])
    with pytest.raises(InputError, match="already belongs to the dataset 'shop'"):
        graphkit.evaluate(file, store=empty_store)
    assert empty_store.read("MATCH (a:Answer {run: $run}) RETURN count(a) AS count", {"run": RUN}) == [{"count": 30}]


def test_late_commits_are_linked(empty_store: Store, dataset: Path) -> None:
    """Chunks whose commits are loaded after the run are linked to them as if they had been there before."""
    commits = (dataset / "commits.jsonl").read_text()
    rows = (dataset / "compatibility.jsonl").read_text()
    for file in (*dataset.glob("artifacts-*.jsonl"), dataset / "commits.jsonl"):
        file.unlink()  # artifacts name commits, too
    (dataset / "compatibility.jsonl").unlink()
    load_all(empty_store, dataset, "storefront-bm25")
    linked = "MATCH (:Chunk)-[t:AT]->(:Commit) RETURN count(t) AS count"
    assert empty_store.read(linked) == [{"count": 0}]
    (dataset / "commits.jsonl").write_text(commits)
    (dataset / "compatibility.jsonl").write_text(rows)
    graphkit.load(empty_store, dataset)
    late = empty_store.read(linked)
    empty_store.write("MATCH (n) DETACH DELETE n")
    load_all(empty_store, dataset, "storefront-bm25")
    assert late == empty_store.read(linked) != [{"count": 0}]
