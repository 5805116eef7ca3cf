"""Sessions of Codex: a file that it wrote, what it printed, and small ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.codex import ABORTED
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, MANY_QUESTIONS
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.logged import LoggedAnswer
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, QUESTION, RECORDED, imported, lines_of, record_of, scores, shop
from tests.plugins.logs.shared_logs import read, survives

CART, ORDERS = "/testbed/src/cart.py", "/testbed/src/orders.py"
ANSWER = "It takes them from the orders: reserve, in src/stock.py."


def one(values: list[Any], unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer that the reader reads of lines."""
    (answer,) = read("codex", values, unread=unread)
    return answer


def line(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    """A line of a session file."""
    return {"timestamp": f"2026-01-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def said(role: str, *words: str, second: int = 0) -> dict[str, Any]:
    """A line with a message."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": one} for one in words]
    return line("response_item", second, type="message", role=role, content=content)


def called(name: str, key: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A line with a call."""
    return line("response_item", type="function_call", name=name, call_id=key, arguments=json.dumps(arguments))


def returned(output: str, key: str = "c1") -> dict[str, Any]:
    """A line with the result of a call."""
    return line("response_item", type="function_call_output", call_id=key, output=output)


@pytest.mark.parametrize("log", ["codex_rollout.jsonl", "codex_exec.jsonl"])
def test_a_real_session_scores_as_the_record_by_hand(tmp_path: Path, log: str) -> None:
    """Read were cart and orders, between which lies one of two gold edges: recall 1/2, precision 1/1.

    What exec prints holds no prompt, so the question is named.
    """
    data = shop(tmp_path)
    imported(data, RECORDED / log, "codex", **({"question": "q1"} if "exec" in log else {}))
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert (record_of(data)["question_id"], record_of(data)["answer"]) == ("q1", ANSWER)


def test_what_a_session_file_logs() -> None:
    """Four replies, whose total Codex keeps itself, and the time from the prompt, which isn't the first user message.

    22:01:42.564 to the end of the task at 22:01:42.946 are 382 ms.
    """
    unread: Counter[str] = Counter()
    answer = one(lines_of("codex_rollout.jsonl"), unread)
    assert (answer.question_text, answer.answer) == (QUESTION, ANSWER)
    assert (answer.opened, answer.folders) == ([CART, CART, ORDERS], ["/testbed"])
    assert [call.seen for call in answer.tool_calls or ()] == [[CART], [CART], [ORDERS]]
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (600, 40, 4)
    assert (answer.latency_ms, answer.cost, answer.model) == (382.0, None, "gpt-none")
    assert (answer.retrieved, answer.notes, unread) == (None, [], Counter())


def test_what_exec_prints() -> None:
    """Commands with what they printed, and tokens; neither prompt nor model nor times."""
    answer = one(lines_of("codex_exec.jsonl"))
    assert (answer.question_text, answer.model, answer.latency_ms, answer.model_calls) == (None, None, None, None)
    assert (answer.opened, answer.unknown_calls) == (["src/cart.py", "src/cart.py", "src/orders.py"], 0)
    assert (answer.prompt_tokens, answer.output_tokens) == (600, 40)


def test_each_command_runs_in_a_folder_of_its_own() -> None:
    """A `cd` of an earlier command says nothing; `workdir` is the folder of one command, counted from the turn's."""
    answer = one(
        [
            line("session_meta", id="a", cwd="/r"),
            line("turn_context", cwd="/r/web", model="m"),
            called("shell", "c1", command=["bash", "-lc", "cd src && cat a.py"]),
            returned("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", "c1"),
            called("exec_command", "c2", cmd="cat b.py", workdir="../api"),
            returned("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", "c2"),
            called("shell_command", "c3", command="cat c.py"),
            returned("Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\ncat: c.py: No such file", "c3"),
        ]
    )
    assert (answer.opened, answer.notes) == (["/r/web/src/a.py", "/r/api/b.py"], [FAILED])
    assert answer.folders == ["/r/web", "/r/web/src", "/r/api", "/r"]


def test_what_codex_writes_for_the_user_is_not_the_question() -> None:
    """Environment and instructions stand in the user's place; a prompt that begins with a tag is known by its event."""
    lines = [
        line("session_meta", id="a"),
        said("user", "# AGENTS.md instructions for /r", "<environment_context>\n</environment_context>"),
        said("user", "<task> Who calls f?", second=1),
        line("event_msg", type="user_message", message="<task> Who calls f?"),
        said("assistant", "g does.", second=3),
    ]
    answer = one(lines)
    assert (answer.question_text, answer.answer, answer.notes) == ("<task> Who calls f?", "g does.", [])
    assert (answer.latency_ms, answer.opened, answer.tool_calls) == (2000.0, [], [])
    assert one([*lines, said("user", "And h?")]).notes == [MANY_QUESTIONS]


def test_patches_and_local_shells_are_calls() -> None:
    """A patch opens the files that it names; the shell of the model's interface has its folder in its action."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    action = {"type": "exec", "command": ["cat", "c.py"], "working_directory": "/r"}
    answer = one(
        [
            line("session_meta", id="a", cwd="/r"),
            line("response_item", type="custom_tool_call", name="apply_patch", call_id="p", input=patch),
            line("response_item", type="custom_tool_call_output", call_id="p", output="Done"),
            line("response_item", type="local_shell_call", call_id="l", status="completed", action=action),
            returned('{"output": "x", "metadata": {"exit_code": 0}}', "l"),
        ]
    )
    assert answer.opened == ["a.py", "b.py", "/r/c.py"]


def test_items_of_exec_json() -> None:
    """A call of an MCP server with what it found, a change, a failed command, and an error at the end."""
    found = {"content": [{"type": "text", "text": '{"results": [{"id": "n1"}]}'}]}
    search = {"type": "mcp_tool_call", "id": "i1", "server": "kg", "tool": "search", "arguments": {"q": "f"}}
    failed = {"type": "command_execution", "id": "i3", "command": "cat b.py", "exit_code": 1}
    items = [
        search | {"result": found, "status": "completed"},
        {"type": "file_change", "id": "i2", "changes": [{"path": "a.py", "kind": "update"}], "status": "completed"},
        failed | {"aggregated_output": "cat: b.py: No such file or directory", "status": "failed"},
        {"type": "hologram", "id": "i4"},
    ]
    lines = [{"type": "thread.started", "thread_id": "t"}, *({"type": "item.completed", "item": one} for one in items)]
    unread: Counter[str] = Counter()
    answer = one([*lines, {"type": "turn.failed", "error": {"message": "no credit"}}], unread)
    assert answer.retrieved is not None
    assert ([chunk.name for chunk in answer.retrieved], answer.opened) == (["n1"], ["a.py"])
    assert (answer.answer, answer.error, answer.error_type) == (None, "no credit", "api_error")
    assert unread == Counter({"items of the type hologram": 1})


def test_sessions_of_one_file_are_kept_apart() -> None:
    """Each begins with its own head; a fork repeats that of the session that it goes on from."""
    first = [line("session_meta", id="a"), said("user", "A?"), said("assistant", "A.")]
    second = [line("session_meta", id="b"), said("user", "B?"), line("event_msg", type="turn_aborted")]
    found = read("codex", [*first, *second])
    assert [(one.question_text, one.answer) for one in found] == [("A?", "A."), ("B?", None)]
    assert found[1].notes == [ABORTED]
    fork = [line("session_meta", id="c", forked_from_id="a"), *first, called("shell", command=["ls"])]
    (forked,) = read("codex", fork)
    assert (forked.question_text, forked.answer, forked.notes) == ("A?", None, [ENDS_WITH_CALL])
    wrapped = one([{"question_id": "q1", "session": first}])
    assert (wrapped.question, wrapped.answer) == ("q1", "A.")


def test_lines_of_unknown_types_are_counted() -> None:
    """Lines and items that nothing is made of."""
    unread: Counter[str] = Counter()
    one([line("session_meta", id="a"), line("dream"), line("response_item", type="web_search_call")], unread)
    assert unread == Counter({"lines of the type dream": 1, "items of the type web_search_call": 1})


def test_hostile_sessions_are_survived(tmp_path: Path) -> None:
    """Whatever stands in the place of a value is read past or refused; a broken line is an error of the file."""
    kept = ("session_meta", "turn_context", "response_item", "event_msg")
    lines = [one for one in lines_of("codex_rollout.jsonl") if one["type"] in kept]
    few = [
        {**one, "payload": {key: part for key, part in one["payload"].items() if key != "metadata"}} for one in lines
    ]
    assert survives("codex", few[7:14]) > 100
    assert survives("codex", lines_of("codex_exec.jsonl")[:5]) > 20
    data = shop(tmp_path)
    log = write_jsonl(tmp_path / "q1.jsonl", lines[:3])
    log.write_text(log.read_text("utf-8") + '{"timestamp": "2', "utf-8")
    with pytest.raises(Exception, match=r"q1\.jsonl:4"):
        imported(data, log, "codex")
