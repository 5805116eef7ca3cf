"""The parts of a run: its engine, the records of what systems return, samples, figures, and the file."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import networkx
import pytest

import graphkit
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.plugins.systems.answers import UnusableAnswerError, answer_of, failed_answer, line_of
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import system_of
from graphkit.plugins.systems.runfile import RunFile
from graphkit.plugins.systems.runner import Limits, Runner, Task
from graphkit.plugins.systems.sampling import margin, sample, shares
from graphkit.records.models import Answer, Question
from graphkit.records.usage import Figures, Spread, projected, summarised
from tests.helpers.cli import tiny


def questions(count: int) -> list[Question]:
    """Return questions q0, q1, ... of which two of five are easy, two medium and one hard."""
    names = ("easy", "easy", "medium", "medium", "hard")
    return [
        Question.model_validate({"id": f"q{number}", "question": "?", "difficulty": names[number % 5]})
        for number in range(count)
    ]


def answers(call: Callable[..., Any], count: int, limits: Limits) -> list[Answer]:
    """Run a callable over some questions, and return the records in the order in which they came."""
    kept: list[Answer] = []
    system = system_of("s", call, "test")
    jobs = [Task(system, question, lambda: Context(Path(), "s", {}, 5)) for question in questions(count)]
    asyncio.run(Runner(lambda _, answer: kept.append(answer), limits).run(jobs))
    return kept


class Gauge:
    """Counts how many calls are under way, and the most there were."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.lock = threading.Lock()

    def __enter__(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.now -= 1


def test_concurrency_is_bounded_and_used() -> None:
    """Three sync calls run at once where three are allowed, and never a fourth."""
    gauge, together = Gauge(), threading.Barrier(3)

    def call(question: Question) -> str:
        with gauge:
            together.wait(30)  # goes on only when three are under way
            return "x"

    assert [answer.error for answer in answers(call, 9, Limits(concurrency=3))] == [None] * 9
    assert gauge.most == 3


def test_async_concurrency_is_bounded() -> None:
    """An async system, too, has no more calls under way than allowed."""
    gauge = Gauge()

    async def call(question: Question) -> str:
        with gauge:
            await asyncio.sleep(0.001)
            return "x"

    assert len(answers(call, 20, Limits(concurrency=2))) == 20
    assert gauge.most == 2


def test_object_with_async_call_and_awaitable_of_sync_call() -> None:
    """An object whose call is async is a system, and so is a function that returns an awaitable."""

    class System:
        async def __call__(self, question: Question) -> str:
            await asyncio.sleep(0)
            return f"async {question.id}"

    system = System()
    assert [answer.answer for answer in answers(system, 1, Limits())] == ["async q0"]
    assert [answer.answer for answer in answers(lambda question: system(question), 1, Limits())] == ["async q0"]


def test_time_out_tells_the_system() -> None:
    """After the time-out the cancel flag is set, and the next try gets one that isn't."""
    flags: list[threading.Event] = []
    seen: list[bool] = []

    def call(question: Question, context: Context) -> str:
        flag = context.cancelled
        seen.append(flag.is_set())
        flags.append(flag)
        if len(flags) == 1:
            flag.wait(30)
        return "x"

    [answer] = answers(call, 1, Limits(timeout=1, retries=1, backoff=0.01))
    assert answer.answer == "x"
    assert seen == [False, False]
    assert [flag.is_set() for flag in flags] == [True, False]


def test_keep_that_fails_ends_the_run() -> None:
    """If a record can't be kept the run ends with that error, and asks nothing more."""
    asked: list[str] = []

    def call(question: Question) -> str:
        asked.append(question.id)
        return "x"

    def keep(job: Task, answer: Answer) -> None:
        raise OSError("full")

    system = system_of("s", call, "test")
    jobs = [Task(system, question, lambda: Context(Path(), "s", {}, 5)) for question in questions(50)]
    with pytest.raises(OSError, match="full"):
        asyncio.run(Runner(keep, Limits(concurrency=1)).run(jobs))
    assert asked == ["q0"]


def test_counted_use_of_failed_tries_stays() -> None:
    """The use of failed tries is part of the record: three calls of 10 tokens, the last one answered."""
    tries: list[int] = []

    def call(question: Question, context: Context) -> str:
        tries.append(1)
        context.used(prompt_tokens=10, output_tokens=1, cost=0.5)
        if len(tries) < 3:
            raise ValueError("not yet")
        return "x"

    [answer] = answers(call, 1, Limits(retries=2, backoff=0.001))
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens, answer.cost) == (3, 30, 3, 1.5)


def test_second_parameter_with_a_default_is_the_systems_own() -> None:
    """Only a second parameter without a default, or called context, is given the context."""
    assert not system_of("s", lambda question, top=3: top, "test").takes_context
    assert system_of("s", lambda question, context=None: context, "test").takes_context
    assert system_of("s", lambda question, more: more, "test").takes_context


