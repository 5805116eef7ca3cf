"""The baseline without retrieval: a model alone."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.texts import read_text
from graphkit.plugins.judging.judges.known_judges import ANTHROPIC, backend_of, split_model
from graphkit.plugins.judging.llm.prices import PriceTable, estimated_tokens
from graphkit.plugins.judging.llm.requests import ABOUT, Block, Model, ModelError, Request, Turn
from graphkit.plugins.judging.llm.shared_model import ASK, RemoteModel, SharedModel
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import System
from graphkit.plugins.systems.run_tasks import Served
from graphkit.records.models import Question
from graphkit.records.usage import Prices

#: The value of ``--condition`` for this baseline, which answers from the model's training.
TRAINING = "training"
DEFAULT_MODEL = "claude-haiku-5-5"
DEFAULT_PROMPT = (
    "Answer the question about a system of several code repositories from what you know. You can't look anything up. "
    "Name repositories, files and symbols where you know them, and say so where you don't.\n\n{question}"
)

_MANY = 10_000


class NoAnswerError(Exception):
    """The model returned no text."""


def read_prompt(path: Path | None) -> str:
    """Return the prompt of a file, or the default one, with ``{question}`` as the place of the question.

    Raise an InputError if the file can't be read, or has no place for the question.
    """
    if path is None:
        return DEFAULT_PROMPT
    text = read_text(path)
    if "{question}" not in text:
        raise InputError(
            "the prompt has no place for the question", where=str(path), remedy="Write {question} where it goes."
        )
    return text


def baseline(
    model: str = DEFAULT_MODEL,
    prompt: str = DEFAULT_PROMPT,
    *,
    max_tokens: int = 1024,
    timeout: float = 120.0,
    base_url: str | None = None,
) -> System:
    """Return the baseline as a system; its client has the key from its own environment variable.

    It repeats a request that the server's rate limit refused, after the requested pause.

    ``model`` is that of a provider if it begins with its name and a colon, and else one of the Anthropic API.
    ``base_url`` is the address of a server that speaks chat completions.

    Raise an InputError if the client isn't installed, has no credentials, or takes no address.
    """
    provider, name = split_model(model, None)
    backend = ANTHROPIC if provider is None else backend_of(provider)
    if backend is None or (base_url is not None and backend.service is None):
        raise InputError(f"--base-url: the provider of {model!r} takes no address", remedy="Write --model vllm:NAME.")
    # The runner limits the concurrency.
    client = backend.opened(_MANY, base_url=base_url, timeout=timeout, user=f"the condition {TRAINING}")
    mark = hashlib.sha256(prompt.encode()).hexdigest()[:12]
    return System(
        TRAINING,
        Baseline(client, name, prompt, max_tokens),
        f"{model}, prompt {mark}, {max_tokens} tokens",
        True,
        True,
    )


@dataclass(frozen=True)
class Baseline:
    """A model that answers questions from its training; it has no client on the way to a worker."""

    client: Model | None
    model: str
    prompt: str
    max_tokens: int

    def sent(self) -> Baseline:
        """Return it without its client, which stays with the driver."""
        return dataclasses.replace(self, client=None)

    def opened(self, send: Callable[[str, Any], Future[Any]]) -> Baseline:
        """Return it in a worker, which asks the model through the driver."""
        return dataclasses.replace(self, client=RemoteModel(send))

    def served(self) -> Served:
        """Return how the driver asks the model for workers."""
        if self.client is None:
            raise RuntimeError("the baseline has no client here")
        shared = SharedModel(self.client)
        return Served({ASK: shared.ask}, shared.done)

    def most_cost(self, question: Question, prices: Prices | None) -> float | None:
        """Return about the most that a question costs, at some prices or the shipped ones; None without any."""
        request, table = self._request(question), PriceTable.read()
        if prices is not None:
            return prices.of(estimated_tokens(request), self.max_tokens)
        return table.estimate(request, self.max_tokens)

    def _request(self, question: Question) -> Request:
        text = self.prompt.replace("{question}", question.question)
        return Request(self.model, (), (Turn("user", (Block(text),)),), max_tokens=self.max_tokens)

    async def __call__(self, question: Question, context: Context) -> dict[str, Any]:
        """Ask the model, and count its tokens even if it returns no text."""
        if self.client is None:
            raise RuntimeError("the baseline has no client here")
        ABOUT.set(question.id)
        try:
            reply = await self.client.ask(self._request(question))
        except ModelError as error:
            # The record keeps the type of the error, and that of the client says more.
            raise error.__cause__ or error from None
        if (usage := reply.usage) is not None:  # unknown tokens aren't 0
            context.used(prompt_tokens=usage.prompt_tokens, output_tokens=usage.output_tokens)
        if not reply.text.strip():
            raise NoAnswerError(f"the model returned no text (stop reason: {reply.stop_reason})")
        return {"answer": reply.text, "retrieved": [], "traversal": []}
