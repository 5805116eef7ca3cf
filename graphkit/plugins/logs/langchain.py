"""LangChain: results of chains and retrievers, events of a run, run trees of LangSmith, the Cypher chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.graph_values import Gathered, InOrder
from graphkit.plugins.logs.langchain_outputs import add_output, continues, is_output
from graphkit.plugins.logs.langchain_traces import Traces, is_event, is_run
from graphkit.plugins.logs.payloads import Wrapped, each_unwrapped, holds
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values


class LangchainReader(Reader):
    """Reads chain outputs, lists of documents, events of ``astream_events``, and run trees."""

    name = "langchain"
    priority = 50
    beside = (
        *("tags", "lc", "lc_versions", "ls_retriever_name", "ls_vector_store_provider"),
        *("ls_embedding_provider", "ls_provider", "ls_model_type", "ls_integration"),
    )
    options = ("question_key", "columns", "chunks_only")
    title = (
        "LangChain: chain outputs, documents, astream_events, LangSmith and RunCollector runs, GraphCypherQAChain, "
        "LangGraph's states"
    )
    lacks = (
        "Edges are logged only if the retrieval query puts them into the documents' metadata, or if a Cypher chain's "
        "rows hold them.",
        "A retriever made by as_retriever() drops the scores.",
        "Events carry no times, and only models that count their tokens log them.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_payload, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        traces = Traces()
        answers = InOrder()
        held: Wrapped | None = None  # the state of a graph, until that of its next step is seen
        for where, value in values:
            for wrapped in each_unwrapped(value, _is_payload, options, where, lists=True):
                payload = wrapped.payload
                if held is not None:
                    same = held.question is not None and held.question == wrapped.question
                    if not (same and continues(held.payload, payload)):
                        yield from answers.add(*_output(held, options, unread))
                    held = None
                if _is_patch(payload):
                    raise UnreadableLogError(
                        "it is a change of astream_log, of which each says a part only",
                        where=wrapped.answer.where,
                        remedy="Log what astream_events gives, or the state that astream_log has at last.",
                    )
                if is_event(payload):
                    trace = traces.of_event(payload, wrapped, unread)
                    trace.event(payload, wrapped)
                    if trace.ended:
                        yield from answers.add(*traces.done(trace).answered(options, unread))
                elif is_run(payload):
                    trace = traces.opened(str(payload.get("trace_id") or payload.get("id")), wrapped, unread)
                    trace.tree(payload, wrapped, options)
                    if payload.get("child_runs") and payload.get("parent_run_id") is None:
                        yield from answers.add(*traces.done(trace).answered(options, unread))
                else:
                    held = wrapped
        if held is not None:
            yield from answers.add(*_output(held, options, unread))
        for trace in traces.open.values():
            yield from answers.add(*trace.answered(options, unread))
        yield from answers.rest()


def _is_payload(value: Any) -> bool:
    return is_event(value) or is_run(value) or is_output(value) or _is_patch(value)


def _is_patch(value: Any) -> bool:
    """Return whether a value is a change that ``astream_log`` gives."""
    return isinstance(value, dict) and value.keys() == {"op", "path", "value"}


def _output(wrapped: Wrapped, options: ReadOptions, unread: Counter[str]) -> tuple[LoggedAnswer, Gathered]:
    """Return the answer of an output, and the gathered items."""
    answer, gathered = wrapped.logged(unread), Gathered(options)
    if wrapped.payload is not None:
        add_output(answer, wrapped.payload, gathered, unread)
        gathered.add_to(answer)
    elif wrapped.empty:
        gathered.asked = True
        gathered.add_to(answer)
    return answer, gathered
