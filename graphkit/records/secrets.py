"""Known secrets, and texts without them, since servers may repeat the key that they received.

Secrets are environment variables with such names (``..._API_KEY``, ``..._TOKEN``, ``..._PASSWORD``, ``..._SECRET``),
passwords and tokens within addresses in the environment, headers in ``ANTHROPIC_CUSTOM_HEADERS``, and the arguments of
:func:`remember`. Everything that is printed or stored passes through :func:`masked`.
"""

from __future__ import annotations

import html
import json
import os
import re
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

#: The replacement of a secret.
MASK = "[secret]"

#: Shorter texts aren't secrets: masking them would remove words from answers.
SHORTEST = 8

_NAMED = re.compile(r"(?:^|_)(?:API_?KEY|AUTH|TOKEN|PASSWORD|PASSWD|SECRET|ACCESS_?KEY)$", re.IGNORECASE)
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
_QUERY = re.compile(r"key|token|secret|password|passwd|signature|^sig$", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(\w[\w+.-]*://)[^/\s@:'\"]*:[^/\s@'\"]+@")
_IN_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password|passwd|signature)=)[^&\s\"'<>]+", re.IGNORECASE)

_remembered: set[str] = set()


def remember(secret: str | None) -> None:
    """Add a secret from an option or a caller."""
    if secret:
        _remembered.add(secret)


def masked(text: str) -> str:
    """Replace each known secret in a text, however it is escaped, with a mark."""
    return _without(_forms(), text)


def _without(forms: list[str], text: str) -> str:
    for form in forms:
        if form in text:
            # A short secret is often a word, so it counts only as a whole word.
            pattern = re.escape(form) if len(form) >= 2 * SHORTEST else rf"(?<!\w){re.escape(form)}(?!\w)"
            text = re.sub(pattern, MASK, text)
    return text


def masked_message(text: str) -> str:
    """Replace the known secrets, and those in any address, in a message of a server, system or judge."""
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", masked(text))
    return _IN_QUERY.sub(rf"\1{MASK}", text)


def masked_value(value: Any) -> Any:
    """Mask each string in a JSON value."""
    forms = _forms()  # once for all strings: to look through the environment takes longer than to mask a record

    def within(value: Any) -> Any:
        if isinstance(value, str):
            return _without(forms, value)
        if isinstance(value, dict):
            return {within(name): within(item) for name, item in value.items()}
        return [within(item) for item in value] if isinstance(value, list | tuple) else value

    return within(value)


def holds_secret(data: bytes) -> bool:
    """Return whether bytes may hold a known secret."""
    return any(form.encode("utf-8", "replace") in data for form in _forms())


def _forms() -> list[str]:
    """Return the known secrets in all ways to write them, the longest first."""
    found: set[str] = set()
    for secret in _known():
        plain = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
        found.update((*plain, quote(secret, safe=""), quote(secret), html.escape(secret)))
    return sorted(found, key=len, reverse=True)


def _known() -> set[str]:
    found = set(_remembered)
    for name, value in os.environ.items():
        if _NAMED.search(name):
            found.add(value)
        if name == _HEADERS:
            found.update(line.partition(":")[2].strip() for line in value.splitlines())
        if "://" in value:
            found |= _of_address(value)
    return {secret for secret in found if len(secret) >= SHORTEST}


def _of_address(address: str) -> set[str]:
    try:
        parts = urlsplit(address)
        found = {parts.password or "", unquote(parts.password or "")}
    except ValueError:
        return set()
    return found | {value for name, value in parse_qsl(parts.query) if _QUERY.search(name)}
