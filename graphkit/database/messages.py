"""What went wrong with the database, in words: each error of the driver as one of graphkit's, with its remedy."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.database.embedded.client import (
    DEFAULT_HEAP,
    HEAP_VARIABLE,
    TIMEOUT_VARIABLE,
    Endpoint,
    Layout,
    disk_is_full,
)
from graphkit.database.settings import Settings, hide_password
from graphkit.errors import DatabaseError, GraphkitError, InputError

if TYPE_CHECKING:
    import neo4j

_LONGEST_MESSAGE = 300  # characters of a server's message that are shown


@dataclass(frozen=True)
class Where:
    """What a message needs to know of the server."""

    uri: str
    settings: Settings
    endpoint: Endpoint | None

    @property
    def embedded(self) -> bool:
        """Whether the server is the embedded one."""
        return self.endpoint is not None


def translated(error: Exception, where: Where, *, by_person: bool = False) -> GraphkitError:
    """Turn an error of the driver into one of ours: a sentence and what to do. ``by_person``: a person's query."""
    from neo4j.exceptions import Neo4jError

    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    message = (error.message or "") if isinstance(error, Neo4jError) else str(error)
    place = hide_password(where.uri)
    if found := _disk_or_memory(code, message, where, place):
        return found
    if not code or code.endswith("DatabaseUnavailable"):
        return _unreachable(error, message, where, place)
    if found := _refused(code, where, place):
        return found
    if "TransactionTimedOut" in code or "Transaction.Terminated" in code:
        return DatabaseError(
            "The query took too long and was ended",
            where=place,
            remedy=f"Ask for less, or raise {TIMEOUT_VARIABLE} (seconds) or the server's own limit.",
        )
    text = shortened(message)
    if by_person and _is_wrong_query(code, where):
        return InputError(f"The query can't be run: {text}")
    if "ConstraintValidation" in code:
        return DatabaseError(f"The database holds a conflicting record: {text}", where=place)
    return DatabaseError(f"The database refused: {text or code}", where=place)


def _disk_or_memory(code: str, message: str, where: Where, place: str) -> DatabaseError | None:
    lower = message.lower()
    folder = where.endpoint.directory if where.endpoint else None
    # The embedded engine tells only its log why a commit failed.
    vague = not code or "Transaction" in code or code.startswith("Neo.DatabaseError")
    if folder and vague and disk_is_full(folder):
        lower = "no space left"
    if "no space left" in lower or "disk quota" in lower or "disk full" in lower:
        return DatabaseError(
            "The disk of the database is full; the write didn't take place",
            where=str(folder or place),
            remedy="Make room and run the command again.",
        )
    if "OutOfMemory" in code or "outofmemory" in lower.replace(" ", "") or "querymaxheap" in lower:
        remedy = "Raise the server's memory, ask for less, or write in smaller batches."
        if where.embedded:
            remedy = (
                f"Raise {HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}; it counts from the "
                "server's next start), ask for less, or write in smaller batches."
            )
        return DatabaseError("The query needs more memory than the database has", where=place, remedy=remedy)
    return None


def _unreachable(error: Exception, message: str, where: Where, place: str) -> DatabaseError:
    if where.endpoint is not None:
        log = Layout(where.endpoint.directory).log
        if "OutOfMemoryError" in _tail(log):
            return DatabaseError(
                "The embedded database ran out of memory and stopped; what was committed is safe",
                where=str(where.endpoint.directory),
                remedy=f"Raise {HEAP_VARIABLE} (now {os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}) and run it again.",
            )
        return DatabaseError(
            "The embedded database stopped answering; what was committed is safe",
            where=str(where.endpoint.directory),
            remedy=f"Run the command again: it starts the database. See: graphkit db status, and its log {log}",
        )
    remedy = (
        "Check NEO4J_URI and that the server runs (docker compose up -d; graphkit db status), "
        "or unset NEO4J_URI to use the embedded database."
    )
    causes = list(_causes(error))
    for kind, what in _NETWORK_TROUBLE:
        if any(isinstance(cause, kind) for cause in causes):
            return DatabaseError(what, where=place, remedy=remedy)
    if any(isinstance(cause, ssl.SSLError) or _NOT_BOLT.search(str(cause)) for cause in causes):
        what = "What answers at this address isn't a Neo4j server, or encrypts otherwise than the address says"
        return DatabaseError(what, where=place, remedy=f"{remedy} Encrypted servers are bolt+s:// or neo4j+s://.")
    # The driver's own sentence is on the last line; the ones before only repeat the address.
    reason = shortened((message.strip().splitlines() or [type(error).__name__])[-1])
    return DatabaseError(f"The server can't be reached: {reason}", where=place, remedy=remedy)


