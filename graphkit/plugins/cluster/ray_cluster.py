"""Ray: one ``ray.remote`` call per task, on a running cluster or on a local one."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from graphkit.errors import InputError
from graphkit.files.leftovers import held_folder
from graphkit.plugins.cluster.ray_watch import PATIENCE, LocalProcesses, RayWatch
from graphkit.shards.executors import Engine, check_offered, lost, needs, unreachable

T = TypeVar("T")

#: No statistics are sent, and no notes printed that a user of graphkit can't act on.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

#: Seconds after which Ray ends a process for a lost GCS, by default a minute: a day, since the watch notices it.
_RECONNECTING = {"gcs_rpc_server_reconnect_timeout_s": 86_400}

#: The longest folder in which a local cluster's own is made.
LONGEST_PLACE = 30

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
    if is_initialized():
        if engine.address is not None:
            raise InputError(
                "Ray is connected already",
                where="--on",
                remedy="Name no address to use that connection, or end it first.",
            )
        opened = _used(engine)
    else:
        opened = _connected(engine) if engine.address else _local_cluster(engine)
    with opened as watch, _notes_on_stderr(watch):
        if engine.resources:
            wanted = {_DECLARED.get(name.lower(), name): amount for name, amount in engine.resources.items()}
            check_offered(engine, wanted, [node["Resources"] for node in ray.nodes() if node["Alive"]])
        yield RayExecutor(engine.resources, watch)


@contextmanager
def _used(engine: Engine) -> Iterator[RayWatch]:
    """Use the connection of the caller, whose end is the caller's."""
    with RayWatch(engine, {}, lambda: None) as watch:
        yield watch


@contextmanager
def _connected(engine: Engine) -> Iterator[RayWatch]:
    """Connect to a running cluster, and watch it."""
    import ray

    for name, value in _RECONNECTING.items():
        os.environ.setdefault(f"RAY_{name}", str(value))
    try:
        try:
            _check_listening(engine.address)
            ray.init(engine.address, logging_level=logging.ERROR, log_to_driver=False)
        except (OSError, ValueError, RuntimeError) as error:  # a timeout is an OSError
            raise unreachable(engine, error) from None
        with RayWatch(engine, _parts(engine), lambda: None) as watch:
            yield watch
    finally:
        ray.shutdown()


@contextmanager
def _local_cluster(engine: Engine) -> Iterator[RayWatch]:
    """Start a cluster on loopback, and watch it; of its processes and files nothing is left at the end."""
    import ray

    with held_folder(_short_place()) as folder:
        processes = LocalProcesses(folder)
        try:
            try:
                ray.init(
                    "local",
                    num_cpus=engine.local_workers(),
                    include_dashboard=False,
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                    _node_ip_address="127.0.0.1",
                    _temp_dir=str(folder),
                    _system_config=_RECONNECTING,  # not by the environment: agents of a killed command wait as long
                )
                parts = _parts(engine)
            except Exception as error:  # Ray has no type for a part that dies while it starts
                raise lost(engine, error) from None
            with RayWatch(engine, parts, processes.note) as watch:
                yield watch
        finally:
            processes.note()
            ray.shutdown()
            processes.end()


def _short_place() -> Path:
    """Return the folder for a cluster's own: the paths of its sockets are bounded to some 100 characters."""
    place = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    return Path(place if len(place) <= LONGEST_PLACE else "/tmp")  # noqa: S108 - in it, a folder of our own is made


def _parts(engine: Engine) -> dict[str, tuple[str, int]]:
    """Return what nothing replaces: the GCS, and the raylet of this process; of a client's connection, its server."""
    import ray

    if engine.address and engine.address.startswith("ray://"):
        return {"client server": _host_and_port(engine.address)} if engine.address[-1].isdecimal() else {}
    context = ray.get_runtime_context()
    own = next(node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
    return {
        "GCS": _host_and_port(context.gcs_address),
        "raylet": (own["NodeManagerAddress"], int(own["NodeManagerPort"])),
    }


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    return host.strip("[]"), int(port)


def _check_listening(address: str | None) -> None:
    """Raise an OSError if nobody listens at an address: Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


@contextmanager
def _notes_on_stderr(watch: RayWatch) -> Iterator[None]:
    """Print what Ray notes about lost workers to standard error: it knows standard output alone, without an option.

    Of a lost cluster one error is said, without pages of its logs.
    """
    from ray._private import worker

    printed = getattr(worker, "print_to_stdstream", None)
    if printed is None:
        yield
        return

    def moved(data: Mapping[str, Any], ignore_prefix: str) -> None:
        if not watch.is_lost():
            printed({**data, "is_err": True}, ignore_prefix)

    worker.print_to_stdstream = moved
    try:
        yield
    finally:
        worker.print_to_stdstream = printed


class RayExecutor(Executor):
    """Tasks as remote calls of Ray, which is connected."""

    def __init__(self, resources: Mapping[str, float], watch: RayWatch) -> None:
        import ray

        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0}  # see work.py for attempts
        for name, amount in resources.items():
            if name.lower() in _OPTIONS:
                options[_OPTIONS[name.lower()]] = amount
            else:
                options.setdefault("resources", {})[name] = amount
        self._watch = watch
        # One remote function for all tasks: Ray stores each in its GCS, and waits for that.
        self._remote = ray.remote(_called).options(**options)

    @property
    def workers(self) -> int:
        """The number of tasks that the cluster runs at once."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a task.

        Raises
        ------
        LostClusterError
            The cluster is lost; futures of tasks under way raise it, too.
        """
        future: Future[T] = self._watch.future()
        self._remote.remote(fn, args, kwargs).future().add_done_callback(partial(self._watch.settle, future))
        return future


def _called(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return fn(*args, **kwargs)
