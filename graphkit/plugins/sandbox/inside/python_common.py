"""Shared parts of the scripts in Python: the channel to graphkit, and texts of values of the answer's code.

A channel carries one line of JSON per request, and one per reply. The texts trust no method of a value.
"""

from __future__ import annotations

import builtins
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_MESSAGE = 1_000
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


def text_of(value: Any, how: Callable[[Any], Any]) -> str:
    """Return the text that ``how`` makes of a value, shortened; the name of its type if that fails."""
    try:
        text = how(value)
        if not isinstance(text, str):
            raise TypeError
    except MemoryError:
        raise
    except BaseException:
        return "<" + type_name(type(value)) + ">"
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def type_name(one: type) -> str:
    """Return the name of a type, whatever its metaclass says."""
    name = type.__dict__["__qualname__"].__get__(one)
    return name[:200] if isinstance(name, str) else "?"


def home_of(one: type) -> str:
    """Return the name of the module that a type claims."""
    try:
        name = type.__dict__["__module__"].__get__(one)
    except AttributeError:
        name = None
    return name[:200] if isinstance(name, str) else "?"


def message_of(error: BaseException) -> str:
    """Return the type and the message of an exception, and those of the exceptions in a group."""
    text = text_of(error, str)
    if isinstance(error, KeyError) and len(error.args) == 1:
        text = text_of(error.args[0], repr)
    group: Any = getattr(builtins, "BaseExceptionGroup", ())
    parts = getattr(error, "exceptions", None) if isinstance(error, group) else None
    if isinstance(parts, tuple):
        text += ": " + "; ".join(message_of(part) for part in parts[:5])
    name = type_name(type(error))
    return (name + ": " + text if text else name)[:LONGEST_MESSAGE]
