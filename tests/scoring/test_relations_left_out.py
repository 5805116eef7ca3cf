"""Edges without their relation: what they count as in means and at gates, and what each output says of them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.gates import fail_under
from graphkit.analysis.standings import of_one
from graphkit.database.store import Store
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.case import Case
from graphkit.measures.registry import MEASURES, compares_relations, parse_measure
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.records.models import Answer, Question
from graphkit.scoring.cypher_scoring import relation_counts
from graphkit.scoring.export import write_results
from tests.helpers.cli import Done, Graph, inside, write_lines
from tests.helpers.datasets import STOREFRONT, read_jsonl
from tests.helpers.suites import one_fast

#: Ten questions, each with a path of two edges.
QUESTIONS = 10


def steps(number: int) -> list[list[str]]:
    """Return the gold path of a question."""
    return [["web:a", "CALLS", f"api:b{number}"], [f"api:b{number}", "READS", "db:c"]]


def bare(walk: list[list[str]]) -> list[dict[str, str]]:
    """Return a walk without its relations."""
    return [{"source": source, "target": target} for source, _, target in walk]


def wrong(walk: list[list[str]]) -> list[list[str]]:
    """Return a walk whose first relation is another one."""
    return [[walk[0][0], "IMPORTS", walk[0][2]], *walk[1:]]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A dataset and five runs.

    ``honest`` takes the first step by a wrong relation: recall .5. ``untyped`` is the same walk without relations, and
    ``partly`` leaves them out in the last five questions, whose edges then match nothing. ``right`` is right.
    """
    questions = [
        {
            "id": f"q{n}",
            "question": "?",
            "category": "odd" if n % 2 else "even",
            "paths": [{"steps": [dict(zip(("source", "relation", "target"), one, strict=True)) for one in steps(n)]}],
        }
        for n in range(QUESTIONS)
    ]
    write_lines(tmp_path / "d" / "questions.jsonl", questions)
    walks: dict[str, list[Any]] = {
        "honest": [wrong(steps(n)) for n in range(QUESTIONS)],
        "untyped": [bare(steps(n)) for n in range(QUESTIONS)],
        "partly": [wrong(steps(n)) if n < 5 else bare(steps(n)) for n in range(QUESTIONS)],
        "right": [steps(n) for n in range(QUESTIONS)],
    }
    for run, some in walks.items():
        records = [
            {"run": run, "question_id": f"q{n}", "answer": "x", "traversal": walk} for n, walk in enumerate(some)
        ]
        write_lines(tmp_path / "d" / "runs" / f"{run}.jsonl", records)
    return tmp_path


def evaluated(world: Path, run: str, *options: str, code: int) -> Done:
    """Return what an evaluation of a run by EdgeRecall prints."""
    asked = ("evaluate", f"d/runs/{run}.jsonl", "--no-store", "-m", "EdgeRecall", *options)
    return inside(*asked, cwd=world, code=code)


#: Over files, in shards, and on two processes.
PLACES = [(), ("--out", "results"), ("--on", "processes=2", "--out", "results")]


@one_fast("place", PLACES, "processes start for some", 0, 1)
def test_a_run_without_relations_fails_a_typed_gate(place: tuple[str, ...], world: Path) -> None:
    """Its mean is that of the ends alone, 1.0: the gate fails whatever the bound, and holds for the untyped measure."""
    done = evaluated(world, "untyped", "--fail-under", "EdgeRecall=0.9", *place, code=1)
    assert "untyped: EdgeRecall: never logged relations; `--untyped` compares without them" in done.err
    assert "untyped: 20 of 20 edges compared without their relation: the run never logged relations" in done.err
    evaluated(world, "untyped", "--fail-over", "EdgeRecall=1", *place, code=1)
    held = evaluated(world, "untyped", "--untyped", "--fail-under", "EdgeRecall=0.9", *place, code=0)
    assert "EdgeRecall(relation=False)" in held.out
    assert "compared without their relation:" not in held.err


