"""Opens judges by name: the lexical one, a model with its cache, budget and prices, or a user's callable."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.plugins.judging.grading.unfinished import continued, unfinished_file
from graphkit.plugins.judging.grading.verdict_job import CONCURRENCY
from graphkit.plugins.judging.judges.contract import Judge
from graphkit.plugins.judging.judges.known_judges import ANTHROPIC as ANTHROPIC_BACKEND
from graphkit.plugins.judging.judges.known_judges import LEXICAL, backend_of, open_judge, split_model
from graphkit.plugins.judging.judges.model_judge import ModelJudge
from graphkit.plugins.judging.llm.chat_completions import SERVICES
from graphkit.plugins.judging.llm.requests import Model, ModelError, Reply, Request
from graphkit.shards import event_loop

if TYPE_CHECKING:
    from graphkit.plugins.judging.llm.budget import Budget
    from graphkit.plugins.judging.llm.cache import ReplyCache
    from graphkit.plugins.judging.llm.message_batches import Batches
    from graphkit.plugins.judging.llm.prices import PriceTable

ANTHROPIC = "anthropic"

#: The default model of the judge ``anthropic``.
JUDGE_MODEL = str(ANTHROPIC_BACKEND.model)

EFFORTS = ("low", "medium", "high")

#: The assumed number of output tokens of a verdict, for estimates.
ABOUT_OUTPUT = 700


@dataclass(frozen=True)
class JudgeOptions:
    """The judge to ask, and its settings. All but ``judge`` and ``concurrency`` concern judges that ask a model.

    Attributes
    ----------
    judge
        ``lexical``, ``package.module:callable``, or the provider of the model, such as ``anthropic``; by default that
        of ``model``, else ``lexical``.
    model
        The model to ask, as ``NAME`` or ``PROVIDER:NAME``.
    cache
        The file of replies; None to keep none.
    replay
        Serve only recorded replies.
    max_cost
        The limit of the cost, in the currency of the prices.
    prices
        A file of prices that override those of graphkit.
    base_url
        The address of the model's server, if it speaks chat completions.
    continues
        Whether a killed judging by a function continues: its opinions are kept until it ends.
    """

    judge: str = ""
    model: str | None = None
    effort: str | None = None
    concurrency: int = CONCURRENCY
    cache: Path | None = None
    replay: bool = False
    max_cost: float | None = None
    prices: Path | None = None
    base_url: str | None = None
    continues: bool = True

    def __post_init__(self) -> None:
        asked: dict[str, object] = {"--model": self.model, "--effort": self.effort, "--replay": self.replay or None}
        asked |= {"--cache": self.cache, "--max-cost": self.max_cost, "--prices": self.prices}
        asked |= {"--base-url": self.base_url}
        of_model = [name for name, value in asked.items() if value is not None]
        if self.model is not None:
            judge, model = split_model(self.model, self.judge or None)
            object.__setattr__(self, "judge", judge or "")
            object.__setattr__(self, "model", model)
        if not self.judge:
            object.__setattr__(self, "judge", LEXICAL)
        if (backend := backend_of(self.judge)) is None:
            if of_model:
                raise InputError(
                    f"{', '.join(of_model)}: the judge {self.judge!r} asks no model that graphkit knows",
                    remedy="Name a model with its provider, such as --model openai:NAME, or remove the option. "
                    f"Providers: {', '.join((ANTHROPIC, *SERVICES))}.",
                )
            return
        if self.effort not in (None, *EFFORTS):
            raise InputError(f"--effort is {self.effort!r}", remedy=f"There are: {', '.join(EFFORTS)}.")
        if (self.model or backend.model) is None:
            raise InputError(f"--judge {self.judge}: no model is named", remedy=f"Write --model {self.judge}:NAME.")
        if self.base_url is not None and backend.service is None:
            remedy = "Its client has a variable for that: ANTHROPIC_BASE_URL." if self.judge == ANTHROPIC else None
            raise InputError(f"--base-url: the judge {self.judge!r} takes no address", remedy=remedy)

    @property
    def model_name(self) -> str:
        """The model to ask."""
        backend = backend_of(self.judge)
        return self.model or (backend.model if backend is not None else None) or JUDGE_MODEL


@dataclass
class OpenedJudge:
    """A judge that can be asked.

    ``forget`` receives the digests of requests with unusable replies; ``reference`` is the name by which a worker opens
    a judge without a model; ``prices`` and ``budget`` belong to a model.
    """

    judge: Judge
    forget: Callable[[str], None] = lambda _: None
    reference: str | None = None
    prices: PriceTable | None = None
    budget: Budget | None = None


@asynccontextmanager
async def opened(
    options: JudgeOptions,
    budget: Budget | None = None,
    notify: Callable[[str], None] | None = None,
    opinions: Path | None = None,
) -> AsyncIterator[OpenedJudge]:
    """Open a judge, and close it at the end of the context.

    For the other parameters and errors see :func:`opened_model`.

    Parameters
    ----------
    opinions
        The file that keeps what a judge without a model says until the judging ends (:mod:`.unfinished`).
    """
    if backend_of(options.judge) is None:
        yield OpenedJudge(continued(open_judge(options.judge), opinions), reference=options.judge)
        return
    async with opened_model(options, budget, notify) as opened:
        judge = model_judge(opened.model, options, opened.prices)
        yield OpenedJudge(judge, opened.forget, None, opened.prices, opened.budget)


@dataclass(frozen=True)
class OpenedModel:
    """A model that can be asked, behind its budget and the file of replies, with the prices of its replies."""

    model: Model
    prices: PriceTable
    budget: Budget | None = None
    forget: Callable[[str], None] = lambda _: None


@asynccontextmanager
async def opened_model(
    options: JudgeOptions,
    budget: Budget | None = None,
    notify: Callable[[str], None] | None = None,
    user: str | None = None,
) -> AsyncIterator[OpenedModel]:
    """Open the model that a judge asks, and close it at the end of the context.

    Parameters
    ----------
    options
        Those of a judge that asks a model.
    budget
        A budget shared by several judges; by default the model has its own of ``max_cost``.
    notify
        Called once with each thing that the server lacks, and if the price of a service's model is unknown.
    user
        The name of the feature that asks, for messages.

    Raises
    ------
    InputError
        The model can't be asked: a package, a key, a file of replies or a price is missing.
    """
    from graphkit.plugins.judging.llm.budget import BudgetedModel
    from graphkit.plugins.judging.llm.cache import CachedModel
    from graphkit.plugins.judging.llm.prices import GIVE_A_PRICE, no_price
    from graphkit.plugins.judging.llm.replay import RecordedModel

    backend = backend_of(options.judge)
    if backend is None:
        raise ValueError(f"the judge {options.judge!r} asks no model")
    prices, own = prices_and_budget(options)
    budget = budget or own
    with _replies(options) as replies:
        if options.replay and replies is not None:
            yield OpenedModel(RecordedModel(replies), prices)
            return
        client = backend.opened(options.concurrency, base_url=options.base_url, notify=notify, user=user)
        charges = backend.service is None or not SERVICES[backend.service].own
        if notify is not None and charges and prices.of(options.model_name) is None:
            notify(f"note: {no_price(options.model_name)}, and so is what its replies cost. {GIVE_A_PRICE}")
        try:
            model: Model = client if budget is None else BudgetedModel(client, budget)
            if replies is None:
                yield OpenedModel(model, prices, budget)
                return
            cached = CachedModel(model, replies)
            yield OpenedModel(cached, prices, budget, cached.forget)
            replies.note_use(cached.hits, cached.misses)
        finally:
            await client.close()


@dataclass
class Collecting:
    """A stand-in for a model: it serves recorded replies, and collects the requests that have none.

    Attributes
    ----------
    failures
        The errors of requests that were sent and have no reply, by digest.
    wanted
        The requests with neither reply nor error, by digest.
    kept, asked
        The digests of requests with a reply of an earlier command, and of those sent by this one.
    """

    replies: ReplyCache | None
    failures: dict[str, ModelError] = field(default_factory=dict)
    wanted: dict[str, Request] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)

    async def ask(self, request: Request) -> Reply:
        """Return the recorded reply.

        Raises
        ------
        ModelError
            There is none: the request is now wanted, or failed before.
        """
        digest = request.digest
        reply = self.replies.get(digest) if self.replies is not None else None
        if reply is not None and digest in self.asked:
            return replace(reply, cached=False)  # the batch stored it in the cache; it is paid now
        if reply is not None:
            self.kept.add(digest)
            return reply
        if digest in self.failures:
            raise self.failures[digest]
        self.wanted[digest] = request
        raise ModelError("it isn't asked yet", label="not_asked", attempts=0)

    def asking(self) -> list[Request]:
        """Return the wanted requests, and count them as sent."""
        requests = list(self.wanted.values())
        self.asked.update(self.wanted)
        self.wanted.clear()
        return requests


@dataclass(frozen=True, slots=True)
class GradingEstimate:
    """The estimated calls, tokens and cost of a grading, before anything is sent.

    Attributes
    ----------
    calls, kept
        The number of requests to send, and of those with a recorded reply.
    prompt_tokens
        Estimated from the length of the prompts.
    cost, most
        The estimated and the maximum cost; None if a price is unknown.
    as_of
        The date of the prices; None if they are the user's, without one.
    """

    calls: int
    kept: int
    prompt_tokens: int
    cost: float | None
    most: float | None
    currency: str
    as_of: str | None


def estimate(asked: Collecting, prices: PriceTable, batch: bool) -> GradingEstimate:
    """Return the estimated calls, tokens and cost of the wanted requests."""
    from graphkit.plugins.judging.llm.prices import estimated_tokens

    costs = [prices.estimate(request, ABOUT_OUTPUT, batch) for request in asked.wanted.values()]
    most = [prices.maximum_cost(request, batch) for request in asked.wanted.values()]
    return GradingEstimate(
        calls=len(asked.wanted),
        kept=len(asked.kept),
        prompt_tokens=sum(map(estimated_tokens, asked.wanted.values())),
        cost=_sum(costs),
        most=_sum(most),
        currency=prices.currency,
        as_of=next((prices.date_of(request.model) for request in asked.wanted.values()), prices.as_of),
    )


def estimated(
    judge: JudgeOptions, asking: Callable[[OpenedJudge], Coroutine[Any, Any, Any]], batch: bool = False
) -> GradingEstimate:
    """Return the estimated calls, tokens and cost of asking a model, without sending anything.

    ``asking`` asks a judge whose model serves kept replies alone. An unusable verdict is asked for once more; the
    estimate doesn't foresee that.

    Raises
    ------
    InputError
        The judge asks no model, or the file of prices can't be used.
    """
    from graphkit.plugins.judging.llm.prices import PriceTable

    if backend_of(judge.judge) is None:
        raise InputError(f"--dry-run counts what a model is asked, and the judge {judge.judge!r} asks none")
    prices = PriceTable.read(judge.prices)
    with kept_replies(judge) as replies:
        asked = Collecting(replies)
        event_loop.run(asking(OpenedJudge(model_judge(asked, judge, prices))))
    return estimate(asked, prices, batch)


@asynccontextmanager
async def opened_batches(
    options: JudgeOptions, notify: Callable[[str], None]
) -> AsyncIterator[tuple[Batches, ReplyCache, PriceTable]]:
    """Open the batches of a model, with the file of replies that stores them.

    Raises
    ------
    InputError
        The judge has no batches, or the options forbid to keep replies.
    """
    from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
    from graphkit.plugins.judging.llm.message_batches import Batches

    if options.judge != ANTHROPIC:
        why = (
            f"which the judge {options.judge!r} doesn't"
            if backend_of(options.judge) is None
            else "as Anthropic's API can"
        )
        raise InputError(f"--batch asks a model in batches, {why}", remedy="Leave it out.")
    if options.replay:
        raise InputError("--replay asks nobody, and --batch does: leave one of them out")
    prices, budget = prices_and_budget(options)
    with _replies(options) as replies:
        if replies is None:
            raise InputError("--batch keeps replies until all are there, and --no-cache forbids it")
        client = AnthropicModel(concurrency=options.concurrency)
        try:
            yield Batches(client, replies, budget=budget, report=notify), replies, prices
        finally:
            await client.close()


def unfinished(judge: JudgeOptions, run_file: Path) -> Path | None:
    """Return the file that keeps a judge's opinions beside a run until its verdicts are kept; None to keep none."""
    return unfinished_file(run_file, judge.judge) if judge.continues else None


