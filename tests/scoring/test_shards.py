"""Scoring in shards gives the results of one process on whole files, to the last byte, whatever the shards."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphkit
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.scoring import evaluate_shards, results_folder, shard_join, shard_scoring
from graphkit.scoring.results import Evaluation
from tests.helpers.datasets import generate, read_jsonl
from tests.helpers.properties import examples

MEASURES = ("EdgeRecall", "PathPrefix", "Coherence", "nDCG@10", "P", "OffPin")
RUN = "gen5-a"

pytest.importorskip("pyarrow")


def lines_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the lines of a generated dataset's questions and of its run, in the order of the questions."""
    questions = read_jsonl(folder / "questions.jsonl")
    place = {one["id"]: number for number, one in enumerate(questions)}
    answers = sorted(read_jsonl(folder / "runs" / f"{RUN}.jsonl"), key=lambda one: place[one["question_id"]])
    return [*map(json.dumps, questions)], [*map(json.dumps, answers)]


def cut(draw: random.Random, lines: list[str], pieces: int) -> list[list[str]]:
    """Cut lines at random places, with at least one in each piece."""
    places = sorted(draw.sample(range(1, len(lines)), min(pieces, len(lines)) - 1))
    return [lines[begin:end] for begin, end in zip([0, *places], [*places, len(lines)], strict=True)]


