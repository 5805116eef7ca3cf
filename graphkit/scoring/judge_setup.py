"""Judges by name, opened: the lexical one, a model with its cache, budget and prices, or a callable of the user's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError
from graphkit.judges.contract import Judge
from graphkit.judges.known_judges import ANTHROPIC as ANTHROPIC_BACKEND
from graphkit.judges.known_judges import backend_of, open_judge
from graphkit.judges.model_judge import ModelJudge
from graphkit.llm.requests import Model, ModelError, Reply, Request
from graphkit.scoring.verdict_job import CONCURRENCY

if TYPE_CHECKING:
    from graphkit.llm.budget import Budget
    from graphkit.llm.cache import ReplyCache
    from graphkit.llm.message_batches import Batches
    from graphkit.llm.prices import PriceTable

LEXICAL = "lexical"
ANTHROPIC = "anthropic"

#: The default model of the judge ``anthropic``.
JUDGE_MODEL = ANTHROPIC_BACKEND.model

EFFORTS = ("low", "medium", "high")

#: What a verdict takes of output, for an estimate before any was given.
ABOUT_OUTPUT = 700


@dataclass(frozen=True)
class JudgeOptions:
    """The judge to ask, and its settings. All but ``judge`` and ``concurrency`` concern the judge ``anthropic``.

    Attributes
    ----------
    judge
        ``lexical``, ``anthropic``, or ``package.module:callable``.
    cache
        The file of replies; None where none are kept.
    replay
        Serve recorded replies and nothing else.
    max_cost
        The limit of what may be spent, in the currency of the prices.
    prices
        A file of the user's prices, laid over those that are shipped.
    """

    judge: str = LEXICAL
    model: str | None = None
    effort: str | None = None
    concurrency: int = CONCURRENCY
    cache: Path | None = None
    replay: bool = False
    max_cost: float | None = None
    prices: Path | None = None

    def __post_init__(self) -> None:
        asked: dict[str, object] = {"--model": self.model, "--effort": self.effort, "--replay": self.replay or None}
        asked |= {"--cache": self.cache, "--max-cost": self.max_cost, "--prices": self.prices}
        of_model = [name for name, value in asked.items() if value is not None]
        if backend_of(self.judge) is not None:
            if self.effort not in (None, *EFFORTS):
                raise InputError(f"--effort is {self.effort!r}", remedy=f"There are: {', '.join(EFFORTS)}.")
        elif of_model:
            raise InputError(
                f"{', '.join(of_model)}: the judge {self.judge!r} asks no model that graphkit knows",
                remedy=f"Use --judge {ANTHROPIC}, or remove the option.",
            )

    @property
    def model_name(self) -> str:
        """The model to ask for."""
        backend = backend_of(self.judge)
        return self.model or (JUDGE_MODEL if backend is None else backend.model)


@dataclass
class OpenedJudge:
    """A judge that can be asked.

    ``forget`` receives the replies that couldn't be used; ``prices`` and ``budget`` are those of a model.
    """

    judge: Judge
    forget: Callable[[str], None] = lambda _: None
    prices: PriceTable | None = None
    budget: Budget | None = None


@asynccontextmanager
async def opened(options: JudgeOptions, budget: Budget | None = None) -> AsyncIterator[OpenedJudge]:
    """Open a judge, and close it in the end.

    Parameters
    ----------
    budget
        What several openings may spend together; by default each has its own, of ``max_cost``.

    Raises
    ------
    InputError
        The judge can't be asked: a package, a key, a file of replies or a price is missing.
    """
    if (backend := backend_of(options.judge)) is None:
        yield OpenedJudge(open_judge(options.judge))
        return
    from graphkit.llm.budget import BudgetedModel
    from graphkit.llm.cache import CachedModel
    from graphkit.llm.replay import RecordedModel

    prices, own = prices_and_budget(options)
    budget = budget or own
    with _replies(options) as replies:
        if options.replay and replies is not None:
            recorded = RecordedModel(replies)
            yield OpenedJudge(model_judge(recorded, options, prices), prices=prices)
            return
        client = backend.client(options.concurrency)
        try:
            model: Model = client if budget is None else BudgetedModel(client, budget)
            if replies is None:
                yield OpenedJudge(model_judge(model, options, prices), prices=prices, budget=budget)
                return
            cached = CachedModel(model, replies)
            yield OpenedJudge(model_judge(cached, options, prices), cached.forget, prices, budget)
            replies.note_use(cached.hits, cached.misses)
        finally:
            await client.close()


@dataclass
class Collecting:
    """A model in the place of one: it serves the replies that are kept, and writes down what would be asked.

    Attributes
    ----------
    failures
        Why some requests have no reply although they were asked.
    wanted
        The requests without either, by digest.
    kept, asked
        The digests of those whose reply was kept from before, and of those that were asked since.
    """

    replies: ReplyCache | None
    failures: dict[str, ModelError] = field(default_factory=dict)
    wanted: dict[str, Request] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)

    async def ask(self, request: Request) -> Reply:
        """Return the reply that is kept.

        Raises
        ------
        ModelError
            There is none: the request is written down, or has failed before.
        """
        digest = request.digest
        reply = self.replies.get(digest) if self.replies is not None else None
        if reply is not None and digest in self.asked:
            return replace(reply, cached=False)  # it came through the cache, and is paid now
        if reply is not None:
            self.kept.add(digest)
            return reply
        if digest in self.failures:
            raise self.failures[digest]
        self.wanted[digest] = request
        raise ModelError("it isn't asked yet", label="not_asked", attempts=0)

    def asking(self) -> list[Request]:
        """Return what is wanted, to be asked now."""
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
        How many requests would be sent, and to how many a reply is kept.
    prompt_tokens
        Guessed from the length of the prompts.
    cost, most
        About what they would cost, and the most that they could; None where the price isn't known.
    """

    calls: int
    kept: int
    prompt_tokens: int
    cost: float | None
    most: float | None
    currency: str
    as_of: str


