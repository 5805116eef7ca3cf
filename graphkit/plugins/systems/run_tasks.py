"""Runs systems in the workers of an executor: each task asks a chunk of questions, and each record goes to the driver.

A record is kept when its question ends, as in one process, so a worker that dies loses only the calls under way. Its
chunk is repeated by another worker, which asks what is left.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from graphkit.errors import InputError
from graphkit.files.problems import Ignored, Problems
from graphkit.files.reading import parse_record
from graphkit.plugins.systems.answers import line_of
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import System, load_system
from graphkit.plugins.systems.runner import CallBudget, Limits, Runner, Task, in_turns
from graphkit.records.models import Answer, Question
from graphkit.records.usage import Prices
from graphkit.shards.chunks import chunk_size
from graphkit.shards.driver_link import DriverLink
from graphkit.shards.driver_service import Contact, Handler, serving
from graphkit.shards.event_loop import call_in_thread
from graphkit.shards.work import in_order


@dataclass(frozen=True)
class Served:
    """The calls of workers that the driver answers for a system, and what it does once a question is done."""

    handlers: Mapping[str, Handler]
    done: Callable[[str], None]


@runtime_checkable
class DrivenCall(Protocol):
    """A system that keeps a part with the driver, such as the client of a model, and uses it there from workers."""

    def sent(self) -> DrivenCall:
        """Return it as it is sent to a worker, without that part."""
        ...

    def opened(self, send: Callable[[str, Any], Future[Any]]) -> DrivenCall:
        """Return it in a worker, which calls a handler of the driver by its name."""
        ...

    def served(self) -> Served:
        """Return what the driver does for it."""
        ...

    async def __call__(self, question: Question, context: Context) -> dict[str, Any]:
        """Answer a question."""
        ...


@dataclass(frozen=True)
class SentSystem:
    """A system on its way to a worker, which imports it by its reference if it has one."""

    name: str
    system: System | None
    reference: str | None

    @classmethod
    def of(cls, system: System) -> SentSystem:
        """Return what is sent for a system."""
        if system.reference is not None:
            return cls(system.name, None, system.reference)
        if isinstance(system.call, DrivenCall):
            system = dataclasses.replace(system, call=system.call.sent())
        return cls(system.name, system, None)

    def opened(self, link: DriverLink) -> System:
        """Return the system in a worker."""
        if self.system is None:
            return load_system(f"{self.name}={self.reference}")
        if isinstance(self.system.call, DrivenCall):
            return dataclasses.replace(self.system, call=self.system.call.opened(link.send))
        return self.system


@dataclass(frozen=True)
class _Asked:
    """A question for a system, by its place in the chunk's systems, and what its context holds."""

    system: int
    question: Question
    commits: Mapping[str, str]
    k: int


@dataclass(frozen=True)
class _AskingTask:
    """The work of one task."""

    contact: Contact
    systems: tuple[SentSystem, ...]
    asked: tuple[_Asked, ...]
    dataset: Path
    limits: Limits
    prices: Prices | None
    strict: bool
    budgeted: bool


