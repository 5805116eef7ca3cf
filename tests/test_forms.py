"""Files in the forms that people already have are read as they stand, with the values of the data's own README."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphkit import Answer
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl

HARNESS = "harness-2026-03-25-142233.jsonl"


def evaluated(folder: Path, arguments: str) -> dict[str, Any]:
    """Return the result of one run as ``graphkit evaluate --json`` prints it, called in a folder."""
    [result] = inside("evaluate", *arguments.split(), "--no-store", "--json", cwd=folder, code=0).objects()
    found: dict[str, Any] = result
    return found


def values(out: Path, measure: str) -> dict[str, Any]:
    """Return the value of each question by a measure in a file of results."""
    return {row["question"]: row["value"] for row in read_jsonl(out) if row["measure"] == measure}


@pytest.fixture(scope="module")
def harness(forms_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files, and a dataset of each file of questions."""
    root = tmp_path_factory.mktemp("forms")
    for file in forms_data.glob("*.jsonl"):
        shutil.copy(file, root)
    for name in ("harness", "rankings", "pack"):
        inside("init", name, f"{name}-questions.jsonl", cwd=root, code=0)
    return root


def test_harness_log_without_a_run(harness: Path) -> None:
    """The file's name is the run's; q001 has file precision 1/2 and recall 1, q002 has 1 and 1/2."""
    result = evaluated(harness, f"{HARNESS} --dataset harness -m FilePrecision -m FileRecall -o out.jsonl")
    assert result["run"] == "harness-2026-03-25-142233"
    assert values(harness / "out.jsonl", "FilePrecision") == {"q001": 0.5, "q002": 1.0}
    assert values(harness / "out.jsonl", "FileRecall") == {"q001": 1.0, "q002": 0.5}


def test_run_option_names_a_harness_log(harness: Path) -> None:
    """``--run h`` supplies the name in ``evaluate``, ``grade`` and ``import``."""
    about = f"{HARNESS} --dataset harness --run h"
    assert evaluated(harness, f"{about} -m FileRecall --strict")["run"] == "h"
    [graded] = inside("grade", *about.split(), "--no-store", "--json", cwd=harness, code=0).objects()
    assert graded["run"] == "h"
    inside("import", "auto", *about.split(), "-o", "harness/runs/h.jsonl", cwd=harness, code=0)
    assert {one["run"] for one in read_jsonl(harness / "harness/runs/h.jsonl")} == {"h"}


def test_rankings(harness: Path) -> None:
    """q-1 at its own k of 5: hit 1, recall 1, RR 1/2, nDCG .6509; q-2: nDCG (3 / log2 3) / (3 + 1 / log2 3) = .5213."""
    names = ("retrieval-hit-at-k", "recall@5", "mrr", "ndcg@10", "map", "precision@k")
    chosen = " ".join(f"-m {name}" for name in names)
    evaluated(harness, f"rankings-run.jsonl --dataset rankings {chosen} -o rankings.jsonl")
    rows = read_jsonl(harness / "rankings.jsonl")
    first = {row["measure"]: row["value"] for row in rows if row["question"] == "q-1"}
    assert first["nDCG@10"] == pytest.approx(0.65092, abs=1e-5)
    # Average precision: 1/2 at rank 2 and 2/4 at rank 4, over 2 relevant ids; precision: 2 of 5.
    expected = {"Success@5": 1, "Recall@5": 1, "RR": 0.5, "AP": 0.5, "P@5": 0.4}
    assert {name: first[name] for name in expected} == expected
    assert values(harness / "rankings.jsonl", "nDCG@10")["q-2"] == pytest.approx(0.5213, abs=1e-4)


def test_pack_questions(harness: Path) -> None:
    """A knowledge pack's gold answer is its ``ground_truth``, its category ``domain``, its expected file ``source``."""
    [first, _] = read_jsonl(harness / "pack/questions.jsonl")
    assert first["gold_answer"] == "The number of hops a packet may take."
    assert (first["category"], first["expected_files"]) == ("networking", ["ip.md"])


