"""Dask: one future of ``distributed`` per task, on a running cluster or on a local one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import active_children
from typing import Any, TypeVar

from graphkit.files.leftovers import held_folder
from graphkit.shards.executors import Engine, check_offered, lost, needs, unreachable
from graphkit.shards.processes import interrupts_held, start_tracker

T = TypeVar("T")

#: Seconds to wait for the scheduler of a running cluster.
PATIENCE = 20.0

#: Seconds in which a local worker that died must be back: one that dies while it starts isn't started again by its
#: nanny, and without any workers tasks would wait for ever.
BACK_WITHIN = 60


@contextmanager
def opened_dask(engine: Engine) -> Iterator[Executor]:
    """Open a cluster of Dask: ``dask=ADDRESS``, or a local one of processes on loopback: ``dask``, ``dask=N``."""
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise needs("dask", "distributed") from None
    # The default stops a task after three lost workers; here that is counted once, for every engine (see work.py).
    quiet = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.admin.tick.limit": "1h",
        "distributed.deploy.lost-worker-timeout": f"{BACK_WITHIN}s",
    }
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        stack.enter_context(_one_error())
        try:
            place = stack.enter_context(_local_cluster(engine)) if engine.address is None else engine.address
            client = stack.enter_context(Client(place, timeout=PATIENCE, set_as_default=False))
        except (OSError, ValueError) as error:  # a timeout is an OSError; an address that isn't one a ValueError
            raise unreachable(engine, error) from None
        if engine.resources:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            check_offered(engine, engine.resources, [each["resources"] for each in workers])
        yield DaskExecutor(client, engine)


@contextmanager
def _one_error() -> Iterator[None]:
    """Leave it to graphkit to say that the scheduler is gone: the client logs tracebacks of its attempts to return."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def _local_cluster(engine: Engine) -> Iterator[Any]:
    """Yield a local cluster that replaces its workers; of its processes and files nothing is left at the end."""
    import dask
    from distributed import LocalCluster

    with (
        held_folder() as folder,
        dask.config.set({"temporary-directory": str(folder)}),
        _none_left(),
        _loop_without_interrupts() as loop,
    ):
        try:
            cluster = LocalCluster(
                loop=loop,
                n_workers=engine.local_workers(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                worker_dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        except Exception as error:  # Dask has no type for workers that die while they start
            raise lost(engine, error) from None
        with cluster:
            cluster.adapt(minimum=engine.local_workers(), maximum=engine.local_workers())
            yield cluster


@contextmanager
def _loop_without_interrupts() -> Iterator[Any]:
    """Yield a loop whose thread and the workers that it starts get no Ctrl-C, for which they would print tracebacks."""
    from distributed.utils import LoopRunner

    runner = LoopRunner()
    with interrupts_held():
        runner.start()
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def _none_left() -> Iterator[None]:
    """End what Dask leaves of the workers that it started in the block."""
    start_tracker()
    before = {process.pid for process in active_children()}
    try:
        yield
    finally:
        for process in active_children():
            if process.pid not in before and process.name.startswith("Dask Worker"):
                process.kill()
                process.join()


class DaskExecutor(Executor):
    """Tasks as futures of a Dask client."""

    def __init__(self, client: Any, engine: Engine) -> None:
        self._client = client
        self._engine = engine
        self._options = {"resources": dict(engine.resources)} if engine.resources else {}

    @property
    def workers(self) -> int:
        """The number of tasks that the cluster runs at once."""
        running: int = sum(self._client.nthreads().values())
        return max(1, running)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a task; its result leaves the cluster at once.

        A worker that dies would otherwise have all tasks repeated whose results it still keeps for somebody.
        """
        if self._client.status != "running":
            raise lost(self._engine, "its scheduler is gone")
        task = self._client.submit(fn, *args, pure=False, **self._options, **kwargs)
        future: Future[T] = Future()
        future.add_done_callback(partial(self._cancel, task))
        task.add_done_callback(partial(self._settle, future))
        return future

    def _cancel(self, task: Any, future: Future[Any]) -> None:
        """Cancel a task whose future was cancelled, while there is a cluster."""
        if future.cancelled() and self._client.status == "running":
            task.cancel()

    def _settle(self, future: Future[Any], task: Any) -> None:
        """Give a future the result of a task, and release the task."""
        try:
            error = task.exception()
            value = task.result() if error is None else None
        except BaseException as ended:  # it was cancelled, or the connection ended
            error, value = ended, None
        if error is not None and self._client.status != "running":
            error = lost(self._engine, "its scheduler is gone")
        task.release()
        with contextlib.suppress(InvalidStateError):  # it was cancelled
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(value)
