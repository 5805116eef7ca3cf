"""The executors behind ``--on``: entry points of the group ``graphkit.executors``, graphkit's own included.

An entry point leads to a function that takes an :class:`Engine` and returns a context manager of a
:class:`concurrent.futures.Executor`. Such an executor may have an attribute ``workers``: how many tasks run at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from graphkit.errors import GraphkitError, InputError, did_you_mean
from graphkit.records.plugins import called_with, installed, load
from graphkit.records.words import counted

T = TypeVar("T")

GROUP = "graphkit.executors"


class EndedExecutorError(RuntimeError):
    """The executor was shut down while a task waited or was under way: no worker was lost, and nothing is repeated."""


class LostClusterError(GraphkitError):
    """A cluster of which a part that nothing replaces has died: no attempt at its tasks helps (exit code 3)."""

    exit_code = 3


@dataclass(frozen=True)
class Engine:
    """An executor as ``--on NAME=PLACE`` names it.

    Parameters
    ----------
    name
        The name of the entry point.
    address
        The address of a cluster, or None for a local one.
    workers
        How many workers a local cluster has; by default one per core.
    resources
        What each task needs beside a core, such as ``{"gpu": 1}``, in the words of the cluster.
    """

    name: str
    address: str | None = None
    workers: int | None = None
    resources: Mapping[str, float] = field(default_factory=dict)

    def local_workers(self) -> int:
        """Return how many workers a local cluster gets."""
        if self.workers is not None:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InThisProcess(Executor):
    """An executor that runs each task at once, in the thread that submits it."""

    workers = 1

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a task, and return a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def opened_executor(
    on: str | Executor | None, *, resources: Mapping[str, float] | None = None
) -> AbstractContextManager[Executor]:
    """Open the executor that an option names; the end of the block shuts down what was started here.

    Parameters
    ----------
    on
        None for this process; ``processes``, ``dask`` or ``ray``, each with ``=N`` for N local workers;
        ``dask=ADDRESS`` or ``ray=ADDRESS`` for a running cluster; or an executor, which isn't shut down.
    resources
        What each task needs beside a core, such as ``{"gpu": 1}``.

    Raises
    ------
    InputError
        The name isn't known, its library isn't installed, the cluster can't be reached, or the executor knows no
        resources.
    """
    wanted = dict(resources or {})
    if on is None or isinstance(on, Executor):
        if wanted:
            place = "this process" if on is None else type(on).__name__
            raise no_resources(place, wanted)
        return nullcontext(InThisProcess() if on is None else on)
    engine = parsed(on, wanted)
    known = installed(GROUP)
    if engine.name.casefold() not in known:
        hint = did_you_mean(engine.name, known)
        raise InputError(
            f"no executor is called {engine.name!r}",
            where="--on",
            remedy=f"{hint}Known are: {', '.join(sorted(known))}.",
        )
    open_it = load(known[engine.name.casefold()], InputError, f"--on {engine.name}", called_with(1))
    opened: AbstractContextManager[Executor] = open_it(engine)
    return opened


def parsed(on: str, resources: Mapping[str, float] | None = None) -> Engine:
    """Return what a text such as ``dask=tcp://HOST:8786`` asks for.

    >>> parsed("processes=4")
    Engine(name='processes', address=None, workers=4, resources={})

    Raises
    ------
    InputError
        It asks for no worker at all.
    """
    name, _, place = on.partition("=")
    if place.isdecimal():
        if int(place) < 1:
            raise InputError(f"{on!r} asks for no worker", where="--on", remedy=f"Write {name}=1 or more.")
        return Engine(name, None, int(place), resources or {})
    return Engine(name, place or None, None, resources or {})


def workers_of(executor: Executor) -> int:
    """Return how many tasks an executor runs at once, as far as it shows that."""
    shown = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None)
    return shown if isinstance(shown, int) else os.cpu_count() or 1


def no_resources(place: str, resources: Mapping[str, float]) -> InputError:
    """Return the error that an executor can't reserve what a task needs."""
    wanted = ", ".join(f"{name}={amount:g}" for name, amount in resources.items())
    return InputError(
        f"{place} can't reserve resources ({wanted})",
        where="--resources",
        remedy="Leave the option out, or use --on dask=ADDRESS or --on ray=ADDRESS, whose workers declare theirs.",
    )


def check_offered(engine: Engine, wanted: Mapping[str, float], offered: Sequence[Mapping[str, float]]) -> None:
    """Refuse resources that no machine of a cluster offers: its tasks would wait forever.

    Raises
    ------
    InputError
        There are machines, and none offers enough.
    """
    if offered and not any(all(each.get(name, 0) >= amount for name, amount in wanted.items()) for each in offered):
        known = sorted({f"{name}={amount:g}" for each in offered for name, amount in each.items() if ":" not in name})
        asked = ", ".join(f"{name}={amount:g}" for name, amount in engine.resources.items())
        raise InputError(
            f"no worker of the {engine.name} cluster offers {asked}",
            where="--resources",
            remedy=f"The workers declare: {', '.join(known) or 'nothing'}. Start workers with what a task needs.",
        )


def needs(extra: str, package: str) -> InputError:
    """Return the error that the library of an executor isn't installed."""
    return InputError(
        f"--on {extra} needs {package}, which isn't installed",
        remedy=f"pip install 'graphkit-eval[{extra}]', or use --on processes.",
    )


def unreachable(engine: Engine, error: BaseException) -> InputError:
    """Return the error that a cluster doesn't answer."""
    from graphkit.records.secrets import masked_message

    return InputError(
        f"the {engine.name} cluster can't be reached: {masked_message(str(error) or type(error).__name__)}",
        where=_place(engine),
        remedy="Check the address, and that its scheduler is running with the same versions as here.",
    )


def lost(engine: Engine, what: str | BaseException) -> LostClusterError:
    """Return the error that a cluster has died: the part that did, or what its library raised at its start."""
    from graphkit.records.secrets import masked_message

    if not isinstance(what, str):
        reason = masked_message(str(what).strip().partition("\n")[0].rstrip(".")) or type(what).__name__
        what = f"it died while it started ({reason})"
    return LostClusterError(
        f"the {engine.name} cluster is lost: {what}",
        where=_place(engine),
        remedy="Run the command again: finished parts that it kept are reused.",
    )


def _place(engine: Engine) -> str:
    from graphkit.records.secrets import masked_message

    return masked_message(engine.address or f"a local cluster of {counted(engine.local_workers(), 'worker')}")