def test_time_of_the_failure_is_the_runners() -> None:
    """A record with an error says when it failed, also where the system gave the error or a time; a success doesn't."""
    [failed] = answers(lambda question: {"error": "no index", "failed_at": "noon"}, 1, Limits())
    assert failed.failed_at is not None
    assert abs(datetime.now(UTC) - datetime.fromisoformat(failed.failed_at)) < timedelta(minutes=5)
    [answered] = answers(lambda question: {"answer": "x", "failed_at": "noon"}, 1, Limits())
    assert answered.failed_at is None


# In Python -----------------------------------------------------------------------------------------------------------


def test_run_systems(tmp_path: Path) -> None:
    """Callables are run over a dataset by the names of their runs, and a second call asks nothing again."""
    tiny(tmp_path)
    asked: list[str] = []

    def answer(question: Question) -> Any:
        asked.append(question.id)
        return {"answer": "x", "traversal": []}

    [summary] = graphkit.run_systems(tmp_path, {"mine": answer})
    assert (summary.run, summary.answered, summary.file) == ("mine", 2, tmp_path / "runs" / "mine.jsonl")
    assert graphkit.run_systems(tmp_path, {"mine": answer})[0].answered == 2
    assert sorted(asked) == ["q1", "q2"]
    assert graphkit.evaluate(summary.file, measures=["EdgeRecall"]).measures["EdgeRecall"].scored == 2
    with pytest.raises(InputError, match="was made by"):
        graphkit.run_systems(tmp_path, {"mine": lambda question: "x"})


def test_run_systems_where_an_event_loop_runs(tmp_path: Path) -> None:
    """In a notebook, where an event loop runs already, it works all the same, and an error reaches the caller."""
    tiny(tmp_path)

    async def notebook() -> list[graphkit.RunSummary]:
        return graphkit.run_systems(tmp_path, {"mine": lambda question: "x"}, limits=Limits(concurrency=1))

    assert asyncio.run(notebook())[0].answered == 2


def test_interrupted_where_an_event_loop_runs(tmp_path: Path) -> None:
    """Ctrl-C stops it there too, and keeps what is done."""
    tiny(tmp_path)

    def answer(question: Question, context: Context) -> str:
        if question.id == "q2":
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            context.cancelled.wait(30)
        return "x"

    async def notebook() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a notebook: not asyncio's own
        graphkit.run_systems(tmp_path, {"mine": answer}, limits=Limits(concurrency=1))

    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(notebook())
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len((tmp_path / "runs" / "mine.jsonl").read_text().splitlines()) == 1


# Records ------------------------------------------------------------------------------------------------------------


def test_networkx_graph_is_a_traversal() -> None:
    """A networkx graph may be returned as the traversal; the relation of its edges is kept."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_edge("a:m.py", "b:n.py", relation="CALLS")
    answer = answer_of({"answer": "x", "traversal": graph}, "r", "q", Problems())
    assert [(step.source, step.relation, step.target) for step in answer.traversal or ()] == [
        ("a:m.py", "CALLS", "b:n.py")
    ]


def test_answer_model_is_an_answer() -> None:
    """An Answer may be returned; its run and question are replaced."""
    answer = answer_of(Answer(run="x", question_id="y", answer="z", retrieved=["c"]), "r", "q", Problems())  # type: ignore[arg-type]
    assert (answer.run, answer.question_id, answer.answer) == ("r", "q", "z")
    assert [chunk.id for chunk in answer.retrieved or ()] == ["c"]


@pytest.mark.parametrize("returned", ["x", {"answer": "x"}, {"answer": "x", "traversal": []}, {"retrieved": []}])
def test_what_a_system_does_not_return_is_not_logged(returned: Any) -> None:
    """Chunks and traversal that a system doesn't return aren't known, also from the run's file; empty ones are none."""
    answer = answer_of(returned, "r", "q", Problems())
    for record in (answer, Answer.model_validate_json(line_of(answer))):
        for name in ("retrieved", "traversal"):
            assert getattr(record, name) == (() if name in returned else None)


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        ({}, "none of the fields of an answer"),
        ({"text": "x"}, "but: text"),
        ({"answer": 3}, "answer: input should be a valid string"),
        ({"answer": "x", "retrieved": "c"}, "retrieved chunks must be a list"),
        ({"answer": "x", "retrieved": iter(["c"])}, "the answer holds a value of type list_iterator"),
        ({"answer": "x", "latency_ms": -1}, "latency_ms"),
        (["x"], "a value of type list"),
        (b"x", "a value of type bytes"),
    ],
)
def test_unusable_answers(value: object, reported: str) -> None:
    """An answer that can't be a record is refused with the reason."""
    with pytest.raises(UnusableAnswerError, match=reported):
        answer_of(value, "r", "q", Problems())


