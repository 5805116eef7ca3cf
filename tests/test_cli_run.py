"""``graphkit run`` as a process: systems that behave and that don't, stops and resumption, samples and conditions."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.api import Api, Reply, message, refusal, served
from tests.cli import COMMAND, QUESTIONS, ROOT, Done, Graph, Row, environment, graphkit, inside, tiny, write_lines
from tests.datasets import STOREFRONT, read_jsonl

SYSTEMS = """
import asyncio, dataclasses, os, sys, time
from pathlib import Path

def plain(question):
    return f"about {question.question}"

def full(question, context):
    context.used(prompt_tokens=100, output_tokens=10, cost=0.25)
    return {
        "answer": f"{question.id} {context.run} {context.k} {sorted(context.commits.items())}",
        "chunks": [{"id": "a:m.py#x", "score": 0.5}, "b:n.py#z"],
        "traversal": [["a:m.py#x", "CALLS", "a:m.py#y"]],
        "run": "another", "question_id": "another",
    }

async def later(question):
    await asyncio.sleep(0)
    return {"answer": "later", "latency_ms": 7.5, "model_calls": 3, "prompt_tokens": 5, "output_tokens": 1, "cost": 2}

@dataclasses.dataclass
class Found:
    answer: str
    retrieved: list

def typed(question):
    return Found("typed", ["a:m.py#x"])

def mapped(question):
    assert "id" in question and "ident" not in question and question.get("ident", 3) == 3
    return f"{question['id']} asks {question['question']} of {question.get('category')}"

def misnamed(question):
    return question["ident"]

def miscounting(question, context):
    figures = {"q1": {"cost": float("nan")}, "q2": {"prompt_tokens": 1.5}, "q3": {"output_tokens": 2**63}}
    context.used(**figures[question.id])
    return "fine"

def seen(question):
    return repr(question)

def printing(question):
    print("noise on standard output")
    return "quiet"

def raising(question):
    if question.id == "q1":
        raise KeyError("no index\\nfor this")
    return "fine"

def always(question):
    raise ValueError("broken as a whole")

def leaving(question):
    sys.exit(3)

def hanging(question):
    if question.id == "q1":
        time.sleep(3600)
    return "fine"

async def hanging_async(question):
    if question.id == "q1":
        await asyncio.sleep(3600)
    return "fine"

async def blocking(question):
    if question.id == "q1":
        time.sleep(3600)
    return "fine"

def wrong(question):
    return 42

def nothing(question):
    return None

def lone(question):
    return "half \\ud800"

def no_number(question):
    return {"answer": "x", "cost": float("nan")}

def million(question):
    return {"answer": "x", "retrieved": [f"c{number}" for number in range(1_000_000)]}

def long(question):
    return "x" * (20 << 20)

def flaky(question):
    seen = Path(os.environ["COUNTS"], question.id)
    tries = int(seen.read_text()) if seen.exists() else 0
    seen.write_text(str(tries + 1))
    if tries < 2:
        raise ConnectionError("not yet")
    return "at last"

def counted(question):
    with open(Path(os.environ["COUNTS"], "asked"), "a") as stream:
        stream.write(question.id + "\\n")
    if question.id in os.environ.get("BREAK", "").split(","):
        raise ValueError("broken")
    return "answer of " + question.id

def waiting(question):
    counted(question)
    if question.id == os.environ.get("WAIT_AT"):
        Path(os.environ["COUNTS"], "waiting").touch()
        time.sleep(3600)
    return "answer of " + question.id

def large(question):
    return question.id + "x" * 3000

class Kind:
    pass

value = 3
"""

#: What makes a system of one parameter wait at its fourth question, the first time.
WAITS_ONCE = """
import pathlib, time
plain, asked, marker = answer, [], pathlib.Path("waiting")

def answer(question):
    asked.append(question.id)
    if len(asked) == 4 and not marker.exists():
        marker.touch()
        time.sleep(3600)
    return plain(question)
