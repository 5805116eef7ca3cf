"""What a model is asked, and what it replies: plain values, without a client or a network."""

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
    """A piece of text of a request; with ``shared``, other requests begin with all that stands up to its end.

    A model's server may keep what is shared, and charge less for reading it again (prompt caching).
    """

    text: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side of a conversation says."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Request:
    """One question to a model.

    Attributes
    ----------
    schema
        The JSON Schema that the reply has to fit; None for free text.
    effort
        How much a model that thinks may think: ``"low"``, ``"medium"`` or ``"high"``; None for its default.
    """

    model: str
    system: tuple[Block, ...]
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 2048
    effort: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return everything that determines the reply; where a prefix is shared doesn't."""
        return {
            "model": self.model,
            "system": [block.text for block in self.system],
            "turns": [{"role": turn.role, "blocks": [block.text for block in turn.blocks]} for turn in self.turns],
            "schema": self.schema,
            "max_tokens": self.max_tokens,
            "effort": self.effort,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Request:
        """Return the request of such JSON: the same digest, and no prefix known as shared."""
        return cls(
            model=value["model"],
            system=tuple(Block(text) for text in value["system"]),
            turns=tuple(Turn(turn["role"], tuple(Block(text) for text in turn["blocks"])) for turn in value["turns"]),
            schema=value["schema"],
            max_tokens=value["max_tokens"],
            effort=value["effort"],
        )

    @cached_property
    def text(self) -> str:
        """Everything that determines the reply, as JSON whose bytes are always the same."""
        return json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that determines the reply, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one reply, or of several added up.

    ``input_tokens`` are those that were read at the full price; what the server had kept, or kept for the next
    request, is counted apart, as the server charges it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompt, however they were charged."""
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
    """What a model replied to a request.

    Attributes
    ----------
    model
        The model that says it replied.
    stop_reason
        Why it stopped: ``"end_turn"``, ``"max_tokens"`` (the text is cut off), ``"refusal"``, ...
    attempts
        How many times the request was sent, until this reply came.
    lost
        How many of these attempts may have been charged though no reply came back: what timed out, or was cut off.
    cached
        Whether it was read from the local cache: then its usage was paid before.
    batch
        Whether it came through a batch, at the price of one.
    """

    text: str
    model: str
    stop_reason: str | None
    usage: Usage
    attempts: int = 1
    lost: int = 0
    cached: bool = False
    batch: bool = False


class Model(Protocol):
    """Something that replies to requests: the client of an API, or what stands in front of one (cache, budget)."""

    async def ask(self, request: Request) -> Reply:
        """Return the reply.

        Raises
        ------
        ModelError
            No reply could be had.
        """
        ...


#: Awaited before a request is sent again whose reply got lost, for that attempt may have been charged: by who pays.
BEFORE_REPEAT: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("before_repeat", default=None)


class ModelError(Exception):
    """A request that got no reply, with what the server or the network said; ``label`` is one word for it.

    Known secrets are masked in it. It isn't a mistake of the user's, and ends no run: the verdict is kept as a failure.
    ``attempts`` is how often it was sent, ``lost`` how many of these may have been charged.
    """

    def __init__(self, what: str, label: str = "no_reply", attempts: int = 1, lost: int = 0) -> None:
        super().__init__(masked_message(what))
        self.label = label
        self.attempts = attempts
        self.lost = lost
