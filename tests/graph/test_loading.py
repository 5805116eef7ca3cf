"""Loading: every record is stored once, and only changed records are replaced."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.runs import load_run
from graphkit.graph.score_nodes import gradings
from graphkit.measures.outcome import RIGHT_ANSWER
from graphkit.measures.registry import parse_measure
from graphkit.scoring import batches, file_scoring
from graphkit.scoring.cypher_scoring import score_run
from tests.helpers.datasets import SHOP_QUESTIONS, read_jsonl, write_jsonl
from tests.helpers.loading import RUN, change, contents, load_all

pytestmark = pytest.mark.newest


def test_each_record_is_loaded(empty_store: Store, dataset: Path) -> None:
    """The counts of a load agree with the files and with the graph."""
    summary = graphkit.load(empty_store, dataset)
    lines = {
        kind: len(read_jsonl(dataset / f"{kind}.jsonl")) for kind in ("questions", "access", "commits", "compatibility")
    }
    for kind in ("artifacts", "edges"):
        lines[kind] = sum(len(read_jsonl(file)) for file in dataset.glob(f"{kind}-*.jsonl"))
    assert summary.written == lines
    steps = [step for one in read_jsonl(dataset / "questions.jsonl") for path in one["paths"] for step in path["steps"]]
    for pattern, count in {
        "(n:Question)": lines["questions"],
        "()-[n:EDGE]->()": lines["edges"],
        # Less what on-call and the agency may not walk: two steps of sf-37, three of sf-39.
        "()-[n:GOLD]->()": len(steps) - 5,
        "(n:Stack)": lines["compatibility"],
    }.items():
        assert empty_store.read(f"MATCH {pattern} RETURN count(n) AS count") == [{"count": count}]


def test_load_decodes_each_line_once(empty_store: Store, dataset: Path, parsed: Counter[tuple[str, int]]) -> None:
    """Checking, stale gold, foreign ids and writing share one reading of the questions and of the knowledge graphs.

    The first questions are looked at before, for the repositories of their ids.
    """
    graphkit.load(empty_store, dataset)
    files = [
        "questions.jsonl",
        *(f"{kind}-stack-{number}.jsonl" for kind in ("artifacts", "edges") for number in (1, 2)),
    ]
    lines = {
        (name, number + 1): 2 if name == "questions.jsonl" else 1
        for name in files
        for number in range(len(read_jsonl(dataset / name)))
    }
    assert parsed == lines


def test_evaluation_decodes_a_run_once(empty_store: Store, dataset: Path, parsed: Counter[tuple[str, int]]) -> None:
    """A run is written from the scored records; none are spooled if the graph already holds them.

    Only the known ids of its first records need a second look at them, and one at the knowledge graphs, whose edges
    InventedEdges needs as well. The first questions are looked at for the measures that apply, and for the
    repositories of their ids.
    """
    graphkit.load(empty_store, dataset)
    file = dataset / "runs" / f"{RUN}.jsonl"
    lines = {
        (name, number): many
        for name, many in (("questions.jsonl", 3), (file.name, 2))
        for number in range(1, SHOP_QUESTIONS + 1)
    }
    for name in (f"{kind}-stack-{number}.jsonl" for kind in ("artifacts", "edges") for number in (1, 2)):
        looks = 2 if name.startswith("edges") else 1
        lines |= {(name, number + 1): looks for number in range(len(read_jsonl(dataset / name)))}
    for _ in range(2):
        parsed.clear()
        graphkit.evaluate(file, store=empty_store)
        assert parsed == lines
        assert empty_store.read("MATCH (a:Answer) RETURN count(a) AS count") == [{"count": SHOP_QUESTIONS}]


@pytest.mark.slow("the storefront is loaded twice")
def test_evaluation_of_a_shuffled_run_writes_what_its_file_holds(
    empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records of many batches on two processes are written as by a load."""
    monkeypatch.setattr(batches, "SIZE", 7)
    monkeypatch.setattr(file_scoring, "SMALL", 0)
    file = dataset / "runs" / f"{RUN}.jsonl"
    write_jsonl(file, read_jsonl(file)[::-1])
    load_all(empty_store, dataset)
    expected = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store, keep_rows=False)
    assert contents(empty_store) == expected


