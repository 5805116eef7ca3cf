"""Scoring in shards gives the results of one process on whole files, to the last byte, whatever the shards."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.compare.comparison_plan import ComparisonPlan
from graphkit.plugins.compare.log_pairs import compare_files
from graphkit.plugins.embedded.locks import wait_until
from graphkit.records.scores import Score
from graphkit.scoring import evaluate_shards, results_folder, shard_join, shard_scoring
from graphkit.scoring.results import Evaluation
from graphkit.scoring.row_tables import unpacked_table
from graphkit.scoring.shard_parts import ShardPart
from graphkit.scoring.sums_on_disk import at_places
from graphkit.shards.locations import Location
from tests.helpers import ROOT
from tests.helpers.cli import without_intervals
from tests.helpers.datasets import generate, read_jsonl, write_jsonl
from tests.helpers.properties import examples
from tests.helpers.sharded import RUN, cut, dataset_of, in_six_shards, lines_of, run_in
from tests.scoring.shard_measures import KillsOnce, Slow

MEASURES = ("EdgeRecall", "PathPrefix", "Coherence", "nDCG@10", "P", "OffPin")

pytest.importorskip("pyarrow")


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
@examples(25, fast=4)
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
@examples(15, fast=4)
def test_the_bytes_do_not_depend_on_the_shards(source: Path, seed: int) -> None:
    """One file or many shards, records in order or not: the folder is the same to the last byte."""
    draw = random.Random(seed)
    questions, answers = lines_of(source)
    shuffled = draw.sample(answers, len(answers))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(results_folder, "GROUP", 5)
        patch.setattr(results_folder, "QUESTIONS", 17)
        in_shards(dataset_of(Path(folder, "one"), source, [questions], [answers]), Path(folder, "first"))
        pieces = cut(draw, questions, draw.randint(2, 7)), cut(draw, shuffled, draw.randint(2, 7))
        in_shards(dataset_of(Path(folder, "many"), source, *pieces), Path(folder, "second"))
        first, second = contents(Path(folder, "first")), contents(Path(folder, "second"))
        assert first == second
        assert len(first) == 3 + 4
        assert not [path for path in Path(folder).iterdir() if path.name.endswith(".parts")]


def test_an_executor_takes_whatever_evaluate_takes(source: Path, tmp_path: Path) -> None:
    """Scores, an origin, clusters, a dataset as an object and records in memory: an executor returns what this process
    does, with all that a row holds.
    """
    run = source / "runs" / f"{RUN}.jsonl"
    records = read_jsonl(run)
    scores = [Score(run=RUN, question=one["question_id"], measure="Taste", value=0.5) for one in records[::2]]
    asked = [{**one, "category": f"c{place % 9}"} for place, one in enumerate(read_jsonl(source / "questions.jsonl"))]
    data = Dataset.of_questions(write_jsonl(tmp_path / "asked.jsonl", asked))
    options: dict[str, Any] = {"scores": scores, "cluster": "category", "outcomes": True, "origin": "elsewhere"}
    for logged in (run, records):
        alone, spread = (graphkit.evaluate(logged, data, executor=on, **options) for on in (None, "processes=1"))
        assert alone.as_json() == spread.as_json()
        assert alone.measures["Taste"].mean == 0.5
        for first, second in zip(alone.rows, spread.rows, strict=True):
            assert (first, first.latency_ms, first.by_text) == (second, second.latency_ms, second.by_text)
            if first.outcome is not None and second.outcome is not None:
                assert (first.outcome.missed, first.outcome.absent) == (second.outcome.missed, second.outcome.absent)
                assert first.outcome.stage == second.outcome.stage
    with pytest.raises(InputError, match="computes in the database, and not in shards"):
        graphkit.evaluate(run, data, executor="processes=1", engine="cypher", store=cast(Store, object()))


def test_records_name_questions_by_their_texts_in_shards(source: Path, tmp_path: Path) -> None:
    """A record that names its question by its text is of that question, in whichever shard it lies."""
    draw = random.Random(3)
    questions, answers = (list(map(json.loads, lines)) for lines in lines_of(source))
    asked = [json.dumps({**one, "question": f"What calls {one['id']}?"}) for one in questions]
    named = [json.dumps({"question": f"what CALLS {one.pop('question_id')}?", **one}) for one in answers]
    whole = dataset_of(tmp_path / "whole", source, [asked], [named])
    expected = graphkit.evaluate(run_in(whole), whole, measures=MEASURES)
    assert expected.missing < len(questions) / 2
    dataset = dataset_of(tmp_path / "cut", source, cut(draw, asked, 3), cut(draw, draw.sample(named, len(named)), 2))
    assert in_shards(dataset, tmp_path / "results", outcomes=False).measures == expected.measures


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


def test_of_two_records_in_different_shards_the_first_counts(source: Path, tmp_path: Path) -> None:
    """The last question has a record in the first shard of the run and one beside it: the first one counts, and the
    other is named.
    """
    questions, answers = lines_of(source)
    name = json.loads(questions[-1])["id"]
    first = json.dumps({"run": RUN, "question_id": name, "error": "it gave up"})
    second = json.dumps({"run": RUN, "question_id": name, "answer": "here"})
    others = [line for line in answers if json.loads(line)["question_id"] != name]
    parts = [questions[:30], questions[30:]], [[first, *others[:25]], [*others[25:], second]]
    found = Problems("skip")
    result = in_shards(dataset_of(tmp_path / "parted", source, *parts), tmp_path / "out", found)
    assert result.question(name).failure == "failed: it gave up"
    assert told(found) == [(name, "the question already has a record")]


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


def test_answers_to_a_refused_question(source: Path, tmp_path: Path) -> None:
    """The answer to a question with a mistake says so, in whole files and in shards, wherever the question lies."""
    questions, answers = lines_of(source)
    name = json.loads(questions[-1])["id"]
    questions[-1] = json.dumps({**json.loads(questions[-1]), "question": 7})
    answers.insert(
        0, answers.pop(next(at for at, line in enumerate(answers) if json.loads(line)["question_id"] == name))
    )
    whole = dataset_of(tmp_path / "whole", source, [questions], [answers])
    parted = dataset_of(tmp_path / "parted", source, [questions[:30], questions[30:]], [answers[:25], answers[25:]])
    expected, found = Problems("skip"), Problems("skip")
    graphkit.evaluate(run_in(whole), whole, measures=MEASURES, problems=expected)
    in_shards(parted, tmp_path / "out", found)
    assert told(expected) == told(found)
    assert (name, "its question can't be used") in told(found)
    assert len(found.skipped) == 2


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


@pytest.mark.parametrize(
    ("field", "value"),
    [("parts", None), ("parts", [{"name": "../part-0.parquet", "digest": ""}]), ("format", "1"), ("measures", [{}])],
)
def test_a_damaged_manifest_is_refused(source: Path, tmp_path: Path, field: str, value: object) -> None:
    """A manifest without a field, with one of another kind, or with a file elsewhere is an error that names it."""
    in_shards(source, tmp_path / "out", measures=["RR"])
    file = tmp_path / "out" / "manifest.json"
    manifest = {**json.loads(file.read_text()), field: value}
    file.write_text(json.dumps({name: one for name, one in manifest.items() if one is not None}))
    with pytest.raises(InputError, match="no manifest of results") as refused:
        graphkit.read_results(tmp_path / "out")
    assert refused.value.where == str(file)


class _Planted:
    """An object that writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.file, "ran")


