"""Sessions of OpenCode, Copilot CLI, Cursor, Goose and Aider, in the forms that their sources state.

Each session reads the cart and the orders of the small shop, between which lies one of two gold edges: recall 1/2,
precision 1/1, as of the record by hand.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.imports.importer import import_log
from graphkit.plugins.logs.agent_sessions import ABORTED
from graphkit.plugins.logs.aider import AiderReader
from graphkit.plugins.logs.conversations import MANY_QUESTIONS
from graphkit.plugins.logs.cursor import WITHOUT_RESULTS
from graphkit.plugins.logs.model_messages import CUT
from graphkit.plugins.logs.tool_calls import FAILED, WITHOUT_RESULT
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, QUESTION, imported, record_of, scores, shop
from tests.plugins.logs.shared_logs import read, survives

CART, ORDERS = "/w/src/cart.py", "/w/src/orders.py"
ANSWER = "It takes them from the orders."
OTHER = "Which stock is taken by the orders?"


@dataclass(frozen=True)
class Use:
    """A call of a tool, by the name of what it opens, with its result, or None if that is missing."""

    path: str
    result: Any = "def take(): ..."
    failed: bool = False
    tool: str = "read"


Session = Callable[..., list[Any]]


def opencode(*uses: Use) -> list[Any]:
    """What ``opencode export`` prints: each reply with the states of its tools."""
    parts = []
    for number, use in enumerate(uses):
        state: dict[str, Any] = {"status": "running", "input": {"filePath": use.path}, "time": {"start": 1}}
        if use.result is not None:
            key = "error" if use.failed else "output"
            state |= {"status": "error" if use.failed else "completed", key: use.result}
        parts.append({"id": f"prt_{number}", "type": "tool", "callID": f"c{number}", "tool": use.tool, "state": state})
    tokens = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 90, "write": 0}}
    reply = {"role": "assistant", "modelID": "m", "cost": 0.25, "tokens": tokens, "path": {"cwd": "/w"}}
    asked = {"role": "user", "time": {"created": 1700000000000}}
    messages = [
        {"info": asked, "parts": [{"type": "text", "text": QUESTION}]},
        {"info": {**reply, "time": {"created": 1700000001000, "completed": 1700000002000}}, "parts": parts},
        {
            "info": {**reply, "time": {"created": 1700000002000, "completed": 1700000002500}},
            "parts": [{"type": "step-start"}, {"type": "text", "text": ANSWER}, {"type": "step-finish"}],
        },
    ]
    return [{"info": {"id": "ses_1", "directory": "/w"}, "messages": messages, "todos": []}]


def copilot(*uses: Use) -> list[Any]:
    """A file of events, of which some say nothing of a question."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("session.start", {"sessionId": "s", "version": 1, "producer": "copilot-agent", "context": {"cwd": "/w"}}),
        ("session.info", {"infoType": "mcp", "message": "connected"}),
        ("user.message", {"content": QUESTION, "transformedContent": "<now/>" + QUESTION}),
        ("assistant.turn_start", {"turnId": "0"}),
    ]
    requests = [
        {"toolCallId": f"c{number}", "name": use.tool, "arguments": {"path": use.path}}
        for number, use in enumerate(uses)
    ]
    asked = {"messageId": "m1", "content": "", "toolRequests": requests, "model": "m", "outputTokens": 5}
    events.append(("assistant.message", asked))
    for number, use in enumerate(uses):
        call = {"toolCallId": f"c{number}"}
        events.append(("tool.execution_start", {**call, "toolName": use.tool, "arguments": {"path": use.path}}))
        if use.result is not None:
            ended = {"error": {"message": use.result}} if use.failed else {"result": {"content": use.result}}
            events.append(("tool.execution_complete", {**call, "success": not use.failed, **ended}))
    events.append(("assistant.message", {"messageId": "m2", "content": ANSWER, "model": "m", "outputTokens": 5}))
    return [
        {
            "type": kind,
            "data": data,
            "id": f"e{place}",
            "timestamp": f"2026-01-01T10:00:{place:02}.000Z",
            "parentId": None,
        }
        for place, (kind, data) in enumerate(events)
    ]


