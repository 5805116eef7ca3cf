"""Runs systems on questions concurrently, each call with a time-out and retries."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from graphkit.files.problems import Problems
from graphkit.plugins.systems.answers import answer_of, failed_answer
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import System
from graphkit.records.models import Answer, Question
from graphkit.records.usage import Prices
from graphkit.shards.event_loop import call_in_thread, in_parallel

#: Seconds after which an event loop that doesn't react counts as blocked.
_PATIENCE = 1.0
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class Limits:
    """The number of concurrent questions, and the time and attempts that each one has.

    The pause before the first retry is ``backoff`` seconds, and doubles each time.
    """

    concurrency: int = 4
    timeout: float = 120.0
    retries: int = 0
    backoff: float = 0.5


class CallBudget(Protocol):
    """The limits on the calls of a run.

    ``stopped`` is the limit that was reached, as the user gave it, and ``cut_short`` holds the run and question of each
    failed try that it let have no other.
    """

    stopped: str | None
    cut_short: set[tuple[str, str]]

    async def begin(self, run: str, question: str) -> bool:
        """Return whether a call may begin, and count it."""
        ...

    def end(self, run: str, question: str, answer: Answer) -> None:
        """Count what a question took, whose record is kept; raise InputError if a limit can't be held."""
        ...


@dataclass(frozen=True)
class Task:
    """One question for one system, without its gold."""

    system: System
    question: Question
    context: Callable[[], Context]


def in_turns(jobs: Iterable[Task]) -> list[list[Task]]:
    """Return the tasks of each session and system in the order of their turns, and every other task alone."""
    found: dict[object, list[Task]] = {}
    for place, job in enumerate(jobs):
        found.setdefault(place if job.question.turn is None else (job.system.name, job.question.session), []).append(
            job
        )
    return [sorted(some, key=lambda job: job.question.turn or 0) for some in found.values()]


@dataclass(frozen=True)
class _Outcome:
    """The outcome of one attempt."""

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0


@dataclass
class Runner:
    """Runs tasks, and passes each record to ``keep`` when its task ends.

    A sync system runs in threads, an async one in its own event loop, so a system that blocks stops neither the
    time-outs nor another system. Nothing can end a thread from outside: one that hangs stays behind, but doesn't keep
    the process alive. ``begin`` says by run and question whether another call may begin; without it, any may.
    """

    keep: Callable[[Task, Answer], None]
    limits: Limits = field(default_factory=Limits)
    prices: Prices | None = None
    problems: Problems = field(default_factory=Problems)
    begin: Callable[[str, str], Awaitable[bool]] | None = None
    _loops: dict[int, _Loop] = field(default_factory=dict, repr=False)

    async def run(self, jobs: Iterable[Task]) -> None:
        """Run all tasks, those of a session in turn, also after one that failed.

        If ``keep`` raises, or this is cancelled, abandon those under way.
        """

        async def work(turns: list[Task]) -> None:
            for job in turns:
                if (answer := await self._answer(job)) is not None:
                    self.keep(job, answer)

        try:
            await in_parallel(in_turns(jobs), work, self.limits.concurrency)
        finally:
            for loop in self._loops.values():
                await loop.stop()

    async def _answer(self, job: Task) -> Answer | None:
        """Return the record of a question; None if it may not be asked, or not as often as its retries allow."""
        context, outcome = job.context(), _Outcome()
        for attempt in range(self.limits.retries + 1):
            if attempt:
                await asyncio.sleep(min(self.limits.backoff * 2 ** (attempt - 1), _LONGEST_PAUSE))
            # Each attempt has its own cancel flag: an abandoned one must not stop the next.
            if self.begin is not None and not await self.begin(job.system.name, job.question.id):
                return None
            context.cancelled = threading.Event()
            outcome = await self._attempt(job, context)
            if outcome.error is None:
                break
        return self._measured(self._record(job, outcome), outcome, context)

    def _record(self, job: Task, outcome: _Outcome) -> Answer:
        run, question = job.system.name, job.question.id
        if outcome.error is not None:
            return failed_answer(run, question, outcome.error)
        try:
            return answer_of(outcome.value, run, question, self.problems)
        except Exception as error:  # reading the parts of a returned object may raise anything
            return failed_answer(run, question, error)

    def _measured(self, answer: Answer, outcome: _Outcome, context: Context) -> Answer:
        """Add the figures that the answer lacks: measured, counted, the cost by prices, the time of a failure."""
        found: dict[str, Any] = {"latency_ms": round(outcome.seconds * 1000, 3), **asdict(context.meter)}
        known = {name: value for name in found if (value := getattr(answer, name)) is not None}
        values = {**found, **known}
        prompt, output = values["prompt_tokens"], values["output_tokens"]
        if values["cost"] is None and self.prices is not None and (prompt is not None or output is not None):
            values["cost"] = self.prices.of(prompt or 0, output or 0)
        values["failed_at"] = None if answer.error is None else datetime.now(UTC).isoformat(timespec="milliseconds")
        return answer.model_copy(update=values)

    async def _attempt(self, job: Task, context: Context) -> _Outcome:
        future: asyncio.Future[_Outcome]
        arguments = (job.question, context) if job.system.takes_context else (job.question,)
        loop: _Loop | None = None
        if job.system.is_async:
            if id(job.system) not in self._loops:
                self._loops[id(job.system)] = _Loop()
            loop = self._loops[id(job.system)]
            future = loop.submit(job.system.call, arguments)
        else:
            future = asyncio.ensure_future(_in_thread(job.system.call, arguments))
        begun = time.perf_counter()
        try:
            await asyncio.wait({future}, timeout=self.limits.timeout)
        except asyncio.CancelledError:
            context.cancelled.set()
            future.cancel()
            raise
        if future.done():
            return future.result()
        seconds = time.perf_counter() - begun
        context.cancelled.set()
        future.cancel()
        if loop is not None and not await loop.reacts() and self._loops.get(id(job.system)) is loop:
            self._loops[id(job.system)] = _Loop()
        return _Outcome(error=TimeoutError(f"no answer within {self.limits.timeout:g} s"), seconds=seconds)


