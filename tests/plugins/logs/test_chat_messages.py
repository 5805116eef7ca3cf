"""Conversations with tools: what was opened, what was found, and what was said."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.chat_messages import LAST_CALL, MessagesReader
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, MANY_QUESTIONS
from graphkit.plugins.logs.tool_calls import FAILED, MANY, PLAIN, SHELL, UNREAD_ARGUMENTS
from graphkit.readers.logged import LoggedAnswer, ReadOptions


def call(name: str, arguments: Any, key: str = "c1") -> dict[str, Any]:
    """A call of a tool as chat completions have it, its arguments as the text of their JSON."""
    return {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def asked(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    """Return a model's message with calls of tools."""
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content: Any, key: str = "c1") -> dict[str, Any]:
    """Return the message with a tool's result."""
    return {"role": "tool", "tool_call_id": key, "content": content}


def read(*values: Any, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Return the answers that the reader finds in the values of a file."""
    places = [(f"log.jsonl:{number}", value) for number, value in enumerate(values, 1)]
    return list(MessagesReader().read(places, ReadOptions(), Counter() if unread is None else unread))


def one(*messages: dict[str, Any], **around: Any) -> LoggedAnswer:
    """Return the answer that the reader finds in one conversation."""
    (answer,) = read({"question_id": "q1", "messages": list(messages), **around})
    return answer


def test_calls_of_chat_completions_are_what_was_opened_in_order() -> None:
    """A file, then a symbol in another file, opened by two calls of one message and one of the next."""
    answer = one(
        {"role": "system", "content": "You read code."},
        {"role": "user", "content": "Who calls f?"},
        asked(call("read_file", {"path": "a.py"}, "c1"), call("view", {"file": "b.py", "symbol": "f"}, "c2")),
        result("def g(): f()", "c1"),
        result("def f(): ...", "c2"),
        asked(call("go_to_definition", {"symbol": "pkg.g"}, "c3")),
        result("def g()", "c3"),
        {"role": "assistant", "content": "g calls it."},
    )
    assert answer.question == "q1"
    assert answer.question_text == "Who calls f?"
    # `symbol` within `file` is written as graphkit's ids have it: file#symbol.
    assert answer.opened == ["a.py", "b.py#f", "pkg.g"]
    assert answer.traversal is None
    assert answer.answer == "g calls it."
    assert answer.model_calls == 3
    assert answer.tool_calls is not None
    assert [(one.name, one.result) for one in answer.tool_calls] == [
        ("read_file", "def g(): f()"),
        ("view", "def f(): ..."),
        ("go_to_definition", "def g()"),
    ]
    assert answer.tool_calls[1].arguments == {"file": "b.py", "symbol": "f"}
    assert answer.notes == []


def test_blocks_of_calls_and_results_within_a_content_are_read() -> None:
    """The same as content blocks: `tool_use` of the assistant, `tool_result` in a message of the user."""
    answer = one(
        {"role": "user", "content": [{"type": "text", "text": "Who calls f?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "...", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"file_path": "a.py"}},
            ],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5},
            "model": "m-1",
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "def f(): ..."}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Nobody."}],
            "usage": {"input_tokens": 20, "output_tokens": 1},
            "model": "m-1",
        },
    )
    assert answer.opened == ["a.py"]
    assert answer.answer == "Nobody."
    # 10 + 90 from the cache + 20, and 5 + 1.
    assert (answer.prompt_tokens, answer.output_tokens) == (120, 6)
    assert (answer.model, answer.model_calls) == ("m-1", 2)
    # The user spoke once: a result of a tool isn't a question.
    assert (answer.question_text, answer.notes) == ("Who calls f?", [])


def test_items_of_responses_are_read() -> None:
    """Calls and results that are items of their own, the input's and the output's."""
    (answer,) = read(
        {
            "qid": 7,
            "input": [{"role": "user", "content": "Who?"}, {"type": "function_call", "call_id": "a", "name": "open"}],
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I."}]}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    )
    assert (answer.question, answer.answer, answer.opened) == ("7", "I.", [])
    assert (answer.prompt_tokens, answer.output_tokens) == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "opened"),
    [
        ({"file_path": "a.py", "offset": 3, "limit": 9}, ["a.py"]),
        ({"filename": "a.py", "name": "C.m"}, ["a.py#C.m"]),
        ({"uri": "file:///src/a.py"}, ["/src/a.py"]),
        ({"paths": ["a.py", "b.py"]}, ["a.py", "b.py"]),
        ({"files": [{"path": "a.py", "symbol": "f"}, {"path": "b.py"}]}, ["a.py#f", "b.py"]),
        ({"params": {"node_id": 17, "name": "f"}}, ["17"]),  # an id is the name, where there is one
        ({"symbol": "a.py#f", "path": "a.py"}, ["a.py#f"]),
        ({"entity": "Ada Lovelace"}, ["Ada Lovelace"]),
        ({"path": "."}, []),  # a directory isn't opened
        ({"path": "src/"}, []),
        ({"query": "f"}, []),
        ({"a": {"b": {"c": {"d": {"path": "a.py"}}}}}, []),  # deeper than is looked
    ],
)
def test_arguments_that_name_something_are_known_by_their_keys(arguments: dict[str, Any], opened: list[str]) -> None:
    """The spellings of common tools, ids before names, and a symbol within its file."""
    assert one(asked(call("open_it", arguments))).opened == opened


def test_a_search_opens_nothing_and_finds_what_its_result_lists() -> None:
    """The path of a search is where it looked; what a JSON result lists is retrieved, once, at its first place."""
    found = [
        {"path": "b.py", "symbol": "f", "score": 0.5, "text": "def f()"},
        {"path": "a.py", "text": "import b"},
    ]
    answer = one(
        {"role": "user", "content": "?"},
        asked(call("code_search", {"query": "f", "path": "src"}, "c1")),
        result(json.dumps({"results": found}), "c1"),
        asked(call("Grep", {"pattern": "f", "path": "src"}, "c2")),
        result('["a.py", "c.py"]', "c2"),
        {"role": "assistant", "content": "b"},
    )
    assert answer.opened == []
    assert answer.retrieved is not None
    # Scores of two searches can't be compared, so none is kept.
    assert [(chunk.name, chunk.text, chunk.score) for chunk in answer.retrieved] == [
        ("b.py#f", "def f()", None),
        ("a.py", "import b", None),
        ("c.py", None, None),
    ]


def test_the_scores_of_one_search_are_kept() -> None:
    """One result with scores is a ranking as it stands."""
    found = [{"document": {"id": "d1", "page_content": "x"}, "score": 0.9}, {"document": {"id": "d2"}, "score": "0.5"}]
    answer = one(asked(call("search", {"q": "?"})), result(json.dumps(found)))
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.text, chunk.score) for chunk in answer.retrieved] == [
        ("d1", "x", 0.9),
        ("d2", None, 0.5),
    ]


def test_blocks_that_name_their_source_are_found() -> None:
    """Search results of the interface's own form, and the resources of a tool's server."""
    blocks = [
        {"type": "search_result", "source": "docs/a.md", "title": "A", "content": [{"type": "text", "text": "x"}]},
        {"type": "resource", "resource": {"uri": "file:///b.py", "text": "y"}},
        {"type": "text", "text": "two results"},
    ]
    answer = one(asked(call("lookup", {})), result(blocks))
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.text) for chunk in answer.retrieved] == [("docs/a.md", "x"), ("/b.py", "y")]


def test_found_nothing_is_not_nothing_known() -> None:
    """An empty list was found to be empty; plain text says nothing, which is noted of a search only."""
    assert one(asked(call("search", {})), result('{"results": []}')).retrieved == []
    plain = one(asked(call("search", {})), result("a.py:3: f()"))
    assert (plain.retrieved, plain.notes) == (None, [PLAIN])
    assert one(asked(call("read", {"path": "a.py"})), result("f()")).notes == []


def test_without_a_call_the_walk_is_known_to_be_empty_only_where_there_were_tools() -> None:
    """Not logged is not walked nothing."""
    talk = ({"role": "user", "content": "?"}, {"role": "assistant", "content": "!"})
    assert (one(*talk).opened, one(*talk).tool_calls) == (None, None)
    with_tools = one(*talk, tools=[{"type": "function", "function": {"name": "read"}}])
    assert (with_tools.opened, with_tools.tool_calls) == ([], [])


def test_a_call_that_failed_opened_nothing() -> None:
    """If the result says that it is an error, its file wasn't seen."""
    answer = one(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {"path": "no.py"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no such file", "is_error": True}],
        },
    )
    assert (answer.opened, answer.notes) == ([], [FAILED])
    assert answer.tool_calls is not None
    assert answer.tool_calls[0].failed


def seen(*messages: dict[str, Any]) -> list[list[str] | None]:
    """Return the names that each call of a conversation showed."""
    return [one.seen for one in one(*messages).tool_calls or ()]


def test_what_a_call_showed_is_what_it_opened_and_found() -> None:
    """A search that lists, a file that names another, and each name once."""
    found = json.dumps({"results": [{"path": "b.py", "symbol": "f"}, {"path": "a.py"}, {"path": "a.py"}]})
    assert seen(
        asked(call("search", {"query": "f", "path": "src"}, "c1"), call("read", {"path": "a.py"}, "c2")),
        result(found, "c1"),
        result("def g(): f()", "c2"),
        asked(call("outline", {"path": "a.py"}, "c3")),
        result('{"path": "a.py", "items": [{"id": "n1"}]}', "c3"),
    ) == [["b.py#f", "a.py"], ["a.py"], ["a.py", "n1"]]


def test_what_a_call_showed_is_not_known_where_only_a_text_tells() -> None:
    """Plain text of a search says nothing, nor does that of a command that can't be read, or a call without a result.

    An empty result shows nothing.
    """
    plain, nothing = result("a.py:3: f()"), result("")
    assert seen(asked(call("grep", {"pattern": "f"})), plain) == [None]
    assert seen(asked(call("grep", {"pattern": "f"})), nothing) == [[]]
    assert seen(asked(call("grep", {"pattern": "f"})), result([{"type": "text", "text": ""}])) == [[]]
    assert seen(asked(call("grep", {"pattern": "f"})), result('{"results": []}')) == [[]]
    assert seen(asked(call("bash", {"command": "cat a.py"})), plain) == [["a.py"]]
    assert seen(asked(call("bash", {"command": "cat *.py"})), plain) == [None]
    assert seen(asked(call("bash", {"command": "cat a.py"}))) == [None]
    assert seen(asked(call("grep", {"pattern": "f"}))) == [None]
    assert seen(asked(call("submit", {"answer": "x"})), plain) == [[]]
    broken = asked({"id": "c1", "function": {"name": "read", "arguments": '{"path": "a.p'}})
    assert seen(broken, nothing) == [None]
    failed = {"role": "tool", "tool_call_id": "c1", "content": "no such file", "status": "error"}
    assert seen(asked(call("read", {"path": "a.py"})), failed) == [[]]


def test_what_is_not_read_is_noted() -> None:
    """A shell's command, arguments that were cut short, and more names than a call is believed to open."""
    shell = one(asked(call("bash", {"command": "cat a.py"})))
    assert (shell.opened, shell.notes) == ([], [SHELL])
    broken = asked({"id": "c", "function": {"name": "read", "arguments": '{"path": "a.p'}})
    assert one(broken).notes == [UNREAD_ARGUMENTS]
    many = one(asked(call("read", {"paths": [f"f{number}.py" for number in range(150)]})))
    assert many.opened is not None
    assert (len(many.opened), many.notes) == (100, [MANY])


def test_the_answer_is_what_was_handed_in_or_said_last() -> None:
    """A tool that hands in the answer is believed; what is said before another last call is a thought.

    A tool that hands in without an argument hands in what is said with it.
    """
    assert one(asked(call("submit", {"answer": "42"}), content="Done.")).answer == "42"
    assert one(asked(call("finish", {}), content="It is 42.")).answer == "It is 42."
    cut = one({"role": "user", "content": "?"}, asked(call("read", {"path": "a"}), content="I look."))
    assert (cut.answer, cut.notes) == (None, [ENDS_WITH_CALL])
    assert one(asked(call("read", {"path": "a"}))).answer is None


def test_a_second_question_of_the_user_is_noted() -> None:
    """The question is the first thing that the user says."""
    answer = one(
        {"role": "user", "content": "A?"}, {"role": "assistant", "content": "B"}, {"role": "user", "content": "C?"}
    )
    assert (answer.question_text, answer.notes) == ("A?", [MANY_QUESTIONS])


def test_a_file_of_messages_is_one_conversation() -> None:
    """A message a value, as a session is written down; its place is that of the first."""
    messages = [
        {"role": "user", "content": "Who?"},
        asked(call("read", {"path": "a.py"})),
        result("I"),
        {"role": "assistant", "content": "I."},
    ]
    (answer,) = read(*messages)
    assert (answer.where, answer.question, answer.question_text) == ("log.jsonl:1", None, "Who?")
    assert (answer.opened, answer.answer) == (["a.py"], "I.")
    assert all(map(MessagesReader().recognises, messages))


def test_messages_of_frameworks_are_read() -> None:
    """`type` for the role, and `name` and `args` for a call."""
    answer = one(
        {"type": "human", "content": "?"},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"name": "read", "args": {"path": "a.py"}, "id": "x", "type": "tool_call"}],
            "usage_metadata": {"input_tokens": 4, "output_tokens": 2, "total_tokens": 6},
        },
        {"type": "tool", "content": "f", "tool_call_id": "x", "name": "read", "status": "error"},
    )
    assert (answer.opened, answer.notes) == ([], [FAILED])
    assert (answer.prompt_tokens, answer.output_tokens) == (4, 2)