def cursor(*uses: Use) -> list[Any]:
    """What ``cursor-agent`` prints."""
    around = {"session_id": "s"}
    lines: list[dict[str, Any]] = [
        {
            "type": "system",
            "subtype": "init",
            "apiKeySource": "login",
            "cwd": "/w",
            "model": "m",
            "permissionMode": "default",
        },
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": QUESTION}]}},
        {"type": "thinking", "subtype": "delta", "text": "so", "timestamp_ms": 1},
    ]
    for number, use in enumerate(uses):
        for subtype in ("started", "completed"):
            held: dict[str, Any] = {"args": {"path": use.path}}
            if subtype == "completed" and use.result is None:
                continue
            if subtype == "completed":
                failed = {"error": {"path": use.path, "error": use.result}}
                held["result"] = failed if use.failed else {"success": {"content": use.result, "totalLines": 1}}
            call = {f"{use.tool}ToolCall": held}
            lines.append({"type": "tool_call", "subtype": subtype, "call_id": f"c{number}", "tool_call": call})
    said = {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}
    usage = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 90, "cacheWriteTokens": 0}
    lines.append({"type": "assistant", "message": said})
    ended = {"is_error": False, "result": ANSWER, "duration_ms": 2500, "duration_api_ms": 2000, "request_id": "r"}
    lines.append({"type": "result", "subtype": "success", **ended, "usage": usage})
    return [{**line, **around} for line in lines]


def goose(*uses: Use) -> list[Any]:
    """What ``goose session export --format json`` prints."""
    asked, gave = [], []
    for number, use in enumerate(uses):
        call = {"status": "success", "value": {"name": use.tool, "arguments": {"path": use.path}}}
        asked.append({"type": "toolRequest", "id": f"c{number}", "toolCall": call})
        value = {"content": [{"type": "text", "text": use.result}], "isError": False}
        result = {"status": "error", "error": use.result} if use.failed else {"status": "success", "value": value}
        if use.result is not None:
            gave.append({"type": "toolResponse", "id": f"c{number}", "toolResult": result})
    contents = [
        ("user", [{"type": "text", "text": QUESTION}]),
        ("assistant", [{"type": "thinking", "thinking": "so", "signature": ""}, *asked]),
        ("user", gave),
        ("assistant", [{"type": "text", "text": ANSWER}]),
    ]
    conversation = [{"role": role, "created": 1, "content": content} for role, content in contents if content]
    session = {"id": "20260101_1", "working_dir": "/w", "name": "cart", "message_count": 4}
    tokens = {"accumulated_input_tokens": 200, "accumulated_output_tokens": 10}
    return [{**session, **tokens, "model_config": {"model_name": "m"}, "conversation": conversation}]


FORMS: dict[str, Session] = {"opencode": opencode, "copilot": copilot, "cursor": cursor, "messages": goose}

each_form = pytest.mark.parametrize("name", FORMS)


