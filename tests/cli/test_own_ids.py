"""Runs written for graphkit with names of the system's own: the advice names a command, and the command works."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.imports.importer import import_log
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.suites import one_fast

#: A chain of ten calls, by the ids of the dataset and by the names of the system.
IDS = [f"web:src/m{number}.py#f{number}" for number in range(11)]
NAMES = [f"pkg.m{number}.f{number}" for number in range(11)]
TABLE = [{"name": name, "id": given} for name, given in zip(NAMES, IDS, strict=True)]
PATTERN = r"pkg\.(?P<module>\w+)\.(?P<name>\w+) => web:src/{module}.py#{name}"


def chain(nodes: list[str]) -> list[dict[str, Any]]:
    """Return the steps from each node to the next."""
    return [
        {"source": source, "relation": "CALLS", "target": target}
        for source, target in zip(nodes, nodes[1:], strict=False)
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run that found the whole chain of one question, by the names of the system."""
    folder = tmp_path / "my data"
    question = {"id": "q1", "question": "?", "paths": [{"steps": chain(IDS)}], "relevant": dict.fromkeys(IDS, 1)}
    write_jsonl(folder / "questions.jsonl", [question])
    write_jsonl(folder / "edges.jsonl", chain(IDS))
    record = {
        "run": "mine",
        "question_id": "q1",
        "retrieved": [{"id": name, "score": 0.5, "text": name} for name in NAMES],
        "traversal": chain(NAMES),
        "answer": "Yes.",
        "citations": [NAMES[0]],
        "evidence_files": ["web/src/m0.py"],
        "latency_ms": 12.5,
        "tool_calls": [{"name": "read", "arguments": {"id": NAMES[0]}, "seen": [NAMES[0]]}],
    }
    return write_jsonl(folder / "runs" / "mine.jsonl", [record])


MEASURES = ("-m", "EdgeRecall", "-m", "nDCG@10", "--no-store", "--json")


def means(text: dict[str, Any]) -> list[float]:
    """Return the two means."""
    return [text["measures"][name]["mean"] for name in ("EdgeRecall", "nDCG@10")]


def test_the_advice_is_a_command_that_works(run: Path, tmp_path: Path) -> None:
    """No id is known, so both means are 0; the printed line and the printed command make 1 of them."""
    done = inside("evaluate", run, *MEASURES, cwd=tmp_path, code=0)
    assert means(done.object()) == [0.0, 0.0]
    (found,) = re.findall(r"write lines such as (\{.*\}) to ids\.jsonl and run `(graphkit [^`]*)`", done.err)
    assert json.loads(found[0])["name"] == NAMES[0]
    write_jsonl(tmp_path / "ids.jsonl", TABLE)
    _, *words = shlex.split(found[1])
    done = inside(*words, *MEASURES, cwd=tmp_path, code=0)
    result = done.object()
    assert (result["run"], means(result)) == ("mine", [1.0, 1.0])
    assert "11 of 11 ids are known" in done.err


@pytest.mark.parametrize("reading", [(), ("--format", "graphkit"), ("--map", "answer=answer")])
@one_fast("how", [(), ("--on", "processes=1"), ("--out", "results")], "each command reads a log in each way", 0)
def test_the_command_of_results_reads_the_log_itself(
    reading: tuple[str, ...], how: tuple[str, ...], run: Path, tmp_path: Path
) -> None:
    """The command in results names the user's log and how it is read, and no temporary copy, whoever computes them; it
    makes 1 of the means.
    """
    if how:
        pytest.importorskip("pyarrow")
    write_jsonl(tmp_path / "ids.jsonl", TABLE)
    options = (*reading, "--dataset", "my data")
    known = inside("evaluate", run, *options, *how, *MEASURES, cwd=tmp_path, code=0).object()["known"]
    (command,) = re.findall(r"run `(graphkit [^`]*)`", known["meaning"])
    _, *words = shlex.split(command)
    assert words == ["evaluate", str(run), *reading, "--dataset", "my data", "--ids", "ids.jsonl"]
    assert means(inside(*words, *MEASURES, cwd=tmp_path, code=0).object()) == [1.0, 1.0]


