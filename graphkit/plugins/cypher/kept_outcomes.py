"""Outcomes of queries that are known already, in a file: by the state of the graph, and by the query.

The state of a dataset's graph is the digest of its files, since nothing writes to its database. That of a Neo4j server
is the bookmark of the last transaction, which each write changes; where a server states none, nothing is kept.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from graphkit.database.store import Store
from graphkit.plugins.cypher.outcomes import QueryOutcome


class KeptOutcomes:
    """The outcomes in a file, which may be lost: then the queries run again.

    Parameters
    ----------
    file
        The file, which is made. Its folder exists.
    state
        The state of the graph; None to ask the server for it.
    """

    def __init__(self, file: Path, state: str | None = None) -> None:
        # What is kept counts for this code alone: another version may trace a query otherwise.
        code = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
        self._code = blake2b(b"".join(code), digest_size=8).hexdigest()
        self._state = state
        self._file = file
        self._rows = self._opened()

    def _opened(self) -> sqlite3.Connection | None:
        for _ in range(2):
            with contextlib.suppress(sqlite3.Error):
                rows = sqlite3.connect(self._file, timeout=5.0, isolation_level=None)
                rows.execute("PRAGMA journal_mode = WAL")  # else each outcome waits for the disk
                rows.execute("PRAGMA synchronous = NORMAL")
                rows.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, state TEXT, outcome BLOB)")
                return rows
            with contextlib.suppress(OSError):
                self._file.unlink(missing_ok=True)  # it isn't a database, or is broken
        return None

    def state(self, store: Store) -> str | None:
        """Return the state of the graph; None if the server doesn't tell it."""
        if self._state is not None:
            return f"{self._code} {self._state}"
        state = store.state()
        return f"{self._code} {state}" if state else None

    def get(self, state: str, key: str) -> QueryOutcome | None:
        """Return the outcome of a query in a state of the graph, if it is known."""
        if self._rows is None:
            return None
        with contextlib.suppress(sqlite3.Error, msgspec.MsgspecError):
            found = self._rows.execute("SELECT outcome FROM kept WHERE key = ? AND state = ?", (key, state)).fetchone()
            return None if found is None else msgspec.msgpack.decode(found[0], type=QueryOutcome)
        return None

    def put(self, state: str, key: str, outcome: QueryOutcome) -> None:
        """Keep an outcome, in place of that in a former state of the graph."""
        if self._rows is not None:
            with contextlib.suppress(sqlite3.Error, TypeError, OverflowError):  # a value may have no such form
                encoded = msgspec.msgpack.encode(outcome)
                self._rows.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (key, state, encoded))

    def close(self) -> None:
        """Close the file."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None


def key_of(store: Store, place: str, text: str, parameters: Mapping[str, Any], how: Sequence[str]) -> str:
    """Return the key of a query, and of what else decides its outcome; ``place`` is the address of a server."""
    parts = (store.engine, store.version, place, store.database, text)
    hasher = blake2b(digest_size=20)
    for part in (*parts, repr(sorted(parameters.items())), *how):
        hasher.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()