def one(name: str, *uses: Use, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer of a session with these calls."""
    (answer,) = read(name, FORMS[name](*uses), unread=unread)
    return answer


@each_form
def test_a_session_scores_as_the_record_by_hand(name: str, tmp_path: Path) -> None:
    """The format is recognised, and the question by its text."""
    data = shop(tmp_path)
    log = tmp_path / "log.jsonl"
    write_jsonl(log, FORMS[name](Use(CART), Use(ORDERS)))
    imported(data, log, name)
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert (record_of(data)["question_id"], record_of(data)["answer"]) == ("q1", ANSWER)


@each_form
def test_what_a_session_logs(name: str) -> None:
    """Names in order, the folder, the model, and what the form has of tokens, costs and times.

    OpenCode: two replies of 10 + 90 and 5 tokens, .25 each, from 0 to 2.5 s. Copilot: 5 tokens a reply; from event 2 to
    the last one, of 2 + 7 events: 7 s. Cursor and Goose state their totals.
    """
    answer = one(name, Use(CART), Use(ORDERS))
    assert (answer.question_text, answer.answer) == (QUESTION, ANSWER)
    assert (answer.opened, answer.folders, answer.model, answer.notes) == ([CART, ORDERS], ["/w"], "m", [])
    figures = {
        "opencode": (200, 10, 0.5, 2500.0),
        "copilot": (None, 10, None, 7000.0),
        "cursor": (100, 5, None, 2500.0),
        "messages": (200, 10, None, None),
    }
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.latency_ms) == figures[name]


@each_form
def test_a_failed_call_opens_nothing(name: str) -> None:
    """By the mark of its form, or by the text of its result."""
    for use in (Use(CART, "File not found", failed=True), Use(CART, "Error: ENOENT: no such file")):
        answer = one(name, use, Use(ORDERS))
        assert [call.failed for call in answer.tool_calls or ()] == [True, False]
        assert answer.opened == [ORDERS]
        assert FAILED in answer.notes


@each_form
def test_a_call_without_a_result_failed(name: str) -> None:
    """The second call was killed."""
    answer = one(name, Use(CART), Use(ORDERS, None))
    assert [call.failed for call in answer.tool_calls or ()] == [False, True]
    assert answer.opened == [CART]
    assert WITHOUT_RESULT in answer.notes


@each_form
def test_an_empty_result_shows_nothing(name: str) -> None:
    """A search with an empty result leaves nothing unknown, and a text does."""
    assert one(name, Use("src", "", tool="grep")).unknown_calls == 0
    assert one(name, Use("src", "it is in the cart", tool="grep")).unknown_calls == 1


@each_form
def test_a_tool_may_return_a_graph(name: str) -> None:
    """An edge in a result is walked."""
    graph = {"edges": [{"source": CART, "relation": "IMPORTS", "target": ORDERS}]}
    ((edge,),) = one(name, Use("q", json.dumps(graph), tool="query")).shown
    assert (edge.source, edge.relation, edge.target) == (CART, "IMPORTS", ORDERS)


@each_form
def test_unknown_parts_are_reported(name: str) -> None:
    """A part, an event or a line of an unknown type is counted."""
    values = FORMS[name](Use(CART))
    if name == "opencode":
        values[0]["messages"][1]["parts"].append({"type": "hologram"})
    elif name == "messages":
        values[0]["conversation"][1]["content"].append({"type": "hologram"})
    elif name == "copilot":
        values.append({**values[0], "type": "hologram.shown"})
    else:
        values.insert(-1, {"type": "hologram", "session_id": "s"})
    unread: Counter[str] = Counter()
    numbered = [(f"log:{number}", value) for number, value in enumerate(values, 1)]
    (answer,) = reader_of(name).read(numbered, ReadOptions(), unread)
    assert answer.opened == [CART]
    assert any("hologram" in field for field in unread), unread


@each_form
def test_two_questions_of_a_session(name: str) -> None:
    """Each has its own call and its own answer."""
    first, other = FORMS[name](Use(CART)), json.dumps(FORMS[name](Use(ORDERS)))
    second = json.loads(other.replace(QUESTION, OTHER).replace(ANSWER, "The stock.").replace('"c0"', '"d0"'))
    if name in ("opencode", "messages"):
        key = "messages" if name == "opencode" else "conversation"
        first[0][key] += second[0][key]
    else:
        first += second[1:]
    (answer,) = read(name, first)
    assert answer.dialogue is not None
    parts = answer.dialogue.each_question(answer, lambda text, _=None: {QUESTION: "q1", OTHER: "q2"}.get(text))
    assert [(one.answer, one.opened) for one in parts] == [(ANSWER, [CART]), ("The stock.", [ORDERS])]


@each_form
def test_a_session_survives(name: str) -> None:
    """Whatever stands in its place."""
    for value in FORMS[name](Use("y", "no", failed=True)):
        survives(name, value)


# Each by itself ------------------------------------------------------------------------------------------------------


def test_the_parts_that_opencode_prints() -> None:
    """``run --format json``: a prompt isn't printed, and the tokens are those of the step: 100 and 5."""
    exported = opencode(Use(CART))[0]["messages"]
    tool = {**exported[1]["parts"][0], "messageID": "m1"}
    finish = {"type": "step-finish", "messageID": "m1", "cost": 0.25, "tokens": exported[1]["info"]["tokens"]}
    said = {"type": "text", "messageID": "m2", "text": ANSWER}
    parts = [("tool_use", tool), ("step_finish", finish), ("text", said)]
    events = [
        {"type": kind, "timestamp": 1700000000000 + 500 * place, "sessionID": "s", "part": part}
        for place, (kind, part) in enumerate(parts)
    ]
    (answer,) = read("opencode", [*events, {"type": "done", "timestamp": 1700000002000, "sessionID": "s"}])
    assert (answer.question_text, answer.answer, answer.opened) == (None, ANSWER, [CART])
    assert (answer.prompt_tokens, answer.output_tokens, answer.latency_ms) == (100, 5, 1000.0)
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    failed = {"type": "error", "timestamp": 1700000002000, "sessionID": "s", "error": error}
    (answer,) = read("opencode", [*events[:2], failed])
    assert (answer.answer, answer.error, answer.error_type) == (None, "overloaded", "APIError")
    (answer,) = read("opencode", [*events[:2], failed, events[2]])  # it was asked again
    assert (answer.answer, answer.error) == (ANSWER, None)


def test_messages_that_the_server_of_opencode_lists() -> None:
    """A session is its messages, without what stands around them in an export."""
    messages = [{**one, "info": {**one["info"], "sessionID": "s"}} for one in opencode(Use(CART))[0]["messages"]]
    (answer,) = read("opencode", messages)
    assert (answer.question_text, answer.answer, answer.opened) == (QUESTION, ANSWER, [CART])


def test_what_opencode_searches_and_runs() -> None:
    """Its grep and glob name files, and its shell the exit code; a subtask has another session."""
    grep = f"Found 1 matches\n{CART}:\n  Line 3: def take()"
    glob = f"{ORDERS}\n\n(Results are truncated. Consider using a more specific path or pattern.)"
    export = opencode(Use("a", grep, tool="grep"), Use("b", glob, tool="glob"), Use("c", tool="bash"))
    state = export[0]["messages"][1]["parts"][2]["state"]
    state |= {"input": {"command": "cat src/stock.py"}, "output": "def", "metadata": {"exit": 0}}
    (answer,) = read("opencode", export)
    assert [chunk.name for chunk in answer.retrieved or ()] == [CART, ORDERS]
    assert answer.opened == ["/w/src/stock.py"]
    state["metadata"]["exit"] = 1
    (answer,) = read("opencode", export)
    assert (answer.opened, (answer.tool_calls or [])[2].failed) == ([], True)


def test_a_reply_that_was_cut() -> None:
    """OpenCode says why a reply ended."""
    export = opencode(Use(CART))
    export[0]["messages"][-1]["info"]["finish"] = "length"
    (answer,) = read("opencode", export)
    assert CUT in answer.notes


def test_opencode_speaks_for_the_user() -> None:
    """Synthetic words aren't asked, a summary isn't an answer, and an aborted reply is a doubt."""
    export = opencode(Use(CART))
    asked, _, reply = export[0]["messages"]
    asked["parts"].insert(0, {"type": "text", "text": "Called the Read tool", "synthetic": True})
    asked["parts"].append({"type": "file", "url": "file:///w/a.py"})
    summary = {"info": {"role": "assistant", "summary": True}, "parts": [{"type": "text", "text": "so far"}]}
    reply["info"]["error"] = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    export[0]["messages"].append(summary)
    unread: Counter[str] = Counter()
    (answer,) = read("opencode", export, unread=unread)
    assert (answer.question_text, answer.answer, answer.error) == (QUESTION, ANSWER, None)
    assert ABORTED in answer.notes
    assert unread["files that the user attached"] == 1


def test_copilot_shells_searches_and_subagents() -> None:
    """An exit code ends what its shell prints; a subagent's reply is none of the session's."""
    printed = "def take(): ...\n<exited with exit code 0>"
    events = copilot(Use("a", printed, tool="bash"), Use("b", "./src/orders.py", tool="glob"))
    for event in events:
        for call in (event["data"], *event["data"].get("toolRequests", ())):
            if call.get("toolCallId") == "c0" and "arguments" in call:
                call["arguments"] = {"command": "cat src/cart.py"}
    inner = {"messageId": "m3", "content": "found it", "parentToolCallId": "c1", "model": "small"}
    events.append({**events[-1], "data": inner, "id": "e20"})
    (answer,) = read("copilot", events)
    assert (answer.opened, answer.answer, answer.model) == ([CART], ANSWER, "m")
    assert [chunk.name for chunk in answer.retrieved or ()] == ["./src/orders.py"]


def test_copilot_ends() -> None:
    """A shutdown states the tokens of each model: 300 + 20 and 30 + 2. An error without a later reply is one."""
    usage = {
        "a": {"usage": {"inputTokens": 300, "outputTokens": 30}},
        "b": {"usage": {"inputTokens": 20, "outputTokens": 2}},
    }
    events = copilot(Use(CART))
    ended = {**events[-1], "type": "session.shutdown", "data": {"shutdownType": "routine", "modelMetrics": usage}}
    (answer,) = read("copilot", [*events, ended])
    assert (answer.prompt_tokens, answer.output_tokens) == (320, 32)
    error = {**events[-1], "type": "session.error", "data": {"errorType": "quota", "message": "no quota"}}
    (answer,) = read("copilot", [*events[:-1], error])
    assert (answer.answer, answer.error, answer.error_type) == (None, "no quota", "quota")
    assert len(read("copilot", [*events, *events])) == 2


def test_what_cursor_finds_and_runs() -> None:
    """The results of its tools name files in folders; what an MCP server gives is in blocks; pieces are skipped."""
    lines = cursor(*(Use("x", tool=tool) for tool in ("grep", "glob", "semSearch", "shell", "mcp")))
    gave = {
        "grep": {"workspaceResults": {"/w": {"content": {"matches": [{"file": "./src/cart.py", "matches": []}]}}}},
        "glob": {"path": "/w", "files": ["src/orders.py"]},
        "semSearch": {"results": '<search_result path="src/stock.py" startLine="1">...</search_result>'},
        "shell": {"exitCode": 0, "stdout": "def", "stderr": ""},
        "mcp": {"content": [{"text": {"text": '{"edges": [{"source": "a", "target": "b", "type": "R"}]}'}}]},
    }
    given = {"shell": {"command": "cat page.py"}, "mcp": {"toolName": "graph", "args": {"query": "q"}}}
    for line in lines:
        for name, held in line.get("tool_call", {}).items():
            tool = name.removesuffix("ToolCall")
            held["args"] = given.get(tool, {"pattern": "p"})
            if "result" in held:
                held["result"] = {"success": gave[tool], "isBackground": False}
    piece = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "It"}]}}
    lines.insert(-2, {**piece, "session_id": "s", "timestamp_ms": 5})
    (answer,) = read("cursor", lines)
    assert [one.name for one in answer.retrieved or ()][:3] == [CART, ORDERS, "src/stock.py"]
    assert (answer.opened, answer.answer, answer.model_calls) == (["/w/page.py"], ANSWER, 1)
    assert [call.name for call in answer.tool_calls or ()][-1] == "graph"
    assert [(edge.source, edge.target) for path in answer.shown for edge in path] == [("a", "b")]


