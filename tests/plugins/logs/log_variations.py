"""A small log of each format, and the variations of it that the table of the page on imports shows.

Logs that frameworks wrote are varied as they were recorded; the others are small ones of the same form. All are about
one dataset: the town and the shop whose logs are in ``recorded``.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.plugins.logs.test_agent_sessions import CHAT as AIDER_CHAT
from tests.plugins.logs.test_agent_sessions import Session, Use, copilot, cursor, opencode
from tests.plugins.logs.test_atif import WALK as ATIF_WALK
from tests.plugins.logs.test_inspect_logs import log as inspect_log
from tests.plugins.logs.test_inspect_logs import sample as inspect_sample
from tests.plugins.logs.test_spans import span
from tests.plugins.logs.test_traced_functions import call as weave_call
from tests.plugins.logs.test_traced_functions import observation
from tests.plugins.logs.test_traced_functions import span as mlflow_span

RECORDED = Path(__file__).parent / "recorded"

#: The questions of the recorded logs, and another of each kind.
TOWN, SHOP = "Where does Ann work?", "Where does checkout take the items from?"
OTHER = "Which stock is taken by the orders?"

NODES = [["Ann", "WORKS_AT", "Acme"], ["Acme", "IN", "Bern"]]

Values = list[Any]


@dataclass(frozen=True)
class Sample:
    """A log.

    Attributes
    ----------
    values
        The values of its file; its text, if it isn't JSON.
    result, call
        What tells the last result of a tool that is varied, and its call, wherever they stand: patterns.
    before
        The same of the call before it.
    failed
        The key that an object around the result has, and what marks the result as failed there.
    lists
        The keys of the lists of what was found.
    wrapped
        Whether each value is an object with the id of its question.
    asked
        The text of its question.
    """

    values: Values | str
    result: str = r"Acme\W+IN\W+Bern"
    call: str = r'node\W+"Acme'
    before: tuple[str, str] = (r'node\W+"Ann', r"Ann\W+WORKS_AT\W+Acme\W+Zed")
    failed: tuple[str, dict[str, Any]] | None = None
    lists: tuple[str, ...] = ()
    wrapped: bool = True
    asked: str = TOWN
    tools: bool = True
    error: str | None = "Error: ENOENT: no such file or directory"
    suffix: str = ".jsonl"
    empty: Any = "[]"
    lost: str | None = None  # a pattern of the value that holds the result and its call
    more: dict[str, Any] = field(default_factory=dict)


def recorded(name: str, *places: int) -> Values:
    """Return the values of a recorded log, or those at some places."""
    text = (RECORDED / name).read_text("utf-8")
    values = [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else [json.loads(text)]
    return [values[place] for place in places] if places else values


#: What a shell's command says of a file that isn't there.
CAT = "cat: src/orders.py: No such file or directory"
SED = "sed: can't read src/orders.py: No such file or directory"


def _shop(name: str, failed: tuple[str, dict[str, Any]] | None = None, **more: Any) -> Sample:
    given = {"suffix": ".jsonl" if name.endswith(".jsonl") else ".json", "empty": "", "error": CAT, **more}
    return Sample(
        recorded(name),
        result=r"def place\(items\)",
        call=r"orders\.py",
        before=(r"cart\.py", r"def checkout\(items\):\\n"),
        failed=failed,
        wrapped=False,
        asked=SHOP,
        **given,
    )


def _session(form: Session, failed: tuple[str, dict[str, Any]], **more: Any) -> Sample:
    """Return a session that reads the cart and the orders."""
    uses = (Use("/w/src/cart.py", "def checkout(items):\n"), Use("/w/src/orders.py", "def place(items): ..."))
    return Sample(
        json.loads(json.dumps(form(*uses)).replace('"/w', '"/testbed')),
        result=r"def place\(items\)",
        call=r"orders\.py",
        before=(r"cart\.py", r"def checkout\(items\):\\n"),
        failed=failed,
        wrapped=False,
        asked=SHOP,
        empty="",
        **more,
    )


def _mlflow() -> Values:
    tools = [
        mlflow_span(f"open {node}", "ask", "TOOL", {"node": node}, sees)
        for node, sees in (("Ann", ANN_SEES), ("Acme", ACME_SEES))
    ]
    spans = [mlflow_span("ask", None, "AGENT", {"question": TOWN}, "Acme."), *tools]
    for one in spans:
        one["trace_id"] = "trace-1"
        one["attributes"] = {key: json.loads(value) for key, value in one["attributes"].items()}
    return [{"question_id": "q", "trace": {"info": {"trace_id": "trace-1"}, "data": {"spans": spans}}}]


def _weave() -> Values:
    tools = [
        weave_call(f"open {node}", "ask", {"node": node}, sees, kind="tool")
        for node, sees in (("Ann", ANN_SEES), ("Acme", ACME_SEES))
    ]
    calls = [weave_call("ask", None, {"question": TOWN}, "Acme."), *tools]
    return [
        {
            "question_id": "q",
            "call": {**one, "trace_id": "trace-1", "attributes": {"weave": one["attributes"]["weave"]}},
        }
        for one in calls
    ]


def _langfuse() -> Values:
    tools = [
        {**observation(f"open {node}", "TOOL", {"node": node}, sees), "traceId": "trace-1"}
        for node, sees in (("Ann", ANN_SEES), ("Acme", ACME_SEES))
    ]
    trace = {"id": "trace-1", "timestamp": "2026-01-01T10:00:00.000Z", "input": TOWN, "output": "Acme.", "latency": 2}
    return [{"question_id": "q", "trace": {**trace, "observations": tools}}]


def _chat(*messages: Any, **around: Any) -> Values:
    return [{"question_id": "q", "messages": list(messages), **around}]


def _asks(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}


def _gives(number: int, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": content}


ANN_SEES = json.dumps([["Ann", "WORKS_AT", "Acme"], ["Zed", "KNOWS", "Ann"]])
ACME_SEES = json.dumps([["Ann", "WORKS_AT", "Acme"], ["Acme", "IN", "Bern"]])
CHAT = (
    {"role": "user", "content": TOWN},
    _asks(1, "open_node", node="Ann"),
    _gives(1, ANN_SEES),
    _asks(2, "open_node", node="Acme"),
    _gives(2, ACME_SEES),
    {"role": "assistant", "content": "Ann works at Acme."},
)


def _inspect() -> Values:
    messages = copy.deepcopy(list(CHAT))
    for one in messages:
        for call in one.get("tool_calls", ()):
            call["function"], call["arguments"] = call["function"]["name"], json.loads(call["function"]["arguments"])
    return [inspect_log({**inspect_sample("q"), "input": TOWN, "messages": messages})]


def _atif() -> Values:
    value = copy.deepcopy(ATIF_WALK)
    value["session_id"] = "q"
    value["steps"][1]["message"] = TOWN
    for step, node, sees in ((value["steps"][2], "Ann", ANN_SEES), (value["steps"][3], "Acme", ACME_SEES)):
        step["tool_calls"] = [{"tool_call_id": node, "function_name": "open_node", "arguments": {"node": node}}]
        step["observation"] = {"results": [{"source_call_id": node, "content": sees}]}
    return [value]


def _otel() -> Values:
    root = span(1, None, "", attributes={"gen_ai.operation.name": "invoke_agent", "question_id": "q"})
    tools = [
        span(
            number,
            1,
            "",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "open_node",
                "gen_ai.tool.call.id": f"c{number}",
                "gen_ai.tool.call.arguments": json.dumps({"node": node}),
                "gen_ai.tool.call.result": sees,
            },
        )
        for number, node, sees in ((2, "Ann", ANN_SEES), (3, "Acme", ACME_SEES))
    ]
    for one in (root, *tools):
        one["attributes"].pop("openinference.span.kind")
    return [root, *tools]


def _openinference() -> Values:
    root = span(1, None, "AGENT", attributes={"question_id": "q", "output.value": "Acme."})
    tools = [
        span(
            number,
            1,
            "TOOL",
            attributes={
                "tool.name": "open_node",
                "input.value": json.dumps({"node": node}),
                "tool.parameters": json.dumps({"node": node}),
                "output.value": sees,
            },
        )
        for number, node, sees in ((2, "Ann", ANN_SEES), (3, "Acme", ACME_SEES))
    ]
    return [root, *tools]


TRIPLES = [{"source": s, "relation": r, "target": t} for s, r, t in NODES]
DOCUMENT = {"page_content": "Ann works at Acme.", "metadata": {"id": "Ann", "triples": NODES}}
SEARCHED: dict[str, Any] = {"tools": False, "empty": []}

#: A log of each format.
SAMPLES: dict[str, Sample] = {
    "graphkit": Sample(
        [{"run": "r", "question_id": "q", "retrieved": [{"id": "Ann"}], "traversal": TRIPLES, "answer": "Acme."}],
        lists=("retrieved", "traversal"),
        **SEARCHED,
    ),
    "inspect": Sample(_inspect(), failed=("tool_call_id", {"error": {"type": "x", "message": "no such node"}})),
    "atif": Sample(_atif()),
    "openinference": Sample(_openinference(), failed=("status", {"status": {"status_code": "ERROR"}})),
    "otel": Sample(_otel(), failed=("status", {"status": {"status_code": "ERROR"}})),
    "graphrag": Sample(
        [
            {
                "question_id": "q",
                "response": "Acme.",
                "context_data": {
                    "entities": [{"id": "1", "entity": "ANN"}, {"id": "2", "entity": "ACME"}],
                    "relationships": [{"id": "1", "source": "ANN", "target": "ACME", "description": "works"}],
                    "sources": [],
                },
            }
        ],
        lists=("entities", "relationships", "sources"),
        **SEARCHED,
    ),
    "lightrag": Sample(
        [
            {
                "question_id": "q",
                "status": "success",
                "message": "",
                "data": {
                    "entities": [{"entity_name": "Ann"}, {"entity_name": "Acme"}],
                    "relationships": [{"src_id": "Acme", "tgt_id": "Ann"}],
                    "chunks": [],
                },
                "metadata": {"query_mode": "local"},
            }
        ],
        lists=("entities", "relationships", "chunks"),
        **SEARCHED,
    ),
    "neo4j-graphrag": Sample(
        [
            {
                "question_id": "q",
                "result": {"items": [{"content": "x", "metadata": {"id": "Ann", "triples": NODES}}], "metadata": {}},
            }
        ],
        lists=("items",),
        **SEARCHED,
    ),
    "llama-index": Sample(
        [
            {
                "question_id": "q",
                "nodes": [{"node": {"id_": "Ann", "text": "Ann -> WORKS_AT -> Acme"}, "score": 0.5}],
            }
        ],
        lists=("nodes",),
        **SEARCHED,
    ),
    "langchain": Sample(
        [{"question_id": "q", "context": [DOCUMENT], "answer": "Acme."}],
        lists=("context",),
        **SEARCHED,
    ),
    "ragas": Sample(
        [
            {
                "question_id": "q",
                "user_input": TOWN,
                "response": "Acme.",
                "retrieved_contexts": ["Ann works at Acme."],
                "retrieved_context_ids": ["Ann", "Acme"],
            }
        ],
        lists=("retrieved_contexts", "retrieved_context_ids"),
        **SEARCHED,
    ),
    "claude-code": _shop("claude_code_session.jsonl", ("tool_use_id", {"is_error": True})),
    "codex": _shop(
        "codex_exec.jsonl",
        ("exit_code", {"exit_code": 1, "status": "failed"}),
        error=SED,
        lost="item.completed.*orders",
    ),
    "opencode": _session(opencode, ("output", {"status": "error", "error": "no such file"})),
    "copilot": _session(copilot, ("success", {"success": False})),
    "cursor": _session(cursor, ("result", {"result": {"error": {"error": "no such file"}}}), lost="completed.*orders"),
    "aider": Sample(AIDER_CHAT, wrapped=False, suffix=".md", asked=SHOP, **SEARCHED),
    "mlflow": Sample(_mlflow(), failed=("status", {"status": {"code": "ERROR", "message": "no such node"}})),
    "langfuse": Sample(_langfuse(), failed=("level", {"level": "ERROR", "statusMessage": "no such node"})),
    "weave": Sample(_weave(), failed=("exception", {"exception": "KeyError: no such node"})),
    "mcp": _shop("mcp_stdio.jsonl", ("contents", {"isError": True}), error="Error: ENOENT: no such file or directory"),
    "openhands": _shop("openhands_sdk.jsonl", ("exit_code", {"exit_code": 1, "is_error": True})),
    "mini-swe-agent": _shop("mini_swe_agent_tools.traj.json", ("returncode", {"returncode": 1}), error=None),
    "swe-agent": _shop("swe_agent_tools.traj"),
    "messages": Sample(_chat(*CHAT), failed=("tool_call_id", {"status": "error"})),
    "openai-agents": Sample(recorded("openai_agents_items.jsonl", 0)),
    "pydantic-ai": Sample(
        recorded("pydantic_ai.jsonl", 0), failed=("part_kind", {"part_kind": "retry-prompt", "content": "no"})
    ),
    "smolagents": Sample(
        recorded("smolagents.jsonl", 0),
        failed=("observations", {"error": {"type": "AgentToolExecutionError", "message": "no such node"}}),
    ),
    "locagent": Sample(
        [{"instance_id": "q", "found_files": ["people.md"], "found_entities": ["people.md:Ann"], "found_modules": []}],
        lists=("found_files", "found_entities"),
        **SEARCHED,
    ),
    "google-adk": Sample(recorded("google_adk.jsonl", 0), failed=("response", {"response": {"error": "no such node"}})),
    "autogen": Sample(recorded("autogen.jsonl", 0), failed=("is_error", {"is_error": True})),
    "haystack": Sample(recorded("haystack.jsonl", 2), failed=("origin", {"error": True})),
    "dspy": Sample(recorded("dspy.jsonl", 0)),
    "graphiti": Sample(
        recorded("graphiti.jsonl", 1),
        lists=("edges", "nodes"),
        more={"names": {"365bc7a3-26f1-4b35-9776-3d1cf4fab04b": "Zed", "523f258e-52c7-455b-ac4c-1b1a8464e81f": "Acme"}},
        **SEARCHED,
    ),
    "cognee": Sample(
        recorded("cognee.jsonl", 2), lists=("objects_result", "context_result", "text_result"), **SEARCHED
    ),
    "promptfoo": Sample(
        [
            {
                "promptIdx": 0,
                "testIdx": 0,
                "provider": {"id": "python:rag.py", "label": "rag"},
                "prompt": {"raw": TOWN, "label": "{{question}}"},
                "vars": {"question": TOWN},
                "testCase": {"vars": {"question": TOWN}, "assert": []},
                "response": {"output": "Acme.", "metadata": {"contexts": [{"id": "Ann"}, {"id": "Acme"}]}},
                "failureReason": 0,
                "latencyMs": 40,
            }
        ],
        lists=("contexts",),
        wrapped=False,
        **SEARCHED,
    ),
    "deepeval": Sample(
        [
            {
                "testCases": [
                    {
                        "name": "test_case_0",
                        "input": TOWN,
                        "actualOutput": "Acme.",
                        "toolsCalled": [
                            {
                                "name": "neighbours",
                                "inputParameters": {"node": "Ann"},
                                "output": json.loads(ANN_SEES),
                            },
                            {
                                "name": "neighbours",
                                "inputParameters": {"node": "Acme"},
                                "output": [["Ann", "WORKS_AT", "Acme"], ["Acme", "IN", "Bern"]],
                            },
                        ],
                    }
                ]
            }
        ],
        wrapped=False,
    ),
    "swe-bench": Sample(
        [
            {
                "instance_id": "s",
                "model_name_or_path": "m",
                "model_patch": "--- a/src/orders.py\n+++ b/src/orders.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 1\n+y = 2\n",
            }
        ],
        asked=SHOP,
        **SEARCHED,
    ),
    "beir": Sample([{"q": {"Ann": 1.0, "Acme": 0.5}}], wrapped=False, **SEARCHED),
    "trec": Sample("q Q0 Ann 1 1.0 r\nq Q0 Acme 2 0.5 r\n", wrapped=False, suffix=".txt", **SEARCHED),
}


def _inside(value: Any) -> Iterator[Any]:
    """Yield the texts of an object, and the objects in it."""
    yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inside(one)


def text_of(value: Any) -> str:
    """Return a value as a text in which patterns are looked for."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def replaced(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with each of its texts and keys changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [replaced(one, change) for one in value]
    if isinstance(value, dict):
        return {change(key): replaced(one, change) for key, one in value.items()}
    return value


