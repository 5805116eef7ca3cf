"""``graphkit evaluate`` as a process: what it prints, its options, and where it finds its files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.measures.registry import DEFAULT_MEASURES
from graphkit.measures.unscored import NO_ORDER
from graphkit.records.gold import gold_hash, gold_hash_of
from graphkit.scoring.evaluate import evaluate
from tests.helpers import ROOT
from tests.helpers.cli import (
    ANSWERS,
    NOTHING_LEFT,
    QUESTIONS,
    inside,
    one_unscored,
    tiny,
    without_intervals,
    write_lines,
)
from tests.helpers.cli import inside as graphkit
from tests.helpers.datasets import read_jsonl

STOREFRONT = ROOT / "fixtures" / "storefront"


def mean(measure: str, run: Path, *options: object) -> object:
    """Return the mean of one measure of a run, scored without a database."""
    done = inside("evaluate", "--no-store", "--json", "-m", measure, *options, run, cwd=run.parent, code=0)
    [one] = done.object()["measures"].values()
    return one["mean"]


def test_json_is_one_object_a_run(tmp_path: Path) -> None:
    """The object of a run has the documented keys, and the means that follow from the files by hand."""
    run = tiny(tmp_path / "shop")
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", "-m", "BoundaryRecall", run, cwd=tmp_path)
    # EdgeRecall: q1 1 of 2, q2 1 of 1. BoundaryRecall: the edge from a to b was not walked; q2 crosses nowhere.
    assert without_intervals(done.object()) == {
        "run": "r",
        "dataset": "shop",
        "gold_hash": gold_hash_of(
            (one.id, gold_hash(one)) for _, one in Dataset(tmp_path / "shop").questions(Problems())
        ),
        "questions": 2,
        "failed": 0,
        "missing": 0,
        "failed_as": "worst",
        "invalid": 0,
        "measures": {
            "EdgeRecall": {
                **{"mean": 0.75, "scored": 2, "total": 2, "lowest": 0.75, "highest": 0.75},
                **{"failed": 0, "missing": 0, "worst": 0.0, "with_failed": 0.75, **NOTHING_LEFT},
            },
            # The question whose gold crosses no boundary may be worth 0 or 1.
            "BoundaryRecall": {
                **{"mean": 0.0, "scored": 1, "total": 2, "lowest": 0.0, "highest": 0.5},
                **{"failed": 0, "missing": 0, "worst": 0.0, "with_failed": 0.0, **NOTHING_LEFT, "of_question": 1},
            },
        },
        "gates": [],
        "efficiency": {},
        "unscored": {"BoundaryRecall": {"gold crosses no repository boundary": 1}},
        "warnings": [],
        # x, y and w, all of them gold; the dataset has neither artifacts nor edges.
        "known": {
            "records": 2,
            "all_records": True,
            "ids": {"all": 3, "known": 3, "gold": 3, "artifacts": 0, "edges": 0},
            "edges": None,
            "meaning": None,
        },
    }
    assert done.err == (
        "known: r: 3 of 3 ids are known (gold 3, artifacts 0, edges 0); 2 edges: the dataset has no edges to compare "
        "them with; the dataset lists its gold alone\n"
    )


def test_severe_alerts_follow_from_ids_that_nobody_knows(tmp_path: Path) -> None:
    """Unknown ids are reported before the scores, and the alerts that follow from them are one; others are separate."""
    upper = tmp_path / "upper.jsonl"
    answers = read_jsonl(STOREFRONT / "runs" / "storefront-graph-v2.jsonl")
    for answer in answers:
        for chunk in answer["retrieved"]:
            chunk["id"] = chunk["id"].upper()
        for step in answer["traversal"]:
            step |= {"source": step["source"].upper(), "target": step["target"].upper()}
    write_lines(upper, answers)
    done = inside("evaluate", "--full", "--no-store", "--dataset", STOREFRONT, upper, cwd=tmp_path, code=0)
    ids = {chunk["id"] for answer in answers for chunk in answer["retrieved"]}
    steps = [step for answer in answers for step in answer["traversal"]]
    ids |= {step[end] for step in steps for end in ("source", "target")}
    first, second, _ = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert first == (
        f"known: storefront-graph-v2: 0 of {len(ids)} ids are known (gold 0, artifacts 0, edges 0); "
        f"edges: 0 forward, 0 reversed, 0 by another relation, {len(steps)} not in the knowledge graph"
    )
    assert second.startswith("warning: storefront-graph-v2: hardly an id is known: they differ in letter case, as")
    severe = [line.removeprefix("SEVERE storefront-graph-v2: ") for line in done.out.splitlines() if "SEVERE" in line]
    # Completeness is of the answers' texts, and is as low where each id is known.
    assert [line.partition(" is 0")[0] for line in severe] == [
        "hardly an id is known, from which follows: nDCG@10",
        "Completeness",
    ]
    assert "RR is 0.0000" in severe[0]
    assert "EdgeRecall is 0.0000" in severe[0]
    gated = inside(
        "evaluate", "--full", "--no-store", "--fail-on-severe", "--dataset", STOREFRONT, upper, cwd=tmp_path, code=1
    )
    assert "EdgeRecall is 0.0000, severe" in gated.err + gated.out


def test_chunks_that_take_the_commit_of_their_artifact_are_reported(tmp_path: Path) -> None:
    """If a measure asks for commits, a line and the JSON say how many chunks name none, and take another's."""
    run = tiny(tmp_path, artifacts=[{"id": "a:m.py#x", "commit": "1"}, {"id": "a:m.py#y", "commit": "1"}])
    reported = "note: r: 2 of 3 chunks without a commit take that of their artifact in the dataset's graph\n"
    done = graphkit("evaluate", "--no-store", "-m", "Coherence", "--json", run, cwd=tmp_path, code=0)
    assert reported in done.err
    assert done.object()["without_commit"] == {"chunks": 3, "commit_of_artifact": 2}
    done = graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--json", run, cwd=tmp_path, code=0)
    assert "commit" not in done.err
    assert "without_commit" not in done.object()


