"""JUnit files: names that stay, what fails, what is skipped, and a form that readers of JUnit accept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.scoring.export import write_results
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation, Row
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, inside, tiny, write_lines

#: What the schema of Jenkins (jenkins-junit.xsd) allows: attributes, those that it requires, and children.
SCHEMA = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        *({"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id"},),
        *({"name", "tests"}, {"properties", "testcase", "system-out", "system-err"}),
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": (
        *({"name", "assertions", "time", "classname", "status"}, {"name"}),
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "skipped": ({"message"}, set(), set()),
    "failure": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}

Named = set[tuple[str, str]]


def parsed(file: Path) -> ElementTree.Element:
    """Return the document of a file, which has the form of the schema, counts what it holds, and repeats no name."""
    root = ElementTree.parse(file).getroot()
    for element in root.iter():
        allowed, required, children = SCHEMA[element.tag]
        assert required <= set(element.attrib) <= allowed
        assert {child.tag for child in element} <= children
    for suite in root:
        for name, kind in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
            assert suite.get(name) == str(len(suite.findall(f"testcase/{kind}")))
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        tags = [child.tag for child in suite]
        assert tags == sorted(tags, key=["properties", "testcase"].index)  # the schema has an order
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert not [name for name, count in Counter(names).items() if count > 1]
    return root


def names(root: ElementTree.Element) -> Named:
    """Return class and name of each case."""
    return {(str(case.get("classname")), str(case.get("name"))) for case in root.iter("testcase")}


def marks(root: ElementTree.Element) -> dict[str, tuple[str, str]]:
    """Return of each case that failed or was skipped which of both, and the message."""
    return {
        str(case.get("name")): (child.tag, str(child.get("message")))
        for case in root.iter("testcase")
        for child in case
        if child.tag != "system-out"
    }


def properties(suite: ElementTree.Element) -> dict[str, str]:
    """Return the properties of a suite."""
    return {str(one.get("name")): str(one.get("value")) for one in suite.iter("property")}


EVALUATE = ("evaluate", "--no-store", "-m", "EdgeRecall", "-m", "RR")


def test_a_case_is_a_question_and_a_measure(tmp_path: Path) -> None:
    """Class and name hold dataset, category, question and measure; time and properties say where it comes from."""
    questions = [{**QUESTIONS[0], "category": "lookup"}, QUESTIONS[1]]
    run = tiny(tmp_path / "shop", questions, [{**ANSWERS[0], "latency_ms": 1500}, ANSWERS[1]])
    inside(*EVALUATE, run, "--junit", "r.xml", "--fail-under", "EdgeRecall=0.7", cwd=tmp_path, code=0)
    root = parsed(tmp_path / "r.xml")
    assert names(root) == {
        ("shop.lookup", "q1: EdgeRecall"),
        ("shop.lookup", "q1: RR"),
        ("shop", "q2: EdgeRecall"),
        ("shop", "q2: RR"),
        ("shop gates", "fail-under EdgeRecall"),
    }
    assert marks(root) == {}
    [suite, gates] = root
    assert [case.get("time") for case in suite.iter("testcase")] == ["1.500000", "1.500000", None, None]
    assert suite.get("time") == "1.500000"  # of the one question, not of its two cases
    [given] = inside(*EVALUATE, run, "--json", cwd=tmp_path, code=0).objects()
    for one in (suite, gates):
        found = properties(one)
        assert found["graphkit"] == graphkit.__version__
        assert (found["run"], found["dataset"], found["gold_hash"]) == ("r", "shop", given["gold_hash"])
        assert len(found["config"]) == 16
    printed = str(gates.findtext("testcase/system-out")).splitlines()
    assert "bound: 0.7" in printed
    assert "value: 0.75" in printed
    assert "from the bound: 0.7500, 0.0500 above; could be 0.75" in printed
    assert "questions: 2, left out: 0" in printed


def test_the_history_goes_on(tmp_path: Path) -> None:
    """Another name of the run, other thresholds and a new question leave the cases that there were as they are."""
    run = tiny(tmp_path / "shop")

    def cases(*options: str, code: int = 0) -> Named:
        inside(*EVALUATE, tmp_path / "shop" / "runs" / "r.jsonl", "--junit", "r.xml", *options, cwd=tmp_path, code=code)
        return names(parsed(tmp_path / "r.xml"))

    gates = ("--fail-under", "EdgeRecall=0.7", "--fail-question", "EdgeRecall=0.5", "--max-failed", "0")
    before = cases(*gates)
    assert len(before) == 2 * 2 + 3
    assert cases(*gates, "--run", "tuesday-42") == before
    higher = ("--fail-under", "EdgeRecall=0.9", "--fail-question", "EdgeRecall=0.6", "--max-failed", "1")
    assert cases(*higher, code=1) == before
    write_lines(tmp_path / "shop" / "questions.jsonl", [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}])
    write_lines(run, [*ANSWERS, {**ANSWERS[1], "question_id": "q3"}])
    assert cases(*gates) == before | {("shop", "q3: EdgeRecall"), ("shop", "q3: RR")}
    (tmp_path / "graphkit.toml").write_text("[targets]\nEdgeRecall = 0.9\n")
    digest = properties(parsed(tmp_path / "r.xml")[0])["config"]
    assert cases(*gates, "--config", "graphkit.toml") >= before
    assert properties(parsed(tmp_path / "r.xml")[0])["config"] != digest


def test_questions_fail_under_their_own_bound(tmp_path: Path) -> None:
    """Only --fail-question fails questions: q1 with 1/2, the failed q2 and the missing q3 as 0; q4 has no gold."""
    questions = [*QUESTIONS, {**QUESTIONS[1], "id": "q3"}, {"id": "q4", "question": "?"}]
    answers = [ANSWERS[0], {"run": "r", "question_id": "q2", "error": "503"}, {**ANSWERS[0], "question_id": "q4"}]
    run = tiny(tmp_path / "shop", questions, answers)
    asked = ("evaluate", "--no-store", "-m", "EdgeRecall", run, "--junit", "r.xml")
    inside(*asked, cwd=tmp_path, code=0)
    assert marks(parsed(tmp_path / "r.xml")) == {
        "q2: EdgeRecall": ("skipped", "failed: 503"),
        "q3: EdgeRecall": ("skipped", "the run has no record for this question"),
        "q4: EdgeRecall": ("skipped", "no gold path with a required step"),
    }
    done = inside(*asked, "--fail-question", "EdgeRecall=0.6", cwd=tmp_path, code=1)
    found = marks(parsed(tmp_path / "r.xml"))
    whole = found.pop("fail-question EdgeRecall")
    assert found == {
        "q1: EdgeRecall": ("failure", "EdgeRecall is 0.5000, under 0.6"),
        "q2: EdgeRecall": ("failure", "EdgeRecall is 0 (failed: 503), under 0.6"),
        "q3: EdgeRecall": ("failure", "EdgeRecall is 0 (the run has no record for this question), under 0.6"),
        "q4: EdgeRecall": ("skipped", "no gold path with a required step"),
    }
    assert "EdgeRecall breaks the bound on 3 of 3 questions" in whole[1]
    assert "q1: 0.5000, under 0.6" in done.err
    inside(*asked, "--fail-question", "EdgeRecall=0.6", "--missing-as", "unscored", cwd=tmp_path, code=1)
    found = marks(parsed(tmp_path / "r.xml"))
    assert found["q2: EdgeRecall"] == ("skipped", "failed: 503")


def test_a_bound_on_questions_holds_its_direction(tmp_path: Path) -> None:
    """EdgeRecall of the questions is 1/2 and 1, and its bound a lower one; that of HallucinationRate an upper one."""
    run = tiny(tmp_path / "shop")
    asked = ("evaluate", "--no-store", run, "--json")
    [gate] = inside(*asked, "--fail-question", "EdgeRecall=0.5", cwd=tmp_path, code=0).object()["gates"]
    assert (gate["name"], gate["value"], gate["n"], gate["margin"]) == ("fail-question EdgeRecall=0.5", 0.5, 2, 0)
    # A judge found HallucinationRate .1 and .4, of which lower is better: .4 is over .3, .1 is not.
    scores = [
        {"run": "r", "question": one, "measure": "HallucinationRate", "value": value}
        for one, value in (("q1", 0.1), ("q2", 0.4))
    ]
    judged = (*asked, "--scores", write_lines(tmp_path / "scores.jsonl", scores))
    [gate] = inside(*judged, "--fail-question", "HallucinationRate=0.5", cwd=tmp_path, code=0).object()["gates"]
    assert (gate["value"], gate["margin"], gate["could_be"]) == (0.4, pytest.approx(0.1), 0.4)
    done = inside(*judged, "--fail-question", "HallucinationRate=0.3", cwd=tmp_path, code=1)
    assert "breaks the bound on 1 of 2 questions: q2: 0.4000, over 0.3" in done.err


def test_silence_breaks_a_bound_on_questions(tmp_path: Path) -> None:
    """A question whose record doesn't log its walk counts as 0, as in a mean; a run that never logs one fails."""
    silent = {"run": "r", "question_id": "q2", "retrieved": ["a:m.py#w"]}
    run = tiny(tmp_path, answers=[ANSWERS[0], silent])
    asked = ("evaluate", "--no-store", "-m", "EdgeRecall", "--fail-question", "EdgeRecall=0.5")
    done = inside(*asked, run, cwd=tmp_path, code=1)
    assert "EdgeRecall breaks the bound on 1 of 2 questions: q2: 0 (" in done.err
    tiny(tmp_path, answers=[{**silent, "question_id": "q1"}, silent])
    assert "EdgeRecall was never logged" in inside(*asked, run, cwd=tmp_path, code=1).err


