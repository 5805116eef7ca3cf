"""The protocols of model APIs, so that one test tries the clients of both against a local server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from graphkit.plugins.judging.llm.api_client import ApiClient
from graphkit.plugins.judging.llm.chat_completions import SERVICES, ChatModel
from graphkit.plugins.judging.llm.requests import Reply, Request
from tests.helpers import api as messages
from tests.helpers.api import Api, Response

T = TypeVar("T")


def completion(text: str, prompt_tokens: int = 10, output_tokens: int = 2, **fields: Any) -> messages.Reply:
    """Return a chat completion; ``fields`` stand in the place of others, such as ``usage``."""
    return 200, {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-2026",
        "choices": [choice(text)],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": prompt_tokens + output_tokens,
        },
        **fields,
    }


def choice(text: str | None, reason: str = "stop", **fields: Any) -> dict[str, Any]:
    """Return a choice of a chat completion."""
    return {"index": 0, "message": {"role": "assistant", "content": text, **fields}, "finish_reason": reason}


def refused(status: int, kind: str, text: str) -> messages.Reply:
    """Return an error as OpenAI writes it."""
    return status, {"error": {"message": text, "type": kind, "param": None, "code": kind}}


@dataclass(frozen=True)
class Protocol:
    """A protocol: its client, and what a server of it sends."""

    name: str
    message: Callable[..., messages.Reply]
    refusal: Callable[[int, str, str], messages.Reply]
    client: Callable[..., ApiClient]  # of the options of a client
    env: Callable[[Api], Mapping[str, str]]
    key: str  # the variable of the key
    judge: Callable[[Api], Sequence[str]]  # the options of `graphkit grade`

    def limited(self, seconds: float) -> Response:
        """Return a refusal for the rate, with the pause that is asked for."""
        return Response(429, self.refusal(429, "rate_limit_error", "slow down")[1], {"retry-after": f"{seconds:g}"})

    def asking(self, api: Api, use: Callable[[ApiClient], Awaitable[T]], **options: Any) -> T:
        """Return what is done with a client of a server; its pauses are short, and its connections closed."""

        async def work() -> T:
            async with self.client(**{"backoff": 0.01, "timeout": 10.0, **options}) as model:
                return await use(model)

        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.env(api).items():
                patch.setenv(name, value)
            return asyncio.run(work())

    def reply(self, api: Api, request: Request, **options: Any) -> Reply:
        """Return the reply of a server to a request."""
        return self.asking(api, lambda model: model.ask(request), **options)


MESSAGES = Protocol(
    "messages",
    messages.message,
    messages.refusal,
    AnthropicModel,
    lambda api: api.env,
    "ANTHROPIC_API_KEY",
    lambda _: ("--model", "anthropic:m"),
)
CHAT = Protocol(
    "chat",
    completion,
    refused,
    lambda **options: ChatModel(SERVICES["openai"], **options),
    lambda api: {"OPENAI_BASE_URL": f"{api.url}/v1", "OPENAI_API_KEY": "test"},
    "OPENAI_API_KEY",
    lambda _: ("--model", "openai:m"),
)
OWN = Protocol(
    "own",
    completion,
    refused,
    lambda **options: ChatModel(SERVICES["vllm"], **options),
    lambda api: {"VLLM_BASE_URL": api.url},
    "VLLM_API_KEY",
    lambda api: ("--model", "vllm:m", "--base-url", f"{api.url}/v1"),
)
PROTOCOLS = (MESSAGES, CHAT, OWN)


def last_text(body: Mapping[str, Any]) -> str:
    """Return the text of the last turn of a request of either protocol."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[-1]["text"])