def dataset_of(folder: Path, source: Path, questions: list[list[str]], answers: list[list[str]]) -> Path:
    """Write a dataset whose questions and run are shards, or files if there is one piece of each; every second shard is
    compressed.
    """
    made = folder / "data"
    (made / "runs").mkdir(parents=True)
    for name in ("commits.jsonl", "compatibility.jsonl"):
        if (source / name).exists():
            (made / name).write_bytes((source / name).read_bytes())
    for place, pieces in (("questions", questions), (f"runs/{RUN}", answers)):
        if len(pieces) == 1:
            (made / f"{place}.jsonl").write_text("\n".join(pieces[0]) + "\n")
            continue
        (made / place).mkdir(parents=True)
        for number, piece in enumerate(pieces):
            data = ("\n".join(piece) + "\n").encode()
            if number % 2:
                (made / place / f"{number}.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
            else:
                (made / place / f"{number}.jsonl").write_bytes(data)
    return made


def run_in(dataset: Path) -> Path:
    """Return the run of a dataset: its file, or its folder."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    return file if file.exists() else dataset / "runs" / RUN


def in_shards(dataset: Path, out: Path, problems: Problems | None = None, **more: Any) -> Evaluation:
    """Score a dataset in shards."""
    options = {"measures": MEASURES, "outcomes": True, "problems": problems or Problems("skip"), **more}
    return graphkit.evaluate(run_in(dataset), dataset, out=out, **options)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def told(problems: Problems) -> list[tuple[str, str]]:
    """Return records and their mistakes, without places: these depend on the files."""
    return sorted((str(one.record), one.what.partition(" at ")[0].partition(" by ")[0]) for one in problems.skipped)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated dataset in whole files."""
    return generate(tmp_path_factory.mktemp("source"), 5, questions=60)


@given(seed=st.integers(0, 1 << 30))
@examples(25)
def test_shards_give_what_whole_files_give(source: Path, seed: int) -> None:
    """Figures, rows, warnings and problems are those of the whole files: for any shards and order of the records, with
    broken lines, repeats on either side, records of no question, and without some records.
    """
    draw = random.Random(seed)
    questions, answers = lines_of(source)
    questions, answers = list(questions), [line for line in answers if draw.random() > 0.1]
    if draw.random() < 0.5:
        draw.shuffle(answers)
    for _ in range(draw.randrange(3)):
        answers.insert(draw.randrange(len(answers)), '{"broken"')
        answers.insert(
            draw.randrange(len(answers)), json.dumps({"run": RUN, "question_id": f"stranger {draw.random()}"})
        )
        questions.insert(draw.randrange(len(questions)), '{"id": 5, "question": []}')
    for _ in range(draw.randrange(3)):
        answers.insert(draw.randrange(len(answers)), draw.choice([one for one in answers if "stranger" not in one]))
    with TemporaryDirectory() as folder:
        whole = dataset_of(Path(folder, "whole"), source, [questions], [answers])
        pieces = draw.randint(2, 6), draw.randint(2, 6)
        parted = dataset_of(
            Path(folder, "parted"), source, cut(draw, questions, pieces[0]), cut(draw, answers, pieces[1])
        )
        expected, found = Problems("skip"), Problems("skip")
        alone = graphkit.evaluate(run_in(whole), whole, measures=MEASURES, outcomes=True, problems=expected)
        result = in_shards(parted, Path(folder, "out"), found)
        assert result.as_json() == alone.as_json()
        order = {json.loads(line).get("id"): place for place, line in enumerate(questions)}
        assert [row.question for row in result.rows] == sorted(
            order.keys() & {r.question for r in alone.rows}, key=order.__getitem__
        )
        assert {row.question: row.values for row in result.rows} == {row.question: row.values for row in alone.rows}
        assert result.groups_as_json() == alone.groups_as_json()
        assert {name: len(part) for name, part in result.outcomes_as_json()["two_by_two"].items()} == {
            name: len(part) for name, part in alone.outcomes_as_json()["two_by_two"].items()
        }
        assert told(found) == told(expected)
        assert found.noted == expected.noted


@given(seed=st.integers(0, 1 << 30))
@examples(15)
def test_the_bytes_do_not_depend_on_the_shards(source: Path, seed: int) -> None:
    """One file or many shards, records in order or not: the folder is the same to the last byte."""
    draw = random.Random(seed)
    questions, answers = lines_of(source)
    shuffled = draw.sample(answers, len(answers))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(results_folder, "GROUP", 5)
        patch.setattr(results_folder.ResultsWriter.__init__, "__defaults__", (17,))
        in_shards(dataset_of(Path(folder, "one"), source, [questions], [answers]), Path(folder, "first"))
        pieces = cut(draw, questions, draw.randint(2, 7)), cut(draw, shuffled, draw.randint(2, 7))
        in_shards(dataset_of(Path(folder, "many"), source, *pieces), Path(folder, "second"))
        first, second = contents(Path(folder, "first")), contents(Path(folder, "second"))
        assert first == second
        assert len(first) == 3 + 4
        assert not [path for path in Path(folder).iterdir() if path.name.endswith(".parts")]


def test_a_repeated_question_counts_once(source: Path, tmp_path: Path) -> None:
    """A question that a later shard repeats is refused with the place of the first, and so is its second record."""
    questions, answers = lines_of(source)
    parts = [questions[:30], [*questions[30:], questions[3]]], [[*answers[:20], answers[3]], answers[20:]]
    found = Problems("skip")
    dataset = dataset_of(tmp_path / "parted", source, *parts)
    result = in_shards(dataset, tmp_path / "out", found)
    assert result.questions == 60
    first, second = (json.loads(line) for line in (questions[3], answers[3]))
    places = {
        (one.record, one.where.removeprefix(f"{dataset}/"), one.what.replace(f"{dataset}/", ""))
        for one in found.skipped
    }
    number = len(answers[:20]) + 1
    assert places == {
        (first["id"], "questions/1.jsonl.gz:31", "the id is already taken by questions/0.jsonl:4"),
        (second["question_id"], f"runs/{RUN}/0.jsonl:{number}", "the question already has a record at line 4"),
    }


def test_ids_with_one_hash_are_told_apart(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every id has the hash of many others, the join still compares the ids, and names every stranger once."""
    for module in (shard_scoring, shard_join):
        monkeypatch.setattr(module, "digest", lambda name: sum(name.encode()) % 3)
    monkeypatch.setattr(shard_join.Hashes.__init__, "__defaults__", (10,))
    draw = random.Random(4)
    questions, answers = lines_of(source)
    answers = draw.sample(answers, len(answers))
    answers.insert(7, json.dumps({"run": RUN, "question_id": "stranger"}))
    whole = dataset_of(tmp_path / "whole", source, [questions], [answers])
    expected, found = Problems("skip"), Problems("skip")
    alone = graphkit.evaluate(run_in(whole), whole, measures=MEASURES, outcomes=True, problems=expected)
    parted = dataset_of(tmp_path / "parted", source, cut(draw, questions, 4), cut(draw, answers, 3))
    assert in_shards(parted, tmp_path / "out", found).as_json() == alone.as_json()
    assert told(found) == told(expected) == [("stranger", "the question id is not in the dataset")]


def test_a_bad_record_is_a_row_of_the_problems(source: Path, tmp_path: Path) -> None:
    """Each record that can't be used has a row with its file, its line and what is wrong, in the order of the input."""
    questions, answers = lines_of(source)
    answers[5:5] = ['{"broken"']
    dataset = dataset_of(tmp_path / "parted", source, [questions[:30], questions[30:]], [answers[:4], answers[4:]])
    in_shards(dataset, tmp_path / "out")
    results = graphkit.read_results(tmp_path / "out")
    (row,) = results.problems()
    assert (row["file"], row["line"]) == (f"{dataset}/runs/{RUN}/1.jsonl.gz", 2)
    assert row["what"].startswith("not valid JSON")


def test_refused_input_leaves_no_results_but_its_parts(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bad record refuses the input after all shards ran; skipping it then scores nothing again."""
    questions, answers = lines_of(source)
    answers[5:5] = ['{"broken"']
    dataset = dataset_of(tmp_path / "parted", source, [questions[:30], questions[30:]], [answers[:4], answers[4:]])
    with pytest.raises(InputError, match=r"1\.jsonl\.gz:2: not valid JSON"):
        in_shards(dataset, tmp_path / "out", Problems("fail"))
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert (tmp_path / ".out.parts").is_dir()

    def again(*_: object) -> None:
        raise AssertionError("a shard is scored again")

    monkeypatch.setattr(evaluate_shards, "score_shard", again)
    assert in_shards(dataset, tmp_path / "out", Problems("skip")).questions == 60
    assert not (tmp_path / ".out.parts").exists()


def test_results_are_read_back(source: Path, tmp_path: Path) -> None:
    """Rows, summary and manifest come back as they were; a changed part is refused."""
    result = in_shards(source, tmp_path / "out")
    found = graphkit.read_results(tmp_path / "out")
    assert found.manifest["questions"] == found.summary["questions"] == 60
    assert found.manifest["gold_hash"] == result.gold_hash
    assert found.measures == list(result.measures)
    assert [row.values for row in found.rows()] == [row.values for row in result.rows]
    assert {row.question: row.labels for row in found.rows()} == {row.question: row.labels for row in result.rows}
    (part,) = (tmp_path / "out").glob("part-*")
    part.write_bytes(part.read_bytes() + b" ")
    with pytest.raises(InputError, match="it was changed"):
        list(found.rows())


def test_a_folder_of_others_is_not_written(source: Path, tmp_path: Path) -> None:
    """A folder that holds another file is refused before anything is read, and stays as it is."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds another file, notes\.txt"):
        in_shards(source, tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}
