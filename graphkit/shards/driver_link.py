"""A worker's connection to its driver, for any of its threads."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import itertools
import json
import secrets
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from graphkit.errors import GraphkitError, InputError
from graphkit.files.loopback import DEADLINE
from graphkit.shards.driver_service import HOST_VARIABLE, NONCE, SIZE, Contact, proof

T = TypeVar("T")


class LostDriverError(GraphkitError):
    """A worker lost its connection to the driver, which was stopped or can't be reached (exit code 2)."""


class DriverLink:
    """A connection to the driver of a task, open within its context.

    Raise a LostDriverError if the driver can't be reached, or isn't the one that sent the task.
    """

    def __init__(self, contact: Contact) -> None:
        self._contact = contact
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._lost: Future[None] = Future()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._connect(stack)
            stack.pop_all()
        threading.Thread(target=self._receive, name="graphkit-link", daemon=True).start()
        return self

    def _connect(self, stack: contextlib.ExitStack) -> None:
        host, port, token = self._contact.host, self._contact.port, self._contact.token
        try:
            self._socket = stack.enter_context(socket.create_connection((host, port), DEADLINE))
            theirs, own = self._exactly(NONCE), secrets.token_bytes(NONCE)
            self._socket.sendall(own + proof(token, b"worker", theirs, own))
            if not hmac.compare_digest(self._exactly(NONCE), proof(token, b"driver", theirs, own)):
                raise ConnectionError("it isn't the one that sent this task")
            self._socket.settimeout(None)
        except OSError as error:
            raise LostDriverError(
                f"a worker can't reach graphkit: {error.strerror or error}",
                where=f"{host}:{port}",
                remedy=f"Let workers connect to that machine, or name another address of it by {HOST_VARIABLE}.",
            ) from None

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def send(self, name: str, value: Any) -> Future[Any]:
        """Send a call; the future has its answer, or the error of the driver."""
        number, future = next(self._numbers), Future[Any]()
        self._waiting[number] = future
        self._write([number, name, value])
        if self._lost.done() and self._waiting.pop(number, None) is not None:
            future.set_exception(_lost())
        future.add_done_callback(lambda done: self._cancel(number) if done.cancelled() else None)
        return future

    def _cancel(self, number: int) -> None:
        if self._waiting.pop(number, None) is not None:
            self._write([number, None, None])

    def call(self, name: str, value: Any) -> Any:
        """Return the answer to a call."""
        return self.send(name, value).result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, which is cancelled when the driver is gone.

        Raise a LostDriverError in that case.
        """

        async def watched() -> T:
            task = asyncio.ensure_future(work)
            gone: asyncio.Future[Any] = asyncio.wrap_future(self._lost)
            await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
                raise _lost()
            return task.result()

        return asyncio.run(watched())

    def _write(self, call: list[Any]) -> None:
        data = json.dumps(call).encode()
        with self._lock, contextlib.suppress(OSError):  # the thread that receives notices a lost connection
            self._socket.sendall(SIZE.pack(len(data)) + data)

    def _receive(self) -> None:
        try:
            while True:
                (size,) = SIZE.unpack(self._exactly(SIZE.size))
                number, error, value = json.loads(self._exactly(size))
                future = self._waiting.pop(number, None)
                if future is None or not future.set_running_or_notify_cancel():
                    continue
                if error is None:
                    future.set_result(value)
                else:
                    what, where, remedy, details = error
                    future.set_exception(InputError(what, where=where, remedy=remedy, details=details))
        except OSError:
            pass
        self._lost.set_result(None)
        for number in [*self._waiting]:
            future = self._waiting.pop(number, None)
            if future is not None and future.set_running_or_notify_cancel():
                future.set_exception(_lost())

    def _exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = self._socket.recv(min(size, 1 << 20))
            if not part:
                raise ConnectionError("the connection ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _lost() -> LostDriverError:
    return LostDriverError(
        "a worker lost its connection to graphkit", remedy="Run the command again: it continues where it stopped."
    )