def test_text_is_a_scoreboard(tmp_path: Path) -> None:
    """Without --json the mean stands beside the number of questions that it was scored on."""
    done = graphkit("evaluate", "--full", "--no-store", "-m", "BoundaryRecall", tiny(tmp_path), cwd=tmp_path, code=0)
    assert "BoundaryRecall 0.0000 1/2" in " ".join(done.out.split())
    assert "r: 2 questions, 0 failed, 0 missing" in " ".join(done.out.split())


def test_default_measures(tmp_path: Path) -> None:
    """If no measure is named, the documented ones come first, in their order, then what else the layers need."""
    done = graphkit("evaluate", "--no-store", "--json", tiny(tmp_path), cwd=tmp_path, code=0)
    assert list(done.object()["measures"])[: len(DEFAULT_MEASURES)] == list(DEFAULT_MEASURES)


def test_measures_of_tool_calls_come_where_they_are_logged(tmp_path: Path) -> None:
    """A run that logs its calls is also scored by them, and against the expected ones where a question has some.

    y is shown by the first call, x and w by the second, w again by the third: of q2's gold x and w after 2 calls, and
    of four ids one again. q1 logs none. Neither a run without calls nor named measures get any more.
    """
    calls = [{"name": "read", "seen": ids} for ids in (["a:m.py#y"], ["a:m.py#x", "a:m.py#w"], ["a:m.py#w"])]
    logged = tiny(tmp_path, answers=[ANSWERS[0], {**ANSWERS[1], "tool_calls": calls}])
    found = graphkit("evaluate", "--no-store", "--json", logged, cwd=tmp_path, code=0).object()["measures"]
    assert (found["StepsToGold"]["mean"], found["StepsToGold"]["scored"]) == (2.0, 1)
    assert (found["Redundancy"]["mean"], found["UsedShare"]["scored"]) == (0.25, 0)
    assert "ToolRecall" not in found
    assert list(evaluate(logged).measures)[-3:] == ["StepsToGold", "Redundancy", "UsedShare"]
    asked = [{**one, "expected_tools": ["read", "test"]} for one in QUESTIONS]
    expected = tiny(tmp_path / "expected", asked, [{**ANSWERS[0], "tools_called": ["read"]}, ANSWERS[1]])
    found = graphkit("evaluate", "--no-store", "--json", expected, cwd=tmp_path, code=0).object()["measures"]
    assert (found["ToolRecall"]["mean"], found["ToolRecall"]["scored"]) == (0.5, 1)
    assert list(evaluate(expected, measures=["RR"]).measures) == ["RR"]
    said = [{**ANSWERS[0], "answer": "tool_calls"}]
    for none in (tiny(tmp_path / "none", asked), tiny(tmp_path / "said", answers=said)):
        assert list(evaluate(none).measures) == list(DEFAULT_MEASURES)


def test_several_runs_keep_their_order_and_names(tmp_path: Path) -> None:
    """Each run has its object, in the order of the command line, under the name in its records."""
    first = tiny(tmp_path)
    second = write_lines(tmp_path / "runs" / "file.jsonl", [{**ANSWERS[1], "run": "named inside"}])
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", second, first, cwd=tmp_path, code=0)
    assert [(one["run"], one["missing"]) for one in done.objects()] == [("named inside", 1), ("r", 0)]


