"""Spans of traced functions, as MLflow, Weave and Langfuse log them by input and output, as those of OpenInference."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from graphkit.plugins.logs.model_messages import Call, parse_message, plain_message, reply
from graphkit.plugins.logs.openinference import OpenInferenceConventions
from graphkit.plugins.logs.payloads import QUESTION_IDS, QUESTION_TEXTS, TASK_IDS, count_unread, objects_of, plain_key
from graphkit.plugins.logs.spans import Span
from graphkit.plugins.logs.tool_calls import searches
from graphkit.plugins.logs.traces import TracedRetrieval, Tree
from graphkit.readers.json_values import object_of, text
from graphkit.readers.logged import ReadOptions

#: The kinds of spans that OpenInference has, too.
KINDS = ("LLM", "RETRIEVER", "RERANKER", "TOOL", "EMBEDDING", "AGENT")
OTHER = "CHAIN"

#: What no format of traced functions has.
LACKS = (
    "The format has no edges: they are read from the texts of documents, from their metadata, and from what tools "
    "returned.",
    "Documents rank by their places: whether a higher score is better isn't said.",
)


class TracedFunctionConventions(OpenInferenceConventions):
    """The meaning of the attributes, where documents are what a function returned, in its order."""

    def retrieved(self, tree: Tree[Span], unread: Counter[str], notes: list[str]) -> TracedRetrieval:
        """Return the documents by their places."""
        found = super().retrieved(tree, unread, notes)
        found.by_score = False
        return found


def replied(output: Any) -> tuple[bool, list[Call]]:
    """Return whether an output is the reply of a model, and the calls that it asks for."""
    given = reply(output)
    messages = [parse_message(one) for one in objects_of((given or {}).get("messages"))]
    return given is not None, [call for message in messages for call in message.calls]


def kind_of(name: str, output: Any, asked: set[Any]) -> str:
    """Return the kind of a function of which its log says none.

    Parameters
    ----------
    asked
        The names of the tools for which models asked.
    """
    if replied(output)[0]:
        return "LLM"
    if name in asked:
        return "TOOL"
    items = objects_of(output)
    documents = bool(items) and all("page_content" in one for one in items)
    named = isinstance(output, list) and (searches(name) or "retriev" in name.lower())
    return "RETRIEVER" if documents or named else OTHER


def count_around(held: Any, options: ReadOptions, unread: Counter[str], prefix: str, *known: str) -> None:
    """Count the fields around a question, such as metadata and inputs, that neither name it nor are known."""
    asked = (*QUESTION_IDS, *TASK_IDS, *QUESTION_TEXTS)
    given = object_of(held)
    key = (options.question_key or "").removeprefix("metadata.").partition(".")[0]
    used = [name for name in given if name in (*known, key) or plain_key(name) in asked]
    count_unread(given, used, unread, prefix)


def json_within_text(value: Any) -> Any:
    """Return the value that was written as JSON into a text, also a text in quotes."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def observed(kind: str, name: Any, asked: Any, gave: Any) -> dict[str, Any]:
    """Return the attributes by which OpenInference has what a span of a kind was given and what it gave."""
    found: dict[str, Any] = {"openinference.span.kind": kind, "input.value": _text(asked), "output.value": _text(gave)}
    if kind in ("RETRIEVER", "RERANKER"):
        place = "retrieval.documents" if kind == "RETRIEVER" else "reranker.output_documents"
        documents = gave.get("documents", gave.get("results")) if isinstance(gave, dict) else gave
        if isinstance(documents, list) and all(isinstance(one, dict) for one in documents):
            found["output.value"] = _text(documents)
            found[place] = [{"document": _document(one)} for one in documents]
    elif kind == "LLM":
        found["llm.model_name"] = text(object_of(asked).get("model"))
        messages = objects_of((reply(gave) or {}).get("messages"))
        if not messages and isinstance(gave, dict) and "content" in gave:
            messages = [gave]
        found["llm.output_messages"] = [{"message": {"role": "assistant", **plain_message(one)}} for one in messages]
        used = object_of((reply(gave) or {}).get("usage"))
        found["llm.token_count.prompt"] = used.get("prompt_tokens", used.get("input_tokens"))
        found["llm.token_count.completion"] = used.get("completion_tokens", used.get("output_tokens"))
    elif kind == "TOOL":
        found["tool.name"] = text(name)
    return {key: value for key, value in found.items() if value not in (None, [])}


def _document(given: dict[str, Any]) -> dict[str, Any]:
    """Return a document under the names of OpenInference."""
    content = next((words for key in ("page_content", "content", "text") if (words := text(given.get(key)))), None)
    return {
        "content": content,
        "id": given.get("id"),
        "score": given.get("score"),
        "metadata": given.get("metadata") or {},
    }


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