def test_graded_log(harness: Path) -> None:
    """A person's grades are scores: one fully (1), one partially correct (.5), of which one lacked evidence."""
    about = "harness-graded.jsonl --dataset harness"
    result = evaluated(harness, f"{about} --run h --fail-under RubricGrade=0.7")
    assert result["measures"]["RubricGrade"]["mean"] == 0.75
    said = inside("evaluate", *about.split(), "--no-store", cwd=harness, code=0).err
    assert "graded by a person: 1 fully_correct, 1 partially_correct (1 missing_evidence)" in said
    inside("import", "scores", "harness-graded.jsonl", "--run", "h", "-o", "scores.jsonl", cwd=harness, code=0)
    scores = [
        (one["question"], one["value"], one["label"], one["grader"]) for one in read_jsonl(harness / "scores.jsonl")
    ]
    assert scores == [("q001", 1.0, None, "person"), ("q002", 0.5, "missing_evidence", "person")]


def test_grades_are_kept_by_an_import(harness: Path) -> None:
    """An import keeps a person's grades beside the run, where the page of ``view`` and ``--scores`` find them."""
    about = ["harness-graded.jsonl", "--dataset", "harness", "-o", "harness/runs/graded.jsonl"]
    made = inside("import", "auto", *about, cwd=harness, code=0)
    scores = "harness/runs/graded.grades/person.scores.jsonl"
    assert f"2 scores of graded by person: `graphkit evaluate harness/runs/graded.jsonl --scores {scores}`" in made.out
    assert evaluated(harness, f"harness/runs/graded.jsonl --scores {scores}")["measures"]["RubricGrade"]["mean"] == 0.75


def test_null_grades_are_no_grades(harness: Path) -> None:
    """A log whose grades are all null has no scores."""
    assert "RubricGrade" not in evaluated(harness, f"{HARNESS} --dataset harness")["measures"]


# The same without the data ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a dataset of two questions and the files that answer them."""
    asked = [("q1", "Who calls it?", ["a.py"]), ("q2", "Who reads it?", ["b.py", "c.py"])]
    rows = [{"id": name, "question": text, "expected_files": files} for name, text, files in asked]
    (tmp_path / "d/runs").mkdir(parents=True)
    write_jsonl(tmp_path / "d/questions.jsonl", rows)
    return tmp_path


def test_question_named_by_its_text(folder: Path) -> None:
    """A run's record may name its question by its text, in any case, beside its dataset or elsewhere."""
    rows = [{"question": "who CALLS  it?", "evidence_files": ["a.py"]}, {"query": "q2", "evidence_files": ["b.py"]}]
    write_jsonl(folder / "log.jsonl", rows)
    evaluated(folder, "log.jsonl --dataset d -m FileRecall -o out.jsonl")
    assert values(folder / "out.jsonl", "FileRecall") == {"q1": 1.0, "q2": 0.5}
    write_jsonl(folder / "log.jsonl", [{"question": "Who knows?", "answer": "Nobody."}])
    refused = inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", cwd=folder, code=2)
    assert "no question of the dataset has this text" in refused.err


def test_text_of_two_questions_names_none(folder: Path) -> None:
    """A text that two questions have names neither, and the error says so."""
    rows = [{"id": name, "question": "Why?", "gold_answer": "So."} for name in ("q1", "q2")]
    write_jsonl(folder / "d/questions.jsonl", rows)
    write_jsonl(folder / "d/runs/log.jsonl", [{"question": "Why?", "answer": "So."}])
    refused = inside("evaluate", "d/runs/log.jsonl", "--no-store", cwd=folder, code=2)
    assert "several questions of the dataset have this text" in refused.err


@pytest.mark.parametrize(
    ("output", "retrieved", "answer"),
    [
        (["a", {"id": "b"}], ["a", "b"], None),
        ({"retrieved": ["a"], "answer": "Yes."}, ["a"], "Yes."),
        ('{"retrieved": ["a"]}', ["a"], None),
        ('["a"]', ["a"], None),
        ("[1] says so.", None, "[1] says so."),
        ("[" * 100_000, None, "[" * 100_000),
    ],
    ids=["list", "object", "object as text", "list as text", "words", "a bomb"],
)
def test_forms_of_an_output(output: Any, retrieved: list[str] | None, answer: str | None) -> None:
    """An output is a ranking, an object with fields, either as JSON in a text, or the answer in words."""
    for name in ("actual_output", "actualOutput"):
        found = Answer.model_validate({"run": "r", "id": "q1", name: output})
        assert (found.retrieved and [one.id for one in found.retrieved]) == retrieved
        assert found.answer == answer


