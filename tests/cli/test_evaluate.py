"""``graphkit evaluate`` as a process: what it prints and writes, its gates, and where it finds its files."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
import zstandard

from graphkit.measures.registry import DEFAULT_MEASURES
from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, Row, graphkit, inside, tiny, write_lines

STOREFRONT = ROOT / "fixtures" / "storefront"


def mean(measure: str, run: Path, *options: object) -> object:
    """Return the mean of one measure of a run, scored without a database."""
    done = inside("evaluate", "--no-store", "--json", "-m", measure, *options, run, cwd=run.parent, code=0)
    [one] = done.object()["measures"].values()
    return one["mean"]


# Output ------------------------------------------------------------------------------------------------------------


def test_json_is_one_object_a_run(tmp_path: Path) -> None:
    """The object of a run has the documented keys, and the means that follow from the files by hand."""
    run = tiny(tmp_path / "shop")
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", "-m", "BoundaryRecall", run, cwd=tmp_path)
    # EdgeRecall: q1 1 of 2, q2 1 of 1. BoundaryRecall: the edge from a to b was not walked; q2 crosses nowhere.
    assert done.object() == {
        "run": "r",
        "dataset": "shop",
        "questions": 2,
        "failed": 0,
        "missing": 0,
        "invalid": 0,
        "measures": {
            "EdgeRecall": {"mean": 0.75, "scored": 2, "total": 2, "lowest": 0.75, "highest": 0.75},
            # The question whose gold crosses no boundary may be worth 0 or 1.
            "BoundaryRecall": {"mean": 0.0, "scored": 1, "total": 2, "lowest": 0.0, "highest": 0.5},
        },
        "efficiency": {},
    }
    assert done.err == ""


def test_text_is_a_scoreboard(tmp_path: Path) -> None:
    """Without --json the mean stands beside the number of questions that it was scored on."""
    done = graphkit("evaluate", "--no-store", "-m", "BoundaryRecall", tiny(tmp_path), cwd=tmp_path, code=0)
    assert "BoundaryRecall 0.0000 1/2" in " ".join(done.out.split())
    assert "r: 2 questions, 0 failed, 0 missing" in " ".join(done.out.split())


def test_default_measures(tmp_path: Path) -> None:
    """Where no measure is named, the documented ones come first, in their order, then what else the layers need."""
    done = graphkit("evaluate", "--no-store", "--json", tiny(tmp_path), cwd=tmp_path, code=0)
    assert list(done.object()["measures"])[: len(DEFAULT_MEASURES)] == list(DEFAULT_MEASURES)


def test_several_runs_keep_their_order_and_names(tmp_path: Path) -> None:
    """Each run has its object, in the order of the command line, under the name in its records."""
    first = tiny(tmp_path)
    second = write_lines(tmp_path / "runs" / "file.jsonl", [{**ANSWERS[1], "run": "named inside"}])
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", second, first, cwd=tmp_path, code=0)
    assert [(one["run"], one["missing"]) for one in done.objects()] == [("named inside", 1), ("r", 0)]


def test_efficiency_of_the_records(tmp_path: Path) -> None:
    """What records say of time and cost is summarised; a failed one counts in the total alone.

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
    shown = graphkit("evaluate", "--no-store", "-m", "EdgeRecall", run, cwd=tmp_path).out
    assert ["latency_ms", "200.0", "200.0", "300.0", "450.0", "2/3"] in [
        line.split()[1:] for line in shown.splitlines()
    ]


def test_answers_and_paths_are_a_headline(tmp_path: Path) -> None:
    """Flat retrieval walks nothing: what it answers right is luck, and is named; each question ended at one stage."""
    run = STOREFRONT / "runs" / "storefront-bm25.jsonl"
    shown = graphkit("evaluate", "--no-store", run, cwd=tmp_path).out
    assert "right answers by a wrong path, so luck: sf-22" in shown
    found = graphkit("evaluate", "--no-store", "--json", run, cwd=tmp_path).object()
    assert found["two_by_two"]["luck"] == ["sf-22"]
    assert sum(found["stages"].values()) == 30


