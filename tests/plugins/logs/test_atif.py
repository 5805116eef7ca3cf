"""Trajectories of the Agent Trajectory Interchange Format."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.atif import BACKWARDS, CONTINUED, COPIED, MODELS, SUBAGENT, SUBAGENT_COSTS, AtifReader
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.logged import LoggedAnswer, ReadOptions


def call(name: str, key: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"tool_call_id": key, "function_name": name, "arguments": arguments}


def back(content: Any, key: str | None = "c1", **more: Any) -> dict[str, Any]:
    """One result of an observation."""
    return {"source_call_id": key, "content": content, **more}


def step(source: str, message: Any = "", *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A step, without the number that it gets from its place."""
    results = more.pop("results", None)
    observed = {} if results is None else {"observation": {"results": results}}
    return {"source": source, "message": message, **({"tool_calls": list(calls)} if calls else {}), **observed, **more}


def trajectory(*steps: dict[str, Any], version: str = "1.7", **more: Any) -> dict[str, Any]:
    """A whole document."""
    return {
        "schema_version": f"ATIF-v{version}",
        "session_id": "q7",
        "agent": {"name": "walker", "version": "1", "model_name": "m-1"},
        "steps": [{"step_id": number, **one} for number, one in enumerate(steps, 1)],
        **more,
    }


def read(value: Any, options: ReadOptions | None = None, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the answers that the reader finds in a document."""
    found = Counter[str]() if unread is None else unread
    (answer,) = AtifReader().read([("run.json:1", value)], options or ReadOptions(), found)
    return answer


WALK = trajectory(
    step("system", "You read code.", timestamp="2026-01-02T10:00:00Z"),
    step("user", "Who calls f?", timestamp="2026-01-02T10:00:01Z"),
    step(
        "agent",
        "I look.",
        call("code_search", query="f"),
        results=[back('[{"path": "a.py", "symbol": "g"}, {"path": "b.py"}]')],
        metrics={"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 50, "cost_usd": 0.25},
        timestamp="2026-01-02T10:00:02Z",
    ),
    step(
        "agent",
        "I read.",
        call("view", path="a.py", symbol="g"),
        call("view", "c2", path="c.py"),
        results=[back("def g(): f()"), back("def f(): ...", "c2")],
        metrics={"prompt_tokens": 200, "completion_tokens": 20, "cost_usd": 0.5},
        timestamp="2026-01-02T10:00:03Z",
    ),
    step("agent", "g does.", timestamp="2026-01-02T11:00:03.500+01:00"),
)


@pytest.mark.parametrize("version", ["1.0", "1.2", "1.4", "1.6", "1.7", "1.8"])
def test_a_trajectory_is_a_walk_over_what_was_opened(version: str) -> None:
    """The record has opened and found names, the last message, the steps' sums, and the time to the end."""
    answer = read(WALK | {"schema_version": f"ATIF-v{version}"})
    assert (answer.where, answer.question, answer.question_text) == ("run.json:1", "q7", "Who calls f?")
    assert answer.taken == {"question id": "session_id"}
    assert answer.opened == ["a.py#g", "c.py"]
    assert answer.retrieved is not None
    assert [chunk.name for chunk in answer.retrieved] == ["a.py#g", "b.py"]
    assert answer.answer == "g does."
    # 100 + 200, 10 + 20, 0.25 + 0.5; three steps of the agent.
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.model_calls) == (300, 30, 0.75, 3)
    # 10:00:01 to 11:00:03.5 an hour east of it, which is 10:00:03.5.
    assert answer.latency_ms == 2500.0
    assert answer.model == "m-1"
    assert answer.notes == []
    assert answer.tool_calls is not None
    assert [(one.name, one.result) for one in answer.tool_calls[1:]] == [
        ("view", "def g(): f()"),
        ("view", "def f(): ..."),
    ]


def test_totals_are_believed_before_the_sum_of_the_steps() -> None:
    """A total that isn't there is still summed."""
    answer = read(WALK | {"final_metrics": {"total_prompt_tokens": 7, "total_cost_usd": 2, "total_steps": 5}})
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost) == (7, 30, 2.0)


