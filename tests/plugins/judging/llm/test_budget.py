"""A limit that isn't passed, whatever is under way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from graphkit.plugins.judging.llm.budget import Budget, BudgetedModel
from graphkit.plugins.judging.llm.cache import CachedModel, ReplyCache
from graphkit.plugins.judging.llm.prices import PriceTable
from graphkit.plugins.judging.llm.requests import ModelError, Reply, Request, Usage
from graphkit.records.usage import Prices
from tests.helpers.api import Api, Response, message, served, with_faults
from tests.helpers.models import Counting, asked, with_client

#: One unit a token of output, and nothing for the prompt: what a request can cost is its max_tokens.
TABLE = PriceTable({"m": Prices(0.0, 1_000_000.0)}, "2026-10-24")


def results(limit: float, model: Counting, requests: list[Request]) -> tuple[Budget, list[Reply | BaseException]]:
    """Ask all at once, and return the budget and what came."""
    budget = Budget(limit, TABLE, ["m"])

    async def work() -> list[Reply | BaseException]:
        asking = BudgetedModel(model, budget)
        return await asyncio.gather(*(asking.ask(request) for request in requests), return_exceptions=True)

    return budget, asyncio.run(work())


def test_nothing_is_sent_that_could_pass_the_limit() -> None:
    """Each of five can cost 10 and does: of 35, three are sent, and two are refused, with what is spent."""
    model = Counting(0.02, Usage(0, 10))
    budget, found = results(35, model, [asked(f"{number}", "m", max_tokens=10) for number in range(5)])
    assert len(model.asked) == 3
    refused = [one for one in found if isinstance(one, ModelError)]
    assert [(one.label, one.attempts) for one in refused] == [("over_budget", 0)] * 2
    assert "it can cost 10; of 35, 30 are spent" in str(refused[0])
    assert (budget.spent, budget.reserved) == (30, 0)


def test_what_is_under_way_is_counted_and_then_settled() -> None:
    """Each of ten can cost 10 and costs 1: of 25 two are under way at once, and all ten are sent in the end."""
    model = Counting(0.02, Usage(0, 1))
    budget, found = results(25, model, [asked(f"{number}", "m", max_tokens=10) for number in range(10)])
    assert all(isinstance(one, Reply) for one in found)
    assert model.most_inside == 2
    assert (budget.spent, budget.reserved) == (10, 0)


def test_a_small_request_still_fits() -> None:
    """If 100 don't fit, 5 still do; nothing at all fits where nothing may be spent."""
    model = Counting(0.0, Usage(0, 5))
    requests = [asked("large", "m", max_tokens=100), asked("small", "m", max_tokens=5)]
    assert [type(one) for one in results(10, model, requests)[1]] == [ModelError, Reply]
    assert [type(one) for one in results(0, model, requests)[1]] == [ModelError, ModelError]


def test_lost_attempts_are_counted() -> None:
    """An attempt whose reply got lost counts at its most, beside a reply (10 + 1) and without one (2 x 10)."""

    class Lossy(Counting):
        async def ask(self, request: Request) -> Reply:
            if request.turns[0].blocks[0].text == "never":
                raise ModelError("gone", attempts=3, lost=2)
            return Reply("late", "m", "end_turn", Usage(0, 1), attempts=2, lost=1)

    budget, _ = results(1000, Lossy(), [asked("late", "m", max_tokens=10), asked("never", "m", max_tokens=10)])
    assert (budget.spent, budget.reserved) == (31, 0)


def test_a_reply_without_usage_counts_at_its_most() -> None:
    """A server can't pass the limit by stating no tokens: two replies of at most 10 are all of 20, and no third is."""

    class Silent(Counting):
        async def ask(self, request: Request) -> Reply:
            return replace(await super().ask(request), usage=None)

    model = Silent()
    budget, found = results(20, model, [asked(f"{number}", "m", max_tokens=10) for number in range(3)])
    assert [type(one) for one in found] == [Reply, Reply, ModelError]
    assert (budget.spent, budget.reserved, len(model.asked)) == (20, 0, 2)


def test_no_attempt_is_sent_that_could_pass_the_limit() -> None:
    """A request that can cost 10 loses its reply each time: of 25, two attempts are sent and count 20; no third is."""

    def lose(api: Api, body: object) -> Response:
        return Response(502, b"{}")

    with served(lose) as api:

        async def work(model: AnthropicModel) -> Budget:
            budget = Budget(25, TABLE, ["m"])
            with pytest.raises(ModelError) as caught:
                await BudgetedModel(model, budget).ask(asked("x", "m", max_tokens=10))
            assert (caught.value.label, caught.value.attempts, caught.value.lost) == ("over_budget", 2, 2)
            assert "of 25, 20 are spent" in str(caught.value)
            return budget

        budget = with_client(api, work, backoff=0.0)
    assert (len(api.requests), budget.spent, budget.reserved) == (2, 20, 0)


def test_price_must_be_known() -> None:
    """Without a price there is no limit to keep: refused at the start, and for a request of another model too."""
    with pytest.raises(InputError, match="price of 'other' is unknown"):
        Budget(1.0, TABLE, ["m", "other"])
    budget = Budget(1.0, TABLE, ["m"])
    with pytest.raises(InputError, match="--prices FILE"):
        asyncio.run(BudgetedModel(Counting(), budget).ask(asked("x", "other")))
    for limit in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="amount of at least 0"):
            Budget(limit, TABLE, [])


def test_stack_of_cache_budget_and_client(tmp_path: Path) -> None:
    """Client, budget and cache together: faults pass the limit by nothing, what is kept costs nothing again."""
    table = PriceTable({"claude-haiku-5-5": Prices(1.0, 10.0)}, "2026-10-24")
    requests = [asked(f"number {number}", max_tokens=100) for number in range(60)]

    def run(api: Api, limit: float, path: Path) -> tuple[Budget, CachedModel, list[Reply | BaseException]]:
        budget = Budget(limit, table, ["claude-haiku-5-5"])

        async def work(model: AnthropicModel) -> tuple[Budget, CachedModel, list[Reply | BaseException]]:
            with ReplyCache(path) as cache:
                stack = CachedModel(BudgetedModel(model, budget), cache)
                asking = (stack.ask(request) for request in requests)
                return budget, stack, await asyncio.gather(*asking, return_exceptions=True)

        return with_client(api, work, concurrency=8)

    # A reply of 10 and 5 tokens costs 10 x 1 + 5 x 10 = 60 a million. The most that one can: 8 or 9 bytes and 600 that
    # are added, and 100 x 10: 1608 or 1609 a million.
    script = with_faults(lambda api, body: message("fine", 10, 5), limits=0.1, errors=0.05)
    with served(script) as api:
        budget, stack, found = run(api, 0.0034, tmp_path / "replies.sqlite")
        done = [one for one in found if isinstance(one, Reply)]
        refused = [one for one in found if isinstance(one, ModelError)]
        # Sent while what is spent and 0.001609 fit into 0.0034: 29 x 0.00006 = 0.00174 and one more, so 30.
        assert len(done) == 30
        assert {one.label for one in refused} == {"over_budget"}
        assert budget.spent == pytest.approx(30 * 0.00006)
        assert (stack.hits, stack.misses) == (0, 60)
        # The same again with as much: what is there isn't paid again, and the other 30 are.
        budget, stack, found = run(api, 0.0034, tmp_path / "replies.sqlite")
        assert all(isinstance(one, Reply) for one in found)
        assert budget.spent == pytest.approx(30 * 0.00006)
        assert (stack.hits, stack.misses) == (30, 30)