def test_default_cut_off_in_the_configuration(folder: Path) -> None:
    """``k`` in graphkit.toml cuts measures that name no cut-off; ``--k`` precedes it, and a wrong one is refused."""
    write_jsonl(folder / "log.jsonl", [{"id": "q1", "actual_output": ["a.py"]}])
    (folder / "graphkit.toml").write_text("k = 7\n")
    about = "log.jsonl --dataset d --config graphkit.toml -m retrieval-recall-at-k"
    assert [*evaluated(folder, about)["measures"]] == ["Recall@7"]
    assert [*evaluated(folder, f"{about} --k 3")["measures"]] == ["Recall@3"]
    (folder / "graphkit.toml").write_text("k = true\n")
    refused = inside("evaluate", *about.split(), "--no-store", cwd=folder, code=2)
    assert "k must be a whole number of at least 1" in refused.err


def test_grades_of_right_and_wrong(folder: Path) -> None:
    """Beside ``correct``, ``wrong`` is a grade of right and wrong; a grade that isn't known is said, not scored."""
    rows = [{"id": "q1", "answer": "a", "grade": "Correct"}, {"id": "q2", "answer": "b", "grade": "wrong"}]
    write_jsonl(folder / "log.jsonl", rows)
    assert evaluated(folder, "log.jsonl --dataset d")["measures"]["PersonGrade"]["mean"] == 0.5
    write_jsonl(folder / "log.jsonl", [{"id": "q1", "answer": "a", "grade": "B+"}])
    said = inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", cwd=folder, code=0)
    assert "a grade isn't read" in said.err


def test_from_a_harness_log_and_a_table_to_why(tmp_path: Path) -> None:
    """A newcomer's errand: the log isn't in the dataset's folder, and ``why`` names the file that it never read."""
    table = "id,question,files\nq1,What is it?,README.md; docs/design.md\nq2,Who calls it?,a.py\n"
    (tmp_path / "questions.csv").write_text(table)
    rows = [{"question_id": "q1", "answer": "It.", "evidence_files": ["README.md"], "grade": "partially_correct"}]
    write_jsonl(tmp_path / "log.jsonl", [*rows, {"question_id": "q2", "answer": "a", "evidence_files": ["a.py"]}])
    inside("init", "d", "questions.csv", cwd=tmp_path, code=0)
    scored = inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", cwd=tmp_path, code=0).out
    # (1/2 + 1) / 2: what the gold scores is shown, and not a layer that it has no gold for.
    assert "FileRecall      0.75" in scored
    assert "overall" not in scored
    told = inside("why", "log.jsonl", "q1", "--dataset", "d", cwd=tmp_path, code=0).out
    assert "1 of 2 expected files is not among the files of the record" in told
    assert 'expected file that is missing: "docs/design.md"' in told
    assert (
        "nothing wrong was found (looked at: files"
        in inside("why", "log.jsonl", "q2", "--dataset", "d", cwd=tmp_path).out
    )


# Fields mapped by hand ----------------------------------------------------------------------------------------------