def test_failed_and_missing_questions_are_counted(tmp_path: Path) -> None:
    """A record with an error is failed, no record is missing; neither is scored, both stay in the total."""
    questions = [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}]
    run = tiny(tmp_path, questions, [ANSWERS[0], {"run": "r", "question_id": "q2", "error": "timed out"}])
    found = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, code=0).object()
    assert (found["questions"], found["failed"], found["missing"]) == (3, 1, 1)
    # The two others may be 0 or 1: (0.5 + 0 + 0) / 3 and (0.5 + 1 + 1) / 3.
    wanted = {"mean": 0.5, "scored": 1, "total": 3, "lowest": 0.5 / 3, "highest": 2.5 / 3}
    assert found["measures"] == {"EdgeRecall": wanted}


def test_notes_go_to_standard_error(tmp_path: Path) -> None:
    """A field that graphkit doesn't use is told beside the result, not within it."""
    run = tiny(tmp_path, answers=[{**answer, "colour": "red"} for answer in ANSWERS])
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", run, cwd=tmp_path, code=0)
    assert "'colour'" in done.err
    assert "2 records" in done.err
    assert done.object()["questions"] == 2


# --out -------------------------------------------------------------------------------------------------------------


def test_out_has_a_line_a_question_and_measure(tmp_path: Path) -> None:
    """Each line is a value, or null with the reason, in the order of the questions and measures."""
    out = tmp_path / "results.jsonl"
    graphkit(
        *("evaluate", "--no-store", "-m", "EdgeRecall", "-m", "BoundaryRecall", "--out", out, tiny(tmp_path)),
        cwd=tmp_path,
        code=0,
    )
    lines: list[Row] = [json.loads(line) for line in out.read_text().splitlines()]
    assert {name for line in lines for name in line} >= {"run", "question", "measure", "value", "reason"}
    assert {line["run"] for line in lines} == {"r"}
    assert [(line["question"], line["measure"], line["value"]) for line in lines] == [
        ("q1", "EdgeRecall", 0.5),
        ("q1", "BoundaryRecall", 0.0),
        ("q2", "EdgeRecall", 1.0),
        ("q2", "BoundaryRecall", None),
    ]
    assert [line["reason"] is None for line in lines] == [True, True, True, False]


def test_out_of_several_runs(tmp_path: Path) -> None:
    """The lines of every run stand in one file."""
    run, out = tiny(tmp_path), tmp_path / "results.jsonl"
    other = write_lines(tmp_path / "runs" / "s.jsonl", [{**answer, "run": "s"} for answer in ANSWERS])
    graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "-o", out, run, other, cwd=tmp_path, code=0)
    assert [json.loads(line)["run"] for line in out.read_text().splitlines()] == ["r", "r", "s", "s"]


def test_out_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """When a run can't be scored, the file of an earlier evaluation is left as it was, and nothing beside it."""
    out = tmp_path / "results.jsonl"
    out.write_text("before")
    run = tiny(tmp_path / "data", answers=[*ANSWERS, "{"])
    graphkit("evaluate", "--no-store", "--out", out, run, cwd=tmp_path, code=2)
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "results.jsonl"]


def test_out_through_a_link(tmp_path: Path) -> None:
    """A link stays a link: the file that it leads to is written."""
    (tmp_path / "kept").mkdir()
    link, target = tmp_path / "link.jsonl", tmp_path / "kept" / "results.jsonl"
    link.symlink_to(target)
    graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--out", link, tiny(tmp_path), cwd=tmp_path, code=0)
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) == 2


