"""Sessions of Claude Code: files that it wrote, what it printed, and small ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.atif import SUBAGENT, SUBAGENT_COSTS
from graphkit.plugins.logs.conversations import MANY_QUESTIONS
from graphkit.plugins.logs.tool_calls import FAILED, PLAIN
from graphkit.readers.logged import LoggedAnswer
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, QUESTION, RECORDED, imported, lines_of, record_of, scores, shop
from tests.plugins.logs.shared_logs import names, read, survives

CART, ORDERS = "/testbed/src/cart.py", "/testbed/src/orders.py"
ANSWER = "It takes them from the orders: reserve, in src/stock.py."


def one(values: list[Any], unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer that the reader reads of lines."""
    (answer,) = read("claude-code", values, unread=unread)
    return answer


def line(kind: str, content: Any, name: str = "m1", session: str = "s", **more: Any) -> dict[str, Any]:
    """A line of a session with a message."""
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": name, "model": "m", "usage": {"input_tokens": 10, "output_tokens": 1}}
    return {"type": kind, "sessionId": session, "message": message, **more}


def use(name: str, key: str = "t1", **given: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def gave(content: Any, key: str = "t1", **more: Any) -> list[dict[str, Any]]:
    """The content that holds a tool's result."""
    return [{"type": "tool_result", "tool_use_id": key, "content": content, **more}]


@pytest.mark.parametrize("log", ["claude_code_session.jsonl", "claude_code_subagent.jsonl", "claude_code_stream.jsonl"])
def test_a_real_session_scores_as_the_record_by_hand(tmp_path: Path, log: str) -> None:
    """Read were cart and orders, between which lies one of two gold edges: recall 1/2, precision 1/1.

    What is printed as stream-json holds no prompt, so the question is named.
    """
    data = shop(tmp_path)
    options = {"question": "q1"} if "stream" in log else {}
    imported(data, RECORDED / log, "claude-code", **options)
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert (record_of(data)["question_id"], record_of(data)["answer"]) == ("q1", ANSWER)


def test_what_a_session_file_logs() -> None:
    """Four replies of 150 and 10 tokens, each in one line or two; what Grep listed; the time from question to answer.

    10:01:41.133 to 10:01:41.631 are 498 ms. Nothing says what it cost.
    """
    unread: Counter[str] = Counter()
    answer = one(lines_of("claude_code_session.jsonl"), unread)
    assert (answer.question_text, answer.answer) == (QUESTION, ANSWER)
    assert (answer.opened, names(answer), answer.folders) == ([CART, ORDERS], ["src/cart.py"], ["/testbed"])
    assert [(call.name, call.seen) for call in answer.tool_calls or ()] == [
        ("Grep", ["src/cart.py"]),
        ("Read", [CART]),
        ("Bash", [ORDERS]),
    ]
    # 4 * (100 + 20 + 30), 4 * 10.
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (600, 40, 4)
    assert (answer.latency_ms, answer.cost, answer.model) == (498.0, None, "claude-opus-4-8")
    assert (answer.notes, unread) == ([], Counter())


def test_what_stream_json_logs() -> None:
    """The end has the tokens of the whole, the time and the cost; the prompt isn't printed."""
    answer = one(lines_of("claude_code_stream.jsonl"))
    assert (answer.question_text, answer.answer) == (None, ANSWER)
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (600, 40, 4)
    assert answer.latency_ms == 749.0
    assert answer.cost == pytest.approx(0.00356)
    assert answer.folders == ["/testbed"]


def test_what_a_subagent_read_is_part_of_the_walk() -> None:
    """Its file behind that of the session: it read the orders before the session read the cart, and asked nothing.

    Three replies of the session alone count. Without the subagent's file what it did isn't known, and noted.
    """
    lines = lines_of("claude_code_subagent.jsonl")
    answer = one(lines)
    assert (answer.question_text, answer.opened) == (QUESTION, [ORDERS, CART])
    assert (answer.prompt_tokens, answer.model_calls, answer.notes) == (450, 3, [SUBAGENT_COSTS])
    alone = one([one for one in lines if not one.get("isSidechain")])
    assert (alone.opened, alone.unknown_calls, alone.notes) == ([CART], 1, [SUBAGENT])
    # The subagent's file for itself is a session.
    own = one([one for one in lines if one.get("isSidechain")])
    assert (own.question_text, own.opened, own.notes) == ("SUBTASK: read src/orders.py", [ORDERS], [])


def test_what_claude_code_writes_for_the_user_is_not_the_question() -> None:
    """Commands, reminders and summaries stand in the user's place; a second prompt is noted."""
    lines = [
        {"type": "summary", "summary": "Before", "leafUuid": "u"},
        {"type": "file-history-snapshot", "snapshot": {}, "messageId": "u"},
        line("user", "Caveat: The messages below were generated by the user.", isMeta=True),
        line("user", "<command-name>/clear</command-name>"),
        line("user", "Who calls f?"),
        line("assistant", [{"type": "text", "text": "g does."}]),
        line("user", "[Request interrupted by user]"),
        line("user", "This session is being continued.", isCompactSummary=True),
    ]
    answer = one(lines)
    assert (answer.question_text, answer.answer, answer.notes) == ("Who calls f?", "g does.", [])
    assert (answer.opened, answer.tool_calls, answer.retrieved) == ([], [], None)
    assert one([*lines, line("user", "And h?")]).notes == [MANY_QUESTIONS]


def test_lines_that_a_resumed_session_repeats_count_once() -> None:
    """A line is known by its uuid."""
    said = [line("user", "?", uuid="u1"), line("assistant", [use("Read", file_path="a.py")], uuid="u2")]
    answer = one([*said, *said, line("user", gave("x"), uuid="u3")])
    assert (answer.opened, len(answer.tool_calls or ()), answer.answer) == (["a.py"], 1, None)


@pytest.mark.parametrize(
    ("found", "retrieved", "notes"),
    [
        ({"mode": "files_with_matches", "filenames": [], "numFiles": 0}, [], []),
        ({"filenames": ["a.py"], "numFiles": 1, "durationMs": 3, "truncated": False}, ["a.py"], []),  # Glob
        ({"mode": "content", "filenames": [], "numFiles": 0, "content": "", "numLines": 0}, [], []),
        ({"mode": "content", "filenames": [], "numFiles": 0, "content": "a.py:1:f", "numLines": 1}, None, [PLAIN]),
        ({"mode": "count", "filenames": [], "numFiles": 1, "content": "a.py:1"}, None, [PLAIN]),
    ],
)
def test_what_a_search_found_is_known_where_files_are_listed(
    found: dict[str, Any], retrieved: list[str] | None, notes: list[str]
) -> None:
    """Lines and counts of matches are plain text, which isn't a search that found nothing."""
    lines = [line("assistant", [use("Grep", pattern="f")]), line("user", gave("text"), toolUseResult=found)]
    answer = one(lines)
    assert (names(answer), answer.opened, answer.notes) == (retrieved, [], notes)


def test_each_call_runs_in_the_folder_that_its_line_names() -> None:
    """The shell keeps its folder; of two calls in one reply the second may run elsewhere, if the first moves."""
    lines = [
        line("assistant", [use("Bash", "t1", command="cd src && cat a.py")], "m1", cwd="/r"),
        line("user", gave("x", "t1"), cwd="/r/src"),
        line("assistant", [use("Bash", "t2", command="cat b.py")], "m2", cwd="/r/src"),
        line("user", gave("x", "t2"), cwd="/r/src"),
        line("assistant", [use("Bash", "t3", command="cd ..")], "m3", cwd="/r/src"),
        line("assistant", [use("Bash", "t4", command="cat c.py")], "m3", cwd="/r/src"),
        line("user", [*gave("", "t3"), *gave("x", "t4")], cwd="/r"),
    ]
    answer = one(lines)
    assert (answer.opened, answer.unknown_calls) == (["/r/src/a.py", "/r/src/b.py"], 1)


def test_errors_end_a_session() -> None:
    """An error of the interface as the last reply is the error; one that was retried isn't. A limit is a doubt."""
    error = line("assistant", [{"type": "text", "text": "API Error: 500"}], "x", isApiErrorMessage=True)
    error["message"]["model"] = "<synthetic>"
    failed = one([line("user", "?"), error])
    assert (failed.answer, failed.error, failed.error_type, failed.model) == (None, "API Error: 500", "api_error", None)
    went_on = one([line("user", "?"), error, line("assistant", [{"type": "text", "text": "f"}])])
    assert (went_on.answer, went_on.error, went_on.model) == ("f", None, "m")
    end = {"type": "result", "session_id": "s", "subtype": "error_max_turns", "is_error": True, "total_cost_usd": 0.5}
    limit = one([line("user", "?"), line("assistant", [use("Read", file_path="a.py")]), end])
    assert (limit.answer, limit.error, limit.cost) == (None, None, 0.5)
    assert limit.notes == ["the session ended with 'error_max_turns'"]
    refused = gave("<tool_use_error>File does not exist.</tool_use_error>", is_error=True)
    gone = one([line("assistant", [use("Read", file_path="a.py")]), line("user", refused)])
    assert (gone.opened, gone.notes) == ([], [FAILED])


def test_sessions_of_one_file_are_kept_apart() -> None:
    """By their ids, with questions that the lines name or that stand around a list of lines."""
    lines = [line("user", "A?", session="a"), line("user", "B?", session="b", question_id="q2")]
    lines.append(line("assistant", [{"type": "text", "text": "A."}], session="a"))
    found = read("claude-code", lines)
    assert [(one.question, one.question_text, one.answer) for one in found] == [(None, "A?", "A."), ("q2", "B?", None)]
    wrapped = one([{"question_id": "q1", "seconds": 2, "transcript": [lines[0], lines[2]]}])
    assert (wrapped.question, wrapped.answer, wrapped.latency_ms) == ("q1", "A.", 2000.0)


def test_lines_of_unknown_types_are_counted() -> None:
    """So are the files that the user attached, which no call shows."""
    unread: Counter[str] = Counter()
    news = {"type": "news", "sessionId": "s", "uuid": "u"}
    attached = {"type": "attachment", "sessionId": "s", "attachment": {"type": "file", "filename": "a.py"}}
    one([line("user", "?"), news, attached], unread)
    assert unread == Counter({"lines of the type news": 1, "files that the user attached": 1})


@pytest.mark.slow("values of every kind at every place")
def test_hostile_sessions_are_survived(tmp_path: Path) -> None:
    """Whatever stands in the place of a value is read past or refused; a broken line is an error of the file."""
    lines = [*lines_of("claude_code_session.jsonl")[5:10], *lines_of("claude_code_stream.jsonl")[-1:]]
    assert survives("claude-code", lines) > 100
    data = shop(tmp_path)
    log = write_jsonl(tmp_path / "q1.jsonl", lines)
    log.write_text(log.read_text("utf-8") + '{"type": "user", "sess', "utf-8")
    with pytest.raises(Exception, match=r"q1\.jsonl:7"):
        imported(data, log, "claude-code")


def test_a_record_holds_no_walk_that_a_session_does_not_show(tmp_path: Path) -> None:
    """An Agent's result alone: its reads lie in another file, so the walk isn't known, and no 0."""
    data = shop(tmp_path)
    lines = [line("user", QUESTION), line("assistant", [use("Agent", prompt="Look")]), line("user", gave("orders.py"))]
    log = write_jsonl(tmp_path / "log.jsonl", [json.loads(json.dumps(one)) for one in lines])
    imported(data, log, "claude-code")
    assert "traversal" not in record_of(data)
    assert scores(data) == {"EdgeRecall": None, "EdgePrecision": None}