BENCHMARK = {
    "question": "What is our refund window?",
    "evidence": ["doc-7", "doc-3"],
    "ground_truth": ["doc-3"],
    "visited": [{"from": "a", "type": "R", "to": "b"}, {"from": "b", "type": "S", "to": "c"}],
    "reward": 0.25,
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """A folder with a row of a released benchmark."""
    write_jsonl(tmp_path / "rows.jsonl", [BENCHMARK])
    return tmp_path


def test_benchmark_rows_are_mapped(benchmark: Path) -> None:
    """Evidence is retrieved, ground truth relevant: ``init`` and ``evaluate`` read one file by one map; RR is 1/2."""
    lines = (
        "# what to read",
        "retrieved = evidence",
        "relevant=ground_truth",
        "traversal = visited[].{source: from, relation: type, target: to}",
        "score.reward = reward",
    )
    (benchmark / "fields.map").write_text("\n".join(lines))
    inside("init", "d", "rows.jsonl", "--map", "fields.map", cwd=benchmark, code=0)
    [question] = read_jsonl(benchmark / "d/questions.jsonl")
    assert question["relevant"] == {"doc-3": 1.0}
    about = "rows.jsonl --dataset d --map fields.map -m RR --fail-under reward=0.25"
    result = evaluated(benchmark, about)
    assert result["measures"]["RR"]["mean"] == 0.5
    assert result["measures"]["reward"]["mean"] == 0.25
    out = ("-o", "d/runs/mine.jsonl")
    made = inside("import", "auto", "rows.jsonl", "--dataset", "d", "--map", "fields.map", *out, cwd=benchmark, code=0)
    [record] = read_jsonl(benchmark / "d/runs/mine.jsonl")
    walked = [(one["source"], one["relation"], one["target"]) for one in record["traversal"]]
    assert walked == [("a", "R", "b"), ("b", "S", "c")]
    [score] = read_jsonl(benchmark / "d/runs/mine.grades/log.scores.jsonl")
    assert (score["measure"], score["value"], score["grader"]) == ("reward", 0.25, "log")
    assert "--scores d/runs/mine.grades/log.scores.jsonl` reads them" in made.out


def test_unread_fields_are_named_with_their_map(benchmark: Path) -> None:
    """A row that is taken for RAGAS, whose ``evidence`` nothing reads, is imported with the ``--map`` that reads it."""
    row = {"question": "Why?", "answer": "So.", "evidence": ["a"], "ground_truth": "So."}
    write_jsonl(benchmark / "rows.jsonl", [row])
    inside("init", "d", "rows.jsonl", cwd=benchmark, code=0)
    out = ("--dataset", "d", "-o", "d/runs/mine.jsonl")
    made = inside("import", "auto", "rows.jsonl", *out, cwd=benchmark, code=0)
    assert "fields that could be read by hand: --map retrieved=evidence" in made.out
    inside("import", "auto", "rows.jsonl", *out, "--map", "retrieved=evidence", "--force", cwd=benchmark, code=0)
    [record] = read_jsonl(benchmark / "d/runs/mine.jsonl")
    assert [one["id"] for one in record["retrieved"]] == ["a"]
    write_jsonl(benchmark / "log.jsonl", [{"question_id": "q1", "answer": "So.", "reward": 1}])
    said = inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", cwd=benchmark, code=0).err
    assert "the field 'reward' isn't used (1 record; --map score.reward=reward reads it)" in said


def test_rows_in_any_json(benchmark: Path) -> None:
    """Rows may lie in a document, in a list under any name, and fields at any depth."""
    inside("init", "d", "rows.jsonl", "--map", "relevant=ground_truth", cwd=benchmark, code=0)
    rows = {"results": [{"meta": {"q": "q1"}, "hits": [{"doc": "doc-9"}, {"doc": "doc-3"}]}]}
    (benchmark / "log.json").write_text(json.dumps(rows, indent=1))
    about = "log.json --dataset d -m RR --map question_id=meta.q --map retrieved=hits[].doc"
    assert evaluated(benchmark, about)["measures"]["RR"]["mean"] == 0.5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("retrieved=evidence[", "the expression isn't JMESPath"),
        ("retreived=evidence", "no record has a field 'retreived'"),
        ("retrieved", "there is no such file"),
        ("retrieved=" + "a." * 600 + "a", "may have 1,000"),
        ("retrieved=" + "[" * 450 + "a" + "]" * 450, "the expression is nested too deeply"),
        ("retrieved=length(evidence)", "rows.jsonl:1: record 'What is our refund window?': retrieved: "),
        ("retrieved=length(reward)", "rows.jsonl:1: retrieved: length(reward) can't be applied"),
        ("score=question", "rows.jsonl:1: score: question is a text where a number is needed"),
        ("retrieved=" + "|".join(["[@,@]"] * 100), "takes or makes more than 200,000 values"),
        ("answer=" + "|".join(["question", *["join('x',[@,@])"] * 50]), "takes or makes more than 200,000 values"),
    ],
    ids=["syntax", "field", "file", "long", "deep", "type", "function", "score", "doubling lists", "doubling texts"],
)
def test_wrong_and_hostile_expressions(benchmark: Path, given: str, said: str) -> None:
    """A wrong expression, one of the wrong type, and a hostile one are errors of a line, soon."""
    inside("init", "d", "rows.jsonl", "--map", "relevant=ground_truth", cwd=benchmark, code=0)
    refused = inside("evaluate", "rows.jsonl", "--dataset", "d", "--map", given, "--no-store", cwd=benchmark, code=2)
    assert said in refused.err
    assert len(refused.err.splitlines()) <= 3


# Trials -------------------------------------------------------------------------------------------------------------


def trials(folder: Path, name: str, right: dict[str, list[int]]) -> None:
    """Write a log whose trials of a question find its file or another one."""
    files = {"q1": "a.py", "q2": "b.py"}
    rows = [
        {"question_id": question, name: number, "evidence_files": [files[question] if found else "z.py"]}
        for question, several in right.items()
        for number, found in enumerate(several)
    ]
    write_jsonl(folder / "log.jsonl", rows)


