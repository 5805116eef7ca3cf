"""LangChain's outputs, events and run trees, and the rows of its Cypher chain."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.graph_values import GUESSED_COLUMNS, NAME_THE_COLUMNS
from graphkit.plugins.logs.langchain_outputs import PASSED_TEXT
from graphkit.plugins.logs.langchain_traces import NO_CHILDREN, NO_PARENTS, UNFINISHED
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedChunk, ReadOptions, UnreadableLogError
from tests.helpers.datasets import SharedLog
from tests.plugins.logs.shared_logs import edges, names, read, survives

INDEXES = "neo4j_graphrag.indexes.create_vector_index"
STORE = "langchain_neo4j.vectorstores.neo4j_vector.Neo4jVector"
FIRST_WALK = [
    [
        (INDEXES, "CALLS", "neo4j_graphrag.types.VectorIndexModel"),
        (INDEXES, "CALLS", "neo4j_graphrag.exceptions.Neo4jIndexError"),
        (INDEXES, "RAISES", "neo4j_graphrag.exceptions.Neo4jIndexError"),
        (f"{STORE}.create_new_index", "CALLS", INDEXES),
        (STORE, "INHERITS", "langchain_core.vectorstores.base.VectorStore"),
    ]
]


def dumped(name: str, **kwargs: Any) -> dict[str, Any]:
    """Return an object as LangChain's dumpd writes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", name], "kwargs": kwargs}


def document(name: str, *targets: str, **more: Any) -> dict[str, Any]:
    """Return a document that calls its targets."""
    triples = [{"source": name, "relation": "CALLS", "target": target} for target in targets]
    metadata = {"id": name, "triples": triples, **more}
    return {"id": None, "metadata": metadata, "page_content": f"text of {name}", "type": "Document"}


