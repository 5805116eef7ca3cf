"""A watch on a cluster of Ray: what nothing replaces there is noticed when it dies, and nothing local is left.

Ray itself waits a minute for a GCS that died and then ends the whole process with 1; without a raylet its tasks wait
for ever.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import Any

from graphkit.shards.executors import Engine, LostClusterError, lost

#: Seconds between two looks.
PAUSE = 0.5

#: Seconds to wait for a running cluster; in that time a GCS with a store of its own may be back.
PATIENCE = 20.0

#: A part of a cluster as messages name it, with the address where it listens.
Parts = Mapping[str, tuple[str, int]]


class RayWatch:
    """A watch on the parts of a cluster, which ends the futures of its tasks once one of them is gone.

    Parameters
    ----------
    parts
        What nothing replaces. Each is gone when nobody has listened at its address for ``PATIENCE`` seconds, or of a
        local cluster at one look.
    note
        Called at each look, such as to note processes.
    """

    def __init__(self, engine: Engine, parts: Parts, note: Callable[[], None]) -> None:
        self._engine = engine
        self._parts = parts
        self._note = note
        self._patience = PATIENCE if engine.address else 0.0
        self._missed: dict[str, float] = {}
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._ended = threading.Event()
        self._error: LostClusterError | None = None

    def __enter__(self) -> RayWatch:
        threading.Thread(target=self._watch, name="graphkit-ray-watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def future(self) -> Future[Any]:
        """Return a new future, which gets an error when the cluster is lost; raise that if it is lost already."""
        future: Future[Any] = Future()
        with self._lock:
            if self._error is not None:
                raise self._error
            self._open.add(future)
        return future

    def settle(self, future: Future[Any], task: Future[Any]) -> None:
        """Give a future the result of a task; an error may be one of a cluster that has just died."""
        error = task.exception()
        if error is not None and self.is_lost():
            return
        with self._lock, contextlib.suppress(InvalidStateError):  # it was cancelled
            self._open.discard(future)
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(task.result())

    def is_lost(self) -> bool:
        """Look, and return whether the cluster is lost."""
        with self._looking:
            self._note()
            now = time.monotonic()
            for name, address in self._parts.items():
                if _listens(address):
                    self._missed.pop(name, None)
                elif now - self._missed.setdefault(name, now) >= self._patience and self._error is None:
                    self._lose(lost(self._engine, f"its {name} is gone"))
        return self._error is not None

    def _lose(self, error: LostClusterError) -> None:
        with self._lock:
            self._error = error
            for future in self._open:
                with contextlib.suppress(InvalidStateError):
                    future.set_exception(error)
            self._open.clear()

    def _watch(self) -> None:
        while not self._ended.wait(PAUSE):
            self.is_lost()


def _listens(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=PATIENCE).close()
    except OSError:
        return False
    return True


class LocalProcesses:
    """The processes of a local cluster: those that this process started with the cluster's folder, and theirs."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._found: set[Any] = set()

    def note(self) -> None:
        """Note the processes that there are now: when their parent has died, nothing shows any more whose they were."""
        import psutil  # Ray and Dask bring it

        with contextlib.suppress(psutil.Error):
            for process in psutil.Process().children(recursive=True):  # parents come first
                with contextlib.suppress(psutil.Error):
                    if process not in self._found and self._is_own(process):
                        self._found.add(process)

    def _is_own(self, process: Any) -> bool:
        parent = process.ppid()
        return any(one.pid == parent for one in self._found) or any(self._folder in word for word in process.cmdline())

    def end(self) -> None:
        """Kill those that still run, and what they started, and wait until they are gone."""
        import psutil

        self.note()
        for process in [*self._found]:
            with contextlib.suppress(psutil.Error):
                self._found.update(process.children(recursive=True))
        for process in self._found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(self._found, timeout=PATIENCE)
