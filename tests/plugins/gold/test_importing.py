"""Files of public data sets become a dataset, completely or not at all."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.public_rows import read_rows
from tests.helpers.cli import inside, write_lines

#: A row of HotpotQA; ids of others are made from it.
ROW: dict[str, Any] = {
    "_id": "a",
    "question": "Who?",
    "answer": "x",
    "supporting_facts": [["T", 0]],
    "context": [["T", ["s"]]],
}


# Lists -------------------------------------------------------------------------------------------------------------


def test_rows_of_a_list(tmp_path: Path) -> None:
    """Each row of a list has its line, in any layout; other values are reported, and the remaining rows are read."""
    path = tmp_path / "x.json"
    path.write_text('\n[ {"a": "]}"},\n{"a": "\\"]", "c": [1, [2, {"d": {}}]]}\n,\n\n 7, {"a": "\\\\"} ]\n')
    problems = Problems()
    rows = list(read_rows(path, False, problems))
    assert [(row.where, row.get("a")) for row in rows] == [
        (f"{path}:2 (item 1)", "]}"),
        (f"{path}:3 (item 2)", '"]'),
        (f"{path}:6 (item 4)", "\\"),
    ]
    assert [problem.where for problem in problems.skipped] == [f"{path}:6 (item 3)"]


@pytest.mark.parametrize(("text", "line"), [('[{"a": 1},\n{"b": 2}', 2), ('[{"a": "]}', 1)])
def test_a_list_that_was_cut(text: str, line: int, tmp_path: Path) -> None:
    """A list that is cut short is refused with its line."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError) as raised:
        list(read_rows(tmp_path / "x.json", False, Problems()))
    assert raised.value.where == f"{tmp_path / 'x.json'}:{line}"


def test_rows_that_are_none(tmp_path: Path) -> None:
    """A line that isn't a JSON object is reported, and the others are read."""
    path = write_lines(tmp_path / "x.jsonl", [{"a": 1}, "{", "7", b'{"a": "\xff"}', {"a": 2}])
    problems = Problems()
    assert [row.get("a") for row in read_rows(path, False, problems)] == [1, 2]
    assert [problem.where.rpartition(":")[2] for problem in problems.skipped] == ["2", "3", "4"]


def test_parquet(tmp_path: Path) -> None:
    """Rows of a Parquet file, with their lists, are read in batches."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"id": number, "answer_subgraph": [["a", "r", "b"]]} for number in range(600)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "x.parquet")
    found = list(read_rows(tmp_path / "x.parquet", False, Problems()))
    assert [row.get("id") for row in found] == list(range(600))
    assert found[5].where == f"{tmp_path / 'x.parquet'}:row 6"
    assert found[5].table("answer_subgraph", ("head", "relation", "tail")) == [("a", "r", "b")]
    (tmp_path / "y.parquet").write_text("no")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        list(read_rows(tmp_path / "y.parquet", False, Problems()))


# The command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["rows.json", "rows.jsonl", "rows.json.gz"])
def test_a_dataset_is_made(ending: str, tmp_path: Path) -> None:
    """A list, lines and a compressed list give the same dataset; unused fields are reported."""
    rows = [ROW, {**ROW, "_id": "b"}]
    text = "\n".join(map(json.dumps, rows)) if ending.endswith("l") else json.dumps(rows)
    (tmp_path / ending).write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    done = inside("import", "gold", "hotpotqa", ending, "-o", "made", cwd=tmp_path, code=0)
    assert done.out == "made: 2 questions written\n"
    assert f"note: {ending}: the field 'context' isn't used (2 records)" in done.err
    assert "hotpotqa doesn't say: There are no paths" in done.err
    questions = [question for _, question in Dataset(tmp_path / "made").questions(Problems())]
    assert [(question.id, question.relevant) for question in questions] == [("a", {"T": 1.0}), ("b", {"T": 1.0})]


def test_json(tmp_path: Path) -> None:
    """With --json the result is one object."""
    write_lines(tmp_path / "x.jsonl", [ROW, {**ROW, "_id": "b", "supporting_facts": []}, {"_id": "c"}])
    words = ("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", "--on-error", "skip", "--json")
    assert inside(*words, cwd=tmp_path, code=0).object() == {
        "dataset": "made",
        "questions": 2,
        "left_out": 1,
        "notes": {"no supporting facts are given: nothing is gold but the answer": 1},
    }


def test_nothing_is_left_of_a_refused_import(tmp_path: Path) -> None:
    """A bad row refuses the import with each mistake; neither a file nor the folder remains."""
    write_lines(tmp_path / "x.jsonl", [ROW, ROW, {"_id": "b"}, {**ROW, "_id": "c", "question": 3}])
    done = inside("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", cwd=tmp_path, code=2)
    assert "3 records can't be used" in done.err
    assert "x.jsonl:2: record 'a': the id is already used by x.jsonl:1" in done.err
    assert "x.jsonl:3: record 'b': the field 'question' is missing" in done.err
    assert "x.jsonl:4: record 'c': the field 'question' must be a string" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_an_id_with_other_content_is_renamed(tmp_path: Path) -> None:
    """Different rows with one id are all kept: later ones get other ids, with a note.

    The second row is called a~3, since a~2 is the id of the first one; the fourth repeats the third row's id only.
    """
    ids = ("a~2", "a", "a", "b")
    rows = [{**ROW, "_id": name, "question": f"Question {number}?"} for number, name in enumerate(ids)]
    write_lines(tmp_path / "x.jsonl", rows)
    done = inside("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", cwd=tmp_path, code=0)
    assert done.out == "made: 4 questions written\n"
    assert (
        "note: an earlier row has the same id and other content: the id of this question gets the suffix ~ and "
        "a number (1 record, the first: x.jsonl:3 a~3)" in done.err
    )
    questions = [question for _, question in Dataset(tmp_path / "made").questions(Problems())]
    assert [(one.id, one.question) for one in questions] == [
        ("a~2", "Question 0?"),
        ("a", "Question 1?"),
        ("a~3", "Question 2?"),
        ("b", "Question 3?"),
    ]


def test_a_repeat_of_any_row_of_an_id_is_refused(tmp_path: Path) -> None:
    """A row that repeats an earlier one is refused, even if the earlier one was renamed."""
    other = {**ROW, "question": "Who else?"}
    write_lines(tmp_path / "x.jsonl", [ROW, other, dict(reversed(other.items()))])
    done = inside("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", cwd=tmp_path, code=2)
    assert "x.jsonl:3: record 'a': the id is already used by x.jsonl:2" in done.err
    words = ("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", "--on-error", "skip", "--json")
    assert inside(*words, cwd=tmp_path, code=0).object()["questions"] == 2


def test_nodes_that_are_called_by_their_question_follow_its_new_id(tmp_path: Path) -> None:
    """Two proofs of EntailmentBank with one id don't share conclusions."""
    row = {"id": "M_1", "question": "Why?", "answer": "so", "proof": "sent1 & sent2 -> hypothesis; "}
    write_lines(tmp_path / "test.jsonl", [row, {**row, "proof": "sent3 & sent4 -> hypothesis; "}])
    inside("import", "gold", "entailment-bank", "test.jsonl", "-o", "made", cwd=tmp_path, code=0)
    first, second = (question for _, question in Dataset(tmp_path / "made").questions(Problems()))
    assert (first.id, second.id) == ("M_1", "M_1~2")
    assert {step.target for step in first.paths[0].steps} == {"M_1/hypothesis"}
    assert [(step.source, step.target) for step in second.paths[0].steps] == [
        ("M_1~2/sent3", "M_1~2/hypothesis"),
        ("M_1~2/sent4", "M_1~2/hypothesis"),
    ]


