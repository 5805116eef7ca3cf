"""Messages, events and states of AutoGen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.autogen import CODE
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import ReadOptions, UnreadableLogError
from tests.live.small_graph import ANSWER, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import recorded, scores, town
from tests.plugins.logs.shared_logs import names, read, survives

TASK, STATE, SUMMARY, TEAM, TEAM_STATE = recorded("autogen")


@pytest.mark.parametrize("value", [TASK, STATE, TEAM])
def test_messages_score_as_a_record_made_by_hand(value: Any, tmp_path: Path) -> None:
    """The walk is the edge from Ann to Acme, 1 of 2 gold edges: the call that failed opened nothing."""
    found, record = town(tmp_path, "autogen", value)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert scores(record, "Recall@1") == (1.0, 1.0)
    assert retrieved(record) == ["Ann", "Zed"]
    assert record["answer"] == ANSWER
    assert any(FAILED in line for line in found.summary)
    assert not any("unused" in line for line in found.summary)


def test_tokens_and_times() -> None:
    """Five replies of 10 and 5 tokens; from 14.529838 to 14.554026 s. A state has neither."""
    (task,), (state,) = read("autogen", [TASK]), read("autogen", [STATE])
    assert (task.prompt_tokens, task.output_tokens, task.model_calls) == (50, 25, 5)
    assert task.latency_ms == pytest.approx(24.188)
    assert task.question_text == state.question_text == QUESTION
    assert (state.prompt_tokens, state.output_tokens, state.latency_ms) == (None, None, None)


def test_messages_of_one_value_each_are_joined() -> None:
    """A file with a message per line is one answer for each question."""
    lines = [{"question_id": "q", "message": one} for one in TASK["result"]["messages"]]
    (answer,) = read("autogen", lines)
    assert (answer.opened, answer.answer) == (["Ann", "Acme"], ANSWER)


def test_what_a_tool_gave_is_the_answer_of_an_agent_that_does_not_reflect() -> None:
    """Its last message sums up the last call; the model was asked three times."""
    (answer,) = read("autogen", [SUMMARY])
    assert answer.answer == "[['Ann', 'WORKS_AT', 'Acme'], ['Zed', 'KNOWS', 'Ann']]"
    assert answer.model_calls == 3
    assert answer.opened == ["Ann"]


@pytest.mark.parametrize(
    ("said", "reason", "answer"),
    [
        (["At Acme. TERMINATE"], None, "At Acme."),
        (["At Acme.\n\n**TERMINATE**"], None, "At Acme."),
        (["At Acme.", "TERMINATE"], None, "At Acme."),
        (["At Acme, APPROVE"], "Text 'APPROVE' mentioned", "At Acme,"),
        (["The command is TERMINATE"], None, "The command is TERMINATE"),
        (["TERMINATE"], None, "TERMINATE"),
    ],
)
def test_a_stop_word_is_no_part_of_the_answer(said: list[str], reason: str | None, answer: str) -> None:
    """TERMINATE after a sentence or alone, or the word that the log says was waited for; not the last word of one."""
    messages = [{"type": "TextMessage", "source": "user", "content": QUESTION}]
    messages += [{"type": "TextMessage", "source": "walker", "content": one} for one in said]
    (found,) = read("autogen", [{"messages": messages, "stop_reason": reason}])
    assert found.answer == answer


def test_the_state_of_a_team_is_refused() -> None:
    """Its contexts have no common order, and the message says what to write instead."""
    reader = reader_of("autogen")
    assert reader.recognises(TEAM_STATE)
    with pytest.raises(UnreadableLogError, match=r"TaskResult") as refusal:
        list(reader.read([("log:1", TEAM_STATE)], ReadOptions(), Counter()))
    assert "log:1" in str(refusal.value)


def test_code_that_ran_is_unknown_and_not_nothing() -> None:
    """An agent that runs code may have opened anything."""
    events = [
        {"type": "TextMessage", "source": "user", "content": "Where?"},
        {"type": "CodeGenerationEvent", "source": "coder", "content": "print(1)"},
        {"type": "CodeExecutionEvent", "source": "coder", "result": {"output": "1"}},
    ]
    (answer,) = read("autogen", [events])
    assert answer.opened == []
    assert answer.unknown_calls == 1
    assert CODE in answer.notes


def test_a_memory_that_was_asked_retrieved_what_its_metadata_name() -> None:
    """The finds of a memory count as retrieved, in its order."""
    held = [{"content": "x", "metadata": {"id": name}} for name in ("b", "a")]
    (answer,) = read("autogen", [[{"type": "MemoryQueryEvent", "source": "walker", "content": held}]])
    assert names(answer) == ["b", "a"]
    assert answer.opened is None


def test_unknown_types_are_reported() -> None:
    """A type that isn't read is counted."""
    unread: Counter[str] = Counter()
    read("autogen", [[TASK["result"]["messages"][0], {"type": "NewEvent", "source": "x"}]], unread=unread)
    assert unread == {"messages of the type 'NewEvent'": 1}


def test_hostile_values() -> None:
    """A value in the wrong place costs no more than what it says."""
    assert survives("autogen", {"question_id": "q", "messages": TASK["result"]["messages"][:4]}) > 100
