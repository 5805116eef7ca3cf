"""Dask: one future of ``distributed`` per task, on a running cluster or on a local one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from graphkit.shards.executors import Engine, check_offered, needs, unreachable

T = TypeVar("T")

#: Seconds to wait for the scheduler of a running cluster.
PATIENCE = 20.0


@contextmanager
def opened_dask(engine: Engine) -> Iterator[Executor]:
    """Open a cluster of Dask: ``dask=ADDRESS``, or a local one of processes on loopback: ``dask``, ``dask=N``."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise needs("dask", "distributed") from None
    # The default stops a task after three lost workers; here that is counted once, for every engine (see work.py).
    quiet = {"distributed.scheduler.allowed-failures": 0, "distributed.admin.tick.limit": "1h"}
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        try:
            place: Any = engine.address
            if place is None:
                place = stack.enter_context(
                    LocalCluster(
                        n_workers=engine.local_workers(),
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                        worker_dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                    )
                )
            client = stack.enter_context(Client(place, timeout=PATIENCE, set_as_default=False))
        except (OSError, ValueError) as error:  # a timeout is an OSError; an address that isn't one a ValueError
            raise unreachable(engine, error) from None
        if engine.resources:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            check_offered(engine, engine.resources, [each["resources"] for each in workers])
        yield DaskExecutor(client, engine)


class DaskExecutor(Executor):
    """Tasks as futures of a Dask client."""

    def __init__(self, client: Any, engine: Engine) -> None:
        options = {"resources": dict(engine.resources)} if engine.resources else {}
        self._client = client
        self._executor = client.get_executor(pure=False, **options)

    @property
    def workers(self) -> int:
        """The number of tasks that the cluster runs at once."""
        running: int = sum(self._client.nthreads().values())
        return max(1, running)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a task."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future