def test_files_of_one_name_in_two_folders(tmp_path: Path) -> None:
    """PathQuestion names a question by its file and line; questions of files with one name are all kept."""
    for folder, entity in (("one", "a"), ("two", "b")):
        write_lines(tmp_path / folder / "PQ.txt", [f"Who is {entity}?\t{entity}\t{entity}#r#c#<end>#c"])
    words = ("import", "gold", "path-question", "one/PQ.txt", "two/PQ.txt", "-o", "made")
    assert inside(*words, cwd=tmp_path, code=0).out == "made: 2 questions written\n"
    questions = [question.id for _, question in Dataset(tmp_path / "made").questions(Problems())]
    assert questions == ["PQ-1", "PQ-1~2"]


def test_questions_are_never_overwritten(tmp_path: Path) -> None:
    """A folder with questions keeps them."""
    write_lines(tmp_path / "x.jsonl", [ROW])
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "questions.jsonl.gz").write_bytes(b"mine")
    done = inside("import", "gold", "hotpotqa", "x.jsonl", "-o", "made", cwd=tmp_path, code=2)
    assert "the folder already has questions" in done.err
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["questions.jsonl.gz"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hotpot", "x.jsonl", "-o", "made"), "Did you mean hotpotqa?"),
        (("hotpotqa",), "a file is missing"),
        (("hotpotqa", "x.jsonl"), "the dataset folder to be written is missing"),
        (("hotpotqa", "none.jsonl", "-o", "made"), "there is no such file"),
        (("hotpotqa", "none.parquet", "-o", "made"), "there is no such file"),
        (("hotpotqa", "x.jsonl", "-o", "x.jsonl"), "the folder can't be created"),
    ],
)
def test_usage(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Missing and misspelt arguments are reported with a remedy."""
    write_lines(tmp_path / "x.jsonl", [ROW])
    assert said in inside("import", "gold", *words, cwd=tmp_path, code=2).err
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


def test_formats_are_listed(tmp_path: Path) -> None:
    """Without a format, the formats are listed, with --json also what each lacks."""
    assert "swe-bench: SWE-bench" in inside("import", "gold", cwd=tmp_path, code=0).out
    listed = inside("import", "gold", "--json", cwd=tmp_path, code=0).objects()
    assert "hotpotqa" in {row["format"] for row in listed}
    assert all(row["lacks"] for row in listed)


def test_what_is_imported_is_scored(tmp_path: Path) -> None:
    """A run is scored against imported gold like against any other.

    Of two expected files one is evidence, and the one expected symbol is retrieved: 1/2 and 1.
    """
    patch = (
        "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n--- a/y.txt\n+++ b/y.txt\n"
    )
    patch += "@@ -1 +1 @@\n-a\n+b\n"
    row = {"instance_id": "i", "repo": "o/r", "base_commit": "c0ffee", "problem_statement": "It fails.", "patch": patch}
    write_lines(tmp_path / "rows.jsonl", [row])
    inside("import", "gold", "swe-bench", "rows.jsonl", "-o", "made", cwd=tmp_path, code=0)
    run = write_lines(
        tmp_path / "made" / "runs" / "r.jsonl", [{"run": "r", "question_id": "i", "retrieved": ["o/r:x.py#f"]}]
    )
    words = ("evaluate", "--full", run, "-m", "FileRecall", "-m", "SymbolRecall", "--no-store")
    shown = inside(*words, cwd=tmp_path, code=0).out
    assert [float(value) for value in re.findall(r"(?:FileRecall|SymbolRecall) +([\d.]+) +1/1", shown)] == [0.5, 1.0]