def test_loading_twice_changes_nothing(empty_store: Store, dataset: Path) -> None:
    """The second load writes nothing, and no node or relationship changes."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert sum(summary.written.values()) == 0
    assert summary.unchanged["questions"] == SHOP_QUESTIONS
    assert (again.written, again.unchanged) == (0, SHOP_QUESTIONS)
    assert contents(empty_store) == before
    assert unfinished_loads(empty_store) == []


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
    """A new gold path replaces the old ones, and other questions stay unchanged."""
    load_all(empty_store, dataset)
    others = [one["id"] for one in read_jsonl(dataset / "questions.jsonl") if one["id"] != "sf-02"]
    before = {name: gold_of(empty_store, name) for name in others}
    change(dataset, "sf-02", paths=[[["web:new.ts#f", "CALLS", "api:new.py#g"]]])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["questions"] == 1
    assert summary.unchanged["questions"] == SHOP_QUESTIONS - 1
    assert gold_of(empty_store, "sf-02") == [("web:new.ts#f", "CALLS", "api:new.py#g")]
    assert {name: gold_of(empty_store, name) for name in others} == before
    # Neither end was among the artifacts of the dataset.
    assert summary.created_artifacts == ["api:new.py#g", "web:new.ts#f"]


def test_unknown_gold_end_becomes_an_artifact(empty_store: Store, dataset: Path) -> None:
    """A missing end of an edge is created from its id, once, and reported."""
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
    """A removed question disappears with its gold, and comes back unchanged."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    whole = (dataset / "questions.jsonl").read_text()
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", records[1:])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["questions removed"] == 1
    assert empty_store.read("MATCH (q:Question) RETURN count(q) AS count") == [{"count": SHOP_QUESTIONS - 1}]
    assert gold_of(empty_store, records[0]["id"]) == []
    values = score_run(empty_store, dataset.name, RUN, [parse_measure("EdgeRecall")])
    assert values.questions == SHOP_QUESTIONS - 1
    (dataset / "questions.jsonl").write_text(whole)
    load_all(empty_store, dataset)
    assert contents(empty_store) == before


@pytest.mark.slow("the storefront is loaded twice")
def test_removed_question_whose_answer_names_commits(empty_store: Store, dataset: Path) -> None:
    """Commits are resolved for answers to the remaining questions; the other answer is gone."""
    run = dataset / "runs" / f"{RUN}.jsonl"
    answers = read_jsonl(run)
    first, second = [answer for answer in answers if answer["retrieved"]][:2]
    for answer in (first, second):
        answer["retrieved"] = [{**answer["retrieved"][0], "commit": None}]
        answer["traversal"] = [{**answer["traversal"][0], "source_commit": "v9"}]
    write_jsonl(run, answers)
    load_all(empty_store, dataset)
    reported = "MATCH (a:Answer)-[r:RETRIEVED]->(:Chunk) WHERE r.commit IS NOT NULL RETURN a.question AS question"
    # Both chunks are of artifacts that the dataset's graph read at a commit.
    both = [first["question_id"], second["question_id"]]
    assert sorted(str(row["question"]) for row in empty_store.read(reported)) == both
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", [one for one in records if one["id"] != both[0]])
    graphkit.load(empty_store, dataset)
    assert sorted(str(row["question"]) for row in empty_store.read(reported)) == both[1:]


def test_changed_graph_is_replaced(empty_store: Store, dataset: Path) -> None:
    """The edges of a changed knowledge graph are replaced, and those of another one stay."""
    graphkit.load(empty_store, dataset)
    edges = read_jsonl(dataset / "edges-stack-1.jsonl")
    write_jsonl(dataset / "edges-stack-1.jsonl", edges[:10])
    summary = graphkit.load(empty_store, dataset)
    assert summary.written["edges"] == 10
    rows = empty_store.read("MATCH ()-[e:EDGE]->() RETURN e.graph AS graph, count(e) AS count ORDER BY graph")
    kept = len(read_jsonl(dataset / "edges-stack-2.jsonl"))
    assert rows == [{"graph": "shop/stack-1", "count": 10}, {"graph": "shop/stack-2", "count": kept}]