def test_chain_output(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log: documents by their ids, their triples, the answer and the time around the call."""
    unread: Counter[str] = Counter()
    first, second, third, *_ = read("langchain", shared_log("langchain/chain_output.jsonl.gz"), unread=unread)
    assert (first.question, first.answer) == ("n1", "It goes through create_vector_index.")
    assert edges(first) == FIRST_WALK
    assert first.ordered is False
    assert names(first) == [
        "langchain_neo4j.vectorstores.neo4j_vector",
        "neo4j_graphrag",
        INDEXES,
        f"{STORE}.create_new_index",
        STORE,
        # The ends of the triples, which nothing ranks.
        "neo4j_graphrag.types.VectorIndexModel",
        "neo4j_graphrag.exceptions.Neo4jIndexError",
        "langchain_core.vectorstores.base.VectorStore",
    ]
    assert first.latency_ms == pytest.approx(342.16942099988046)
    assert first.question_text is not None
    assert first.question_text.startswith("Which neo4j_graphrag function")
    # n2's documents have 1 + 3 + 1 + 1 + 8 triples, all different; n3's have none.
    assert [len(path) for path in second.traversal or ()] == [14]
    assert (second.retrieved or [])[1].name == "langchain_core.vectorstores.base.VectorStore.search"
    assert (second.retrieved or [])[1].commit == "1.7.2"
    assert third.traversal == []
    assert unread == {"metadata.package": 40, "metadata.file": 40}


def test_events(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log of events say what the chain's output says of them; each called the model once."""
    first, second, third = read("langchain", shared_log("langchain/astream_events_v2.jsonl.gz"))
    outputs = read("langchain", shared_log("langchain/chain_output.jsonl.gz"))
    for answer, output in zip((first, second, third), outputs, strict=False):
        assert (answer.question, answer.question_text) == (output.question, output.question_text)
        assert (answer.retrieved, answer.traversal, answer.answer) == (
            output.retrieved,
            output.traversal,
            output.answer,
        )
        assert (answer.model_calls, answer.prompt_tokens, answer.latency_ms) == (1, None, None)
    assert edges(first) == FIRST_WALK
    # n1 has the lines 1 to 69.
    assert (first.where, second.where) == ("log:1", "log:70")


def test_cypher_chain(shared_log: SharedLog) -> None:
    """n1 and n2 of the real log return a, type(r) AS r and b, with the arrow from a to b in the query."""
    for answer in read("langchain", shared_log("langchain/graph_cypher_qa.jsonl.gz")):
        assert edges(answer) == [[(f"{STORE}.create_new_index", "CALLS", INDEXES)]]
        assert names(answer) == [f"{STORE}.create_new_index", INDEXES]
        assert answer.answer == "It calls create_vector_index."
        assert answer.notes == [GUESSED_COLUMNS.format("a, r, b")]
        (other,) = read(
            "langchain",
            [shared_log("langchain/graph_cypher_qa.jsonl.gz")[0]],
            ReadOptions(columns=("b", "r", "a")),
        )
        assert edges(other) == [[(INDEXES, "CALLS", f"{STORE}.create_new_index")]]
        assert other.notes == []


@pytest.mark.parametrize(
    "form",
    [
        document("a", "b"),
        dumped("Document", **document("a", "b")),
        {"page_content": "text of a", "metadata": document("a", "b")["metadata"]},
        f"page_content='text of a' metadata={document('a', 'b')['metadata']!r}",
    ],
    ids=["model_dump", "dumpd", "fields", "str"],
)
@pytest.mark.parametrize("key", ["context", "documents", "source_documents", None])
def test_forms_of_documents(form: Any, key: str | None) -> None:
    """Documents are read in each form in which they are written, in a chain's output or as a retriever's own list."""
    value = {"question_id": "q", "result": [form] if key is None else {key: [form], "answer": "yes"}}
    (answer,) = read("langchain", [value])
    assert answer.retrieved == [LoggedChunk("a", "text of a"), LoggedChunk("b")]
    assert edges(answer) == [[("a", "CALLS", "b")]]
    assert answer.answer == (None if key is None else "yes")


def test_documents_with_scores() -> None:
    """``similarity_search_with_score`` gives pairs of a document and its score."""
    (answer,) = read("langchain", [{"question_id": "q", "documents": [[document("a"), 0.75], [document("b"), 0.5]]}])
    assert [(chunk.name, chunk.score) for chunk in answer.retrieved or ()] == [("a", 0.75), ("b", 0.5)]


def test_names_in_the_text() -> None:
    """Neo4jVector writes the properties that it embeds as lines; those of a text among them are none."""
    text = "\nqname: pkg.f\ntext: def f():\nid: not a property"
    (answer,) = read("langchain", [{"question_id": "q", "context": [{"page_content": text, "metadata": {}}]}])
    assert names(answer) == ["pkg.f"]
    (other,) = read("langchain", [{"question_id": "q", "context": [{"page_content": "name: x", "metadata": {}}]}])
    assert other.retrieved is None


def test_nothing_found() -> None:
    """A search without results is an empty walk if the log has edges elsewhere, and an unknown one otherwise."""
    nothing = {"question_id": "q", "output": {"context": [], "answer": "no idea"}}
    some = {"question_id": "r", "output": {"context": [document("a", "b")], "answer": "b"}}
    first, second = read("langchain", [nothing, some])
    assert (first.retrieved, first.traversal, len(second.traversal or ())) == ([], [], 1)
    (alone,) = read("langchain", [nothing])
    assert (alone.retrieved, alone.traversal) == ([], None)


def test_context_of_text() -> None:
    """A context that was joined to one text doesn't tell what was retrieved, beside documents or without."""
    value = {"question_id": "q", "output": {"context": "a and b", "source_documents": [document("a")], "answer": "x"}}
    (answer,) = read("langchain", [value])
    assert (names(answer), answer.notes) == (["a"], [PASSED_TEXT])


def event(name: str, run: str, *parents: str, question: str | None = "q", **data: Any) -> dict[str, Any]:
    """Return an event of version 2."""
    metadata = {} if question is None else {"question_id": question}
    return {
        "event": name,
        "run_id": run,
        "name": run,
        "tags": [],
        "metadata": {**metadata, **data.pop("told", {})},
        "parent_ids": list(parents),
        "data": data,
    }


def message(content: Any, prompt: int, output: int, **more: Any) -> dict[str, Any]:
    """Return a model's message with its tokens."""
    usage = {"input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output}
    return dumped("AIMessage", type="ai", content=content, usage_metadata=usage, **more)


def test_nested_runs_count_once() -> None:
    """The outer of nested retrievers gives the documents, and the inner of nested models the tokens.

    The prompt is 10 + 20 = 30 tokens in two calls; the third reports what the second does, for it holds it.
    """
    log = [
        event("on_chain_start", "root", input={"question": "who?"}),
        event("on_retriever_start", "outer", "root", input={"query": "who?"}),
        event("on_retriever_start", "inner", "root", "outer"),
        event("on_retriever_end", "inner", "root", "outer", output=[document("a", "b"), document("c")]),
        event("on_retriever_end", "outer", "root", output=[document("a", "b")]),
        event("on_chat_model_start", "m1", "root"),
        event("on_chat_model_stream", "m1", "root", chunk=message("x", 10, 1)),
        event("on_chat_model_end", "m1", "root", output=message("x", 10, 1), told={"ls_model_name": "small"}),
        event("on_chat_model_start", "m3", "root"),
        event("on_chat_model_start", "m2", "root", "m3"),
        event("on_chat_model_end", "m2", "root", "m3", output=message("y", 20, 2)),
        event("on_chat_model_end", "m3", "root", output=message("y", 20, 2)),
        event("on_chain_end", "root", output=message([{"type": "text", "text": "Ann"}], 20, 2)),
    ]
    (answer,) = read("langchain", log)
    assert (answer.question, answer.question_text, answer.answer) == ("q", "who?", "Ann")
    assert names(answer) == ["a", "b"]
    assert edges(answer) == [[("a", "CALLS", "b")]]
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens) == (2, 30, 3)
    assert (answer.model, answer.notes) == ("small", [])


def test_a_call_without_its_count() -> None:
    """If one call doesn't tell its tokens, a sum would be too small: none is reported."""
    log = [
        event("on_chain_start", "root", input="who?"),
        event("on_chat_model_end", "m1", "root", output=message("x", 10, 1)),
        event("on_llm_end", "m2", "root", output={"generations": [[{"text": "y"}]], "llm_output": None}),
        event("on_chain_end", "root", output="Ann"),
    ]
    (answer,) = read("langchain", log)
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens, answer.answer) == (2, None, None, "Ann")
    assert answer.retrieved is None


