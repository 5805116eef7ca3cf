"""The Python engine gives the same result on any number of processes, and for lines in any order."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.files import jsonl
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.measures.registry import resolve_measures
from graphkit.scoring import batches
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.scorer import Job
from tests.helpers.datasets import generate, read_jsonl, write_jsonl
from tests.helpers.properties import examples
from tests.helpers.suites import one_fast

MEASURED = resolve_measures(["EdgeRecall", "PathPrefix", "Coherence", "nDCG@10", "P", "OffPin"])


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A generated dataset that takes many batches, with a run in the order of its questions."""
    monkeypatch.setattr(batches, "SIZE", 16)
    folder = generate(tmp_path, 5, questions=100)
    answers = sorted(read_jsonl(folder / "runs" / "gen5-a.jsonl"), key=lambda one: str(one["question_id"]))
    write_jsonl(folder / "runs" / "gen5-a.jsonl", answers)
    return folder


def scored(
    dataset: Path, name: str = "gen5-a.jsonl", workers: int = 1, problems: Problems | None = None
) -> tuple[Evaluation, dict[str, Row]]:
    """Score a run, and return the result with the rows of the questions, each of which must come once."""
    file = Dataset(dataset)
    commits = file.commit_graph(Problems())
    invalid = {min(str(one["id"]) for one in read_jsonl(file.questions_file)): "stale"}
    job = Job(file.questions_file, dataset / "runs" / name, MEASURED, commits, invalid, keep_rows=True, outcomes=True)
    result = score_file(job, problems=problems, workers=workers)
    by_question = {row.question: row for row in result.rows}
    assert len(by_question) == len(result.rows)
    return result, by_question


def assert_same(one: tuple[Evaluation, dict[str, Row]], two: tuple[Evaluation, dict[str, Row]]) -> None:
    """Check that two results are alike: each question and each mean exactly, whatever the batches and their order."""
    assert one[1] == two[1]
    first, second = one[0], two[0]
    assert (first.questions, first.failed, first.missing) == (second.questions, second.failed, second.missing)
    assert first.efficiency == second.efficiency
    for name, summary in first.measures.items():
        assert second.measures[name] == summary


def test_two_processes_give_the_result_of_one(dataset: Path) -> None:
    """Batches that travel to other processes score as here."""
    alone = scored(dataset)
    assert len(alone[1]) == 100
    assert_same(alone, scored(dataset, workers=2))


