"""Processes of this machine, where one that dies costs only the task that it was working on."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context, parent_process, resource_tracker, util
from typing import Any, TypeVar

from graphkit.errors import InputError
from graphkit.shards.executors import EndedExecutorError, Engine, no_resources

T = TypeVar("T")


@contextmanager
def opened_processes(engine: Engine) -> Iterator[Executor]:
    """Open processes of this machine: ``processes`` or ``processes=N``."""
    if engine.resources:
        raise no_resources("processes", engine.resources)
    if engine.address is not None:
        raise InputError(
            f"{engine.address!r} isn't a number of processes", where="--on", remedy="Write processes=4, or processes."
        )
    executor = SeparateProcesses(engine.local_workers())
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


class SeparateProcesses(Executor):
    """An executor of single processes, each started again if it dies.

    A :class:`~concurrent.futures.ProcessPoolExecutor` is lost as a whole when one of its processes is killed; here
    each thread has a pool of one process. Processes are spawned, since forking is unsafe beside threads. Those that
    still work at the shutdown are killed; a process ends by itself when this one is killed.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._threads = ThreadPoolExecutor(workers, "graphkit-worker")
        self._own = threading.local()
        self._lock = threading.Lock()
        self._pools: dict[ProcessPoolExecutor, int] = {}
        self._ended = False
        start_tracker()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a task in one of the processes; a future of a task whose process dies raises ``BrokenExecutor``."""
        if self._ended:
            raise EndedExecutorError
        return self._threads.submit(self._run, fn, args, kwargs)

    def _run(self, fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        pool: ProcessPoolExecutor = getattr(self._own, "pool", None) or self._started()
        try:
            return pool.submit(fn, *args, **kwargs).result()
        except RuntimeError as error:
            if self._ended:
                raise EndedExecutorError from None
            if isinstance(error, BrokenExecutor):
                self._own.pool = None
                with self._lock:
                    self._pools.pop(pool, None)
                pool.shutdown()
            raise

    def _started(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, get_context("spawn"), _begin)
        with interrupts_held():
            begun = pool.submit(os.getpid)
        process = begun.result()
        with self._lock:
            self._pools[pool] = process
            ended = self._ended
        if ended:
            _kill(process)
        self._own.pool = pool
        return pool

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: at once if waiting tasks are cancelled, else after their tasks."""
        if cancel_futures:
            with self._lock:
                self._ended = True
                processes = [*self._pools.values()]
            for process in processes:
                _kill(process)
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for pool in [*self._pools]:
            pool.shutdown(wait=wait)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let processes start without Ctrl-C, until they ignore it themselves: one that imports would print a traceback."""
    if sys.platform == "win32":
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def start_tracker() -> None:
    """Start the process that removes the semaphores of a killed one, which then does so without a warning."""
    sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()
    _end_tracker_at_exit()


@cache
def _end_tracker_at_exit() -> None:
    """End the tracker before this process ends: by itself it would notice that later, and outlive a command.

    After every other finalizer, since those of semaphores would start it again.
    """
    stop: Callable[[], None] = resource_tracker._resource_tracker._stop  # type: ignore[attr-defined]
    util.Finalize(None, stop, exitpriority=-100)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _begin() -> None:
    """Begin a process: Ctrl-C is for the one that started it, and so is standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    sys.stdout = sys.stderr
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ends."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
