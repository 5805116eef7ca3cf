"""Several datasets in one database: whatever one states is its own, also under the ids of another."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.content import graph_content
from graphkit.graph.queries import cypher
from graphkit.plugins.upkeep.removal import remove_dataset
from tests.helpers.cli import Row, write_lines
from tests.helpers.datasets import read_jsonl
from tests.helpers.engines import EngineSettings
from tests.helpers.loading import contents

NAMES = ("alpha", "beta", "gamma")
#: The forms of a dataset, one after the other.
FORMS = 4
#: How many interleavings each database gets: Neo4j, on which a load takes longer, fewer.
ORDERS = {"embedded": 25, "neo4j": 10}
X, Y, Z = "web:m.ts#x", "api:n.py#y", "db:o.sql#z"


def write(folder: Path, form: int) -> Path:
    """Write a form of a dataset under the ids that all have, and return the file of its run.

    Kinds, repositories and texts have the dataset's name. From form to form a question, an artifact, an edge and an
    answer come or go.
    """
    name = folder.name
    shutil.rmtree(folder, ignore_errors=True)
    other = Z if form == 1 else Y
    questions: list[Row] = [
        {"id": "q1", "question": f"Who, {name}?", "paths": [[[X, "CALLS", Y], [Y, "QUERIES", Z]]]},
        {"id": "q2", "question": "And?", "paths": [[[X, "CALLS", other]]], "category": f"{name} {form}"},
        {"id": "q3", "question": "What?", "paths": [[[Y, "QUERIES", Z]]], "relevant": [Z]},
    ]
    nodes: list[Row] = [
        {"id": X, "kind": f"{name} {form}"},
        {"id": Y, "kind": name, "repo": name, "aliases": [f"y of {name}"]},
        {"id": Z},
        {"id": "web:m.ts#w"},
    ]
    edges = [{"source": X, "relation": "CALLS", "target": Y}, {"source": Y, "relation": "QUERIES", "target": Z}]
    commits = [{"repo": "web", "sha": "1", "branch": name}, {"repo": "api", "sha": f"{form}"}]
    # Form 1 has no q3 and no Y in its graph; form 2 no q2, no edge to Z, and no w; form 3 neither graph nor commits.
    gone = {1: "q3", 2: "q2"}.get(form)
    files: dict[str, list[Row]] = {
        "questions": [one for one in questions if one["id"] != gone],
        "artifacts": [one for one in nodes if (form, one["id"]) not in ((1, Y), (2, "web:m.ts#w"))],
        "edges": edges[:1] if form == 2 else edges,
        "commits": commits,
    }
    for kind, rows in files.items() if form < 3 else [("questions", questions)]:
        write_lines(folder / f"{kind}.jsonl", rows)
    read = [{"id": X, "text": "function x", "commit": "1"}, {"id": "web:m.ts#w", "text": f"w of {name}"}]
    walk = [{"source": X, "relation": "CALLS", "target": Y}]
    answers = [
        {"run": f"of {name}", "question_id": "q1", "answer": name, "retrieved": read, "traversal": walk},
        {"run": f"of {name}", "question_id": "q2", "answer": "", "traversal": [{"source": X, "target": "lib:new"}]},
        {"run": f"of {name}", "question_id": "q3", "answer": "z", "retrieved": [{"id": Z, "text": "table"}]},
    ]
    return write_lines(folder / "runs" / "r.jsonl", [one for one in answers if one["question_id"] != gone])


def load(store: Store, folder: Path) -> None:
    """Load a dataset and its run, and score this."""
    graphkit.evaluate(folder / "runs" / "r.jsonl", folder, store=store, measures=["EdgeRecall", "Recall@5"])


#: What tells when something was written.
#: All nodes but the one that states the form of the whole database.
NODES = "MATCH (n) WHERE NOT n:Graphkit RETURN elementId(n) AS id, labels(n)[0] AS kind, properties(n) AS all"
_TIMES = ("loaded_at", "started_at", "heartbeat")


def rows_by_dataset(store: Store) -> dict[str, Counter[str]]:
    """Return every node and relationship of each dataset, with all of both ends.

    Commits and repositories, which datasets share, stand only where a dataset's nodes name them. No relationship may
    lead from one dataset to another, and nothing else may be there.
    """
    rows: list[dict[str, Any]] = store.read(NODES)
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        row["id"]: (row["kind"], {name: one for name, one in row["all"].items() if name not in _TIMES}) for row in rows
    }
    runs = {one["id"]: one["dataset"] for kind, one in nodes.values() if kind == "Run"}

    def owner(kind: str, one: dict[str, Any]) -> str | None:
        if kind in ("Commit", "Repository"):
            return None
        if kind in ("Dataset", "Source"):
            return str(one.get("name") or one["key"]).partition("/")[0]
        return str(one["dataset"] if "dataset" in one else runs[one["run"]])

    def text(kind: str, one: dict[str, Any]) -> str:
        shown = {"key": one.get("key")} if kind == "Commit" else one
        return f"{kind} {json.dumps(shown, sort_keys=True, default=str)}"

    owners = {key: owner(*node) for key, node in nodes.items()}
    texts = {key: text(*node) for key, node in nodes.items()}
    found: dict[str, Counter[str]] = {name: Counter() for name in NAMES}
    for key, name in owners.items():
        if name is not None:
            found[name][texts[key]] += 1
    edges: list[dict[str, Any]] = store.read(
        "MATCH (a)-[r]->(b) RETURN elementId(a) AS a, type(r) AS kind, properties(r) AS all, elementId(b) AS b"
    )
    listed = {(owners[row["a"]], row["b"]) for row in edges if row["kind"] == "LISTS"}
    for row in edges:
        names = {owners[row["a"]], owners[row["b"]]} - {None}
        assert len(names) < 2, row
        if nodes[row["a"]][0] == "Chunk" and row["kind"] == "AT" and (owners[row["a"]], row["b"]) not in listed:
            continue  # another dataset brought the commit that a chunk names
        for name in names:
            own = json.dumps(row["all"], sort_keys=True, default=str)
            found[str(name)][f"{texts[row['a']]} {row['kind']} {own} {texts[row['b']]}"] += 1
    return found


def alone(store: Store, folder: Path) -> Iterator[Counter[str]]:
    """Yield the rows of each form of a dataset in a database that it has for itself."""
    for form in range(FORMS):
        write(folder, form)
        load(store, folder)
        yield rows_by_dataset(store)[folder.name]
        store.write("MATCH (n) DETACH DELETE n")


@pytest.mark.slow("dozens of loads")
def test_interleaved_datasets_are_as_if_alone(
    empty_store: Store, tmp_path: Path, engine_settings: EngineSettings
) -> None:
    """Loaded, loaded again, updated and removed in any order, each dataset's rows are those that it has alone."""
    rows = {name: list(alone(empty_store, tmp_path / name)) for name in NAMES}
    assert all(len(set(map(str, forms))) == FORMS for forms in rows.values())
    there: dict[str, int | None] = dict.fromkeys(NAMES)
    for number in range(ORDERS[engine_settings.engine]):
        draw = random.Random(number)
        for _ in range(2):
            name, form = draw.choice(NAMES), draw.randrange(FORMS)
            folder = tmp_path / name
            held = there[name]
            if held is not None and draw.random() < 0.25:
                remove_dataset(empty_store, name)
                there[name] = None
            elif held is not None and draw.random() < 0.25:
                load(empty_store, folder)
            else:
                write(folder, form)
                load(empty_store, folder)
                there[name] = form
        expected = {name: Counter() if form is None else rows[name][form] for name, form in there.items()}
        found = rows_by_dataset(empty_store)
        for one in NAMES:
            assert (number, found[one] - expected[one], expected[one] - found[one]) == (number, Counter(), Counter())
    for name in [one for one, form in there.items() if form is not None]:
        remove_dataset(empty_store, name)
    assert empty_store.read("MATCH (n) WHERE NOT n:Graphkit RETURN count(n) AS n") == [{"n": 0}]


