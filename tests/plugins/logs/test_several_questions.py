"""Conversations in which the user asks several questions of a dataset, in every form that has turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog, import_log
from graphkit.plugins.logs.codex import CodexReader
from graphkit.plugins.logs.conversations import MANY_QUESTIONS, OF_THE_WHOLE, OTHER_QUESTIONS
from tests.helpers.datasets import write_jsonl

LOGIN, CART = "How does a login reach the database?", "Where is the cart stored?"

#: The user asks q1, then q2, and says once that the agent shall go on: who speaks, and the words or the opened file.
TURNS = [
    ("user", LOGIN),
    ("call", "src/login.ts"),
    ("assistant", "first"),
    ("user", CART),
    ("call", "src/cart.ts"),
    ("assistant", "Shall I read on?"),
    ("user", "Go on."),
    ("call", "app/cart.py"),
    ("assistant", "second"),
]
EDGES = [
    {"source": "web:src/cart.ts", "relation": "REQUESTS", "target": "api:app/cart.py"},
    {"source": "web:src/login.ts", "relation": "IMPORTS", "target": "web:src/cart.ts"},
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with two questions, in which the files that the second opens are joined to that of the first, too."""
    folder = tmp_path_factory.mktemp("asked")
    texts = {"q1": LOGIN, "q2": CART}
    questions = [{"id": name, "question": text, "paths": [{"steps": EDGES[:1]}]} for name, text in texts.items()]
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "edges.jsonl", EDGES)
    return folder


def imported(dataset: Path, folder: Path, values: list[Any], **options: Any) -> ImportedLog:
    """Import values whose format has to be recognised."""
    return import_log(write_jsonl(folder / "log.jsonl", values), "auto", dataset, **options)


def time(second: int) -> str:
    """The time of a turn: one a second."""
    return f"2026-01-01T10:00:{second:02}.000Z"


def codex(turns: list[tuple[str, str]]) -> list[Any]:
    """The items of a session file."""
    lines: list[dict[str, Any]] = []
    for second, (who, words) in enumerate(turns):
        kind = "output_text" if who == "assistant" else "input_text"
        items: list[dict[str, Any]] = [{"type": "message", "role": who, "content": [{"type": kind, "text": words}]}]
        if who == "call":
            given = json.dumps({"path": words})
            items = [{"type": "function_call", "name": "read_file", "call_id": words, "arguments": given}]
            items += [{"type": "function_call_output", "call_id": words, "output": "x"}]
        lines += [{"timestamp": time(second), "type": "response_item", "payload": item} for item in items]
    return lines


def claude(turns: list[tuple[str, str]]) -> list[Any]:
    """The lines of a session: a reply is written in two, each with its tokens so far."""
    lines: list[dict[str, Any]] = []
    for second, (who, words) in enumerate(turns):
        around = {"sessionId": "s", "timestamp": time(second)}
        reply = {"role": "assistant", "id": f"m{second}", "usage": {"input_tokens": 10, "output_tokens": 1}}
        if who == "user":
            lines.append({"type": "user", "message": {"role": "user", "content": words}, **around})
        elif who == "assistant":
            for usage in ({"input_tokens": 10, "output_tokens": 1}, {"input_tokens": 10, "output_tokens": 2}):
                content = [{"type": "text", "text": words}] if usage["output_tokens"] == 2 else []
                lines.append({"type": "assistant", "message": {**reply, "usage": usage, "content": content}, **around})
        else:
            use = [{"type": "tool_use", "id": words, "name": "Read", "input": {"file_path": words}}]
            gave = [{"type": "tool_result", "tool_use_id": words, "content": "x"}]
            lines.append({"type": "assistant", "message": {**reply, "content": use}, **around})
            lines.append({"type": "user", "message": {"role": "user", "content": gave}, **around})
    return lines


def chat(turns: list[tuple[str, str]]) -> list[Any]:
    """Messages of chat completions."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            function = {"name": "read_file", "arguments": json.dumps({"path": words})}
            messages.append({"role": "assistant", "tool_calls": [{"id": words, "function": function}]})
            messages.append({"role": "tool", "tool_call_id": words, "content": "x"})
        else:
            messages.append({"role": who, "content": words})
    return [{"messages": messages}]


def blocks(turns: list[tuple[str, str]]) -> list[Any]:
    """Messages whose contents are blocks; the user's next text stands beside the last result."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            use = {"type": "tool_use", "id": words, "name": "read_file", "input": {"path": words}}
            messages.append({"role": "assistant", "content": [use]})
            gave = [{"type": "tool_result", "tool_use_id": words, "content": "x"}]
            messages.append({"role": "user", "content": gave})
        elif who == "user" and messages and messages[-1]["role"] == "user":
            messages[-1]["content"].append({"type": "text", "text": words})
        else:
            messages.append({"role": who, "content": [{"type": "text", "text": words}]})
    return [{"messages": messages}]


