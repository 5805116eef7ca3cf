"""A run's file read as a whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import graphkit
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.measures.registry import resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer
from graphkit.records.structs import AnswerStruct, struct_of
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.scorer import Job
from tests.helpers.cli import Row, tiny, write_lines

FIRST: Row = {"run": "r", "question_id": "q1", "answer": "one"}


def test_records_by_question(tmp_path: Path) -> None:
    """The run's name and its records come back; the questions of the dataset say which may be there."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, {"run": "r", "question_id": "q2", "error": "lost"}])
    run, answers = read_run(file, Problems(), {"q1", "q2", "q3"})
    assert (run, list(answers), answers["q1"].answer, answers["q2"].error) == ("r", ["q1", "q2"], "one", "lost")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({**FIRST, "answer": "two"}, "the question already has a record"),
        ({**FIRST, "question_id": "q9"}, "the question id is not in the dataset"),
    ],
)
def test_records_that_can_not_be_used(second: Row, words: str, tmp_path: Path) -> None:
    """A second record of a question and one of no question are reported with their line, or left out where one may."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, second])
    with pytest.raises(InputError, match=words) as reported:
        read_run(file, Problems(), {"q1"})
    assert "r.jsonl:2" in str(reported.value)
    skipped = Problems("skip")
    run, answers = read_run(file, skipped, {"q1"})
    assert (run, [one.answer for one in answers.values()]) == ("r", ["one"])
    assert len(skipped.skipped) == 1


def test_answers_to_a_refused_question(tmp_path: Path) -> None:
    """The dataset has q2 with a mistake: its answer is told apart from one to a question that isn't there."""
    questions = write_lines(tmp_path / "questions.jsonl", [{"id": "q1", "question": "?"}, {"id": "q2", "question": 7}])
    file = write_lines(tmp_path / "r.jsonl", [FIRST, {**FIRST, "question_id": "q2"}, {**FIRST, "question_id": "q3"}])
    found = Problems("skip")
    asked = {one.id for _, one in Dataset.of_questions(questions).questions(found)}
    read_run(file, found, asked, gold=questions)
    assert [(one.where.rpartition(":")[2], one.record, one.what, one.remedy) for one in found.skipped[1:]] == [
        ("2", "q2", "its question can't be used", "Correct the question."),
        ("3", "q3", "the question id is not in the dataset", "Check --dataset."),
    ]


def test_not_just_one_run(tmp_path: Path) -> None:
    """Records of two runs are refused by the names of both."""
    file = write_lines(tmp_path / "r.jsonl", [FIRST, {"run": "s", "question_id": "q2"}])
    with pytest.raises(InputError, match="records of 2 runs: r, s"):
        read_run(file, Problems())


# JSON arrays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_read_as_lines_are(tmp_path: Path, indent: int | None, ending: str) -> None:
    """One array of records, on one line or on many, gives what the same records give a line each, also compressed."""
    records = [{"run": "r", "question_id": f"q{number}", "answer": "a\nb"} for number in range(3)]
    text = ("\ufeff\n " + json.dumps(records, indent=indent) + "\n").encode()
    packs: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}
    file = tmp_path / f"r.jsonl{ending}"
    file.write_bytes(packs[ending](text) if ending else text)
    run, answers = read_run(file, Problems())
    assert (run, list(answers), answers["q1"].answer) == ("r", ["q0", "q1", "q2"], "a\nb")


def test_an_item_that_cannot_be_used_is_reported_by_its_place(tmp_path: Path) -> None:
    """The second item has no question: it is reported as the second, whatever line it stands on."""
    file = tmp_path / "r.jsonl"
    file.write_text(json.dumps([{"run": "r", "question_id": "q"}, {"run": "r"}, 3], indent=1))
    problems = Problems("skip")
    read_run(file, problems)
    reported = [(problem.where, problem.what) for problem in problems.skipped]
    assert reported == [
        (f"{file}:2", "the field 'question_id' is missing"),
        (f"{file}:3", "a record must be a JSON object, not a number"),
    ]


def test_an_array_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    """Nothing of half an array is taken."""
    file = tmp_path / "r.jsonl"
    file.write_text('[{"run": "r", "question_id": "q"},\n{"run": "r"')
    with pytest.raises(InputError, match="begins as a JSON array, and isn't one"):
        read_run(file, Problems())


def test_a_large_array_is_scored_by_several_processes(tmp_path: Path) -> None:
    """Workers get its items, as they get lines."""
    questions = [{"id": f"q{number}", "question": "?", "relevant": ["a"]} for number in range(2500)]
    answers = [{"run": "r", "question_id": f"q{number}", "retrieved": ["a"]} for number in range(2500)]
    (tmp_path / "questions.jsonl").write_text(json.dumps(questions))
    (tmp_path / "r.jsonl").write_text(json.dumps(answers, indent=1))
    job = Job(tmp_path / "questions.jsonl", tmp_path / "r.jsonl", resolve_measures(["RR"]), CommitGraph())
    result = score_file(job, workers=2)
    assert (result.measures["RR"].mean, result.measures["RR"].scored) == (1.0, 2500)


# Records in memory ---------------------------------------------------------------------------------------------------


RECORDS: list[dict[str, Any]] = [
    {"question_id": "q1", "traversal": [["a:m.py#x", "CALLS", "a:m.py#y"]]},
    {"question_id": "q2", "traversal": []},
]


def as_models() -> Any:
    """Return the records as models."""
    return [Answer.model_validate({"run": "records", **one}) for one in RECORDS]


def as_rows() -> Any:
    """Return the records as rows of a data frame, the answers of which are empty cells."""
    return (row for _, row in as_frame().iterrows())


def as_frame() -> Any:
    """Return the records as a data frame."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(RECORDS).assign(answer=float("nan"))


def as_structs() -> Any:
    """Return the records as structs."""
    return [struct_of(AnswerStruct, one) for one in as_models()]


@pytest.mark.parametrize("given", [lambda: RECORDS, as_models, as_structs, as_rows, as_frame])
def test_records_in_memory(tmp_path: Path, given: Callable[[], Any]) -> None:
    """Records give what their file gives: of q1's two edges one was walked, of q2's one none: (1/2 + 0) / 2."""
    tiny(tmp_path)
    result = graphkit.evaluate(given(), dataset=tmp_path, measures=["EdgeRecall"])
    assert (result.run, result.measures["EdgeRecall"].mean) == ("records", 0.25)


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ([3], "record 1: a record is a mapping, a model or a row of a table, not int"),
        ([RECORDS[0], {"question_id": object()}], "record 2: the record can't be written as JSON"),
        ([RECORDS[0], {"run": "records"}], "the field 'question_id' is missing"),
    ],
)
def test_records_that_are_none(tmp_path: Path, given: Any, reported: str) -> None:
    """An object that isn't a record is reported with its place."""
    tiny(tmp_path)
    with pytest.raises(InputError) as refused:
        graphkit.evaluate(given, dataset=tmp_path)
    assert reported in str(refused.value)


def test_records_in_memory_need_a_dataset() -> None:
    """There is no folder that they stand in."""
    with pytest.raises(InputError, match="records in memory need a dataset"):
        graphkit.evaluate(RECORDS)