def test_efficiency_of_the_records(tmp_path: Path) -> None:
    """Time and cost of the records are summarised; a failed one counts only in the total.

    Of 100 and 300 ms the mean and the median are 200, p95 by nearest rank 300; with 50 ms of the failed one 450 in all.
    """
    asked = [{**QUESTIONS[0], "id": f"e{number}"} for number in range(3)]
    answers = [{"run": "r", "question_id": f"e{number}", "latency_ms": ms} for number, ms in enumerate((100, 300, 50))]
    answers[2] |= {"error": "broken", "cost": 0.5}
    run = tiny(tmp_path, asked, answers)
    found = graphkit("evaluate", "--json", "--no-store", "-m", "EdgeRecall", run, cwd=tmp_path).object()["efficiency"]
    assert found == {
        "latency_ms": {"mean": 200.0, "median": 200.0, "p95": 300.0, "total": 450.0, "known": 2},
        "cost": {"mean": None, "median": None, "p95": None, "total": 0.5, "known": 0},
    }
    shown = graphkit("evaluate", "--full", "--no-store", "-m", "EdgeRecall", run, cwd=tmp_path).out
    assert ["latency_ms", "200.0", "200.0", "300.0", "450.0", "2/3"] in [
        line.split()[1:] for line in shown.splitlines()
    ]


def test_answers_and_paths_are_a_headline(tmp_path: Path) -> None:
    """Flat retrieval walks nothing: what it answers right is luck, and is named; each question ended at one stage."""
    run = STOREFRONT / "runs" / "storefront-bm25.jsonl"
    shown = graphkit("evaluate", "--full", "--no-store", run, cwd=tmp_path).out
    assert "right answers by a wrong path (luck): sf-22" in shown
    found = graphkit("evaluate", "--no-store", "--json", run, cwd=tmp_path).object()
    assert found["two_by_two"]["luck"] == ["sf-22"]
    assert sum(found["stages"].values()) == len(read_jsonl(STOREFRONT / "questions.jsonl"))


def test_failed_and_missing_questions_are_counted(tmp_path: Path) -> None:
    """A record with an error is failed, no record is missing; neither is scored, both stay in the total."""
    questions = [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}]
    run = tiny(tmp_path, questions, [ANSWERS[0], {"run": "r", "question_id": "q2", "error": "timed out"}])
    found = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, code=0).object()
    found = without_intervals(found)
    assert (found["questions"], found["failed"], found["missing"]) == (3, 1, 1)
    # The two others may be 0 or 1: (0.5 + 0 + 0) / 3 and (0.5 + 1 + 1) / 3.
    wanted = {"mean": 0.5, "scored": 1, "total": 3, "lowest": 0.5 / 3, "highest": 2.5 / 3}
    # At a gate they are 0: (0.5 + 0 + 0) / 3.
    wanted |= {"failed": 1, "missing": 1, "worst": 0.0, "with_failed": 0.5 / 3, **NOTHING_LEFT}
    assert found["measures"] == {"EdgeRecall": wanted}


def test_notes_go_to_standard_error(tmp_path: Path) -> None:
    """A field that graphkit doesn't use is reported beside the result, not within it."""
    run = tiny(tmp_path, answers=[{**answer, "colour": "red"} for answer in ANSWERS])
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, code=0)
    assert "'colour'" in done.err
    assert "2 records" in done.err
    assert done.object()["questions"] == 2


def test_cut_off(tmp_path: Path) -> None:
    """--k is the cut-off of measures that name none, and leaves the others alone."""
    run = tiny(tmp_path)
    done = graphkit(
        *("evaluate", "--no-store", "--json", "-m", "Recall", "-m", "P@2", "--k", 1, run), cwd=tmp_path, code=0
    )
    # P@2: q1 1 of 2 (y is not relevant), q2 1 of 2 (the list is shorter than k).
    assert {name: one["mean"] for name, one in done.object()["measures"].items()} == {"Recall@1": 0.75, "P@2": 0.5}


