"""Small logs after public reports, each with what is right of it: its README derives the values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.measures.base import Unscored
from graphkit.plugins.graphs.graph_importer import import_graph
from graphkit.records.models import Answer, Question
from tests.helpers.cases import score
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl


def brought(folder: Path, name: str, **options: Any) -> ImportedLog:
    """Import a log of a case, whose format has to be recognised."""
    return import_log([folder / name], "auto", folder / "ds", **options)


def value(folder: Path, found: ImportedLog, measure: str, question: str | None = None) -> float | Unscored:
    """Return what a measure says of the record of a question, of the only one if none is named."""
    (record,) = [one for one in found.records if question in (None, one["question_id"])]
    asked = [one for one in read_jsonl(folder / "ds" / "questions.jsonl") if one["id"] == record["question_id"]]
    return score(measure, Question.model_validate(asked[0]), Answer.model_validate(record))


@pytest.mark.parametrize(
    "name",
    [
        "graph-tool-nodes-and-edges/nodes_edges.jsonl",
        "graph-tool-triples/rows.jsonl",
        "graph-tool-triples/spo.jsonl",
        "graph-tool-triples/triples_list.jsonl",
        "cypher-over-mcp/cols.jsonl",
        "cypher-over-mcp/path_data.jsonl",
        "cypher-over-mcp/rel_data.jsonl",
        "root-file-of-repository/c0.jsonl",
    ],
)
def test_both_gold_edges_are_walked(name: str, cases: Path) -> None:
    """The log holds both edges of q1's gold, REQUESTS and QUERIES: 2 of 2."""
    folder, _, log = name.partition("/")
    found = brought(cases / folder, log)
    assert value(cases / folder, found, "EdgeRecall") == 1.0


@pytest.mark.parametrize("name", ["vercel-ai-sdk/vercel.jsonl", "gemini-cli-session/gem.json"])
def test_two_files_were_opened(name: str, cases: Path) -> None:
    """login.ts and then auth.py were read: the first of two gold edges lies between them."""
    folder, _, log = name.partition("/")
    found = brought(cases / folder, log)
    assert [call["name"] for call in found.records[0]["tool_calls"]] == ["read_file", "read_file"]
    assert value(cases / folder, found, "EdgeRecall") == 0.5


def test_parts_for_a_model_hold_calls_too(cases: Path) -> None:
    """One call of login.ts, whose result is x."""
    (record,) = brought(cases / "vercel-ai-sdk", "vercel_model.jsonl").records
    (call,) = record["tool_calls"]
    assert (call["seen"], call["result"]) == (["web:src/login.ts"], "x")


def test_a_session_may_ask_two_questions(cases: Path) -> None:
    """q1 opened login.ts alone; q2 went from cart.ts to cart.py, the first of its two gold edges."""
    folder = cases / "two-questions-one-session"
    found = brought(folder, "c6.jsonl")
    assert [record["answer"] for record in found.records] == ["first", "second"]
    assert (value(folder, found, "EdgeRecall", "q1"), value(folder, found, "EdgeRecall", "q2")) == (0.0, 0.5)


def test_tools_in_tags(cases: Path) -> None:
    """Cline's read_file of login.ts, and the answer that it handed in."""
    (record,) = brought(cases / "cline-api-history", "cline.json", question="q1").records
    assert record["answer"] == "By auth.py"
    assert record["evidence_files"] == ["web:src/login.ts"]


def test_results_that_are_errors_show_nothing(cases: Path) -> None:
    """Both calls failed, by a text and by an object: no edge, no file."""
    folder = cases / "error-text-counts-as-read"
    found = brought(folder, "errtext.jsonl")
    assert [call["failed"] for call in found.records[0]["tool_calls"]] == [True, True]
    assert (value(folder, found, "EdgeRecall"), value(folder, found, "FileRecall")) == (0.0, 0.0)