def test_a_transcript_of_cursor_has_no_results(tmp_path: Path) -> None:
    """Its calls name what they open; whether they failed is a doubt."""
    typed = f"<user_query>\n{QUESTION}\n</user_query>"
    calls = [{"type": "tool_use", "name": "Read", "input": {"path": path}} for path in (CART, ORDERS)]
    lines: list[Any] = [
        {"role": "user", "message": {"content": [{"type": "text", "text": typed}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."}, *calls]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": ANSWER}]}},
        {"type": "turn_ended", "status": "aborted"},
    ]
    data = shop(tmp_path)
    write_jsonl(tmp_path / "log.jsonl", lines)
    imported(data, tmp_path / "log.jsonl", "cursor")
    assert scores(data) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    (answer,) = read("cursor", lines)
    assert (answer.question_text, answer.answer) == (QUESTION, ANSWER)
    assert answer.notes == [WITHOUT_RESULTS, ABORTED]


def test_a_file_of_goose() -> None:
    """Its first line has the folder and the tokens, and each further one a message; older results are lists."""
    session = goose(Use(CART))[0]
    messages = session.pop("conversation")
    response = messages[2]["content"][0]["toolResult"]
    response["value"] = response["value"]["content"]
    (answer,) = read("messages", [session, *messages])
    assert (answer.question_text, answer.answer, answer.opened) == (QUESTION, ANSWER, [CART])
    assert (answer.folders, answer.prompt_tokens) == (["/w"], 200)


