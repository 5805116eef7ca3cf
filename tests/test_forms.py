"""Files in the forms that people already have are read as they stand, with the values of the data's own README."""

from __future__ import annotations

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
    """A knowledge pack's gold answer is its ``ground_truth``."""
    [first, _] = read_jsonl(harness / "pack/questions.jsonl")
    assert first["gold_answer"] == "The number of hops a packet may take."


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