@pytest.mark.parametrize("k", ["0", "-1", "x"])
def test_cut_off_that_is_none(tmp_path: Path, k: str) -> None:
    """A cut-off is a whole number of at least 1."""
    assert "--k" in inside("evaluate", "--no-store", "--k", k, tiny(tmp_path), cwd=tmp_path, code=2).err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("EdgeRecal", "Did you mean EdgeRecall?"),
        ("ndgc@10", "Did you mean nDCG?"),
        ("qqq", "`graphkit measures`"),
        ("P@0", "at least 1"),
        ("EdgeRecall(depth=2)", "It has: relation"),
        ("EdgeRecall(relation=2)", "must be a bool"),
        ("EdgeRecall(", "EdgeRecall("),
    ],
)
def test_unknown_measure(tmp_path: Path, name: str, hint: str) -> None:
    """A measure that isn't known is reported with the nearest name, or where the names are found."""
    done = inside("evaluate", "--no-store", "-m", name, tiny(tmp_path), cwd=tmp_path, code=2)
    assert hint in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (("--engine", "java"), "'java' is not one of 'python', 'cypher'"),
        (("--on-error", "stop"), "'stop' is not one of 'fail', 'skip'"),
        (("--engine", "cypher", "--no-store"), "--no-store"),
        (("--colour",), "--colour"),
    ],
)
def test_wrong_option(tmp_path: Path, options: tuple[str, ...], reported: str) -> None:
    """An option that can't be used is named, and no database is started for it."""
    done = inside("evaluate", tiny(tmp_path / "data"), *options, cwd=tmp_path, code=2)
    assert reported in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
    """Questions and runs may be compressed; the Zstandard file has two frames, as joined files have."""
    run = tiny(tmp_path)
    for path in (tmp_path / "questions.jsonl", run):
        first, second = path.read_bytes().splitlines(keepends=True)
        if suffix == ".gz":
            packed = gzip.compress(first) + gzip.compress(second)
        else:
            packed = zstandard.ZstdCompressor().compress(first) + zstandard.ZstdCompressor().compress(second)
        path.with_name(path.name + suffix).write_bytes(packed)
        path.unlink()
    assert mean("EdgeRecall", run.with_name(run.name + suffix)) == 0.75


def test_dataset_of_a_run(tmp_path: Path) -> None:
    """The dataset is the folder above runs/, or the run's own folder, or the one that --dataset names."""
    run = tiny(tmp_path / "data")
    assert mean("EdgeRecall", run) == 0.75
    beside = run.rename(tmp_path / "data" / "r.jsonl")
    assert mean("EdgeRecall", beside) == 0.75
    (tmp_path / "elsewhere" / "runs").mkdir(parents=True)
    away = beside.rename(tmp_path / "elsewhere" / "runs" / "r.jsonl")
    assert mean("EdgeRecall", away, "--dataset", tmp_path / "data") == 0.75
    done = graphkit("evaluate", "--no-store", away, cwd=tmp_path, code=2)
    assert str(away) in done.err
    assert "--dataset" in done.err


def test_no_store_leaves_no_trace(tmp_path: Path) -> None:
    """--no-store makes no folder and needs no database, even where NEO4J_URI names one that is down."""
    run = tiny(tmp_path / "data")
    before = sorted(tmp_path.rglob("*"))
    graphkit("evaluate", "--no-store", run, cwd=tmp_path, env={"NEO4J_URI": "bolt://127.0.0.1:1"}, code=0)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_judged_measure_is_not_computed(tmp_path: Path) -> None:
    """Asked for a measure that a judge gives, evaluate says so and how its scores are given, before it scores."""
    done = inside("evaluate", tiny(tmp_path), "--no-store", "-m", "Groundedness", cwd=tmp_path, code=2)
    assert "Groundedness isn't computed from records: a judge gives it" in done.err
    assert "--scores FILE" in done.err
    assert done.out == ""
    both = ("-m", "HallucinationRate", "-m", "Attribution")
    done = inside("evaluate", tiny(tmp_path), "--no-store", *both, cwd=tmp_path, code=2)
    assert "HallucinationRate, Attribution aren't computed from records: a judge gives them" in done.err


def test_what_unscored_questions_would_allow_is_shown(tmp_path: Path) -> None:
    """JSON and the files tell the lowest and highest mean, the terminal only where a question wasn't scored."""
    run = one_unscored(tmp_path)
    asked = ("evaluate", "--full", run, "--no-store", "-m", "EdgeRecall")
    out = tmp_path / "r.summary.json"
    # q1 is 0.5 and q2 may be 0 or 1: (0.5 + 0) / 2 and (0.5 + 1) / 2.
    wanted = {"mean": 0.5, "scored": 1, "total": 2, "lowest": 0.25, "highest": 0.75}
    wanted |= {"failed": 1, "missing": 0, "worst": 0.0, "with_failed": 0.25, **NOTHING_LEFT}
    found = inside(*asked, "--json", "--out", out, cwd=tmp_path, code=0).object()
    assert without_intervals(found)["measures"]["EdgeRecall"] == wanted
    assert without_intervals(json.loads(out.read_text())["runs"][0])["measures"]["EdgeRecall"] == wanted
    assert "1/2; 0.2500 [0.0000, 1.0000] with 1 failed as 0" in inside(*asked, cwd=tmp_path, code=0).out
    # A traversal that wasn't logged, in a run that logs that of q1, counts as one.
    unlogged = tiny(tmp_path / "unlogged", answers=[ANSWERS[0], {"run": "r", "question_id": "q2"}])
    asked = ("evaluate", "--full", unlogged, "--no-store", "-m", "EdgeRecall")
    assert "1/2; 0.2500 [0.0000, 1.0000] with 1 not logged as 0" in inside(*asked, cwd=tmp_path, code=0).out
    whole = inside(
        "evaluate", "--full", tiny(tmp_path / "whole"), "--no-store", "-m", "EdgeRecall", cwd=tmp_path, code=0
    )
    assert ", so " not in whole.out


