"""The channel between graphkit and one test: one line of JSON per request, and one per reply."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PART = 1 << 16


class Channel:
    """Requests from one descriptor and replies to another."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests, self._replies = requests, replies
        self._read = b""

    def receive(self) -> dict[str, Any] | None:
        """Return the next request, or None at the end."""
        while b"\n" not in self._read:
            part = os.read(self._requests, _PART)
            if not part:
                return None
            self._read += part
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def send(self, message: dict[str, Any]) -> None:
        """Write a reply."""
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self._replies, data) :]
