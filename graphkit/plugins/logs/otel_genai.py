"""OpenTelemetry's conventions for generative AI: rankings, tools, latency and tokens, but neither edges nor texts.

OpenLLMetry's instrumentations also write the input and output of each step of a chain.

They are in development: the names are those of version 1.40 and later, beside the older ones of tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from graphkit.plugins.logs.graph_values import Gathered
from graphkit.plugins.logs.langchain_outputs import add_documents, answer_in, question_in
from graphkit.plugins.logs.logged_rankings import Ranking
from graphkit.plugins.logs.model_messages import Message, cut_short, parse_message
from graphkit.plugins.logs.payloads import count_unread, json_within
from graphkit.plugins.logs.spans import MORE_ATTRIBUTES, Operation, Span, ToolUse, holds_spans
from graphkit.plugins.logs.traces import TracedRetrieval, Tree, read_traces
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values

_OPERATION = "gen_ai.operation.name"
_DOCUMENTS = "gen_ai.retrieval.documents"
_CALLS = ("chat", "text_completion", "generate_content")
_RETRIEVALS = ("retrieval", "vector_db_retrieve")
_EVALUATION = "gen_ai.evaluation."
_RESPONSE = "gen_ai.response.id"

#: The attributes of OpenLLMetry's instrumentations with the input and output of a step of a chain, as JSON.
_INPUT, _OUTPUT = "traceloop.entity.input", "traceloop.entity.output"


class OpenTelemetryReader(Reader):
    """Reads spans of OpenTelemetry's conventions for generative AI."""

    name = "otel"
    priority = 100
    beside = ("resource", "scope", "processID", "processes")
    title = "OpenTelemetry GenAI spans, also those of OpenLLMetry: SDK JSON, OTLP JSON"
    lacks = (
        "The conventions have no edges: a traversal comes from what tools opened, or from OpenLLMetry's documents that "
        "hold edges.",
        "Documents have an id and a score, and are logged only if their capture is switched on.",
        "Question and answer are logged only if the capture of messages is switched on.",
        "The commits of documents aren't logged.",
    )

    def recognises(self, value: Any) -> bool:
        return holds_spans(value, lambda attributes: any(name.split(".")[0] == "gen_ai" for name in attributes))

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        return read_traces(values, options, unread, GenAIConventions())


class GenAIConventions:
    """The meaning of the attributes."""

    conversation = "gen_ai.conversation.id"
    used: tuple[str, ...] = (
        _OPERATION,
        _DOCUMENTS,
        conversation,
        "gen_ai.retrieval.query.text",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.response.finish_reasons",
        _RESPONSE,
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.usage.completion_tokens",
        "gen_ai.evaluation",
        "gen_ai.tool",
        _INPUT,
        _OUTPUT,
    )

    def operation(self, span: Span) -> Operation:
        """Return the operation of a span."""
        given, name = span.attributes, span.attributes.get(_OPERATION)
        if name == "execute_tool":
            tool = ToolUse(
                text(given.get("gen_ai.tool.name")) or span.name,
                given.get("gen_ai.tool.call.arguments"),
                identifier(given.get("gen_ai.tool.call.id")),
                given.get("gen_ai.tool.call.result"),
                span.failed,
            )
            return Operation("tool", tools=[tool])
        if name not in _CALLS:
            return Operation("retrieval" if name in _RETRIEVALS or _DOCUMENTS in given else "")
        model = text(given.get("gen_ai.response.model")) or text(given.get("gen_ai.request.model"))
        prompt, output = _tokens(span, "input", "prompt"), _tokens(span, "output", "completion")
        messages = _messages(span, "output")
        calls = (call for message in messages for call in message.calls)
        uses = [ToolUse(text(call.name), call.arguments, identifier(call.id)) for call in calls]
        response = text(given.get(_RESPONSE))
        reasons = given.get("gen_ai.response.finish_reasons")
        cut = cut_short({"finish_reasons": json_within(reasons)}) or any(message.cut for message in messages)
        return Operation("model", model, prompt, output, tools=uses, response=response, cut=cut)

    def asked(self, span: Span) -> str | None:
        """Return the text of the question in the input of a span."""
        found = _message_text(span, "input", "user") or text(span.attributes.get("gen_ai.retrieval.query.text"))
        return found or _step(span, _INPUT, ("query", "inputs"), question_in)

    def answered(self, span: Span) -> str | None:
        """Return the answer in the output of a span."""
        found = _message_text(span, "output", "assistant")
        return found or _step(span, _OUTPUT, ("outputs",), answer_in)

    def retrieved(self, tree: Tree[Span], unread: Counter[str], notes: list[str]) -> TracedRetrieval:
        """Return the documents of the outermost retrievals; of edges nothing is known."""
        names = {
            str(given.get(f"{_EVALUATION}name") or "unnamed")
            for span in tree.spans
            for given in (span.attributes, *(inner for _, inner in span.events))
            if any(name.startswith(_EVALUATION) for name in given)
        }
        notes.extend(f"it holds an evaluation of others, {name!r}, that isn't read" for name in sorted(names))
        spans = tree.outermost(lambda span: _DOCUMENTS in span.attributes)
        if not spans and (gathered := _steps_documents(tree, unread)) is not None:
            notes.extend(gathered.notes)
            return _as_traced(gathered)
        lost = [span for span in tree.spans if span.operation.kind == "retrieval" and span.dropped]
        if not spans and lost:
            raise UnreadableLogError(
                f"the retrieval lost {lost[0].dropped} attributes, and has no documents",
                where=lost[0].where,
                remedy=MORE_ATTRIBUTES,
            )
        if len(spans) > 1:
            notes.append("there are several retrievals: their documents follow one another")
        found = TracedRetrieval(Ranking() if spans else None)
        for chunk in (chunk for span in spans for chunk in _chunks(span, unread, notes)):
            assert found.ranking is not None
            found.ranking.item(chunk)
        return found


