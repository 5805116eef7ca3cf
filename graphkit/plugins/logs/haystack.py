"""Haystack: outputs of pipelines with documents, answers and replies, and the messages of agents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.call_values import found_in
from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.documents import Document, ranked_documents
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation
from graphkit.plugins.logs.logged_rankings import distinct
from graphkit.plugins.logs.model_messages import CUT, ROLES, Call, Message, Result, cut_short, tokens_of
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.plugins.logs.triples import NOT_AN_EDGE, UNSPLIT, edges_of_metadata, split_text
from graphkit.readers.accounting import renamed, without
from graphkit.readers.graph_names import name_of
from graphkit.readers.json_values import identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk

#: The fields of a document; those of its metadata stand beside them, or below ``meta``.
_DOCUMENT = ("id", "content", "blob", "dataframe", "score", "embedding", "sparse_embedding", "meta")
_AGENT = ("messages", "last_message", "step_count", "token_usage", "tool_call_counts", "exit_reason")
_COMPONENT = ("documents", "replies", "answers", "meta", *_AGENT)

#: An id that Haystack made of a document's content, which no other index has.
_MADE = re.compile(r"[0-9a-f]{64}")

SEVERAL = "several components gave documents: those of the last are used"


class HaystackReader(FrameworkReader):
    """Reads what ``Pipeline.run`` and ``Agent.run`` return, with ``to_dict()`` of each object."""

    name = "haystack"
    priority = 121
    beside = ("origin", "answers", "last_message", "tool_call_counts", "token_usage")
    title = "Haystack: outputs of pipelines (documents, answers, replies) and of agents, with to_dict()"
    lacks = (
        *FRAMEWORK_LACKS,
        "Edges of a pipeline are those that metadata hold as lists (`triples`, `edges`, ...), or that texts are.",
        "A document is named by its metadata (name, node, file) if its id is made of its content.",
        "Times are known only if they were written beside the output.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, list):
            return any(_is_document(one) or _is_message(one) for one in value[:3])
        if not isinstance(value, dict):
            return False
        return bool(value) and (_is_output(value) or any(map(_is_component, value.values())))

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        if isinstance(payload, list):
            payload = {"messages" if any(map(_is_message, payload)) else "documents": payload}
        if _is_output(payload):
            payload = {"": payload}
        components = {name: part for name, part in payload.items() if isinstance(part, dict)}
        count_unread({name: one for name, one in payload.items() if name not in components}, (), unread)
        read = Conversation()
        for name, part in components.items():
            count_unread(part, _COMPONENT, unread, f"{name}.".lstrip("."))
            for message in _messages(part):
                read.add(message)
        add_conversation(answer, read)
        _add_answers(answer, components)
        _add_documents(answer, components)


def _is_document(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {"id", "content", "score"} <= value.keys()
        and bool(value.keys() & {"blob", "embedding", "sparse_embedding"})
    )


def _is_message(value: Any) -> bool:
    """Return whether a value is a message; former versions began its keys with ``_``."""
    if not isinstance(value, dict) or text(value.get("role", value.get("_role"))) not in ROLES:
        return False
    content = value.get("content", value.get("_content"))
    kinds = {"text", "tool_call", "tool_call_result", "reasoning", "image", "file"}
    own = "_content" in value or bool(value.keys() & {"meta", "_meta"})
    return (
        own
        and isinstance(content, list)
        and any(one.keys() & kinds and "type" not in one for one in objects_of(content))
    )


def _is_output(value: Any) -> bool:
    """Return whether a value is the output of a component."""
    if not isinstance(value, dict):
        return False
    documents = value.get("documents")
    if isinstance(documents, list) and (any(map(_is_document, documents[:3]))):
        return True
    if any(map(_is_message, objects_of(value.get("messages"))[:3])):
        return True
    if any(map(_is_message, objects_of(value.get("replies"))[:1])):
        return True
    return any("data" in one and "documents" in one for one in map(_inside, objects_of(value.get("answers"))[:1]))


def _is_component(value: Any) -> bool:
    """Return whether a value below a name is a component's output, also of a retriever that found nothing."""
    return _is_output(value) or value == {"documents": []}


