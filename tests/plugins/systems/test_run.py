"""``graphkit run`` as a process: what systems return, those that misbehave, samples and progress."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.helpers.cli import (
    COMMAND,
    NOTHING_LEFT,
    QUESTIONS,
    environment,
    inside,
    without_intervals,
    write_lines,
)
from tests.helpers.systems import TEN, records, run

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
    """Chunks and traversal are kept as given; run and question are the runner's; the system gets k and commits."""
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


def test_strict_makes_an_answer_with_an_unknown_field_a_failed_one(folder: Path) -> None:
    """An unknown field of a system's result fails the answer if strict, and is otherwise a note."""
    (folder / "slips.py").write_text("def answer(question):\n    return {'answer': 'x', 'retreived': []}\n")
    reported = inside("run", "data", "--system", "slips:answer", cwd=folder, code=0)
    assert "the field 'retreived' isn't used (2 records; did you mean retrieved?)" in reported.err
    strict = ("run", "data", "--system", "strict=slips:answer", "--strict")
    inside(*strict, cwd=folder, code=2)  # all of the run failed
    assert {one["error"] for one in records(folder, "strict").values()} == {
        "the field 'retreived' isn't known (did you mean retrieved?), which strict reading refuses"
    }


def test_run_can_be_evaluated(folder: Path) -> None:
    """evaluate reads the records of a run: one of q1's two gold edges was walked, and none of q2's."""
    run(folder, "--system", "systems:full")
    file = folder / "data" / "runs" / "full.jsonl"
    done = inside("evaluate", "--no-store", "--json", "-m", "EdgeRecall", file, cwd=folder, code=0)
    assert without_intervals(done.object())["measures"] == {
        "EdgeRecall": {"mean": 0.25, "scored": 2, "total": 2, "lowest": 0.25, "highest": 0.25}
        | {"failed": 0, "missing": 0, "worst": 0.0, "with_failed": 0.25, **NOTHING_LEFT}
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
    """A system may write question["id"]; for what is no field it is reported which fields there are."""
    run(folder, "--system", "systems:mapped")
    assert records(folder, "mapped")["q1"]["answer"] == "q1 asks Who calls z? of None"
    done = run(folder, "--system", "systems:misnamed", code=2)
    assert "KeyError: \"no field is called 'ident'; there are: id, question, category" in done.err


def test_figures_that_no_record_holds(folder: Path) -> None:
    """A figure that can't be stored fails its question with the reason, and the run can be evaluated."""
    write_lines(folder / "data" / "questions.jsonl", [{"id": f"q{number}", "question": "?"} for number in (1, 2, 3)])
    run(folder, "--system", "systems:miscounting", code=2)
    found = records(folder, "miscounting")
    assert [found[name]["error"] for name in ("q1", "q2", "q3")] == [
        "cost must be a finite number of at least 0, not nan",
        "prompt_tokens must be a whole number, not 1.5",
        "output_tokens must be at least 0, and of 64 bits at most in all",
    ]
    inside("evaluate", "--no-store", folder / "data" / "runs" / "miscounting.jsonl", cwd=folder, code=0)


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
    """The output of a system goes to standard error."""
    done = run(folder, "--system", "systems:printing", "--json")
    assert done.object()["answered"] == 2
    assert "noise on standard output" in done.err


def test_one_question_is_one(folder: Path) -> None:
    """A sample of one of the two questions is counted in the singular."""
    done = run(folder, "--system", "systems:plain", "--sample", "1")
    assert "plain: 1 question, 1 answered, 0 failed, 0 missing" in done.out


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


@pytest.mark.slow("a system blocks until its time is over")
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
    """If each question failed, the records are kept, the exit code is 2, and the first error is reported."""
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
    ("given", "reported"),
    [
        ("systems:plian", "Did you mean plain?"),
        ("sistems:plain", "Did you mean systems?"),
        ("xq.zw:plain", "there is no module 'xq'\n  Modules are searched in the working folder"),
        (
            "one=../systems:plain",
            "'../systems' is a path, and no module\n  A system is written package.module:callable",
        ),
        ("systems", "A system is written package.module:callable"),
        ("systems:value", "can't be called: it is of type int"),
        ("systems:Kind", "systems:Kind is a class"),
        ("broken:f", "the module can't be imported: RuntimeError: at import"),
        ("needy:f", "the module needs 'no_such_package', which isn't installed"),
        ("../up=systems:plain", "can't be the name of a run"),
        ("greedy:f", "A system takes (question) or (question, context)."),
    ],
)
def test_system_that_cannot_be_loaded(folder: Path, given: str, reported: str) -> None:
    """A system that isn't one is reported before any question is asked, with what to do."""
    (folder / "broken.py").write_text("raise RuntimeError('at import')\n")
    (folder / "needy.py").write_text("import no_such_package\n")
    (folder / "greedy.py").write_text("def f(a, b, c): return 'x'\n")
    done = run(folder, "--system", given, code=2)
    assert reported in done.err
    assert not (folder / "data" / "runs").exists() or not list((folder / "data" / "runs").iterdir())


def test_two_systems_of_one_name(folder: Path) -> None:
    """Two systems that would write the same run are refused."""
    done = run(folder, "--system", "systems:plain", "--system", "plain=systems:typed", code=2)
    assert "two systems are called 'plain'" in done.err


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
    # 1.96 * sqrt(.25 / 5 * 5 / 9) = .327, by the normal approximation.
    assert "lies within about 33 points of that over all" in " ".join(done.out.split())
    assert "within about 33 points" in done.out
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


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ((), "there is nothing to run"),
        (("--system", "systems:plain", "--timeout", "inf"), "--timeout takes a finite number, not inf"),
        (("--condition", "trainig"), "'trainig' is no condition"),
        (("--system", "systems:plain", "--price-in", 1), "--price-in and --price-out must be given together"),
        (("--condition", "training", "--prompt", "empty.txt"), "has no place for the question"),
        (("--condition", "training", "--prompt", "absent.txt"), "absent.txt: there is no such file"),
    ],
)
def test_options_that_make_no_sense(folder: Path, options: tuple[object, ...], reported: str) -> None:
    """Options that don't fit together are reported, and nothing is run."""
    (folder / "empty.txt").write_text("no place")
    assert reported in run(folder, *options, env={"ANTHROPIC_API_KEY": "test"}, code=2).err


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
    """If it is due, each system that isn't at its end is reported; the projected cost is at the mean cost so far."""
    monkeypatch.setattr("graphkit.plugins.systems.run_progress.LINE_EVERY", 0.0)
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