def is_result(value: Any, sample: Sample) -> bool:
    """Return whether a value is the text or the list of the varied result."""
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return False
    return isinstance(value, str | list) and re.search(sample.result, text_of(value)) is not None


def with_result(value: Any, sample: Sample, result: Any) -> Any:
    """Return a value with another result."""
    if is_result(value, sample):
        return result(value) if callable(result) else result
    if isinstance(value, list):
        return [with_result(one, sample, result) for one in value]
    if isinstance(value, dict):
        return {key: with_result(one, sample, result) for key, one in value.items()}
    return value


def without_result(value: Any, sample: Sample) -> Any:
    """Return a value without what holds the result and not its call."""

    def alone(one: Any) -> bool:
        words = text_of(one)
        return re.search(sample.result, words) is not None and re.search(sample.call, words) is None

    if isinstance(value, list):
        return [without_result(one, sample) for one in value if not alone(one)]
    if isinstance(value, dict):
        return {key: without_result(one, sample) for key, one in value.items() if not is_result(one, sample)}
    return value


def marked(value: Any, sample: Sample) -> Any:
    """Return a value whose result is marked as failed."""
    assert sample.failed is not None
    key, marks = sample.failed
    if isinstance(value, list):
        return [marked(one, sample) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: marked(one, sample) for name, one in value.items()}
    return {**found, **marks} if key in value and re.search(sample.result, text_of(value)) else found