def test_results_of_goose_without_a_status() -> None:
    """A call may stand by itself, and a result be its value alone; what a shell printed is in fields of its own."""
    session = goose(Use("cat src/stock.py", tool="shell"))
    call, result = (session[0]["conversation"][place]["content"][-1] for place in (1, 2))
    call["toolCall"] = {"name": "shell", "arguments": {"command": "cat src/stock.py"}}
    result["toolResult"] = {
        "value": {"structuredContent": {"stdout": "def", "stderr": "", "exit_code": 0}, "content": []}
    }
    (answer,) = read("messages", session)
    assert (answer.opened, [one.failed for one in answer.tool_calls or ()]) == (["src/stock.py"], [False])


# Aider ---------------------------------------------------------------------------------------------------------------

CHAT = f"""\

# aider chat started at 2026-01-01 10:00:00

> /usr/bin/aider src/cart.py  
> Aider v0.86.1  
> Main model: m with diff edit format  
> Git repo: .git with 4 files  
> Added src/cart.py to the chat.  

#### {QUESTION}  

I need to see src/orders.py.

# Why
It is imported.

> Tokens: 1,200 sent, 30 received. Cost: $0.01 message, $0.01 session.  
>  
> src/orders.py  
> Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: y  
>  
> src/page.py  
> Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: n  

{ANSWER}

> Tokens: 1,500 sent, 20 received. Cost: $0.02 message, $0.03 session.  
> Added 12 lines of output to the chat.  
"""


