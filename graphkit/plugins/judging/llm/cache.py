"""Keeps replies in one SQLite file, so that none is paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.llm.requests import Model, Reply, Request, Usage

#: The environment variable that names the file.
CACHE_VARIABLE = "GRAPHKIT_REPLIES"
FILE_NAME = "replies.sqlite"
_DAMAGED = (
    "Move it away, with the files of its name that end in -wal and -shm: its replies will be asked for again. "
    "`sqlite3 FILE .recover` may save some of it."
)
_NAME_ANOTHER = f"Name another: --cache FILE, or {CACHE_VARIABLE}."

#: The version of the schema; graphkit refuses a file with a later one.
_VERSION = 2

#: Seconds to wait while another process writes.
_PATIENCE = 30.0

_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    digest TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, answered_by TEXT NOT NULL,
    stop_reason TEXT, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL, attempts INTEGER NOT NULL, lost INTEGER NOT NULL, batch INTEGER NOT NULL,
    kept_at REAL NOT NULL, unusable INTEGER NOT NULL DEFAULT 0, metered INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX IF NOT EXISTS replies_by_time ON replies (kept_at);
CREATE TABLE IF NOT EXISTS uses (noted_at REAL NOT NULL, hits INTEGER NOT NULL, misses INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, intended_at REAL NOT NULL, requests INTEGER NOT NULL, ended_at REAL
);
CREATE TABLE IF NOT EXISTS batched (
    digest TEXT PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (number), request TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS batched_by_batch ON batched (batch);
"""

#: What makes the second form of the first: whether the tokens of a reply are known, else they are 0.
_SECOND = "ALTER TABLE replies ADD COLUMN metered INTEGER NOT NULL DEFAULT 1"

_REPLY = (
    "text, answered_by, stop_reason, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, attempts, "
    "lost, batch, metered"
)


def cache_path(home: Path, given: Path | None = None) -> Path:
    """Return the file of replies: the given one, that of ``GRAPHKIT_REPLIES``, or the one in graphkit's home."""
    if given is not None:
        return given
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else home / FILE_NAME


@dataclass(frozen=True, slots=True)
class ModelStats:
    """The replies of one model."""

    entries: int
    bytes: int
    usage: Usage | None  # of the replies whose server states it; None if none does
    unmetered: int = 0  # how many replies are without