def estimate(asked: Collecting, prices: PriceTable, batch: bool) -> GradingEstimate:
    """Return what the requests that were written down would take."""
    from graphkit.llm.prices import estimated_tokens

    costs = [prices.estimate(request, ABOUT_OUTPUT, batch) for request in asked.wanted.values()]
    most = [prices.maximum_cost(request, batch) for request in asked.wanted.values()]
    return GradingEstimate(
        calls=len(asked.wanted),
        kept=len(asked.kept),
        prompt_tokens=sum(map(estimated_tokens, asked.wanted.values())),
        cost=_sum(costs),
        most=_sum(most),
        currency=prices.currency,
        as_of=prices.as_of,
    )


@asynccontextmanager
async def opened_batches(
    options: JudgeOptions, notify: Callable[[str], None]
) -> AsyncIterator[tuple[Batches, ReplyCache, PriceTable]]:
    """Open what asks a model by batches; the file of replies is what keeps them.

    Raises
    ------
    InputError
        The judge asks no model, or no replies are to be kept.
    """
    from graphkit.llm.anthropic_model import AnthropicModel
    from graphkit.llm.message_batches import Batches

    if options.judge != ANTHROPIC:
        raise InputError(f"--batch asks a model, which the judge {options.judge!r} doesn't")
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


@contextmanager
def kept_replies(options: JudgeOptions) -> Iterator[ReplyCache | None]:
    """Open the file of replies to look into it; None where there is none yet, or none is to be used."""
    from graphkit.llm.cache import ReplyCache

    with ExitStack() as stack:
        exists = options.cache is not None and options.cache.exists()
        yield stack.enter_context(ReplyCache(options.cache)) if exists and options.cache is not None else None


def model_judge(model: Model, options: JudgeOptions, prices: PriceTable) -> ModelJudge:
    """Return the judge that asks a model."""
    name = options.model_name
    return ModelJudge(
        model,
        options.judge,
        name,
        effort=options.effort,
        cost=lambda reply: prices.cost(name, reply.usage, reply.batch),
    )


def prices_and_budget(options: JudgeOptions) -> tuple[PriceTable, Budget | None]:
    """Return the prices of models, and what may be spent where that is limited.

    Raises
    ------
    InputError
        The file of prices can't be used, or the price of the model that is to be limited isn't known.
    """
    from graphkit.llm.budget import Budget
    from graphkit.llm.prices import PriceTable

    prices = PriceTable.read(options.prices)
    budget = None if options.max_cost is None else Budget(options.max_cost, prices, [options.model_name])
    return prices, budget


@contextmanager
def _replies(options: JudgeOptions) -> Iterator[ReplyCache | None]:
    from graphkit.llm.cache import ReplyCache

    if options.cache is None:
        if options.replay:
            raise InputError("--replay reads recorded replies, and --no-cache forbids it")
        yield None
        return
    with ReplyCache(options.cache, must_exist=options.replay) as replies:
        yield replies


def _sum(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return None if len(known) < len(costs) else sum(known)