def test_a_call_that_stands_twice_in_a_message_is_one() -> None:
    """Frameworks keep the block of the interface beside their own form of the same call."""
    answer = one(
        {
            "type": "ai",
            "content": [{"type": "tool_use", "id": "x", "name": "read", "input": {"path": "a.py"}}],
            "tool_calls": [{"name": "read", "args": {"path": "a.py"}, "id": "x", "type": "tool_call"}],
        },
    )
    assert answer.opened == ["a.py"]


def test_the_former_form_of_a_call_is_read() -> None:
    """`function_call` without an id, answered by the role `function` with the tool's name."""
    answer = one(
        {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"path": "a.py"}'}},
        {"role": "function", "name": "read", "content": "text"},
    )
    assert answer.opened == ["a.py"]
    assert answer.tool_calls is not None
    assert answer.tool_calls[0].result == "text"


def test_what_is_not_used_is_counted() -> None:
    """Fields of messages and beside them that nothing is made of."""
    unread: Counter[str] = Counter()
    read(
        {"question_id": "q", "messages": [{"role": "user", "content": "?", "refusal": "no"}], "metadata": {"a": 1}},
        unread=unread,
    )
    assert unread == Counter({"messages.refusal": 1, "metadata": 1})


@pytest.mark.parametrize("value", [{}, [], "text", 3, {"messages": []}, {"messages": ["a"]}, {"role": "user"}])
def test_other_values_are_not_recognised(value: Any) -> None:
    """An empty list of messages, or a role without a content, is of no format."""
    assert not MessagesReader().recognises(value)


