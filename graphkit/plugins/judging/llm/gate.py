"""Limits the requests under way: at most so many at once, fewer after a refusal, none during a pause."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """A gate that admits a number of requests at once, in their order, and none while it is shut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = float(limit)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._shut_until = 0.0
        self._narrowed_at = 0.0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """Wait for a place and for the gate to open; yield the time."""
        await self._enter()
        try:
            while (left := self._shut_until - time.monotonic()) > 0:
                await asyncio.sleep(left)
            yield time.monotonic()
        finally:
            self._inside -= 1
            self._admit()

    async def _enter(self) -> None:
        if self._inside < int(self._open) and not self._waiting:
            self._inside += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._inside -= 1
            self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self._inside < int(self._open):
            place = self._waiting.popleft()
            if not place.done():
                self._inside += 1
                place.set_result(None)

    def shut(self, seconds: float) -> None:
        """Admit none for a while."""
        self._shut_until = max(self._shut_until, time.monotonic() + seconds)

    def narrow(self, sent: float) -> None:
        """Halve the limit, once for all requests sent before the last time it was halved."""
        if sent >= self._narrowed_at:
            self._open = max(1.0, self._open / 2)
            self._narrowed_at = time.monotonic()

    def widen(self) -> None:
        """Raise the limit a little: by one after as many replies as it admits at once."""
        if self._open < self._limit:
            self._open = min(float(self._limit), self._open + 1 / self._open)
            self._admit()
