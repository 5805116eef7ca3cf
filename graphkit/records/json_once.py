"""JSON whose objects have each key once: of a key that stands twice, no reader knows which value is meant."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

from graphkit.records.words import shortened

_decode = msgspec.json.Decoder().decode
_encoder = msgspec.json.Encoder()
_encode, _encode_lines = _encoder.encode, _encoder.encode_lines


class RepeatedKeyError(ValueError):
    """An object of JSON has a key twice; ``found`` is the object with the last value of each."""

    def __init__(self, key: str, found: dict[str, Any]) -> None:
        super().__init__(f"the field {shortened(key)!r} stands twice in one object")
        self.found = found


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON from its pairs, as a hook of :mod:`json`; raise RepeatedKeyError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RepeatedKeyError(next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1), found)
    return found


def strict_json(text: str | bytes) -> Any:
    """Return a value of JSON; raise ValueError if it is none, has a key twice, or holds NaN or an infinity."""
    return json.loads(text, object_pairs_hook=each_key_once, parse_constant=_refuse)


def repeats_a_key(line: bytes) -> bool:
    """Return whether an object in a line of JSON has a key twice."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):  # of a number, in an unknown field
        return may_repeat_a_key(line, _decode(line)) and _repeats(line)
    return _repeats(line)


def may_repeat_a_key(line: bytes, value: Any) -> bool:
    """Return whether an object in a line of JSON may have a key twice, from what msgspec decodes, a struct or a map.

    That keeps the last value of a key, so the line has fewer colons when it is encoded again, as it has if a struct
    leaves out a default that was stated. It is three times as quick as a look at each key.
    """
    return _differ(_encode(value), line)


def may_repeat_keys(lines: Sequence[bytes], values: Sequence[Any]) -> bool:
    """Return the same of some lines of JSON together, which takes half the time."""
    return _differ(_encode_lines(values), b"\n".join((*lines, b"")))


def _differ(encoded: bytes, text: bytes) -> bool:
    return encoded != text and (encoded.count(b":") != text.count(b":") or b"\\u003" in text)


def _repeats(line: bytes) -> bool:
    try:
        json.loads(line, object_pairs_hook=each_key_once)
    except RepeatedKeyError:
        return True
    except (ValueError, RecursionError):
        return False  # what reads the value says so
    return False


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} isn't a number of JSON")