def test_hostile_nesting_ends() -> None:
    """Arguments and results nested far deeper than any tool nests are read up to a bound."""
    deep = "[" * 5_000 + "]" * 5_000
    answer = one(asked({"id": "c", "function": {"name": "search", "arguments": deep}}), result(deep))
    assert answer.opened == []
    assert answer.retrieved is None


def test_values_of_any_type_are_survived() -> None:
    """Fields that hold what they shouldn't are as good as absent."""
    odd: list[Any] = [[], {}, 3, None, True, "x", [[]], [{"type": ["text"]}], [{"type": {}}], [None]]
    for value in odd:
        messages = [
            {"role": "user", "content": value},
            {"role": "assistant", "content": value, "tool_calls": [{"id": value, "function": value}, value]},
            {"role": "assistant", "content": "x", "tool_calls": value, "function_call": value, "usage": value},
            {"role": "tool", "tool_call_id": value, "content": value, "error": value},
            {"type": "function_call", "call_id": value, "name": value, "arguments": value},
            {"type": value, "role": "user", "content": [{"tool_use_id": value, "content": value}]},
        ]
        (answer,) = read({"question_id": "q", "messages": messages, "usage": value, "model": value, "tools": value})
        assert answer.opened == []


def test_messages_as_langchain_stores_them() -> None:
    """The forms of dumpd and of messages_to_dict say what the plain one says."""
    tokens = {"prompt_tokens": 5, "completion_tokens": 2}
    plain: list[dict[str, Any]] = [
        {"type": "human", "content": "Where?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "read", "args": {"path": "a.py"}, "id": "c"}]},
        {"type": "tool", "content": "text", "tool_call_id": "c"},
        {"type": "ai", "content": "Here.", "response_metadata": {"model_name": "m", "token_usage": tokens}},
    ]
    classes = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    constructed = [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", classes[one["type"]]], "kwargs": one}
        for one in plain
    ]
    stored = [{"type": one["type"], "data": one} for one in plain]
    for messages in (plain, constructed, stored):
        (answer,) = read({"question_id": "q", "messages": messages})
        assert (answer.question_text, answer.opened, answer.answer) == ("Where?", ["a.py"], "Here.")
        assert (answer.model, answer.prompt_tokens, answer.output_tokens) == ("m", 5, 2)


def test_parts_of_a_conversation_are_put_together() -> None:
    """States that grow, and updates that begin with a model or a tool, are one; what the user says again is another."""
    user = {"role": "user", "content": "Where?"}
    opens, given = asked(call("read", {"path": "a"})), result("text")
    said = {"role": "assistant", "content": "Here."}
    states = [{"messages": [user]}, {"messages": [user, opens, given]}, {"messages": [user, opens, given, said]}]
    updates = [{"agent": {"messages": [opens]}}, {"tools": {"messages": [given]}}, {"agent": {"messages": [said]}}]
    for chunks in (states, updates):
        (answer,) = read({"question_id": "q", "chunks": chunks})
        assert (answer.opened, answer.answer, len(answer.tool_calls or ())) == (["a"], "Here.", 1)
    again = [{"qid": "q", "messages": [user, said]}, {"qid": "q", "messages": [user, opens]}]
    assert [one.answer for one in read(*again)] == ["Here.", None]


COMPLETION = {
    "object": "chat.completion",
    "model": "m",
    "choices": [{"message": {"role": "assistant", "content": "Here."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2},
}
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Here."}],
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 2},
}
RESPONSE = {
    "object": "response",
    "model": "m",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]}],
    "usage": {"input_tokens": 9, "output_tokens": 2},
}


