"""What may be spent: no request is sent that could pass the limit, those that are under way included."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable

from graphkit.errors import InputError
from graphkit.llm.prices import PriceTable
from graphkit.llm.requests import BEFORE_REPEAT, Model, ModelError, Reply, Request

#: What floating point may add to a sum of prices.
_TOLERANCE = 1e-9


class Budget:
    """An amount of money, what was spent of it, and what is kept back for requests that are under way.

    Raises
    ------
    InputError
        The limit is no amount, or a model has no price: what can't be counted can't be limited.
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

    def most(self, request: Request, batch: bool = False) -> float:
        """Return the most that a request can cost, sent once.

        Raises
        ------
        InputError
            The price of its model isn't known.
        """
        most = self.prices.most(request, batch)
        if most is None:
            raise _unpriced(request.model)
        return most

    def reserve(self, amount: float) -> bool:
        """Keep an amount back, if that doesn't pass the limit, and tell whether it was kept back."""
        if self.spent + self.reserved + amount > self.limit + _TOLERANCE:
            return False
        self.reserved += amount
        return True

    def refusal(self, amount: float) -> str:
        """Return why a request that can cost so much isn't sent."""
        kept_back = f", {self.reserved:.4g} kept back for what is under way" if self.reserved > _TOLERANCE else ""
        return f"not sent: it can cost {amount:.4g}; of {self.limit:.4g}, {self.spent:.4g} are spent{kept_back}"

    def settle(self, reserved: float, spent: float) -> None:
        """Count what was spent in the place of what was kept back."""
        self.reserved = max(0.0, self.reserved - reserved)
        self.spent += spent
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def reserved_for(self, amount: float) -> bool:
        """Keep an amount back as soon as it is free; tell at once where it will never be.

        What is under way usually costs less than what is kept back for it, so it is waited for.
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


class BudgetedModel:
    """A model that is asked only what the budget can pay for."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self._model = model
        self._budget = budget

    async def ask(self, request: Request) -> Reply:
        """Return the reply, after as much was kept back as it can cost.

        An attempt whose reply got lost on its way may have been charged: it counts at the most that it can have cost.

        Raises
        ------
        ModelError
            The request could pass the limit (``over_budget``), or got no reply.
        InputError
            The price of its model isn't known.
        """
        budget = self._budget
        most = budget.most(request)
        if not await budget.reserved_for(most):
            raise ModelError(budget.refusal(most), label="over_budget", attempts=0)
        spent, held, settled = 0.0, most, 0

        async def again() -> None:
            """Count a lost attempt, and keep back as much for the next one."""
            nonlocal held, settled
            budget.settle(held, most)
            held, settled = 0.0, settled + 1
            if not await budget.reserved_for(most):
                raise ModelError(budget.refusal(most), label="over_budget")
            held = most

        token = BEFORE_REPEAT.set(again)
        try:
            reply = await self._model.ask(request)
            spent = budget.prices.cost(request.model, reply.usage) or 0.0
            spent += (reply.lost - settled) * most
        except ModelError as error:
            spent = (error.lost - settled) * most
            raise
        except asyncio.CancelledError:
            spent = held  # it may be on its way
            raise
        finally:
            BEFORE_REPEAT.reset(token)
            budget.settle(held, spent)
        return reply


def _unpriced(model: str) -> InputError:
    return InputError(
        f"--max-cost can't be kept: the price of {model!r} isn't known",
        remedy="Give it in a file: --prices FILE, with [models.NAME], prompt and output.",
    )
