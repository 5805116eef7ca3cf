"""Traffic of MCP: what the official client and server exchanged, recorded and live, and small messages."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphkit.plugins.logs.mcp_traffic import ONE_WAY
from graphkit.plugins.logs.tool_calls import FAILED, PLAIN
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError
from tests.helpers.datasets import write_jsonl
from tests.plugins.logs.recordings import BY_HAND, RECORDED, imported, lines_of, record_of, scores, shop
from tests.plugins.logs.shared_logs import names, read, survives

#: A server as a user writes one: a search with structured content, a tool that reads, and resources.
SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop", log_level="ERROR")
FILES = {"src/cart.py": "from orders import place", "src/orders.py": "from stock import reserve"}

@server.tool()
def search(query: str) -> list[dict[str, str]]:
    """Find files that hold a text."""
    return [{"path": path} for path, text in FILES.items() if query in text]

@server.tool(structured_output=False)
def read_file(path: str) -> str:
    """Return a file's text."""
    return FILES[path]

@server.resource("file:///{+path}")
def file(path: str) -> str:
    """A file."""
    return FILES[path]

server.run("stdio")
'''


def one(values: list[Any], unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer that the reader reads of lines."""
    (answer,) = read("mcp", values, unread=unread)
    return answer


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    """The call of a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def result(number: int, *texts: str, **more: Any) -> dict[str, Any]:
    """The result of a call, in blocks of text."""
    content = [{"type": "text", "text": one} for one in texts]
    return {"jsonrpc": "2.0", "id": number, "result": {"content": content, **more}}


def test_real_traffic_scores_as_the_record_by_hand(tmp_path: Path) -> None:
    """Read were cart (a tool) and orders (a resource), between them one of two gold edges: 1/2 and 1/1."""
    data = shop(tmp_path)
    imported(data, RECORDED / "mcp_stdio.jsonl", "mcp", question="q1")
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert "answer" not in record_of(data)


def test_what_traffic_logs() -> None:
    """A search that lists, two reads, and two calls that failed; nothing of a question, an answer and costs."""
    unread: Counter[str] = Counter()
    answer = one(lines_of("mcp_stdio.jsonl"), unread)
    assert (answer.opened, names(answer)) == (["src/cart.py", "/src/orders.py"], ["src/cart.py"])
    assert [(call.name, call.seen, call.failed) for call in answer.tool_calls or ()] == [
        ("search", ["src/cart.py"], False),
        ("read_file", ["src/cart.py"], False),
        ("read_file", [], True),
        ("resources/read", ["/src/orders.py"], False),
        ("nonsense", [], True),
    ]
    assert (answer.question, answer.question_text, answer.answer, answer.model) == (None, None, None, None)
    assert (answer.latency_ms, answer.prompt_tokens, answer.cost, answer.model_calls) == (None, None, None, None)
    assert (answer.notes, unread) == ([FAILED], Counter())


def test_a_response_that_was_written_before_its_call() -> None:
    """A result that two writers put before its call is read with it, if the call is one of the next three messages.

    A result whose call isn't logged is counted, and so is one whose call stands four messages behind it.
    """
    search, read_file = call(1, "search", query="orders"), call(2, "read_file", path="src/cart.py")
    found, content = result(1, json.dumps([{"path": "src/cart.py"}])), result(2, "import orders")
    unread: Counter[str] = Counter()
    answer = one([found, search, content, result(9, "nothing"), read_file], unread)
    assert [(one.name, one.seen) for one in answer.tool_calls or ()] == [
        ("search", ["src/cart.py"]),
        ("read_file", ["src/cart.py"]),
    ]
    assert (answer.opened, unread) == (["src/cart.py"], {"results of calls that aren't logged": 1})
    unread.clear()
    one([content, *[call(number, "search", query="x") for number in (3, 4, 5)], read_file], unread)
    assert unread == {"results of calls that aren't logged": 1}
    # The ids of a second connection begin again.
    again = one([search, found, result(1, json.dumps([{"path": "src/orders.py"}])), search])
    assert [one.seen for one in again.tool_calls or ()] == [["src/cart.py"], ["src/orders.py"]]


def test_the_recipe_of_the_documentation_records_a_live_server(tmp_path: Path) -> None:
    """`tee` before and behind a server on stdio: both directions, a message a line, without what stands around them."""
    data = shop(tmp_path)
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    log = tmp_path / "q1.jsonl"
    line = f"tee -a {log} | {sys.executable} {tmp_path / 'server.py'} | tee -a {log}"

    async def main() -> None:
        async with Client(stdio_client(StdioServerParameters(command="sh", args=["-c", line]))) as client:
            await client.call_tool("search", {"query": "orders"})
            await client.call_tool("search", {"query": "nothing"})
            await client.call_tool("read_file", {"path": "src/cart.py"})
            await client.read_resource("file:///src/orders.py")
            with anyio.fail_after(60):  # the client has read it, and may end the server before `tee` has written it
                while "reserve" not in log.read_text("utf-8"):
                    await anyio.sleep(0.01)

    anyio.run(main)
    imported(data, log, "mcp")
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    record = record_of(data)
    assert [chunk["id"] for chunk in record["retrieved"]] == ["shop:src/cart.py"]
    assert [call.get("seen") for call in record["tool_calls"]][:2] == [["shop:src/cart.py"], []]


def test_messages_name_their_question_around_them() -> None:
    """On each line, or around a list; there an answer and a time may stand, too."""
    lines = [
        {"question_id": "q1", "message": call(1, "read", path="a.py")},
        {"question_id": "q2", "message": json.dumps(call(1, "read", path="b.py"))},
        {"question_id": "q1", "message": result(1, "x")},
    ]
    assert [(one.question, one.opened) for one in read("mcp", lines)] == [("q1", ["a.py"]), ("q2", ["b.py"])]
    around = {
        "question_id": "q3",
        "answer": "f",
        "seconds": 2,
        "traffic": [call(1, "read", path="c.py"), result(1, "x")],
    }
    answer = one([around])
    assert (answer.question, answer.answer, answer.latency_ms, answer.opened) == ("q3", "f", 2000.0, ["c.py"])


def test_a_batch_is_several_messages() -> None:
    """Earlier versions of the protocol send lists of messages."""
    answer = one([[call(1, "read", path="a.py"), call(2, "read", path="b.py")], [result(2, "x"), result(1, "y")]])
    assert answer.opened == ["a.py", "b.py"]
    assert [call.result for call in answer.tool_calls or ()] == ["y", "x"]


def test_requests_of_a_server_have_numbers_of_their_own() -> None:
    """The client's reply to a request of the server has the number of a call, and isn't its result."""
    unread: Counter[str] = Counter()
    sampling = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": []}}
    reply = {"role": "assistant", "content": {"type": "text", "text": "hm"}, "model": "m"}
    lines = [
        call(1, "search", q="f"),
        sampling,
        {"jsonrpc": "2.0", "id": 1, "result": reply},
        result(1, '{"hits": []}'),
    ]
    answer = one(lines, unread)
    assert (answer.retrieved, unread) == ([], Counter({"messages of the method sampling/createMessage": 1}))


@pytest.mark.parametrize(
    ("gave", "retrieved", "notes"),
    [
        (result(1, structuredContent={"result": []}), [], []),
        (result(1, '{"path": "a.py"}', structuredContent={"result": [{"path": "a.py"}]}), ["a.py"], []),
        (result(1, "a.py:3: f()", structuredContent={"result": "a.py:3: f()"}), None, [PLAIN]),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}}, None, []),
    ],
)
def test_finds_that_are_not_known_are_none(gave: Any, retrieved: list[str] | None, notes: list[str]) -> None:
    """Structured content that is empty is a search for nothing; plain text and an error say nothing of finds."""
    answer = one([call(1, "search", q="f"), gave])
    assert (names(answer), answer.opened, answer.notes) == (retrieved, [], notes)


def test_without_a_call_nothing_is_known() -> None:
    """An agent may have read with tools of its own."""
    listed = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    listed.append({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "read"}]}})
    answer = one(listed)
    assert (answer.opened, answer.tool_calls, answer.retrieved, answer.traversal) == (None, None, None, None)


def test_one_direction_alone() -> None:
    """Calls without results are noted; results without calls are refused, with what to log instead."""
    assert one([call(1, "read", path="a.py")]).notes == [ONE_WAY]
    with pytest.raises(UnreadableLogError, match=r"1 result of calls, and none of the calls\n.*Log both directions"):
        list(reader_of("mcp").read([("log:1", result(1, "x"))], ReadOptions(), Counter()))


def test_hostile_traffic_is_survived(tmp_path: Path) -> None:
    """Whatever stands in the place of a value is read past or refused; a broken line is an error of the file."""
    lines = [one["message"] for one in lines_of("mcp_stdio.jsonl")[5:13]]
    assert survives("mcp", lines) > 100
    assert survives("mcp", {"question_id": "q", "traffic": lines[:4]}) > 100
    deep = json.loads("[" * 400 + "]" * 400)
    assert one([call(1, "search", q=deep), result(1, "[" * 5_000)]).retrieved is None
    data = shop(tmp_path)
    log = write_jsonl(tmp_path / "q1.jsonl", lines)
    log.write_text(log.read_text("utf-8") + '{"jsonrpc": "2', "utf-8")
    with pytest.raises(Exception, match=r"q1\.jsonl:9"):
        imported(data, log, "mcp")