"""

#: Ten questions: four easy, four medium, two hard.
TEN = tuple(
    {"id": f"t{number}", "question": f"Number {number}?", "gold_answer": "g", "difficulty": difficulty}
    for number, difficulty in enumerate(["easy"] * 4 + ["medium"] * 4 + ["hard"] * 2)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the module of the systems, and the tiny dataset beside it without a run."""
    (tmp_path / "systems.py").write_text(SYSTEMS)
    tiny(tmp_path / "data").unlink()
    return tmp_path


def run(folder: Path, *arguments: object, env: Mapping[str, str] | None = None, code: int | None = 0) -> Done:
    """Run systems over the dataset of the folder."""
    return graphkit("run", "data", *arguments, cwd=folder, env={"COUNTS": str(folder), **(env or {})}, code=code)


def records(folder: Path, name: str) -> dict[str, Row]:
    """Return the records of a run by question."""
    found = read_jsonl(folder / "data" / "runs" / f"{name}.jsonl")
    by_question = {record["question_id"]: record for record in found}
    assert len(by_question) == len(found)
    return by_question


def asked(folder: Path) -> list[str]:
    """Return which questions a counting system was asked, sorted."""
    return sorted((folder / "asked").read_text().split())


# What systems return ------------------------------------------------------------------------------------------------


def test_text_is_an_answer(folder: Path) -> None:
    """A system that returns text gets a record a question, in their order, with the time that was measured."""
    done = run(folder, "--system", "systems:plain", "--json")
    found = records(folder, "plain")
    assert list(found) == ["q1", "q2"]
    assert found["q1"]["answer"] == "about Who calls z?"
    assert all(record["latency_ms"] >= 0 for record in found.values())
    summary = done.object()
    assert (summary["run"], summary["answered"], summary["failed"], summary["missing"]) == ("plain", 2, 0, 0)
    assert summary["cost"] == {"so_far": None, "projected": None, "projected_dataset": None}


def test_answer_with_chunks_and_traversal(folder: Path) -> None:
    """Chunks and traversal are kept in the native spelling; run and question are the runner's, k and commits told."""
    write_lines(
        folder / "data" / "questions.jsonl",
        [{**QUESTIONS[0], "stack": "s", "commits": {"a": "2"}, "k": 3}, QUESTIONS[1]],
    )
    write_lines(folder / "data" / "compatibility.jsonl", [{"id": "s", "commits": {"a": "1", "b": "1"}}])
    run(folder, "--system", "mine=systems:full", "--k", 7)
    found = records(folder, "mine")
    assert found["q1"] == {
        "run": "mine",
        "question_id": "q1",
        "retrieved": [{"id": "a:m.py#x", "score": 0.5}, {"id": "b:n.py#z"}],
        "traversal": [{"source": "a:m.py#x", "target": "a:m.py#y", "relation": "CALLS", "position": 0}],
        "answer": "q1 mine 3 [('a', '2'), ('b', '1')]",
        "latency_ms": found["q1"]["latency_ms"],
        "model_calls": 1,
        "prompt_tokens": 100,
        "output_tokens": 10,
        "cost": 0.25,
    }
    assert found["q2"]["answer"] == "q2 mine 7 []"


def test_run_can_be_evaluated(folder: Path) -> None:
    """What a run wrote is what evaluate reads: one of q1's two gold edges was walked, and none of q2's."""
    run(folder, "--system", "systems:full")
    file = folder / "data" / "runs" / "full.jsonl"
    done = graphkit("evaluate", "--no-store", "--json", "-m", "EdgeRecall", file, cwd=folder, code=0)
    assert done.object()["measures"] == {
        "EdgeRecall": {"mean": 0.25, "scored": 2, "total": 2, "lowest": 0.25, "highest": 0.25}
    }


def test_what_a_system_gives_is_kept(folder: Path) -> None:
    """An async system's own figures replace the measured ones, and are summarised."""
    done = run(folder, "--system", "systems:later", "--json")
    assert records(folder, "later")["q2"]["latency_ms"] == 7.5
    # Two records of latency 7.5, 3 calls, 5 and 1 tokens, cost 2.
    figures = done.object()["efficiency"]
    assert figures["latency_ms"] == {"mean": 7.5, "median": 7.5, "p95": 7.5, "total": 15.0, "known": 2}
    assert [figures[name]["total"] for name in ("model_calls", "prompt_tokens", "output_tokens", "cost")] == [
        6,
        10,
        2,
        4,
    ]