@pytest.mark.parametrize("name", ["trial", "sample", "epoch", "attempt", "repeat"])
def test_trials_are_repetitions(folder: Path, name: str) -> None:
    """Five trials are five runs; 3 of 5 right: pass^2 is C(3,2)/C(5,2) = .3, pass@2 is 1 - C(2,2)/C(5,2) = .9."""
    write_jsonl(folder / "d/questions.jsonl", [{"id": "q1", "question": "?", "expected_files": ["a.py"]}])
    trials(folder, name, {"q1": [1, 0, 1, 0, 1]})
    about = ("log.jsonl", "--dataset", "d", "-m", "FileRecall", "--pass-at", "FileRecall=1", "--no-store", "--json")
    results = inside("evaluate", *about, "--run", "h", cwd=folder, code=0).objects()
    assert [one["run"] for one in results] == ["h@1", "h@2", "h@3", "h@4", "h@5"]
    [repeated] = results[0]["repetitions"]
    of_two = repeated["passes"][1]
    assert (of_two["k"], of_two["all"]["value"], of_two["any"]["value"]) == (2, pytest.approx(0.3), pytest.approx(0.9))


def test_a_trial_that_stands_twice_is_refused(folder: Path) -> None:
    """A trial with two records is refused, whichever is better; with --on-error skip each skipped one is reported."""
    rows = [
        {"run": "h", "question_id": "q1", "trial": number, "retrieved": found}
        for number, found in ((1, ["a:x"]), ("1", []), (1.0, []), (2, []))
    ]
    write_jsonl(folder / "same.jsonl", rows)
    about = ("evaluate", "same.jsonl", "--dataset", "d", "--no-store", "-m", "RR")
    done = inside(*about, cwd=folder, code=2)
    assert "same.jsonl:2: record 'q1': the question already has a record of trial 1" in done.err
    skipped = inside(*about, "--on-error", "skip", cwd=folder, code=0).err
    assert skipped.count("already has a record of trial 1") == 2


def test_trials_of_two_fields(folder: Path) -> None:
    """Three attempts of one trial are three repetitions, of which one is right."""
    rows = [
        {"run": "h", "question_id": "q1", "trial": 1, "attempt": number, "retrieved": found}
        for number, found in enumerate((["x"], [], []), 1)
    ]
    write_jsonl(folder / "three.jsonl", rows)
    about = ("three.jsonl", "--dataset", "d", "--no-store", "-m", "Recall@5", "--json")
    runs = [one["run"] for one in inside("evaluate", *about, cwd=folder).objects() if "run" in one]
    assert runs[:3] == ["h@1", "h@2", "h@3"]


def test_what_to_do_after_a_log_was_evaluated(folder: Path) -> None:
    """No other command reads a mapped log or trials: what is recommended makes a run of it, which `why` explains."""
    write_jsonl(folder / "d/questions.jsonl", [{"id": "q1", "question": "?", "relevant": ["a:x"]}])
    rows = [{"meta": {"id": "q1"}, "evidence": ["a:x"], "visited": "a:x -CALLS-> b:y"}]
    write_jsonl(folder / "rows.jsonl", rows)
    mapped = ("--map", "question_id=meta.id", "--map", "retrieved=evidence")
    shown = inside("evaluate", "rows.jsonl", "--dataset", "d", "--no-store", *mapped, cwd=folder, code=0).out
    [line] = [one for one in shown.splitlines() if one.startswith("next")]
    command = "graphkit import auto rows.jsonl --dataset d -o d/runs/rows.jsonl --map question_id=meta.id"
    assert line.split(maxsplit=1)[1] == f"{command} --map retrieved=evidence"
    inside(*shlex.split(line)[2:], cwd=folder, code=0)
    inside("why", "d/runs/rows.jsonl", "q1", cwd=folder, code=0)
    trials(folder, "trial", {"q1": [1, 0]})
    shown = inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", "-m", "RR", cwd=folder, code=0).out
    assert "graphkit import graphkit log.jsonl --dataset d -o d/runs/log.jsonl" in shown


def test_a_map_that_finds_nothing_is_said(folder: Path) -> None:
    """A misspelt field of a row is named, and refused if nothing else is read; an id of a run isn't mapped."""
    write_jsonl(folder / "rows.jsonl", [{"id": "q1", "evidence": ["a:x"], "meta": {"id": "z"}}])
    about = ("evaluate", "rows.jsonl", "--dataset", "d", "--no-store", "--map")
    done = inside(*about, "retrieved=evidnce", "--map", "latency_ms=meta.time", cwd=folder, code=2)
    assert "--map retrieved=evidnce finds nothing in any row" in done.err
    done = inside(*about, "retrieved=evidence", "--map", "latency_ms=meta.time", cwd=folder, code=0)
    assert "--map latency_ms=meta.time finds nothing in any row" in done.err
    assert "finds nothing" not in inside(*about, "retrieved=evidence", cwd=folder, code=0).err
    assert "a map names no run" in inside(*about, "run=meta.id", cwd=folder, code=2).err


