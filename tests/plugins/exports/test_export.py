"""``graphkit export``: what other tools get of a run, and that nothing unscored becomes a zero."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.exports.mlflow_runs import metrics_of, table_of
from graphkit.plugins.exports.run_sources import export_of_file
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, Row, inside, tiny, write_lines

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

#: q1 stops after one of two edges, q2 is right, and q3 failed; the record of q2 names no span.
THIRD = {"id": "q3", "question": "Who?", "paths": [[["a:m.py#x", "CALLS", "a:m.py#w"]]], "relevant": {"a:m.py#w": 1}}
TRACED: list[Row] = [
    {**ANSWERS[0], "trace_id": TRACE, "span_id": SPAN, "response_id": "resp-1"},
    ANSWERS[1],
    {"run": "r", "question_id": "q3", "error": "timeout", "trace_id": TRACE, "span_id": "00f067aa0ba902b7"},
]
WHY = "broke at step 2: did not retrieve `z`; the walk stopped at `y`"
SENTENCES = {"EdgeRecall": WHY, "BoundaryPrecision": "no traversed edge crosses a repository boundary"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A traced run of three questions."""
    return tiny(tmp_path / "data", questions=[*QUESTIONS, THIRD], answers=TRACED)


def lines(path: Path) -> list[Any]:
    """Return the objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def values(event: Row) -> Row:
    """Return the attributes of an event."""
    return {one["key"]: next(iter(one["value"].values())) for one in event["attributes"]}


def events(path: Path) -> list[Row]:
    """Return the events of a file of exports."""
    every = [logs for one in lines(path) for logs in one["resourceLogs"][0]["scopeLogs"]]
    return [event for logs in every for event in logs["logRecords"]]


def test_annotations(run: Path, tmp_path: Path) -> None:
    """A value, its sentence, an unscored measure and a failed question; q2 has no span and is counted."""
    out = tmp_path / "annotations.jsonl"
    chosen = ("-m", "EdgeRecall", "-m", "BoundaryPrecision")
    done = inside("export", run, "--to", "openinference", "-o", out, *chosen, "--json", cwd=tmp_path, code=0)
    assert done.object() == {"run": "r", "to": "openinference", "written": 4, "unscored": 4, "out": str(out)}
    assert "note: 1 question without a span in the record: no annotation is on them" in done.err
    found = {(one["span_id"], one["name"]): one for one in lines(out)}
    assert len(found) == 4
    assert all((one["annotator_kind"], one["identifier"]) == ("CODE", "graphkit") for one in found.values())
    assert found[SPAN, "EdgeRecall"]["result"] == {"score": 0.5, "explanation": WHY}
    assert found[SPAN, "EdgeRecall"]["metadata"]["question"] == "q1"
    assert found[SPAN, "BoundaryPrecision"]["result"] == {
        "label": "unscored",
        "explanation": SENTENCES["BoundaryPrecision"],
    }
    failed = found["00f067aa0ba902b7", "EdgeRecall"]["result"]
    assert failed == {"label": "failed", "explanation": "failed: timeout"}


def test_events(run: Path, tmp_path: Path) -> None:
    """An event lies on its span, names the response, and has an error type in place of a missing value."""
    out = tmp_path / "events.jsonl"
    inside("export", run, "--to", "otel", "-o", out, "-m", "EdgeRecall", cwd=tmp_path, code=0)
    found = {values(event)["graphkit.question"]: event for event in events(out)}
    first, second, third = (values(found[name]) for name in ("q1", "q2", "q3"))
    assert {event["eventName"] for event in found.values()} == {"gen_ai.evaluation.result"}
    assert (found["q1"]["traceId"], found["q1"]["spanId"], "traceId" in found["q2"]) == (TRACE, SPAN, False)
    assert first["gen_ai.evaluation.name"] == "EdgeRecall"
    assert (first["gen_ai.evaluation.score.value"], first["gen_ai.evaluation.explanation"]) == (0.5, WHY)
    assert (first["gen_ai.response.id"], "error.type" in first) == ("resp-1", False)
    assert second["gen_ai.evaluation.score.value"] == 1.0
    assert "gen_ai.evaluation.explanation" not in second
    assert "gen_ai.evaluation.score.value" not in third
    assert (third["error.type"], third["gen_ai.evaluation.score.label"]) == ("failed", "failed")


def test_judges_and_people(run: Path, tmp_path: Path) -> None:
    """Scores by others say who gave them, and keep their own explanation and label."""
    one = {"run": "r", "question": "q1", "measure": "Tone", "value": 0.2, "grader": "our-judge", "label": "rude"}
    person = {"run": "r", "question": "q1", "measure": "PersonGrade", "value": 0, "grader": "person:ann"}
    lexical = {"run": "r", "question": "q1", "measure": "FactRecall", "value": None, "reason": "no facts"}
    scores: list[Row] = [{**one, "explanation": "It shouts."}, person, {**lexical, "grader": "lexical"}]
    given = write_lines(tmp_path / "scores.jsonl", scores)
    out = tmp_path / "annotations.jsonl"
    more = ("--scores", given, "-m", "EdgeRecall")
    inside("export", run, "--to", "openinference", "-o", out, *more, cwd=tmp_path, code=0)
    found = {one["name"]: one for one in lines(out) if one["span_id"] == SPAN}
    kinds = {name: one["annotator_kind"] for name, one in found.items()}
    assert kinds == {"EdgeRecall": "CODE", "Tone": "LLM", "PersonGrade": "HUMAN", "FactRecall": "CODE"}
    assert found["Tone"]["result"] == {"label": "rude", "score": 0.2, "explanation": "It shouts."}
    assert found["FactRecall"]["result"] == {"label": "unscored", "explanation": "no facts"}


def test_a_run_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """The export of a run in the graph is that of its file, ids and sentences included."""
    inside("evaluate", run, "-m", "EdgeRecall", "-m", "BoundaryPrecision", cwd=tmp_path, env=graph.env, code=0)
    files: list[Path] = []
    for name, more in (("r", ()), (str(run), ("-m", "EdgeRecall", "-m", "BoundaryPrecision"))):
        files.append(tmp_path / f"{len(files)}.jsonl")
        options = ("--to", "openinference", "-o", files[-1], *more)
        inside("export", name, *options, cwd=tmp_path, env=graph.env, code=0)
    in_graph, in_file = ({(one["span_id"], one["name"]): one for one in lines(path)} for path in files)
    assert len(in_graph) == 4
    assert in_graph == in_file
    refused = inside("export", "r", "--to", "otel", "-o", files[0], "-m", "RR", cwd=tmp_path, env=graph.env, code=2)
    assert "no score is by a measure called 'RR'" in refused.err


def test_a_results_folder(run: Path, tmp_path: Path) -> None:
    """It holds values and reasons, and neither spans nor sentences, which a note says."""
    results, out = tmp_path / "results", tmp_path / "events.jsonl"
    inside("evaluate", run, "--no-store", "-m", "EdgeRecall", "-o", results, cwd=tmp_path, code=0)
    done = inside("export", results, "--to", "otel", "-o", out, cwd=tmp_path, code=0)
    assert "note: a results folder holds no records" in done.err
    found = {values(event)["graphkit.question"]: values(event) for event in events(out)}
    assert found["q1"]["gen_ai.evaluation.score.value"] == 0.5
    assert found["q3"]["error.type"] == "failed"
    refused = inside("export", results, "--to", "openinference", "-o", tmp_path / "a.jsonl", cwd=tmp_path, code=2)
    assert "no answer of the run 'r' names its span" in refused.err


def test_missing_questions_are_missing(tmp_path: Path) -> None:
    """A question without a record is no zero."""
    run, out = tiny(tmp_path / "data", answers=TRACED[:1]), tmp_path / "events.jsonl"
    inside("export", run, "--to", "otel", "-o", out, "-m", "EdgeRecall", cwd=tmp_path, code=0)
    found = {values(event)["graphkit.question"]: values(event) for event in events(out)}
    assert found["q2"]["error.type"] == "missing"
    assert "gen_ai.evaluation.score.value" not in found["q2"]


def test_ids_of_other_traces_are_no_ids_of_otel(tmp_path: Path) -> None:
    """An id that isn't hex of the right length would make a collector refuse the export: the event goes without."""
    run, out = tiny(tmp_path / "data", answers=[{**TRACED[0], "span_id": "span\n1"}]), tmp_path / "events.jsonl"
    inside("export", run, "--to", "otel", "-o", out, "-m", "EdgeRecall", cwd=tmp_path, code=0)
    assert not any("spanId" in event or "traceId" in event for event in events(out))


