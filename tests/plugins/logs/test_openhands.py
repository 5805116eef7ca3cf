"""Events of OpenHands: conversations that it wrote, and small ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.conversations import ENDS_WITH_CALL
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.logged import LoggedAnswer, UnreadableLogError
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, QUESTION, RECORDED, imported, lines_of, record_of, scores, shop
from tests.plugins.logs.shared_logs import names, read, survives

CART, ORDERS = "/testbed/src/cart.py", "/testbed/src/orders.py"
ANSWER = "It takes them from the orders: reserve, in src/stock.py."
FORMER = "openhands_0.json"


def one(values: list[Any], unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer that the reader reads of values."""
    (answer,) = read("openhands", values, unread=unread)
    return answer


def event(kind: str, source: str = "agent", second: int = 0, **more: Any) -> dict[str, Any]:
    """An event of the SDK."""
    return {"kind": kind, "source": source, "timestamp": f"2026-01-01T10:00:{second:02}", **more}


def said(words: str, source: str = "user", second: int = 0) -> dict[str, Any]:
    """A message."""
    role = "user" if source == "user" else "assistant"
    message = {"role": role, "content": [{"type": "text", "text": words}]}
    return event("MessageEvent", source, second, llm_message=message)


def acted(tool: str, key: str, reply: str = "r", **arguments: Any) -> dict[str, Any]:
    """A call, with its arguments as the model gave them."""
    call = {"id": key, "name": tool, "arguments": json.dumps(arguments)}
    return event("ActionEvent", tool_name=tool, tool_call_id=key, tool_call=call, llm_response_id=reply)


def observed(key: str, words: str, folder: str | None = None, code: int = 0, **more: Any) -> dict[str, Any]:
    """Return the observation of a call; that of a command names the folder in which it ended."""
    observation: dict[str, Any] = {"content": [{"type": "text", "text": words}], "is_error": False, **more}
    if folder is not None:
        observation["metadata"] = {"exit_code": code, "working_dir": folder}
    return event("ObservationEvent", "environment", tool_call_id=key, observation=observation)


@pytest.mark.parametrize("log", ["openhands_sdk.jsonl", FORMER])
def test_a_real_conversation_scores_as_the_record_by_hand(tmp_path: Path, log: str) -> None:
    """Read were cart and orders, between which lies one of two gold edges: recall 1/2, precision 1/1."""
    data = shop(tmp_path)
    name = "q1.json" if log == FORMER else "q1.jsonl"
    (tmp_path / name).write_bytes((RECORDED / log).read_bytes())
    imported(data, tmp_path / name, "openhands")
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert (record_of(data)["question_id"], record_of(data)["answer"]) == ("q1", ANSWER)


def test_what_a_conversation_logs() -> None:
    """Five replies, a failed view, and the text that finish hands in; a test model counts no tokens and cost.

    22:17:00.117 to 22:17:01.097 are 979 ms.
    """
    unread: Counter[str] = Counter()
    answer = one(lines_of("openhands_sdk.jsonl"), unread)
    assert (answer.question_text, answer.answer, answer.opened) == (QUESTION, ANSWER, ["src/cart.py", CART, ORDERS])
    assert [(call.name, call.seen, call.failed) for call in answer.tool_calls or ()] == [
        ("terminal", ["src/cart.py"], False),
        ("file_editor", [CART], False),
        ("terminal", [ORDERS], False),
        ("file_editor", [], True),
        ("finish", [], False),
    ]
    assert answer.latency_ms == pytest.approx(979.4, abs=0.1)
    assert answer.model_calls == 5
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.model) == (None, None, None, None)
    assert (answer.folders, answer.retrieved, answer.notes, unread) == (["/testbed"], None, [FAILED], Counter())


def test_what_version_0_logs() -> None:
    """Observations name their actions; an error is one of the reads."""
    unread: Counter[str] = Counter()
    answer = one([json.loads((RECORDED / FORMER).read_text("utf-8"))], unread)
    assert (answer.question_text, answer.answer, answer.opened) == (QUESTION, ANSWER, ["src/cart.py", CART, ORDERS])
    assert [(call.name, call.failed) for call in answer.tool_calls or ()] == [
        ("execute_bash", False),
        ("read", False),
        ("execute_bash", False),
        ("read", True),
        ("finish", False),
    ]
    assert (answer.notes, unread) == ([FAILED], Counter())


def test_records_of_benchmarks() -> None:
    """The instance names the question, metrics have tokens and cost; older histories are pairs of events."""
    events = json.loads((RECORDED / FORMER).read_text("utf-8"))
    used = {"prompt_tokens": 70, "completion_tokens": 7}
    metrics = {"accumulated_cost": 0.5, "accumulated_token_usage": used}
    record = {"instance_id": "i1", "history": events, "metrics": metrics, "metadata": {"llm_config": {"model": "m"}}}
    unread: Counter[str] = Counter()
    answer = one([record | {"resolved": True}], unread)
    assert (answer.question, answer.opened, answer.answer) == ("i1", ["src/cart.py", CART, ORDERS], ANSWER)
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.model) == (70, 7, 0.5, "m")
    assert unread == Counter({"resolved": 1})
    pairs = [events[:1], *([action, seen] for action, seen in zip(events[1::2], events[2::2], strict=False))]
    assert one([{"instance_id": "i1", "history": pairs}]).opened == ["src/cart.py", CART, ORDERS]


