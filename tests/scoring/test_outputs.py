"""Results as files: each form holds the same values, and hostile text stays text."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.ci.results_markdown import results_markdown
from graphkit.plugins.compare.summaries import summarize
from graphkit.plugins.exports.evaluation_events import exports_of_events
from graphkit.plugins.exports.mlflow_runs import table_of
from graphkit.plugins.exports.run_sources import export_of_file
from graphkit.scoring.export import write_results
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation, Row
from tests.helpers.cli import tiny

HOSTILE = '=cmd|"/C calc"!A1 </system-out><script>|`x`\x00\x1b[31m'


def _result(question: str = "q1") -> Evaluation:
    measures = {"EdgeRecall": Summary(0.5, 1, 3), "nDCG@10": Summary(None, 0, 3)}
    rows = (
        Row(question, (0.5, "no relevant ids"), gold_hash="12ab"),
        Row("q2", ("failed: broken", "failed: broken")),
        Row("q3", ("the run has no record for this question",) * 2),
    )
    return Evaluation("r", "d", questions=3, failed=1, missing=1, measures=measures, rows=rows, gold_hash="34cd")


def test_lines_hold_value_or_reason_with_parameters(tmp_path: Path) -> None:
    """One line per question and measure, with a number or null and the reason, and the parameters of the measure."""
    write_results(tmp_path / "r.jsonl", [_result()])
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == 6
    assert lines[0] == {
        "run": "r",
        "question": "q1",
        "measure": "EdgeRecall",
        "value": 0.5,
        "reason": None,
        "version": graphkit.__version__,
        "computed": None,
        "parameters": {"relation": True, "directed": True, "static": False, "files": False},
        "grader": "graphkit",
        **dict.fromkeys(("grade", "label", "explanation", "confidence", "cost", "prompt_tokens", "output_tokens")),
        "gold_hash": "12ab",
        "strict_value": None,
        "untyped": None,
        "missed_edges": None,
        "absent_edges": None,
    }
    assert (lines[1]["value"], lines[1]["reason"]) == (None, "no relevant ids")
    assert lines[1]["parameters"] == {"k": 10, "level": None, "sets": False, "match": "exact"}


def test_rows_of_edge_recall_hold_missed_edges_and_those_that_the_graph_lacks(tmp_path: Path) -> None:
    """Of q1 the run walks x → y and misses y → z, which its graph lacks; q2 is whole, and q3 fails.

    The gold of y → z is a trace's, so it isn't stale. A table holds the lists as JSON, and scores are read back.
    """
    found = {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"}
    lost = {"source": "a:m.py#y", "relation": None, "target": "b:n.py#z"}
    questions: list[dict[str, Any] | str | bytes] = [
        {"id": "q1", "question": "?", "paths": [[found, {**lost, "evidence": "trace"}]]},
        {"id": "q2", "question": "?", "paths": [[found]]},
        {"id": "q3", "question": "?", "paths": [[found]]},
    ]
    answers: list[dict[str, Any] | str | bytes] = [
        {"run": "r", "question_id": "q1", "traversal": [found]},
        {"run": "r", "question_id": "q2", "traversal": [found]},
        {"run": "r", "question_id": "q3", "error": "boom"},
    ]
    file = tiny(tmp_path / "d", questions, answers, edges=[found])
    result = graphkit.evaluate(file, measures=["EdgeRecall", "EdgePrecision"], outcomes=True)
    write_results(tmp_path / "r.jsonl", [result])
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text("utf-8").splitlines()]
    edges = {(one["question"], one["measure"]): (one["missed_edges"], one["absent_edges"]) for one in lines}
    assert edges["q1", "EdgeRecall"] == ([lost], [lost])
    assert edges["q2", "EdgeRecall"] == ([], [])
    assert edges["q3", "EdgeRecall"] == (None, [])
    assert edges["q1", "EdgePrecision"] == (None, None)
    write_results(tmp_path / "r.csv", [result])
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as stream:
        rows = [one for one in csv.DictReader(stream) if one["measure"] == "EdgeRecall"]
    assert [json.loads(one["missed_edges"] or "null") for one in rows] == [[lost], [], None]
    assert [
        score.number for score in read_scores([tmp_path / "r.csv"], Problems()) if score.measure == "EdgeRecall"
    ] == [0.5, 1.0, None]


def test_a_row_states_the_cut_off_that_it_was_computed_by(tmp_path: Path) -> None:
    """q1 has its own k of 1, q2 none. Of three relevant ids at the first ranks, Recall@5 is 1/3 of q1 and 1 of q2."""
    relevant = dict.fromkeys(("a:1", "a:2", "a:3"), 1)
    asked = {"question": "?", "relevant": relevant, "paths": [[["a:1", "CALLS", "a:2"]]]}
    told = {"run": "r", "retrieved": [*relevant], "traversal": []}
    file = tiny(
        tmp_path / "d",
        [{"id": "q1", "k": 1, **asked}, {"id": "q2", **asked}],
        [{"question_id": "q1", **told}, {"question_id": "q2", **told}],
    )
    result = graphkit.evaluate(file, measures=["Recall@5", "EdgeRecall"])
    expected = [
        ("q1", "Recall@5", pytest.approx(1 / 3), "Recall@1", 1),
        ("q1", "EdgeRecall", 0.0, None, None),
        ("q2", "Recall@5", 1.0, None, 5),
        ("q2", "EdgeRecall", 0.0, None, None),
    ]

    def stated(row: Any) -> tuple[Any, ...]:
        own = row["parameters"]
        own = json.loads(own) if isinstance(own, str) else own
        return row["question"], row["measure"], row["value"], row["computed"], own.get("k")

    write_results(tmp_path / "r.jsonl", [result])
    assert [stated(json.loads(line)) for line in (tmp_path / "r.jsonl").read_text("utf-8").splitlines()] == expected
    write_results(tmp_path / "r.csv", [result])
    with (tmp_path / "r.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = [stated(row) for row in csv.DictReader(stream)]
    assert [row[3:] for row in rows] == [("Recall@1", 1), ("", None), ("", 5), ("", None)]
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow isn't installed")
    write_results(tmp_path / "r.parquet", [result])
    assert [stated(row) for row in parquet.read_table(tmp_path / "r.parquet").to_pylist()] == expected
    exported = export_of_file(file, measures=["Recall@5"])
    assert table_of(exported)["computed"] == ["Recall@1", None]
    [event, _] = [
        one
        for batch in exports_of_events(exported, at=0, version="1")
        for one in batch["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    ]
    assert {"key": "graphkit.computed", "value": {"stringValue": "Recall@1"}} in event["attributes"]


def test_csv_and_parquet_hold_the_same_rows(tmp_path: Path) -> None:
    """Both tables have the values of the lines, with nothing for what was not scored."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow isn't installed")
    write_results(tmp_path / "r.csv", [_result()])
    write_results(tmp_path / "r.parquet", [_result()])
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    columns = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert [row["value"] for row in table] == ["0.5", "", "", "", "", ""]
    assert [row["value"] for row in columns] == [0.5, None, None, None, None, None]
    assert [row["reason"] or None for row in table] == [row["reason"] for row in columns]


