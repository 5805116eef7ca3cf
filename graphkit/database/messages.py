"""Translate errors of the driver into graphkit's errors, each with a remedy."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator

from graphkit.database.access import Access
from graphkit.database.dialects import Dialect
from graphkit.database.settings import TIMEOUT_VARIABLE, hide_password
from graphkit.errors import DatabaseError, GraphkitError, InputError, ServerLimitError, WriteRefusedError

_LONGEST_MESSAGE = 300  # characters shown of a server's message


def translated(error: Exception, access: Access, dialect: Dialect, *, by_person: bool = False) -> GraphkitError:
    """Return graphkit's error for an error of the driver; ``by_person`` if a user wrote the query."""
    from neo4j.exceptions import Neo4jError

    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    message = (error.message or "") if isinstance(error, Neo4jError) else str(error)
    place = hide_password(access.uri)
    if found := _disk_or_memory(code, message, access, dialect):
        return found
    if code.endswith("DatabaseUnavailable"):
        return access.stopped() or DatabaseError(
            f"the database {access.database!r} isn't available",
            where=place,
            remedy="It may be starting, paused or stopped: wait, or start it (in Aura, resume the instance), and run "
            "the command again.",
        )
    if by_person and any(words in message for words in dialect.load_csv_refused_words):
        return InputError("the query uses LOAD CSV, which the embedded database doesn't run")
    if not code:
        return access.stopped() or _unreachable(error, message, access)
    if found := _refused(code, access, dialect):
        return found
    if "TransactionTimedOut" in code or "Transaction.Terminated" in code:
        return ServerLimitError(
            "the server stopped the query because it took too long",
            where=place,
            remedy=f"Ask for less, or raise {TIMEOUT_VARIABLE} (seconds) or the server's own limit.",
        )
    text = shortened(message)
    if by_person and code.startswith(dialect.wrong_query_codes):
        return InputError(f"the query can't be run: {text}")
    if "ConstraintValidation" in code:
        return DatabaseError(f"the database holds a conflicting record: {text}", where=place)
    return DatabaseError(f"the database refused: {text or code}", where=place)


def _disk_or_memory(code: str, message: str, access: Access, dialect: Dialect) -> DatabaseError | None:
    lower = message.lower()
    named = "no space left" in lower or "disk quota" in lower or "disk full" in lower
    if named or (dialect.hides_cause(code) and access.disk_is_full()):
        return DatabaseError(
            "the disk of the database is full, so the write failed",
            where=access.disk,
            remedy="Make room and run the command again.",
        )
    joined = lower.replace(" ", "")
    if "OutOfMemory" in code or any(word in joined for word in dialect.out_of_memory_words):
        return ServerLimitError(
            "the query needs more memory than the database has",
            where=hide_password(access.uri),
            remedy=f"{access.memory_remedy}, ask for less, or write in smaller batches.",
        )
    return None


def _unreachable(error: Exception, message: str, access: Access) -> DatabaseError:
    place, remedy = hide_password(access.uri), access.unreachable_remedy
    causes = list(_causes(error))
    for kind, what in _NETWORK_TROUBLE:
        if any(isinstance(cause, kind) for cause in causes):
            return DatabaseError(what, where=place, remedy=remedy)
    if any(isinstance(cause, ssl.SSLError) or _NOT_BOLT.search(str(cause)) for cause in causes):
        what = "the server at this address isn't Neo4j, or its encryption differs from the address"
        return DatabaseError(what, where=place, remedy=f"{remedy} Encrypted servers are bolt+s:// or neo4j+s://.")
    if "routing" in message.lower():
        what = "there is no routing table at this address, by which neo4j:// finds the members of a cluster"
        return DatabaseError(what, where=place, remedy=f"Write a single server as bolt://HOST:7687. {remedy}")
    # The last line holds the driver's reason; the lines before it repeat the address.
    reason = shortened((message.strip().splitlines() or [type(error).__name__])[-1])
    return DatabaseError(f"the server can't be reached: {reason}", where=place, remedy=remedy)


_NOT_BOLT = re.compile("handshake|Bolt service|protocol")
_NETWORK_TROUBLE: tuple[tuple[type[Exception], str], ...] = (
    (ConnectionRefusedError, "no server listens at this address: the connection was refused"),
    (socket.gaierror, "the host of this address is unknown"),
    (TimeoutError, "the server didn't answer in time"),
)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, including the members of a group, which the driver makes for several servers."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def _refused(code: str, access: Access, dialect: Dialect) -> DatabaseError | None:
    place = hide_password(access.uri)
    if code.endswith("Cluster.NotALeader"):
        return DatabaseError(
            "the server isn't the leader of the database, so it can't write",
            where=place,
            remedy="Write NEO4J_URI as neo4j://HOST, which finds the leader. If it is, the cluster elects a new "
            "leader: run the command again.",
        )
    if code.endswith(dialect.write_refused_codes):
        return write_refused(access)
    if ".Security." in code:
        return DatabaseError(
            "the server refused the user name or the password", where=place, remedy=access.login_remedy(code)
        )
    if code.endswith("DatabaseNotFound"):
        return DatabaseError(
            f"the server has no database named {access.database!r}",
            where=place,
            remedy=access.database_remedy,
        )
    return None


def write_refused(access: Access) -> WriteRefusedError:
    """Return the error of a query that would write with read-only access."""
    return WriteRefusedError(
        "the server refused the query: it would write, but this access may only read",
        where=hide_password(access.uri),
        remedy=access.write_remedy,
    )


def shortened(message: str) -> str:
    """Return the first line of a server's message, without the long list of expected tokens."""
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
