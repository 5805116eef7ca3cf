"""Events of Google's Agent Development Kit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.google_adk import CODE
from graphkit.plugins.logs.tool_calls import FAILED
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import read, survives

EVENTS, SESSION = recorded("google_adk")


def event(*parts: Any, author: str = "walker", **fields: Any) -> dict[str, Any]:
    """An event."""
    role = "user" if author == "user" else "model"
    return {"author": author, "invocation_id": "i", "content": {"role": role, "parts": list(parts)}, **fields}


@pytest.mark.parametrize("value", [EVENTS, SESSION])
def test_events_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The walk is the edge from Ann to Acme, 1 of 2 gold edges: the call whose response is an error opened nothing.

    Five replies have 10 and 5 tokens each.
    """
    found, record = town(tmp_path, "google-adk", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == ["Ann", "Zed"]
    assert record["answer"] == ANSWER
    assert (record["prompt_tokens"], record["output_tokens"], record["model_calls"]) == (50, 25, 5)
    assert any(FAILED in line for line in found.summary)


def test_events_of_one_value_each_are_joined(tmp_path: Path) -> None:
    """A file with an event per line is one run, by its question and its invocation."""
    _, record = town(tmp_path, "google-adk", *({"question_id": "q", "event": one} for one in EVENTS["events"]))
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)


def test_only_a_session_has_the_question_and_its_time() -> None:
    """A runner doesn't yield what the user said: without it neither question nor latency is known."""
    (events,), (session,) = read("google-adk", [EVENTS]), read("google-adk", [SESSION])
    assert (events.question_text, events.latency_ms) == (None, None)
    assert session.question_text == QUESTION
    times = [one["timestamp"] for one in SESSION["session"]["events"]]
    assert session.latency_ms == pytest.approx((times[-1] - times[0]) * 1000, abs=0.01)
    assert (events.model, session.model) == ("m-1", "m-1")


def test_parts_of_a_stream_and_thoughts_are_no_answer() -> None:
    """A partial event repeats what the whole one says, and a thought isn't said to anybody."""
    answer = event({"text": "I wonder", "thought": True}, {"text": "Bern."})
    (found,) = read("google-adk", [[event({"text": "Be"}, partial=True), answer]])
    assert found.answer == "Bern."
    assert (found.opened, found.tool_calls, found.retrieved, found.model_calls) == (None, None, None, 1)


def test_code_that_ran_is_unknown_and_not_nothing() -> None:
    """A model that runs code may have opened anything."""
    (found,) = read("google-adk", [[event({"executableCode": {"code": "print(1)"}}), event({"text": "1"})]])
    assert (found.opened, found.unknown_calls) == ([], 1)
    assert CODE in found.notes


def test_an_error_is_reported() -> None:
    """The code and the message of an event are the error of the question."""
    (found,) = read("google-adk", [[event(error_code="SAFETY", error_message="blocked")]])
    assert (found.error, found.error_type) == ("blocked", "SAFETY")


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("google-adk", {"question_id": "q", "events": EVENTS["events"][:2]}) > 100
