"""Results of promptfoo and deepeval, predictions for SWE-bench, and Agentless' places, as runs made by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.plugins.gold.conversion import import_gold
from graphkit.plugins.gold.datasets.new_dataset import create_dataset
from graphkit.plugins.gold.formats import gold_format
from graphkit.plugins.logs.deepeval import DeepevalReader
from graphkit.plugins.logs.promptfoo import CACHED, FROM_TEST, PromptfooReader
from graphkit.plugins.logs.swe_bench_predictions import EMPTY, NO_DIFF, NO_RANKING
from graphkit.plugins.logs.text_contexts import UNNAMED
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from graphkit.records.ids import id_of_text
from graphkit.records.models import Answer, Question
from tests.helpers.cases import score
from tests.helpers.cli import QUESTIONS, inside, write_lines
from tests.helpers.datasets import read_jsonl


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Return a dataset of q1, "Who calls z?", and q2, "What does x call?"."""
    write_lines(tmp_path / "d" / "questions.jsonl", QUESTIONS)
    return tmp_path / "d"


def brought(dataset: Path, value: Any, **options: Any) -> ImportedLog:
    """Import a document, whose format has to be recognised."""
    path = dataset.parent / "log.json"
    path.write_text(json.dumps(value, indent=1))
    return import_log(path, "auto", dataset, **options)


# promptfoo ---------------------------------------------------------------------------------------------------------


def result(place: int, question: str, output: Any, **more: Any) -> dict[str, Any]:
    """Return a result as promptfoo writes it."""
    return {
        "id": f"r{place}",
        "promptId": "p",
        "promptIdx": 0,
        "testIdx": place,
        "provider": {"id": "python:rag.py", "label": "rag"},
        "prompt": {"raw": question, "label": "{{question}}"},
        "vars": {"question": question},
        "testCase": {"vars": {"question": question}, "assert": []},
        "response": {"output": output, "tokenUsage": {"total": 30, "prompt": 20, "completion": 10}, "cost": 0.5},
        "success": True,
        "score": 1,
        "latencyMs": 40,
        "failureReason": 0,
        "gradingResult": {"pass": True, "score": 1, "reason": "r", "componentResults": []},
    } | more


def document(*results: dict[str, Any]) -> dict[str, Any]:
    """Return the results of an evaluation as promptfoo writes them."""
    return {"evalId": "e", "results": {"version": 3, "prompts": [], "results": [*results], "stats": {}}, "config": {}}


def test_promptfoo_answers_are_a_run(dataset: Path) -> None:
    """q1 is found by its text with the contexts of its output; q2 by its id, and it ended in an error."""
    output = {"answer": "y calls z", "context": [{"id": "a:m.py#y", "text": "y()"}, {"id": "b:n.py#z", "text": "z"}]}
    failed = result(1, "asked in other words", None, error="timeout", gradingResult=None, failureReason=2)
    failed["testCase"] = {"metadata": {"question_id": "q2"}}
    first, second = brought(dataset, document(result(0, "Who calls z?", output), failed)).records
    assert (first["question_id"], first["answer"], first["latency_ms"]) == ("q1", "y calls z", 40.0)
    assert [one["id"] for one in first["retrieved"]] == ["a:m.py#y", "b:n.py#z"]
    assert (first["prompt_tokens"], first["output_tokens"], first["cost"]) == (20, 10, 0.5)
    assert (second["question_id"], second["error"], "answer" in second) == ("q2", "timeout", False)
    assert "traversal" not in first


def test_promptfoo_contexts(dataset: Path) -> None:
    """Texts of a variable are contexts with a doubt; a failed assertion is no failure, a cached answer has no time."""
    asserted = result(0, "Who calls z?", "y", error="Expected x", failureReason=1, success=False)
    asserted["vars"] = {"question": "Who calls z?", "context": ["y calls z", "z"]}
    asserted["response"]["cached"] = True
    (record,) = brought(dataset, document(asserted)).records
    assert [one["id"] for one in record["retrieved"]] == [id_of_text("y calls z"), id_of_text("z")]
    assert record["doubts"] == [UNNAMED, FROM_TEST, CACHED]
    assert ("error" in record, "latency_ms" in record) == (False, False)


def test_promptfoo_rows_and_repetitions(dataset: Path) -> None:
    """A result a line is read as well; --repeat asks a test twice: two trials."""
    path = dataset.parent / "out.jsonl"
    write_lines(path, [result(0, "Who calls z?", "y"), result(0, "Who calls z?", "x")])
    found = import_log(path, "auto", dataset, run="r")
    assert [(one["run"], one["answer"]) for one in found.records] == [("r@1", "y"), ("r@2", "x")]