def test_out_into_a_pipe(tmp_path: Path) -> None:
    """A pipe is written, never replaced by a file."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--out", pipe, tiny(tmp_path), cwd=tmp_path, code=0)
        assert reader.stdout is not None
        assert [json.loads(line)["question"] for line in reader.stdout] == ["q1", "q2"]
    assert pipe.is_fifo()


def test_out_honours_the_mask_of_the_user(tmp_path: Path) -> None:
    """The file is as readable to others as the user lets new files be."""
    out = tmp_path / "results.jsonl"
    graphkit(
        *("evaluate", "--no-store", "-m", "EdgeRecall", "--out", out, tiny(tmp_path)),
        cwd=tmp_path,
        code=0,
        preexec=lambda: void(os.umask(0o077)),
    )
    assert out.stat().st_mode & 0o777 == 0o600


def void(_: object) -> None:
    """Return nothing."""


# Gates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "gate", "code", "told"),
    [
        ("--fail-under", "EdgeRecall=0.75", 0, ""),
        ("--fail-under", "EdgeRecall=0.76", 1, "r: EdgeRecall is 0.7500, under 0.76"),
        ("--fail-over", "EdgeRecall=0.75", 0, ""),
        ("--fail-over", "EdgeRecall=0.7", 1, "r: EdgeRecall is 0.7500, over 0.7"),
        # Nothing is known of commits, so Coherence has no mean: that holds no gate.
        ("--fail-under", "Coherence=0", 1, "r: Coherence was scored on no question"),
        ("--fail-over", "Coherence=1", 1, "r: Coherence was scored on no question"),
    ],
)
def test_gate(tmp_path: Path, option: str, gate: str, code: int, told: str) -> None:
    """A mean on the wrong side of its gate ends with 1 and says by how much; the result is printed all the same."""
    done = inside("evaluate", "--no-store", "--json", option, gate, tiny(tmp_path), cwd=tmp_path, code=code)
    assert done.object()["run"] == "r"
    assert told in done.err
    assert bool(done.err) == bool(code)


@pytest.mark.parametrize("option", ["--fail-under", "--fail-over"])
def test_a_mean_at_its_gate_holds_it(tmp_path: Path, option: str) -> None:
    """Ten questions of which each is walked by four of five edges hold a gate of 0.8, from below and from above."""
    gold = [["a:m.py#x", "CALLS", f"a:m.py#{number}"] for number in range(5)]
    questions = [{"id": f"q{number}", "question": "?", "paths": [gold]} for number in range(10)]
    answers = [{"run": "r", "question_id": one["id"], "traversal": gold[:4]} for one in questions]
    run = tiny(tmp_path, questions, answers)
    # 4/5 ten times is 8, and 8/10 is .8: neither under nor over. One edge less in all is 39/50 = .78.
    arguments = ("evaluate", "--no-store", "--json", "-m", "EdgeRecall", option, "EdgeRecall=0.8", run)
    inside(*arguments, cwd=tmp_path, code=0)
    tiny(tmp_path, questions, [{**answers[0], "traversal": gold[:3]}, *answers[1:]])
    assert ("is 0.7800, under 0.8" in inside(*arguments, cwd=tmp_path, code=None).err) == (option == "--fail-under")


def test_a_gate_shows_the_digits_that_break_it(tmp_path: Path) -> None:
    """A mean that four decimals would show as its bound is told with more of them."""
    # EdgeRecall .75 is under .75001, and would read as .7500.
    arguments = ("evaluate", "--no-store", "--json", "--fail-over", "EdgeRecall=0.74999", tiny(tmp_path))
    assert "EdgeRecall is 0.7500, over 0.74999" in inside(*arguments, cwd=tmp_path, code=1).err
    third = [{**ANSWERS[0], "traversal": []}, ANSWERS[1], {**ANSWERS[1], "question_id": "q3"}]
    run = tiny(tmp_path, [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}], third)
    # (0 + 1 + 1) / 3 = 2/3 is under .66668, but .6667 is not.
    arguments = ("evaluate", "--no-store", "--json", "--fail-under", "EdgeRecall=0.66668", run)
    assert "EdgeRecall is 0.666666666667, under 0.66668" in inside(*arguments, cwd=tmp_path, code=1).err


def test_gate_on_a_measure_with_a_parameter(tmp_path: Path) -> None:
    """A gate's measure may have parameters of its own, and is computed though --measure doesn't name it."""
    walked = {"source": "a:m.py#x", "relation": "IMPORTS", "target": "a:m.py#w", "position": 0}
    run = tiny(tmp_path, QUESTIONS[1:], [{**ANSWERS[1], "traversal": [walked]}])
    # The only edge is walked by another relation: 0 with relations, 1 without.
    for gate, code in (("EdgeRecall=1", 1), ("EdgeRecall(relation=False)=1", 0)):
        done = inside(
            "evaluate", "--no-store", "--json", "-m", "RR", "--fail-under", gate, run, cwd=tmp_path, code=code
        )
        assert list(done.object()["measures"]) == ["RR", gate.rpartition("=")[0]]


def test_gate_takes_the_cut_off(tmp_path: Path) -> None:
    """--k also holds for a gate's measure that names no cut-off."""
    # Recall@1: q1 1 of 2, q2 1 of 1.
    done = graphkit(
        *("evaluate", "--no-store", "--json", "-m", "RR", "--k", 1, "--fail-under", "Recall=0.8", tiny(tmp_path)),
        cwd=tmp_path,
        code=1,
    )
    assert "Recall@1 is 0.7500, under 0.8" in done.err


