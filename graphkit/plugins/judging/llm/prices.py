"""The prices of models: a dated table, which a user's file overrides, and the costs of requests."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.texts import read_toml
from graphkit.plugins.judging.llm.requests import Request, Usage
from graphkit.records.usage import Prices

_SHIPPED = Path(__file__).with_name("prices.toml")

#: The suffix of a dated model name.
_DATED = re.compile(r"-(\d{8}|latest)\Z")

#: Approximate bytes of text per token: three in English and in code, one character in Chinese.
_BYTES_PER_TOKEN = 3

#: Tokens that the server adds to a prompt, for the conversation and for a schema.
_ADDED_TOKENS = 600

_NUMBERS = ("prompt", "output", "cache_read", "cache_write", "batch")
_FORM = "Write a price as [models.NAME] with prompt, output, and optionally cache_read, cache_write and batch."

#: What to do about a model without a price, in errors and notices.
GIVE_A_PRICE = 'Give it by --prices FILE, per million tokens: [models."NAME"], prompt = 1.0, output = 5.0.'


def no_price(model: str) -> str:
    """Return that the price of a model is unknown, as errors and notices say it."""
    return f"the price of {model!r} is unknown"


@dataclass(frozen=True)
class PriceTable:
    """Prices by the names of models."""

    models: Mapping[str, Prices]
    as_of: str  # the date of the shipped prices
    currency: str = "USD"
    source: str | None = None
    own: frozenset[str] = frozenset()  # the models whose prices a user gave
    own_as_of: str | None = None  # the date of these, if the user's file states it

    @classmethod
    def read(cls, override: Path | None = None) -> PriceTable:
        """Return the shipped table, with the prices of a user's file in place of its own.

        Raise an InputError if the file can't be read, or has an invalid price.
        """
        shipped = read_toml(_SHIPPED)
        table = cls(_prices(shipped, _SHIPPED), str(shipped["as_of"]), shipped["currency"], shipped["source"])
        if override is None:
            return table
        given = read_toml(override, _FORM)
        currency = given.get("currency", table.currency)
        if not isinstance(currency, str) or not currency:
            raise InputError("currency is no text", where=str(override), remedy='Write it as currency = "USD".')
        own = _prices(given, override)
        # Two currencies can't be added up, so a user's currency drops the shipped prices.
        shared = table.models if currency == table.currency else {}
        dated = str(given["as_of"]) if "as_of" in given else None
        return cls({**shared, **own}, table.as_of, currency, table.source, frozenset(own), dated)

    def date_of(self, model: str) -> str | None:
        """Return the date of a model's prices; None if a user gave them without one."""
        named = model if model in self.models else _DATED.sub("", model)
        return self.own_as_of if named in self.own else self.as_of

    def of(self, model: str) -> Prices | None:
        """Return the prices of a model, by its name with or without the date; None if they are unknown.

        >>> table = PriceTable({"claude-fable-5": Prices(10.0, 50.0)}, "2026-10-24")
        >>> table.of("claude-fable-5-20260609").prompt, table.of("claude-fable-5-2")
        (10.0, None)
        """
        found = self.models.get(model)
        return found if found is not None else self.models.get(_DATED.sub("", model))

    def cost(self, model: str, usage: Usage | None, batch: bool = False) -> float | None:
        """Return the cost of one reply; None if its usage is unknown, or the model has no price.

        Add up the costs of several replies, not their tokens: long prompts may have other prices.
        """
        prices = self.of(model)
        if prices is None or usage is None:
            return None
        cost = prices.of(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        return cost * (prices.batch if batch else 1.0)

    def estimate(self, request: Request, output_tokens: int, batch: bool = False) -> float | None:
        """Return the approximate cost of a request with so many tokens of output; None if the model has no price.

        The prompt counts with its :func:`estimated_tokens`, without a discount for prompt caching.
        """
        return self.cost(request.model, Usage(estimated_tokens(request), output_tokens), batch)

    def maximum_cost(self, request: Request, batch: bool = False) -> float | None:
        """Return the maximum cost of a request, sent once; None if the model has no price.

        A token has at least one byte, the output at most ``max_tokens``, and the prompt counts at its highest price.
        """
        prices = self.of(request.model)
        if prices is None:
            return None
        prompt = _bytes(request) + _ADDED_TOKENS
        shares = [_dearest(prices, prompt, request.max_tokens)]
        if prices.long is not None and prices.long_prompt is not None and prompt > prices.long_prompt:
            shares.append(_dearest(prices.long, prompt, request.max_tokens))
        return max(shares) * (prices.batch if batch else 1.0)


def estimated_tokens(request: Request) -> int:
    """Return the approximate tokens of a request's prompt: a third of its bytes, and the server's additions.

    Once there is a reply, its usage counts instead.
    """
    return math.ceil(_bytes(request) / _BYTES_PER_TOKEN) + (_ADDED_TOKENS if request.schema is not None else 0)


def _bytes(request: Request) -> int:
    texts = [*request.system, *(block for turn in request.turns for block in turn.blocks)]
    size = sum(len(block.text.encode(errors="surrogatepass")) for block in texts)
    return size + (len(json.dumps(request.schema, ensure_ascii=False).encode()) if request.schema is not None else 0)


def _dearest(prices: Prices, prompt_tokens: int, output_tokens: int) -> float:
    dearest = max(prices.prompt, prices.cache_write or 0.0, prices.cache_read or 0.0)
    return Prices(dearest, prices.output).of(prompt_tokens, output_tokens)


def _prices(given: Mapping[str, Any], path: Path) -> dict[str, Prices]:
    models = given.get("models")
    if not isinstance(models, dict) or not models:
        raise InputError("the file names no model", where=str(path), remedy=_FORM)
    return {name: _one(name, value, path) for name, value in models.items()}


def _one(name: str, value: Any, path: Path) -> Prices:
    def wrong(what: str) -> InputError:
        return InputError(f"{name}: {what}", where=str(path), remedy=_FORM)

    if not isinstance(value, dict):
        raise wrong("that isn't a table of prices")
    known = {field.name for field in fields(Prices)}
    if unknown := sorted(value.keys() - known):
        raise wrong(f"{unknown[0]!r} is no price; there are {', '.join(sorted(known))}")
    if missing := [needed for needed in ("prompt", "output") if needed not in value]:
        raise wrong(f"{missing[0]} is missing")
    for number in _NUMBERS:
        price = value.get(number, 0.0)
        if isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price) or price < 0:
            raise wrong(f"{number} is {price!r}; a price is a number of at least 0")
    if ("long" in value) != ("long_prompt" in value):
        raise wrong("long and long_prompt are given together")
    if "long" not in value:
        return Prices(**value)
    limit = value["long_prompt"]
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise wrong(f"long_prompt is {limit!r}; it is a whole number of tokens")
    return Prices(**{**value, "long": _one(f"{name}.long", value["long"], path)})