def test_runs_at_the_same_time() -> None:
    """Events of two questions may alternate; each is reported when its root has ended, and what never ended at last."""
    log = [
        event("on_chain_start", "x", question="q1", input="one"),
        event("on_chain_start", "y", question="q2", input="two"),
        event("on_chain_start", "z", question="q3", input="three"),
        event("on_retriever_end", "rx", "x", question="q1", output=[document("a", "b")]),
        event("on_retriever_end", "ry", "y", question="q2", output=[document("c", "d")]),
        event("on_chain_end", "y", question="q2", output="Y"),
        event("on_chain_end", "x", question="q1", output="X"),
    ]
    answers = read("langchain", log)
    assert [(answer.question, answer.answer, names(answer)) for answer in answers] == [
        ("q2", "Y", ["c", "d"]),
        ("q1", "X", ["a", "b"]),
        ("q3", None, None),
    ]
    assert answers[2].notes == [UNFINISHED]


def test_events_in_one_line() -> None:
    """A line may hold all events of its question, and the question's id beside them."""
    inner = [
        event("on_chain_start", "x", question=None, input="one"),
        event("on_retriever_end", "r", "x", question=None, output=[document("a")]),
        event("on_chain_end", "x", question=None, output="X"),
    ]
    (answer,) = read("langchain", [{"question_id": "q", "events": inner}])
    assert (answer.question, answer.answer, names(answer)) == ("q", "X", ["a"])