def test_dataclass_is_an_answer(folder: Path) -> None:
    """A dataclass with the fields of an answer is one."""
    run(folder, "--system", "systems:typed")
    assert records(folder, "typed")["q1"]["retrieved"] == [{"id": "a:m.py#x"}]


def test_question_is_read_like_a_mapping(folder: Path) -> None:
    """A system may write question["id"]; for what is no field it is told which fields there are."""
    run(folder, "--system", "systems:mapped")
    assert records(folder, "mapped")["q1"]["answer"] == "q1 asks Who calls z? of None"
    done = run(folder, "--system", "systems:misnamed", code=2)
    assert "KeyError: \"no field is called 'ident'; there are: id, question, category" in done.err


def test_figures_that_no_record_holds(folder: Path) -> None:
    """What is counted and can't be kept fails its question with the reason, and the run can be evaluated."""
    write_lines(folder / "data" / "questions.jsonl", [{"id": f"q{number}", "question": "?"} for number in (1, 2, 3)])
    run(folder, "--system", "systems:miscounting", code=2)
    found = records(folder, "miscounting")
    assert [found[name]["error"] for name in ("q1", "q2", "q3")] == [
        "cost must be a finite number of at least 0, not nan",
        "prompt_tokens must be a whole number, not 1.5",
        "output_tokens must be at least 0, and of 64 bits at most in all",
    ]
    graphkit("evaluate", "--no-store", folder / "data" / "runs" / "miscounting.jsonl", cwd=folder, code=0)


def test_system_sees_no_gold(folder: Path) -> None:
    """Nothing of the gold annotation is in the question that a system gets."""
    question = {**QUESTIONS[0], "gold_answer": "SECRET1", "expected_output": "SECRET2", "facts": ["SECRET3"]}
    write_lines(folder / "data" / "questions.jsonl", [question])
    run(folder, "--system", "systems:seen")
    answer = records(folder, "seen")["q1"]["answer"]
    assert "Who calls z?" in answer
    assert "SECRET" not in answer
    assert "m.py" not in answer


def test_printing_system_does_not_spoil_json(folder: Path) -> None:
    """What a system prints goes to standard error."""
    done = run(folder, "--system", "systems:printing", "--json")
    assert done.object()["answered"] == 2
    assert "noise on standard output" in done.err


def test_several_systems(folder: Path) -> None:
    """Each system has a file of its own, and the table tells them apart."""
    done = run(folder, "--system", "systems:plain", "--system", "two=systems:plain", "--out", "elsewhere")
    assert sorted(path.name for path in (folder / "elsewhere").glob("*.jsonl")) == ["plain.jsonl", "two.jsonl"]
    assert "plain: 2 questions, 2 answered, 0 failed, 0 missing" in done.out
    assert "two: 2 questions, 2 answered, 0 failed, 0 missing" in done.out


# Systems that misbehave ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "kind", "error"),
    [
        ("raising", "KeyError", r"'no index\nfor this'"),
        ("hanging", "TimeoutError", "no answer within 1 s"),
        ("hanging_async", "TimeoutError", "no answer within 1 s"),
    ],
)
def test_failed_question_is_a_record(folder: Path, system: str, kind: str, error: str) -> None:
    """A system that raises or hangs at a question leaves a record with error, type and time; the rest is answered."""
    begun = datetime.now(UTC)
    done = run(folder, "--system", f"systems:{system}", "--timeout", 1, "--json")
    found = records(folder, system)
    assert (found["q1"]["error_type"], found["q1"]["error"]) == (kind, error)
    assert found["q1"]["latency_ms"] >= 0
    failed_at = datetime.fromisoformat(found["q1"]["failed_at"])
    assert begun <= failed_at + timedelta(milliseconds=1)
    assert failed_at <= datetime.now(UTC)
    assert failed_at.utcoffset() == timedelta(0)
    assert found["q2"]["answer"] == "fine"
    assert "failed_at" not in found["q2"]
    summary = done.object()
    assert (summary["answered"], summary["failed"], summary["errors"]) == (1, 1, {kind: 1})
    # The figures of the one that was answered: the time of the failed one is in the total only.
    assert summary["efficiency"]["latency_ms"]["known"] == 1