def chats(text: str, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Return the answers of a history."""
    return list(AiderReader().read([("log:1", text)], ReadOptions(), Counter() if unread is None else unread))


def test_a_chat_with_aider(tmp_path: Path) -> None:
    """The cart was added at the beginning, the orders by consent, and the page not."""
    data = shop(tmp_path)
    log = tmp_path / ".aider.chat.history.md"
    log.write_text(CHAT, "utf-8")
    imported(data, log, "aider")
    assert scores(data) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert record_of(data)["question_id"] == "q1"
    (answer,) = chats(CHAT)
    assert (answer.where, answer.opened, answer.answer) == ("log:2", ["src/cart.py", "src/orders.py"], ANSWER)
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost) == (2700, 50, 0.03)
    assert (answer.model, answer.model_calls, answer.retrieved) == ("m", 2, None)


def test_what_a_chat_leaves_open() -> None:
    """Commands ran, but what they printed isn't there; rounded tokens have no sum; the question is what was typed."""
    notes = "> Running cat src/page.py  \n> Tokens: 2.3k sent, 20 received.\n"
    more = f"\n#### /run cat src/stock.py  \n\n#### /tokens  \n\n{notes}"
    unread: Counter[str] = Counter()
    (answer,) = chats(CHAT.replace(f"#### {QUESTION}", f"#### /ask {QUESTION}") + more, unread)
    assert (answer.question_text, answer.unknown_calls) == (QUESTION, 2)
    assert any("rounded" in note for note in answer.notes)
    chat = CHAT + f"\n#### {OTHER}  \n\nThe stock.\n\n> Applied edit to src/stock.py\n"
    answer = chats(chat)[0]
    assert answer.dialogue is not None
    first, second = answer.dialogue.each_question(answer, lambda text, _=None: {QUESTION: "q1", OTHER: "q2"}.get(text))
    assert (first.answer, second.answer, second.opened) == (ANSWER, "The stock.", ["src/stock.py"])
    assert MANY_QUESTIONS in chats(f"{CHAT}\n#### And the stock?  \n\nIt too.\n")[0].notes


def test_chats_of_a_file() -> None:
    """Each begins with its heading; one without a reply is counted, unless its model failed."""
    silent = "# aider chat started at 2026-01-02 10:00:00\n\n#### hi  \n"
    failed = f"{silent}\n> litellm.RateLimitError: too many requests  \n"
    unread: Counter[str] = Counter()
    first, second = chats(f"{CHAT}\n{silent}\n{failed}", unread)
    assert (first.answer, second.error, second.error_type) == (
        ANSWER,
        "litellm.RateLimitError: too many requests",
        "RateLimitError",
    )
    assert unread["chats without a reply"] == 1


def test_hostile_sessions_are_read_in_linear_time() -> None:
    """Tags that never close, blanks, and digits: a tenth of a second each, and minutes if time grew by the square."""
    began = time.process_time()
    many = 200_000
    read("cursor", [{"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>" * many}]}}])
    read("copilot", copilot(Use("a", " \n" * many, tool="bash"), Use("b", "/a:1" * many, tool="grep")))
    read("opencode", opencode(Use("a", "/" * many + "\n" + "/a" * many, tool="grep")))
    digits = "1" * many
    chats(
        f"{CHAT}\n> Tokens: 1 sent,{digits}\n> Added {digits}\n> Add file to the chat? {digits}\n#### /run {digits}\n"
    )
    assert time.process_time() - began < 10