def test_aliases_of_artifacts_come_and_go(empty_store: Store, dataset: Path) -> None:
    """An artifact holds its aliases while a knowledge graph states them."""
    nodes = read_jsonl(dataset / "artifacts-stack-1.jsonl")
    (dataset / "artifacts-stack-2.jsonl").unlink()
    (dataset / "edges-stack-2.jsonl").unlink()
    for stated in (["Cart", "Basket"], []):
        write_jsonl(dataset / "artifacts-stack-1.jsonl", [{**nodes[0], "aliases": stated}, *nodes[1:]])
        graphkit.load(empty_store, dataset)
        rows = empty_store.read("MATCH (a:Artifact) WHERE a.aliases IS NOT NULL RETURN a.id AS id, a.aliases AS named")
        assert rows == ([{"id": nodes[0]["id"], "named": stated}] if stated else [])


def test_changed_run_is_replaced_as_a_whole(empty_store: Store, dataset: Path) -> None:
    """A replaced run keeps no former record, and other runs stay unchanged."""
    load_all(empty_store, dataset)
    load_all(empty_store, dataset, "storefront-bm25")
    file = dataset / "runs" / f"{RUN}.jsonl"
    records = [one for one in read_jsonl(file) if "error" not in one][:3]
    write_jsonl(file, records)
    result = load_run(empty_store, dataset.name, RUN, file)
    assert (result.written, result.unchanged) == (3, 0)
    counts = empty_store.read("MATCH (a:Answer) RETURN a.run AS run, count(a) AS count ORDER BY run")
    assert counts == [{"run": "storefront-bm25", "count": SHOP_QUESTIONS}, {"run": RUN, "count": 3}]
    steps = sum(len(one["traversal"]) for one in records)
    assert steps > 0
    walked = empty_store.read("MATCH ()-[t:TRAVERSED]->() RETURN t.run AS run, count(t) AS count")
    assert walked == [{"run": RUN, "count": steps}]
    values = score_run(empty_store, dataset.name, RUN, [parse_measure("EdgeRecall")])
    assert (values.questions, values.missing) == (SHOP_QUESTIONS, SHOP_QUESTIONS - 3)


def test_scores_of_a_former_file_go_with_it(empty_store: Store, dataset: Path) -> None:
    """A replaced run loses all its former scores, which were of other answers."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    write_jsonl(file, [{**one, "retrieved": []} for one in read_jsonl(file)])
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    held = "MATCH (s:Score) RETURN DISTINCT s.measure AS measure ORDER BY measure"
    assert empty_store.read(held) == [{"measure": "EdgeRecall"}, {"measure": RIGHT_ANSWER}]
    assert list(gradings(empty_store, RUN)) == ["EdgeRecall"]


def test_run_remembers_its_file(empty_store: Store, dataset: Path) -> None:
    """The graph names the log of a run, even after it was moved."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store)
    assert empty_store.read(cypher("read/runs"))[0]["file"] == str(file.resolve())
    moved = file.rename(file.with_name("moved.jsonl"))
    graphkit.evaluate(moved, store=empty_store)
    assert empty_store.read(cypher("read/runs"))[0]["file"] == str(moved.resolve())


def test_a_strict_load_refuses_fields_that_are_not_known(empty_store: Store, dataset: Path) -> None:
    """The library refuses stale questions like the command, before anything is written."""
    change(dataset, "sf-01", dificulty="easy")
    before = contents(empty_store)
    with pytest.raises(InputError, match=r"questions.jsonl:1: the field 'dificulty' isn't known.*difficulty"):
        graphkit.load(empty_store, dataset, strict=True)
    assert contents(empty_store) == before
    assert graphkit.load(empty_store, dataset).written["questions"] == SHOP_QUESTIONS


def elsewhere(dataset: Path, name: str = "elsewhere.jsonl", **changed: Any) -> Path:
    """Write the run once more, into another file, with its records changed."""
    records = read_jsonl(dataset / "runs" / f"{RUN}.jsonl")
    return write_jsonl(dataset / name, [{**one, **changed} for one in records])


