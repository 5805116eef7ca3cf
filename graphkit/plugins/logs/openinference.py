"""OpenInference spans, from the instrumentations of LlamaIndex, LangChain and many others.

Retrieved documents are in spans of the kind RETRIEVER, each field an attribute of its own. Edges have no place in the
format: they are read where documents hold them, in their text as LlamaIndex writes it, or in their metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from graphkit.plugins.logs.documents import CYPHER, Document, content_of_rows, ranked_documents, rows_in
from graphkit.plugins.logs.langchain_outputs import usage_of
from graphkit.plugins.logs.model_messages import Message, cut_short, parse_message, plain_message
from graphkit.plugins.logs.payloads import count_unread, json_within
from graphkit.plugins.logs.spans import MORE_ATTRIBUTES, SDK_LIMIT, Operation, Span, ToolUse, holds_spans, nested
from graphkit.plugins.logs.traces import TracedRetrieval, Tree, read_traces
from graphkit.plugins.logs.triples import (
    KEYS,
    SplitText,
    edges_of_metadata,
    split_text,
)
from graphkit.readers.json_values import UUID, identifier, number, object_of, text, whole
from graphkit.readers.logged import (
    LoggedAnswer,
    LoggedChunk,
    Reader,
    ReadOptions,
    UnreadableLogError,
    Values,
)
from graphkit.records.usage import added

_KIND = "openinference.span.kind"
_DOCUMENTS = "retrieval.documents"
_RERANKED = "reranker.output_documents"

#: The keys of the text in a span's input and output as JSON; an earlier key has priority.
ASKED = ("question", "query", "query_str", "query_text", "user_input", "input", "query_bundle", "messages")
_ANSWERED = ("answer", "response", "result", "output", "output_text", "text", "messages")
_MESSAGE = ("content", "kwargs", "data", "message")

#: The metadata that name a document which has no id, and those that name its commit.
_NAMES = (
    *("id", "doc_id", "document_id", "node_id", "chunk_id", "name", "source", "file_path", "path", "file"),
    *("file_name",),
)
_COMMITS = ("commit", "commit_sha", "sha", "revision")

#: The placeholder for a text that the user hid.
_HIDDEN = "__REDACTED__"


ROWS_AS_TEXT = "a document is rows of Cypher as text of more than plain values, which isn't read"

#: How deep words are looked for.
_DEPTH = 8


class OpenInferenceReader(Reader):
    """Reads OpenInference spans."""

    name = "openinference"
    priority = 110
    beside = ("resource", "scope", "processID", "processes")
    title = "OpenInference spans: SDK JSON, Phoenix, OTLP JSON"
    lacks = (
        "The format has no edges: they are read from the texts of documents as LlamaIndex writes them, and from their "
        "metadata.",
        "The order in which edges were followed isn't logged: they are a set.",
        "The commits of documents are logged only if their metadata hold them.",
    )

    def recognises(self, value: Any) -> bool:
        return holds_spans(value, _is_ours)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        return read_traces(values, options, unread, OpenInferenceConventions())


def _is_ours(attributes: dict[str, Any]) -> bool:
    own = (_KIND, "openinference", f"{_DOCUMENTS}.", "retrieval")
    return any(name in own or name.startswith(own[2]) for name in attributes)


class OpenInferenceConventions:
    """The meaning of the attributes."""

    conversation = "session.id"

    def __init__(self) -> None:
        self._relations: set[str] = set()  # that the file was seen to have

    used: tuple[str, ...] = (
        _KIND,
        _DOCUMENTS,
        conversation,
        "input.value",
        "input.mime_type",
        "output.value",
        "output.mime_type",
        "llm.model_name",
        "llm.finish_reason",
        "llm.token_count.prompt",
        "llm.token_count.completion",
        "llm.token_count.total",
        "llm.cost.prompt",
        "llm.cost.completion",
        "llm.cost.total",
        "llm.output_messages",
        "tool.name",
        "tool.description",
        "tool.parameters",
        _RERANKED,
        "reranker.input_documents",
        "reranker.query",
        "reranker.model_name",
        "reranker.top_k",
    )

    def operation(self, span: Span) -> Operation:
        """Return the operation of a span."""
        given, kind = span.attributes, _kind(span)
        if kind == "TOOL":
            return Operation("tool", tools=[_ran_tool(span)])
        if kind != "LLM":
            return Operation("retrieval" if kind == "RETRIEVER" else "")
        cost = number(given.get("llm.cost.total"))
        if cost is None:
            parts = [number(given.get(f"llm.cost.{name}")) for name in ("prompt", "completion")]
            cost = added(part for part in parts if part is not None) if None not in parts else None
        model = text(given.get("llm.model_name"))
        calls = [call for message in _output_messages(span) for call in message.calls]
        return Operation(
            "model",
            None if model in ("unknown", _HIDDEN) else model,
            whole(given.get("llm.token_count.prompt")),
            whole(given.get("llm.token_count.completion")),
            cost,
            [ToolUse(text(call.name), call.arguments, identifier(call.id)) for call in calls],
            cut=_is_cut(given),
        )

    def asked(self, span: Span) -> str | None:
        """Return the text of the question in the input of a span."""
        return _words(span.attributes.get("input.value"), ASKED, asked=True)

    def answered(self, span: Span) -> str | None:
        """Return the answer in the output of a span."""
        if _kind(span) in ("RETRIEVER", "EMBEDDING", "RERANKER", "PROMPT"):
            return None
        if span.operation.kind == "model":
            messages = _output_messages(span)
            if messages:
                return messages[-1].text
        given = span.attributes.get("output.value")
        return _words(given, _ANSWERED) or _words(given if isinstance(given, str) else None, ())

    def retrieved(self, tree: Tree[Span], unread: Counter[str], notes: list[str]) -> TracedRetrieval:
        """Return the documents of the outermost retrievals, and the edges if the documents have some.

        Where rerankers follow, their documents count, in their order: they are what the model got.
        """
        spans = tree.outermost(lambda span: span.operation.kind == "retrieval" and _names_documents(span))
        if not spans:
            return TracedRetrieval()
        doubts: set[str] = set()
        found_by = [list(_read_documents(span, unread, doubts)) for span in spans]
        if len(spans) > 1:
            notes.append("there are several retrievals: their documents follow one another")
            found_by = [_by_own_scores(documents) for documents in found_by]
        documents = [document for some in found_by for document in some]
        rerankers = [span for span in tree.spans if _kind(span) == "RERANKER" and span.numbered(_RERANKED)]
        if rerankers:
            documents = _reranked(documents, rerankers, unread, doubts)
        found = TracedRetrieval(by_score=len(spans) == 1 and not rerankers)
        ranking, found.edges = ranked_documents(documents, self._relations, doubts)
        if not documents or found.edges or any(one.is_named or one.split.alone for one in documents):
            found.ranking = ranking
        notes += sorted(doubts)
        return found


def _by_own_scores(documents: list[Document]) -> list[Document]:
    """Return the documents of one of several searches by its scores, which those of the others can't be held beside."""
    if all(one.score is not None for one in documents):
        documents = sorted(documents, key=lambda one: -(one.score or 0.0))
    for one in documents:
        one.score = None
        if one.chunk is not None:
            one.chunk.score = None
    return documents


