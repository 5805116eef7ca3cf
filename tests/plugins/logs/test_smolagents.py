"""Steps of the memory of smolagents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.measures.base import Unscored
from graphkit.plugins.logs.smolagents import CODE, JOINED, LOST, STOPPED
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import read, survives

CALLING, JOINING, CODING, STOPPING, _ = LOGS = recorded("smolagents")


@pytest.mark.parametrize("value", [CALLING, JOINING])
def test_steps_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The walk is the edge from Ann to Acme, 1 of 2 gold edges, in one call a step or two."""
    _, record = town(tmp_path, "smolagents", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert record["answer"] == ANSWER


def test_finds_are_read_from_what_python_prints(tmp_path: Path) -> None:
    """The observation of a search is the text of a list."""
    _, record = town(tmp_path, "smolagents", CALLING)
    assert retrieved(record) == ["Ann", "Zed"]
    assert scores(record, "Recall@1") == (1.0, 1.0)


def test_tokens_and_times() -> None:
    """Four steps of 10 and 5 tokens; from the first's start 961.239223 s to the last's end 961.2407122 s."""
    (answer,) = read("smolagents", [CALLING])
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (40, 20, 4)
    assert answer.latency_ms == pytest.approx(1.489, abs=0.002)
    assert answer.question_text == QUESTION
    assert answer.model is None


def test_results_of_several_calls_are_not_told_apart() -> None:
    """One observation of two calls says which of them found what to nobody, and a doubt says so."""
    (answer,) = read("smolagents", [JOINING])
    assert [call.result for call in answer.tool_calls or ()] == [None, None, ANSWER]
    assert answer.retrieved is None
    assert JOINED in answer.notes


def test_calls_in_code_are_unscored_and_not_zero(tmp_path: Path) -> None:
    """The traversal of an agent that writes code is missing, with a doubt; its answer is known."""
    found, record = town(tmp_path, "smolagents", CODING)
    assert "traversal" not in record
    assert "retrieved" not in record
    assert record["answer"] == ANSWER
    assert isinstance(scores(record)[0], Unscored)
    assert any(CODE in line for line in found.summary)


def test_an_agent_that_stops_has_no_answer() -> None:
    """At the limit of steps there are the calls, and a doubt."""
    (answer,) = read("smolagents", [STOPPING])
    assert answer.answer is None
    assert answer.opened == ["Ann"]
    assert STOPPED in answer.notes


def test_a_failed_call_opened_nothing() -> None:
    """The error of a step is that of its call."""
    step = {**CALLING["steps"][2], "error": {"type": "AgentToolExecutionError", "message": "no"}, "observations": None}
    (answer,) = read("smolagents", [{"question_id": "q", "steps": [CALLING["steps"][0], step]}])
    assert answer.opened == []
    assert [call.failed for call in answer.tool_calls or ()] == [True]


def test_a_step_that_failed_names_its_call_in_the_message_of_the_model() -> None:
    """The list of its calls is empty; of several calls nobody knows which failed, so what was opened isn't known."""
    first, *_, last = CALLING["steps"][:4]
    call = {"id": "c9", "function": {"name": "open_node", "arguments": {"node": "nobody"}}}
    error = {"type": "AgentToolExecutionError", "message": "no such node"}

    def failed(*calls: Any) -> dict[str, Any]:
        return {**last, "tool_calls": [], "error": error, "model_output_message": {"tool_calls": list(calls)}}

    (one,), (several,) = (
        read("smolagents", [{"question_id": "q", "steps": [first, failed(*calls)]}])
        for calls in ((call,), (call, {**call, "id": "c10"}))
    )
    assert [(made.name, made.failed, made.result) for made in one.tool_calls or ()] == [
        ("open_node", True, "no such node")
    ]
    assert (one.opened, one.unknown_calls) == ([], 0)
    assert (several.opened, several.unknown_calls) == ([], 1)
    assert LOST in several.notes


def test_plans_are_calls_of_the_model() -> None:
    """A step of planning has tokens, and its plan is no answer."""
    plan = {"plan": "First I search.", "token_usage": {"input_tokens": 7, "output_tokens": 3}}
    (answer,) = read("smolagents", [{"question_id": "q", "steps": [CALLING["steps"][1], plan]}])
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (17, 8, 2)
    assert answer.answer is None


@pytest.mark.slow("values of every kind at every place")
def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("smolagents", {"question_id": "q", "steps": CALLING["steps"][:3]}) > 100
    assert survives("smolagents", JOINING) > 100
