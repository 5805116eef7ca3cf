"""The database and account to use: options, environment variables and defaults."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from graphkit.errors import InputError
from graphkit.records.secrets import remember

DEFAULT_DIRECTORY = ".graphkit"
HOME_VARIABLE = "GRAPHKIT_HOME"
#: The database of a server, and of the embedded one.
DATABASE = "neo4j"
TIMEOUT_VARIABLE = "GRAPHKIT_QUERY_TIMEOUT"

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class Settings:
    """The database to use: without ``uri``, the embedded one in the folder ``data``.

    ``timeout`` are the seconds that a query may take; None leaves it to ``GRAPHKIT_QUERY_TIMEOUT``.
    """

    uri: str | None = None
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str = DATABASE
    data: Path = field(default_factory=lambda: Path(DEFAULT_DIRECTORY))
    timeout: float | None = None

    @classmethod
    def resolve(
        cls,
        uri: str | None = None,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        data: Path | None = None,
    ) -> Settings:
        """Replace None by ``NEO4J_URI``, ``_USERNAME``, ``_PASSWORD``, ``_DATABASE`` and ``GRAPHKIT_HOME``.

        A user name and a password in the URI (``bolt://me:secret@host``) count if no other is given.

        Raise InputError if the URI isn't that of a Bolt server.
        """
        uri = uri or os.environ.get("NEO4J_URI") or None
        in_uri: tuple[str | None, str | None] = (None, None)
        if uri is not None:
            uri, in_uri = checked_uri(uri, "or unset NEO4J_URI to use the embedded database")
        for secret in (password, in_uri[1]):
            remember(secret)
        return cls(
            uri=uri,
            username=username or os.environ.get("NEO4J_USERNAME") or in_uri[0] or "neo4j",
            password=password or os.environ.get("NEO4J_PASSWORD") or in_uri[1],
            database=database or os.environ.get("NEO4J_DATABASE") or DATABASE,
            data=data or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_DIRECTORY),
        )


def checked_uri(uri: str, otherwise: str = "") -> tuple[str, tuple[str | None, str | None]]:
    """Return the address of a Bolt server without user name and password, and these two.

    Raise InputError if the address isn't that of a Bolt server; ``otherwise`` is a second remedy.
    """
    remedy = f"Write it as bolt://HOST:7687 or neo4j+s://HOST{', ' if otherwise else ''}{otherwise}."
    try:
        parts = urlsplit(uri.strip())
        host = parts.hostname
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in _SCHEMES or not host:
        raise InputError("this isn't the address of a Neo4j server", where=hide_password(uri), remedy=remedy)
    user, password = (unquote(part) if part else None for part in (parts.username, parts.password))
    clean = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return clean, (user, password)


def hide_password(text: str) -> str:
    """Remove ``user:password@`` from every address in a text."""
    return re.sub(r"((?<![\w+.-])[\w+.-]+://)[^/\s@]*(?:@[^/\s@]*)*@", r"\1", text)


def query_timeout() -> float | None:
    """Return the seconds that one query may take, from ``GRAPHKIT_QUERY_TIMEOUT``; None if it isn't set.

    Neo4j limits each client by its own value; the embedded database uses that of the client that starts it.
    """
    text = os.environ.get(TIMEOUT_VARIABLE)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise InputError(f"{TIMEOUT_VARIABLE} is {text!r}, which isn't a number of seconds", remedy="Write it as 60.")
    return seconds
