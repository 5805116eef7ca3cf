"""Texts, questions, tokens and models in LangChain's messages, in any of their forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.readers.message_forms import plain_message
from graphkit.readers.payloads import at, text, whole

#: The keys that hold questions, the earlier one is believed.
QUESTIONS = ("question", "query", "input", "question_text", "text")


def constructed(value: Any) -> dict[str, Any]:
    """Return the fields of an object as ``dumpd`` writes it, or as ``model_dump`` does."""
    return plain_message(value) if isinstance(value, dict) else {}


def message_text(value: Any) -> str | None:
    """Return the text of a model's message."""
    fields = constructed(value)
    if "content" not in fields or "page_content" in fields:
        return None
    if fields.get("type") not in ("ai", "AIMessageChunk", "AIMessage", "assistant", None) or "type" not in fields:
        return None
    return content_of(fields["content"])


def content_of(content: Any) -> str | None:
    """Return the text of a message's content."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str)) or None
    return text(content)


def last_message(messages: Any) -> str | None:
    """Return the text that a model said last."""
    if not isinstance(messages, list):
        return None
    return next(filter(None, map(message_text, reversed(messages))), None)


def question_in(given: Any) -> str | None:
    """Return the question's text among a run's inputs."""
    if isinstance(given, str):
        return text(given)
    if isinstance(given, dict):
        for key in QUESTIONS:
            if key in given and (found := question_in(given[key])):
                return found
        fields = constructed(given)
        if fields.get("type") in ("human", "user") or fields.get("role") == "user":
            return content_of(fields.get("content"))
        return question_in(given.get("messages"))
    if isinstance(given, list) and given:
        humans = (question_in(part) for part in reversed(given) if isinstance(part, dict | list))
        return next(filter(None, humans), None)
    return None


def sum_of_all(counts: Iterable[int | None]) -> int | None:
    """Return the sum, if every call has its count: a part of the sum would be too small."""
    given = list(counts)
    return None if None in given else sum(count for count in given if count is not None)


def usage_of(output: Any) -> tuple[int | None, int | None, str | None]:
    """Return the tokens and the model's name in a model's output."""
    message = constructed(output)
    if isinstance(message.get("generations"), list):
        told = at(message, "llm_output.token_usage") or {}
        generation = message["generations"]
        while isinstance(generation, list) and generation:
            generation = generation[0]
        inner = constructed(generation)
        message = constructed(inner.get("message"))
        found = _tokens(message)
        counted = _tokens({"usage_metadata": told})
        return (
            *(found if found != (None, None) else counted),
            _model(message) or text(at(output, "llm_output.model_name")),
        )
    if isinstance(message.get("messages"), list) and message["messages"]:
        message = constructed(message["messages"][-1])
    return (*_tokens(message), _model(message))


def _tokens(message: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = message.get("usage_metadata")
    if not isinstance(usage, Mapping):
        usage = at(message.get("response_metadata"), "token_usage")
    if not isinstance(usage, Mapping):
        return None, None
    prompt, output = usage.get("input_tokens", usage.get("prompt_tokens")), usage.get("output_tokens")
    return whole(prompt), whole(usage.get("completion_tokens") if output is None else output)


def _model(message: Mapping[str, Any]) -> str | None:
    told = message.get("response_metadata")
    return text(told.get("model_name") or told.get("model")) if isinstance(told, Mapping) else None


def sole(given: Any) -> Any:
    """Return what a tracer put into an object because it wasn't one: ``{"output": ...}``, ``{"input": ...}``."""
    if isinstance(given, dict) and len(given) == 1 and given.keys() <= {"output", "input"}:
        return next(iter(given.values()))
    return given