_NOT_BOLT = re.compile("handshake|Bolt service|protocol")
_NETWORK_TROUBLE: tuple[tuple[type[Exception], str], ...] = (
    (ConnectionRefusedError, "Nothing listens at this address: the connection was refused"),
    (socket.gaierror, "The host of this address isn't known"),
    (TimeoutError, "The server didn't answer in time"),
)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all that led to it: the driver wraps, and groups when it asked several servers."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def _refused(code: str, where: Where, place: str) -> DatabaseError | None:
    if code.endswith(("Security.Forbidden", "AccessMode", "ForbiddenOnReadOnlyDatabase", "Cluster.NotALeader")):
        return write_refused(place)
    if ".Security." in code:
        if where.embedded:
            credentials = Layout(where.settings.data).credentials
            remedy = f"Stop the server (graphkit db stop), delete {credentials} and try again."
        else:
            remedy = "Set NEO4J_USERNAME and NEO4J_PASSWORD to an account of this server."
            if code.endswith("RateLimit"):
                remedy += " The server blocks further attempts for some seconds."
        return DatabaseError("The server refused the user name or the password", where=place, remedy=remedy)
    if code.endswith("DatabaseNotFound"):
        return DatabaseError(
            f"The server has no database named {where.settings.database!r}",
            where=place,
            remedy="Set NEO4J_DATABASE to one that it has; Neo4j's own default is neo4j.",
        )
    return None


def write_refused(place: str) -> DatabaseError:
    """Return the error of a query that would write where only reading is allowed."""
    return DatabaseError(
        "The server refused: this may only read, and the query would write",
        where=place,
        remedy="Data is written by graphkit load, git and evaluate; anything else needs a tool and an account of the "
        "database.",
    )


def profile_error(summary: neo4j.ResultSummary) -> str | None:
    """Return the error of a PROFILE on the embedded engine, which hides it in the text of the profile."""
    arguments = (summary.profile or {}).get("args") or {}
    found = re.search(r"^Error: (.*)$", str(arguments.get("string-representation", "")), re.MULTILINE)
    if found is None:
        return None
    # The reader's refusal of SET and DELETE comes at the commit, without its reason.
    return "not allowed" if "error on commit" in found.group(1) else found.group(1)


def _is_wrong_query(code: str, where: Where) -> bool:
    if code.startswith(("Neo.ClientError.Statement", "Neo.ClientError.Procedure", "Neo.ClientError.Schema")):
        return True
    # The embedded engine has no code of its own for, say, an unknown procedure.
    return code == "Neo.DatabaseError.General.UnknownError" and where.embedded


def shortened(message: str) -> str:
    """Keep the meaningful part of a server's message: its first line, without the list of all that was expected."""
    lines = hide_password(message).strip().splitlines()
    text = lines[0].strip() if lines else ""
    text = re.sub(r" \(offset: \d+\)", "", text)
    place = re.search(r"\(line \d+, column \d+\)", text)
    if len(text) > _LONGEST_MESSAGE or text.count(", '") > 4:
        short = re.sub(r": expected .*", "", text)
        text = short[: _LONGEST_MESSAGE - 1] + ("…" if len(short) >= _LONGEST_MESSAGE else "")
        if place and place.group(0) not in text:
            text = f"{text} {place.group(0)}"
    return text


def _tail(path: Path, size: int = 4000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
