"""The baseline without retrieval: a model alone, asked through the Anthropic API."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.records.models import Question
from graphkit.systems.context import Context
from graphkit.systems.importing import System

if TYPE_CHECKING:
    import anthropic

#: The name by which ``--condition`` means this baseline: what the model knows from its training.
TRAINING = "training"
DEFAULT_MODEL = "claude-haiku-5-5"
DEFAULT_PROMPT = (
    "Answer the question about a system of several code repositories from what you know. You can't look anything up. "
    "Name repositories, files and symbols where you know them, and say so where you don't.\n\n{question}"
)


class NoAnswerError(Exception):
    """The model returned no text."""


def read_prompt(path: Path | None) -> str:
    """Return the prompt of a file, or the default one; it holds ``{question}`` where the question goes.

    Raises
    ------
    InputError
        The file can't be read, or has no place for the question.
    """
    if path is None:
        return DEFAULT_PROMPT
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        what = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"the prompt can't be read: {what}", where=str(path)) from None
    if "{question}" not in text:
        raise InputError(
            "the prompt has no place for the question", where=str(path), remedy="Write {question} where it goes."
        )
    return text


def baseline(
    model: str = DEFAULT_MODEL, prompt: str = DEFAULT_PROMPT, *, max_tokens: int = 1024, timeout: float = 120.0
) -> System:
    """Return the baseline as a system. The key and the address come from the client's own environment variables.

    The client repeats a request that was refused for its rate, twice and with the pause that the server asks for.

    Raises
    ------
    InputError
        The client isn't installed, or has no credentials.
    """
    try:
        import anthropic
    except ImportError:
        raise InputError(
            "the condition training needs the Anthropic client", remedy="pip install 'graphkit[anthropic]'"
        ) from None
    try:
        client = anthropic.AsyncAnthropic(timeout=timeout)
    except (anthropic.AnthropicError, ValueError, OSError) as error:
        raise InputError(f"the Anthropic client can't be made: {error}") from None
    if client.api_key is None and client.auth_token is None and client.credentials is None:
        raise InputError(
            "the condition training has no credentials for the Anthropic API", remedy="Set ANTHROPIC_API_KEY."
        )
    mark = hashlib.sha256(prompt.encode()).hexdigest()[:12]
    return System(
        TRAINING, _Model(client, model, prompt, max_tokens), f"{model}, prompt {mark}, {max_tokens} tokens", True, True
    )


class _Model:
    """A model that answers questions from what it knows."""

    def __init__(self, client: anthropic.AsyncAnthropic, model: str, prompt: str, max_tokens: int) -> None:
        self._client = client
        self._model = model
        self._prompt = prompt
        self._max_tokens = max_tokens

    async def __call__(self, question: Question, context: Context) -> dict[str, Any]:
        """Ask the model; what it used is counted also where it returns no text."""
        message = await self._client.messages.create(
            model=self._model,
            max_tokens=self._max_tokens,
            messages=[{"role": "user", "content": self._prompt.replace("{question}", question.question)}],
        )
        usage = message.usage
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        context.used(prompt_tokens=usage.input_tokens + cached, output_tokens=usage.output_tokens)
        text = "".join(block.text for block in message.content if block.type == "text")
        if not text.strip():
            raise NoAnswerError(f"the model returned no text (stop reason: {message.stop_reason})")
        return {"answer": text}