def test_bounds_on_questions_beside_a_results_folder(tmp_path: Path) -> None:
    """A gate on questions and JUnit are the same beside a results folder."""
    pytest.importorskip("pyarrow")
    asked = ("evaluate", tiny(tmp_path), "--no-store", "--fail-question", "EdgeRecall=0.6", "--junit")
    alone = inside(*asked, "alone.xml", cwd=tmp_path, code=1)
    beside = inside(*asked, "beside.xml", "-o", "folder", cwd=tmp_path, code=1)
    assert names(parsed(tmp_path / "beside.xml")) == names(parsed(tmp_path / "alone.xml"))
    assert beside.err == alone.err


def test_two_runs_in_one_file(tmp_path: Path) -> None:
    """Two runs have the same questions: their classes begin with the run, so that no two cases have one name."""
    run = tiny(tmp_path / "shop")
    other = write_lines(run.with_name("s.jsonl"), [{**one, "run": "s"} for one in ANSWERS])
    inside(*EVALUATE, run, other, "-o", "r.xml", cwd=tmp_path, code=0)
    assert {one for one, _ in names(parsed(tmp_path / "r.xml"))} == {"r.shop", "s.shop"}


def test_hostile_ids_are_safe(tmp_path: Path) -> None:
    """Ids with control characters, markup, lone surrogates and a megabyte give a valid file with a name for each."""
    ids = ["a\x00b", "a\\u0000b", "</testcase><x>", "\ud800", "\ufffe", "l" * 1_000_000 + "1", "l" * 1_000_000 + "2"]
    rows = tuple(Row(one, (0.5,)) for one in ids)
    result = Evaluation("r\x1b[31m", "d\n", len(ids), 0, 0, {"EdgeRecall": Summary(0.5, len(ids), len(ids))}, rows=rows)
    write_results(tmp_path / "r.xml", [result])
    root = parsed(tmp_path / "r.xml")
    assert len(names(root)) == len(ids)
    assert (tmp_path / "r.xml").stat().st_size < 10_000
    assert any(name.startswith("</testcase><x>") for _, name in names(root))