def _reranked(
    documents: list[Document], rerankers: list[Span], unread: Counter[str], doubts: set[str]
) -> list[Document]:
    """Return the documents that rerankers gave, each as its retrieval has it, with the reranker's score."""
    retrieved = {one.chunk.name: one for one in documents if one.chunk is not None}
    found: list[Document] = []
    for one in (one for span in rerankers for one in _read_documents(span, unread, doubts, _RERANKED)):
        known = retrieved.get(one.chunk.name) if one.chunk is not None else None
        if known is None or known.chunk is None:
            found.append(one)
        else:
            known.chunk.score = known.score = one.score
            found.append(known)
    return found


def _read_documents(span: Span, unread: Counter[str], doubts: set[str], held: str = _DOCUMENTS) -> Iterator[Document]:
    """Yield the documents of a retrieval, or of a reranker."""
    numbered = span.numbered(held)
    given = _documents(span) if held == _DOCUMENTS else [numbered[place] for place in sorted(numbered)]
    for place, document in enumerate(given):
        metadata = json_within(nested(document, "document.metadata"))
        if isinstance(metadata, str):
            doubts.add("the metadata of a document aren't whole JSON: they may have been cut")
        known = object_of(metadata)
        own = identifier(document.get("document.id"))
        name = (_first(known, _NAMES) or own) if _drawn(own) else own
        content = text(document.get("document.content"))
        content = None if content == _HIDDEN else content
        score = number(document.get("document.score"))
        if content is not None and content.startswith(CYPHER):
            query, rows = rows_in(content)
            if rows is None:
                doubts.add(ROWS_AS_TEXT)
            from_rows = content_of_rows(rows or [], query, ReadOptions())
            yield Document(None, SplitText(None), score, from_rows.retrieved is not None, rows=from_rows)
            continue
        if name is None:
            doubts.add("a document has no id, neither of its own nor in its metadata")
        split = split_text(content or "", doubts)
        if split.alone and not _drawn(name) and len(split.parts[0]) > 3:
            split = SplitText(content)  # prose with arrows
        count_unread(known, (*_NAMES, *_COMMITS, *KEYS), unread, "document.metadata.")
        chunk = LoggedChunk(name or f"document {place} of span {span.id}", score=score, commit=_first(known, _COMMITS))
        kept = None if split.alone and _drawn(name) else chunk
        yield Document(kept, split, score, name is not None, edges_of_metadata(metadata, doubts))


