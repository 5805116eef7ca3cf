"""Exports in the hands of the tools that they are for: OTLP's own message, and a store of MLflow."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from graphkit.plugins.exports.evaluation_events import exports_of_events
from graphkit.plugins.exports.mlflow_runs import TABLE, track
from graphkit.plugins.exports.run_sources import export_of_file
from tests.helpers.cli import QUESTIONS, tiny
from tests.live.small_graph import library
from tests.plugins.exports.test_export import SPAN, THIRD, TRACE, TRACED, WHY

pytestmark = pytest.mark.filterwarnings("default")


def test_otlp_takes_the_events(tmp_path: Path) -> None:
    """The message of OTLP parses each line, refuses unknown fields, and holds ids, names, values and time."""
    library("opentelemetry.proto")
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    run = tiny(tmp_path, questions=[*QUESTIONS, THIRD], answers=TRACED)
    [line] = exports_of_events(export_of_file(run, measures=["EdgeRecall"]), 1_700_000_000_000_000_000, "1")
    for event in line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
        for name in ("traceId", "spanId"):  # OTLP JSON writes ids in hex, and the message's own form in base64
            if name in event:
                event[name] = base64.b64encode(bytes.fromhex(event[name])).decode()
    parsed = ParseDict(json.loads(json.dumps(line)), ExportLogsServiceRequest())
    records = parsed.resource_logs[0].scope_logs[0].log_records
    first = records[0]
    assert (first.trace_id.hex(), first.span_id.hex()) == (TRACE, SPAN)
    assert (first.event_name, first.time_unix_nano) == ("gen_ai.evaluation.result", 1_700_000_000_000_000_000)
    found = {one.key: one.value for one in first.attributes}
    assert found["gen_ai.evaluation.score.value"].double_value == 0.5
    assert found["gen_ai.evaluation.explanation"].string_value == WHY
    assert [len(one.trace_id) for one in records] == [16, 0, 16]


def test_the_names_are_those_of_the_conventions() -> None:
    """Each attribute below ``gen_ai`` is one of the SDK's semantic conventions."""
    library("opentelemetry.semconv")
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as known

    names = {value for name, value in vars(known).items() if name.startswith("GEN_AI_")}
    used = {"name", "score.value", "score.label", "explanation"}
    assert {f"gen_ai.evaluation.{one}" for one in used} | {"gen_ai.response.id"} <= names


def test_mlflow_keeps_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder becomes a store with the means of scored questions and the table; a second export is a second run."""
    library("mlflow")
    import mlflow

    run = tiny(tmp_path / "data", questions=[*QUESTIONS, THIRD], answers=TRACED)
    exported = export_of_file(run, measures=["EdgeRecall", "BoundaryPrecision", "nDCG@10"])
    found = [track(exported, str(tmp_path / "store"), "graphs", "1") for _ in range(2)]
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/store/mlflow.db")  # by which load_table searches
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/store/mlflow.db")
    experiment = client.get_experiment_by_name("graphs").experiment_id
    assert {one.info.run_id for one in client.search_runs([experiment])} == {one.id for one in found}
    kept = client.get_run(found[0].id)
    assert (kept.info.run_name, kept.info.status) == ("r", "FINISHED")
    assert kept.data.metrics["EdgeRecall"] == 0.75  # of 0.5 and 1; the failed question is no zero
    assert (kept.data.metrics["EdgeRecall.scored"], kept.data.metrics["EdgeRecall.total"]) == (2, 3)
    assert "BoundaryPrecision" not in kept.data.metrics
    assert "nDCG_10" in kept.data.metrics
    table = client.load_table(experiment, TABLE, [found[0].id])
    rows = table[table["measure"] == "EdgeRecall"].set_index("question")
    assert rows.loc["q1", "value"] == 0.5
    assert rows.loc["q1", "explanation"] == WHY
    assert rows["value"].isna().to_list() == [False, False, True]
    assert not (tmp_path / "mlruns").exists()
