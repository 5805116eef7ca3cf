"""Prices by hand, a user's own over them, and what a request can cost before it is sent."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.prices import PriceTable, estimated_tokens
from graphkit.plugins.judging.llm.requests import Usage
from graphkit.records.usage import Prices
from tests.helpers import ROOT
from tests.helpers.models import asked

TABLE = PriceTable.read()


def test_cost_of_a_reply() -> None:
    """Each kind of token at its own price, and half of it all in a batch."""
    # Sonnet 5.5: 2 in, 10 out, 0.10 read, 2.50 written. 1000 x 2 + 200 x 10 + 50 000 x 0.1 + 4000 x 2.5
    # = 2000 + 2000 + 5000 + 10 000 = 19 000 a million: 0.019.
    usage = Usage(1000, 200, 50_000, 4000)
    assert TABLE.cost("claude-sonnet-5-5", usage) == pytest.approx(0.019)
    assert TABLE.cost("claude-sonnet-5-5", usage, batch=True) == pytest.approx(0.0095)


def test_long_prompts_have_prices_of_their_own() -> None:
    """A prompt of more than 100 000 tokens, cached ones included, is charged by the other prices, output included."""
    # Haiku 5.5: 100 000 x 0.1 + 1000 x 0.5 = 10 500; one token more: 100 000 x 0.5 + 1 x 0.05 + 1000 x 2.5 = 52 500.05.
    assert TABLE.cost("claude-haiku-5-5", Usage(100_000, 1000)) == pytest.approx(0.0105)
    assert TABLE.cost("claude-haiku-5-5", Usage(100_000, 1000, cache_read_tokens=1)) == pytest.approx(0.05250005)


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("claude-opus-5-5", 4.0),
        ("claude-opus-5-5-20260922", 4.0),
        ("claude-haiku-4-5-20251001", 1.0),
        ("claude-haiku-4-5-latest", 1.0),
        ("claude-fable-5", 10.0),
        ("claude-fable-5-2", None),  # its name begins as that of another model, and it isn't a dated one of it
        ("claude-opus-5-55", None),
        ("gpt-6", None),
        ("", None),
    ],
)
def test_price_of_a_name(model: str, prompt: float | None) -> None:
    """A dated name has the price of its model, and what isn't known has none, never 0."""
    found = TABLE.of(model)
    assert (found and found.prompt) == prompt
    if prompt is None:
        assert TABLE.cost(model, Usage(1, 1)) is None
        assert TABLE.estimate(asked(model=model), 10) is None
        assert TABLE.maximum_cost(asked(model=model)) is None


def test_shipped_table_is_dated() -> None:
    """The table says of which day it is, and each price has its parts; no price in a batch is missing."""
    file = ROOT / "graphkit" / "plugins" / "judging" / "llm" / "prices.toml"
    assert tomllib.loads(file.read_text())["as_of"].isoformat() == TABLE.as_of
    for prices in TABLE.models.values():
        assert prices.batch == 0.5
        assert prices.cache_read is not None
        assert prices.cache_write == pytest.approx(1.25 * prices.prompt)


def test_prices_of_ones_own(tmp_path: Path) -> None:
    """A user's file adds models and replaces prices; the others stay, and what it leaves out is charged in full."""
    file = tmp_path / "prices.toml"
    file.write_text('[models.mine]\nprompt = 3\noutput = 6\n["models"."claude-opus-5-5"]\nprompt = 1\noutput = 2\n')
    table = PriceTable.read(file)
    assert table.of("mine") == Prices(3, 6)
    # Read and written tokens of the server's cache cost what others do, as does a batch: (1 + 1 + 1) x 3 + 6 = 15.
    assert table.cost("mine", Usage(10**6, 10**6, 10**6, 10**6), batch=True) == 15
    assert table.cost("claude-opus-5-5", Usage(10**6, 10**6)) == 3
    assert table.of("claude-sonnet-5-5") == TABLE.of("claude-sonnet-5-5")


def test_a_price_has_the_date_of_its_file(tmp_path: Path) -> None:
    """That of the shipped table is no date of a user's price; a dated name is its model's."""
    file = tmp_path / "prices.toml"
    priced = "[models.mine]\nprompt = 3\noutput = 6\n[models.claude-opus-5-5]\nprompt = 1\noutput = 2\n"
    for head, date in (("", None), ("as_of = 2026-11-01\n", "2026-11-01")):
        file.write_text(head + priced)
        table = PriceTable.read(file)
        assert {table.date_of(one) for one in ("mine", "claude-opus-5-5", "claude-opus-5-5-20261001")} == {date}
        assert table.date_of("claude-sonnet-5-5") == TABLE.as_of


def test_prices_in_another_currency(tmp_path: Path) -> None:
    """Euros aren't added to dollars: what the file doesn't name has no price."""
    file = tmp_path / "prices.toml"
    file.write_text('currency = "EUR"\n[models.mine]\nprompt = 3\noutput = 6\n')
    table = PriceTable.read(file)
    assert (table.currency, list(table.models)) == ("EUR", ["mine"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models = [", "not valid TOML"),
        ("x = 1", "names no model"),
        ("[models]\nm = 1", "isn't a table of prices"),
        ("[models.m]\nprompt = 1", "output is missing"),
        ("[models.m]\nprompt = -1\noutput = 1", "prompt is -1"),
        ("[models.m]\nprompt = nan\noutput = 1", "prompt is nan"),
        ('[models.m]\nprompt = "1"\noutput = 1', "prompt is '1'"),
        ("[models.m]\nprompt = true\noutput = 1", "prompt is True"),
        ("[models.m]\nprompt = 1\noutput = 1\ninput = 1", "'input' is no price"),
        ("[models.m]\nprompt = 1\noutput = 1\nlong_prompt = 5", "given together"),
        ("[models.m]\nprompt = 1\noutput = 1\nlong_prompt = 5\nlong = { prompt = 1 }", "m.long: output is missing"),
    ],
)
def test_prices_that_are_none(text: str, words: str, tmp_path: Path) -> None:
    """A value that isn't a price is refused with the file, the model and the form."""
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=words) as reported:
        PriceTable.read(file)
    assert str(file) in str(reported.value)
    with pytest.raises(InputError, match="there is no such file"):
        PriceTable.read(tmp_path / "absent.toml")


def test_estimate() -> None:
    """The prompt's tokens are a third of its bytes: 3000 letters are 1000, and 1000 characters of Chinese as many."""
    assert estimated_tokens(asked("x" * 3000)) == 1000
    assert estimated_tokens(asked("字" * 1000)) == 1000
    # Sonnet 5.5: 1000 x 2 + 100 x 10 = 3000 a million; half in a batch.
    assert TABLE.estimate(asked("x" * 3000, "claude-sonnet-5-5"), 100) == pytest.approx(0.003)
    assert TABLE.estimate(asked("x" * 3000, "claude-sonnet-5-5"), 100, batch=True) == pytest.approx(0.0015)


def test_most_is_never_less_than_the_cost() -> None:
    """However a prompt's bytes become tokens and however the server charges them, the most isn't passed."""
    for size in (1, 3000, 99_000, 100_500, 400_000):
        request = asked("x" * size, max_tokens=500)
        most = TABLE.maximum_cost(request)
        assert most is not None
        usages = (
            Usage(size, 500),
            Usage(0, 500, cache_write_tokens=size),
            Usage(0, 500, cache_read_tokens=size),
            Usage(math.ceil(size / 4), 500),
        )
        for usage in usages:
            cost = TABLE.cost("claude-haiku-5-5", usage)
            assert cost is not None
            assert cost <= most