def test_async_system_that_blocks(folder: Path) -> None:
    """An async system that blocks its event loop is timed out, and its next question gets an answer."""
    run(folder, "--system", "systems:blocking", "--timeout", 1, "--concurrency", 1)
    found = records(folder, "blocking")
    assert found["q1"]["error_type"] == "TimeoutError"
    assert found["q2"]["answer"] == "fine"


@pytest.mark.parametrize(
    ("system", "kind", "error"),
    [
        ("always", "ValueError", "broken as a whole"),
        ("leaving", "SystemExit", "3"),
        ("wrong", "UnusableAnswer", "a value of type int"),
        ("nothing", "UnusableAnswer", "the system returned None"),
        ("lone", "UnusableAnswer", "lone surrogate"),
        ("no_number", "UnusableAnswer", "not JSON compliant"),
        ("million", "UnusableAnswer", "retrieved holds 1000000 items, and a record at most 10000"),
        ("long", "UnusableAnswer", "the answer takes 20 MiB"),
    ],
)
def test_all_failed(folder: Path, system: str, kind: str, error: str) -> None:
    """Where each question failed, the records are kept, the exit code is 2, and the first error is told."""
    done = run(folder, "--system", f"systems:{system}", code=2)
    found = records(folder, system)
    assert {record["error_type"] for record in found.values()} == {kind}
    assert all(error in record["error"] for record in found.values())
    assert len(found) == 2
    assert f"2 failed ({kind}: 2)" in done.out
    assert "every question failed" in done.err


def test_retries(folder: Path) -> None:
    """A question that fails twice is answered with two more tries, and is a failure with one."""
    run(folder, "--system", "systems:flaky", "--retries", 2)
    assert records(folder, "flaky")["q1"]["answer"] == "at last"
    for name in ("q1", "q2"):
        (folder / name).unlink()
    run(folder, "--system", "less=systems:flaky", "--retries", 1, code=2)
    assert records(folder, "less")["q1"]["error"] == "not yet"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("systems:plian", "Did you mean plain?"),
        ("sistems:plain", "Did you mean systems?"),
        ("xq.zw:plain", "there is no module 'xq'\n  Modules are looked for in the working folder"),
        ("systems", "A system is written package.module:callable"),
        ("systems:value", "can't be called: it is of type int"),
        ("systems:Kind", "systems:Kind is a class"),
        ("broken:f", "the module can't be imported: RuntimeError: at import"),
        ("needy:f", "the module needs 'no_such_package', which isn't installed"),
        ("../up=systems:plain", "can't be the name of a run"),
        ("greedy:f", "A system takes (question) or (question, context)."),
    ],
)
def test_system_that_cannot_be_loaded(folder: Path, given: str, told: str) -> None:
    """A system that isn't one is told before any question is asked, with what to do."""
    (folder / "broken.py").write_text("raise RuntimeError('at import')\n")
    (folder / "needy.py").write_text("import no_such_package\n")
    (folder / "greedy.py").write_text("def f(a, b, c): return 'x'\n")
    done = run(folder, "--system", given, code=2)
    assert told in done.err
    assert not (folder / "data" / "runs").exists() or not list((folder / "data" / "runs").iterdir())


def test_two_systems_of_one_name(folder: Path) -> None:
    """Two systems that would write the same run are refused."""
    done = run(folder, "--system", "systems:plain", "--system", "plain=systems:typed", code=2)
    assert "two systems are called 'plain'" in done.err


# Stopped and resumed ------------------------------------------------------------------------------------------------