def test_metrics_and_table(run: Path) -> None:
    """EdgeRecall is the mean of 0.5 and 1 over 2 of 3; BoundaryPrecision has counts and no metric; no cell is 0."""
    exported = export_of_file(run, measures=["EdgeRecall", "BoundaryPrecision"])
    assert metrics_of(exported) == {
        "EdgeRecall": 0.75,
        "EdgeRecall.scored": 2.0,
        "EdgeRecall.total": 3.0,
        "BoundaryPrecision.scored": 0.0,
        "BoundaryPrecision.total": 3.0,
    }
    table = table_of(exported)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    cells = [(row["question"], row["value"], row["label"]) for row in rows if row["measure"] == "EdgeRecall"]
    assert cells == [("q1", 0.5, None), ("q2", 1.0, None), ("q3", None, "failed")]
    assert rows[0]["explanation"] == WHY


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--to", "otel"), "the option --out is missing"),
        (("--to", "mlflow"), "the option --tracking-uri is missing"),
        (("--to", "mlflow", "-o", "x.jsonl", "--tracking-uri", "m"), "--out is for files"),
    ],
)
def test_what_is_refused(options: tuple[str, ...], words: str, run: Path, tmp_path: Path) -> None:
    """Each tool has its place, and the message names the option."""
    assert words in inside("export", run, *options, cwd=tmp_path, code=2).err