def test_a_cancelled_call_shows_nothing(cases: Path) -> None:
    """Two of the five calls succeeded, two returned an error, and the one of cart.ts was cancelled."""
    (record,) = brought(cases / "cancelled-call-counts-as-read", "mcp_reuse.jsonl").records
    assert record["evidence_files"] == ["web:src/login.ts", "api:app/auth.py"]


def test_a_request_that_was_refused_failed(cases: Path) -> None:
    """q2 has the status 429 and q3 has expired."""
    errors = {
        one["question_id"]: one.get("error") for one in brought(cases / "batch-status-429", "batch.jsonl").records
    }
    assert errors == {"q1": None, "q2": "rate", "q3": "expired"}


@pytest.mark.parametrize("log", ["lc.jsonl", "s11_retrytraces.json"])
def test_the_answered_attempt_counts(log: str, cases: Path) -> None:
    """The first attempt failed, and the second retrieved auth.py."""
    found = brought(cases / "retry-after-failure", log)
    (record,) = found.records
    assert record["retrieved"][0]["id"] == "api:app/auth.py"
    assert "error" not in record
    assert any("failed attempts at a question" in line for line in found.summary)


def test_files_are_ranked_under_the_names_of_the_dataset(cases: Path) -> None:
    """Both gold files are the first two of Agentless' files, which lack their repository."""
    folder = cases / "agentless-file-ranking"
    found = brought(folder, "agentless_files.jsonl")
    assert value(folder, found, 'Acc(level="file")@5') == 1.0
    assert value(folder, found, 'RR(level="file")') == 1.0


def test_a_list_for_each_sample_is_one_list(cases: Path) -> None:
    """Both gold entities are in the lists of LocAgent's samples."""
    folder = cases / "locagent-list-of-lists"
    found = brought(folder, "dup_loc.jsonl")
    assert value(folder, found, "Recall@5") == 1.0
    assert value(folder, found, 'Acc(level="symbol")@5') == 1.0


def test_the_parts_of_a_file_have_its_name(cases: Path) -> None:
    """auth.py of three gold ids is retrieved, under an id that ends in _part_3."""
    folder = cases / "llama-index-part-ids"
    assert value(folder, brought(folder, "li_part.jsonl"), "Recall@5") == pytest.approx(1 / 3)


def test_the_order_is_that_of_the_reranker(cases: Path) -> None:
    """users.sql (2) before auth.py (3), of the gains 3, 2 and 1: (2 + 3/1.585) / (3 + 2/1.585 + 1/2) = .8175."""
    folder = cases / "openinference-reranker"
    assert value(folder, brought(folder, "s12_rerank.json"), "nDCG@10") == pytest.approx(0.8175, abs=1e-4)


@pytest.mark.parametrize(
    ("log", "latency"), [("langfuse-latency-seconds/lf_scores.json", 2500.0), ("otlp-nano-by-size/s0.json", 4000.0)]
)
def test_units_are_those_of_the_format(log: str, latency: float, cases: Path) -> None:
    """Langfuse's 2.5 are seconds; 4e9 of startTimeUnixNano are nanoseconds."""
    folder, _, name = log.partition("/")
    (record,) = brought(cases / folder, name).records
    assert record["latency_ms"] == latency


def test_judgements_are_no_run(cases: Path) -> None:
    """Rows whose scores are 0 and 1 say what is relevant, not what was retrieved."""
    with pytest.raises(InputError, match="judgements"):
        brought(cases / "qrels-read-as-run", "beirqrels.jsonl")


def test_a_cut_last_line_can_be_skipped(cases: Path) -> None:
    """The five whole lines are a session that opened two files."""
    folder = cases / "half-last-line"
    with pytest.raises(InputError, match="isn't JSON"):
        brought(folder, "trunc.jsonl")
    found = brought(folder, "trunc.jsonl", on_error="skip")
    assert found.records[0]["evidence_files"] == ["web:src/login.ts", "api:app/auth.py"]
    assert [one.where.rpartition(":")[2] for one in found.problems.skipped] == ["6"]


