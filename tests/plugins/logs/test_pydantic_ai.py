"""Messages of Pydantic AI."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.tool_calls import FAILED
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import read, survives

LOGS = recorded("pydantic_ai")


def part(kind: str, **fields: Any) -> dict[str, Any]:
    """A part of a message."""
    return {"part_kind": kind, **fields}


def message(kind: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A message."""
    return {"kind": kind, "parts": list(parts), **fields}


@pytest.mark.parametrize("value", LOGS)
def test_messages_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The walk is the edge from Ann to Acme, 1 of 2 gold edges: the call that was retried opened nothing."""
    found, record = town(tmp_path, "pydantic-ai", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == ["Ann", "Zed"]
    assert any(FAILED in line for line in found.summary)
    assert not any("unused" in line for line in found.summary)


def test_tokens_times_and_answers() -> None:
    """Tokens are summed over the responses (57+69+79+85+95, 12+21+30+39+44); the output tool's field is the answer.

    The time runs from the first request to the last message: 40.109176 to 40.122309 s.
    """
    words, typed = read("pydantic-ai", LOGS)
    assert (words.answer, typed.answer) == (ANSWER, ANSWER)
    assert words.question_text == QUESTION
    assert (words.prompt_tokens, words.output_tokens, words.model_calls) == (385, 146, 5)
    assert words.latency_ms == pytest.approx(13.133)
    assert words.cost is None


def test_an_output_of_other_fields_is_the_answer_as_json() -> None:
    """An output type has fields of its own, which open nothing, whatever they are called."""
    call = part("tool-call", tool_name="final_result", args={"city": "Bern", "node": "Zed"}, tool_call_id="c")
    request = message("request", part("user-prompt", content=["Where?", {"kind": "image-url", "url": "x"}]))
    (answer,) = read("pydantic-ai", [[request, message("response", part("text", content="So."), call)]])
    assert answer.answer == '{"city": "Bern", "node": "Zed"}'
    assert answer.question_text == "Where?"
    assert answer.opened == []


def test_costs_are_a_sum_only_if_all_are_known() -> None:
    """A response without its cost leaves the sum unknown."""
    one, other = (message("response", part("text", content="x"), usage={"cost": cost}) for cost in ("0.5", 0.25))
    none = message("response", part("text", content="x"), usage={"cost": None})
    assert [read("pydantic-ai", [log])[0].cost for log in ([one, other], [one, none])] == [0.75, None]


def test_messages_without_calls_say_nothing_of_tools() -> None:
    """The messages don't list the tools, so that no call is unknown, and not a walk of nothing."""
    (answer,) = read("pydantic-ai", [[message("response", part("text", content="x"))]])
    assert (answer.opened, answer.tool_calls, answer.retrieved) == (None, None, None)


def test_unknown_parts_are_reported() -> None:
    """A kind of part that isn't read is counted."""
    unread: Counter[str] = Counter()
    read("pydantic-ai", [[message("response", part("speech", content="x"))]], unread=unread)
    assert unread == {"messages.parts of the kind 'speech'": 1}


def test_messages_of_one_value_each_are_joined() -> None:
    """A file with a message per line is one answer for each question and conversation."""
    lines = [{"question_id": str(number), "message": one} for number, log in enumerate(LOGS) for one in log["messages"]]
    answers = read("pydantic-ai", lines)
    assert [(one.question, one.opened, one.answer) for one in answers] == [
        ("0", ["Ann", "Acme"], ANSWER),
        ("1", ["Ann", "Acme"], ANSWER),
    ]


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("pydantic-ai", {"question_id": "q", "messages": LOGS[1]["messages"][:3]}) > 100
