"""How many requests are under way at once: no more than allowed, fewer after a refusal, none during a pause."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Lets so many through at once, in their order, and none while it is shut."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = float(most)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._shut_until = 0.0
        self._narrowed_at = 0.0

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[float]:
        """Wait for a place, and till the gate is open; give the moment."""
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
        """Let none through for a while."""
        self._shut_until = max(self._shut_until, time.monotonic() + seconds)

    def narrow(self, sent: float) -> None:
        """Let half as many through from now on; refusals of what was sent before the last time don't count again."""
        if sent >= self._narrowed_at:
            self._open = max(1.0, self._open / 2)
            self._narrowed_at = time.monotonic()

    def widen(self) -> None:
        """After each reply, widen by so much that as many replies as are let through make room for one more."""
        if self._open < self._most:
            self._open = min(float(self._most), self._open + 1 / self._open)
            self._admit()