def test_what_keeps_questions_from_being_scored_is_reported(tmp_path: Path) -> None:
    """Each reason is named once, with the measures that it holds for; what failed has no reason beside its count."""
    asked = [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}]
    answers: list[dict[str, Any]] = [
        {"run": "r", "question_id": "q1", "retrieved": ["a:m.py#x"]},
        {"run": "r", "question_id": "q2", "retrieved": []},
        {"run": "r", "question_id": "q3", "error": "timed out"},
    ]
    run = tiny(tmp_path, asked, answers)
    options = ("-m", "EdgeRecall", "-m", "PathPrefix", "-m", "BoundaryRecall")
    shown = inside("evaluate", "--full", "--no-store", *options, run, cwd=tmp_path, code=0).out.splitlines()
    # Both edges of q1 lead from a: the first within it, the second into b; those of q2 and q3 stay in a, so that no
    # answer to q3 could be scored by BoundaryRecall: its failure doesn't count there.
    reason = "r: not scored, since the record has no traversal (not logged): "
    assert reason + "EdgeRecall (2), PathPrefix (2), BoundaryRecall (1)" in shown
    assert "r: not scored, since gold crosses no repository boundary: BoundaryRecall (2)" in shown
    assert sum("not scored, since" in line for line in shown) == 2


def test_unordered_takes_walks_as_sets_of_edges(tmp_path: Path) -> None:
    """Measures of order aren't scored, with the reason; edges are scored as without it (0.75, as above)."""
    run = tiny(tmp_path)
    options = ("-m", "PathPrefix", "-m", "EdgeRecall", "--unordered", "-o", tmp_path / "out.jsonl")
    done = inside("evaluate", "--no-store", "--json", *options, run, cwd=tmp_path, code=0)
    measures = done.object()["measures"]
    assert (measures["PathPrefix"]["scored"], measures["EdgeRecall"]["mean"]) == (0, 0.75)
    reported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert {one["reason"] for one in reported if one["measure"] == "PathPrefix"} == {NO_ORDER}


def test_undirected_is_reported_by_the_names_of_the_measures(tmp_path: Path) -> None:
    """The walk of q1 backwards finds both its edges; every output names the measure so, layers and gates too."""
    back = [["a:m.py#y", "CALLS", "a:m.py#x"], ["b:n.py#z", "CALLS", "a:m.py#y"]]
    run = tiny(tmp_path, QUESTIONS[:1], [{**ANSWERS[0], "traversal": back}])
    options = ("--undirected", "--fail-under", "EdgeRecall=1", "-o", tmp_path / "out.md")
    done = inside("evaluate", "--no-store", "--json", *options, run, cwd=tmp_path, code=0)
    found = done.object()
    assert found["measures"]["EdgeRecall(directed=False)"]["mean"] == 1.0
    assert not {"EdgeRecall", "PathPrefix", "two_by_two"} & (found["measures"].keys() | found.keys())
    weighed = {one["measure"]: one["mean"] for layer in found["scorecard"]["layers"] for one in layer["components"]}
    assert weighed["EdgeRecall(directed=False)"] == 1.0
    assert "EdgeRecall(directed=False)" in (tmp_path / "out.md").read_text("utf-8")
    assert "compared without their direction" in done.err
    assert mean("EdgeRecall", run) == 0.0


def test_a_missing_run_opens_no_database(tmp_path: Path) -> None:
    """A misspelt name is reported before a database is started, with the name that it resembles."""
    run = tiny(tmp_path)
    done = inside("evaluate", run.with_name("rr.jsonl"), "--data", tmp_path / "graph", cwd=tmp_path, code=2)
    assert "there is no such file" in done.err
    assert "starting the database" not in done.err
    assert not (tmp_path / "graph").exists()