def test_two_processes_read_compressed_files(dataset: Path) -> None:
    """A file that can't be sought into is scored by several processes all the same."""
    file = dataset / "runs" / "gen5-a.jsonl"
    (dataset / "runs" / "packed.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert_same(scored(dataset), scored(dataset, "packed.jsonl.gz", workers=2))


@one_fast("workers", [1, 2], "one process scores as well", 1)
def test_order_of_the_lines_does_not_matter(dataset: Path, workers: int) -> None:
    """Records that meet their question in another batch, or at the very end, score as in lockstep."""
    records = read_jsonl(dataset / "runs" / "gen5-a.jsonl")
    write_jsonl(dataset / "runs" / "backwards.jsonl", reversed(records))
    write_jsonl(dataset / "runs" / "shuffled.jsonl", random.Random(1).sample(records, len(records)))
    alone = scored(dataset)
    for name in ("backwards.jsonl", "shuffled.jsonl"):
        assert_same(alone, scored(dataset, name, workers=workers))


def test_order_of_the_questions_does_not_matter(dataset: Path) -> None:
    """The same holds for the other file."""
    alone = scored(dataset)
    questions = read_jsonl(dataset / "questions.jsonl")
    write_jsonl(dataset / "questions.jsonl", random.Random(2).sample(questions, len(questions)))
    assert_same(alone, scored(dataset, workers=2))


@pytest.mark.parametrize("workers", [1, 2])
@one_fast(
    ("answer_distance", "question_distance"),
    [(1, 1), (60, 1), (1, 60), (60, 60)],
    "two processes score for each distance",
    3,
)
def test_repeats_and_strangers_are_reported(
    dataset: Path, workers: int, answer_distance: int, question_distance: int
) -> None:
    """A second record, a second question and a record of no question are each reported once; the first ones count."""
    expected = scored(dataset)
    answers = read_jsonl(dataset / "runs" / "gen5-a.jsonl")
    questions = read_jsonl(dataset / "questions.jsonl")
    answers.insert(3 + answer_distance, {**answers[3], "retrieved": [], "traversal": []})
    answers.insert(50, {"run": "gen5-a", "question_id": "stranger"})
    questions.insert(30 + question_distance, {**questions[30], "paths": [], "relevant": {}})
    write_jsonl(dataset / "runs" / "gen5-a.jsonl", answers)
    write_jsonl(dataset / "questions.jsonl", questions)
    problems = Problems("skip")
    assert_same(expected, scored(dataset, workers=workers, problems=problems))
    reported = sorted((Path(one.where.rpartition(":")[0]).name, one.record) for one in problems.skipped)
    assert reported == [
        ("gen5-a.jsonl", answers[3]["question_id"]),
        ("gen5-a.jsonl", "stranger"),
        ("questions.jsonl", questions[30]["id"]),
    ]
    with pytest.raises(InputError, match=r"3 records can't be used"):
        scored(dataset, workers=workers, problems=Problems("fail"))


@one_fast("workers", [1, 2], "one process scores as well", 1)
def test_unknown_fields_are_summed_over_all_batches(dataset: Path, workers: int) -> None:
    """Each record with an unknown field counts once, in whichever process and however often its line is read.

    The records stand backwards, so that most wait for their questions and are read a second time. Every record has
    ``colour``, and every tenth, from the first, a chunk with ``page``: of n records n / 10, rounded up.
    """
    records = [
        {**record, "colour": "red", **({"retrieved": [{"id": "c", "page": 1}]} if number % 10 == 0 else {})}
        for number, record in enumerate(reversed(read_jsonl(dataset / "runs" / "gen5-a.jsonl")))
    ]
    file = dataset / "runs" / "coloured.jsonl"
    write_jsonl(file, records)
    problems = Problems()
    scored(dataset, file.name, workers=workers, problems=problems)
    of_run = {name: count for (path, name), count in problems.ignored_fields.items() if path == str(file)}
    assert of_run == {"colour": len(records), "retrieved.page": (len(records) + 9) // 10}
    assert {first.where for first in problems.first_ignored.values()} == {f"{file}:1"}


@one_fast("workers", [1, 2], "one process scores as well", 1)
def test_question_and_record_that_both_come_twice(dataset: Path, workers: int) -> None:
    """Far apart the second pair would be scored before it is known to be one: refused, not counted twice."""
    answers = read_jsonl(dataset / "runs" / "gen5-a.jsonl")
    questions = read_jsonl(dataset / "questions.jsonl")
    name = answers[0]["question_id"]
    asked = next(one for one in questions if one["id"] == name)
    rest = [one for one in questions if one["id"] != name]
    write_jsonl(dataset / "questions.jsonl", [asked, *rest, asked])
    write_jsonl(dataset / "runs" / "gen5-a.jsonl", [*answers, answers[0]])
    with pytest.raises(InputError, match=r"1 question repeated, with a record for each"):
        scored(dataset, workers=workers, problems=Problems("skip"))
    with pytest.raises(InputError, match=str(name)):
        scored(dataset, workers=workers, problems=Problems("fail"))


def lines_or_refusal(pieces: Iterator[list[bytes]]) -> list[list[bytes]] | str:
    """Return the lines of a file, some at a time, or the message that refuses it."""
    try:
        return list(pieces)
    except InputError as error:
        return str(error)


@examples(300)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.sampled_from([b"", b"\n", b"\n\n"]),
    st.booleans(),
    st.sampled_from([3, 4, 7, 64]),
    st.integers(0, 5),
    st.integers(1, 5),
)
def test_spans_are_the_lines(lengths: list[int], end: bytes, marked: bool, block: int, more: int, count: int) -> None:
    """The spans of a file cover the lines that are read from it, however blocks cut them, and refuse what these do."""
    data = (jsonl.BOM if marked else b"") + b"\n".join(b"x" * length for length in lengths) + end

    def spans() -> Iterator[list[bytes]]:
        for offset, length, lines in jsonl.line_spans(path, count):
            assert data[offset : offset + length].count(b"\n") == lines - 1
            yield data[offset : offset + length].split(b"\n")

    def read() -> Iterator[list[bytes]]:
        lines = jsonl.raw_lines(path)
        while some := list(islice(lines, count)):
            yield some

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "lines.jsonl"
        path.write_bytes(data)
        patch.setattr(jsonl, "_BLOCK", block)
        patch.setattr(jsonl, "MAX_LINE", block + more)
        assert lines_or_refusal(spans()) == lines_or_refusal(read())