def test_events_of_version_1() -> None:
    """They don't tell their parents: those of one question are one run, and its context goes before its retrievers."""
    log = [
        event("on_chain_start", "root", input="who?"),
        event("on_retriever_start", "outer"),
        event("on_retriever_end", "inner", output={"documents": [document("a"), document("c")]}),
        event("on_retriever_end", "outer", output={"documents": [document("a")]}),
        event("on_chain_end", "root", output={"context": [document("a")], "answer": "Ann"}),
    ]
    (answer,) = read("langchain", log)
    assert (names(answer), answer.answer, answer.notes) == (["a"], "Ann", [NO_PARENTS])


def run(kind: str, number: int, **more: Any) -> dict[str, Any]:
    """Return a run of a tracer, which took a second."""
    return {
        "id": f"run-{number}",
        "name": kind,
        "run_type": kind,
        "inputs": {},
        "start_time": f"2026-11-22T12:00:0{number}",
        "end_time": f"2026-11-22T12:00:0{number + 1}",
        **more,
    }


def tree() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the root of a run, and the runs beneath it: a retriever and a model."""
    root = run(
        "chain",
        0,
        inputs={"input": "who?"},
        outputs={"output": "Ann"},
        end_time="2026-11-22T12:00:02.500+00:00",
        extra={"metadata": {"question_id": "q"}},
    )
    generation = {"text": "Ann", "message": message("Ann", 7, 2, response_metadata={"model_name": "large"})}
    children = [
        run("llm", 2, outputs={"generations": [[generation]], "llm_output": None}),
        run("retriever", 1, outputs={"documents": [document("a", "b")]}),
    ]
    return root, children


@pytest.mark.parametrize("flat", [False, True])
def test_run_trees(flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root with its children, as a collector has them, and runs line by line, as LangSmith exports them, last first.

    From 12:00:00 to 12:00:02.5 are 2500 ms, wherever it is read: a time without its zone is UTC.
    """
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    root, children = tree()
    if flat:
        above = {"parent_run_id": "run-0", "trace_id": "run-0"}
        log = [*({**child, **above} for child in children), {**root, "trace_id": "run-0"}]
    else:
        log = [{**root, "child_runs": children}]
    (answer,) = read("langchain", log)
    assert (answer.question, answer.question_text, answer.answer) == ("q", "who?", "Ann")
    assert (names(answer), edges(answer)) == (["a", "b"], [[("a", "CALLS", "b")]])
    assert answer.latency_ms == pytest.approx(2500)
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens, answer.model) == (1, 7, 2, "large")
    assert answer.notes == []
    monkeypatch.undo()
    time.tzset()


def test_a_run_that_failed() -> None:
    """Its error is reported without the traceback, with its type, and what it retrieved before."""
    root, children = tree()
    failed = {
        **root,
        "outputs": None,
        "child_runs": children[1:],
        "error": "ValueError('no')Traceback (most recent call last):\n",
    }
    (answer,) = read("langchain", [failed])
    assert (answer.error, answer.error_type, names(answer)) == ("ValueError('no')", "ValueError", ["a", "b"])


def test_an_agents_messages() -> None:
    """Tools give documents beside their messages' texts; the answer is the last message, the tokens are the calls'."""
    messages = [
        dumped("HumanMessage", type="human", content="who?"),
        message("", 5, 2),
        dumped("ToolMessage", type="tool", content="x", tool_call_id="c", artifact=[document("a", "b")]),
        message("Ann", 9, 3),
    ]
    (answer,) = read("langchain", [{"question_id": "q", "output": {"messages": messages}}])
    assert (answer.question_text, answer.answer, names(answer)) == ("who?", "Ann", ["a", "b"])
    assert (answer.model_calls, answer.prompt_tokens, answer.output_tokens) == (2, 14, 5)