@pytest.mark.parametrize(
    ("more", "options", "question"),
    [
        ({"extra": {"question_id": "n3"}}, ReadOptions(), "n3"),
        ({"extra": {"task": {"key": 4}}}, ReadOptions(question_key="extra.task.key"), "4"),
        ({"session_id": "0f8fad5b-d9cb-469f-a165-70867728950e"}, ReadOptions(), None),  # made up: known by its text
        ({"session_id": None}, ReadOptions(), None),
    ],
)
def test_the_question_is_named_by_metadata_before_the_session(
    more: dict[str, Any], options: ReadOptions, question: str | None
) -> None:
    """`extra`, the user's key, and no id that a machine made up."""
    answer = read(WALK | more, options)
    assert (answer.question, answer.question_text) == (question, "Who calls f?")


def test_what_stands_around_a_trajectory_is_seen_through() -> None:
    """A line that a user wrote, with the time that was measured there."""
    answer = read({"question_id": "n1", "seconds": 2, "trajectory": WALK})
    assert (answer.question, answer.latency_ms, answer.opened) == ("n1", 2000.0, ["a.py#g", "c.py"])


def test_parts_of_a_message_and_of_a_content_are_read() -> None:
    """Lists of parts, as since v1.6."""
    picture = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    answer = read(
        trajectory(
            step("user", [{"type": "text", "text": "Who?"}, picture]),
            step("agent", "", call("search", q="x"), results=[back([{"type": "text", "text": '{"hits": ["a.py"]}'}])]),
            step("agent", [{"type": "text", "text": "I."}]),
        )
    )
    assert (answer.question_text, answer.answer, answer.opened) == ("Who?", "I.", [])
    assert answer.retrieved is not None
    assert [chunk.name for chunk in answer.retrieved] == ["a.py"]


def test_documents_that_an_observation_names_are_retrieved() -> None:
    """Results that no tool gave, with the document and its score beside them."""
    results = [
        back("text of d1", None, extra={"source_doc_id": "d1", "retrieval_score": 0.9}),
        back("text of d2", None, extra={"source_doc_id": "d2", "retrieval_score": 0.4}),
    ]
    answer = read(trajectory(step("user", "?"), step("agent", "!", results=results)))
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.text, chunk.score) for chunk in answer.retrieved] == [
        ("d1", "text of d1", 0.9),
        ("d2", "text of d2", 0.4),
    ]
    # No tool was called, and none is said to have been there: nothing is known of a walk.
    assert answer.opened is None


def test_tools_that_nobody_called_are_a_walk_of_nothing() -> None:
    """The agent's definitions say that there were tools."""
    talk = trajectory(step("user", "?"), step("agent", "!"))
    assert read(talk).opened is None
    talk["agent"]["tool_definitions"] = [{"type": "function", "function": {"name": "view"}}]
    assert read(talk).opened == []


def test_a_subagent_walks_where_it_was_called() -> None:
    """Its calls stand before those that follow; its tokens aren't the parent's."""
    inner = trajectory(
        step("user", "Read b."),
        step("agent", "", call("view", path="b.py"), metrics={"prompt_tokens": 1000}),
        trajectory_id="s1",
    )
    refs = {"subagent_trajectory_ref": [{"trajectory_id": "s1"}]}
    outer = trajectory(
        step("user", "?"),
        step("agent", "", call("view", path="a.py"), call("delegate", "c2"), results=[back(None, "c2", **refs)]),
        step("agent", "!", call("view", path="c.py"), metrics={"prompt_tokens": 5}),
        subagent_trajectories=[inner],
    )
    answer = read(outer)
    assert answer.opened == ["a.py", "b.py", "c.py"]
    assert (answer.prompt_tokens, answer.model_calls, answer.question_text) == (5, 2, "?")
    assert answer.notes == [SUBAGENT_COSTS, ENDS_WITH_CALL]
    outer["subagent_trajectories"] = []
    assert read(outer).notes == [SUBAGENT, ENDS_WITH_CALL]