def test_a_planted_context_is_not_unpickled(tmp_path: Path) -> None:
    """A file in the folder of parts whose bytes aren't those of its name is refused, and nothing in it runs."""
    file = tmp_path / shard_scoring.context_name(b"what the task's own process wrote")
    file.write_bytes(pickle.dumps(_Planted(tmp_path / "mark")))
    with pytest.raises(InputError, match="isn't the one that was written for this task"):
        shard_scoring.context_in(Location.of(file))
    assert not (tmp_path / "mark").exists()


def test_a_folder_of_others_is_not_written(source: Path, tmp_path: Path) -> None:
    """A folder that holds another file is refused before anything is read, and stays as it is."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds another file, notes\.txt"):
        in_shards(source, tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


@pytest.mark.slow("a worker is killed")
def test_a_killed_worker_changes_nothing(source: Path, tmp_path: Path) -> None:
    """A worker that is killed with -9 on the way changes no byte of the results, which are those of this process."""
    dataset, mark = in_six_shards(source, tmp_path), tmp_path / "mark"
    killing = KillsOnce(json.loads(lines_of(source)[0][40])["id"], str(mark))
    options: dict[str, Any] = {"measures": [*MEASURES, killing]}
    in_shards(dataset, tmp_path / "spread", executor="processes=2", **options)
    assert mark.exists()
    in_shards(dataset, tmp_path / "alone", **options)
    assert contents(tmp_path / "spread") == contents(tmp_path / "alone")


@pytest.mark.slow("a command with workers is killed, and starts again")
def test_a_killed_command_goes_on(source: Path, tmp_path: Path) -> None:
    """After the command itself was killed with -9, finished parts aren't scored again, and the results are the same."""
    dataset, seen = in_six_shards(source, tmp_path), tmp_path / "seen"
    seen.mkdir()
    script = (
        "import sys, graphkit\n"
        "from tests.scoring.shard_measures import Slow\n"
        "if __name__ == '__main__':\n"
        "    run, dataset, out, seen = sys.argv[1:]\n"
        "    graphkit.evaluate(run, dataset, measures=[Slow(seen)], outcomes=True, executor='processes=1', out=out)\n"
    )
    (tmp_path / "driver.py").write_text(script)
    arguments = [str(run_in(dataset)), str(dataset), str(tmp_path / "out"), str(seen)]
    command = [sys.executable, str(tmp_path / "driver.py"), *arguments]
    parts = tmp_path / ".out.parts"
    path = f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as driver:
        assert wait_until(lambda: len([*parts.glob("*.part")]) > 1, 120)
        os.kill(driver.pid, signal.SIGKILL)
    assert not (tmp_path / "out" / "manifest.json").exists()
    finished = {name for part in parts.glob("*.part") for name in questions_in(part)}
    assert finished
    before = {name: (seen / name).read_text() for name in finished}
    in_shards(dataset, tmp_path / "out", measures=[Slow(str(seen))])
    # At most one x more: a second pass joins records of other shards. A first pass done again would add another.
    assert max(len((seen / name).read_text()) - len(before[name]) for name in finished) <= 1
    in_shards(dataset, tmp_path / "again", measures=[Slow(str(seen))])
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