def test_the_counts_of_stale_and_failed_questions(tmp_path: Path) -> None:
    """A question with stale gold is skipped once, even if the run failed on it."""
    rows = (Row("q1", ("failed: broken",)), Row("q2", ("its gold is stale",)), Row("q3", (1.0,)))
    measures = {"EdgeRecall": Summary(1.0, 1, 3)}
    result = Evaluation("r", "d", 3, failed=2, missing=0, measures=measures, rows=rows, invalid={"q2": "stale"})
    write_results(tmp_path / "r.xml", [result])
    [suite] = parsed(tmp_path / "r.xml")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "0", "2")
    assert properties(suite)["failed_as"] == "worst"


def compared_runs(folder: Path, names: tuple[str, str] = ("a", "b")) -> list[Path]:
    """Write two runs: by the second, q1 of the category lookup falls from 1/2 to 0."""
    questions = [{**QUESTIONS[0], "category": "lookup"}, QUESTIONS[1]]
    tiny(folder, questions, ()).unlink()
    answers = (ANSWERS, [{**ANSWERS[0], "traversal": []}, ANSWERS[1]])
    return [
        write_lines(folder / "runs" / f"{name}.jsonl", [{**one, "run": name} for one in some])
        for name, some in zip(names, answers, strict=True)
    ]