@one_fast("place", PLACES, "processes start for some", 0, 1)
def test_a_run_with_some_relations(place: tuple[str, ...], world: Path) -> None:
    """The mean is (5 x .5 + 5 x 1) / 10 = .75; at a gate the last five questions have 0: .25."""
    done = evaluated(world, "partly", "--fail-under", "EdgeRecall=0.7", "--json", *place, code=1)
    [found] = done.objects()
    summary = found["measures"]["EdgeRecall"]
    assert (summary["mean"], summary["strict"], summary["with_failed"]) == (0.75, 0.25, 0.25)
    assert found["relations"] == {"edges": 20, "without_relation": 10}
    how = "edges without a relation or commit matching nothing (0.7500 with any match)"
    what = f"EdgeRecall is 0.2500 with {how}, under 0.7"
    assert found["gates"][0]["what"] == what
    assert "10 of 20 edges compared without their relation" in "".join(found["warnings"])
    evaluated(world, "partly", "--fail-under", "EdgeRecall=0.25", *place, code=0)
    # A ceiling isn't passed by leaving relations out either.
    evaluated(world, "partly", "--fail-over", "EdgeRecall=0.7", *place, code=1)
    evaluated(world, "partly", "--untyped", "--fail-under", "EdgeRecall=1", *place, code=0)
    evaluated(world, "honest", "--fail-under", "EdgeRecall=0.5", *place, code=0)


def test_each_output_says_so(world: Path) -> None:
    """Terminal, Markdown, JUnit and the results of Python say how many edges were compared without their relation."""
    said = "10 of 20 edges compared without their relation"
    done = evaluated(world, "partly", "-o", "r.md", "-o", "r.xml", "-o", "r.json", code=0)
    assert said in done.err
    assert said in evaluated(world, "partly", "--full", code=0).err
    for name in ("r.md", "r.xml", "r.json"):
        assert said in (world / name).read_text(), name
    result = graphkit.evaluate(world / "d" / "runs" / "partly.jsonl", measures=["EdgeRecall"])
    assert said in result._repr_html_()
    assert pickle.loads(pickle.dumps(result)).relations == result.relations
    assert said not in evaluated(world, "right", code=0).err


def test_a_run_that_never_logs_them_is_held_to_nothing(world: Path) -> None:
    """Nothing is held, in JSON as on the board, and the verdict of a page of this run alone is by another measure."""
    result = graphkit.evaluate(world / "d" / "runs" / "untyped.jsonl", measures=["EdgeRecall", "CrossRepoRecall"])
    found = result.as_json()["measures"]["EdgeRecall"]
    assert (found["scored"], found["held"], found["interval"]) == (QUESTIONS, None, None)
    assert of_one(result).text.startswith("untyped has CrossRepoRecall")


def test_results_folders_keep_it(world: Path) -> None:
    """A results folder holds the counts and the strict values: its gates in a comparison are those of the files."""
    for run in ("partly", "right", "untyped"):
        evaluated(world, run, "--out", run, code=0)
    result = graphkit.read_results(world / "partly").evaluation()
    assert (result.relations.edges, result.relations.without) == (20, 10)
    assert result.held_values("EdgeRecall") == {f"q{n}": 0.5 if n < 5 else 0.0 for n in range(QUESTIONS)}
    asked = ("compare", "right", "partly", "-m", "EdgeRecall", "--fail-on-drop")
    # 1 to .25 at the gate, though the means differ by .25 alone.
    assert "EdgeRecall -0.7500" in inside(*asked, "0.5", cwd=world, code=1).err
    lost = "untyped: EdgeRecall is lost: untyped never logged relations, and right did"
    assert lost in inside("compare", "right", "untyped", "--fail-on-regression", cwd=world, code=1).err