@pytest.mark.parametrize("option", ["--ids", "--id-pattern"])
@pytest.mark.parametrize("read_as", ["graphkit", "auto"])
def test_an_import_of_own_records(option: str, read_as: str, run: Path, tmp_path: Path) -> None:
    """The import looks ids up wherever they stand in a record, and keeps all else."""
    write_jsonl(tmp_path / "ids.jsonl", TABLE)
    given = "ids.jsonl" if option == "--ids" else PATTERN
    out = run.parent / "ids.jsonl"
    words = ("import", read_as, run, "--dataset", run.parent.parent, option, given, "-o", out)
    inside(*words, cwd=tmp_path, code=0)
    before, (after,) = read_jsonl(run)[0], read_jsonl(out)
    assert [chunk["id"] for chunk in after["retrieved"]] == IDS
    assert [step["target"] for step in after["traversal"]] == IDS[1:]
    assert (after["run"], after["citations"], after["tool_calls"][0]["seen"]) == ("ids", [IDS[0]], [IDS[0]])
    for name in ("answer", "evidence_files", "latency_ms"):
        assert after[name] == before[name]
    assert after["retrieved"][0] == {"id": IDS[0], "score": 0.5, "text": NAMES[0]}
    assert means(inside("evaluate", out, *MEASURES, cwd=tmp_path, code=0).object()) == [1.0, 1.0]


def test_evaluate_by_a_pattern(run: Path, tmp_path: Path) -> None:
    """`evaluate` takes a pattern for a run of graphkit's own, beside which the dataset is found."""
    done = inside("evaluate", run, "--id-pattern", PATTERN, *MEASURES, cwd=tmp_path, code=0)
    assert means(done.object()) == [1.0, 1.0]
    other = inside("evaluate", run, "--question-key", "x", *MEASURES, cwd=tmp_path, code=2)
    assert "--question-key is for logs of other tools" in other.err


def test_runs_of_several_datasets(run: Path, tmp_path: Path) -> None:
    """A table of ids can't be looked up for runs in two datasets."""
    second = tmp_path / "other" / "runs" / "second.jsonl"
    write_jsonl(tmp_path / "other" / "questions.jsonl", [{"id": "q1", "question": "?"}])
    write_jsonl(second, [{"run": "second", "question_id": "q1", "retrieved": []}])
    write_jsonl(tmp_path / "ids.jsonl", TABLE)
    done = inside("evaluate", run, second, "--ids", "ids.jsonl", *MEASURES, cwd=tmp_path, code=2)
    assert "the runs lie in several datasets" in done.err


def test_a_record_that_cannot_be_used(run: Path, tmp_path: Path) -> None:
    """A mistake in a record is reported with its line, and nothing is written."""
    run.write_text('{"run": "mine", "question_id": "q1", "retrieved": 5}\n', "utf-8")
    words = ("import", "graphkit", run, "--dataset", run.parent.parent, "--ids", "ids.jsonl", "-o", "out.jsonl")
    write_jsonl(tmp_path / "ids.jsonl", TABLE)
    done = inside(*words, cwd=tmp_path, code=2)
    assert "mine.jsonl:1" in done.err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("executor", [None, "processes=1"])
def test_records_in_memory_are_written_first(executor: str | None, run: Path) -> None:
    """The command for records in memory names a file to write, and not the temporary one, which is gone."""
    if executor:
        pytest.importorskip("pyarrow")
    known = graphkit.evaluate(read_jsonl(run), run.parent.parent, executor=executor).known
    assert known is not None
    assert "run `graphkit evaluate RUN.jsonl --dataset " in str(known.meaning)


def test_from_python(run: Path) -> None:
    """Unlogged fields stay unlogged, and lists of three texts are taken for what they are in the whole file."""
    record = {"run": "mine", "question_id": "q1", "traversal": [[NAMES[0], "CALLS", NAMES[1]]]}
    write_jsonl(run, [record])
    made = import_log(run, "graphkit", run.parent.parent, ids={one["name"]: one["id"] for one in TABLE})
    assert made.figures["edges"]["forward"] == 1
    assert "retrieved" not in made.records[0]
    assert made.records[0]["traversal"][0]["source"] == IDS[0]