# What isn't read -----------------------------------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """The small shop."""
    return shop(tmp_path)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ("sessions (id TEXT, schedule_id TEXT, extension_data TEXT)", "Goose's database.*goose session export"),
        ("part (id TEXT, message_id TEXT, session_id TEXT, project_id TEXT)", "OpenCode's database.*opencode export"),
        ("cursorDiskKV (key TEXT, value BLOB)", "Cursor's database.*cursor-agent"),
        ("rows (id TEXT)", "a SQLite database.*JSON Lines"),
    ],
)
def test_databases_are_refused_by_name(tables: str, said: str, dataset: Path, tmp_path: Path) -> None:
    """With the command that exports what they hold, be the format named or not."""
    log = tmp_path / "sessions.db"
    with sqlite3.connect(log) as connection:
        connection.execute(f"CREATE TABLE {tables}")
    connection.close()
    for name in ("auto", "opencode"):
        with pytest.raises(InputError, match=f"(?s){said}"):
            import_log(log, name, dataset)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "TO LLM 2026-01-01T10:00:00\n-------\nUSER hi\nLLM RESPONSE 2026-01-01T10:00:02\nyes\n",
            "Aider.*chat.history.md",
        ),
        ('{"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text"}', "OpenCode.*opencode export"),
        ('{"bubbleId": "b", "text": "hi"}', "Cursor's own store.*cursor-agent"),
    ],
)
def test_files_that_programs_keep_for_themselves(text: str, said: str, dataset: Path, tmp_path: Path) -> None:
    """They are refused by the name of the program, with the form that is read."""
    log = tmp_path / "log.txt"
    log.write_text(text, "utf-8")
    with pytest.raises(InputError, match=f"(?s){said}"):
        import_log(log, "auto", dataset)