def test_comparisons_of_files(world: Path) -> None:
    """The candidate's edges without a relation match nothing, and the baseline's questions with such are left out."""
    runs = {name: f"d/runs/{name}.jsonl" for name in ("right", "honest", "partly", "untyped")}
    gate = ("-m", "EdgeRecall", "--fail-on-drop", "0.3")
    done = inside("compare", runs["right"], runs["partly"], *gate, cwd=world, code=1)
    assert "EdgeRecall -0.7500" in done.err
    assert "partly: 10 of 20 edges compared without their relation" in done.err
    # Against itself under another name: the five questions with relations are equal.
    twin = (world / runs["partly"]).read_text().replace('"partly"', '"twin"')
    (world / "d" / "runs" / "twin.jsonl").write_text(twin)
    same = inside("compare", runs["partly"], "d/runs/twin.jsonl", *gate, "--json", cwd=world, code=0).object()
    assert [(one["questions"], one["delta"]) for one in same["with_failed"]] == [(5, 0.0)]
    # The walk of the honest run without its relations is no better: it is lost, in the comment as well.
    lost = "EdgeRecall is lost: untyped never logged relations, and honest did; `--untyped` compares both without them"
    asked = ("compare", runs["honest"], runs["untyped"], "-m", "EdgeRecall", "--fail-on-regression")
    assert lost in inside(*asked, cwd=world, code=1).err
    assert "EdgeRecall is lost: untyped never logged" in inside(*asked, "--format", "github", cwd=world, code=1).out
    inside(*asked, "--allow-lost", "EdgeRecall", cwd=world, code=0)
    # Nor does it win, whichever stands first: nothing is compared by what one run alone never logs.
    for pair in ((runs["honest"], runs["untyped"]), (runs["untyped"], runs["honest"])):
        both = inside(
            "compare", *pair, "-m", "EdgeRecall", "-m", "CrossRepoRecall", "--json", cwd=world, code=0
        ).object()
        assert [one["measure"] for one in both["with_failed"]] == ["CrossRepoRecall"]
        assert both["verdict"]["winner"] is None
    named = inside(*asked, "--untyped", "--json", cwd=world, code=0).object()
    assert [one["measure"] for one in named["with_failed"]] == ["EdgeRecall(relation=False)"]
    # Neither run logs relations: both are compared by the ends.
    (world / "d" / "runs" / "other.jsonl").write_text((world / runs["untyped"]).read_text().replace('"untyped"', '"o"'))
    inside("compare", runs["untyped"], "d/runs/other.jsonl", *gate, cwd=world, code=0)


def test_runs_in_the_graph(graph: Graph, world: Path) -> None:
    """Evaluated in the graph by either engine, and compared there, the same rules hold."""
    asked = ("-m", "EdgeRecall", "-m", "PathPrefix", "-m", "EdgeF1")
    for engine in ("python", "cypher"):
        for run in ("right", "partly", "untyped"):
            options = (*asked, "--engine", engine, "--json", "--fail-under", "EdgeRecall=0.3")
            code = 0 if run == "right" else 1
            [found] = inside("evaluate", f"d/runs/{run}.jsonl", *options, cwd=world, env=graph.env, code=code).objects()
            if run == "partly":
                of = found["measures"]
                # Every path of the last five questions begins with an edge that matches nothing, and its first step
                # is wrong in the others: no prefix. F1 is .5 in five questions and 0 in five.
                assert [(of[name]["mean"], of[name]["strict"]) for name in ("EdgeRecall", "PathPrefix", "EdgeF1")] == [
                    (0.75, 0.25),
                    (0.5, 0.0),
                    (0.75, 0.25),
                ]
                assert found["relations"] == {"edges": 20, "without_relation": 10}
    gate = ("-m", "EdgeRecall", "--fail-on-drop", "0.5")
    done = inside("compare", "right", "partly", *gate, cwd=world, env=graph.env, code=1)
    assert "EdgeRecall -0.7500" in done.err
    assert "10 of 20 edges compared without their relation" in done.err
    lost = inside("compare", "right", "untyped", *gate, cwd=world, env=graph.env, code=1)
    assert "EdgeRecall is lost: untyped never logged relations" in lost.err
    inside("compare", "right", "untyped", *gate, "--untyped", cwd=world, env=graph.env, code=0)


def test_both_databases_count_edges_alike(store: Store, world: Path) -> None:
    """The graph counts distinct edges and those without a relation as the records do."""
    result = graphkit.evaluate(world / "d" / "runs" / "partly.jsonl", measures=["EdgeRecall"], store=store)
    counts = relation_counts(store, "partly", [f"q{n}" for n in range(QUESTIONS)])
    assert counts == result.relations
    assert (counts.edges, counts.without) == (20, 10)


def test_strict_cases() -> None:
    """An edge without a relation matches a gold edge without one, and no other; a typed one is as before."""
    gold = {"steps": [{"source": "a:x", "target": "a:y"}, {"source": "a:y", "relation": "CALLS", "target": "b:z"}]}
    question = Question.model_validate({"id": "q", "question": "?", "paths": [gold]})
    walk = [{"source": "a:x", "target": "a:y"}, {"source": "a:y", "target": "b:z"}]
    answer = Answer.model_validate({"run": "r", "question_id": "q", "traversal": walk})
    case, recall = Case(question, answer), parse_measure("EdgeRecall")
    assert case.without_relation == (2, 2)
    assert (recall.value(case), recall.value(case.strict)) == (1.0, 0.5)
    unnamed = Question.model_validate({"id": "q", "question": "?", "paths": [{"steps": [gold["steps"][0]]}]})
    assert Case(unnamed, answer).without_relation == (0, 0)