def test_interrupt_keeps_what_is_done(folder: Path) -> None:
    """Ctrl-C ends the command with 130; run again, it asks only what is left, also after a hanging question."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    env = {"COUNTS": str(folder), "WAIT_AT": "t3"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "run the same command again to go on" in err
    assert "3 answered, 0 failed, 7 missing" in out
    assert list(records(folder, "waiting")) == ["t0", "t1", "t2"]
    done = run(folder, "--system", "systems:waiting")
    assert "3 record(s) are there already, 7 to go" in done.err
    assert list(records(folder, "waiting")) == [question["id"] for question in TEN]
    # t3 was asked twice, for it was not answered at first; everything else once.
    assert asked(folder) == sorted([question["id"] for question in TEN] + ["t3"])


def test_killed_run_goes_on(folder: Path) -> None:
    """A record is in the file as soon as its question is answered, so also a killed run loses nothing of it."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    env = {"COUNTS": str(folder), "WAIT_AT": "t3"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    second = run(folder, "--system", "systems:waiting", code=2)
    process.kill()
    process.communicate(timeout=60)
    assert "another process is writing this run" in second.err
    assert list(records(folder, "waiting")) == ["t0", "t1", "t2"]
    run(folder, "--system", "systems:waiting")
    assert len(records(folder, "waiting")) == 10


def test_cut_last_line(folder: Path) -> None:
    """A file that was cut in its last record is resumed: that record is made anew, the one before is kept."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    run(folder, "--system", "systems:counted")
    file = folder / "data" / "runs" / "counted.jsonl"
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:4]) + whole[4][:20])
    (folder / "asked").unlink()
    done = run(folder, "--system", "systems:counted")
    assert "the last record was cut, and is made anew" in done.err
    assert asked(folder) == ["t4", "t5", "t6", "t7", "t8", "t9"]
    assert file.read_bytes().splitlines(keepends=True)[:4] == whole[:4]
    assert len(records(folder, "counted")) == 10


def test_last_line_without_its_end(folder: Path) -> None:
    """A last record that lacks only the end of its line is whole: it is kept, and the next one is not glued to it."""
    run(folder, "--system", "systems:counted")
    file = folder / "data" / "runs" / "counted.jsonl"
    first = file.read_bytes().splitlines()[0]
    file.write_bytes(first)
    run(folder, "--system", "systems:counted")
    assert file.read_bytes().splitlines()[0] == first
    assert asked(folder) == ["q1", "q2", "q2"]
    assert len(records(folder, "counted")) == 2


def test_damage_in_the_middle(folder: Path) -> None:
    """A broken line that isn't the last is refused with its place, and the file is left as it is."""
    file = write_lines(folder / "data" / "runs" / "plain.jsonl", ["{broken", '{"run": "plain", "question_id": "q1"}'])
    before = file.read_bytes()
    done = run(folder, "--system", "systems:plain", code=2)
    assert "plain.jsonl:1: not valid JSON" in done.err
    assert file.read_bytes() == before


def test_file_of_another_run(folder: Path) -> None:
    """A file that holds another run is neither mixed with nor replaced."""
    file = write_lines(folder / "data" / "runs" / "plain.jsonl", ['{"run": "other", "question_id": "q1"}'])
    before = file.read_bytes()
    assert "holds the run 'other'" in run(folder, "--system", "systems:plain", code=2).err
    assert file.read_bytes() == before


def test_run_of_another_system_is_not_resumed(folder: Path) -> None:
    """A run that another callable, or the baseline with another model, has begun is neither mixed nor replaced."""
    run(folder, "--system", "mine=systems:plain")
    done = run(folder, "--system", "mine=systems:typed", code=2)
    assert "the run was made by systems:plain, not by systems:typed" in done.err
    assert records(folder, "mine")["q1"]["answer"] == "about Who calls z?"
    with served(lambda api, body: message("x")) as api:
        run(folder, "--condition", "training", env=api.env)
        done = run(folder, "--condition", "training", "--model", "another", env=api.env, code=2)
        assert "not by another, prompt" in done.err
        assert len(api.requests) == 2


