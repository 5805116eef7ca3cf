"""What models cost: a dated table, a user's own laid over it, and what a request can come to before it is sent."""

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
from graphkit.llm.requests import Request, Usage
from graphkit.records.usage import Prices

_SHIPPED = Path(__file__).with_name("prices.toml")

#: How a name is followed by the day of one version of the model.
_DATED = re.compile(r"-(\d{8}|latest)\Z")

#: About how many bytes of text a token stands for: three in English and in code, and one character in Chinese.
_BYTES_PER_TOKEN = 3

#: What the server adds to a prompt of its own: the form of the conversation, and what asks for a schema.
_ADDED_TOKENS = 600

_NUMBERS = ("prompt", "output", "cache_read", "cache_write", "batch")
_FORM = "A price is written so: [models.NAME] with prompt, output, and if wanted cache_read, cache_write and batch."


@dataclass(frozen=True)
class PriceTable:
    """Prices by the names of models.

    Attributes
    ----------
    as_of
        The day on which the shipped prices were looked up.
    """

    models: Mapping[str, Prices]
    as_of: str
    currency: str = "USD"
    source: str | None = None

    @classmethod
    def read(cls, override: Path | None = None) -> PriceTable:
        """Return the shipped table, with a user's file laid over it.

        Raises
        ------
        InputError
            The file can't be read, or holds what is no price.
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
        # Two currencies can't be added up: what isn't in the user's own has no price then.
        shared = table.models if currency == table.currency else {}
        return cls({**shared, **own}, table.as_of, currency, table.source)

    def of(self, model: str) -> Prices | None:
        """Return the prices of a model, or of the name that its dated name begins with; None where they aren't known.

        >>> table = PriceTable({"claude-fable-5": Prices(10.0, 50.0)}, "2026-10-24")
        >>> table.of("claude-fable-5-20260609").prompt, table.of("claude-fable-5-2")
        (10.0, None)
        """
        found = self.models.get(model)
        return found if found is not None else self.models.get(_DATED.sub("", model))

    def cost(self, model: str, usage: Usage, batch: bool = False) -> float | None:
        """Return what one reply cost; None where the model has no price.

        The costs of several replies are added up, and not their tokens: long prompts may have prices of their own.
        """
        prices = self.of(model)
        if prices is None:
            return None
        cost = prices.of(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        return cost * (prices.batch if batch else 1.0)

    def estimate(self, request: Request, output_tokens: int, batch: bool = False) -> float | None:
        """Return about what a request will cost with so many tokens of output; None where the model has no price.

        The tokens of the prompt are guessed from its length (:func:`estimated_tokens`), and nothing is taken off for
        what the server may have kept.
        """
        return self.cost(request.model, Usage(estimated_tokens(request), output_tokens), batch)

    def most(self, request: Request, batch: bool = False) -> float | None:
        """Return the most that a request can cost, sent once; None where the model has no price.

        No token is shorter than a byte, the output has no more than ``max_tokens``, and all of the prompt is charged
        at whichever price is the highest.
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
    """Return about how many tokens the prompt of a request has: a third of its bytes, and what the server adds.

    It is a guess, for before anything is sent; what a reply says that it used is what counts afterwards.
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
        raise wrong("that is no table of prices")
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