def test_measures_that_compare_relations() -> None:
    """They are those with the parameter ``relation``, as long as it isn't False and edges are compared at all."""
    typed = {kind.__name__ for kind in MEASURES if compares_relations(kind.__name__)}
    assert typed == {
        *("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "BoundaryPrecision"),
        *("PathExact", "PathInOrder", "PathPrefix", "StoppingDepth"),
    }
    assert not compares_relations("EdgeRecall(files=True)")
    assert str(parse_measure("PathExact").untyped()) == "PathExact(relation=False)"


def test_outputs_without_such_edges_are_as_before(world: Path) -> None:
    """Where each edge has its relation, JSON says nothing of relations."""
    [found] = evaluated(world, "right", "--json", code=0).objects()
    assert "relations" not in found
    assert found["measures"]["EdgeRecall"]["strict"] is None
    json.dumps(found)


def test_the_known_share_says_untyped(world: Path) -> None:
    """An edge of the graph that the log names without its relation lies forward, and is called untyped."""
    edges = [
        dict(zip(("source", "relation", "target"), one, strict=True)) for n in range(QUESTIONS) for one in steps(n)
    ]
    write_lines(world / "d" / "edges.jsonl", edges)
    done = evaluated(world, "untyped", "--full", code=0)
    assert "edges: 20 forward (20 untyped: compared without their relation), 0 reversed" in done.err
    [found] = evaluated(world, "untyped", "--json", code=0).objects()
    assert found["known"]["edges"] == {"forward": 20, "reversed": 0, "other": 0, "unknown": 0, "untyped": 20}
    assert "edges: 20 forward, 0 reversed" in evaluated(world, "right", "--full", code=0).err


@pytest.mark.parametrize("name", ["partly", "untyped"])
def test_both_engines_keep_relations_and_reasons(world: Path, store: Store, name: str) -> None:
    """The Cypher engine keeps the counts of relations and the reasons, so that gates say the same."""
    run = world / "d" / "runs" / f"{name}.jsonl"
    measures = ["EdgeRecall", "nDCG@5"]
    python = graphkit.evaluate(run, measures=measures)
    cypher = graphkit.evaluate(run, measures=measures, store=store, engine="cypher")
    assert python.relations.without > 0
    assert python.unscored["nDCG@5"]  # the questions have no relevant ids
    assert (cypher.relations, cypher.unscored) == (python.relations, python.unscored)


def bared(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose traversed edges have no relation."""
    steps = [{name: value for name, value in step.items() if name != "relation"} for step in record["traversal"] or []]
    return {**record, "traversal": steps}


@pytest.fixture
def storefront(tmp_path: Path) -> list[graphkit.Evaluation]:
    """Results of a run of the storefront: as it logs, with each second record without relations, and without any."""
    logged = read_jsonl(STOREFRONT / "runs" / "storefront-graph.jsonl")
    runs = {
        "logged": logged,
        "partly": [record if number % 2 else bared(record) for number, record in enumerate(logged)],
        "untyped": [bared(record) for record in logged],
    }
    found = []
    for name, records in runs.items():
        path = tmp_path / f"{name}.jsonl"
        write_lines(path, [{**record, "run": name} for record in records])
        found.append(graphkit.evaluate(path, STOREFRONT, measures=["EdgeRecall", "PathInOrder", "RR"]))
    return found


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_score_files_keep_the_strict_values(ending: str, storefront: list[graphkit.Evaluation], tmp_path: Path) -> None:
    """Exported rows, read back, have the means, the verdict and the gates of the logs."""
    path = tmp_path / f"scores.{ending}"
    write_results(path, storefront)
    logged, partly, untyped = storefront
    assert partly.measures["EdgeRecall"].strict is not None
    summaries = {(one.run, one.measure): one for one in graphkit.summarize([path]) if one.group is None}
    for result in storefront:
        for name, summary in result.measures.items():
            one = summaries[result.run, name]
            for field in ("mean", "strict", "with_failed"):
                assert getattr(one, field) == pytest.approx(getattr(summary, field)), (result.run, name, field)
            assert one.untyped == (result.run == "untyped" and name != "RR")
    for first, second in ((logged, partly), (partly, logged), (logged, untyped), (untyped, logged)):
        of_logs = compare_results(first, second, baseline=True)
        of_files = compare_scores([path], first.run, second.run)
        assert [(one.measure, one.questions, one.delta, one.low, one.high) for one in of_files.with_failed] == [
            (one.measure, one.questions, one.delta, one.low, one.high) for one in of_logs.with_failed
        ]
        assert of_files.verdict == of_logs.verdict
        assert [(one.measure, one.untyped) for one in of_files.lost] == [
            (one.measure, one.untyped) for one in of_logs.lost
        ]
    asked = ("compare", "--scores", path.name, "logged", "partly", "-m", "EdgeRecall", "--fail-on-drop")
    drop = -compare_results(logged, partly, baseline=True).with_failed[0].delta
    assert drop > 0.1
    inside(*asked, f"{drop - 0.01:.4f}", cwd=tmp_path, code=1)
    inside(*asked, f"{drop + 0.01:.4f}", cwd=tmp_path, code=0)
    found = inside("summarize", path.name, "--json", cwd=tmp_path, code=0).objects()
    assert {one["run"] for one in found if one["strict"] is not None} == {"partly"}
    assert {one["run"] for one in found if one["untyped"]} == {"untyped"}
    said = inside("summarize", path.name, cwd=tmp_path, env={"COLUMNS": "250"}, code=0).out
    assert "with edges without a relation or commit matching nothing" in said
    assert "never logged relations" in said


def test_given_scores_keep_the_strict_values(storefront: list[graphkit.Evaluation], tmp_path: Path) -> None:
    """Scores of graphkit given to an evaluation by other measures hold at gates what the logs hold."""
    path = tmp_path / "scores.jsonl"
    write_results(path, storefront)
    lines = [record for record in read_jsonl(path) if record["measure"] == "EdgeRecall"]
    write_lines(path, lines)
    for result in storefront:
        again = graphkit.evaluate(
            tmp_path / f"{result.run}.jsonl", STOREFRONT, measures=["RR"], scores=read_scores([path], Problems())
        )
        assert again.held("EdgeRecall") == pytest.approx(result.held("EdgeRecall"))
        assert [one.passed for one in fail_under([again], [("EdgeRecall", 0.1)])] == [result.run != "untyped"]


@one_fast("place", PLACES, "processes start for some", 0, 1)
def test_an_interval_stands_beside_its_value(place: tuple[str, ...], world: Path) -> None:
    """The mean is .75 and the value at gates .25, of five halves and five zeros: the interval is that of the latter.

    So it is by group: of five questions each, even ones have three halves with relations (q0, q2, q4) and odd ones two
    (q1, q3): means (3 x .5 + 2) / 5 = .7 and (2 x .5 + 3) / 5 = .8, at gates .3 and .2.
    """
    [found] = evaluated(world, "partly", "--json", "--by", "category", *place, code=0).objects()
    summary = found["measures"]["EdgeRecall"]
    assert (summary["mean"], summary["held"]) == (0.75, 0.25)
    if summary["interval"] is not None:  # a result without rows keeps no strict squares
        low, high = summary["interval"]
        assert low < 0.25 < high < 0.75
    groups = {name: one["EdgeRecall"] for name, one in found["groups"]["category"].items()}
    assert {name: (one["mean"], one["strict"]) for name, one in groups.items()} == {
        "even": (pytest.approx(0.7), pytest.approx(0.3)),
        "odd": (pytest.approx(0.8), pytest.approx(0.2)),
    }
    full = " ".join(evaluated(world, "partly", "--full", "--by", "category", *place, code=0).out.split())
    assert "0.7000 (0.3000 at gates)" in full
    assert "0.8000 (0.2000 at gates)" in full


def test_each_output_names_both_values(world: Path) -> None:
    """Terminal, Markdown and JUnit name the value at gates with its interval, and the mean."""
    done = evaluated(world, "partly", "--full", code=0)
    assert "10/10; 0.2500 [" in done.out
    assert "] with edges without a relation or commit matching nothing" in " ".join(done.out.split())
    brief = evaluated(world, "partly", code=0).out
    assert "EdgeRecall 0.25 [" in brief
    assert "at gates (0.75 with any match)" in brief
    evaluated(world, "partly", "-o", "r.md", "-o", "r.xml", code=0)
    assert (
        "0.7500 (10/10; 0.2500 with edges without a relation or commit matching nothing)"
        in (world / "r.md").read_text()
    )
    held = (world / "r.xml").read_text()
    assert "0.2500 [" in held
    assert "] with edges without a relation or commit matching nothing (0.7500 with any match)" in held
