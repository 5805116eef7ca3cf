"""A spending limit: no request is sent that could pass it, counting those under way."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.prices import GIVE_A_PRICE, PriceTable, no_price
from graphkit.plugins.judging.llm.requests import BEFORE_REPEAT, Model, ModelError, Reply, Request

#: The tolerance for rounding errors in sums of prices.
_TOLERANCE = 1e-9


class Budget:
    """An amount of money, with the part that is spent and the part reserved for requests under way.

    Raise an InputError if the limit is no amount, or a model has no price.
    """

    def __init__(self, limit: float, prices: PriceTable, models: Iterable[str]) -> None:
        if not math.isfinite(limit) or limit < 0:
            raise InputError("--max-cost is an amount of at least 0")
        for model in models:
            if prices.of(model) is None:
                raise _unpriced(model)
        self.limit = limit
        self.prices = prices
        self.spent = 0.0
        self.reserved = 0.0
        self._waiting: set[asyncio.Future[None]] = set()

    def maximum_cost(self, request: Request, batch: bool = False) -> float:
        """Return the maximum cost of a request, sent once.

        Raise an InputError if the price of its model is unknown.
        """
        cost = self.prices.maximum_cost(request, batch)
        if cost is None:
            raise _unpriced(request.model)
        return cost

    def reserve(self, amount: float) -> bool:
        """Reserve an amount unless that passes the limit, and return whether it is reserved."""
        if self.spent + self.reserved + amount > self.limit + _TOLERANCE:
            return False
        self.reserved += amount
        return True

    def refusal(self, amount: float) -> str:
        """Return why a request that can cost an amount isn't sent."""
        reserved = f", {self.reserved:.4g} reserved for requests under way" if self.reserved > _TOLERANCE else ""
        return f"not sent: it can cost {amount:.4g}; of {self.limit:.4g}, {self.spent:.4g} are spent{reserved}"

    def charge(self, reserved: float, spent: float) -> None:
        """Replace a reserved amount by the amount spent."""
        self.reserved = max(0.0, self.reserved - reserved)
        self.spent += spent
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def reserve_when_free(self, amount: float) -> bool:
        """Reserve an amount as soon as it is free; return False at once if it never will be.

        Requests under way usually cost less than their reserve, so this waits for them.
        """
        while not self.reserve(amount):
            if self.spent + amount > self.limit + _TOLERANCE or self.reserved <= _TOLERANCE:
                return False
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                await waiting
            finally:
                self._waiting.discard(waiting)
        return True


@dataclass
class BudgetedModel:
    """A model behind a budget."""

    model: Model
    budget: Budget

    async def ask(self, request: Request) -> Reply:
        """Reserve the maximum cost, and return the reply.

        An attempt whose reply got lost may have been charged, so it counts at its maximum cost; so does a reply whose
        usage is unknown, or a server could pass the limit by stating none.

        Raise a ModelError if the request could pass the limit (``over_budget``), or got no reply. Raise an InputError
        if the price of its model is unknown.
        """
        budget = self.budget
        maximum = budget.maximum_cost(request)
        if not await budget.reserve_when_free(maximum):
            raise ModelError(budget.refusal(maximum), label="over_budget", attempts=0)
        spent, reserved, charged = 0.0, maximum, 0

        async def again() -> None:
            """Charge a lost attempt, and reserve the amount for the next one."""
            nonlocal reserved, charged
            budget.charge(reserved, maximum)
            reserved, charged = 0.0, charged + 1
            if not await budget.reserve_when_free(maximum):
                raise ModelError(budget.refusal(maximum), label="over_budget")
            reserved = maximum

        token = BEFORE_REPEAT.set(again)
        try:
            reply = await self.model.ask(request)
            cost = budget.prices.cost(request.model, reply.usage)
            spent = (maximum if cost is None else cost) + (reply.lost - charged) * maximum
        except ModelError as error:
            spent = (error.lost - charged) * maximum
            raise
        except asyncio.CancelledError:
            spent = reserved  # the request may be on its way
            raise
        finally:
            BEFORE_REPEAT.reset(token)
            budget.charge(reserved, spent)
        return reply


def _unpriced(model: str) -> InputError:
    return InputError(f"--max-cost can't be kept: {no_price(model)}", remedy=GIVE_A_PRICE)
