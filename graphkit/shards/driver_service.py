"""The service of a driver for its workers: what must be exact across all machines happens here, in one place.

A worker keeps one connection for each task, and sends calls: the name of a handler, and a value as JSON. Both sides
prove first that they know the token of this service, which is made for it and travels with the tasks. The calls
themselves aren't encrypted: they are as private as the cluster's own network.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from graphkit.errors import GraphkitError, InputError
from graphkit.files.loopback import DEADLINE, LOOPBACK
from graphkit.shards.executors import parsed

#: The environment variable that names the address of the driver's machine, for workers elsewhere.
HOST_VARIABLE = "GRAPHKIT_DRIVER_HOST"

#: The longest call or answer, in bytes.
LONGEST = 1 << 28

NONCE = 32
SIZE = struct.Struct(">I")

#: Answers a call; its value and its answer are JSON.
Handler = Callable[[Any], Awaitable[Any]]


@dataclass(frozen=True)
class Contact:
    """The address at which a worker finds its driver, and the secret that both know."""

    host: str
    port: int
    token: bytes = field(repr=False)


def proof(token: bytes, side: bytes, *nonces: bytes) -> bytes:
    """Return the proof of one side that it knows a token."""
    return hmac.digest(token, side + b"".join(nonces), "sha256")


def driver_host(on: str | Executor | None) -> str:
    """Return the address at which workers reach this machine: loopback, unless the cluster is elsewhere.

    ``GRAPHKIT_DRIVER_HOST`` names it for an executor of the user's own, or a network that translates addresses.

    Raises
    ------
    InputError
        The cluster's address can't be resolved.
    """
    if given := os.environ.get(HOST_VARIABLE):
        return given
    address = parsed(on).address if isinstance(on, str) else None
    host = (address or "").rpartition("//")[2].rpartition("@")[2].rpartition(":")[0].strip("[]")
    if not host:
        return LOOPBACK
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(place)  # sends nothing, and shows which of this machine's addresses leads there
            return str(probe.getsockname()[0])
    except OSError as error:
        raise InputError(
            f"the host {host!r} can't be found: {error.strerror or error}",
            where="--on",
            remedy=f"Correct the address, or name this machine's own by {HOST_VARIABLE}.",
        ) from None


@asynccontextmanager
async def serving(
    handlers: Mapping[str, Handler], host: str = LOOPBACK, notify: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Contact]:
    """Answer the calls of workers until the block ends; yield what they need to connect.

    A call that is under way when its worker dies continues, so that what it pays for isn't lost.

    Parameters
    ----------
    host
        The address to listen at, see :func:`driver_host`.
    notify
        Told where the service listens if that isn't loopback.

    Raises
    ------
    InputError
        The service can't listen at this address.
    """
    service = _Service(handlers, secrets.token_bytes(32))
    try:
        server = await asyncio.start_server(service.connected, host, 0)
    except OSError as error:
        raise InputError(
            f"the service for workers can't listen at {host}: {error.strerror or error}",
            remedy=f"Name an address of this machine by {HOST_VARIABLE}.",
        ) from None
    port = server.sockets[0].getsockname()[1]
    if host != LOOPBACK:
        notify(f"note: workers reach graphkit at {host}:{port}")
    try:
        yield Contact(host, port, service.token)
    finally:
        server.close()
        await service.close()


class _Service:
    """The connections of a service, and the calls under way."""

    def __init__(self, handlers: Mapping[str, Handler], token: bytes) -> None:
        self.token = token
        self._handlers = handlers
        self._calls: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def close(self) -> None:
        for writer in [*self._writers]:
            writer.close()
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            async with asyncio.timeout(DEADLINE):
                known = await self._proved(reader, writer)
            if known:
                await self._answer(reader, writer)
        except (OSError, EOFError, TimeoutError, ValueError):
            pass  # the worker died, or it was no worker
        except asyncio.CancelledError:
            pass  # the service ends; asyncio would report a cancelled connection as an error of ours
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _proved(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        own = secrets.token_bytes(NONCE)
        writer.write(own)
        given = await reader.readexactly(2 * NONCE)
        other, shown = given[:NONCE], given[NONCE:]
        if not hmac.compare_digest(shown, proof(self.token, b"worker", own, other)):
            return False
        writer.write(proof(self.token, b"driver", own, other))
        return True

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls: dict[int, asyncio.Task[None]] = {}
        while True:
            (size,) = SIZE.unpack(await reader.readexactly(SIZE.size))
            if size > LONGEST:
                raise ValueError("the call is too long")
            number, name, value = json.loads(await reader.readexactly(size))
            if name is None:  # the worker no longer waits for this call
                if number in calls:
                    calls[number].cancel()
                continue
            call = asyncio.create_task(self._call(writer, number, name, value))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            calls[number] = call
            call.add_done_callback(lambda _, number=number: calls.pop(number, None))  # type: ignore[misc]

    async def _call(self, writer: asyncio.StreamWriter, number: int, name: str, value: Any) -> None:
        try:
            answer = [number, None, await self._handlers[name](value)]
        except GraphkitError as error:
            answer = [number, [error.what, error.where, error.remedy, error.details], None]
        except Exception as error:
            answer = [number, [f"{type(error).__name__}: {error}", f"the driver's {name!r}", None, ()], None]
        data = json.dumps(answer).encode()
        with contextlib.suppress(OSError):
            writer.write(SIZE.pack(len(data)) + data)
            await writer.drain()