#: The figures of a model's usage.
USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The content of a file of replies."""

    path: Path
    size: int  # bytes on disk; the ``bytes`` of a model are those of its requests and replies
    models: dict[str, ModelStats]
    #: The times of the first and the last reply, in seconds since 1970; None if there is none.
    oldest: float | None = None
    newest: float | None = None
    #: How many replies of the last grading came from here, and how many from a model; None if unknown.
    hits: int | None = None
    misses: int | None = None
    batches: int = 0  # the number of batches under way

    @property
    def entries(self) -> int:
        """The number of replies."""
        return sum(one.entries for one in self.models.values())

    def as_json(self) -> dict[str, Any]:
        """Return the statistics as JSON, with times in UTC."""
        models = {
            name: {"entries": one.entries, "bytes": one.bytes, "unmetered": one.unmetered}
            | {figure: getattr(one.usage, figure, None) for figure in USAGE}
            for name, one in self.models.items()
        }
        return {
            "path": str(self.path),
            "entries": self.entries,
            "size": self.size,
            "models": models,
            "oldest": moment(self.oldest),
            "newest": moment(self.newest),
            "hits": self.hits,
            "misses": self.misses,
            "batches_under_way": self.batches,
        }


def moment(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 as ISO 8601 in UTC, or None for None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def stats_of(path: Path) -> CacheStats:
    """Return the statistics of a file of replies; those of an empty one if there is no such file."""
    if not path.exists():
        return CacheStats(path, 0, {})
    with ReplyCache(path) as replies:
        return replies.stats()


class ReplyCache:
    """Replies by the digest of their requests, in one file, for several processes and threads at once.

    Each reply has its own transaction, so a killed process loses no reply that it has put.

    Raise an InputError if the file is damaged, comes from a later graphkit, can't be created, or is missing though it
    must exist.

    The file is created if it is missing, unless ``must_exist``.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.exists():
            remedy = f"Grade with a model first, or name another: --cache FILE, or {CACHE_VARIABLE}."
            raise InputError("there is no file of recorded replies", where=str(path), remedy=remedy)
        self._lock = threading.RLock()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=32
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        version = self._one("PRAGMA user_version")[0]
        if version > _VERSION:
            raise InputError(
                f"the file of replies is of a later graphkit (form {version}, this one writes {_VERSION})",
                where=str(self.path),
                remedy="Use that graphkit, or another file: --cache FILE.",
            )
        # A killed process loses nothing in either mode; a power failure may lose the last replies.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if version == _VERSION:
            return
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:  # another process creates the file, and SQLite doesn't wait for that
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        with self.transaction() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == _VERSION:
                return  # another process has just created it
            if version == 1:
                connection.execute(_SECOND)
            elif connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                what = "this is no file of replies but some other database"
                raise InputError(what, where=str(self.path), remedy=_NAME_ANOTHER)
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_VERSION}")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the file into an InputError with a remedy."""
        try:
            yield
        except OSError as error:
            raise self._unusable(f"can't be used: {error.strerror}", _NAME_ANOTHER) from None
        except sqlite3.OperationalError as error:
            remedy = f"Make room, or give the right to write there. {_NAME_ANOTHER}"
            raise self._unusable(f"can't be used: {error}", remedy) from None
        except sqlite3.DatabaseError as error:
            raise self._unusable(f"is damaged: {error}", _DAMAGED) from None

    def _unusable(self, what: str, remedy: str) -> InputError:
        return InputError(f"the file of replies {what}", where=str(self.path), remedy=remedy)

    @contextlib.contextmanager
    def transaction(self, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one transaction, during which nothing may be awaited.

        A ``durable`` transaction survives a power failure.
        """
        with self._lock, self._explained():
            if durable:
                self._connection.execute("PRAGMA synchronous = FULL")
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
            finally:
                if durable:
                    self._connection.execute("PRAGMA synchronous = NORMAL")

    def rows(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._lock, self._explained():
            return self._connection.execute(query, tuple(values)).fetchall()

    def _one(self, query: str, values: Iterable[Any] = ()) -> tuple[Any, ...]:
        return self.rows(query, values)[0]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> ReplyCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Replies

    def get(self, digest: str, unusable: bool = False) -> Reply | None:
        """Return the reply to a request by its digest, marked as cached; None if there is none.

        With ``unusable``, also return one that was forgotten because it was unusable.
        """
        query = f"SELECT {_REPLY} FROM replies WHERE digest = ? AND unusable <= ?"  # noqa: S608 - names of columns
        found = self.rows(query, (digest, unusable))
        if not found:
            return None
        text, model, stop, *tokens, attempts, lost, batch, metered = found[0]
        usage = Usage(*tokens) if metered else None
        return Reply(text, model, stop, usage, attempts, lost, cached=True, batch=bool(batch))

    def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply. A usable earlier one stays, since others may have used it."""
        with self.transaction() as connection:
            self.insert(connection, request.digest, request.model, request.text, reply)

    def insert(self, connection: sqlite3.Connection, digest: str, model: str, request: str, reply: Reply) -> None:
        """Keep a reply to a request, given as JSON, within a transaction."""
        usage = reply.usage or Usage()
        connection.execute("DELETE FROM replies WHERE digest = ? AND unusable", (digest,))
        connection.execute(
            f"INSERT OR IGNORE INTO replies (digest, model, request, {_REPLY}, kept_at) "  # noqa: S608 - names of columns
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(digest, model, request, reply.text, reply.model, reply.stop_reason),
                *(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
                *(reply.attempts, reply.lost, reply.batch, reply.usage is not None, time.time()),
            ),
        )

    def forget(self, digest: str) -> None:
        """Mark a reply as unusable, so that it is asked for again next time; a replay still has it."""
        with self.transaction() as connection:
            connection.execute("UPDATE replies SET unusable = 1 WHERE digest = ?", (digest,))

    def request(self, digest: str) -> Request | None:
        """Return a request by its digest."""
        found = self.rows("SELECT request FROM replies WHERE digest = ?", (digest,))
        return Request.from_json(json.loads(found[0][0])) if found else None

    def note_use(self, hits: int, misses: int) -> None:
        """Record how many replies a grading found here, and how many it asked for."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM uses")
            connection.execute("INSERT INTO uses VALUES (?, ?, ?)", (time.time(), hits, misses))

    # Stats and pruning

    def stats(self) -> CacheStats:
        """Return statistics of the file."""
        query = (
            "SELECT model, count(*), sum(length(CAST(request AS BLOB)) + length(CAST(text AS BLOB))), "
            "sum(metered), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens) "
            "FROM replies GROUP BY model ORDER BY model"
        )
        models = {
            model: ModelStats(count, size, Usage(*tokens) if metered else None, count - metered)
            for model, count, size, metered, *tokens in self.rows(query)
        }
        oldest, newest = self._one("SELECT min(kept_at), max(kept_at) FROM replies")
        hits, misses = (self.rows("SELECT hits, misses FROM uses") or [(None, None)])[0]
        under_way = self._one("SELECT count(*) FROM batches WHERE ended_at IS NULL")[0]
        return CacheStats(self.path, self.size(), models, oldest, newest, hits, misses, under_way)

    def size(self) -> int:
        """Return the bytes of the file, with its write-ahead log."""
        paths = (Path(f"{self.path}{end}") for end in ("", "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def prune(
        self,
        *,
        older_than: float | None = None,
        model: str | None = None,
        to_bytes: int | None = None,
        everything: bool = False,
    ) -> int:
        """Delete the replies that meet all given conditions, the oldest first, and return their number.

        ``older_than`` is the minimum age in seconds. With ``to_bytes``, stop when the rest, of all models, has at most
        this many bytes. Raise an InputError if the file has no reply of ``model``.
        """
        if older_than is None and model is None and to_bytes is None and not everything:
            return 0
        if model is not None and model not in (models := self.stats().models):
            raise InputError(
                f"no reply of {model!r} is kept",
                where=str(self.path),
                remedy=f"{did_you_mean(model, models)}There are: {', '.join(models) or 'none'}.",
            )
        before = math.inf if older_than is None else time.time() - older_than
        size = "length(CAST(request AS BLOB)) + length(CAST(text AS BLOB))"
        chosen = "WHERE kept_at < ? AND model = coalesce(?, model) ORDER BY kept_at, digest"
        with self.transaction() as connection:
            total = connection.execute(f"SELECT coalesce(sum({size}), 0) FROM replies").fetchone()[0]  # noqa: S608
            dropped = []
            for digest, length in connection.execute(
                f"SELECT digest, {size} FROM replies {chosen}",  # noqa: S608 - names of columns
                (before, model),
            ):
                if to_bytes is not None and total <= to_bytes:
                    break
                total -= length
                dropped.append((digest,))
            connection.executemany("DELETE FROM replies WHERE digest = ?", dropped)
        # Shrink the file unless another process uses it; then the next replies fill the room.
        with self._lock, contextlib.suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return len(dropped)

    def forget_batches(self) -> int:
        """Forget the batches under way, and return their number; nothing will read their results."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM batched")
            return connection.execute("DELETE FROM batches WHERE ended_at IS NULL").rowcount