def questions_in(part: Path) -> list[str]:
    """Return the questions of a part."""
    names: list[str] = unpacked_table(ShardPart.read(part).rows).column("id").to_pylist()
    return names


def test_many_questions_are_counted_instead_of_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that is too large for its rows has the same means, groups and numbers of outcomes without them."""
    small = in_shards(source, tmp_path / "small")
    monkeypatch.setattr(evaluate_shards, "ROWS", 10)
    large = in_shards(source, tmp_path / "large")
    assert large.rows == ()
    both = large.as_json(), small.as_json()
    assert without_intervals(both[0]) == without_intervals(both[1])
    # The interval of a large result is by the variance alone; that of the small one is the wider of it and BCa.
    for name, one in both[1]["measures"].items():
        if one["interval"] is not None and one["strict"] is None:
            low, high = both[0]["measures"][name]["interval"]
            assert one["interval"][0] <= low + 1e-9
            assert high - 1e-9 <= one["interval"][1]
    assert large.groups_as_json() == small.groups_as_json()
    counts, named = large.outcomes_as_json(), small.outcomes_as_json()
    assert counts["stages"] == named["stages"]
    assert counts["two_by_two"] == {name: len(cell) for name, cell in named["two_by_two"].items()}


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
@examples(50)
def test_order_on_disk(numbers: list[float]) -> None:
    """The number at each place is that of the sorted list."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "numbers")
        file.write_bytes(array("d", numbers).tobytes())
        assert at_places(file, *range(len(numbers))) == sorted(numbers)


def test_folders_are_compared(source: Path, tmp_path: Path) -> None:
    """Two results folders compare as their runs do."""
    folders = [tmp_path / "a", tmp_path / "b"]
    runs = sorted((source / "runs").glob("*.jsonl"))[:2]
    for run, folder in zip(runs, folders, strict=True):
        graphkit.evaluate(run, source, measures=MEASURES, out=folder)
    compared = ComparisonPlan(str(folders[0]), str(folders[1]), pairing={"resamples": 200}).compared(Problems())
    expected = compare_files(runs[0], runs[1], measures=MEASURES, problems=Problems(), resamples=200)
    assert compared.groups == expected.groups
    assert compared.with_failed == expected.with_failed
    assert [one.question for one in compared.movers] == [one.question for one in expected.movers]