def _as_traced(gathered: LoggedAnswer) -> TracedRetrieval:
    found = TracedRetrieval()
    if gathered.retrieved is not None:
        found.ranking = Ranking()
        found.ranking.several(gathered.retrieved)
    if gathered.traversal is not None:
        found.add(edge for path in gathered.traversal for edge in path)
    return found


def _chunks(span: Span, unread: Counter[str], notes: list[str]) -> Iterator[LoggedChunk]:
    documents = json_within(span.attributes[_DOCUMENTS])
    if not isinstance(documents, list):
        raise UnreadableLogError(
            f"{_DOCUMENTS} isn't a whole JSON list: it may have been cut",
            where=span.where,
            remedy="Unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the system runs, and trace it again.",
        )
    for place, document in enumerate(documents):
        given = object_of(document)
        name = identifier(given.get("id"))
        if name is None:
            notes.append("a document has no id")
        yield LoggedChunk(name or f"document {place} of span {span.id}", score=number(given.get("score")))
        count_unread(given, ("id", "score"), unread, f"attributes.{_DOCUMENTS}.N.")


def _steps_documents(tree: Tree[Span], unread: Counter[str]) -> LoggedAnswer | None:
    """Return the documents of the retrievers of a chain, as OpenLLMetry writes them, or None if no step has any."""
    gathered, found = Gathered(ReadOptions()), LoggedAnswer("")
    for span in tree.outermost(lambda span: span.attributes.get(_OPERATION) in _RETRIEVALS):
        given = json_within(span.attributes.get(_OUTPUT))
        documents = given.get("documents") if isinstance(given, dict) else None
        if isinstance(documents, list):
            add_documents(documents, gathered, unread)
    if not gathered.asked:
        return None
    gathered.add_to(found)
    return found


def _step(span: Span, name: str, keys: tuple[str, ...], words: Callable[[Any], str | None]) -> str | None:
    """Return the words in the input or the output of a step of a chain."""
    given = json_within(span.attributes.get(name))
    held = (given[key] for key in keys if key in given) if isinstance(given, dict) else ()
    return next(filter(None, map(words, held)), None)


def _tokens(span: Span, *names: str) -> int | None:
    """Return the number of tokens by the first of its names that has a count."""
    counts = (whole(span.attributes.get(f"gen_ai.usage.{name}_tokens")) for name in names)
    return next((count for count in counts if count is not None), None)


def _messages(span: Span, kind: str) -> list[Message]:
    messages = json_within(span.attributes.get(f"gen_ai.{kind}.messages"))
    return list(map(parse_message, messages)) if isinstance(messages, list) else []


def _message_text(span: Span, kind: str, role: str) -> str | None:
    """Return the words of the last message of a role."""
    found = (message.text for message in reversed(_messages(span, kind)) if message.role == role)
    return next(filter(None, found), None)