def _inside(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an answer, which some versions write below the name of its class."""
    return object_of(answer.get("init_parameters")) or answer


# Agents --------------------------------------------------------------------------------------------------------------


def _messages(part: dict[str, Any]) -> Iterator[Message]:
    for one in objects_of(part.get("messages")):
        plain = renamed(one, lambda key: key.removeprefix("_"))
        message = Message(ROLES.get(text(plain.get("role")) or ""))
        for block in objects_of(plain.get("content")):
            call, gave = object_of(block.get("tool_call")), object_of(block.get("tool_call_result"))
            if call:
                message.calls.append(Call(call.get("tool_name"), call.get("arguments"), call.get("id")))
            elif gave:
                origin = object_of(gave.get("origin"))
                message.results.append(Result(gave.get("result"), origin.get("id"), gave.get("error") is True))
            elif (words := text(block.get("text"))) is not None:
                message.texts.append(words)
        meta = object_of(plain.get("meta"))
        message.model, message.cut = text(meta.get("model")), cut_short(meta)
        message.prompt_tokens, message.output_tokens = tokens_of(meta.get("usage"))
        yield message


# Pipelines -----------------------------------------------------------------------------------------------------------


def _add_answers(answer: LoggedAnswer, components: dict[str, dict[str, Any]]) -> None:
    """Add the answer: that of a builder of answers, or the last reply of a generator."""
    for part in components.values():
        for one in map(_inside, objects_of(part.get("answers"))[:1]):
            answer.answer = answer.answer or text(one.get("data"))
            answer.question_text = answer.question_text or text(one.get("query"))
    for part in reversed(components.values()):
        replies = part.get("replies")
        for reply in replies[:1] if isinstance(replies, list) else ():
            message = next(_messages({"messages": [reply]}), Message(texts=[words] if (words := text(reply)) else []))
            meta = next(iter(objects_of(part.get("meta"))), {})
            if message.prompt_tokens is message.output_tokens is None:
                message.prompt_tokens, message.output_tokens = tokens_of(meta.get("usage"))
            if (message.cut or cut_short(meta)) and CUT not in answer.notes:
                answer.notes.append(CUT)
            answer.answer = answer.answer or message.text
            if answer.prompt_tokens is answer.output_tokens is None:
                answer.prompt_tokens, answer.output_tokens = message.prompt_tokens, message.output_tokens
            answer.model = answer.model or message.model or text(meta.get("model"))


def _add_documents(answer: LoggedAnswer, components: dict[str, dict[str, Any]]) -> None:
    """Add the documents of the component that found them; those of an answer only if no other has any."""
    lists = [part["documents"] for part in components.values() if isinstance(part.get("documents"), list)]
    if not lists:
        answers = [_inside(one) for part in components.values() for one in objects_of(part.get("answers"))[:1]]
        lists = [one["documents"] for one in answers if isinstance(one.get("documents"), list)]
    if not lists:
        return
    if len(lists) > 1:
        answer.notes.append(SEVERAL)
    notes: set[str] = set()
    read = [_document(one, notes) for one in objects_of(lists[-1])]
    ranking, edges = ranked_documents(read, set(), notes)
    if edges:
        answer.traversal, answer.ordered = [distinct(edges)], False
    elif edges is not None:
        answer.traversal = None if notes & {UNSPLIT, NOT_AN_EDGE} else []
    answer.retrieved = ranking.chunks()
    answer.notes += sorted(notes)


def _document(value: dict[str, Any], notes: set[str]) -> Document:
    meta = object_of(value.get("meta")) or without(value, _DOCUMENT)
    made, score = identifier(value.get("id")) or "", number(value.get("score"))
    named = found_in([meta])
    name = made if made and not _MADE.fullmatch(made) else named[0].name if named else name_of(meta)
    name = name or text(meta.get("source")) or made
    split = split_text(text(value.get("content")) or "", notes)
    chunk = LoggedChunk(name, split.text, score)
    beside = edges_of_metadata(meta, notes)
    return Document(chunk, split, score, is_named=name != made or not _MADE.fullmatch(made), beside=beside)