def test_subagents_that_call_each_other_without_end_are_followed_to_a_bound() -> None:
    """Twenty trajectories, each within the one before."""
    inner: dict[str, Any] = trajectory(step("agent", "", call("view", path="last.py")), trajectory_id="s")
    for _ in range(20):
        results = [back(None, "c1", subagent_trajectory_ref=[{"trajectory_id": "s"}])]
        outer = step("agent", "", call("view", path="a.py"), results=results)
        inner = trajectory(outer, trajectory_id="s", subagent_trajectories=[inner])
    answer = read(inner)
    assert answer.opened == ["a.py"] * 8
    assert SUBAGENT in answer.notes


def test_steps_of_an_earlier_trajectory_are_left_out() -> None:
    """They were copied for context: what was opened there is in the other file's record."""
    answer = read(
        trajectory(
            step("agent", "", call("view", path="old.py"), is_copied_context=True),
            step("user", "?"),
            step("agent", "!", call("view", path="new.py")),
            continued_trajectory_ref="next.json",
        )
    )
    assert answer.opened == ["new.py"]
    assert answer.notes == [COPIED, ENDS_WITH_CALL, CONTINUED]


def test_calls_of_models_are_counted_as_the_steps_say() -> None:
    """None is one, 0 is a step that no model made, 3 is three."""
    none = step("agent", "b", llm_call_count=0, model_name="unused")
    answer = read(trajectory(step("agent", "a"), none, step("agent", "c", llm_call_count=3)))
    assert (answer.model_calls, answer.model, answer.notes) == (4, "m-1", [])


def test_a_call_that_failed_opened_nothing() -> None:
    """If the agent wrote beside the result that it is an error."""
    failed = back("no such file", extra={"is_error": True})
    answer = read(trajectory(step("agent", "", call("view", path="no.py"), results=[failed])))
    assert (answer.opened, answer.notes) == ([], [FAILED])


def test_several_models_are_noted() -> None:
    """A step may name its own."""
    answer = read(trajectory(step("agent", "a", model_name="m-2"), step("agent", "b")))
    assert (answer.model, answer.notes) == ("m-1", [MODELS])


def test_times_that_run_backwards_are_no_latency() -> None:
    """A time before the question's is a clock that was set, not a duration."""
    times = ["2026-01-02T10:00:01", "2026-01-02T10:00:00"]
    answer = read(trajectory(step("user", "?", timestamp=times[0]), step("agent", "!", timestamp=times[1])))
    assert (answer.latency_ms, answer.notes) == (None, [BACKWARDS])
    assert read(trajectory(step("user", "?", timestamp=times[0]), step("agent", "!"))).latency_ms is None


def test_what_is_not_used_is_counted() -> None:
    """Fields of the format, and those that others add."""
    unread: Counter[str] = Counter()
    read(WALK | {"extra": {"question_id": "n1", "host": "x"}, "colour": "red"}, unread=unread)
    assert unread == Counter({"extra.host": 1, "colour": 1, "steps.metrics.cached_tokens": 1})


@pytest.mark.parametrize("value", [{}, [], {"steps": []}, {"schema_version": "1.4", "steps": []}, "ATIF-v1.0", None])
def test_other_values_are_not_recognised(value: Any) -> None:
    """The version's tag makes a trajectory."""
    assert not AtifReader().recognises(value)
    assert AtifReader().recognises(WALK)


def test_steps_of_any_shape_are_survived() -> None:
    """Fields that hold what they shouldn't are as good as absent."""
    odd: list[Any] = [None, 3, {"source": ["agent"], "message": {"a": 1}, "observation": [], "metrics": "x"}]
    odd.append({"source": "agent", "message": None, "tool_calls": [None, {"function_name": 3, "arguments": "x"}]})
    answer = read(trajectory() | {"steps": odd, "agent": None, "final_metrics": 3, "session_id": 7})
    assert answer.opened == []
    assert answer.answer is None