def test_two_teams_over_the_same_repositories(empty_store: Store, ci_data: Path) -> None:
    """The second dataset's kinds and repositories stand beside the first one's, which nothing of it changes."""
    teams = ci_data / "two-datasets"

    def stated(name: str) -> list[Any]:
        rows = empty_store.read(
            "MATCH (a:Artifact {dataset: $name}) RETURN a.id AS id, a.repo AS repo, a.kind AS kind ORDER BY id",
            {"name": name},
        )
        return [tuple(row.values()) for row in rows]

    # As the files have it.
    first = [("api:b.py", "api", "module"), ("web:a.ts", "web", "file")]
    second = [("api:b.py", "backend", "handler"), ("web:a.ts", "web", "component")]
    graphkit.load(empty_store, teams / "d1")
    alone = contents(empty_store)
    graphkit.load(empty_store, teams / "d2")
    assert (stated("d1"), stated("d2")) == (first, second)
    # As docs/graph.md shows it, an id alone asks over both.
    assert empty_store.read("MATCH (a:Artifact {id: 'api:b.py'}) RETURN count(a) AS n") == [{"n": 2}]
    remove_dataset(empty_store, "d2")
    assert contents(empty_store) == alone
    graphkit.load(empty_store, teams / "d2")
    graphkit.load(empty_store, teams / "d1")
    assert (stated("d1"), stated("d2")) == (first, second)