def test_every_form_tells_the_gold(tmp_path: Path) -> None:
    """The hash of all gold stands in what sums up, that of each question beside its values; read again, it is there."""
    for name in ("r.json", "r.summary.json", "r.md", "r.jsonl", "r.csv"):
        write_results(tmp_path / name, [_result()])
    [run] = json.loads((tmp_path / "r.json").read_text("utf-8"))["runs"]
    assert (run["gold_hash"], run["gold_hash_of"]) == ("34cd", {"q1": "12ab", "q2": None, "q3": None})
    assert json.loads((tmp_path / "r.summary.json").read_text("utf-8"))["runs"][0]["gold_hash"] == "34cd"
    assert "gold 34cd" in (tmp_path / "r.md").read_text("utf-8")
    for name in ("r.jsonl", "r.csv"):
        problems = Problems()
        scores = read_scores([tmp_path / name], problems)
        assert {score.question: score.gold_hash for score in scores} == {"q1": "12ab", "q2": None, "q3": None}
    pytest.importorskip("pyarrow", reason="pyarrow isn't installed")
    write_results(tmp_path / "r.parquet", [_result()])
    assert [score.gold_hash for score in read_scores([tmp_path / "r.parquet"], Problems())][:2] == ["12ab"] * 2


def test_table_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """If pandas isn't installed, the error says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'graphkit-eval\[pandas\]'"):
        _result().to_pandas()


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """A question's id is no formula in a spreadsheet, no markup in XML, and no cell of its own in Markdown."""
    for ending in ("csv", "xml", "json", "jsonl"):
        write_results(tmp_path / f"r.{ending}", [_result(HOSTILE)])
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as stream:
        assert next(csv.DictReader(stream))["question"].startswith("'=")
    case = ElementTree.parse(tmp_path / "r.xml").getroot()[0].find("testcase")
    assert case is not None
    assert "</system-out><script>" in str(case.get("name"))
    assert [child.tag for child in case] == ["system-out"]
    assert next(iter(json.loads((tmp_path / "r.json").read_text("utf-8"))["runs"][0]["values"])) == HOSTILE
    row = results_markdown([Evaluation("a|b<i>", "d", 0, 0, 0, {})]).splitlines()[0]
    assert row == "| measure | a\\|b&lt;i&gt; |"