@dataclass
class RunnerOnExecutor:
    """Runs tasks in the workers of an executor, as :class:`graphkit.plugins.systems.runner.Runner` does in one process.

    Attributes
    ----------
    limits
        For each task: an executor with so many workers asks so many times as many questions at once.
    host
        The address at which workers reach this process.
    """

    executor: Executor
    keep: Callable[[Task, Answer], None]
    dataset: Path
    limits: Limits
    prices: Prices | None
    problems: Problems
    host: str
    notify: Callable[[str], None]
    budget: CallBudget | None = None

    async def run(self, jobs: Sequence[Task]) -> None:
        """Run all tasks.

        Raises
        ------
        InputError
            A worker can't import a system, or a record can't be written.
        GraphkitError
            A worker of a chunk died again and again.
        """
        by_name = {(job.system.name, job.question.id): job for job in jobs}
        left = dict.fromkeys(by_name)
        served: Served | None = None

        async def left_of(value: Any) -> list[bool]:
            stopped = self.budget is not None and self.budget.stopped
            return [not stopped and (run, question) in left for run, question in value]

        async def begin(value: Any) -> bool:
            return self.budget is None or await self.budget.begin(*value)

        async def keep(value: Any) -> None:
            name = value["run"], value["question"]
            answer = parse_record(Answer, value["record"].encode(), f"{name[0]}:0", Problems())
            if answer is None:
                raise InputError("a worker sent no record", where=f"{name[0]}: {name[1]}")
            self.problems.merge(_ignored(value["ignored"]))
            if name in left:
                del left[name]
                self.keep(by_name[name], answer)
            if served is not None:
                served.done(name[1])

        async def history(value: Any) -> list[list[str]]:
            told = by_name[value[0], value[1]].context().history
            return [[one.model_dump_json(), answer.model_dump_json()] for one, answer in told]

        handlers: dict[str, Handler] = {"left": left_of, "keep": keep, "begin": begin, "history": history}
        for job in jobs:
            if isinstance(job.system.call, DrivenCall):
                served = job.system.call.served()
                handlers |= served.handlers
                break
        async with serving(handlers, self.host, self.notify) as contact:
            chunks = [*self._chunks(jobs, contact)]
            await call_in_thread(deque, in_order(self.executor, ask_chunk, chunks, say=self.notify), 0)

    def _chunks(self, jobs: Sequence[Task], contact: Contact) -> Iterator[tuple[str, _AskingTask]]:
        systems = list({id(job.system): job.system for job in jobs}.values())
        places = {id(system): place for place, system in enumerate(systems)}
        sent = tuple(map(SentSystem.of, systems))
        size = chunk_size(len(jobs), self.limits.concurrency)
        some: list[Task] = []
        for left, turns in zip(range(len(groups := in_turns(jobs)) - 1, -1, -1), groups, strict=True):
            some += turns  # a session is the work of one task
            if left and len(some) < size:
                continue
            asked = []
            for job in some:
                context = job.context()
                asked.append(_Asked(places[id(job.system)], job.question, context.commits, context.k))
            name = f"questions {some[0].question.id} to {some[-1].question.id}"
            how = self.limits, self.prices, self.problems.strict, self.budget is not None
            chunk = _AskingTask(contact, sent, tuple(asked), self.dataset, *how)
            yield name, chunk
            some = []


def ask_chunk(chunk: _AskingTask) -> None:
    """Ask the questions of a chunk that are left, and send each record to the driver; called in a worker."""
    with DriverLink(chunk.contact) as link:
        names = [[chunk.systems[one.system].name, one.question.id] for one in chunk.asked]
        left = [one for one, is_left in zip(chunk.asked, link.call("left", names), strict=True) if is_left]
        kept: list[Future[Any]] = []

        def keep(job: Task, answer: Answer) -> None:
            ignored, runner.problems = runner.problems, Problems(strict=chunk.strict)
            record = {"run": job.system.name, "question": job.question.id, "record": line_of(answer).decode()}
            kept.append(link.send("keep", {**record, "ignored": _as_json(ignored)}))
            while kept and kept[0].done():
                kept.pop(0).result()

        async def begin(run: str, question: str) -> bool:
            return bool(await asyncio.wrap_future(link.send("begin", [run, question])))

        strict, asks = Problems(strict=chunk.strict), begin if chunk.budgeted else None
        runner = Runner(keep, chunk.limits, chunk.prices, strict, asks)
        link.run(runner.run(_tasks(chunk, left, link)))
        for future in kept:
            future.result()


def _tasks(chunk: _AskingTask, left: Sequence[_Asked], link: DriverLink) -> list[Task]:
    opened: dict[int, System] = {}
    tasks = []
    for one in left:
        if one.system not in opened:
            opened[one.system] = chunk.systems[one.system].opened(link)
        system = opened[one.system]
        context = partial(_context, chunk.dataset, system.name, one, link)
        tasks.append(Task(system, one.question, context))
    return tasks


def _context(dataset: Path, run: str, one: _Asked, link: DriverLink) -> Context:
    told = link.call("history", [run, one.question.id]) if (one.question.turn or 1) > 1 else ()
    history = ((Question.model_validate_json(asked), Answer.model_validate_json(answer)) for asked, answer in told)
    return Context(dataset, run, one.commits, one.k, tuple(history))


def _as_json(problems: Problems) -> list[list[Any]]:
    """Return the unknown fields of answers, the only problems that these have."""
    return [[*key, count, *problems.first_ignored[key]] for key, count in problems.ignored_fields.items()]


def _ignored(rows: Sequence[Sequence[Any]]) -> Problems:
    found = Problems()
    for file, name, count, where, closest in rows:
        found.ignored_fields[file, name] += count
        found.first_ignored[file, name] = Ignored(where, closest)
    return found
