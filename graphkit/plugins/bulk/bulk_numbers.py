"""Numbers of nodes by key, and what is known about some keys, on disk: memory stays bounded at millions of nodes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from graphkit.files.leftovers import held_folder

_TOGETHER = 500  # keys of one look-up
_RECENT = 200_000  # numbers kept in memory
_CACHE = 512 * 1024  # KiB of the file in memory


class Numbers:
    """A map from (kind, key) to a value, mostly the number of a node."""

    def __init__(self, folder: Path) -> None:
        self._file = sqlite3.connect(folder / "numbers.sqlite", isolation_level=None)
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(f"PRAGMA cache_size = -{_CACHE}")
        self._file.execute("CREATE TABLE known (key BLOB PRIMARY KEY, value) WITHOUT ROWID")
        self._file.execute("CREATE TABLE waiting (node INTEGER PRIMARY KEY, key BLOB, asked INTEGER)")
        self._recent: dict[str, dict[str, Any]] = {}

    def find(self, kind: str, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of those keys that have one."""
        recent = self._recent.setdefault(kind, {})
        if len(recent) > _RECENT:
            recent.clear()
        found, missing = {}, {}
        for key in keys:
            if key in recent:
                found[key] = recent[key]
            else:
                missing[_hashed(kind, key)] = key
        asked = iter(missing)
        while some := list(islice(asked, _TOGETHER)):
            marks = ",".join("?" * len(some))
            for hashed, value in self._file.execute(f"SELECT key, value FROM known WHERE key IN ({marks})", some):  # noqa: S608
                found[missing[hashed]] = recent[missing[hashed]] = value
        return found

    def set(self, kind: str, values: Mapping[str, Any]) -> None:
        """Keep the values of some keys, instead of those that they had."""
        self._recent.setdefault(kind, {}).update(values)
        rows = [(_hashed(kind, key), value) for key, value in values.items()]
        self._file.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)

    def find_records(self, kind: str, keys: Iterable[str]) -> dict[str, Any]:
        """Return the records of those keys that have one."""
        return {key: msgspec.json.decode(value) for key, value in self.find(kind, keys).items()}

    def set_records(self, kind: str, records: Mapping[str, Any]) -> None:
        """Keep the records of some keys: lists and texts."""
        self.set(kind, {key: msgspec.json.encode(record) for key, record in records.items()})

    def wait(self, kind: str, nodes: Mapping[int, str]) -> None:
        """Keep that new nodes are to be linked, each to the node of a key, which may not be there yet."""
        rows = [(node, _hashed(kind, key)) for node, key in nodes.items()]
        self._file.executemany("INSERT INTO waiting VALUES (?, ?, 1)", rows)

    def ask(self, nodes: Iterable[int]) -> None:
        """Ask again for the links of those nodes that still wait."""
        self._file.executemany("UPDATE waiting SET asked = 1 WHERE node = ?", ((node,) for node in nodes))

    def links(self) -> Iterator[tuple[int, int]]:
        """Yield the links that were asked for and are possible, once; the other nodes wait until they are asked."""
        yield from self._file.execute("SELECT node, value FROM waiting CROSS JOIN known USING (key) WHERE asked")
        self._file.execute("DELETE FROM waiting WHERE asked AND key IN (SELECT key FROM known)")
        self._file.execute("UPDATE waiting SET asked = 0 WHERE asked")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _hashed(kind: str, key: str) -> bytes:
    return blake2b(f"{kind}\0{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


@contextmanager
def numbers() -> Iterator[Numbers]:
    """Provide an empty map in a temporary folder."""
    with held_folder() as folder:
        known = Numbers(folder)
        try:
            yield known
        finally:
            known.close()
