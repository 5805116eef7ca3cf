"""Requests to a model and its replies: plain values, without a client or a network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from graphkit.records.secrets import masked_message


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text of a request; ``shared`` if other requests begin with everything up to its end.

    A server may cache the shared part, and charge less for reading it again (prompt caching).
    """

    text: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of one side of a conversation."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Request:
    """One question to a model."""

    model: str
    system: tuple[Block, ...]
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None  # the JSON Schema of the reply; None for free text
    max_tokens: int = 2048
    #: The effort of a reasoning model: ``"low"``, ``"medium"`` or ``"high"``; None for its default.
    effort: str | None = None
    #: The service that is asked, where models of several may share a name; None for the Anthropic API.
    service: str | None = None
    #: Which of several times it is that the same is asked: each has a reply of its own.
    trial: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return everything that determines the reply, which excludes ``shared``."""
        return {
            "model": self.model,
            "system": [block.text for block in self.system],
            "turns": [{"role": turn.role, "blocks": [block.text for block in turn.blocks]} for turn in self.turns],
            "schema": self.schema,
            "max_tokens": self.max_tokens,
            "effort": self.effort,
            **({"service": self.service} if self.service is not None else {}),
            **({"trial": self.trial} if self.trial > 1 else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Request:
        """Return the request of such JSON, with the same digest and without ``shared``."""
        return cls(
            model=value["model"],
            system=tuple(Block(text) for text in value["system"]),
            turns=tuple(Turn(turn["role"], tuple(Block(text) for text in turn["blocks"])) for turn in value["turns"]),
            schema=value["schema"],
            max_tokens=value["max_tokens"],
            effort=value["effort"],
            service=value.get("service"),
            trial=value.get("trial", 1),
        )

    @cached_property
    def text(self) -> str:
        """Everything that determines the reply, as canonical JSON."""
        return json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that determines the reply, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one reply, or of several added up.

    ``input_tokens`` are those at the full price. Tokens that the server read from its cache, or wrote to it, count
    separately, as the server charges them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompt, at whatever price."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model to a request."""

    text: str
    model: str  # the model that claims to have replied
    #: The reason for the end: ``"end_turn"``, ``"max_tokens"`` (the text is cut off), ``"refusal"``, ...
    stop_reason: str | None
    usage: Usage | None  # None if the server states none
    attempts: int = 1  # how often the request was sent until this reply came
    lost: int = 0  # how many of these attempts may have been charged without a reply: those that timed out or broke off
    cached: bool = False  # whether it comes from the local cache, so that its usage was paid before
    batch: bool = False  # whether it came through a batch, at the batch price


class Model(Protocol):
    """Something that replies to requests: the client of an API, or a layer in front of it (cache, budget)."""

    async def ask(self, request: Request) -> Reply:
        """Return the reply; raise a ModelError if there is no reply."""
        ...


#: A hook of the budget, awaited before a retry if the reply of the last attempt got lost: it may have been charged.
BEFORE_REPEAT: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("before_repeat", default=None)

#: The id of the question that is asked about, for a driver that asks on behalf of workers.
ABOUT: ContextVar[str] = ContextVar("about", default="")


class ModelError(Exception):
    """A request without a reply, with the message of the server or the network, and a one-word ``label``.

    The message has known secrets masked. This is no user error, and ends no run: the verdict becomes a failure.
    ``attempts`` counts how often it was sent, ``lost`` how many of these may have been charged.
    """

    def __init__(self, what: str, label: str = "no_reply", attempts: int = 1, lost: int = 0) -> None:
        super().__init__(masked_message(what))
        self.label = label
        self.attempts = attempts
        self.lost = lost
