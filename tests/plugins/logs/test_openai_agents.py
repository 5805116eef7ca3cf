"""Items, states and traces of the OpenAI Agents SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog
from graphkit.plugins.logs.openai_agents import NO_WORDS
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.known_formats import recognised
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import read, survives

ITEMS = recorded("openai_agents_items")
TRACE = recorded("openai_agents_trace")


@pytest.mark.parametrize("value", ITEMS)
def test_items_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """Input lists, new items and states walk the edge from Ann to Acme: 1 of 2 gold edges, and find Ann first of 1."""
    _, record = town(tmp_path, "openai-agents", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == ["Ann", "Zed"]
    assert record["answer"] == ANSWER
    assert [call["name"] for call in record["tool_calls"]] == ["search", "open_node", "open_node"]


def test_a_state_has_the_tokens_of_its_run() -> None:
    """Four requests of 10 and 5 tokens each are 40 and 20; the question is the original input."""
    (answer,) = read("openai-agents", [ITEMS[3]])
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens) == (4, 40, 20)
    assert answer.question_text == QUESTION


def test_items_without_tokens_times_and_question_say_none() -> None:
    """New items alone tell neither of these, and their number isn't that of the model's calls."""
    (answer,) = read("openai-agents", [ITEMS[1]])
    assert answer.prompt_tokens is answer.output_tokens is answer.latency_ms is answer.model_calls is None
    assert answer.question_text is None


@pytest.mark.parametrize("form", ["lines", "list", "wrapped"])
def test_a_trace_scores_as_a_record_made_by_hand(form: str, tmp_path: Path) -> None:
    """Its spans, in whatever order they ended, give the same walk, with question, answer, tokens and time.

    The five responses have 10 and 5 tokens each; the trace took from 47:01.722183 to 47:01.954325.
    """
    values = {"lines": TRACE, "list": [TRACE], "wrapped": [{"question_id": "q", "spans": TRACE}]}[form]
    found, record = town(tmp_path, "openai-agents", *values)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert record["answer"] == ANSWER
    assert (record["prompt_tokens"], record["output_tokens"], record["model_calls"]) == (50, 25, 5)
    assert record["latency_ms"] == pytest.approx(232.142)
    assert _doubts(found, FAILED)


def _doubts(found: ImportedLog, doubt: str) -> bool:
    return any(doubt in line for line in found.summary)


def test_a_question_of_a_trace_is_known_by_its_metadata() -> None:
    """The trace's own metadata name the question."""
    (answer,) = read("openai-agents", TRACE)
    assert answer.question == "q"
    assert answer.question_text == QUESTION


def test_several_traces_in_one_list_are_several_answers() -> None:
    """A batch of an exporter holds spans of any traces, each of which names its own question."""
    other = [{**one, "trace_id": "t2"} for one in TRACE[1:]]
    begun = {**TRACE[0], "id": "t2", "metadata": {"question_id": "q2"}}
    answers = read("openai-agents", [{"data": [*TRACE, begun, *other]}])
    assert [(one.question, one.opened) for one in answers] == [("q", ["Ann", "Acme"]), ("q2", ["Ann", "Acme"])]


def test_a_trace_of_responses_has_no_words() -> None:
    """Spans of responses export only ids and tokens, and a doubt says what to log for the words."""
    spans = [one for one in TRACE if one.get("span_data", {}).get("type") != "generation"]
    usage = {"input_tokens": 7, "output_tokens": 3}
    response = {**TRACE[1], "span_data": {"type": "response", "response_id": "r", "usage": usage}}
    (answer,) = read("openai-agents", [*spans, response])
    assert answer.answer is answer.question_text is None
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (7, 3, 1)
    assert NO_WORDS in answer.notes
    assert answer.opened == ["Ann", "Acme"]


def test_what_sensitive_data_were_left_out_of_is_unknown() -> None:
    """A span without input and output doesn't say what its tool opened: that isn't nothing."""
    span = next(one for one in TRACE if one.get("span_data", {}).get("type") == "function")
    bare = {**span, "span_data": {**span["span_data"], "input": None, "output": None}}
    (answer,) = read("openai-agents", [TRACE[0], bare])
    assert answer.opened == []
    assert answer.unknown_calls == 1
    assert answer.retrieved is None


def test_a_trace_without_calls_tells_nothing_of_tools() -> None:
    """Tools that run where the model does have no spans, so that no call is no walk of nothing."""
    spans = [one for one in TRACE if one.get("span_data", {}).get("type") != "function"]
    (answer,) = read("openai-agents", spans)
    assert (answer.opened, answer.tool_calls, answer.retrieved) == (None, None, None)


def test_a_failed_tool_opened_nothing() -> None:
    """The SDK's own words for an error are the result of a call that failed."""
    call = {"type": "function_call", "call_id": "c", "name": "open_node", "arguments": '{"node": "Bern"}'}
    gave = "An error occurred while running the tool. Please try again."
    result = {"type": "function_call_output", "call_id": "c", "output": gave}
    (answer,) = read("openai-agents", [{"question_id": "q", "items": [call, result]}])
    assert answer.opened == []
    assert FAILED in answer.notes


def test_items_of_any_other_interface_stay_messages() -> None:
    """A bare list of items may be any conversation: only the user can say that it is one of the SDK."""
    items = ITEMS[0]["items"]
    assert recognised([items], [], "x.jsonl")[0].name == "messages"


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("openai-agents", {"question_id": "q", "new_items": ITEMS[2]["new_items"][:3], "input": "?"}) > 100
    assert survives("openai-agents", {"question_id": "q", "spans": [*TRACE[:3], TRACE[-1]]}) > 100