def cypher(*rows: Any, query: str = "") -> dict[str, Any]:
    """Return the output of a Cypher chain with its steps."""
    steps = [{"query": query}, {"context": list(rows)}]
    return {"question_id": "q", "output": {"query": "who?", "result": "Ann", "intermediate_steps": steps}}


def test_rows_of_nodes_and_relationships() -> None:
    """Rows as ``Record.data()`` gives them: nodes as maps, a relationship as its ends and type without direction."""
    row = {"a": {"qname": "x"}, "r": [{"qname": "x"}, "CALLS", {"qname": "y"}], "b": {"qname": "y"}}
    (answer,) = read("langchain", [cypher(row)])
    assert edges(answer) == [[("[x]", "CALLS", "[y]")]]
    assert names(answer) == ["x", "y"]


def test_rows_without_an_edge() -> None:
    """A row that names a node is what was retrieved; rows that could mean anything ask for the columns."""
    named, unclear, nothing = read(
        "langchain", [cypher({"name": "x", "age": 3}), cypher({"caller": "x", "callee": "y"}), cypher()]
    )
    assert (names(named), named.traversal, named.notes) == (["x"], None, [])
    assert (names(unclear), unclear.traversal) == (["(no name: 1)"], None)
    assert NAME_THE_COLUMNS in unclear.notes
    assert (nothing.retrieved, nothing.traversal) == ([], None)


@pytest.mark.parametrize(
    "value",
    [
        {"context": ["a", "b"], "answer": "x"},
        {"event": "click", "run_id": "1", "data": {}},
        {"messages": [{"role": "user", "content": "who?"}]},
        {"intermediate_steps": [1]},
        {"run_type": "llm"},
        {"retrieved": [{"id": "a"}], "answer": "x"},
        [],
        "page_content='a'",
    ],
)
def test_what_it_isnt(value: Any) -> None:
    """Other objects aren't taken for LangChain's."""
    assert not reader_of("langchain").recognises(value)


def test_a_deep_tree() -> None:
    """A tree of runs of any depth is read."""
    root = run("chain", 0, outputs={"output": "Ann"})
    below = root
    for number in range(3000):
        child = {**run("chain", 1), "id": f"c{number}"}
        below["child_runs"] = [child]
        below = child
    below["child_runs"] = [run("retriever", 2, outputs={"documents": [document("a")]})]
    (answer,) = reader_of("langchain").read([("log:1", root)], ReadOptions(), Counter())
    assert names(answer) == ["a"]


@pytest.mark.parametrize(
    "value",
    [
        {"question_id": "q", "output": {"context": [dumped("Document", **document("a", "b"))], "answer": "x"}},
        {
            "events": [
                event("on_chat_model_end", "m", "x", output=message("x", 1, 2)),
                event("on_chain_end", "x", output="y"),
            ]
        },
        {**tree()[0], "child_runs": tree()[1]},
        cypher({"a": "x", "r": "CALLS", "b": {"qname": "y"}}),
    ],
)
def test_spoiled_values(value: Any) -> None:
    """Whatever stands in any place of an output, an event or a run, it is read or refused."""
    assert survives("langchain", value) > 100