@pytest.mark.parametrize("name", ["call", "text"])
def test_both_forms_of_a_search_are_read(name: str, cases: Path) -> None:
    """SWE-agent's find_file lists one file, as a function call and as a command."""
    (record,) = brought(cases / "swe-agent-find-file-call", f"{name}.traj", question="m1").records
    assert [one["id"] for one in record["retrieved"]] == ["marshmallow:src/marshmallow/fields.py"]


def edges_of(file: Path, folder: Path) -> list[tuple[str, str, str]]:
    """Return the edges of a graph that is imported into a folder."""
    import_graph(folder, [file])
    return [(one["source"], one["relation"], one["target"]) for one in read_jsonl(folder / "edges.jsonl")]


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("node-link-indices/d3.json", [("web:a.ts", "CALLS", "api:b.py")]),
        ("graphify-markers/graphify.json", [("web_src_login_ts_login", "calls", "api_app_auth_py_auth")]),
        (
            "graph-formats-wrong-reason/triples.tsv",
            [("web:a.ts", "CALLS", "api:b.py"), ("web:a.ts", "IMPORTS", "api:c.py")],
        ),
    ],
)
def test_graphs_are_read_as_they_are_meant(
    name: str, edges: list[tuple[str, str, str]], cases: Path, tmp_path: Path
) -> None:
    """Links by place, the direction that graphify keeps, and triples whose first line is one."""
    assert edges_of(cases / name, tmp_path) == edges


@pytest.mark.parametrize(
    ("name", "form"), [("g.gml", "GML"), ("g.dot", "DOT"), ("g.nt", "N-Triples"), ("g.ttl", "Turtle")]
)
def test_other_forms_are_refused_by_their_name(name: str, form: str, cases: Path, tmp_path: Path) -> None:
    """The refusal names the form and a way to one that is read."""
    with pytest.raises(InputError, match=f"{form} isn't read") as refused:
        edges_of(cases / "graph-formats-wrong-reason" / name, tmp_path)
    assert "networkx." in str(refused.value.remedy) or "source, relation and target" in str(refused.value.remedy)


def test_a_few_ids_of_another_form_are_told(cases: Path) -> None:
    """None of eight ids under a folder of the machine is known to a dataset with a graph."""
    folder = cases / "few-unknown-ids"
    shown = inside("evaluate", str(folder / "w_abs.jsonl"), "--dataset", str(folder / "ds"), "--no-store", cwd=folder)
    assert "hardly an id is known" in shown.err


def test_other_prefixes_of_a_patch(cases: Path, tmp_path: Path) -> None:
    """Git's mnemonicPrefix writes i/ and w/ before the path."""
    rows = cases / "mnemonic-prefix-patch" / "swe_mnem.jsonl"
    inside("import", "gold", "swe-bench", rows, "-o", tmp_path / "out", cwd=tmp_path, code=0)
    (made,) = read_jsonl(tmp_path / "out" / "questions.jsonl")
    assert made["expected_files"] == ["o/r:src/x.py"]


def test_the_error_of_a_test_is_its_reason(cases: Path, tmp_path: Path) -> None:
    """promptfoo's third row timed out."""
    results = cases / "promptfoo-error-row" / "pf.json"
    inside("import", "scores", results, "--run", "r", "-o", tmp_path / "s.jsonl", cwd=tmp_path, code=0)
    assert [one["reason"] for one in read_jsonl(tmp_path / "s.jsonl")] == [None, None, "failed: timeout"]


def test_scores_between_semicolons(cases: Path) -> None:
    """A CSV as Excel writes it in Germany: the measure Mine is shown beside Recall."""
    folder = cases / "scores-csv-semicolons"
    asked = ("evaluate", "run.jsonl", "--dataset", "ds", "--no-store", "-m", "Recall@5", "--scores", "semi.csv")
    assert "Mine" in inside(*asked, cwd=folder, code=0).out