def test_the_terminal_keeps_its_folder_until_a_reply_runs_several_commands() -> None:
    """Each of these may have a terminal of its own: a plain name behind a `cd` could be of several files."""
    events = [
        acted("terminal", "c1", "r1", command="cd src"),
        observed("c1", "", "/r/src"),
        acted("terminal", "c2", "r2", command="cat a.py"),
        observed("c2", "x", "/r/src"),
        acted("terminal", "c3", "r3", command="cd .."),
        acted("terminal", "c4", "r3", command="cat b.py"),
        observed("c3", "", "/r"),
        observed("c4", "x", "/r/src"),
        acted("terminal", "c5", "r4", command="y", is_input=True),
        observed("c5", ""),
    ]
    answer = one(events)
    assert (answer.opened, answer.unknown_calls, answer.model_calls) == (["/r/src/a.py"], 1, 4)


def test_files_that_a_search_listed_are_found() -> None:
    """Grep and glob list files; a thought shows nothing, and a rejected call opened nothing."""
    answer = one(
        [
            acted("grep", "c1", pattern="f", path="/r"),
            observed("c1", "Found", matches=["/r/a.py"]),
            acted("glob", "c2", pattern="*.c"),
            observed("c2", "No files", files=[]),
            acted("think", "c3", thought="hm"),
            observed("c3", "Your thought has been logged."),
            acted("file_editor", "c4", command="view", path="/r/b.py"),
            event("UserRejectObservation", "environment", tool_call_id="c4", rejection_reason="no"),
        ]
    )
    assert (names(answer), answer.opened, answer.unknown_calls) == (["/r/a.py"], [], 0)
    assert [call.seen for call in answer.tool_calls or ()] == [["/r/a.py"], [], [], []]


def test_the_state_of_a_conversation_has_its_costs() -> None:
    """The last state counts, and all its models: 100 + 10 and 5 + 1 tokens, 0.25 + 0.5."""

    def state(key: str, *used: tuple[int, int, float]) -> dict[str, Any]:
        spent = {
            f"m{number}": {
                "accumulated_cost": cost,
                "accumulated_token_usage": {"prompt_tokens": prompt, "completion_tokens": output},
                "model_name": "m",
            }
            for number, (prompt, output, cost) in enumerate(used)
        }
        stats = {"usage_to_metrics": spent}
        return event("ConversationStateUpdateEvent", key=key, value=stats if key == "stats" else {"stats": stats})

    answer = one(
        [
            said("?"),
            state("full_state", (1, 1, 0.0)),
            state("stats", (100, 5, 0.25), (10, 1, 0.5)),
            said("f", "agent", 2),
        ]
    )
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.model) == (110, 6, 0.75, "m")
    assert (answer.answer, answer.latency_ms, answer.opened, answer.tool_calls) == ("f", 2000.0, [], [])


@pytest.mark.parametrize(
    ("code", "error", "notes"),
    [
        ("LLMAuthenticationError", "no key", []),
        ("MaxIterationsReached", None, ["the conversation ended with 'MaxIterationsReached'"]),
    ],
)
def test_errors_end_a_conversation(code: str, error: str | None, notes: list[str]) -> None:
    """A limit is a doubt: what was opened until then is known."""
    end = event("ConversationErrorEvent", "environment", code=code, detail="no key")
    answer = one([said("?"), acted("file_editor", "c1", path="/r/a.py"), observed("c1", "x"), end])
    assert (answer.answer, answer.error, answer.opened) == (None, error, ["/r/a.py"])
    assert [note for note in answer.notes if note != ENDS_WITH_CALL] == notes


def test_a_single_event_is_refused() -> None:
    """Each lies in a file of its own: read alone it would be a walk of nothing."""
    with pytest.raises(UnreadableLogError, match=r"a single event of a conversation\n.*cat events/event-\*\.json"):
        one([said("?")])


def test_events_of_unknown_kinds_are_counted() -> None:
    """So are the observations of no action, and what lies between events."""
    unread: Counter[str] = Counter()
    one([said("?"), event("ACPToolCallEvent", parent_id="x")], unread)
    one([{"question_id": "q", "history": [said("?"), 5]}], unread)
    lost = {"source": "environment", "observation": "browse", "content": "x"}
    one([{"source": "user", "action": "message", "args": {"content": "?"}}, lost], unread)
    assert unread == Counter(
        {
            "events of the kind ACPToolCallEvent": 1,
            "history: other values than events": 1,
            "observations of browse without an action": 1,
        }
    )


@pytest.mark.slow("values of every kind at every place")
def test_hostile_events_are_survived(tmp_path: Path) -> None:
    """Whatever stands in the place of a value is read past or refused; a broken line is an error of the file."""
    lines = [{key: part for key, part in one.items() if key != "tools"} for one in lines_of("openhands_sdk.jsonl")]
    assert survives("openhands", lines[1:6]) > 100
    assert survives("openhands", {"instance_id": "i", "history": lines_of(FORMER)[0][:6]}) > 100
    data = shop(tmp_path)
    log = write_jsonl(tmp_path / "q1.jsonl", lines[1:3])
    log.write_text(log.read_text("utf-8") + '{"kind": "Mess', "utf-8")
    with pytest.raises(Exception, match=r"q1\.jsonl:3"):
        imported(data, log, "openhands")


def test_the_files_of_events_may_be_put_together_by_cat(tmp_path: Path) -> None:
    """They end without a line's end, and stand one behind the other on one line."""
    data = shop(tmp_path)
    log = tmp_path / "q1.jsonl"
    log.write_text("".join(json.dumps(one) for one in lines_of("openhands_sdk.jsonl")), "utf-8")
    imported(data, log, "openhands")
    assert scores(data) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