def test_promptfoo_of_several_providers_is_refused(dataset: Path) -> None:
    """A run is of one system: the refusal names both, and how to write one."""
    other = result(0, "Who calls z?", "x", provider={"id": "echo", "label": ""})
    with pytest.raises(InputError, match=r"2 pairs of provider and prompt.*'rag'.*'echo'") as refusal:
        brought(dataset, document(result(0, "Who calls z?", "y"), other))
    assert "--filter-providers" in str(refusal.value.remedy)


def test_promptfoo_unread_parts_are_counted() -> None:
    """Keys of results and responses that aren't read are named, and contexts in another form."""
    one = result(0, "?", {"answer": "y", "context": {"a": 1}, "debug": 1}, traceId="t")
    unread = Counter[str]()
    list(PromptfooReader().read([("f:1", document(one))], ReadOptions(), unread))
    assert unread == {"traceId": 1, "response.output.context": 1, "response.output.debug": 1}


def test_a_recorded_log_of_promptfoo(dataset: Path) -> None:
    """The log that promptfoo wrote has two prompts; the echo of the first answers each question with itself."""
    log = json.loads((Path(__file__).parents[1] / "exports" / "recorded" / "promptfoo.json").read_text())
    with pytest.raises(InputError, match="2 pairs of provider and prompt"):
        brought(dataset, log)
    log["results"]["results"] = [one for one in log["results"]["results"] if one["promptIdx"] == 0]
    records = brought(dataset, log).records
    assert (records[0]["question_id"], records[0]["answer"]) == ("q1", "Who calls z?")
    assert not any("error" in one for one in records)


# RAGAS -------------------------------------------------------------------------------------------------------------

TEST_SETS = [
    ({"user_input": "?", "reference": "y", "reference_contexts": ["c"], "synthesizer_name": "s"}, []),
    (
        {"question": "?", "contexts": ["c"], "ground_truth": "y", "evolution_type": "simple"},
        ["relevant_texts=contexts"],
    ),
]


@pytest.mark.parametrize(("row", "maps"), TEST_SETS)
def test_test_sets_of_ragas_are_no_run(row: dict[str, Any], maps: list[str], dataset: Path) -> None:
    """Generated test sets have references and no answers: refused by name, and the advice makes gold of them."""
    with pytest.raises(InputError, match="test set of RAGAS") as refusal:
        brought(dataset, [row])
    assert "graphkit init DATASET FILE" in str(refusal.value.remedy)
    create_dataset(dataset.parent / "made", dataset.parent / "log.json", map=maps)
    (question,) = read_jsonl(dataset.parent / "made" / "questions.jsonl")
    assert (question["gold_answer"], question["relevant_texts"]) == ("y", ["c"])


def test_a_test_set_of_ragas_in_a_table(tmp_path: Path) -> None:
    """to_csv() prints the list of contexts as Python does."""
    table = tmp_path / "t.csv"
    table.write_text("user_input,reference_contexts,reference\nWho?,\"['c, d', 'e']\",y\n")
    create_dataset(tmp_path / "made", table)
    assert read_jsonl(tmp_path / "made" / "questions.jsonl")[0]["relevant_texts"] == ["c, d", "e"]


# Public data sets --------------------------------------------------------------------------------------------------

