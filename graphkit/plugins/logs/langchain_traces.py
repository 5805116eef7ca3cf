"""LangChain's runs: the events of ``astream_events``, and the run trees of its tracers and of LangSmith."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphkit.plugins.logs.graph_values import Gathered
from graphkit.plugins.logs.langchain_outputs import add_documents, add_output, question_in, sum_of_all, usage_of
from graphkit.plugins.logs.model_messages import CUT, plain_message
from graphkit.plugins.logs.payloads import QUESTION_IDS, Wrapped, at, json_within
from graphkit.plugins.logs.reprs import printed
from graphkit.plugins.logs.times import milliseconds_between
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.plugins.logs.traces import Tree
from graphkit.readers.graph_names import first_of
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, ReadOptions

_CHUNKS = re.compile(r"on_\w+_stream")
_EVENT = re.compile(r"on_(chain|retriever|chat_model|llm|tool|prompt|parser|custom)_?(\w+)")
_ERROR = re.compile(r"([A-Za-z_]\w*)\(")
_TRACEBACK = "Traceback (most recent call last)"
_MODELS = ("chat_model", "llm")
_LONGEST_PRINTED = 10_000

UNFINISHED = "a run whose end isn't in the log: it failed, or the log was cut"
NO_CHILDREN = (
    "a run without the runs within it, which model_dump() of a newer LangSmith omits: what was retrieved is "
    "unknown; write its child_runs as well"
)
NO_PARENTS = "events of version 1 don't say which run is within which: those of one question are read as one run"


def is_event(value: Any) -> bool:
    """Return whether a value is an event."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("event"), str)
        and _EVENT.fullmatch(value["event"]) is not None
        and "run_id" in value
        and isinstance(value.get("data"), dict)
        and isinstance(value.get("parent_ids", []), list)
    )