@contextmanager
def kept_replies(options: JudgeOptions) -> Iterator[ReplyCache | None]:
    """Open an existing file of replies; yield None if there is none, or the options name none."""
    from graphkit.plugins.judging.llm.cache import ReplyCache

    with ExitStack() as stack:
        exists = options.cache is not None and options.cache.exists()
        yield stack.enter_context(ReplyCache(options.cache)) if exists and options.cache is not None else None


def model_judge(model: Model, options: JudgeOptions, prices: PriceTable) -> ModelJudge:
    """Return the judge that asks a model."""
    name = options.model_name
    backend = backend_of(options.judge)
    return ModelJudge(
        model,
        options.judge,
        name,
        effort=options.effort,
        service=None if backend is None else backend.service,
        cost=partial(_cost, prices, name),
    )


def _cost(prices: PriceTable, model: str, reply: Reply) -> float | None:
    return prices.cost(model, reply.usage, reply.batch)


def prices_and_budget(options: JudgeOptions) -> tuple[PriceTable, Budget | None]:
    """Return the prices of models, and the budget if the options limit the cost.

    Raises
    ------
    InputError
        The file of prices can't be used, or the cost is limited and the model's price is unknown.
    """
    from graphkit.plugins.judging.llm.budget import Budget
    from graphkit.plugins.judging.llm.prices import PriceTable

    prices = PriceTable.read(options.prices)
    budget = None if options.max_cost is None else Budget(options.max_cost, prices, [options.model_name])
    return prices, budget


@contextmanager
def _replies(options: JudgeOptions) -> Iterator[ReplyCache | None]:
    from graphkit.plugins.judging.llm.cache import ReplyCache

    if options.cache is None:
        if options.replay:
            raise InputError("--replay reads recorded replies, and --no-cache forbids it")
        yield None
        return
    with ReplyCache(options.cache, must_exist=options.replay) as replies:
        yield replies


def _sum(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return None if len(known) < len(costs) else math.fsum(known)