def in_parallel(value: Any, sample: Sample) -> tuple[Any, bool]:
    """Return a value in which two calls stand before both of their results, and whether there was such a place."""
    if isinstance(value, dict):
        parts = {key: in_parallel(one, sample) for key, one in value.items()}
        return {key: one for key, (one, _) in parts.items()}, any(done for _, done in parts.values())
    if not isinstance(value, list):
        return value, False
    texts = [text_of(one).replace('\\"', '"') for one in value]

    def only(pattern: str, but: str) -> int | None:
        places = [at for at, one in enumerate(texts) if re.search(pattern, one) and not re.search(but, one)]
        return places[0] if places else None

    asks, gives = sample.before
    places = (
        only(asks, f"{gives}|{sample.call}|{sample.result}"),
        only(gives, f"{sample.call}|{sample.result}"),
        only(sample.call, f"{sample.result}|{gives}"),
        only(sample.result, f"{gives}|(?:{sample.call})"),
    )
    if None in places or len(set(places)) < 4:
        parts_ = [in_parallel(one, sample) for one in value]
        return [one for one, _ in parts_], any(done for _, done in parts_)
    first, gave, second, gave_too = (place for place in places if place is not None)
    moved = list(value)
    for place, one in zip(
        sorted(place for place in places if place is not None), (first, second, gave_too, gave), strict=True
    ):
        moved[place] = value[one]
    return moved, True


def nested(value: Any, keys: tuple[str, ...]) -> Any:
    """Return a value in which lists lie within another list."""
    if isinstance(value, list):
        return [nested(one, keys) for one in value]
    if isinstance(value, dict):
        return {
            key: [one] if key in keys and isinstance(one, list) and one else nested(one, keys)
            for key, one in value.items()
        }
    return value


def emptied(value: Any, keys: tuple[str, ...]) -> Any:
    """Return a value in which lists are empty."""
    if isinstance(value, list):
        return [emptied(one, keys) for one in value]
    if isinstance(value, dict):
        return {key: [] if key in keys else emptied(one, keys) for key, one in value.items()}
    return value