def test_run_without_an_answer_leaves_no_file(folder: Path) -> None:
    """A command that is stopped before its first answer leaves no empty file, which would be no run."""
    env = {"COUNTS": str(folder), "WAIT_AT": "q1"}
    command = [*COMMAND, "run", "data", "--system", "systems:waiting", "--concurrency", "1"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert list((folder / "data" / "runs").iterdir()) == []


def test_failed_are_retried_on_demand(folder: Path) -> None:
    """What failed stays as it is in the next command, and is asked again with --retry-failed."""
    run(folder, "--system", "systems:counted", env={"BREAK": "q1"})
    run(folder, "--system", "systems:counted")
    assert records(folder, "counted")["q1"]["error"] == "broken"
    assert asked(folder) == ["q1", "q2"]
    run(folder, "--system", "systems:counted", "--retry-failed")
    assert records(folder, "counted")["q1"]["answer"] == "answer of q1"
    assert list(records(folder, "counted")) == ["q1", "q2"]
    assert asked(folder) == ["q1", "q1", "q2"]


def test_disk_fills(folder: Path) -> None:
    """Where a record can't be written the command ends with a sentence; the whole records before it are kept."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    done = graphkit(
        "run",
        "data",
        "--system",
        "systems:large",
        "--concurrency",
        1,
        cwd=folder,
        code=2,
        preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    # A record takes a little more than 3,000 bytes: three fit into 10,000, and a part of the fourth is taken back.
    assert "the record of question 't3' can't be written" in done.err
    assert "The 3 record(s) before it are kept." in done.err
    assert list(records(folder, "large")) == ["t0", "t1", "t2"]
    run(folder, "--system", "systems:large")
    assert list(records(folder, "large")) == [question["id"] for question in TEN]


# Samples ------------------------------------------------------------------------------------------------------------


def test_sample(folder: Path) -> None:
    """A sample of five of 4 easy, 4 medium and 2 hard questions has 2, 2 and 1; its size and spread are shown."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    done = run(folder, "--system", "systems:later", "--sample", 5, "--seed", 3)
    found = list(records(folder, "later"))
    strata = [TEN[int(name[1:])]["difficulty"] for name in found]
    assert [strata.count(name) for name in ("easy", "medium", "hard")] == [2, 2, 1]
    # 1.96 * sqrt(0.25 / 5 * (10 - 5) / (10 - 1)) = 0.3267; each record costs 2.
    assert "sample: 5 of 10 questions (2 easy, 2 medium, 1 hard), seed 3" in done.out
    assert "within 32.7 points" in done.out
    assert "cost 10 so far, projected 10 for these questions, 20 for the whole dataset" in done.out
    again = run(folder, "--system", "other=systems:later", "--sample", 5, "--seed", 3, "--json")
    assert list(records(folder, "other")) == found
    assert again.object()["sample"] == {
        "questions": 5,
        "of": 10,
        "difficulties": {"easy": 2, "medium": 2, "hard": 1},
        "margin": pytest.approx(0.32667, abs=1e-5),
        "seed": 3,
    }


def test_sample_then_the_rest(folder: Path) -> None:
    """A sample is a beginning: without --sample the same command asks only the questions that it left out."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    run(folder, "--system", "systems:counted", "--sample", 4)
    run(folder, "--system", "systems:counted")
    assert asked(folder) == [question["id"] for question in TEN]
    assert list(records(folder, "counted")) == [question["id"] for question in TEN]


# The baseline without retrieval -------------------------------------------------------------------------------------


def test_conditions_on_the_same_questions(folder: Path) -> None:
    """The baseline asks the model each question of the treatment's sample; tokens and cost are summed."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    (folder / "prompt.txt").write_text("Briefly: {question}")
    options = ("--condition", "training", "--condition", "pack=systems:plain", "--sample", 5, "--model", "some-model")
    prices = ("--price-in", 1, "--price-out", 5)
    with served(lambda api, body: message("from training", 1000, 200)) as api:
        done = run(folder, *options, *prices, "--prompt", "prompt.txt", "--json", env=api.env)
    found = records(folder, "training")
    assert list(found) == list(records(folder, "pack"))
    # 1000 tokens at 1 and 200 at 5 a million: 0.002 a question, 0.01 for five, 0.02 for ten.
    assert {record["cost"] for record in found.values()} == {0.002}
    training, pack = done.objects()
    assert training["efficiency"]["prompt_tokens"]["total"] == 5000
    assert training["efficiency"]["model_calls"]["total"] == 5
    assert training["cost"] == pytest.approx({"so_far": 0.01, "projected": 0.01, "projected_dataset": 0.02})
    assert pack["cost"]["so_far"] is None
    assert len(api.requests) == 5
    assert {request["model"] for request in api.requests} == {"some-model"}
    texts = {request["messages"][0]["content"] for request in api.requests}
    assert texts == {f"Briefly: Number {name[1:]}?" for name in found}
    assert all("temperature" not in request for request in api.requests)


def test_baseline_waits_where_it_is_told_to(folder: Path) -> None:
    """Two refusals for the rate and then an answer is an answer."""

    def reply(api: Api, body: dict[str, Any]) -> Reply:
        early = len(api.requests) <= 2
        return refusal(429, "rate_limit_error", "slow down") if early else message("at last")

    with served(reply) as api:
        run(folder, "--condition", "training", "--concurrency", 1, env=api.env)
    assert [record["answer"] for record in records(folder, "training").values()] == ["at last", "at last"]
    assert len(api.requests) == 4


def test_baseline_errors_are_records(folder: Path) -> None:
    """A refusal, no text and a time-out are records with error and type; tokens count where the model took them."""

    def reply(api: Api, body: dict[str, Any]) -> Reply:
        text = body["messages"][0]["content"]
        if "Number 0?" in text:
            return refusal(400, "invalid_request_error", "not like this")
        if "Number 1?" in text:
            return message("", 70, 0)
        if "Number 2?" in text:
            api.released.wait(60)
        return message("fine", 10, 2)

    write_lines(folder / "data" / "questions.jsonl", TEN[:4])
    with served(reply) as api:
        done = run(folder, "--condition", "training", "--timeout", 5, "--json", env=api.env)
    found = records(folder, "training")
    assert [found[name].get("error_type") for name in ("t0", "t1", "t2", "t3")] == [
        "BadRequestError",
        "NoAnswerError",
        "TimeoutError",
        None,
    ]
    assert "not like this" in found["t0"]["error"]
    summary = done.object()
    assert (summary["answered"], summary["failed"]) == (1, 3)
    # 70 of the answer without text, 10 of the other.
    assert summary["efficiency"]["prompt_tokens"]["total"] == 80


def test_baseline_without_credentials(folder: Path) -> None:
    """Without a key the baseline is refused before a question is asked."""
    env = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = run(folder, "--condition", "training", env=env, code=2)
    assert "Set ANTHROPIC_API_KEY." in done.err
    assert not (folder / "data" / "runs" / "training.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "there is nothing to run"),
        (("--system", "systems:plain", "--timeout", "inf"), "--timeout is a number of seconds"),
        (("--condition", "trainig"), "'trainig' is no condition"),
        (("--system", "systems:plain", "--price-in", 1), "--price-in and --price-out are given together"),
        (("--condition", "training", "--prompt", "empty.txt"), "has no place for the question"),
        (("--condition", "training", "--prompt", "absent.txt"), "the prompt can't be read"),
    ],
)
def test_options_that_make_no_sense(folder: Path, options: tuple[object, ...], told: str) -> None:
    """Options that don't fit together are told, and nothing is run."""
    (folder / "empty.txt").write_text("no place")
    assert told in run(folder, *options, env={"ANTHROPIC_API_KEY": "test"}, code=2).err