@pytest.mark.parametrize("gate", ["EdgeRecall", "EdgeRecall=", "=0.5", "EdgeRecall=high", "EdgeRecall=nan"])
def test_gate_that_is_none(tmp_path: Path, gate: str) -> None:
    """A gate without a name or a number is a mistake of usage, found before anything is read."""
    done = inside("evaluate", "--no-store", "--fail-under", gate, "nowhere.jsonl", cwd=tmp_path, code=2)
    assert "MEASURE=VALUE" in done.err or "NAME=VALUE" in done.err
    assert repr(gate) in done.err


# Options -----------------------------------------------------------------------------------------------------------


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
    """A measure that isn't known is told with the nearest name, or where the names are found."""
    done = inside("evaluate", "--no-store", "-m", name, tiny(tmp_path), cwd=tmp_path, code=2)
    assert hint in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--engine", "java"), "--engine is python or cypher"),
        (("--on-error", "stop"), "--on-error is fail or skip"),
        (("--engine", "cypher", "--no-store"), "--no-store"),
        (("--colour",), "--colour"),
    ],
)
def test_wrong_option(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    """An option that can't be used is named, and no database is started for it."""
    done = inside("evaluate", tiny(tmp_path / "data"), *options, cwd=tmp_path, code=2)
    assert told in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# Files -------------------------------------------------------------------------------------------------------------


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


# The graph ---------------------------------------------------------------------------------------------------------


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
    assert sum(one["total"] for one in each) == 30
    assert sum(one["mean"] * one["scored"] for one in each) / overall["scored"] == pytest.approx(overall["mean"])
    summary = json.loads((tmp_path / "s.summary.json").read_text())["runs"][0]
    assert summary["groups"]["difficulty"] == groups[1]
    assert set(summary["groups"]) == {"category", "difficulty", "group"}
    assert "values" not in summary
    shown = graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--by", "difficulty", run, cwd=tmp_path).out
    assert ["measure", "easy", "(12)", "hard", "(6)", "medium", "(12)"] in [line.split() for line in shown.splitlines()]
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
        assert cypher["measures"][name] == pytest.approx(one, abs=1e-12), name
    for name in ("run", "dataset", "questions", "failed", "missing"):
        assert cypher[name] == python[name]
    lines = [sorted(map(key, out.read_text().splitlines())) for out in outs]
    assert [line[:2] for line in lines[0]] == [line[:2] for line in lines[1]]
    assert len(lines[0]) == 30 * len(python["measures"])
    for one, two in zip(*lines, strict=True):
        assert two[2] == pytest.approx(one[2], abs=1e-12), one


def key(line: str) -> tuple[str, str, float | None]:
    """Return question, measure and value of a line of --out."""
    row = json.loads(line)
    return row["question"], row["measure"], row["value"]


NO_GOLD = "note: the question has neither gold paths nor relevant ids: most measures can't score it (2 records, the"


@pytest.mark.parametrize("spelling", ["id", "query_id"])
def test_questions_without_gold_are_told(spelling: str, graph: Graph, tmp_path: Path) -> None:
    """Each evaluation says once how many questions nothing can be scored against, with and without a database."""
    questions = [{spelling: f"bare-{spelling}-{number}", "question": "?"} for number in range(2)]
    questions.append({**QUESTIONS[0], "id": f"bare-{spelling}-2"})
    answers = [{"run": f"bare-{spelling}", "question_id": f"bare-{spelling}-{number}"} for number in range(3)]
    run = tiny(tmp_path / f"bare-{spelling}", questions, answers)
    for options in (["--no-store"], [], [], ["--engine", "cypher"]):
        done = inside("evaluate", "-m", "EdgeRecall", *options, run, cwd=tmp_path, env=graph.env, code=0)
        assert done.err.count("neither gold paths nor relevant ids") == 1, options
        assert f"{NO_GOLD} first: {run.parent.parent / 'questions.jsonl'} bare-{spelling}-0)" in done.err


def test_a_judged_measure_is_not_computed(tmp_path: Path) -> None:
    """Asked for a measure that a judge gives, evaluate says so and how its scores are given, before it scores."""
    done = inside("evaluate", tiny(tmp_path), "--no-store", "-m", "Groundedness", cwd=tmp_path, code=2)
    assert "Groundedness isn't computed from records: a judge gives it" in done.err
    assert "--scores FILE" in done.err
    assert done.out == ""
    both = ("-m", "HallucinationRate", "-m", "Attribution")
    done = inside("evaluate", tiny(tmp_path), "--no-store", *both, cwd=tmp_path, code=2)
    assert "HallucinationRate, Attribution aren't computed from records: a judge gives them" in done.err


def _one_unscored(tmp_path: Path) -> Path:
    """Return the run of the tiny dataset with q2 failed: EdgeRecall is 0.5 on one of two questions."""
    return tiny(tmp_path, answers=[ANSWERS[0], {"run": "r", "question_id": "q2", "error": "timed out"}])


def test_what_unscored_questions_would_allow_is_shown(tmp_path: Path) -> None:
    """JSON and the files tell the lowest and highest mean, the terminal only where a question wasn't scored."""
    run = _one_unscored(tmp_path)
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall")
    out = tmp_path / "r.summary.json"
    # q1 is 0.5 and q2 may be 0 or 1: (0.5 + 0) / 2 and (0.5 + 1) / 2.
    wanted = {"mean": 0.5, "scored": 1, "total": 2, "lowest": 0.25, "highest": 0.75}
    assert inside(*asked, "--json", "--out", out, cwd=tmp_path, code=0).object()["measures"]["EdgeRecall"] == wanted
    assert json.loads(out.read_text())["runs"][0]["measures"]["EdgeRecall"] == wanted
    assert "1/2, so 0.25 to 0.75" in inside(*asked, cwd=tmp_path, code=0).out
    whole = inside("evaluate", tiny(tmp_path / "whole"), "--no-store", "-m", "EdgeRecall", cwd=tmp_path, code=0)
    assert ", so " not in whole.out


def test_the_gate_on_coverage(tmp_path: Path) -> None:
    """--min-scored holds the share of questions that each named measure was scored on: here 1 of 2."""
    asked = ("evaluate", _one_unscored(tmp_path), "--no-store")
    inside(*asked, "-m", "EdgeRecall", "--min-scored", "0.5", cwd=tmp_path, code=0)
    done = inside(*asked, "-m", "EdgeRecall", "--min-scored", "0.9", cwd=tmp_path, code=1)
    assert "gate failed: r: EdgeRecall was scored on 1 of 2 questions (50%), fewer than 90%" in done.err
    # A measure that a gate names is held, too; one that nobody named only where none was.
    done = inside(*asked, "--fail-under", "RR=0", "--min-scored", "0.9", cwd=tmp_path, code=1)
    assert "RR was scored on 1 of 2" in done.err
    assert "EdgeRecall" not in done.err
    done = inside(*asked, "--min-scored", "0.9", cwd=tmp_path, code=1)
    assert "EdgeRecall was scored on 1 of 2" in done.err
    assert "Coherence was scored on 0 of 2" in done.err


@pytest.mark.parametrize("share", ["1.5", "-0.1", "nan"])
def test_a_share_lies_between_0_and_1(tmp_path: Path, share: str) -> None:
    """What is no share is refused before anything is scored."""
    done = inside("evaluate", tiny(tmp_path), "--no-store", f"--min-scored={share}", cwd=tmp_path, code=2)
    assert "--min-scored" in done.err
    assert done.out == ""


def test_the_gate_on_stale_gold(tmp_path: Path) -> None:
    """--fail-on-stale ends with 1 where the knowledge graph no longer holds the gold of a question, which is named."""
    run = tiny(tmp_path)
    edge = {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#w"}
    inside("evaluate", run, "--no-store", "-m", "RR", "--fail-on-stale", cwd=tmp_path, code=0)
    # The knowledge graph knows the edge of q2 only: the gold of q1 is stale.
    write_lines(tmp_path / "artifacts.jsonl", [{"id": f"a:m.py#{name}"} for name in "xw"])
    write_lines(tmp_path / "edges.jsonl", [edge])
    done = inside("evaluate", run, "--no-store", "-m", "RR", "--fail-on-stale", cwd=tmp_path, code=1)
    assert "gate failed: r: the gold of 1 question is stale: q1" in done.err