async def _in_thread(call: Callable[..., Any], arguments: tuple[Any, ...]) -> _Outcome:
    """Call a sync system in its own thread, which doesn't keep the process alive."""
    try:
        return await call_in_thread(_called, call, arguments)
    except RuntimeError as error:  # no thread can be started
        return _Outcome(error=error)


def _called(call: Callable[..., Any], arguments: tuple[Any, ...]) -> _Outcome:
    begun = time.perf_counter()
    try:
        value = call(*arguments)
        if inspect.isawaitable(value):
            value = asyncio.run(_awaited(value))
    except BaseException as error:
        return _Outcome(error=error, seconds=time.perf_counter() - begun)
    return _Outcome(value=value, seconds=time.perf_counter() - begun)


async def _awaited(value: Any) -> Any:
    return await value


class _Loop:
    """An event loop in its own thread, for the calls of one async system."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="graphkit-loop", daemon=True)
        self._thread.start()

    def submit(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> asyncio.Future[_Outcome]:
        """Start a call; its outcome includes its exceptions."""

        async def work() -> _Outcome:
            begun = time.perf_counter()
            try:
                value = await call(*arguments)
            except BaseException as error:  # even SystemExit, which would end the loop for all questions
                return _Outcome(error=error, seconds=time.perf_counter() - begun)
            return _Outcome(value=value, seconds=time.perf_counter() - begun)

        return self._start(work())

    async def reacts(self) -> bool:
        """Return whether the loop runs, rather than being blocked by a call."""
        probe = self._start(asyncio.sleep(0))
        await asyncio.wait({probe}, timeout=_PATIENCE)
        if not probe.done():
            probe.cancel()
            return False
        return True

    async def stop(self) -> None:
        """Cancel the calls under way and end the thread; leave a blocked one behind."""
        ending = self._start(_cancel_all())
        await asyncio.wait({ending}, timeout=_PATIENCE)
        if not ending.done():
            ending.cancel()
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self._loop.close()

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))


async def _cancel_all() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_PATIENCE / 2)
