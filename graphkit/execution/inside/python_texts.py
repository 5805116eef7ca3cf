"""Texts of values of the answer's code. Nothing here trusts the methods of a value."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_MESSAGE = 1_000


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