def test_progress_with_an_estimate(folder: Path) -> None:
    """On a terminal the progress shows how many are done, and how long is left."""
    leader, follower = os.openpty()
    env = environment({"TERM": "xterm", "COUNTS": str(folder)})
    with os.fdopen(leader, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [*COMMAND, "run", "data", "--system", "systems:later"],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=follower,
        )
        os.close(follower)
        shown = b""
        try:
            while block := screen.read(4096):
                shown += block
        except OSError:
            pass  # the process has closed its end
        assert process.communicate(timeout=60)[0]
    assert b"2/2" in shown
    assert b"left" in shown
    assert b"cost 4 of about 4" in shown


def test_progress_in_a_log(folder: Path) -> None:
    """Without a terminal a line on standard error tells at the end of each system what is done, failed and its cost."""
    done = run(folder, "--system", "systems:later", "--system", "systems:raising", "--concurrency", 1, "--json")
    assert "later: 2 of 2 done, cost 4 of about 4\n" in done.err
    assert "raising: 2 of 2 done, 1 failed\n" in done.err
    assert len(done.err.splitlines()) == 2
    assert [one["run"] for one in done.objects()] == ["later", "raising"]


def test_progress_in_a_log_from_time_to_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is due, each system that isn't at its end is told; the projected cost is at the mean cost so far."""
    monkeypatch.setattr("graphkit.cli.run.LINE_EVERY", 0.0)
    write_lines(folder / "data" / "questions.jsonl", TEN[:3])
    monkeypatch.syspath_prepend(str(folder))
    systems = ("--system", "systems:later", "--system", "systems:plain")
    done = inside("run", "data", *systems, "--concurrency", 1, "--json", cwd=folder, code=0)
    # Question by question, each of later costs 2: of three, 6.
    assert done.err.splitlines()[:3] == [
        "later: 1 of 3 done, cost 2 of about 6",
        "plain: 0 of 3 done",
        "later: 1 of 3 done, cost 2 of about 6",
    ]
    assert done.err.splitlines()[-1] == "plain: 3 of 3 done"