def test_documents_are_named_by_their_files() -> None:
    """A name before the document's own id, that before its file, and the file before an id drawn at random."""
    drawn = "0b8f7a1e-0000-4000-8000-000000000001"
    unread: Counter[str] = Counter()
    documents = [
        {"id": drawn, "metadata": {"source": "a.md", "page": 3}, "page_content": "x"},
        {"id": "b1", "metadata": {"source": "b.md"}, "page_content": "x"},
        {"id": None, "metadata": {"name": "c", "file_path": "c.md"}, "page_content": "x"},
        {"id": drawn, "metadata": {}, "page_content": "x"},
        {"pageContent": "as LangChain.js has it", "metadata": {"source": "d.md"}},
    ]
    (answer,) = read("langchain", [{"question_id": "q", "context": documents}], unread=unread)
    assert names(answer) == ["a.md", "b1", "c", drawn, "d.md"]
    # Of the files those of b1 and c weren't used.
    assert unread == {"metadata.page": 1, "metadata.source": 1, "metadata.file_path": 1}


def test_documents_of_a_users_own_form() -> None:
    """Text and metadata under a key of documents are one; anywhere else they are nobody's."""
    written = {"content": "x", "metadata": {"source": "a.md"}}
    (answer,) = read("langchain", [{"question_id": "q", "context": [written], "answer": "A"}])
    assert (names(answer), answer.answer) == (["a.md"], "A")
    assert not reader_of("langchain").recognises({"question_id": "q", "things": [written]})


def test_a_cypher_chain_that_returns_its_rows() -> None:
    """Rows in the place of the answer are rows, also beside steps that hold the query alone."""
    rows = [{"source": "Ann", "relation": "KNOWS", "target": "Bob"}]
    direct = {"query": "Who?", "result": rows}
    steps = {**direct, "intermediate_steps": [{"query": "MATCH (a)-[r]->(b) RETURN a"}]}
    for output in (direct, steps):
        (answer,) = read("langchain", [{"question_id": "q", "output": output}])
        assert (edges(answer), names(answer), answer.answer) == ([[("Ann", "KNOWS", "Bob")]], ["Ann", "Bob"], None)
    (nothing,) = read("langchain", [{"question_id": "q", "output": {"query": "Who?", "result": []}}])
    assert nothing.retrieved == []
    (plain,) = read("langchain", [{"question_id": "q", "output": {"query": "Who?", "result": "Bob."}}])
    assert (plain.answer, plain.retrieved, plain.traversal) == ("Bob.", None, None)


def called() -> list[dict[str, Any]]:
    """Return an agent's messages: it opens a node, is reported, and answers."""
    call = {"name": "read_node", "args": {"node": "Ann"}, "id": "c1", "type": "tool_call"}
    usage = {"input_tokens": 7, "output_tokens": 2}
    return [
        {"type": "human", "content": "Where?"},
        {"type": "ai", "content": "", "tool_calls": [call], "usage_metadata": usage},
        {"type": "tool", "content": "Ann works", "tool_call_id": "c1", "name": "read_node"},
        {"type": "ai", "content": "At Acme.", "tool_calls": [], "usage_metadata": usage},
    ]


def test_tools_of_a_run() -> None:
    """The messages that the root of an agent returns show the opened files and the calls of models."""
    run = {"id": "r", "run_type": "chain", "inputs": {"input": "Where?"}, "outputs": {"messages": called()}}
    (answer,) = read("langchain", [{"question_id": "q", "run": run}])
    assert (answer.opened, [call.name for call in answer.tool_calls or ()]) == (["Ann"], ["read_node"])
    assert (answer.answer, answer.model_calls, answer.prompt_tokens, answer.output_tokens) == ("At Acme.", 2, 14, 4)