@pytest.mark.parametrize(
    "value",
    [
        {"question_id": "q1", "messages": [{"role": "user", "content": "Where?"}], "response": COMPLETION},
        {"question_id": "q1", "request": {"messages": [{"role": "user", "content": "Where?"}]}, "response": MESSAGE},
        {"question_id": "q1", "input": [{"role": "user", "content": "Where?"}], "response": RESPONSE},
        {"question_id": "q1", "question": "Where?", "response": COMPLETION},
        {"custom_id": "q1", "question": "Where?", "response": {"status_code": 200, "body": COMPLETION}},
        {"custom_id": "q1", "question": "Where?", "result": {"type": "succeeded", "message": MESSAGE}},
    ],
)
def test_what_the_interface_answered(value: dict[str, Any]) -> None:
    """A reply of each interface is the answer to the messages beside it, or alone; its tokens are those of the call.

    4 + 5 of the prompt's tokens are those of Anthropic's input and of its cache.
    """
    (answer,) = read(value)
    assert (answer.question, answer.question_text, answer.answer, answer.model) == ("q1", "Where?", "Here.", "m")
    assert (answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (9, 2, 1)


def test_tokens_of_the_last_call_are_no_sum() -> None:
    """If the model was called before, the reply's tokens are those of a part."""
    messages = [{"role": "user", "content": "Where?"}, asked(call("read", {"path": "a"})), result("text")]
    (answer,) = read({"question_id": "q1", "messages": messages, "response": COMPLETION})
    assert (answer.answer, answer.opened, answer.prompt_tokens, answer.notes) == ("Here.", ["a"], None, [LAST_CALL])


def test_a_table_of_conversations() -> None:
    """An object of questions to their messages holds as many conversations."""
    said = [{"role": "assistant", "content": "Here."}]
    table = {name: [{"role": "user", "content": name}, *said] for name in ("q1", "q2")}
    assert [(one.question, one.question_text) for one in read(table)] == [("q1", "q1"), ("q2", "q2")]


def test_messages_of_other_interfaces() -> None:
    """Converse's blocks, Gemini's parts and Pydantic AI's say the same call, result and answer."""
    converse = [
        {"role": "user", "content": [{"text": "Where?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "read", "input": {"id": "a"}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "found"}]}}]},
        {"role": "assistant", "content": [{"text": "Here."}]},
    ]
    gemini = [
        {"role": "user", "parts": [{"text": "Where?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"id": "a"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": "found"}}]},
        {"role": "model", "parts": [{"text": "Here."}]},
    ]
    called = {"part_kind": "tool-call", "tool_name": "read", "args": '{"id": "a"}', "tool_call_id": "t"}
    returned = {"part_kind": "tool-return", "tool_name": "read", "content": "found", "tool_call_id": "t"}
    pydantic = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Where?"}]},
        {"kind": "response", "parts": [called]},
        {"kind": "request", "parts": [returned]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "Here."}]},
    ]
    for messages in (converse, gemini, pydantic):
        (answer,) = read({"question_id": "q1", "messages": messages})
        assert (answer.question_text, answer.opened, answer.answer) == ("Where?", ["a"], "Here.")
        assert [(one.name, one.result) for one in answer.tool_calls or ()] == [("read", "found")]
        assert answer.notes == []