def is_run(value: Any) -> bool:
    """Return whether a value is a run of a tracer."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("run_type"), str)
        and "id" in value
        and ("inputs" in value or "outputs" in value)
    )


@dataclass(slots=True)
class _Run:
    """One run within a trace."""

    id: str
    parent: str | None
    kind: str
    start: str | None = None
    documents: list[Any] | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    ended: bool = False
    tool: str | None = None
    given: Any = None
    gave: Any = None
    failed: bool = False
    cut: bool = False


@dataclass(slots=True)
class _Trace:
    """The runs of one question, and the content of its root."""

    root: str
    question: str | None
    answer: LoggedAnswer
    runs: dict[str, _Run] = field(default_factory=dict)
    output: Any = None
    ended: bool = False
    nested: bool = False  # whether its events name their parents
    is_tree: bool = False
    notes: dict[str, None] = field(default_factory=dict)

    def event(self, event: dict[str, Any], wrapped: Wrapped) -> None:
        """Add an event of ``astream_events``."""
        run_id, name, data = str(event["run_id"]), event["event"], event["data"]
        parents = event.get("parent_ids")
        self.nested = self.nested or bool(parents)
        self._take_question(wrapped)
        if _CHUNKS.fullmatch(name):
            return
        match = _EVENT.fullmatch(name)
        assert match
        kind, moment = match[1], match[2]
        if not parents and run_id != self.root:
            self.notes[NO_PARENTS] = None
        parent = str(parents[-1]) if isinstance(parents, list) and parents else None
        run = self.runs.setdefault(run_id, _Run(run_id, parent, kind))
        if kind == "tool":
            run.tool = text(event.get("name")) or run.tool
            run.given = data.get("input") if run.given is None else run.given
        if moment == "start" and run_id == self.root:
            self.answer.question_text = self.answer.question_text or question_in(data.get("input"))
        if moment == "end":
            output = data.get("output")
            run.ended = True
            self._end(run, output, event.get("metadata"))
            if run_id == self.root:
                self.ended, self.output = True, output
        if moment == "error":
            run.ended = run.failed = True
            if run_id == self.root:
                self.ended = True
                self.answer.error = str(data.get("error"))

    def tree(self, run: dict[str, Any], wrapped: Wrapped, options: ReadOptions) -> None:
        """Add a run of a tracer with its children."""
        self.is_tree = True
        self._take_question(wrapped)
        waiting = [(run, str(run["parent_run_id"]) if run.get("parent_run_id") else None)]
        while waiting:
            one, parent = waiting.pop()
            run_id = str(one.get("id"))
            given = {key: json_within(one.get(key)) for key in ("inputs", "outputs", "extra")}  # texts, in tables
            kind = {name: name for name in ("llm", "retriever", "tool")}.get(str(one.get("run_type")), "chain")
            found = self.runs[run_id] = _Run(
                run_id, parent, kind, text(one.get("dotted_order")) or text(one.get("start_time"))
            )
            found.ended = one.get("end_time") is not None
            found.tool, found.given, found.failed = text(one.get("name")), given["inputs"], bool(one.get("error"))
            metadata = at(given, "extra.metadata")
            self._end(found, given["outputs"], metadata)
            if kind == "llm" and found.prompt_tokens is None and found.output_tokens is None:
                found.prompt_tokens, found.output_tokens = (
                    whole(one.get("prompt_tokens")),
                    whole(one.get("completion_tokens")),
                )
            if parent is None:
                self._root({**one, **given}, metadata, options)
            children = one["child_runs"] if isinstance(one.get("child_runs"), list) else []
            waiting.extend((child, run_id) for child in children if is_run(child))

    def _root(self, run: dict[str, Any], metadata: Any, options: ReadOptions) -> None:
        answer = self.answer
        self.ended = run.get("end_time") is not None
        self.output = _sole(run.get("outputs"))
        if options.question_key is None and isinstance(metadata, dict):
            key, value = first_of(metadata, QUESTION_IDS)
            if key and identifier(value):
                answer.question, answer.taken["question id"] = identifier(value), f"extra.metadata.{key}"
        answer.question_text = answer.question_text or question_in(_sole(run.get("inputs")))
        error = run.get("error")
        answer.error = text(error.partition(_TRACEBACK)[0].strip()) if isinstance(error, str) else answer.error
        taken = milliseconds_between(run.get("start_time"), run.get("end_time"))
        if answer.latency_ms is None and taken is not None and taken >= 0:
            answer.latency_ms = taken
        answer.cost = number(run.get("total_cost"))

    def _take_question(self, wrapped: Wrapped) -> None:
        answer = self.answer
        if answer.question is None and wrapped.question is not None:
            answer.question, answer.taken["question id"] = wrapped.question, wrapped.answer.taken["question id"]

    def _end(self, run: _Run, output: Any, metadata: Any) -> None:
        if run.kind == "retriever":
            found = output.get("documents", output.get("output")) if isinstance(output, dict) else output
            run.documents = found if isinstance(found, list) else None
        elif run.kind == "tool":
            run.gave = _sole(output)
        elif run.kind in _MODELS:
            known = object_of(metadata)
            used = usage_of(output)
            run.prompt_tokens, run.output_tokens = used.prompt_tokens, used.output_tokens
            run.model, run.cut = text(known.get("ls_model_name")) or used.model, used.cut

    def _add_tools(self, answer: LoggedAnswer, tree: Tree[_Run]) -> None:
        """Add the calls of tools to an answer unless messages hold them."""
        tools = tree.outermost(lambda run: run.kind == "tool")
        if not tools or answer.tool_calls:
            return
        trail = Trail()
        for run in tools:
            trail.called(run.tool, _arguments(run.given))
            message = object_of(plain_message(run.gave))
            trail.returned(message.get("content", run.gave), failed=run.failed or message.get("status") == "error")
        trail.into(answer, tools=False)

    def answered(self, options: ReadOptions, unread: Counter[str]) -> tuple[LoggedAnswer, Gathered]:
        """Return the answer of the trace, and the gathered items."""
        answer, gathered = self.answer, Gathered(options)
        add_output(answer, self.output, gathered, unread)
        tree = Tree.of(list(self.runs.values()))
        self._add_tools(answer, tree)
        if not gathered.places:  # the context of a chain takes precedence over the results of its retrievers
            for run in tree.outermost(lambda run: run.kind == "retriever"):
                if run.documents is not None:
                    add_documents(run.documents, gathered, unread)
        if self.is_tree and len(self.runs) == 1 and not gathered.asked and not answer.tool_calls:
            self.notes[NO_CHILDREN] = None
        models = [run for run in tree.innermost(lambda run: run.kind in _MODELS) if run.ended]
        if models:
            answer.model_calls = len(models)
            answer.prompt_tokens = sum_of_all(run.prompt_tokens for run in models)
            answer.output_tokens = sum_of_all(run.output_tokens for run in models)
            answer.model = next((run.model for run in models if run.model), None)
        if any(run.cut for run in models):
            self.notes[CUT] = None
        if not self.ended and answer.error is None:
            self.notes[UNFINISHED] = None
        if answer.error is not None:
            match = _ERROR.match(answer.error)
            answer.error_type = answer.error_type or (match[1] if match else None)
        gathered.add_to(answer)
        answer.notes.extend(self.notes)
        return answer, gathered


class Traces:
    """The traces whose roots haven't ended yet."""

    def __init__(self) -> None:
        self.open: dict[str, _Trace] = {}
        self._roots: dict[str, str] = {}  # of runs whose events don't name their parents
        self._of_question: dict[str | None, str] = {}

    def opened(self, root: str, wrapped: Wrapped, unread: Counter[str]) -> _Trace:
        """Return the trace of a root; begin one if there is none."""
        if root not in self.open:
            self.open[root] = _Trace(root, wrapped.question, wrapped.logged(unread))
            self._of_question.setdefault(wrapped.question, root)
        return self.open[root]

    def of_event(self, event: dict[str, Any], wrapped: Wrapped, unread: Counter[str]) -> _Trace:
        """Return the trace that an event belongs to.

        Events of version 1 don't name their parents: they belong to the open runs of the same question.
        """
        run, parents = str(event["run_id"]), event.get("parent_ids")
        if parents:
            return self.opened(str(parents[0]), wrapped, unread)
        root = self._roots.get(run)
        if root is None and run not in self.open:
            root = self._of_question.get(wrapped.question)
            if root is not None and not self.open[root].nested:
                self._roots[run] = root
            else:
                root = None
        return self.opened(root or run, wrapped, unread)

    def done(self, trace: _Trace) -> _Trace:
        """Close a trace whose root has ended, and return it."""
        del self.open[trace.root]
        for run in trace.runs:
            self._roots.pop(run, None)
        question = trace.question
        if self._of_question.get(question) == trace.root:
            del self._of_question[question]
        return trace


def _arguments(given: Any) -> Any:
    """Return the arguments of a tool, which tracers print as Python does.

    >>> _arguments({"input": "{'node': 'Ann'}"}), _arguments({"input": "Ann"})
    ({'node': 'Ann'}, {'input': 'Ann'})
    """
    given = json_within(_sole(given))
    found = printed(given, _LONGEST_PRINTED) if isinstance(given, str) and given.startswith("{") else given
    return found if isinstance(found, dict) else {"input": given}


def _sole(given: Any) -> Any:
    """Return the value that a tracer put into an object of one key: ``{"output": ...}``, ``{"input": ...}``."""
    if isinstance(given, dict) and len(given) == 1 and given.keys() <= {"output", "input"}:
        return next(iter(given.values()))
    return given