ISSUE = {
    "instance_id": "q1",
    "repo": "o/r",
    "base_commit": "c",
    "problem_statement": "?",
    "patch": "x",
    "hints_text": "",
}
SQUAD = {"id": "q1", "question": "?", "is_impossible": True, "answers": []}
PUBLISHED: dict[str, Any] = {
    "swe-bench": [ISSUE],
    "hotpotqa": [
        {"_id": "q1", "question": "?", "answer": "y", "supporting_facts": [["T", 0]], "context": [["T", ["s"]]]}
    ],
    "2wikimultihop": [{"_id": "q1", "question": "?", "answer": "y", "supporting_facts": [["T", 0]], "evidences": []}],
    "multihop-rag": [{"query": "?", "answer": "y", "question_type": "null_query", "evidence_list": []}],
    "squad2": {"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [SQUAD]}]}]},
    "qasper": {"1706.1": {"title": "P", "qas": [{"question": "?", "question_id": "q1", "answers": []}]}},
    "crag": [{"interaction_id": "q1", "query": "?", "query_time": "t", "answer": "y", "question_type": "simple"}],
    "qald": {"dataset": {}, "questions": [{"id": "q1", "question": [], "query": {"sparql": "ASK {}"}, "answers": []}]},
    "webqsp": {"Questions": [{"QuestionId": "q1", "RawQuestion": "?", "Parses": []}]},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_public_data_sets_are_no_run(name: str, dataset: Path) -> None:
    """Their rows hold gold: refused by the name of the data set, with the command that reads it, also with --yes."""
    (dataset.parent / "rows.json").write_text(json.dumps(PUBLISHED[name], indent=1))
    done = inside("import", "auto", "rows.json", "-d", dataset, "-o", "r.jsonl", "--yes", cwd=dataset.parent, code=2)
    assert f"graphkit import gold {name} rows.json -o DATASET" in done.err


def test_rows_of_a_data_set_with_answers_are_a_log(dataset: Path) -> None:
    """A field of what a system did beside the gold isn't refused so."""
    (dataset.parent / "rows.json").write_text(json.dumps([ISSUE | {"predicted_files": ["a.py"]}]))
    done = inside("import", "auto", "rows.json", "-d", dataset, "-o", "r.jsonl", cwd=dataset.parent)
    assert "import gold" not in done.err


# deepeval ----------------------------------------------------------------------------------------------------------

#: A test case of a test run, in camel case.
CASE = {
    "name": "test_case_0",
    "input": "Who calls z?",
    "actualOutput": "y calls z",
    "expectedOutput": "y",
    "context": ["gold"],
    "retrievalContext": ["y calls z", "x"],
    "toolsCalled": [{"name": "neighbours", "inputParameters": {"id": "a:m.py#x"}, "output": {"ids": ["a:m.py#y"]}}],
    "completionTime": 1.5,
    "tokenCost": 0.25,
    "success": True,
    "metricsData": [{"name": "Faithfulness", "score": 1.0, "threshold": 0.5, "success": True}],
    "runDuration": 9.0,
    "order": 0,
}

#: The same as evaluate() returns it, and as a saved data set has it.
RESULT = {
    "name": "test_case_0",
    "success": True,
    "metrics_data": [],
    "conversational": False,
    "input": "Who calls z?",
    "actual_output": "y calls z",
    "expected_output": "y",
    "context": ["gold"],
    "retrieval_context": ["y calls z", "x"],
    "additional_metadata": {"question_id": "q1"},
}
SAVED = {
    "input": "Who calls z?",
    "actual_output": "y calls z",
    "expected_output": "y",
    "retrieval_context": ["y calls z", "x"],
    "context": ["gold"],
    "source_file": "f.md",
}


def test_deepeval_test_run(dataset: Path) -> None:
    """The case is found by its text; its calls are read, and its time is that of the answer, not of the metrics."""
    (record,) = brought(dataset, {"testFile": "t.py", "testCases": [CASE], "conversationalTestCases": []}).records
    assert (record["question_id"], record["answer"], record["latency_ms"], record["cost"]) == (
        "q1",
        "y calls z",
        1500,
        0.25,
    )
    assert [one["text"] for one in record["retrieved"]] == ["y calls z", "x"]
    assert [one["name"] for one in record["tool_calls"]] == ["neighbours"]


@pytest.mark.parametrize(
    "value", [{"test_results": [RESULT], "confident_link": None}, [SAVED], {"testRunData": {"testCases": [CASE]}}]
)
def test_deepeval_forms(value: Any, dataset: Path) -> None:
    """The result of evaluate(), a saved data set, and the file of the latest test run."""
    (record,) = brought(dataset, value).records
    assert (record["question_id"], record["answer"]) == ("q1", "y calls z")
    assert [one["id"] for one in record["retrieved"]] == [id_of_text("y calls z"), id_of_text("x")]


def test_goldens_of_deepeval_are_no_run(dataset: Path) -> None:
    """Without outputs they are gold: refused by name, and the advice works."""
    golden = SAVED | {"actual_output": None, "retrieval_context": None}
    for row in (golden, {key: one for key, one in golden.items() if one is not None}):
        with pytest.raises(InputError, match="goldens of deepeval") as refusal:
            brought(dataset, [row])
    assert "--map gold_answer=expected_output --map relevant_texts=context" in str(refusal.value.remedy)
    made = dataset.parent / "made"
    maps = ["gold_answer=expected_output", "relevant_texts=context"]
    create_dataset(made, dataset.parent / "log.json", map=maps)
    (question,) = read_jsonl(made / "questions.jsonl")
    assert (question["question"], question["gold_answer"]) == ("Who calls z?", "y")
    assert question["relevant_texts"] == ["gold"]


def test_deepeval_conversations_are_counted() -> None:
    """What isn't read is named with its count: conversations, scores and gold."""
    unread = Counter[str]()
    run = {"testCases": [CASE], "conversationalTestCases": [{"name": "c", "turns": []}]}
    list(DeepevalReader().read([("f:1", run)], ReadOptions(), unread))
    assert unread["conversational test cases without a turn of the user"] == 1
    assert {"metricsData", "expectedOutput", "context"} <= unread.keys()
    alone = {"testCases": [], "conversationalTestCases": [{"name": "c", "metricsData": [], "turns": []}]}
    with pytest.raises(InputError, match="have no turn of the user"):
        list(DeepevalReader().read([("f:1", alone)], ReadOptions(), unread))


# SWE-bench ---------------------------------------------------------------------------------------------------------

#: `load` of src/a.py is changed; `new.py` is added.
PATCH = """\
diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@
 def load():
-    return 1
+    return 2
 x = 1
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+y = 1
"""

OTHER = """\
diff --git a/src/b.py b/src/b.py
--- a/src/b.py
+++ b/src/b.py
@@ -1,2 +1,2 @@
 def save():
-    return 1
+    return 2
"""


@pytest.fixture
def instances(tmp_path: Path) -> Path:
    """Return a dataset of SWE-bench: o__r-1 changes load of src/a.py, p__s-2 the same path of another repository."""
    row = {"problem_statement": "It fails.", "base_commit": "c0ffee", "patch": PATCH}
    rows = [row | {"instance_id": "o__r-1", "repo": "o/r"}, row | {"instance_id": "p__s-2", "repo": "p/s"}]
    write_lines(tmp_path / "rows.jsonl", rows)
    import_gold(gold_format("swe-bench"), [tmp_path / "rows.jsonl"], tmp_path / "d", Problems())
    return tmp_path / "d"


def prediction(name: str, patch: Any) -> dict[str, Any]:
    """Return a prediction."""
    return {"instance_id": name, "model_name_or_path": "m", "model_patch": patch}


def values(dataset: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return what measures of files and symbols say of a record."""
    (asked,) = [one for one in read_jsonl(dataset / "questions.jsonl") if one["id"] == record["question_id"]]
    question, answer = Question.model_validate(asked), Answer.model_validate(record)
    return {name: score(name, question, answer) for name in ("FileRecall", "FilePrecision", "SymbolRecall")}


def test_changed_places_are_what_a_prediction_holds(instances: Path) -> None:
    """o__r-1 changes the file and the symbol of gold and src/b.py: recall 1/1, precision 1/2, symbol 1/1."""
    path = instances.parent / "preds.jsonl"
    write_lines(path, [prediction("o__r-1", PATCH + OTHER), prediction("p__s-2", OTHER)])
    first, second = import_log(path, "auto", instances).records
    assert values(instances, first) == {"FileRecall": 1.0, "FilePrecision": 0.5, "SymbolRecall": 1.0}
    assert values(instances, second) == {"FileRecall": 0.0, "FilePrecision": 0.0, "SymbolRecall": 0.0}
    assert (first["answer"], NO_RANKING in first["doubts"], "traversal" in first) == (PATCH + OTHER, True, False)


def test_predictions_without_a_patch(instances: Path) -> None:
    """An empty patch changed nothing; one that is no diff is unknown. An object by instance will do."""
    made = {"o__r-1": prediction("o__r-1", None), "p__s-2": prediction("p__s-2", "sorry")}
    first, second = brought(instances, made).records
    assert (first["retrieved"], first["answer"], first["doubts"]) == ([], "", [EMPTY])
    assert values(instances, first)["FileRecall"] == 0.0
    assert ("retrieved" in second, second["doubts"]) == (False, [NO_DIFF])


# Agentless ---------------------------------------------------------------------------------------------------------

FOUND = ["src/a.py", "src/b.py", "src/c.py"]


def located(**more: Any) -> tuple[list[str] | None, LoggedAnswer]:
    """Return the retrieved names of an output of Agentless, and its answer."""
    from graphkit.plugins.logs.locagent import LocAgentReader

    row = {"instance_id": "o__r-1", "found_files": FOUND, "found_related_locs": [], "found_edit_locs": []} | more
    (answer,) = LocAgentReader().read([("log:1", row)], ReadOptions(), Counter())
    return None if answer.retrieved is None else [one.name for one in answer.retrieved], answer


RELATED = [["class: Store\nfunction: Store.load"], [""], ["function: top\nvariable: LIMIT"]]
NAMED = ["src/a.py#Store", "src/a.py#Store.load", "src/c.py#top", "src/c.py#LIMIT"]


@pytest.mark.parametrize(
    ("stages", "names"),
    [
        ({}, None),
        ({"found_related_locs": RELATED}, NAMED),
        ({"found_related_locs": {"src/a.py": RELATED[0], "src/b.py": [""], "src/c.py": RELATED[2]}}, NAMED),
        ({"found_related_locs": [[""], [""], [""]]}, []),
        ({"found_related_locs": RELATED, "found_edit_locs": ["function: top", "", ""]}, ["src/a.py#top"]),
        # Two samples, before they are merged.
        ({"found_edit_locs": [[["function: a"], [""]], [["function: a"], ["class: B"]]]}, ["src/a.py#a", "src/b.py#B"]),
        ({"found_edit_locs": [{"src/b.py": ["function: b\nline: 3"]}, {"src/a.py": [""]}]}, ["src/b.py#b"]),
        # Lines alone: the functions of the stage before, or nothing known.
        ({"found_related_locs": RELATED, "found_edit_locs": [["line: 10"], [""], [""]]}, NAMED),
        ({"found_edit_locs": [["line: 10\nline: 12"], [""]]}, None),
    ],
)
def test_places_of_agentless(stages: dict[str, Any], names: list[str] | None) -> None:
    """The named places of the last stage that names any, by the files beside them; an empty stage didn't run."""
    assert located(**stages)[0] == names


def test_doubts_of_agentless() -> None:
    """Lines aren't read, and a function behind a class may be its method."""
    _, answer = located(found_edit_locs=[["class: Store\nfunction: load\nline: 7"]])
    assert [note.split(":")[0] for note in answer.notes] == [
        "a function behind a class may be its method",
        "places that are lines aren't read",
    ]
    with pytest.raises(InputError, match="'found_edit_locs' must be an object of files"):
        located(found_files=["a.py"], found_edit_locs=[["x"], ["y"]])


def test_agentless_in_a_dataset_of_several_repositories(instances: Path) -> None:
    """src/a.py is a path of both repositories: the instance says which. FileRecall 1/1, SymbolRecall 1/1."""
    path = instances.parent / "loc_outputs.jsonl"
    row = {"instance_id": "p__s-2", "found_files": ["src/a.py"], "found_edit_locs": [["function: load"]]}
    write_lines(path, [row])
    (record,) = import_log(path, "auto", instances).records
    assert [one["id"] for one in record["retrieved"]] == ["p/s:src/a.py#load"]
    assert record["rankings"]["file"] == ["p/s:src/a.py"]
    assert values(instances, record) == {"FileRecall": 1.0, "FilePrecision": 1.0, "SymbolRecall": 1.0}


# Parquet -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["ragas", "own", "beir"])
def test_rows_of_parquet_are_read_as_json_lines_are(form: str, dataset: Path) -> None:
    """The same rows give the same run; a null of a column is a field that isn't there."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    rows: dict[str, list[dict[str, Any]]] = {
        "ragas": [
            {"user_input": "Who calls z?", "retrieved_contexts": ["y calls z"], "response": "y"},
            {"user_input": "What does x call?", "retrieved_contexts": [], "response": None},
        ],
        "own": [
            {"run": "r", "question_id": "q1", "retrieved": [{"id": "a:m.py#x", "score": 0.5}], "latency_ms": 1.5},
            {"run": "r", "question_id": "q2", "retrieved": [{"id": "a:m.py#w", "score": None}], "latency_ms": None},
        ],
        "beir": [
            {"query_id": "q1", "doc_id": "a:m.py#x", "score": 0.5},
            {"query_id": "q1", "doc_id": "b:n.py#z", "score": 0.7},
        ],
    }
    folder = dataset.parent
    parquet.write_table(pyarrow.Table.from_pylist(rows[form]), folder / "r.parquet")
    write_lines(folder / "r.jsonl", [{key: one for key, one in row.items() if one is not None} for row in rows[form]])
    lines, table = (import_log(folder / name, "auto", dataset, run="r").records for name in ("r.jsonl", "r.parquet"))
    first = {"ragas": id_of_text("y calls z"), "own": "a:m.py#x", "beir": "b:n.py#z"}[form]
    assert table == lines
    assert table[0]["retrieved"][0]["id"] == first
    done = inside("import", "auto", "r.parquet", "-d", dataset, "-o", "out.jsonl", cwd=folder)
    assert (done.code, [one["question_id"] for one in read_jsonl(folder / "out.jsonl")][:1]) == (0, ["q1"])
    inside("evaluate", "r.parquet", "--format", "auto", "-d", dataset, "--no-store", "-m", "RR", cwd=folder, code=0)