def test_a_second_name_of_a_field_is_said(folder: Path) -> None:
    """If a record names a field twice (`retrieved`, `chunks`), the first name counts, and the other is reported."""
    row = {"run": "m", "question_id": "q1", "query_id": "q2", "retrieved": [], "chunks": ["a:x"], "id": "q1"}
    write_jsonl(folder / "rows.jsonl", [row])
    done = inside("evaluate", "rows.jsonl", "--dataset", "d", "--no-store", "-m", "RR", cwd=folder, code=0)
    assert "the field 'chunks' isn't used (1 record)" in done.err
    assert "the field 'query_id' isn't used (1 record)" in done.err
    assert "'id'" not in done.err  # it says the same


def test_trials_are_imported_as_runs(folder: Path) -> None:
    """An import writes a file a trial, numbered by trial; one trial a question is one run, whatever its number."""
    trials(folder, "trial", {"q1": [1, 0], "q2": [0, 1]})
    out = ("--dataset", "d", "-o", "d/runs/h.jsonl")
    made = inside("import", "graphkit", "log.jsonl", *out, cwd=folder, code=0)
    assert "skipped" not in made.out
    assert sorted(one.name for one in (folder / "d/runs").iterdir()) == ["h@1.jsonl", "h@2.jsonl"]
    second = {one["question_id"]: one["evidence_files"] for one in read_jsonl(folder / "d/runs/h@2.jsonl")}
    assert second == {"q1": ["z.py"], "q2": ["b.py"]}
    rows = [{"question_id": f"q{one}", "sample": 7 + one, "answer": "a"} for one in (1, 2)]
    write_jsonl(folder / "log.jsonl", rows)
    assert evaluated(folder, "log.jsonl --dataset d")["run"] == "log"


def test_pass_at_k_over_questions(folder: Path) -> None:
    """Two of three and one of three right: pass^2 is (1/3 + 0)/2, pass@2 is (1 + (1 - C(2,2)/C(3,2)))/2 = 5/6."""
    rows = [{"id": name, "question": "?", "expected_files": [f"{name}.py"]} for name in ("q1", "q2")]
    write_jsonl(folder / "d/questions.jsonl", rows)
    found = {"q1": ["q1.py", "q1.py", "z"], "q2": ["z", "q2.py", "z"]}
    log = [
        {"id": name, "trial": number, "evidence_files": [file]}
        for name, files in found.items()
        for number, file in enumerate(files)
    ]
    write_jsonl(folder / "log.jsonl", log)
    about = ("log.jsonl", "--dataset", "d", "-m", "FileRecall", "--pass-at", "FileRecall=0.9", "--no-store")
    [repeated] = inside("evaluate", *about, "--json", cwd=folder, code=0).objects()[0]["repetitions"]
    of_two = repeated["passes"][1]
    assert of_two["all"]["value"] == pytest.approx(1 / 6)
    assert of_two["any"]["value"] == pytest.approx(5 / 6)
    # Two questions can't exclude much, but the interval is within 0 and 1, and about the value.
    assert 0 <= of_two["any"]["low"] < 5 / 6 < of_two["any"]["high"] <= 1
    assert "pass@3 1.00" in inside("evaluate", *about, cwd=folder, code=0).out


def test_a_score_needs_a_threshold_to_pass(folder: Path) -> None:
    """Nothing says when a reward passes, and the remedy does."""
    write_jsonl(folder / "d/questions.jsonl", [{"id": "q1", "question": "?", "gold_answer": "a"}])
    rows = [{"id": "q1", "trial": one, "answer": "a", "reward": 0.5} for one in (1, 2)]
    write_jsonl(folder / "log.jsonl", rows)
    more = ["--map", "score.reward=reward", "--pass-k", "2", "--fail-under", "reward=0.4", "--no-store"]
    about = ["log.jsonl", "--dataset", "d", *more]
    assert "--pass-at reward=VALUE" in inside("evaluate", *about, cwd=folder, code=2).err
    inside("evaluate", *about, "--pass-at", "reward=0.5", cwd=folder, code=0)
