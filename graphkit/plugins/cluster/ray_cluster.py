"""Ray: one ``ray.remote`` call per task, on a running cluster or on a local one."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from graphkit.errors import InputError
from graphkit.shards.executors import Engine, check_offered, needs, unreachable

T = TypeVar("T")

#: No statistics are sent, and no notes printed that a user of graphkit can't act on.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

#: Seconds to wait for a running cluster.
PATIENCE = 20.0

#: How Ray calls resources that its tasks have options for.
_OPTIONS = {"cpu": "num_cpus", "gpu": "num_gpus", "memory": "memory"}
_DECLARED = {"cpu": "CPU", "gpu": "GPU"}


@contextmanager
def opened_ray(engine: Engine) -> Iterator[Executor]:
    """Open a cluster of Ray: ``ray=ADDRESS``, or a local one on loopback: ``ray``, ``ray=N``.

    A connection that the caller has already is used if no address is given, and stays.
    """
    # What Ray reads when it is imported. By itself, a local cluster listens on every interface, except on macOS.
    loopback = {} if engine.address else {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    for name, value in (_QUIET | loopback).items():
        os.environ.setdefault(name, value)
    try:
        import ray
        from ray import is_initialized
    except ImportError:
        raise needs("ray", "ray") from None
    own = not is_initialized()
    if engine.address is not None and not own:
        raise InputError(
            "Ray is connected already", where="--on", remedy="Name no address to use that connection, or end it first."
        )
    try:
        if own:
            _check_listening(engine.address)
            local: dict[str, Any] = {
                "num_cpus": engine.local_workers(),
                "include_dashboard": False,
                "_node_ip_address": "127.0.0.1",
            }
            ray.init(
                engine.address or "local",
                logging_level=logging.ERROR,
                log_to_driver=False,
                **({} if engine.address else local),
            )
    except (OSError, ValueError, RuntimeError) as error:  # a timeout is an OSError
        ray.shutdown()
        raise unreachable(engine, error) from None
    try:
        if engine.resources:
            wanted = {_DECLARED.get(name.lower(), name): amount for name, amount in engine.resources.items()}
            check_offered(engine, wanted, [node["Resources"] for node in ray.nodes() if node["Alive"]])
        with _notes_on_stderr():
            yield RayExecutor(engine.resources)
    finally:
        if own:
            ray.shutdown()


def _check_listening(address: str | None) -> None:
    """Raise an OSError if nobody listens at an address: Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


@contextmanager
def _notes_on_stderr() -> Iterator[None]:
    """Print what Ray notes about lost workers to standard error: it knows standard output alone, without an option."""
    from ray._private import worker

    printed = getattr(worker, "print_to_stdstream", None)
    if printed is None:
        yield
        return
    worker.print_to_stdstream = lambda data, ignore_prefix: printed({**data, "is_err": True}, ignore_prefix)
    try:
        yield
    finally:
        worker.print_to_stdstream = printed


class RayExecutor(Executor):
    """Tasks as remote calls of Ray, which is connected."""

    def __init__(self, resources: Mapping[str, float]) -> None:
        self._options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0}  # see work.py for attempts
        for name, amount in resources.items():
            if name.lower() in _OPTIONS:
                self._options[_OPTIONS[name.lower()]] = amount
            else:
                self._options.setdefault("resources", {})[name] = amount

    @property
    def workers(self) -> int:
        """The number of tasks that the cluster runs at once."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a task."""
        import ray

        future: Future[T] = ray.remote(fn).options(**self._options).remote(*args, **kwargs).future()
        return future