def gemini(turns: list[tuple[str, str]]) -> list[Any]:
    """Contents of Gemini."""
    contents: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            call = {"name": "read_file", "args": {"path": words}, "id": words}
            contents.append({"role": "model", "parts": [{"functionCall": call}]})
            gave = {"name": "read_file", "response": {"output": "x"}, "id": words}
            contents.append({"role": "user", "parts": [{"functionResponse": gave}]})
        else:
            contents.append({"role": "user" if who == "user" else "model", "parts": [{"text": words}]})
    return [{"messages": contents}]


def atif(turns: list[tuple[str, str]]) -> list[Any]:
    """A trajectory with tokens of each step."""
    steps: list[dict[str, Any]] = []
    for second, (who, words) in enumerate(turns):
        step: dict[str, Any] = {"step_id": second + 1, "timestamp": time(second), "source": "agent", "message": words}
        if who == "user":
            step["source"] = "user"
        else:
            step["metrics"] = {"prompt_tokens": 10, "completion_tokens": 2}
        if who == "call":
            step["message"] = ""
            step["tool_calls"] = [
                {"tool_call_id": words, "function_name": "read_file", "arguments": {"path": words}},
            ]
            step["observation"] = {"results": [{"source_call_id": words, "content": "x"}]}
        steps.append(step)
    agent = {"name": "a", "version": "1", "model_name": "m"}
    return [{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": agent, "steps": steps}]


def pydantic_ai(turns: list[tuple[str, str]]) -> list[Any]:
    """Requests and responses."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "user":
            messages.append({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": words}]})
        elif who == "assistant":
            messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": words}]})
        else:
            one = {"tool_name": "read_file", "tool_call_id": words}
            call = {"part_kind": "tool-call", "args": {"path": words}, **one}
            messages.append({"kind": "response", "parts": [call]})
            gave = {"part_kind": "tool-return", "content": "x", **one}
            messages.append({"kind": "request", "parts": [gave]})
    return [{"messages": messages}]


def autogen(turns: list[tuple[str, str]]) -> list[Any]:
    """Messages of a result."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            call = {"id": words, "name": "read_file", "arguments": json.dumps({"path": words})}
            messages.append({"type": "ToolCallRequestEvent", "source": "a", "content": [call]})
            gave = {"call_id": words, "content": "x", "is_error": False}
            messages.append({"type": "ToolCallExecutionEvent", "source": "a", "content": [gave]})
        else:
            messages.append({"type": "TextMessage", "source": "user" if who == "user" else "a", "content": words})
    return [{"messages": messages}]


def google_adk(turns: list[tuple[str, str]]) -> list[Any]:
    """Events of a session."""
    events: list[dict[str, Any]] = []
    for second, (who, words) in enumerate(turns):
        parts: list[dict[str, Any]] = [{"text": words}]
        if who == "call":
            gave = {"name": "read_file", "response": {"result": "x"}, "id": words}
            parts = [{"function_call": {"name": "read_file", "args": {"path": words}, "id": words}}]
            parts += [{"function_response": gave}]
        author = "user" if who == "user" else "a"
        event = {"author": author, "invocation_id": "i", "timestamp": 1_790_000_000.0 + second}
        events += [{**event, "content": {"role": author, "parts": [part]}} for part in parts]
    return [{"id": "s", "app_name": "a", "events": events}]


def openhands(turns: list[tuple[str, str]]) -> list[Any]:
    """Events of a conversation."""
    events: list[dict[str, Any]] = []
    for second, (who, words) in enumerate(turns):
        text = {"content": [{"type": "text", "text": words}]}
        source = "user" if who == "user" else "agent"
        event = {"source": source, "timestamp": time(second)}
        if who == "call":
            call = {"id": words, "name": "read_file", "arguments": json.dumps({"path": words})}
            acted = {"tool_name": "read_file", "tool_call_id": words, "tool_call": call, "llm_response_id": words}
            events.append({"kind": "ActionEvent", **event, **acted})
            observed = {"content": [{"type": "text", "text": "x"}], "is_error": False}
            events.append({"kind": "ObservationEvent", **event, "tool_call_id": words, "observation": observed})
        else:
            message = {"role": "user" if who == "user" else "assistant", **text}
            events.append({"kind": "MessageEvent", **event, "llm_message": message})
    return events


def openai_agents(turns: list[tuple[str, str]]) -> list[Any]:
    """Items of a run."""
    items: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            given = json.dumps({"path": words})
            items.append({"type": "function_call", "name": "read_file", "call_id": words, "arguments": given})
            items.append({"type": "function_call_output", "call_id": words, "output": "x"})
        else:
            kind = "output_text" if who == "assistant" else "input_text"
            items.append({"type": "message", "role": who, "content": [{"type": kind, "text": words}]})
    return [{"new_items": items}]


def haystack(turns: list[tuple[str, str]]) -> list[Any]:
    """The messages of an agent."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        content: dict[str, Any] = {"text": words}
        call = {"tool_name": "read_file", "arguments": {"path": words}, "id": words}
        if who == "call":
            messages.append({"role": "assistant", "meta": {}, "content": [{"tool_call": call}]})
            who, content = "tool", {"tool_call_result": {"result": "x", "origin": call, "error": False}}
        messages.append({"role": who, "meta": {}, "content": [content]})
    return [{"messages": messages, "last_message": messages[-1]}]


def langchain(turns: list[tuple[str, str]]) -> list[Any]:
    """A run of a graph whose state has the messages of its thread, of which the input is the last."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            call = {"name": "read_file", "args": {"path": words}, "id": words, "type": "tool_call"}
            messages.append({"type": "ai", "content": "", "tool_calls": [call]})
            messages.append({"type": "tool", "content": "x", "tool_call_id": words})
        else:
            messages.append({"type": "human" if who == "user" else "ai", "content": words})
    given = {"messages": [one for one in messages if one["type"] == "human"][-1:]}
    run = {"id": "1", "trace_id": "1", "run_type": "chain", "name": "LangGraph", "start_time": "2026-01-01T10:00:00"}
    return [{**run, "end_time": "2026-01-01T10:00:09", "inputs": given, "outputs": {"messages": messages}}]


def ragas(turns: list[tuple[str, str]]) -> list[Any]:
    """A row whose input is a conversation."""
    messages: list[dict[str, Any]] = []
    for who, words in turns:
        if who == "call":
            call = {"name": "read_file", "args": {"path": words}}
            messages.append({"type": "ai", "content": "", "tool_calls": [call]})
            messages.append({"type": "tool", "content": "x"})
        else:
            messages.append({"type": "human" if who == "user" else "ai", "content": words})
    return [{"user_input": messages, "reference": ""}]


FORMS = [
    *(codex, claude, chat, blocks, gemini, atif, pydantic_ai, autogen, google_adk, openhands, openai_agents),
    *(haystack, langchain, ragas),
]


@pytest.mark.parametrize("form", FORMS)
def test_each_question_has_its_own_calls_and_answer(form: Any, asked: Path, tmp_path: Path) -> None:
    """q1 opened login.ts and walked nothing; q2, with "Go on.", cart.ts and cart.py, between which lies an edge.

    The edge from login.ts to cart.ts lies between the questions, and nobody walked it.
    """
    found = imported(asked, tmp_path, form(TURNS))
    first, second = found.records
    assert (first["question_id"], first["answer"]) == ("q1", "first")
    assert (second["question_id"], second["answer"]) == ("q2", "second")
    assert [call["seen"] for call in first["tool_calls"]] == [["web:src/login.ts"]]
    assert [call["seen"] for call in second["tool_calls"]] == [["web:src/cart.ts"], ["api:app/cart.py"]]
    assert first["traversal"] == []
    walked = [(step["source"], step["relation"], step["target"]) for step in second["traversal"]]
    assert walked == [("web:src/cart.ts", "REQUESTS", "api:app/cart.py")]


@pytest.mark.parametrize("form", FORMS)
def test_one_question_keeps_its_follow_ups(form: Any, asked: Path, tmp_path: Path) -> None:
    """Without q1's turns, the three turns from q2 on are one record, as they were before questions were told apart."""
    (record,) = imported(asked, tmp_path, form(TURNS[3:])).records
    assert (record["question_id"], record["answer"], len(record["tool_calls"])) == ("q2", "second", 2)


def test_figures_of_a_question_are_those_of_its_messages(asked: Path, tmp_path: Path) -> None:
    """Replies have 10 and 2 tokens, calls 10 and 1 in Claude Code: 20 and 3 for q1, 40 and 6 for q2.

    From 10:00:00 to 10:00:02 are 2,000 ms; q2 waited for the user, so that its time is unknown.
    """
    first, second = imported(asked, tmp_path, claude(TURNS)).records
    assert (first["prompt_tokens"], first["output_tokens"], first["model_calls"]) == (20, 3, 2)
    assert (second["prompt_tokens"], second["output_tokens"], second["model_calls"]) == (40, 6, 4)
    assert first["latency_ms"] == 2000
    assert "latency_ms" not in second
    assert OF_THE_WHOLE in second["doubts"]
    assert MANY_QUESTIONS in second["doubts"]
    assert "doubts" not in first


def test_costs_of_a_whole_session_are_no_question_s(asked: Path, tmp_path: Path) -> None:
    """The total of 1.0 isn't 0.5 each: unknown, with a doubt. The steps' tokens are known: 2 and 4 of 10 and 2."""
    (log,) = atif(TURNS)
    records = imported(asked, tmp_path, [{**log, "final_metrics": {"total_cost_usd": 1.0}}]).records
    assert [record.get("cost") for record in records] == [None, None]
    assert [(record["prompt_tokens"], record["output_tokens"]) for record in records] == [(20, 4), (40, 8)]
    assert all(OF_THE_WHOLE in record["doubts"] for record in records)


def test_the_history_of_a_named_question_is_no_record(asked: Path, tmp_path: Path) -> None:
    """Each line holds the conversation so far and names its question: q2's line has the calls of q2 alone."""
    so_far = [{"question_id": "q1", **chat(TURNS[:3])[0]}, {"question_id": "q2", **chat(TURNS)[0]}]
    first, second = imported(asked, tmp_path, so_far).records
    assert (first["question_id"], len(first["tool_calls"]), first["answer"]) == ("q1", 1, "first")
    assert (second["question_id"], len(second["tool_calls"]), second["answer"]) == ("q2", 2, "second")
    assert "doubts" not in first
    assert OTHER_QUESTIONS in second["doubts"]


def test_what_comes_before_the_first_question_is_skipped_and_counted(asked: Path, tmp_path: Path) -> None:
    """A greeting answers no question of the dataset, and its call isn't q1's."""
    hello = [("user", "Hello!"), ("call", "app/cart.py"), ("assistant", "Hi.")]
    found = imported(asked, tmp_path, chat([*hello, *TURNS[:3]]))
    (record,) = found.records
    assert (record["question_id"], record["answer"], len(record["tool_calls"])) == ("q1", "first", 1)
    assert any("answers to no question of the dataset" in line for line in found.summary)


def test_a_whole_log_may_be_given_to_one_question(asked: Path, tmp_path: Path) -> None:
    """With --question q1 all three calls and the last answer are q1's."""
    (record,) = imported(asked, tmp_path, chat(TURNS), question="q1").records
    assert (record["question_id"], record["answer"], len(record["tool_calls"])) == ("q1", "second", 3)


def test_a_result_belongs_to_the_turn_of_its_call(asked: Path, tmp_path: Path) -> None:
    """The user asks on while a call runs: its result comes a turn later, and the call didn't fail."""
    lines = codex(TURNS)
    late = lines.pop(2)
    lines.insert(3, late)
    assert lines[2]["payload"]["content"][0]["text"] == "first"
    lines.insert(5, lines.pop(3))
    assert lines[3]["payload"]["content"][0]["text"] == CART
    first, second = imported(asked, tmp_path, lines).records
    assert [call.get("failed") for call in first["tool_calls"]] == [None]
    assert [len(record["tool_calls"]) for record in (first, second)] == [1, 2]


def test_a_question_whose_reply_failed_has_an_error(asked: Path, tmp_path: Path) -> None:
    """q1 is answered; of q2, the interface says that it is overloaded."""
    broken = {"timestamp": time(9), "type": "event_msg", "payload": {"type": "error", "message": "overloaded"}}
    first, second = imported(asked, tmp_path, [*codex(TURNS[:4]), broken]).records
    assert (first["answer"], "error" in first) == ("first", False)
    assert (second["error"], second["error_type"], "answer" in second) == ("overloaded", "api_error", False)


def test_an_id_asks_as_its_text_does(asked: Path, tmp_path: Path) -> None:
    """The user writes q1 and q2 instead of their texts."""
    names = {LOGIN: "q1", CART: "q2"}
    found = imported(asked, tmp_path, chat([(who, names.get(words, words)) for who, words in TURNS]))
    assert [record["question_id"] for record in found.records] == ["q1", "q2"]


def test_workers_read_the_same(asked: Path, tmp_path: Path) -> None:
    """Answers and their turns travel from a worker."""
    write_jsonl(tmp_path / "log.jsonl", codex(TURNS))
    here = import_log(tmp_path / "log.jsonl", CodexReader.name, asked)
    there = import_log(tmp_path / "log.jsonl", CodexReader.name, asked, executor="processes")
    assert there.records == here.records
    assert len(here.records) == 2
