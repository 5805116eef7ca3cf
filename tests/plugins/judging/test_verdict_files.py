"""Verdicts as files: written and read alike, and each mistake reported with its line and record."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.grades_beside import SCORES, file_beside, graded_files, grades_folder
from graphkit.files.problems import Problems
from graphkit.plugins.judging.verdict_files import VERDICTS, read_verdicts, write_verdicts
from tests.helpers.verdicts import claim, verdict


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Verdicts with claims, failures and odd text come back as they were, packed files too."""
    verdicts = [
        verdict("q1", claims=[claim("x\u2028y =1+1", edge=("a:x", None, "a:y"))], left_out=["a:z"], confidence=0.5),
        verdict("q1", grader="rubric", verdict={"grade": "wrong", "nested": [1, None, {"a": "\N{CRAB}"}]}),
        verdict("q2", failure="refused", reason="it said no", cost=0.25, cached=True),
    ]
    path = tmp_path / "lexical.verdicts.jsonl"
    write_verdicts(path, verdicts)
    packed = tmp_path / "packed.verdicts.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_verdicts([path], Problems()) == verdicts == read_verdicts([packed], Problems())
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_file_that_can_not_be_written_stays(tmp_path: Path) -> None:
    """If writing fails half-way, what was there before is still there."""
    path = tmp_path / "v.verdicts.jsonl"
    write_verdicts(path, [verdict("q1")])

    def torn() -> object:
        yield verdict("q2")
        raise OSError("the disk is full")

    with pytest.raises(InputError, match="can't be written"):
        write_verdicts(path, torn())  # type: ignore[arg-type]
    assert [one.question for one in read_verdicts([path], Problems())] == ["q1"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"confidence": 2}, "confidence: input should be less than or equal to 1"),
        ({"claims": [{"text": "x", "support": "MAYBE"}]}, "claims.0.support"),
        ({"claims": [{"text": "x", "support": "DIRECT", "cited": [0]}]}, "citation 0 doesn't exist"),
        ({"judge": None}, "judge"),
        ({"cost": -1}, "cost"),
    ],
)
def test_a_bad_verdict_is_reported(tmp_path: Path, fields: dict[str, object], reported: str) -> None:
    """A verdict that can't be used is reported with file, line, question and what is wrong; the rest can be kept."""
    good = verdict("q1").model_dump(mode="json")
    path = tmp_path / "v.verdicts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (good, {**good, "question": "q2", **fields})))
    with pytest.raises(InputError, match="can't be used") as caught:
        read_verdicts([path], Problems())
    assert f"{path}:2: record 'q2': " in str(caught.value)
    assert reported in str(caught.value)
    assert [one.question for one in read_verdicts([path], Problems("skip"))] == ["q1"]


def test_a_second_verdict_on_an_answer_is_reported(tmp_path: Path) -> None:
    """A judge has one verdict on an answer by a grader; another judge, model or grader has its own."""
    path = tmp_path / "v.verdicts.jsonl"
    others = [verdict("q1", grader="rubric"), verdict("q1", judge="other"), verdict("q1", model="m")]
    write_verdicts(path, [verdict("q1"), *others, verdict("q1")])
    with pytest.raises(InputError, match="lexical already judged this answer of r by claims") as caught:
        read_verdicts([path], Problems())
    assert f"{path}:5: record 'q1'" in str(caught.value)


def test_gradings_lie_beside_the_run(tmp_path: Path) -> None:
    """The files of a run's gradings are found by their endings, in the order of the judges; others are left."""
    run = tmp_path / "runs" / "bm25.jsonl.gz"
    folder = grades_folder(run)
    assert graded_files(run, VERDICTS) == []
    folder.mkdir(parents=True)
    for name in ("b.verdicts.jsonl", "a.verdicts.jsonl.zst", "a.scores.jsonl", "notes.txt", "x.verdicts.jsonl.bak"):
        (folder / name).touch()
    assert [path.name for path in graded_files(run, VERDICTS)] == ["a.verdicts.jsonl.zst", "b.verdicts.jsonl"]
    assert [path.name for path in graded_files(run, SCORES)] == ["a.scores.jsonl"]


def test_long_names_of_models_have_files(tmp_path: Path) -> None:
    """A file system takes 255 bytes in a name: two models whose names differ at their ends have files of their own."""
    files = [file_beside(tmp_path / "r.jsonl", "llamacpp", ".verdicts.jsonl", "m" * 300 + end) for end in "ab"]
    grades_folder(tmp_path / "r.jsonl").mkdir()
    for file in files:
        write_verdicts(file, [])
    assert graded_files(tmp_path / "r.jsonl", VERDICTS) == sorted(files)
    assert files[0] != files[1]
