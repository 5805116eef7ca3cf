"""Requests to models, and models that need no network, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from graphkit.plugins.judging.llm.requests import Block, Reply, Request, Turn, Usage
from tests.helpers.api import Api

T = TypeVar("T")


def asked(text: str = "Who calls z?", model: str = "claude-haiku-5-5", **fields: Any) -> Request:
    """Return a request of one block."""
    return Request(model, (), (Turn("user", (Block(text),)),), **fields)


class Counting:
    """A model that replies with the request's last text, after a while, and counts how often it is asked."""

    def __init__(self, seconds: float = 0.0, usage: Usage | None = None) -> None:
        self.asked: list[str] = []
        self.seconds = seconds
        self.usage = usage or Usage(10, 2)
        self.inside = 0
        self.most_inside = 0

    async def ask(self, request: Request) -> Reply:
        """Return the reply."""
        text = request.turns[-1].blocks[-1].text
        self.asked.append(text)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.inside -= 1
        return Reply(f"on {text}", request.model, "end_turn", self.usage)


@contextmanager
def reaching(api: Api) -> Iterator[None]:
    """Let clients that are made in the block reach a server."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in api.env.items():
            patch.setenv(name, value)
        yield


def with_client(api: Api, use: Callable[[AnthropicModel], Awaitable[T]], **options: Any) -> T:
    """Return what is done with a client of a server; its pauses are short, and its connections closed."""

    async def work() -> T:
        async with AnthropicModel(**{"backoff": 0.01, "timeout": 10.0, **options}) as model:
            return await use(model)

    with reaching(api):
        return asyncio.run(work())


def reply_to(api: Api, request: Request, **options: Any) -> Reply:
    """Return the reply of a server to a request."""
    return with_client(api, lambda model: model.ask(request), **options)