def test_another_file_of_a_run_is_refused(empty_store: Store, dataset: Path) -> None:
    """A second file with the same run name is refused with the path of the first, and nothing is written."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    before = contents(empty_store)
    other = elsewhere(dataset, retrieved=[])
    with pytest.raises(InputError) as refused:
        graphkit.evaluate(other, dataset, store=empty_store, measures=["EdgeRecall"])
    for reported in (
        str(other.resolve()),
        f"the graph holds another run {RUN!r}, from {file.resolve()}",
        "--run",
        "--replace",
    ):
        assert reported in str(refused.value)
    assert contents(empty_store) == before


def test_a_copy_of_a_run_is_the_same_run(empty_store: Store, dataset: Path) -> None:
    """The same content in another file is the same run, even if the dataset's questions changed."""
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", store=empty_store, measures=["EdgeRecall"])
    records = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", [*records, {"id": "new", "question": "?"}])
    copy = Path(shutil.copy(dataset / "runs" / f"{RUN}.jsonl", dataset / "copy.jsonl"))
    result = graphkit.evaluate(copy, dataset, store=empty_store, measures=["EdgeRecall"])
    assert (result.questions, result.missing) == (SHOP_QUESTIONS + 1, 1)


@pytest.mark.slow("the storefront is loaded twice")
def test_another_file_takes_the_place_of_a_run_where_it_is_asked_to(empty_store: Store, dataset: Path) -> None:
    """With ``replace`` the run belongs to the other file, and the first file is refused then."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    other = elsewhere(dataset, traversal=[])
    result = graphkit.evaluate(other, dataset, store=empty_store, measures=["EdgeRecall"], replace=True)
    assert result.measures["EdgeRecall"].mean == 0
    assert empty_store.read(cypher("read/runs"))[0]["file"] == str(other.resolve())
    with pytest.raises(InputError, match="holds another run"):
        graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])


def test_a_run_by_another_name(empty_store: Store, dataset: Path) -> None:
    """The same records under another name are another run with the same scores."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    first = graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "Coherence"])
    second = graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "Coherence"], name="again")
    assert (second.run, second.measures) == ("again", first.measures)
    answers = "MATCH (a:Answer) RETURN a.run AS run, count(a) AS count ORDER BY run"
    assert empty_store.read(answers) == [
        {"run": "again", "count": SHOP_QUESTIONS},
        {"run": RUN, "count": SHOP_QUESTIONS},
    ]
    walked = {
        row["run"]: row["count"]
        for row in empty_store.read("MATCH ()-[t:TRAVERSED]->() RETURN t.run AS run, count(t) AS count")
    }
    assert walked["again"] == walked[RUN] != 0
    compared = graphkit.compare_runs(empty_store, RUN, "again", measures=["EdgeRecall"])
    assert compared.overall[0].delta == 0


@pytest.mark.slow("the storefront is loaded several times")
def test_records_in_memory_take_the_place_of_a_file_only_where_asked(empty_store: Store, dataset: Path) -> None:
    """Records in memory can't replace the run of a file; under their own name the last ones count, with a warning."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    records = read_jsonl(file)
    graphkit.load(empty_store, dataset)
    given: dict[str, Any] = {"dataset": dataset, "store": empty_store, "measures": ["EdgeRecall"]}
    assert graphkit.evaluate(records, **given, name="mine").warnings == ()
    assert graphkit.evaluate(records, **given, name="mine").warnings == ()
    [warning] = graphkit.evaluate(records[:9], **given, name="mine").warnings
    assert "take the place of others that were the run 'mine'" in warning
    assert graphkit.evaluate(records[:8], **given, name="mine", replace=True).warnings == ()
    assert [row["file"] for row in empty_store.read(cypher("read/runs"))] == [None]
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    with pytest.raises(InputError, match="records in memory: the graph holds another run"):
        graphkit.evaluate(records[:9], **given)
    with pytest.raises(InputError, match="from records in memory"):
        graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"], name="mine")


def test_run_of_another_dataset_is_refused(empty_store: Store, dataset: Path, tmp_path: Path) -> None:
    """A run's name belongs to the dataset that it was first loaded for."""
    load_all(empty_store, dataset)
    other = tmp_path / "other"
    write_jsonl(other / "questions.jsonl", [{"id": "new", "question": "?", "relevant": ["a"]}])
    file = write_jsonl(other / "runs" / "r.jsonl", [{"run": RUN, "question_id": "new", "retrieved": ["a"]}])
    with pytest.raises(InputError, match="already belongs to the dataset 'shop'"):
        graphkit.evaluate(file, store=empty_store)
    assert empty_store.read("MATCH (a:Answer {run: $run}) RETURN count(a) AS count", {"run": RUN}) == [
        {"count": SHOP_QUESTIONS}
    ]


def test_late_commits_are_linked(empty_store: Store, dataset: Path) -> None:
    """Chunks are linked to commits that are loaded after the run."""
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