def test_fields_that_are_not_used_are_reported() -> None:
    """A field that no record has is counted, so that the import can report it."""
    problems = Problems()
    answer_of({"answer": "x", "mood": 1}, "r", "q", problems)
    assert dict(problems.ignored_fields) == {("r", "mood"): 1}
    answer_of({"answer": "x", "retreived": [], "chunks": [{"id": "c", "metadata": {}}]}, "r", "q", problems)
    assert problems.unknown_fields() == [
        "r: the field 'mood' isn't used (1 record)",
        "r: the field 'retreived' isn't used (1 record; did you mean retrieved?)",
        "r: the field 'retrieved.metadata' isn't used (1 record)",
    ]


def test_error_without_text() -> None:
    """An error that says nothing, or fails to say it, is reported by its type; a very long one is cut."""

    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failed_answer("r", "q", ValueError()).error == "ValueError"
    assert failed_answer("r", "q", SilentError()).error == "SilentError"
    assert len(failed_answer("r", "q", ValueError("x" * 10_000)).error or "") == 2004
    assert failed_answer("r", "q", ValueError("\ud800")).error == "?"
    refused = InputError("there is no model", where="http://a/v1", remedy="Name one.")
    assert failed_answer("r", "q", refused).error == "http://a/v1: there is no model. Name one."


# Samples and figures ------------------------------------------------------------------------------------------------


def test_sample_does_not_depend_on_the_order() -> None:
    """The same seed draws the same questions from a file in any order; another seed draws others."""
    every = questions(50)
    drawn = {question.id for question in sample(every, 10, 1)}
    assert {question.id for question in sample(every[::-1], 10, 1)} == drawn
    assert {question.id for question in sample(every, 10, 2)} != drawn


@pytest.mark.parametrize("size", [1, 2, 7, 13, 49])
def test_sample_has_its_size_and_spread(size: int) -> None:
    """A sample has the size that was asked for, and no difficulty is off its share by a whole question."""
    every = questions(50)
    drawn = sample(every, size, 5)
    assert len(drawn) == size
    for name in ("easy", "medium", "hard"):
        share = sum(question.difficulty == name for question in every) / 50
        assert abs(sum(question.difficulty == name for question in drawn) - share * size) < 1


def test_shares_of_small_strata() -> None:
    """One of 3 goes to the largest: 3 * 8 / 10 = 2.4, 3 * 1 / 10 = 0.3 each, so 2 and the rest to the largest rest."""
    assert shares({"easy": 8, "medium": 1, "hard": 1}, 3) == {"easy": 3, "medium": 0, "hard": 0}


def test_sample_larger_than_the_set() -> None:
    """A sample larger than the set is the set, without spread."""
    assert sample(questions(3), 10, 1) == questions(3)
    assert margin(3, 3) == 0.0
    # 1.96 * sqrt(0.25 / 25 * 75 / 99) = 0.1706
    assert margin(25, 100) == pytest.approx(0.1706, abs=1e-4)


def test_summary_of_figures() -> None:
    """Mean, median and p95 are of the answered questions, the total is of all; the 95th of 20 values is the 19th."""
    rows = [Figures(float(number), 1, None, None, 0.5) for number in range(1, 21)]
    found = summarised([*rows, Figures(1000.0, None, None, None, 2.0, "TimeoutError")])
    # 1 + ... + 20 = 210.
    assert found["latency_ms"] == Spread(mean=10.5, median=10.5, p95=19.0, total=1210.0, known=20)
    assert found["cost"].total == 12.0
    assert found["prompt_tokens"] == Spread(None, None, None, None, 0)
    # 21 records cost 12.
    assert projected([*rows, Figures(1.0, None, None, None, 2.0, "E")], 42) == pytest.approx(24.0)
    assert projected([], 5) is None


# The file -----------------------------------------------------------------------------------------------------------


def test_settled_file_is_in_order(tmp_path: Path) -> None:
    """At the end the records stand in the order of the questions, the later one of two, with foreign ones behind."""
    path = tmp_path / "r.jsonl"
    with RunFile(path, "r") as file:
        for question, text in (("q2", "old"), ("other", "x"), ("q1", "y"), ("q2", "new")):
            file.append(Answer(run="r", question_id=question, answer=text))
        file.sort(["q1", "q2", "q3"])
    with RunFile(path, "r") as again:
        assert list(again.figures) == ["q1", "q2", "other"]
    assert [line.split('"answer":')[1] for line in path.read_text().splitlines()] == ['"y"}', '"new"}', '"x"}']
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.jsonl", "r.ran-at"]


def test_first_error_is_of_this_time(tmp_path: Path) -> None:
    """The error that is reported is that of the records that are new, and of the earlier ones where none is."""
    path = tmp_path / "r.jsonl"
    with RunFile(path, "r") as file:
        file.append(failed_answer("r", "q1", ValueError("old")))
    with RunFile(path, "r") as file:
        assert file.first_error == "ValueError: old"
        file.append(failed_answer("r", "q1", KeyError(3)))
        assert file.first_error == "KeyError: 3"