def test_tools_without_messages() -> None:
    """Runs and events of tools tell what was opened, and the steps of an agent's executor do; arguments may be text."""
    tool = {"id": "t", "run_type": "tool", "name": "read_node", "inputs": {"input": "{'node': 'Ann'}"}}
    tool |= {"outputs": {"output": "works"}, "start_time": "2026-01-01T00:00:00"}
    run = {"id": "r", "run_type": "chain", "inputs": {"input": "W?"}, "outputs": {"output": "A"}, "child_runs": [tool]}
    event = {"run_id": "r", "parent_ids": [], "name": "agent", "metadata": {"question_id": "q"}}
    inner = {**event, "run_id": "t", "parent_ids": ["r"], "name": "read_node"}
    events = [
        {**event, "event": "on_chain_start", "data": {"input": "W?"}},
        {**inner, "event": "on_tool_start", "data": {"input": {"node": "Ann"}}},
        {**inner, "event": "on_tool_end", "data": {"output": {"type": "tool", "content": "works"}}},
        {**event, "event": "on_chain_end", "data": {"output": "A"}},
    ]
    step = [{"tool": "read_node", "tool_input": {"node": "Ann"}, "log": ""}, "works"]
    for values in ([{"qid": "q", "run": run}], events, [{"qid": "q", "output": "A", "intermediate_steps": [step]}]):
        (answer,) = read("langchain", values)
        assert (answer.question, answer.answer, answer.opened) == ("q", "A", ["Ann"])
        assert [(call.name, call.result) for call in answer.tool_calls or ()] == [("read_node", "works")]


def test_streams_of_a_graph() -> None:
    """The last of successive states counts, updates of nodes make one state, and astream_log's state has its end.

    Another answer to the same question is an answer of its own.
    """
    state = {"question": "W?", "documents": [document("A", "B")]}
    final = {**state, "generation": "At B."}
    updates = [{"retrieve": {"documents": state["documents"]}}, {"generate": {"generation": "At B."}}]
    log = {"id": "r", "streamed_output": [state], "final_output": final, "logs": {}}
    for value in ({"states": [state, final]}, {"chunks": updates}, {"state": log}):
        (answer,) = read("langchain", [{"question_id": "q", **value}])
        assert (names(answer), answer.answer) == (["A", "B"], "At B.")
    other = {**final, "documents": [document("C")]}
    assert [names(one) for one in read("langchain", [{"qid": "q", "out": final}, {"qid": "q", "out": other}])] == [
        ["A", "B"],
        ["C"],
    ]


def test_a_run_without_its_children() -> None:
    """A root alone, as newer versions write it, says that the runs within it are missing; tables hold JSON as text."""
    run = {"id": "r", "run_type": "chain", "inputs": '{"input": "W?"}', "outputs": '{"output": "At B."}'}
    (answer,) = read("langchain", [{"question_id": "q", "run": run}])
    assert (answer.question_text, answer.answer, answer.retrieved) == ("W?", "At B.", None)
    assert NO_CHILDREN in answer.notes


def test_changes_of_astream_log_are_refused() -> None:
    """They are recognised, and what can be read instead is said."""
    change = {"question_id": "q", "ops": [{"op": "replace", "path": "", "value": {"logs": {}}}]}
    with pytest.raises(UnreadableLogError, match=r"log:1: it is a change of astream_log(.|\n)*astream_events"):
        read("langchain", [change])


def test_nothing_was_found() -> None:
    """An empty list in the place of documents is a retrieval of nothing, and a walk of nothing where others walked.

    Two outputs that are alike are two answers where they don't name their question.
    """
    first, second = read_some(
        {"question_id": "q1", "result": [document("A", "B")]}, {"question_id": "q2", "result": []}
    )
    assert (names(first), edges(first)) == (["A", "B"], [[("A", "CALLS", "B")]])
    assert (second.retrieved, second.traversal) == ([], [])
    alike = {"input": "Who?", "output": {"context": [document("A")], "answer": "A"}}
    assert len(read_some(alike, alike)) == 2
    (scored,) = read_some({"question_id": "q", "results": [{"document": document("A"), "score": 0.5}]})
    assert [(chunk.name, chunk.score) for chunk in scored.retrieved or ()] == [("A", 0.5)]


def read_some(*values: Any) -> list[Any]:
    """Return what is read of values of which not each has to be recognised."""
    placed = [(f"log:{number}", value) for number, value in enumerate(values, 1)]
    return list(reader_of("langchain").read(placed, ReadOptions(), Counter()))