def test_readme_walk(tmp_path: Path, graph: Graph) -> None:
    """A system of five lines is run, interrupted, resumed, scored, compared and reported by the README alone."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## Your system\n")[1].split("\n## ")[0]
    source = "".join(re.findall(r"^    ((?!graphkit ).*\n)", section, re.MULTILINE))
    commands = [line.split("  ")[0].split()[1:] for line in re.findall(r"^    (graphkit .*)$", section, re.MULTILINE)]
    assert [command[0] for command in commands] == ["run", "evaluate", "compare", "report"]
    assert source.count("\n") <= 5
    # The README's names for the dataset and its other run; and a system that waits at its fourth question, once.
    data = tmp_path / "my-dataset"
    shutil.copytree(STOREFRONT, data, ignore=shutil.ignore_patterns("*.py", "history", "storefront-graph*"))
    log = (data / "runs" / "storefront-bm25.jsonl").read_text().replace("storefront-bm25", "bm25-expand")
    (data / "runs" / "bm25-expand.jsonl").write_text(log)
    (data / "runs" / "storefront-bm25.jsonl").unlink()
    (tmp_path / "my_system.py").write_text(source + WAITS_ONCE)
    process = subprocess.Popen(
        [*COMMAND, *commands[0], "--concurrency", "1"], cwd=tmp_path, env=environment(graph.env), stderr=subprocess.PIPE
    )
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert b"run the same command again" in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    done = graphkit(*commands[0], cwd=tmp_path, env=graph.env, code=0)
    assert "3 record(s) are there already, 27 to go" in done.err
    for command in commands[1:]:
        words = [path for word in command for path in (sorted(tmp_path.glob(word)) if "*" in word else [word])]
        done = graphkit(*words, cwd=tmp_path, env=graph.env, code=0)
        assert "mine" in done.out or command[0] == "report"
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_documented_example(folder: Path) -> None:
    """The system of docs/running.md runs as it is written there."""
    text = (Path(__file__).parent.parent / "docs" / "running.md").read_text(encoding="utf-8")
    source = text.split("```python\n")[1].split("```")[0]
    (folder / "my_system.py").write_text(source)
    run(folder, "--system", "my_system:answer")
    found = records(folder, "answer")
    assert json.dumps(found["q1"]["retrieved"]) == '[{"id": "api:auth.py"}]'
    assert found["q1"]["traversal"][0]["target"] == "api:auth.py"