def _output_messages(span: Span) -> list[Message]:
    """Return the messages that a model gave."""
    messages = span.numbered("llm.output_messages")
    given = ({"role": "assistant", **object_of(nested(messages[place], "message"))} for place in sorted(messages))
    return [parse_message(one) for one in given]


def _is_cut(given: Mapping[str, Any]) -> bool:
    """Return whether a model's reply ended at its limit of tokens, by an attribute or by the output's own words."""
    gave = object_of(json_within(given.get("output.value")))
    return cut_short({"finish_reason": given.get("llm.finish_reason")}, gave) or usage_of(gave).cut


def _ran_tool(span: Span) -> ToolUse:
    given = span.attributes
    asked, gave = json_within(given.get("input.value")), plain_message(json_within(given.get("output.value")))
    held = object_of(gave)
    return ToolUse(
        text(given.get("tool.name")) or span.name,
        asked if isinstance(asked, dict | None) else {"input": asked},
        identifier(held.get("tool_call_id")),
        held.get("content", gave),
        span.failed or held.get("status") == "error",
    )


def _kind(span: Span) -> str:
    """Return the kind of a span, by its other attributes if the SDK has dropped the kind."""
    kind = span.attributes.get(_KIND)
    if isinstance(kind, str):
        return kind.upper()
    if any(name.startswith(f"{_DOCUMENTS}.") for name in span.attributes):
        return "RETRIEVER"
    return "LLM" if any(name.startswith("llm.") for name in span.attributes) else ""


def _drawn(name: str | None) -> bool:
    return name is None or UUID.fullmatch(name) is not None


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := identifier(given.get(name))) is not None), None)


def _names_documents(span: Span) -> bool:
    prefix = f"{_DOCUMENTS}."
    if any(name.startswith(prefix) for name in span.attributes):
        return True
    shown = _shown(span)
    return shown == 0 or (span.dropped > 0 and shown is not None)


def _shown(span: Span) -> int | None:
    """Return the number of documents in the output of a retrieval, if it is a list of them."""
    shown = json_within(span.attributes.get("output.value"))
    if isinstance(shown, dict):
        shown = shown.get("documents")
    return len(shown) if isinstance(shown, list) else None


def _documents(span: Span) -> list[dict[str, Any]]:
    """Return the documents of a retrieval, best first.

    An SDK keeps a limited number of attributes of a span, and drops the others without a word to the SDK's own JSON:
    Python's the oldest, and with them the best documents, others the newest.

    Raises
    ------
    UnreadableLogError
        Some of them, or the id or score of one, were lost.
    """
    numbered = span.numbered(_DOCUMENTS)
    documents = [numbered[place] for place in sorted(numbered)]
    lost = _lost(span, sorted(numbered), documents)
    if lost is not None:
        why = f"{span.dropped} of its attributes were dropped" if span.dropped else f"SDKs keep {SDK_LIMIT} attributes"
        raise UnreadableLogError(
            f"the retrieval lost documents that were found: {lost} ({why})", where=span.where, remedy=MORE_ATTRIBUTES
        )
    return documents


def _lost(span: Span, places: list[int], documents: list[dict[str, Any]]) -> str | None:
    """Return which documents of a retrieval were lost, or None."""
    if places and places[0] != 0:
        return f"they begin with number {places[0]} instead of 0"
    gap = next((place for place, found in enumerate(places) if place != found), None)
    if gap is not None:
        return f"number {gap} is missing between others"
    for name in ("document.id", "document.score"):
        if len(documents) > 1 and name not in documents[0] and all(name in other for other in documents[1:]):
            return f"number 0 has no {name.removeprefix('document.')}, which all others have"
    shown = _shown(span)
    if span.dropped and shown != len(documents):
        if shown is None:
            return "whether all are there is unknown"
        return f"{len(documents)} are there, and its output shows {shown}"
    return None


def _words(value: Any, keys: tuple[str, ...], *, asked: bool = False, depth: int = 0) -> str | None:
    """Return a text, or the text in JSON at one of some keys, of messages the last (or the last of the user's)."""
    value = json_within(value) if keys else value
    if isinstance(value, str):
        return value if value and value != _HIDDEN else None
    if depth > _DEPTH:
        return None
    if isinstance(value, dict):
        found = (_words(value[key], keys, asked=asked, depth=depth + 1) for key in (*keys, *_MESSAGE) if key in value)
        return next(filter(None, found), None)
    if isinstance(value, list):
        for one in reversed(value):
            if isinstance(one, list) or (isinstance(one, dict) and (not asked or _is_users(one))):
                words = _words(one, keys, asked=asked, depth=depth + 1)
                if words is not None:
                    return words
    return None


def _is_users(message: dict[str, Any]) -> bool:
    return parse_message(message).role == "user"