def test_failed_write_keeps_what_was_there(tmp_path: Path) -> None:
    """If writing fails in between, the old file is whole and no temporary one is left."""
    path = tmp_path / "r.jsonl"
    path.write_text("old")
    broken = _result("\ud800")  # a lone surrogate has no UTF-8
    with pytest.raises(UnicodeEncodeError):
        write_results(path, [broken])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_endings_and_folders_are_refused(tmp_path: Path) -> None:
    """The message names the endings that there are, or that the folder is missing."""
    with pytest.raises(InputError, match=r"\.parquet"):
        write_results(tmp_path / "r.xls", [_result()])
    with pytest.raises(InputError, match="no such folder"):
        write_results(tmp_path / "nowhere" / "r.csv", [_result()])


def test_summarize_grades_of_others(tmp_path: Path) -> None:
    """Scores of 0 to 10, by other names, give mean, median, accuracy and groups."""
    path = tmp_path / "graded.jsonl"
    scores = [("a", 9, "easy"), ("b", 7, "easy"), ("c", 4, "hard"), ("d", None, "hard")]
    path.write_text(
        "".join(json.dumps({"system": "s", "id": q, "score": v, "difficulty": d}) + "\n" for q, v, d in scores)
    )
    found = {one.group: one for one in summarize([path], Problems())}
    # Mean 20/3; two of the three scored are at least 7; d isn't scored.
    overall = found[None]
    assert overall.mean == pytest.approx(20 / 3)
    assert overall.accuracy == pytest.approx(2 / 3)
    assert (overall.median, overall.scored, overall.total) == (7, 3, 4)
    assert (found["difficulty: easy"].accuracy, found["difficulty: hard"].accuracy) == (1.0, 0.0)


def test_summarize_own_results(tmp_path: Path) -> None:
    """summarize reads the results of evaluate, with the same means."""
    run = graphkit.storefront_folder() / "runs" / "storefront-graph.jsonl"
    result = graphkit.evaluate(run, measures=["EdgeRecall", "RR"])
    write_results(tmp_path / "r.jsonl", [result])
    means = {one.measure: one.mean for one in summarize([tmp_path / "r.jsonl"], Problems())}
    assert means == {name: pytest.approx(one.mean) for name, one in result.measures.items()}


def test_summarize_refuses_a_file_cut_in_the_middle(tmp_path: Path) -> None:
    """A half line is reported with its place, and left out where that is asked for."""
    path = tmp_path / "graded.jsonl"
    path.write_text('{"run": "r", "question": "q", "value": 1}\n{"run": "r", "ques')
    with pytest.raises(InputError, match=r"graded\.jsonl:2: not valid JSON"):
        summarize([path], Problems())
    problems = Problems("skip")
    assert [one.scored for one in summarize([path], problems)] == [1]
    assert len(problems.skipped) == 1