@dataclass
class CachedModel:
    """A model behind a cache.

    Identical requests at the same time are sent once. ``hits`` counts replies from the cache, ``misses`` the others.
    """

    model: Model
    cache: ReplyCache
    hits: int = 0
    misses: int = 0
    _under_way: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)

    async def ask(self, request: Request) -> Reply:
        """Return the reply from the cache, or ask the model and keep it; raise a ModelError if there is no reply."""
        digest = request.digest
        while (other := self._under_way.get(digest)) is not None:
            await asyncio.wait({other})
            if not other.cancelled():
                reply = other.result()
                self.hits += 1
                return replace(reply, cached=True)
        found = self.cache.get(digest)
        if found is not None:
            self.hits += 1
            return found
        self.misses += 1
        waiting = self._under_way[digest] = asyncio.get_running_loop().create_future()
        try:
            reply = await self.model.ask(request)
            self.cache.put(request, reply)
        except Exception as error:
            waiting.set_exception(error)
            waiting.exception()  # mark it as retrieved, since nothing else may wait for it
            raise
        else:
            waiting.set_result(reply)
            return reply
        finally:
            del self._under_way[digest]
            waiting.cancel()

    def forget(self, digest: str) -> None:
        """Mark a reply as unusable, so that it is asked for again next time."""
        self.cache.forget(digest)