def test_a_comparison_has_cases_of_gates_and_questions(tmp_path: Path) -> None:
    """The mean falls from .75 to .5, so by .25: only a gate that this breaks makes the question that lost fail."""
    asked = ("compare", *compared_runs(tmp_path / "shop"), "-m", "EdgeRecall", "--junit", "c.xml")
    inside(*asked, "--fail-on-drop", "0.3", cwd=tmp_path, code=0)
    root = parsed(tmp_path / "c.xml")
    assert names(root) == {
        ("shop compared.lookup", "q1: EdgeRecall"),
        ("shop compared", "q2: EdgeRecall"),
        ("shop compared gates", "fail-on-drop EdgeRecall"),
        ("shop compared gates", "max-failed"),
    }
    assert marks(root) == {}
    found = properties(root[0])
    assert (found["run"], found["baseline"], found["dataset"]) == ("b", "a", "shop")
    assert found["difference EdgeRecall"].startswith("-0.2500")
    inside(*asked, "--fail-on-drop", "0.2", cwd=tmp_path, code=1)
    broken = parsed(tmp_path / "c.xml")
    assert names(broken) == names(root)
    failed = marks(broken)
    assert failed["q1: EdgeRecall"] == ("failure", "EdgeRecall 0.5000 to 0.0000, and the gate on EdgeRecall failed")
    assert set(failed) == {"q1: EdgeRecall", "fail-on-drop EdgeRecall"}
    # Other names of both runs, and no gate: the questions keep their names.
    compared_runs(tmp_path / "shop", ("x", "y"))
    runs = [tmp_path / "shop" / "runs" / f"{name}.jsonl" for name in "xy"]
    inside("compare", *runs, "-m", "EdgeRecall", "--junit", "c.xml", cwd=tmp_path, code=0)
    assert names(parsed(tmp_path / "c.xml")) == {one for one in names(root) if not one[0].endswith("gates")}


def test_a_comparison_of_results_and_scores_has_them_too(tmp_path: Path) -> None:
    """Files of scores don't say dataset and category; results folders do."""
    pytest.importorskip("pyarrow")
    for run in compared_runs(tmp_path / "shop"):
        for out in (run.stem, f"{run.stem}.jsonl"):
            inside("evaluate", run, "--no-store", "-m", "EdgeRecall", "-o", out, cwd=tmp_path, code=0)
    inside("compare", "a", "b", "--junit", "c.xml", cwd=tmp_path, code=0)
    assert {one for one, _ in names(parsed(tmp_path / "c.xml"))} == {"shop compared.lookup", "shop compared"}
    inside("compare", "a", "b", "--scores", "a.jsonl", "--scores", "b.jsonl", "--junit", "c.xml", cwd=tmp_path, code=0)
    assert {one for one, _ in names(parsed(tmp_path / "c.xml"))} == {"scores compared"}


def test_a_comparison_in_the_graph_has_them_too(graph: Graph, tmp_path: Path) -> None:
    """Runs in the graph give the cases that their files give."""
    files = compared_runs(tmp_path / "shop")
    asked = ("-m", "EdgeRecall", "--fail-on-drop", "0.2", "--junit")
    inside("compare", *files, *asked, "files.xml", cwd=tmp_path, code=1)
    inside("evaluate", *files, "-m", "EdgeRecall", cwd=tmp_path, env=graph.env, code=0)
    inside("compare", "a", "b", *asked, "graph.xml", cwd=tmp_path, env=graph.env, code=1)
    of_files, of_graph = (parsed(tmp_path / f"{name}.xml") for name in ("files", "graph"))
    assert names(of_graph) == names(of_files)
    assert marks(of_graph) == marks(of_files)