def test_what_left_is_gone(empty_store: Store, tmp_path: Path) -> None:
    """A removed question takes its answer and scores from every run, and an artifact that left is no longer known."""
    folder = tmp_path / "alpha"
    write(folder, 0)
    load(empty_store, folder)
    runs = "MATCH (r:Run) RETURN r.questions AS questions, r.failed AS failed"
    assert empty_store.read(runs) == [{"questions": 3, "failed": 0}]
    write(folder, 1)
    summary = graphkit.load(empty_store, folder)
    # Form 1 has no q3, which has an answer and a score by each of two measures.
    removed = {name: count for name, count in summary.written.items() if name.endswith("removed")}
    assert removed == {"questions removed": 1, "answers removed": 1, "scores removed": 2}
    assert "questions removed 1; " in f"{summary.verdict}; "
    assert empty_store.read(runs) == [{"questions": 2, "failed": 0}]
    for label in ("Answer", "Score", "RetrievedPath", "GoldPath"):
        assert empty_store.read(f"MATCH (n:{label} {{question: 'q3'}}) RETURN count(n) AS n") == [{"n": 0}]
    # The graph of form 1 lists Y no more, but an edge and gold name it: its id alone is known.
    known = "MATCH (a:Artifact {id: $id}) RETURN a.known AS known, a.repo AS repo, a.kind AS kind"
    assert empty_store.read(known, {"id": Y}) == [{"known": False, "repo": "api", "kind": None}]
    # Nothing of form 2 but a chunk names w, which its graph lists no more.
    write(folder, 2)
    graphkit.load(empty_store, folder)
    assert empty_store.read(known, {"id": "web:m.ts#w"}) == []


def test_a_question_is_that_of_its_run(empty_store: Store, tmp_path: Path) -> None:
    """Failures, explanations and comparisons take the questions of the run's dataset, whatever ids others have."""
    for name in NAMES[:2]:
        write(tmp_path / name, 0)
    # The gold of q1 differs: alpha's walk lacks one edge of two, beta's has all.
    (short,) = [one for one in read_jsonl(tmp_path / "beta" / "questions.jsonl") if one["id"] == "q1"]
    write_lines(tmp_path / "beta" / "questions.jsonl", [{**short, "paths": [[[X, "CALLS", Y]]]}])
    run = tmp_path / "beta" / "runs" / "r.jsonl"
    write_lines(run, read_jsonl(run)[:1])
    values = {}
    for name in NAMES[:2]:
        scored = graphkit.evaluate(
            tmp_path / name / "runs" / "r.jsonl",
            tmp_path / name,
            store=empty_store,
            measures=["EdgeRecall"],
            engine="cypher",
        )
        values[name] = {row.question: row.values[0] for row in scored.rows}
    assert values["alpha"]["q1"] == 0.5
    assert values["beta"] == {"q1": 1.0}
    missed = [graphkit.failures(empty_store, f"of {name}", "missed-edges", question="q1") for name in NAMES[:2]]
    assert [[row["source"] for row in rows] for rows in missed] == [[Y], []]
    with pytest.raises(InputError, match="different questions"):
        graphkit.failures(empty_store, "of alpha", "found-and-lost", other="of beta")
    with pytest.raises(InputError, match="'q2'"):
        graphkit.failures(empty_store, "of beta", "missed-edges", question="q2")
    drawn = cypher("analysis/question_subgraph")
    paths = [empty_store.read(drawn, {"run": f"of {name}", "question": "q1"}) for name in NAMES[:2]]
    # alpha: two gold edges, one that was walked, and two retrieved chunks; beta: one of each edge, and the chunks.
    assert list(map(len, paths)) == [5, 4]


def test_scores_by_earlier_gold_are_named(empty_store: Store, tmp_path: Path) -> None:
    """A load that changes gold says which runs were scored by the former; a query by Score would count by that."""
    folder = tmp_path / "alpha"
    write(folder, 0)
    load(empty_store, folder)
    assert graph_content(empty_store).outdated == []
    write(folder, 1)
    again = f"the scores of of alpha are by earlier gold: `graphkit evaluate {folder}/runs/r.jsonl` renews them"
    assert graphkit.load(empty_store, folder).notes == [again]
    assert graph_content(empty_store).outdated == [again]
    load(empty_store, folder)
    assert graph_content(empty_store).outdated == []


def test_one_name_for_two_datasets(empty_store: Store, tmp_path: Path) -> None:
    """Another team's folder of the same name is refused and changes nothing; a copy with changed gold is an update."""
    asked = {"ours": ("Who?", "And?"), "theirs": ("Where?", "Why?")}
    for team, texts in asked.items():
        rows = [{"id": f"q{at}", "question": text, "paths": [[[X, "CALLS", Y]]]} for at, text in enumerate(texts)]
        write_lines(tmp_path / team / "my-eval" / "questions.jsonl", rows)
    graphkit.load(empty_store, tmp_path / "ours" / "my-eval")
    held = contents(empty_store)
    with pytest.raises(InputError, match="none of its 2 questions has the id and the text") as refused:
        graphkit.load(empty_store, tmp_path / "theirs" / "my-eval")
    assert str(tmp_path / "ours" / "my-eval") in str(refused.value)
    assert "`graphkit db remove dataset my-eval`" in str(refused.value)
    assert contents(empty_store) == held
    # One of two questions stays the same in the copy, with other gold: it is the dataset's next state.
    copy: list[Row] = [{"id": "q0", "question": "Who?", "paths": [[[X, "CALLS", Z]]]}, {"id": "q2", "question": "Why?"}]
    write_lines(tmp_path / "clone" / "my-eval" / "questions.jsonl", copy)
    graphkit.load(empty_store, tmp_path / "clone" / "my-eval")
    assert empty_store.read("MATCH (q:Question) RETURN q.id AS id ORDER BY id") == [{"id": "q0"}, {"id": "q2"}]
