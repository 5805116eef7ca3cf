"""Questions over two versions, by both engines: gold paths with commits of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from tests.helpers import FAST
from tests.helpers.cli import tiny
from tests.helpers.datasets import find_data, read_jsonl, write_jsonl
from tests.measures import sided_worlds as worlds
from tests.scoring.compared_runs import MEASURED

#: Random questions on which the engines are compared.
WORLDS, SEED = 60 if FAST else 300, 970

#: The measures that sides concern; the full suite compares all forms of each.
COMPARED = [
    one
    for one in MEASURED
    if str(one).startswith(("Edge", "Boundary", "Path", "Coherence", "OffPin", "Incoherent"))
    and not (FAST and "directed=False, relation" in str(one))
]

#: Failures whose rows files give, too.
KINDS = (
    *("missed-edges", "missed-boundaries", "wrong-turns", "mixed-edges", "incoherent-pairs", "edges-missed"),
    *("questions-by-score", "boundaries-missed", "nodes-missed", "relations-missed"),
)


def both(store: Store, run: Path, measures: list[Any]) -> list[graphkit.Evaluation]:
    """Return a run as each engine scores it."""
    return [graphkit.evaluate(run, measures=measures, engine=one, store=store) for one in ("python", "cypher")]


def differing(one: graphkit.Evaluation, two: graphkit.Evaluation) -> list[object]:
    """Return where two results differ by more than 1e-9, in a reason, or at a gate."""
    mine, yours = ({row.question: row for row in result.rows} for result in (one, two))
    assert mine.keys() == yours.keys()
    found: list[object] = []
    for name, row in mine.items():
        for measure, *pair in zip(one.measures, row.values, yours[name].values, strict=True):
            if pair[0] != (pair[1] if isinstance(pair[0], str) else pytest.approx(pair[1], abs=1e-9)):
                found.append((name, measure, *pair))
        if dict(row.strict) != pytest.approx(dict(yours[name].strict), abs=1e-9):
            found.append((name, row.strict, yours[name].strict))
    return found


def made(folder: Path, count: int) -> Path:
    """Write a dataset of random questions with a run of it."""
    found = [worlds.world(SEED + number) for number in range(count)]
    questions, records = ([pair[place] for pair in found] for place in (0, 1))
    return tiny(folder, questions, records, commits=worlds.COMMITS, compatibility=worlds.COMPATIBILITY)


@pytest.mark.newest
def test_random_worlds(store: Store, tmp_path: Path) -> None:
    """On both databases, by both engines, random questions have the same values, reasons, values at gates and rows."""
    run = made(tmp_path, WORLDS)
    python, cypher = both(store, run, COMPARED)
    assert differing(python, cypher) == []
    assert python.relations == cypher.relations
    assert python.relations.unversioned > WORLDS // 4
    for kind in KINDS:
        assert graphkit.failures(store, "r", kind, limit=None) == graphkit.file_failures(run, kind), kind
    for number in range(0, WORLDS, 10):
        mine, yours = (graphkit.why(one, f"q{SEED + number}", store=store) for one in (run, "r"))
        assert str(mine).rpartition("look further")[0] == str(yours).rpartition("look further")[0]


#: The row of shared/data/limits/README.md, and what follows from it: the walk of careless lacks both edges at v1.0.0.
ROW = {"careful": (4 / 4, 1.0, 0.0), "careless": (2 / 4, 1.0, 0.0)}


def expect_row(store: Store, folder: Path, run: str) -> None:
    """Compare the row of the table with what both engines compute."""
    for result in both(store, folder / "runs" / f"{run}.jsonl", ["EdgeRecall", "Coherence", "OffPin"]):
        [row] = [row for row in result.rows if row.question == "two-versions"]
        assert row.values == ROW[run]


@pytest.mark.data
@pytest.mark.parametrize("run", ROW)
def test_the_table_of_limits(store: Store, run: str) -> None:
    """The question about two versions has the values of the table that the team wrote by hand."""
    folder = find_data("limits")
    if folder is None:
        pytest.skip("the data set isn't there")
    expect_row(store, folder, run)


@pytest.fixture
def login(tmp_path: Path) -> Path:
    """Write the question about two versions with both runs, as the table has them."""
    api = {"v1.0.0": "1" * 40, "v2.0.0": "2" * 40}
    commits = [{"repo": "api", "sha": sha, "tags": [tag], "branch": f"of-{tag}"} for tag, sha in api.items()]
    commits.append({"repo": "web", "sha": "3" * 40, "tags": ["w1"], "branch": "main"})
    rows = [{"id": tag, "compatible": True, "commits": {"api": tag, "web": "w1"}} for tag in api]
    enter = ["web:login.ts", "CALLS", "api:auth.py"]
    then = {
        "v1.0.0": ["api:auth.py", "READS", "db:sessions.sql"],
        "v2.0.0": ["api:auth.py", "VERIFIES", "api:token.py"],
    }
    paths = [{"commits": {"api": tag, "web": "w1"}, "steps": [enter, step]} for tag, step in then.items()]
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "two-versions", "question": "?", "paths": paths}])
    write_jsonl(tmp_path / "commits.jsonl", commits)
    write_jsonl(tmp_path / "compatibility.jsonl", rows)
    for run, tags in (("careful", [*api]), ("careless", ["v2.0.0"])):
        walk = [
            {"source": source, "relation": relation, "target": target, f"{end}_commit": tag, "path": number}
            for number, tag in enumerate(tags)
            for end, (source, relation, target) in (("target", enter), ("source", then[tag]))
        ]
        chunks = [{"id": "web:login.ts", "commit": "w1"}, *({"id": "api:auth.py", "commit": tag} for tag in tags)]
        record = {"run": run, "question_id": "two-versions", "retrieved": chunks, "traversal": walk}
        write_jsonl(tmp_path / "runs" / f"{run}.jsonl", [record])
    return tmp_path


@pytest.mark.newest
def test_two_versions(store: Store, login: Path) -> None:
    """On both databases, the row of the table; `why` and the queries name the version that was never read."""
    for run in ROW:
        expect_row(store, login, run)
    assert graphkit.failures(store, "careful", "missed-edges") == []
    lost = graphkit.failures(store, "careless", "missed-edges")
    assert [(row["source"], row["target"]) for row in lost] == [
        ("web:login.ts@v1.0.0", "api:auth.py@v1.0.0"),
        ("api:auth.py@v1.0.0", "db:sessions.sql@v1.0.0"),
    ]
    told = graphkit.why("careless", "two-versions", store=store)
    assert told.cause is not None
    assert "read `api` at `v2.0.0`; the question is about `v1.0.0`" in told.cause
    # Gold edges lie between the artifacts that are there, and say their side.
    sides = store.read("MATCH (a)-[g:GOLD]->(b) RETURN a.id AS a, g.side AS side ORDER BY side, g.position")
    assert [(row["a"], row["side"]) for row in sides] == [
        ("web:login.ts", "v1.0.0"),
        ("api:auth.py", "v1.0.0"),
        ("web:login.ts", "v2.0.0"),
        ("api:auth.py", "v2.0.0"),
    ]


@pytest.mark.newest
def test_an_edge_between_two_versions_is_named(store: Store, login: Path) -> None:
    """On both databases, `why` and the query name a mixed edge, from the file and from the graph."""
    run = login / "runs" / "careless.jsonl"
    [record] = read_jsonl(run)
    step = {"source": "api:auth.py", "relation": "VERIFIES", "target": "api:token.py"}
    record["traversal"].append({**step, "source_commit": "v1.0.0", "target_commit": "v2.0.0", "path": 1})
    write_jsonl(run, [record])
    graphkit.evaluate(run, measures=["EdgeRecall"], store=store)
    row = {"question": "two-versions", **step, "source_commit": "v1.0.0", "target_commit": "v2.0.0"}
    words = "walked from one version into another: api:auth.py at v1.0.0 -VERIFIES-> api:token.py at v2.0.0"
    for found in (graphkit.failures(store, "careless", "mixed-edges"), graphkit.file_failures(run, "mixed-edges")):
        assert [*found] == [row]
    for told in (graphkit.why(run, "two-versions"), graphkit.why("careless", "two-versions", store=store)):
        assert told.conflicts == (words,)
        assert "1 edge from one version into another" in told.verdict


@pytest.mark.newest
def test_gold_that_changes_later(store: Store, login: Path) -> None:
    """A run that is in the graph is compared by the gold of now: other versions, none, and these again."""
    run = login / "runs" / "careless.jsonl"
    first = (login / "questions.jsonl").read_text()
    for text, recall in ((first, 2 / 4), (first.replace("v2.0.0", "v0"), 0 / 4), (first, 2 / 4)):
        (login / "questions.jsonl").write_text(text)
        python, cypher = both(store, run, ["EdgeRecall", "EdgePrecision", "PathExact"])
        assert python.rows[0].values == cypher.rows[0].values
        assert cypher.rows[0].values[0] == recall
    [question] = read_jsonl(login / "questions.jsonl")
    write_jsonl(login / "questions.jsonl", [question | {"paths": [{"steps": question["paths"][1]["steps"]}]}])
    for result in both(store, run, ["EdgeRecall"]):
        assert result.rows[0].values == (1.0,)
    assert store.read("MATCH (p:RetrievedPath) WHERE p.sided_in IS NOT NULL RETURN p.index") == []


@pytest.mark.newest
def test_a_tag_that_is_known_later(store: Store, login: Path) -> None:
    """A walk names a commit by a tag; when that means another commit, it fits another side."""
    run = login / "runs" / "careless.jsonl"
    [question] = read_jsonl(login / "questions.jsonl")
    for path, sha in zip(question["paths"], ("1" * 40, "2" * 40), strict=True):
        path["commits"]["api"] = sha
    write_jsonl(login / "questions.jsonl", [question])
    commits = read_jsonl(login / "commits.jsonl")
    # Of the edges that the run walked at v2.0.0 gold at the first commit has the login alone.
    for tags, recall in ((["v1.0.0"], ["v2.0.0"]), 2 / 4), ((["v2.0.0"], ["v1.0.0"]), 1 / 4):
        write_jsonl(
            login / "commits.jsonl", [one | {"tags": tag} for one, tag in zip(commits, [*tags, ["w1"]], strict=True)]
        )
        for result in both(store, run, ["EdgeRecall"]):
            assert result.rows[0].values == (recall,)


def test_gold_that_the_graph_holds_at_one_version(store: Store, tmp_path: Path) -> None:
    """A person saw auth read sessions at both versions; the graph holds the edge until v1.0.0, so that v2.0.0 lacks it.

    The run walks nothing: of two required edges one was in no graph, by both engines and in every query.
    """
    step = {"source": "api:auth.py", "relation": "READS", "target": "db:sessions.sql", "evidence": "manual"}
    paths = [{"commits": {"api": tag}, "steps": [step]} for tag in ("v1.0.0", "v2.0.0")]
    question = {"id": "q", "question": "Q?", "paths": paths}
    commits = [
        {"repo": "api", "sha": "1" * 40, "tags": ["v1.0.0"]},
        {"repo": "api", "sha": "2" * 40, "tags": ["v2.0.0"], "parents": ["1" * 40]},
    ]
    held = {name: step[name] for name in ("source", "relation", "target")}
    run = tiny(tmp_path, [question], [{"run": "none", "question_id": "q", "traversal": []}], commits=commits)
    write_jsonl(tmp_path / "edges.jsonl", [held | {"until": "v1.0.0"}])
    for result in both(store, run, ["EdgeRecall"]):
        assert (result.rows[0].values, result.invalid) == ((0.0,), {})
    at = {"source": "api:auth.py@v2.0.0", "target": "db:sessions.sql@v2.0.0"}
    row = held | at | {"missed": 1, "required": 1}
    assert graphkit.file_failures(run, "edges-absent") == [row] == graphkit.failures(store, "none", "edges-absent")
    assert store.read("MATCH ()-[e:EDGE]->() RETURN e.since AS since, e.until AS until") == [
        {"since": None, "until": "v1.0.0"}
    ]