def test_tools_that_ran_where_the_model_does() -> None:
    """Items that hold a call with its result, and blocks before the words of one message, aren't the end."""
    mcp = {"type": "mcp_call", "id": "m", "name": "read_node", "arguments": '{"id": "a"}', "output": "found"}
    search = {"type": "file_search_call", "id": "f", "queries": ["x"], "results": [{"filename": "b.md", "score": 0.5}]}
    said = RESPONSE["output"]
    assert isinstance(said, list)
    (answer,) = read({"question_id": "q1", "output": [mcp, search, *said]})
    assert (answer.opened, [chunk.name for chunk in answer.retrieved or ()], answer.answer) == (
        ["a"],
        ["b.md"],
        "Here.",
    )
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "mcp_tool_use", "id": "m", "name": "read_node", "input": {"id": "a"}},
        {"type": "mcp_tool_result", "tool_use_id": "m", "content": "found"},
        {"type": "text", "text": "Here."},
    ]
    (answer,) = read({"question_id": "q1", "messages": [{"role": "assistant", "content": blocks}]})
    assert (answer.opened, answer.answer, answer.notes) == (["a"], "Here.", [])


def test_a_message_a_line() -> None:
    """Messages on lines of their own are of the question or the session that each names."""
    lines = [{"qid": name, "role": "user", "content": f"{name}?"} for name in ("q1", "q2")]
    lines += [{"qid": name, "role": "assistant", "content": name} for name in ("q2", "q1")]
    assert [(one.question, one.question_text, one.answer) for one in read(*lines)] == [
        ("q1", "q1?", "q1"),
        ("q2", "q2?", "q2"),
    ]
